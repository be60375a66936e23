# SPDX-License-Identifier: BSD-3-Clause
"""How history asks git: plumbing only, with every setting that could change a date put back to git's default."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.checkout import git as program
from cartographer.checkout.blob_reader import BlobReader
from cartographer.errors import CheckoutError, HistoryError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
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

# What a patch must look like for `patch.parse`. Binary files are text too: blame dates them by their lines as well.
PATCH = (
    "-r", "-p", "-U0", "-M", "-l5000", "--full-index", "--text", "--indent-heuristic", "--no-ext-diff",
    "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none",
)  # fmt: skip

_PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class Git:
    """One repository, read only."""

    folder: Path

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What a git command prints. Raises HistoryError with git's own words when it fails."""
        try:
            return self._program.run(*_PREFIX, *arguments, data=stdin)
        except CheckoutError as error:
            raise HistoryError(error.message, where=error.where or str(self.folder), hint=error.hint) from error

    def attempt(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """What a git command prints, None when it fails."""
        try:
            return self._program.run(*_PREFIX, *arguments, data=stdin)
        except program.GitError:
            return None

    def text(self, *arguments: str) -> str:
        """What a git command prints, as one stripped string; empty when it fails."""
        return (self.attempt(*arguments) or b"").decode("utf-8", "replace").strip()

    def stream(self, *arguments: str, stdin: bytes) -> Stream:
        """A git command whose output is read while it runs."""
        return Stream(self._program.start(*_PREFIX, *arguments), stdin)

    def blobs(self) -> BlobReader:
        """A reader of file contents; to be closed."""
        return BlobReader(self._program)

    @property
    def _program(self) -> program.Git:
        return program.Git(self.folder)


class Stream:
    """The output of a running git, in pieces, and whether git came to its end. Closing it early ends git."""

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes) -> None:
        self._child = child
        self._feeder = threading.Thread(target=self._feed, args=(stdin,), daemon=True)
        self._feeder.start()

    def pieces(self) -> Iterator[bytes]:
        """Some megabytes at a time."""
        assert self._child.stdout is not None
        while piece := self._child.stdout.read(_PIECE):
            yield piece

    def close(self) -> bool:
        """End it; True when git ended well."""
        assert self._child.stdout is not None
        self._child.stdout.close()
        self._feeder.join()
        return self._child.wait() == 0

    def _feed(self, data: bytes) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(data)
            self._child.stdin.close()
        except OSError:
            return  # git died; its exit code tells


def repository(path: Path) -> Git | None:
    """The repository at `path` (bare, a checkout, or a linked work tree), None if there is none."""
    folder = program.find_git_dir(path)
    return None if folder is None else Git(folder)
