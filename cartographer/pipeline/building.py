# SPDX-License-Identifier: BSD-3-Clause
"""Builds an atlas on disk from a request: finds what is there already, reads the rest, and replaces the old atlas by the new one."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cartographer import __version__
from cartographer.checkout.cache import Cache, OwnPart, write_whole
from cartographer.checkout.git_tree import GitTree
from cartographer.checkout.open import SourceRequest, history_repository, open_tree
from cartographer.checkout.versions import require_whole_list
from cartographer.makers import sources_digest
from cartographer.pipeline import lineage, lists
from cartographer.pipeline.lists import is_wanted
from cartographer.pipeline.place import check_front, check_place, check_replaced, left_as_found
from cartographer.pipeline.reading import read_atlas
from cartographer.processes import collector_at_rest, none_left
from cartographer.progress import SilentProgress
from cartographer.scan import cache as facts
from cartographer.store import verified, writer
from cartographer.store.reader import inputs_of, lineage_of, oplist_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.atlas import Atlas
    from cartographer.model.lineage import Lineage
    from cartographer.model.source import Tree
    from cartographer.pipeline.lineage import Release
    from cartographer.progress import Progress
    from cartographer.render.compiled import Keeper

LIBRARIES = (*facts.PARSERS, *lists.READERS, "networkx", "jinja2", "markdown-it-py")  # that have a say in an atlas and its pages


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build (the source of a PyTorch) and how, and the folder to write the atlas to."""

    source: SourceRequest
    out: Path | None = None  # default: a folder with the tag's name on the shelf
    workers: int = 2
    html: bool = True
    shelf: Path = Path("atlas")  # where atlases stand side by side; the folder lists them
    beside: tuple[Release, ...] = ()  # further releases that the operators are followed over


@collector_at_rest()
@none_left()
def build(request: BuildRequest, progress: Progress | None = None) -> Path:
    """Build one atlas; returns the folder that contains atlas.db and index.html.

    An atlas that was there before stays whole until the new one is complete. Raises CartographerError.
    """
    progress = progress or SilentProgress()
    cache = Cache(request.source.cache)
    if request.out is not None:
        check_place(request.out)
    with cache.in_use(progress):
        started = time.perf_counter()
        tree = open_tree(request.source, progress, of_releases=is_wanted)
        require_whole_list(frozenset(file.path for file in tree.files()).__contains__, tree.info.described)
        out = request.out or request.shelf / folder_of(tree.info.tag)
        with left_as_found(out):
            return _build(request, tree, out, cache, progress, started)


def _build(request: BuildRequest, tree: Tree, out: Path, cache: Cache, progress: Progress, started: float) -> Path:
    collected = request.out is None and not (request.shelf / "atlas.db").exists()
    writer.check_writable(out)
    if request.html:
        check_front(out)
    if request.out is not None:
        check_replaced(out, tree.info, progress)
    releases = releases_of(tree, request.beside, cache)
    followed = lineage.lineage(releases, cache, progress)
    inputs = inputs_digest(tree)
    pages = pages_digest(followed, verified.kept(out, inputs), collected=collected)
    read_before = inputs_of(out) == inputs
    current = _pages_of(out) == f"{inputs} {pages}" or not (request.html or has_pages(out))
    if read_before and current and lineage_of(out) == followed:
        progress.note(f"nothing has changed since {out} was built")
        progress.close()
        return out
    atlas = None if read_before else read_atlas(tree, cache, progress, workers=request.workers)
    since = lineage.step_to(oplist_of(out) if atlas is None else atlas.rows, lineage.before(tree.info.tag, releases))
    seconds = {**getattr(progress, "seconds", {}), "read": time.perf_counter() - started}
    with cache.lock(lock_of(out), progress):
        progress.stage("writing atlas.db")
        made = writer.with_lineage(out, followed, since) if atlas is None else writer.beside(
            replace(atlas, inputs=inputs, seconds=seconds, lineage=followed, since=since), out)
        with made as fresh:
            if request.html:
                render(fresh, out, progress, workers=request.workers, collected=collected, written=atlas, keeper=OwnPart(cache))
                write_whole(_drawn_from(out), f"{inputs} {pages}".encode())
            else:
                settle_alone(fresh, out, progress)
    progress.close()
    return out


