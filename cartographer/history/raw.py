# SPDX-License-Identifier: BSD-3-Clause
"""Lists what commits did to files without reading any file's content: for clones that have commits and trees alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.errors import HistoryError
from cartographer.history.patch import ADDED, DELETED, MODIFIED, RENAMED, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.history.commits import Commits
    from cartographer.history.plumbing import Git

# Only renames that keep the content can be told from ids.
COMMAND = ("diff-tree", "-r", "-z", "--raw", "-M100%", "--no-abbrev", "--root")
_SUBMODULE = b"160000"  # its id is a commit of another repository, and no blob of this one
_KINDS = {b"A": ADDED, b"C": ADDED, b"D": DELETED, b"R": RENAMED}  # a copy (only if asked for) is new, and has an `old`

Row = tuple[Change, bytes]  # a change without hunks, and the blob before; empty for a submodule


def events(git: Git, commits: Commits, wanted: Sequence[int]) -> Iterator[tuple[int, list[Change]]]:
    """(commit, changes against its first parent) for each wanted commit, in order."""
    stream = git.stream(*COMMAND, "--stdin", stdin=b"".join(commits.line(commit) for commit in wanted))
    told = ((commits.index[name], rows) for name, rows in parse(stream.pieces()))
    ahead = next(told, None)
    for commit in wanted:
        if ahead is not None and ahead[0] == commit:
            yield commit, [change for change, _ in ahead[1]]
            ahead = next(told, None)
        else:
            yield commit, []
    if not stream.close():
        raise HistoryError("git could not list what changed", where=str(git.folder), hint="this clone may lack trees")


def parse(pieces: Iterator[bytes]) -> Iterator[tuple[str, list[Row]]]:
    """Parse the output of `git diff-tree --stdin --raw -z`. Raises HistoryError for what git would not print."""
    name, rows = "", list[Row]()
    words = _words(pieces)
    for word in words:
        if not word.startswith(b":"):
            if name:
                yield name, rows
            name, rows = word.strip().decode("ascii", "replace"), []
            continue
        try:
            rows += _rows(word, words)
        except (ValueError, StopIteration) as error:
            raise HistoryError("git lists changes in a form that we cannot read", hint="try `git fsck`") from error
    if name:
        yield name, rows


def _rows(word: bytes, words: Iterator[bytes]) -> list[Row]:
    mode_before, _, before, after, status = word[1:].split(b" ")
    path, old, letter = next(words), b"", status[:1]
    if letter in b"RC":
        old, path = path, next(words)
    blob_before = b"" if mode_before == _SUBMODULE else before
    if letter == b"T":  # a file became a link or the other way round: nothing of it lives on
        return [(Change(DELETED, path), blob_before), (Change(ADDED, path, blob=after), b"")]
    return [(Change(_KINDS.get(letter, MODIFIED), path, old, b"" if before == after else after), blob_before)]


def _words(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
