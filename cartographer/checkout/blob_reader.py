# SPDX-License-Identifier: BSD-3-Clause
"""Reads the contents of many objects through one running git."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator

    from cartographer.checkout.git import Git


class BlobReader:
    """Reads the contents of objects from one `git cat-file --batch` that keeps running."""

    _CHUNK = 200  # ids written at once: 8 kB, less than any pipe holds, so neither side can wait for the other

    def __init__(self, git: Git) -> None:
        self._git = git
        self._child: subprocess.Popen[bytes] | None = None
        self._inherited: subprocess.Popen[bytes] | None = None  # kept, so that nobody flushes or ends what is not ours
        self._owner = os.getpid()

    def read(self, blob: str) -> bytes | None:
        """The content of one blob; None when the clone lacks it or it is damaged."""
        return next(self.read_many((blob,)))[1]

    def read_many(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(id, content or None) in the order asked for. Chunks are read to their end before any is handed out."""
        chunk: list[str] = []
        for blob in blobs:
            chunk.append(blob)
            if len(chunk) == self._CHUNK:
                yield from self._read_chunk(chunk)
                chunk = []
        yield from self._read_chunk(chunk)

    def close(self) -> None:
        """End the running git. It is not waited for to see the end of its input: a forked worker may hold the pipe open."""
        child, self._child = self._child, None
        if child is None or self._owner != os.getpid():
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        child.wait()

    def __del__(self) -> None:
        self.close()

    def _read_chunk(self, blobs: list[str]) -> list[tuple[str, bytes | None]]:
        """All of one chunk. git dies of a damaged object: that one is given up, and a new git reads the rest."""
        found: list[tuple[str, bytes | None]] = []
        while len(found) < len(blobs):
            rest = blobs[len(found):]
            child = self._running()
            try:
                self._ask(child, rest, found)
            except (OSError, EOFError):
                self.close()
                found.append((blobs[len(found)], None))
            except BaseException:
                self.close()  # half-read answers must not be taken for those of the next question
                raise
        return found

    def _ask(self, child: subprocess.Popen[bytes], blobs: list[str], found: list[tuple[str, bytes | None]]) -> None:
        """Write the ids, then read the answers."""
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"".join(blob.encode("ascii", "replace") + b"\n" for blob in blobs))
        child.stdin.flush()
        for blob in blobs:
            line = child.stdout.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            size = parse_batch_header(line)
            if size is None:
                found.append((blob, None))
                continue
            data = child.stdout.read(size + 1)
            if len(data) != size + 1:
                raise EOFError
            found.append((blob, data[:-1]))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # In a copy of the process: the git and its pipes belong to the first one, whose answers we would take.
            self._child, self._inherited, self._owner = None, self._child, os.getpid()
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = self._git.start("cat-file", "--batch")
        return self._child


_BATCH_HEADER = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})? (?:blob|tree|commit|tag) ([0-9]{1,15})\n")


def parse_batch_header(line: bytes) -> int | None:
    """The size of the object that follows a line of `cat-file --batch`; None for "... missing" and anything else."""
    match = _BATCH_HEADER.fullmatch(line)
    return int(match[1]) if match else None
