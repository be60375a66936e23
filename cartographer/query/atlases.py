# SPDX-License-Identifier: BSD-3-Clause
"""Finds the atlases on this machine, and the one that a command means.

An atlas is found below the working directory (`atlas/<tag>/atlas.db`, the place where `build` puts it) or by the list that
`build` keeps of the atlases it wrote elsewhere.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.errors import CartographerError, StoreError
from cartographer.store import database
from cartographer.store.doubt import doubting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.query.ink import Ink
    from cartographer.store.values import AtlasInfo

_LIST = "atlases.txt"
_NAMED = 8  # atlases that an error names; `list` has them all


@dataclass(frozen=True, slots=True)
class Known:
    """One atlas on this machine: its database, when it was written, its size in bytes, and what it is of."""

    path: Path  # of the database
    written: float
    size: int
    info: AtlasInfo | None  # None when it cannot be read
    problem: str = ""


def home() -> Path:
    """The folder that keeps the list of atlases: that of CARTOGRAPHER_CACHE, or the user's data folder."""
    named = os.environ.get("CARTOGRAPHER_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("cartographer", appauthor=False))


def remember(atlas: Path) -> None:
    """Add an atlas to the list. A list that cannot be written is no error: `--atlas` still finds every atlas."""
    path = str(database.locate(atlas).absolute())
    with suppress(OSError):
        known = [entry for entry in _listed() if entry != path]
        home().mkdir(parents=True, exist_ok=True)
        beside = home() / f".{_LIST}.{os.getpid()}.new"
        beside.write_text("".join(f"{entry}\n" for entry in [*known, path] if Path(entry).is_file()), encoding="utf-8", errors="surrogateescape")
        beside.replace(home() / _LIST)


def _listed() -> list[str]:
    try:
        return (home() / _LIST).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []


def found() -> tuple[Path, ...]:
    """The databases of all atlases that can be found, newest first."""
    here = Path.cwd()
    candidates: dict[Path, float] = {}
    for path in (here / database.FILE_NAME, *here.glob(f"atlas/[!.]*/{database.FILE_NAME}"), here / "atlas" / database.FILE_NAME,
                 *(Path(entry) for entry in _listed())):  # fmt: skip
        with suppress(OSError):
            candidates[path.resolve()] = path.stat().st_mtime
    return tuple(sorted(candidates, key=lambda path: (-candidates[path], str(path))))


def newest() -> Path:
    """The atlas that a command means when it names none. Raises StoreError when there is none."""
    for path in found():
        return path
    raise StoreError("there is no atlas yet", hint="build one: cartographer build v2.6.0 (or, with no network: cartographer build --demo)")


def chosen(named: str | None) -> Path:
    """The atlas named by a folder, a database, or the tag of one that is known (`v2.6.0`); the newest when none is named. Raises StoreError."""
    if named is None:
        return newest()
    path = Path(named)
    if path.exists():
        return database.locate(path)
    for known in found():
        if named in {known.parent.name, known.parent.name.removeprefix("v")}:
            return known
    if known_names := names():
        raise StoreError("there is no such atlas", where=named, hint=f"there are {known_names}; build another with `cartographer build VERSION`")
    return database.locate(path)


def names(without: Path | None = None) -> str:
    """The names that `--atlas` takes, of the atlases that can be found, newest first; "" when there is none."""
    found_names = list(dict.fromkeys(path.parent.name for path in found() if without is None or path != without.resolve()))
    return ", ".join([*found_names[:_NAMED], "..."] if len(found_names) > _NAMED else found_names)


def all_known() -> Iterator[Known]:
    """All atlases on this machine, each with what it is of, newest first."""
    from cartographer.store.reader import Reader

    for path in found():
        stat = path.stat()
        try:
            with doubting(path), Reader(path) as reader:
                yield Known(path, stat.st_mtime, stat.st_size, reader.info())
        except CartographerError as error:
            yield Known(path, stat.st_mtime, stat.st_size, None, error.message)


def record(known: Known) -> dict[str, object]:
    """What is known of an atlas as a JSON value."""
    told: dict[str, object] = {"path": str(known.path.parent), "database": str(known.path), "size": known.size, "problem": known.problem}
    if known.info:
        source = known.info.source
        told |= {"pytorch": source.version, "tag": source.tag, "commit": source.commit, "source": source.kind.value,
                 "operators": known.info.count("operators"), "strata": known.info.strata_level}  # fmt: skip
    return told


def text(known: Iterable[Known], ink: Ink) -> Iterator[str]:
    """The list of atlases for people, a line each."""
    import time

    for found in known:
        written = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.written))
        if found.info:
            source = found.info.source
            told = f"{ink.strong(f'{source.tag:<12}')} {'demo' if source.is_demo else source.kind.value:<10} {found.info.count('operators'):>6} operators"
        else:
            told = f"{ink.doubt('not readable')}: {found.problem}"
        yield f"{told}  {found.size / 1e6:>6.1f} MB  {written}  {ink.place(str(found.path.parent))}"
