# SPDX-License-Identifier: BSD-3-Clause
"""The folder that an atlas is written to: whether it may be, what is lost there, and that a build which fails leaves none behind."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout.versions import LANDMARKS
from cartographer.errors import CartographerError, UsageError
from cartographer.store import database
from cartographer.store.doubt import doubting
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.source import SourceInfo
    from cartographer.progress import Progress


def check_place(out: Path) -> None:
    """Raise UsageError for a folder that can hold no atlas, before any work is done."""
    whole = Path(os.path.abspath(out))  # noqa: PTH100 - a link keeps its name here
    if whole == whole.parent:
        raise UsageError(f"{out} is the root of a file system, which no atlas can take the place of", hint="name a folder with --out")


def check_front(out: Path) -> None:
    """Raise UsageError when pages would lie among, or over, what is somebody else's."""
    from cartographer.render.known import check_front

    check_front(out)
    if (out / LANDMARKS[0]).is_file():
        raise UsageError(f"{out} is a PyTorch tree: thousands of pages would lie among its files", hint="name another folder with --out")


def check_replaced(out: Path, source: SourceInfo, progress: Progress) -> None:
    """Tell when the atlas of another release is there, which the new one replaces; raise UsageError when the demo would replace it,
    or the list of several.
    """
    from cartographer.render.collection import is_collection

    if is_collection(out) and not (out / database.FILE_NAME).is_file():
        raise UsageError(f"{out} lists several atlases", hint="name another folder with --out")
    held = _held(out)
    if held is None or held.is_demo or (held.tag == source.tag and not source.is_demo):
        return
    if source.is_demo:
        raise UsageError(f"{out} holds the atlas of {held.tag}, which the demo would replace", hint="name another folder with --out")
    progress.note(f"{out} holds the atlas of {held.tag}: that of {source.tag} replaces it")


def _held(out: Path) -> SourceInfo | None:
    """What the atlas in a folder is of; None when there is none, or none that can be read."""
    path = out / database.FILE_NAME
    if path.is_file():
        with suppress(CartographerError), doubting(path), Reader(path) as reader:
            return reader.info().source
    return None


@contextmanager
def left_as_found(out: Path) -> Iterator[None]:
    """A folder that was not there before goes again, with those above it, when the block fails and nothing is in them."""
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        yield
    except BaseException:  # Ctrl-C too
        for folder in new:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise
