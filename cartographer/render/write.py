# SPDX-License-Identifier: BSD-3-Clause
"""Writes the site: every page of the plan, over all cores, without touching what has not changed.

The folder's status file holds the digest of each page as written; a page whose new bytes have the same digest is not
touched, one that is in the status file but no longer in the plan is removed. Pages are written to a folder beside the
atlas; at the end that is given what has not changed and swapped with the atlas in one step: a build that is killed at
any moment leaves the old atlas or the new one. Where the system cannot swap folders (or others are at work in this
one), changed pages are moved in one after another.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import stat
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from cartographer.atomic import can_exchange, complete, exchange
from cartographer.errors import RenderError
from cartographer.processes import ProcessEndedError, collector_at_rest, in_turns
from cartographer.render import assets, outline, plan
from cartographer.render.compiled import Compiled
from cartographer.render.environment import create
from cartographer.render.frames import SiteFrame, frame_of
from cartographer.render.known import PAGES, STATUS, digest_of, read_status, write_status
from cartographer.render.loading import site_of
from cartographer.render.urls import root_from
from cartographer.store.database import is_running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from jinja2 import Environment

    from cartographer.model.atlas import Atlas
    from cartographer.progress import Progress
    from cartographer.render.compiled import Keeper
    from cartographer.render.pages.frame import Page
    from cartographer.render.site import Site
    from cartographer.store.reader import Reader

STAGE = ".pages"  # .pages.PID.new: changed pages until all are drawn, where folders cannot be swapped
_CHUNK = 48


@dataclass(frozen=True, slots=True)
class RenderReport:
    """How many pages and bytes were written, kept and removed, and in how many seconds."""

    pages: int
    written: int
    unchanged: int
    removed: int
    bytes: int
    largest: tuple[tuple[str, int], ...]
    seconds: float


class Written(NamedTuple):
    """One file of the site that was written, or found unchanged."""

    address: str
    digest: str
    size: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Desk:
    """The folder in which pages are put until all of them are there."""

    out: Path
    stage: Path  # `out` itself when nothing is there yet and folders cannot be swapped
    before: Mapping[str, str]  # address -> digest of what the site has
    swapped: bool  # the stage may take the place of `out`


@dataclass(frozen=True, slots=True)
class _Press:
    """What a process needs to print pages."""

    site: Site
    frame: SiteFrame
    environment: Environment
    desk: Desk


_press: _Press | None = None  # set before the processes are forked, so that they share the catalog


def write_site(
    reader: Reader, out: Path, progress: Progress, *, processes: int | None = None, when_drawn: Callable[[Path], object] = lambda _: None,
    collected: bool = False, written: Atlas | None = None, keeper: Keeper | None = None,
) -> RenderReport:
    """Write the whole site of an atlas into `out`. `collected`: the folder above lists this atlas and others. `when_drawn` is
    called when all is drawn, with the folder that will be the atlas: what belongs to these pages goes there now, and both are seen
    at once. `written` are the values of the atlas, when it was written a moment ago. `keeper` keeps what serves the next site too.
    """
    start = time.perf_counter()
    progress.stage("reading the atlas")
    site = site_of(reader, out, collected=collected, written=written)
    report = write(site, out, progress, processes=processes, when_drawn=when_drawn, keeper=keeper)
    return replace(report, seconds=time.perf_counter() - start)


def write(
    site: Site, out: Path, progress: Progress, *, processes: int | None = None, when_drawn: Callable[[Path], object] = lambda _: None,
    keeper: Keeper | None = None,
) -> RenderReport:
    """Write every page of `site` into `out`, and remove those that are no longer in the plan."""
    global _press  # noqa: PLW0603 - the forked processes find it there
    start = time.perf_counter()
    addresses, contents = assets.collect()
    desk = _desk(out)
    _press = _Press(site, frame_of(site, addresses), create(Compiled(keeper) if keeper else None), desk)
    try:
        _warm(site, _press.environment)
        work = plan.jobs(outline.of_site(site))
        progress.stage("drawing pages", len(work))
        done = list(_print_all(work, progress, processes or os.cpu_count() or 1))
        done += [put(desk, address, data) for address, data in contents.items()]
        removed = _publish(desk, done, when_drawn)
    except OSError as error:
        raise RenderError(
            f"a page cannot be written: {error.strerror or error}", where=error.filename or str(out),
            hint="check the space and the rights there, or name another folder with --out; an atlas that was there before is untouched",
        ) from error
    finally:
        _press = None
        if desk.stage != out:
            shutil.rmtree(desk.stage, ignore_errors=True)
    return _report(done, removed, time.perf_counter() - start)


def _desk(out: Path) -> Desk:
    """A desk for this process; what killed builds have left is cleared away."""
    _clear(out.glob(f"{STAGE}.*.new"))
    beside = _beside(out)
    before = read_status(out)
    if can_exchange(out, beside):
        return Desk(out, beside, before, swapped=True)
    fresh = not (out / "index.html").exists()
    return Desk(out, out if fresh else out / f"{STAGE}.{os.getpid()}.new", {} if fresh else before, swapped=False)


def _beside(out: Path) -> Path:
    """Where this process makes the folder that will take the place of `out`; what killed builds have left there is cleared away."""
    out.mkdir(parents=True, exist_ok=True)
    whole = Path(os.path.abspath(out))  # noqa: PTH100 - `.` has no name, and a link keeps its own
    _clear(whole.parent.glob(f".{glob.escape(whole.name)}.*.new"))
    return whole.with_name(f".{whole.name}.{os.getpid()}.new")


def _clear(stages: Iterable[Path]) -> None:
    for leftover in stages:
        number = leftover.name.split(".")[-2]
        if number.isdecimal() and not is_running(number):
            shutil.rmtree(leftover, ignore_errors=True)


def _publish(desk: Desk, done: Sequence[Written], when_drawn: Callable[[Path], object]) -> int:
    """Put what was drawn in its place; gives how many files went."""
    now = {written.address: written.digest for written in done}
    gone = set(desk.before) - set(now)
    if desk.swapped and _swap(desk, gone, {*desk.before, *now}, when_drawn, now):
        return len(gone)
    return _move_in(desk, done, when_drawn)


def _swap(desk: Desk, gone: AbstractSet[str], ours: AbstractSet[str], when_drawn: Callable[[Path], object], now: Mapping[str, str] | None) -> bool:
    """The stage takes the place of the atlas, with all that stays of it. False when it cannot; nothing has happened then."""

    def stays(path: str) -> bool:
        return path not in gone and path not in {STATUS, PAGES} and not (path.startswith(".") and path.endswith((".new", ".tmp")))

    if not complete(desk.stage, desk.out, stays, _folders_of(ours)):
        return False
    if now is not None:
        write_status(desk.stage, now)
    when_drawn(desk.stage)
    exchange(desk.stage, desk.out)
    return True


def _folders_of(addresses: Iterable[str]) -> frozenset[str]:
    """The folders that hold these files, and those above; thousands of files share one."""
    last = {address.rpartition("/")[0]: address for address in addresses}  # a file of each folder stands for all of them
    return frozenset(str(parent) for address in last.values() for parent in PurePosixPath(address).parents)


def _move_in(desk: Desk, done: Sequence[Written], when_drawn: Callable[[Path], object]) -> int:
    """Move what was drawn into the site. While that goes on the status knows addresses and no digests: a build that finds it so
    takes no page for unchanged.
    """
    (desk.out / PAGES).unlink(missing_ok=True)
    when_drawn(desk.out)
    write_status(desk.out, dict.fromkeys([*desk.before, *(written.address for written in done)], ""))
    if desk.stage != desk.out:
        for written in done:
            if written.changed:
                _move(desk.stage / written.address, desk.out / written.address)
    removed = _remove_stale(desk.out, desk.before, {written.address for written in done})
    write_status(desk.out, {written.address: written.digest for written in done})
    return removed


def _move(drawn: Path, place: Path) -> None:
    try:
        drawn.replace(place)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        drawn.replace(place)


def _print_all(work: Sequence[plan.Job], progress: Progress, processes: int) -> Iterator[Written]:
    heavy = [[job] for job in work if job.kind == "data"]
    light = [job for job in work if job.kind != "data"]
    chunks = heavy + [light[start : start + _CHUNK] for start in range(0, len(light), _CHUNK)]
    with collector_at_rest():  # pages leave no cycles behind; a collector would only copy memory that is shared
        try:
            for number, drawn in in_turns(lambda number: (number, _print(chunks[number])), len(chunks), min(processes, len(chunks)) - 1, here=True):
                yield from drawn
                progress.step(len(chunks[number]))
        except ProcessEndedError as error:
            raise RenderError("a process that draws pages ended before its time", hint="memory may be short: try fewer jobs") from error


def _print(chunk: Sequence[plan.Job]) -> list[Written]:
    press = _press
    assert press is not None
    found = []
    for job in chunk:
        files = [(page.address, to_html(press.environment, press.frame, page)) for page in plan.pages(press.site, job)]
        found += [put(press.desk, *file) for file in (*files, *plan.files(press.site, job))]
    return found


def remove_site(out: Path, when_ready: Callable[[Path], object] = lambda _: None) -> int:
    """Remove a site and leave the atlas: pages of another atlas would seem to be of this one. Returns the number of files removed.

    `when_ready` is called with the folder that will be the atlas: the database without pages is moved there.
    """
    pages = read_status(out)
    beside = _beside(out)
    if can_exchange(out, beside):
        beside.mkdir()
        try:
            if _swap(Desk(out, beside, pages, swapped=True), set(pages), set(pages), when_ready, None):
                return len(pages)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    when_ready(out)
    removed = _remove_stale(out, pages, set())
    for folder in sorted({parent for address in pages for parent in (out / address).parents if out in parent.parents}, reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()  # only what is empty goes
    for name in (STATUS, PAGES):
        (out / name).unlink(missing_ok=True)
    return removed


def to_html(environment: Environment, frame: SiteFrame, page: Page) -> bytes:
    """One page as HTML, encoded as bytes."""
    template = environment.get_template(page.template)
    return template.render(page=page, view=page.view, site=frame, root=root_from(page.address)).encode()


def put(desk: Desk, address: str, data: bytes) -> Written:
    """Write one file unless it is there already with the same content."""
    digest = digest_of(data)
    if desk.before.get(address) == digest and _size(desk.out / address) == len(data):
        return Written(address, digest, len(data), changed=False)
    path = f"{desk.stage}/{address}"
    try:
        _write(path, data)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - as below
        _write(path, data)
    return Written(address, digest, len(data), changed=True)


def _write(path: str, data: bytes) -> None:
    """Path.write_bytes without its layers: they cost more than ten thousand small files themselves."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def _size(path: Path) -> int:
    """The size of a file; -1 for anything else."""
    try:
        found = path.stat()
    except OSError:
        return -1
    return found.st_size if stat.S_ISREG(found.st_mode) else -1


