# SPDX-License-Identifier: BSD-3-Clause
"""Makes the dated tree: lists its files, and checks what the walk found for each of them.

A file whose content or number of lines is not what the walk came to is asked of `git blame` instead.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.history.lines import UNKNOWN
from cartographer.history.pairs import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet

    from cartographer.history.commits import Commits
    from cartographer.history.lines import Record
    from cartographer.history.pairs import Pairs
    from cartographer.history.plumbing import Git

_SNIFFED = 8000  # bytes in which git looks for a NUL to tell binary files


@dataclass(frozen=True, slots=True)
class TipFile:
    """One file of the tree: `lines` is None when its content is not there or not text."""

    blob: bytes
    lines: int | None


def read(git: Git, commits: Commits, pairs: Pairs | None = None) -> dict[bytes, TipFile]:
    """The files of the tip (links too, submodules not); with `pairs` their lines are counted, those of each content once."""
    out = git.run("ls-tree", "-r", "-z", commits.ids[commits.tip])
    found = {}
    for row in out.split(b"\0")[:-1]:
        head, _, path = row.partition(b"\t")
        _, kind, blob = head.split(b" ")
        if kind == b"blob":
            found[path] = TipFile(blob, None)
    if pairs is not None:
        lines = _counted(git, {file.blob for file in found.values()}, pairs)
        found = {path: TipFile(file.blob, lines.get(file.blob)) for path, file in found.items()}
    return found


def _counted(git: Git, blobs: AbstractSet[bytes], pairs: Pairs) -> dict[bytes, int | None]:
    """How many lines these contents have; None for what is not text. Contents that are not there are left out."""
    lines = {blob: pairs.lines[blob] for blob in blobs & pairs.lines.keys()}
    reader = git.blobs()
    try:
        asked = sorted(blobs - lines.keys())
        for blob, (_, data) in zip(asked, reader.read_many(blob.decode("ascii") for blob in asked), strict=True):
            if data is None:
                pairs.lacking = True
            else:
                lines[blob] = None if b"\0" in data[:_SNIFFED] else count(data)
    finally:
        reader.close()
    pairs.remember_lines(lines)
    return lines


def wrong(tip: Mapping[bytes, TipFile], files: Mapping[bytes, Record]) -> set[bytes]:
    """The text files for which the lines that the walk found cannot be right."""
    return {
        path
        for path, file in tip.items()
        if file.lines is not None
        and ((record := files.get(path)) is None or record.dated != file.blob or len(record.lines) != file.lines)
    }


_ENTRY = re.compile(rb"^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$", re.MULTILINE)


def blame(git: Git, commits: Commits, path: bytes, lines: int, ignored: Collection[int]) -> array[int]:
    """The lines of one file with their commits as `git blame` has them; unknown when git cannot read a version."""
    found = array("I", [UNKNOWN]) * lines
    skipped = [f"--ignore-rev={commits.ids[commit]}" for commit in sorted(ignored)]
    tip = commits.ids[commits.tip]
    out = git.attempt("blame", "--incremental", *skipped, tip, "--", path.decode("utf-8", "surrogateescape"))
    for name, first, number in _ENTRY.findall(out or b""):
        start = int(first) - 1
        owner = commits.index.get(name.decode("ascii"), UNKNOWN)
        found[start : start + int(number)] = array("I", [owner]) * int(number)
    return found[:lines]
