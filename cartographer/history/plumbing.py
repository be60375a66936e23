# SPDX-License-Identifier: BSD-3-Clause
"""Runs git for the history stage: plumbing commands only, with every setting that could change a date put back to git's default."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.checkout import git as program
from cartographer.checkout.blob_reader import BlobReader
from cartographer.errors import CheckoutError, HistoryError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# checkout.git shuts out the user's and the system's settings, replaced objects and the network. What the repository's
# own configuration may still say about differences and blame is answered here.
_SETTINGS = (
    "core.bare=true",  # no work tree, so its .gitattributes cannot turn text into "binary"
    f"core.attributesFile={os.devnull}",
    "core.bigFileThreshold=512m",
    "diff.suppressBlankEmpty=false",
    "diff.indentHeuristic=true",
    "blame.ignoreRevsFile=",
    "blame.markIgnoredLines=false",
    "blame.markUnblamableLines=false",
)
_PREFIX = tuple(part for setting in _SETTINGS for part in ("-c", setting))

# What a patch must look like for `patch.parse`. Binary files are text too: blame dates them by their lines as well. What
# deleted files held (-D) is of no use, and a third of all the text.
PATCH = (
    "-r", "-p", "-U0", "-M", "-l5000", "-D", "--full-index", "--text", "--indent-heuristic", "--no-ext-diff",
    "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none",
)  # fmt: skip

_OF_OBJECTS = frozenset(("cat-file", "diff", "diff-tree"))  # commands that are given the names of all that they look at

# git writes a few kilobytes at a time. A wide pipe that is emptied now and then spares both sides most of the switching.
_PIPE = 1 << 20
_PAUSE = 0.02


def _widened(pipe: int) -> int:
    """The size of a pipe, made as wide as the system lets it be."""
    try:
        import fcntl

        return fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
    except (ImportError, AttributeError, OSError):
        return 1 << 16


@dataclass(frozen=True, slots=True)
class Git:
    """One repository, which is only read."""

    folder: Path
    objects: program.Git | None = None  # its objects alone, for what asks for nothing else

    def of_objects(self) -> Git:
        """The same repository, read without its settings: for each promised object that is not there git would
        otherwise go through all that were promised, half a minute in PyTorch's history. Not for a shallow clone, whose end is a setting.
        """
        return replace(self, objects=program.objects_of(self.folder))

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """The output of a git command. Raises HistoryError with git's own words when it fails."""
        try:
            return self._program(arguments).run(*_PREFIX, *arguments, data=stdin)
        except CheckoutError as error:
            raise HistoryError(error.message, where=error.where or str(self.folder), hint=error.hint) from error

    def attempt(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """The output of a git command; None when it fails."""
        try:
            return self._program(arguments).run(*_PREFIX, *arguments, data=stdin)
        except program.GitError:
            return None

    def text(self, *arguments: str) -> str:
        """The output of a git command as one stripped string; "" when it fails."""
        return (self.attempt(*arguments) or b"").decode("utf-8", "replace").strip()

    def stream(self, *arguments: str, stdin: bytes) -> Stream:
        """Start a git command whose output is read while it runs."""
        return Stream(self.start(*arguments), stdin)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a git command with pipes on its input and output."""
        return self._program(arguments).start(*_PREFIX, *arguments)

    def blobs(self) -> BlobReader:
        """A reader of file contents, which the caller closes."""
        return BlobReader(self._program(("cat-file",)))

    def _program(self, arguments: Sequence[str]) -> program.Git:
        return self.objects if self.objects is not None and arguments[0] in _OF_OBJECTS else program.Git(self.folder)


class Stream:
    """The output of a running git, in pieces. Closing it early ends git."""

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes) -> None:
        self._child = child
        self._feeder = threading.Thread(target=_feed, args=(child, stdin, True), daemon=True)
        self._feeder.start()

    def pieces(self) -> Iterator[bytes]:
        """The pieces of the output, as git writes them."""
        yield from _pieces(self._child)

    def close(self) -> bool:
        """End git; returns True when it had ended without an error."""
        return _end(self._child, self._feeder)


class Asker:
    """A git process that answers many questions: a new process for each would have to open the packs anew."""

    # `git diff-tree --stdin` says back what is no object name; nothing else in its output begins like this.
    _END = b"end of slice\n"

    def __init__(self, git: Git, *arguments: str) -> None:
        self._git, self._arguments = git, arguments
        self._child: subprocess.Popen[bytes] | None = None
        self._feeder: threading.Thread | None = None

    def ask(self, lines: bytes) -> Iterator[bytes]:
        """The answer to some lines. Raises EOFError when git died over them; the next question gets a new git."""
        child = self._child = self._child or self._git.start(*self._arguments)
        self._feeder = threading.Thread(target=_feed, args=(child, lines + self._END, False), daemon=True)
        self._feeder.start()
        tail = b"\n"
        for piece in _pieces(child):
            tail = (tail + piece)[-len(self._END) - 1 :]
            yield piece
            if tail[1:] == self._END and tail[0] in b"\n\0":
                self._feeder.join()
                return
        self.close()
        raise EOFError

    def close(self) -> None:
        """End the git process."""
        child, feeder = self._child, self._feeder
        self._child = self._feeder = None
        if child is not None and feeder is not None:
            _end(child, feeder)


def _pieces(child: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert child.stdout is not None
    pipe = child.stdout.fileno()
    width = _widened(pipe)
    while piece := os.read(pipe, width):
        yield piece
        if width == _PIPE and len(piece) < width // 4:
            time.sleep(_PAUSE)


def _feed(child: subprocess.Popen[bytes], data: bytes, last: bool) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(data)
        if last:
            child.stdin.close()
        else:
            child.stdin.flush()
    except (OSError, ValueError):
        return  # git died; its exit code tells


def _end(child: subprocess.Popen[bytes], feeder: threading.Thread) -> bool:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.close()
    feeder.join()
    with contextlib.suppress(OSError):  # it died with something unread
        child.stdin.close()
    return child.wait() == 0


def repository(path: Path) -> Git | None:
    """The repository at `path` (bare, a checkout, or a linked work tree); None when there is none."""
    folder = program.find_git_dir(path)
    return None if folder is None else Git(folder)
