# SPDX-License-Identifier: BSD-3-Clause
"""Builds several releases into one folder: each one with the others' operator lists at hand; then compares neighbours and lists all."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout import refs
from cartographer.checkout.cache import Cache, write_whole
from cartographer.checkout.git import Git, find_git_dir
from cartographer.checkout.git_tree import repository_refs
from cartographer.checkout.open import SourceRequest, remote_tags
from cartographer.errors import CartographerError, CheckoutError, NotFound, UsageError
from cartographer.model.kinds import Part, operators_by_part
from cartographer.pipeline import lineage
from cartographer.pipeline.building import BuildRequest, build, folder_of, has_pages, lock_of
from cartographer.pipeline.plates import plate_of, sides_of
from cartographer.store import database
from cartographer.store.doubt import doubting
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.pipeline.plates import Sides
    from cartographer.progress import Progress
    from cartographer.render.collection import Shelved

OLDEST = (1, 0)  # of PyTorch's own releases
FEW, NEWEST = 8, 1  # up to so many releases are drawn, all of them; of more, only so many of the newest: thirty stay under a gigabyte
STATE = ".releases.json"  # what the plates were drawn from, and the counts that the list shows


@dataclass(frozen=True, slots=True)
class Failed:
    """A release that could not be built, with the error."""

    name: str
    error: CartographerError


def is_shelf(folder: Path) -> bool:
    """Whether a folder is a collection: it holds atlases, each under its tag, and a list of them."""
    from cartographer.render.collection import is_collection

    return is_collection(folder)


def check_shelf(root: Path) -> None:
    """Raise UsageError when a folder cannot become a collection: it holds one atlas itself, or somebody else's page where the list would be."""
    from cartographer.render.known import check_front

    if (root / database.FILE_NAME).is_file():
        raise UsageError(f"{root} holds one atlas itself", hint="name another folder with --out: each release gets a folder of its own in it")
    check_front(root)


def build_all(
    requests: Sequence[SourceRequest], root: Path, progress: Progress, *, workers: int = 2, pages: int | None = None,
    built: Callable[[Path], object] = lambda _: None,
) -> tuple[Failed, ...]:
    """Build each release into `root`/<tag>, oldest first, and call `built` for each. One that fails does not stop the others.

    `pages`: draw the pages of only so many of the newest releases (by default of all, as long as they are few); each other release is a
    database for look-ups and comparisons, and for `serve`, which draws its pages when they are read.
    """
    check_shelf(root)
    given = _in_order(requests)
    if pages is None and len(given) > FEW:
        pages = NEWEST
        progress.note(f"{len(given)} releases: pages of the newest alone are drawn, `cartographer serve` draws the others as they are read (--pages {len(given)} draws all)")
    beside = lineage.together(lineage.of_requests(asked for asked in given if len(given) > 1 and (asked.source is not None or asked.from_wheel)), lineage.of_atlases(shelf(root)))
    failed = []
    for number, request in enumerate(given):
        drawn = pages is None or number >= len(given) - pages
        name = request.version or request.source or ""
        if len(given) > 1:
            progress.stage(f"{number + 1} of {len(given)}: {name}")
        try:
            built(build(BuildRequest(request, None, workers, drawn, shelf=root, beside=beside), progress))
        except CartographerError as error:
            failed.append(Failed(name, error))
        if number + 1 < len(given):
            gc.collect()  # what was read of this one holds itself by cycles
    if len(failed) < len(given):
        refresh(root, progress)
    return tuple(failed)


def _in_order(requests: Sequence[SourceRequest]) -> list[SourceRequest]:
    """Oldest first, as far as versions and file names tell; each once."""
    def key(request: SourceRequest) -> tuple[tuple[int, ...], int, str]:
        if request.version is not None:
            return refs.release_order(request.version)
        name = Path(request.source or "").name
        found = re.search(r"\d+(?:\.\d+)+", name)
        return refs.release_order(found[0]) if found else ((), 0, name)

    return sorted(dict.fromkeys(requests), key=key)


def shelf(root: Path) -> tuple[Path, ...]:
    """The atlases of a folder, oldest first: those that are in a folder named after their own tag."""
    found = []
    for path in root.glob(f"[!.]*/{database.FILE_NAME}"):
        with suppress(CartographerError), doubting(path), Reader(path) as reader:
            if folder_of(reader.info().source.tag) == path.parent.name:
                found.append(path.parent)
    return tuple(sorted(found, key=lambda folder: refs.release_order(folder.name)))


