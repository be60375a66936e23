# SPDX-License-Identifier: BSD-3-Clause
"""The lines of one file after a commit, each with the commit that it came in by."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import pairwise

from cartographer.history.patch import triples

UNKNOWN = 0xFFFFFFFF  # instead of a commit: a line that a missing blob hides

NO_LINES: array[int] = array("I")


@dataclass(frozen=True, slots=True)
class Record:
    """The state of a file after a commit. Arrays are shared between states and never changed in place.

    `lines` has a commit for each line of the blob `dated`; the two blobs differ only after a version that this clone
    cannot read.
    """

    blob: bytes
    lines: array[int]
    born: int
    changed: int
    names: tuple[bytes, ...] = ()
    dated: bytes = b""


def patched(lines: array[int], hunks: bytes, commit: int) -> array[int]:
    """The commits of a file's lines after a change: the lines that the change put in are the given commit's."""
    out = array("I", lines)
    numbers = iter(triples(hunks))
    for taken, first, put in zip(numbers, numbers, numbers, strict=True):
        at = first - 1 if put else first
        out[at : at + taken] = array("I", (commit,)) * put
    return out


def kept(lines: array[int], hunks: bytes, owner: int, mine: array[int]) -> array[int]:
    """`mine`, where lines owned by `owner` that `hunks` leave alone get the commit they have in `lines`."""
    other = patched(lines, hunks, owner)
    if len(other) != len(mine):
        return mine
    return array("I", [theirs if ours == owner else ours for ours, theirs in zip(mine, other, strict=True)])


def runs(lines: array[int]) -> list[tuple[int, int]]:
    """(number of lines, commit) of consecutive lines with the same commit."""
    if not lines:
        return []
    cuts = [at for at, (one, other) in enumerate(pairwise(lines), 1) if one != other]
    return [(end - start, lines[start]) for start, end in zip([0, *cuts], [*cuts, len(lines)], strict=True)]
