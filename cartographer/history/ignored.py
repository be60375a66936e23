# SPDX-License-Identifier: BSD-3-Clause
"""Commits that only re-format, as PyTorch's `.git-blame-ignore-revs` lists them: their lines keep the older dates.

As `git blame --ignore-revs-file` does it: each line that such a commit put in is given to the most similar line that
the same hunk took out, in order; failing that, to a line anywhere in the file before that has much in common with it;
a line that resembles none stays with the commit.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING

from cartographer.history.lines import patched
from cartographer.history.patch import triples

if TYPE_CHECKING:
    from cartographer.checkout.blob_reader import BlobReader
    from cartographer.history.commits import Commits
    from cartographer.history.pairs import Pairs
    from cartographer.history.plumbing import Git

LIST = ".git-blame-ignore-revs"
_REACH = 10  # how far from its proportional place in the hunk a line is looked for
_LARGEST = 2000  # lines of a hunk; beyond, only equal lengths are matched, line by line

_MUCH = 10  # pairs of characters that a line elsewhere in the file must share

Fingerprint = Counter[bytes]


def read(git: Git, commits: Commits) -> frozenset[int]:
    """The commits listed in the tree of the tip, as far as they are ancestors."""
    text = git.attempt("cat-file", "blob", f"{commits.ids[commits.tip]}:{LIST}") or b""
    named = re.findall(r"^\s*([0-9a-f]{40,64})\b", text.decode("ascii", "replace"), re.MULTILINE)
    return frozenset(commits.index[name] for name in named if name in commits.index)


class Ignored:
    """The ignored commits, and the rules by which their lines get older dates."""

    def __init__(self, commits: frozenset[int], blobs: BlobReader, pairs: Pairs) -> None:
        self._commits, self._blobs, self._pairs = commits, blobs, pairs

    def __contains__(self, commit: int) -> bool:
        return commit in self._commits

    def __len__(self) -> int:
        return len(self._commits)

    def patched(self, lines: array[int], before: bytes, after: bytes, hunks: bytes, commit: int) -> array[int]:
        """The commits of a file's lines after an ignored commit."""
        out = patched(lines, hunks, commit)
        moved = self._pairs.remembered(b"\0".join((b"ignored", before, after)), lambda: self._moved(before, after, hunks))
        numbers = iter(array("I", moved or b""))
        for target, source in zip(numbers, numbers, strict=True):
            out[target] = lines[source]
        return out

    def _moved(self, before: bytes, after: bytes, hunks: bytes) -> bytes | None:
        """(new line, old line), and so on, for all lines that the commit put in and that resemble older ones."""
        old, new = (self._blobs.read(blob.decode("ascii")) for blob in (before, after))
        if old is None or new is None:
            return None
        was, now = old.split(b"\n"), new.split(b"\n")
        shift, strays, moved = 0, list[tuple[int, int]](), list[tuple[int, int]]()
        numbers = iter(triples(hunks))
        for taken, first, put in zip(numbers, numbers, numbers, strict=True):
            at = first - 1 if put else first
            start = at - shift
            shift += put - taken
            found = dict(matches(was[start : start + taken], now[at : at + put]))
            moved += ((at + target, start + source) for target, source in found.items())
            strays += ((at + target, start + target) for target in range(put) if target not in found)
        return array("I", [n for pair in moved + elsewhere(was, now, strays) for n in pair]).tobytes()


def elsewhere(was: list[bytes], now: list[bytes], strays: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(new line, old line) for each of the `strays` (new line, where it would be in the old file) that resembles a line anywhere in the old file."""
    wanted = [(target, home, mine) for target, home in strays if (mine := _pairs(now[target])).total() >= _MUCH]
    if not wanted:
        return []
    holders: dict[bytes, list[tuple[int, int]]] = {}
    for number, line in enumerate(was):
        for pair, times in _pairs(line).items():
            holders.setdefault(pair, []).append((number, times))
    found = []
    for target, home, mine in wanted:
        shared: Counter[int] = Counter()
        for pair, times in mine.items():
            for number, held in holders.get(pair, ()):
                shared[number] += min(times, held)
        best = max(((much, -abs(number - home), number) for number, much in shared.items()), default=(0, 0, 0))
        if best[0] >= _MUCH:
            found.append((target, best[2]))
    return found


def matches(was: list[bytes], now: list[bytes]) -> list[tuple[int, int]]:
    """(new line, old line) for each new line that resembles an old one; the order of both is kept."""
    if not was or not now:
        return []
    if max(len(was), len(now)) > _LARGEST:
        return [(n, n) for n in range(len(now))] if len(was) == len(now) else []
    found: list[tuple[int, int]] = []
    todo = [(0, len(now), 0, len(was))]
    likeness = _Likeness(was, now)
    while todo:
        low, high, first, last = todo.pop()
        best = likeness.best(low, high, first, last)
        if best is None:
            continue
        target, source = best
        found.append(best)
        likeness.use_up(target, source)
        todo += [(low, target, first, source + 1), (target + 1, high, source, last)]
    return sorted(found)


class _Likeness:
    """How many pairs of characters the lines of a hunk share, worked out when asked for."""

    def __init__(self, was: list[bytes], now: list[bytes]) -> None:
        self._old, self._new = [_pairs(line) for line in was], [_pairs(line) for line in now]
        self._known: list[dict[int, int]] = [{} for _ in was]  # by old line, new line
        self._scale = len(was) / len(now)

    def best(self, low: int, high: int, first: int, last: int) -> tuple[int, int] | None:
        """The most similar (new line, old line), the new one in low:high, the old one in first:last and not far away."""
        best, most = None, (0, 0)
        for target in range(low, high):
            middle = int(target * self._scale)
            for source in range(max(first, middle - _REACH), min(last, middle + _REACH + 1)):
                known = self._known[source]
                if target not in known:
                    known[target] = (self._new[target] & self._old[source]).total()
                if known[target] and (known[target], -abs(source - middle)) > most:
                    best, most = (target, source), (known[target], -abs(source - middle))
        return best

    def use_up(self, target: int, source: int) -> None:
        """What speaks for one new line cannot speak for another."""
        self._old[source] = self._old[source] - self._new[target]
        self._known[source].clear()


def _pairs(line: bytes) -> Fingerprint:
    # Neighbouring characters without regard to case and white space.
    text = b"".join(line.split()).lower()
    return Counter(text[at : at + 2] for at in range(max(1, len(text) - 1))) if text else Counter()