def _warm(site: Site, environment: Environment) -> None:
    """Compute what all processes share before they part."""
    catalog = site.catalog
    for shared in ("bases", "mains", "_chain_numbers", "key_of", "columns", "letters", "in_order", "nodes", "uses", "declared_in", "included_by", "part_of", "folders", "functions"):
        getattr(catalog, shared)
    for shared in ("settle", "languages", "generated", "function_rows", "device_rows", "stub_users", "reached_places", "operator_links", "first_pages", "folder_pages"):
        getattr(site, shared)
    for shared in ("era_of", "by_file", "by_folder"):
        getattr(catalog.ground, shared)
    for name in ("operator", "file", "folder", "kernel_sheet", "operators", "guide", "frame"):  # those of more than one page
        environment.get_template(f"{name}.html.jinja2")


def _remove_stale(out: Path, before: Mapping[str, str], now: set[str]) -> int:
    removed = 0
    for address in sorted(set(before) - now):
        path = out / address
        if address.startswith(("/", "..")) or "/../" in address:
            continue
        path.unlink(missing_ok=True)
        removed += 1
    return removed


def _report(done: Sequence[Written], removed: int, seconds: float) -> RenderReport:
    changed = sum(written.changed for written in done)
    pages = sum(written.address.endswith(".html") for written in done)
    largest = sorted(((written.address, written.size) for written in done), key=lambda pair: (-pair[1], pair[0]))[:10]
    return RenderReport(pages, changed, len(done) - changed, removed, sum(w.size for w in done), tuple(largest), seconds)