def lock_of(out: Path) -> str:
    """The name of the lock that every process that writes to a folder holds."""
    return f"atlas-{hashlib.sha256(os.fsencode(out.absolute())).hexdigest()[:16]}"


def folder_of(tag: str) -> str:
    """The name of the folder for a tag: one path segment, also for a tag with slashes such as `ciflow/trunk/1`."""
    return tag.replace("/", "-").replace("\\", "-").lstrip(".") or "untagged"


def has_pages(out: Path) -> bool:
    """Whether a folder holds the HTML pages of an atlas."""
    from cartographer.render.known import STATUS

    return (out / STATUS).is_file()


def settle_alone(fresh: Path, out: Path, progress: Progress) -> None:
    """Move a database without pages to its place; pages that are there were drawn from another database, and are removed."""
    if not has_pages(out):
        writer.settle(fresh)
        return
    from cartographer.render.write import remove_site

    removed = remove_site(out, partial(writer.settle, fresh))
    progress.note(f"{removed:,} pages and files of the former site in {out} are removed: they were drawn from another atlas")


def releases_of(tree: Tree, beside: Sequence[Release], cache: Cache) -> tuple[Release, ...]:
    """The releases over which a tree's operators are followed: itself, those of its repository, and the given ones (`beside`)."""
    access = history_repository(tree, cache)
    of_clone = lineage.of_repository(Path(access.git_dir)) if access is not None else ()
    own = lineage.of_tree(tree)
    if isinstance(tree, GitTree):  # a tag of this clone: what is kept of it is kept for its neighbours too
        of_clone = tuple(replace(release, load=own.load) if release.tag == own.tag else release for release in of_clone)
        return lineage.together(of_clone, (own,), beside)
    return lineage.together((own,), of_clone, beside)


def pages_digest(followed: Lineage, said: verified.Verified | None, *, collected: bool) -> str:
    """A digest of what the pages of an atlas are drawn from, beside the inputs of its database."""
    return hashlib.sha256(msgspec.json.encode([followed, said, collected], order="deterministic")).hexdigest()[:20]


def _drawn_from(out: Path) -> Path:
    from cartographer.render.known import PAGES

    return out / PAGES


def _pages_of(out: Path) -> str:
    """What the pages in `out` were drawn from; "" when that was never finished."""
    try:
        return _drawn_from(out).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def inputs_digest(tree: Tree) -> str:
    """A digest of all that an atlas is made from: every blob of the tree, its commit and history, and this program."""
    access = history_repository(tree)
    told = msgspec.json.encode([tree.info, access, __version__])
    digest = hashlib.sha256(told)
    for file in tree.files():
        digest.update(f"{file.path}\0{file.blob}\n".encode("utf-8", "surrogateescape"))
    digest.update(sources_digest("**/*", "templates/**/*", "site/**/*", packages=LIBRARIES).encode())
    return digest.hexdigest()


def render(fresh: Path, out: Path, progress: Progress, *, workers: int, collected: bool = False, written: Atlas | None = None,
           keeper: Keeper | None = None) -> None:  # fmt: skip
    """Draw the pages of a new database that waits beside its final place; when all are drawn, both are moved there together.

    `written`: what the database holds, if that is at hand; `keeper`: what keeps compiled templates.
    """
    from cartographer.render.write import write_site
    from cartographer.store.reader import Reader

    with Reader(fresh) as reader:
        write_site(reader, out, progress, processes=workers, collected=collected, written=written, when_drawn=partial(writer.settle, fresh), keeper=keeper)
