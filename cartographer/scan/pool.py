# SPDX-License-Identifier: BSD-3-Clause
"""Scans many files in several processes, and takes from the cache what earlier builds have scanned."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from cartographer.errors import ScanError
from cartographer.model.fact import FileFacts
from cartographer.processes import ProcessEndedError, in_turns
from cartographer.scan.cache import FactCache, decode, encode, key_of
from cartographer.scan.depth import with_bodies
from cartographer.scan.one import scan_file

if TYPE_CHECKING:
    from cartographer.progress import Progress

_BATCH_BYTES = 400_000
File = tuple[str, str, bytes]  # path, blob id, content
Read = Callable[[Iterable[str]], Iterable[tuple[str, bytes]]]


class FactBase(Mapping[str, FileFacts]):
    """The facts of a tree by path, each decoded when it is first asked for; `read` gives the contents of files."""

    def __init__(self, encoded: dict[str, bytes], read: Read) -> None:
        self._encoded = encoded
        self._read = read
        self._decoded: dict[str, FileFacts] = {}
        self._whole: dict[str, FileFacts] = {}

    def __getitem__(self, path: str) -> FileFacts:
        facts = self._decoded.get(path)
        if facts is None:
            facts = self._decoded[path] = decode(self._encoded[path])
        return facts

    def whole(self, path: str) -> FileFacts:
        """The facts of a file with what its functions call, also where a scan left that out."""
        facts = self[path]
        if facts.outlined:
            if path not in self._whole:
                self._whole[path] = next((scan_file(path, data) for _, data in self._read((path,))), facts)
            facts = self._whole[path]
        return facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def __contains__(self, path: object) -> bool:
        return path in self._encoded


def _scan_batch(batch: list[tuple[str, str, bytes]]) -> list[tuple[str, bytes]]:
    """In a worker: (key, encoded facts) of each file."""
    return [(key, encode(scan_file(path, data, bodies=with_bodies(path)))) for path, key, data in batch]


def gather(files: Iterable[File], cache: FactCache, workers: int = 2, progress: Progress | None = None) -> FactBase:
    """The facts of all files: those that the cache has, and the others scanned and then kept there."""
    contents = {path: (blob, data) for path, blob, data in files}
    blobs = {path: blob for path, (blob, _) in contents.items()}
    return gather_from(blobs, lambda paths: ((p, contents[p][1]) for p in paths), cache, workers, progress)


def gather_from(
    blobs: Mapping[str, str], read: Read, cache: FactCache, workers: int = 2, progress: Progress | None = None,
) -> FactBase:
    """Like `gather`, for paths and blob ids alone: only files that no earlier build has scanned are read at all."""
    keys = {path: key_of(path, blob) for path, blob in blobs.items()}
    wanted = set(keys.values())
    known = dict(cache.load(wanted))
    first = {key: path for path, key in sorted(keys.items(), reverse=True) if key not in known}
    if progress is not None:
        progress.stage("scanning", len(wanted))
        progress.step(len(wanted) - len(first))
    missing = [(path, keys[path], data) for path, data in read(sorted(first.values()))]
    with closing(_scanned(missing, workers)) as parts:
        for part in parts:
            cache.keep(part)
            known.update(part)
            if progress is not None:
                progress.step(len(part))
    return FactBase({path: known[keys[path]] for path in sorted(blobs) if keys[path] in known}, read)


def _scanned(files: list[tuple[str, str, bytes]], workers: int) -> Generator[list[tuple[str, bytes]], None, None]:
    """Batches of results; big files first, so that no worker is left with the biggest at the end."""
    batches = _batches(files)
    if workers < 2 or len(files) < 20:
        yield from map(_scan_batch, batches)
        return
    try:
        yield from in_turns(lambda number: _scan_batch(batches[number]), len(batches), workers)
    except ProcessEndedError as error:
        raise ScanError("a process that scans ended before its time", hint="memory may be short: try fewer jobs") from error


def _batches(files: list[tuple[str, str, bytes]]) -> list[list[tuple[str, str, bytes]]]:
    out: list[list[tuple[str, str, bytes]]] = []
    size = _BATCH_BYTES
    for item in sorted(files, key=lambda f: (-len(f[2]), f[0])):
        if size + len(item[2]) > _BATCH_BYTES:
            out.append([])
            size = 0
        out[-1].append(item)
        size += len(item[2])
    return out
