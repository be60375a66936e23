# SPDX-License-Identifier: BSD-3-Clause
"""Counts lines by era, for files and folders."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.model.age import Ages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.atlas import Era, FileDates, Strata

PATTERNS = 7  # tints and hatchings in the style sheet


class Ground:
    """The dated lines of an atlas; empty when the source had no history."""

    def __init__(self, strata: Strata) -> None:
        """Take the strata as the store has them."""
        self.strata = strata
        self.eras: tuple[Era, ...] = strata.eras

    @property
    def dated(self) -> bool:
        """Whether single lines have dates, and there are eras for them."""
        return self.strata.level == "lines" and bool(self.eras)

    @cached_property
    def era_of(self) -> tuple[int, ...]:
        """The era of each commit, by its index."""
        starts = [era.first for era in self.eras]
        return tuple(max(0, bisect_right(starts, date) - 1) for _commit, date in self.strata.commits)

    def file(self, path: str) -> FileDates | None:
        """The dates of one file; None when it has none."""
        return self.strata.files.get(path)

    @cached_property
    def by_file(self) -> dict[str, tuple[int, ...]]:
        """The number of lines by era for each dated file; the last number counts lines without a date."""
        if not self.dated:
            return {}
        found = {}
        for path, dates in self.strata.files.items():
            counts = [0] * (len(self.eras) + 1)
            for length, commit in dates.runs:
                counts[self.era_of[commit] if commit >= 0 else -1] += length
            if any(counts):
                found[path] = tuple(counts)
        return found

    @cached_property
    def by_folder(self) -> dict[str, tuple[int, ...]]:
        """The number of lines by era for each folder, its subfolders included; the last number counts lines without a date."""
        found: dict[str, list[int]] = {}
        for path, counts in self.by_file.items():
            while path:
                path = path.rpartition("/")[0]  # noqa: PLW2901 - walking upwards
                total = found.setdefault(path, [0] * len(counts))
                for era, lines in enumerate(counts):
                    total[era] += lines
        return {path: tuple(counts) for path, counts in found.items()}

    @cached_property
    def ages(self) -> Ages:
        """The calculator of ages for spans of lines."""
        return Ages(self.strata)

    def span(self, path: str, first: int, last: int) -> tuple[int, ...]:
        """The number of lines by era in a span of a file, the last one without a date; empty when the file is not dated."""
        age = self.ages.of(path, first, last) if self.dated else None
        if age is None:
            return ()
        lines = dict(age.eras)
        return (*(lines.get(era.name, 0) for era in self.eras), age.lines - age.dated)

    def main_era(self, counts: Iterable[int] | None) -> int | None:
        """The index of the era with most lines; None when nothing is dated."""
        known = list(counts or ())[: len(self.eras)]
        return max(range(len(known)), key=lambda era: (known[era], -era)) if any(known) else None

    def pattern(self, era: int) -> int:
        """The style sheet's pattern for an era, from 1 (oldest) to 7, spread over the scale when there are fewer eras."""
        count = len(self.eras)
        return 1 + min(PATTERNS - 1, era * PATTERNS // count) if count > PATTERNS else PATTERNS - count + era + 1
