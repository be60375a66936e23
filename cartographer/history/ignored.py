# SPDX-License-Identifier: BSD-3-Clause
"""Commits that only re-format, as PyTorch's `.git-blame-ignore-revs` lists them: their lines keep the older dates.

As `git blame --ignore-revs-file` does it: each line that such a commit put in is given to the most similar line that
the same hunk took out, in order; failing that, to a line anywhere in the file before that has much in common with it;
a line that resembles none stays with the commit.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from cartographer.history.lines import patched
from cartographer.history.patch import triples

if TYPE_CHECKING:
    from array import array

    from cartographer.checkout.blob_reader import BlobReader
    from cartographer.history.commits import Commits
    from cartographer.history.plumbing import Git

LIST = ".git-blame-ignore-revs"
_REACH = 10  # how far from its proportional place in the hunk a line is looked for
_LARGEST = 2000  # lines of a hunk; beyond, only equal lengths are matched, line by line

_MUCH = 10  # pairs of characters that a line elsewhere in the file must share
_PATIENCE = 1_000_000  # comparisons spent on one file

Pairs = Counter[bytes]


def read(git: Git, commits: Commits) -> frozenset[int]:
    """The commits listed in the tree of the tip, as far as they are ancestors."""
    text = git.attempt("cat-file", "blob", f"{commits.ids[commits.tip]}:{LIST}") or b""
    named = re.findall(r"^\s*([0-9a-f]{40,64})\b", text.decode("ascii", "replace"), re.MULTILINE)
    return frozenset(commits.index[name] for name in named if name in commits.index)


class Ignored:
    """The ignored commits, and how their lines find the older ones."""

    def __init__(self, commits: frozenset[int], blobs: BlobReader) -> None:
        self._commits, self._blobs = commits, blobs

    def __contains__(self, commit: int) -> bool:
        return commit in self._commits

    def __len__(self) -> int:
        return len(self._commits)

    def patched(self, lines: array[int], before: bytes, after: bytes, hunks: bytes, commit: int) -> array[int]:
        """The lines after an ignored commit."""
        out = patched(lines, hunks, commit)
        old, new = (self._blobs.read(blob.decode("ascii")) for blob in (before, after))
        if old is None or new is None:
            return out
        was, now = old.split(b"\n"), new.split(b"\n")
        shift, strays = 0, list[tuple[int, int]]()
        numbers = iter(triples(hunks))
        for taken, first, put in zip(numbers, numbers, numbers, strict=True):
            at = first - 1 if put else first
            start = at - shift
            shift += put - taken
            found = dict(matches(was[start : start + taken], now[at : at + put]))
            for target in range(put):
                if target in found:
                    out[at + target] = lines[start + found[target]]
                else:
                    strays.append((at + target, start + target))
        for target, source in elsewhere(was, now, strays):
            out[target] = lines[source]
        return out


def elsewhere(was: list[bytes], now: list[bytes], strays: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(new line, old line) for those strays (new line, where it would stand in the old file) that have a like anywhere."""
    if len(strays) * len(was) > _PATIENCE:
        return []
    old = [_pairs(line) for line in was] if strays else []
    found = []
    for target, home in strays:
        mine = _pairs(now[target])
        if mine.total() >= _MUCH:
            shared, _, source = max((((mine & theirs).total(), -abs(at - home), at) for at, theirs in enumerate(old)), default=(0, 0, 0))
            if shared >= _MUCH:
                found.append((target, source))
    return found


def matches(was: list[bytes], now: list[bytes]) -> list[tuple[int, int]]:
    """(new line, old line) for each new line that resembles an old one; the order of both is kept."""
    if not was or not now:
        return []
    if max(len(was), len(now)) > _LARGEST:
        return [(n, n) for n in range(len(now))] if len(was) == len(now) else []
    old, new = [_pairs(line) for line in was], [_pairs(line) for line in now]
    found: list[tuple[int, int]] = []
    todo = [(0, len(now), 0, len(was))]
    scale = len(was) / len(now)
    while todo:
        low, high, first, last = todo.pop()
        best = _best(old, new, (low, high, first, last), scale)
        if best is None:
            continue
        target, source = best
        found.append(best)
        old[source] = old[source] - new[target]  # what one line has used up cannot speak for another
        todo += [(low, target, first, source + 1), (target + 1, high, source, last)]
    return sorted(found)


def _best(old: list[Pairs], new: list[Pairs], bounds: tuple[int, int, int, int], scale: float) -> tuple[int, int] | None:
    low, high, first, last = bounds
    best, most = None, (0, 0)
    for target in range(low, high):
        middle = int(target * scale)
        for source in range(max(first, middle - _REACH), min(last, middle + _REACH + 1)):
            shared = (new[target] & old[source]).total()
            if (shared, -abs(source - middle)) > most and shared:
                best, most = (target, source), (shared, -abs(source - middle))
    return best


def _pairs(line: bytes) -> Pairs:
    # Neighbouring characters without regard to case and white space.
    text = b"".join(line.split()).lower()
    return Counter(text[at : at + 2] for at in range(max(1, len(text) - 1))) if text else Counter()