def every_release(repo: str | None, sources: Sequence[str], progress: Progress, *, offline: bool = False) -> tuple[SourceRequest, ...]:
    """The requests that --all-releases means: the wheels that are given, or the release tags of a clone or of the public repository;
    `offline`: of its clone in the cache.

    Where there are tags from v1.0 on, older ones are left out: most of their operators are in no list that can be read.
    """
    if sources:
        wheels = [wheel for path in map(Path, sources) for wheel in (sorted(path.glob("torch-*.whl")) if path.is_dir() else [path])]
        if not wheels:
            raise NotFound(f"there is no torch-*.whl in {', '.join(sources)}")
        return tuple(SourceRequest(source=str(wheel)) for wheel in wheels)
    git_dir = find_git_dir(Path(repo)) if repo else None
    if repo and git_dir is None and Path(repo).exists():  # no address either
        raise CheckoutError("not a git repository", where=repo, hint="--repo takes the path or URL of a clone of PyTorch; unpacked trees go to --source, one by one")
    known = repository_refs(Git(git_dir)) if git_dir else remote_tags(repo, progress, offline=offline)
    tags = sorted((ref.removeprefix("refs/tags/") for ref in known if ref.startswith("refs/tags/")), key=refs.release_order)
    releases = [tag for tag in tags if refs.is_release(tag)]
    late = [tag for tag in releases if refs.numbers(tag) >= OLDEST]
    if late and len(late) < len(releases):
        progress.note(f"{len(releases) - len(late)} releases before {late[0]} are left out: most of their operators stand in no native_functions.yaml")
    if not releases:
        raise NotFound("there is no release tag", hint="name a branch or a commit instead of --all-releases")
    return tuple(SourceRequest(version=tag, repo=repo) for tag in late or releases)


def refresh(root: Path, progress: Progress) -> None:
    """Draw the comparison pages, the list and the switcher's files of a collection anew, so that they fit the atlases in it."""
    from cartographer.render.collection import draw_list

    folders = shelf(root)
    if not folders:
        return
    cache = Cache()
    with cache.lock(f"shelf-{hashlib.sha256(os.fsencode(root.absolute())).hexdigest()[:16]}", progress):
        state, told = state_of(root), {}
        progress.stage("comparing releases", len(folders))
        for number, folder in enumerate(folders):
            before = folders[number - 1] if number else None
            after = folders[number + 1] if number + 1 < len(folders) else None
            with cache.lock(lock_of(folder), progress):  # nobody draws its pages meanwhile
                told[folder.name] = _plate(folder, before, after, state.get(folder.name, {}))
            progress.step()
        draw_list(root, [shelved(folder, told[folder.name], pages=has_pages(folder)) for folder in reversed(folders)])
        write_whole(root / STATE, (json.dumps(told, indent=1, sort_keys=True) + "\n").encode())


def state_of(root: Path) -> dict[str, dict[str, object]]:
    """The kept results of the comparisons between the releases of a folder, by tag."""
    try:
        found = json.loads((root / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(tag): told for tag, told in found.items() if isinstance(told, dict)} if isinstance(found, dict) else {}


def _plate(folder: Path, before: Path | None, after: Path | None, state: dict[str, object]) -> dict[str, object]:
    """Compare a release with the one before and draw its plate, unless that was done from the same atlases."""
    from cartographer.render.known import KnownPages
    from cartographer.render.urls import RELEASES

    pages = KnownPages.of(folder)
    inputs = [_drawn_from(side) for side in (before, folder, after)]
    key = hashlib.sha256(json.dumps([inputs, [side.name if side else "" for side in (before, after)]]).encode()).hexdigest()[:20]
    if state.get("key") == key and state.get("page") == pages.digests.get(RELEASES, ""):
        return state
    told: dict[str, object] = {"key": key, "before": before.name if before else ""}
    if before is None and not state.get("before") and RELEASES in pages.digests:
        return {**told, "page": pages.digests[RELEASES]}  # as its build drew it: compared with the tag before, where there is one
    sides = sides_of(before, folder)
    if sides.found is not None:
        counts = operators_by_part(sides.found)
        told |= {str(part): counts[part] for part in Part}
    told["page"] = _draw(folder, sides, before, after) if has_pages(folder) else ""
    return told


def _drawn_from(folder: Path | None) -> str:
    if folder is None:
        return ""
    with Reader(folder) as reader:
        return f"{reader.info().inputs} {(folder / 'index.html').is_file()}"


def _draw(folder: Path, sides: Sides, before: Path | None, after: Path | None) -> str:
    """Draw the plate of a release; gives the digest of the page."""
    from cartographer.render.collection import draw_plate
    from cartographer.render.known import KnownPages
    from cartographer.render.urls import RELEASES

    draw_plate(folder, *plate_of(folder, sides, before, after, known=KnownPages.of, drawn=has_pages))
    return KnownPages.of(folder).digests.get(RELEASES, "")


def shelved(folder: Path, told: dict[str, object], *, pages: bool) -> Shelved:
    """A release as the list of a collection shows it; `told` is the kept result of its comparison with the release before."""
    from cartographer.render.collection import Shelved

    with Reader(folder) as reader:
        info = reader.info()

    def count(part: Part) -> int:
        value = told.get(str(part), 0)
        return value if isinstance(value, int) else 0

    return Shelved(
        folder.name, info.source.kind.value, info.source.commit or "", info.count("operators"), info.count("files"), pages,
        str(told.get("before") or ""), *map(count, sorted(Part, reverse=True)),
    )  # fmt: skip
