# SPDX-License-Identifier: BSD-3-Clause
"""Many files in several processes, with what earlier builds found."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from cartographer.model.fact import FileFacts
from cartographer.progress import interrupts_are_ours
from cartographer.scan.cache import FactCache, decode, encode, key_of
from cartographer.scan.one import scan_file

if TYPE_CHECKING:
    from cartographer.progress import Progress

_BATCH_BYTES = 400_000
File = tuple[str, str, bytes]  # path, blob id, content


class FactBase(Mapping[str, FileFacts]):
    """The facts of a tree by path, decoded when first asked for."""

    def __init__(self, encoded: dict[str, bytes]) -> None:
        self._encoded = encoded
        self._decoded: dict[str, FileFacts] = {}

    def __getitem__(self, path: str) -> FileFacts:
        facts = self._decoded.get(path)
        if facts is None:
            facts = self._decoded[path] = decode(self._encoded[path])
        return facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def decode_all(self) -> None:
        """Decode everything at once, with the cycle collector out of the way (facts have no cycles)."""
        enabled = gc.isenabled()
        gc.disable()
        try:
            for path in self._encoded:
                self[path]
        finally:
            if enabled:
                gc.enable()


def _scan_batch(batch: list[tuple[str, str, bytes]]) -> list[tuple[str, bytes]]:
    """In a worker: (key, encoded facts) of each file."""
    return [(key, encode(scan_file(path, data))) for path, key, data in batch]


def gather(files: Iterable[File], cache: FactCache, workers: int = 2, progress: Progress | None = None) -> FactBase:
    """The facts of all files, kept ones from the cache, the others scanned and then kept."""
    listed = list(files)
    keys = {path: key_of(path, blob) for path, blob, _ in listed}
    known = dict(cache.load(set(keys.values())))
    missing: dict[str, tuple[str, str, bytes]] = {}
    for path, _, data in listed:
        if keys[path] not in known:
            missing.setdefault(keys[path], (path, keys[path], data))
    if progress is not None:
        progress.stage("scanning", len(listed))
        progress.step(len(listed) - len(missing))
    for part in _scanned(list(missing.values()), workers):
        cache.keep(part)
        known.update(part)
        if progress is not None:
            progress.step(len(part))
    return FactBase({path: known[keys[path]] for path, _, _ in sorted(listed)})


def _scanned(files: list[tuple[str, str, bytes]], workers: int) -> Iterator[list[tuple[str, bytes]]]:
    """Batches of results; big files first, so that no worker is left with the biggest at the end."""
    batches = _batches(files)
    if workers < 2 or len(files) < 20:
        for batch in batches:
            yield _scan_batch(batch)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        with interrupts_are_ours():
            found = pool.map(_scan_batch, batches)
        yield from found


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


def scan_files(
    files: Iterable[File], cache: FactCache, workers: int = 2, progress: Progress | None = None,
) -> Iterator[tuple[str, FileFacts]]:
    """(path, facts) of all files, in path order."""
    yield from gather(files, cache, workers, progress).items()
