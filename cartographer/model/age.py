# SPDX-License-Identifier: BSD-3-Clause
"""Computes how old any set of source lines is, from the dated lines of a tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.atlas import Strata


@dataclass(frozen=True, slots=True)
class Age:
    """The dates of a set of lines, summed up. All dates are ISO days of the commits that the lines came in by."""

    lines: int
    dated: int  # lines with a known date
    oldest: str | None = None
    median: str | None = None  # half of the dated lines came in on this day or before
    newest: str | None = None
    eras: tuple[tuple[str, int], ...] = ()  # (era, lines), oldest first, those without a line left out
    years: tuple[tuple[str, int], ...] = ()
    first_release: str | None = None  # the first that holds any of these lines
    before: bool = False  # the clone is shallow: the oldest lines are from `oldest` or before
    imported: int = 0  # lines that came in as a copy of foreign code: they are older than their date

    def share(self, era: str) -> float:
        """The fraction (0 to 1) of the dated lines that came in during an era."""
        return dict(self.eras).get(era, 0) / self.dated if self.dated else 0.0


@dataclass(frozen=True)
class Ages:
    """Answers questions about the age of lines in one dated tree; what the answers have in common is computed once."""

    strata: Strata
    _starts: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _oldest: dict[tuple[str, int, int], str | None] = field(default_factory=dict, repr=False)

    def of(self, path: str, first: int, last: int) -> Age | None:
        """The age of the lines `first` to `last` (both counted in) of a file; None when the file has no dated lines."""
        dates = self.strata.files.get(path)
        if dates is None or not dates.runs:
            return None
        starts = self._starts_of(path)
        owners: Counter[int] = Counter()
        for number in range(max(0, bisect_right(starts, first - 1) - 1), len(dates.runs)):
            if starts[number] >= last:
                break
            owners[dates.runs[number][1]] += min(last, starts[number + 1]) - max(first - 1, starts[number])
        return self.summed(+owners)

    def oldest(self, path: str, first: int, last: int) -> str | None:
        """The day of the oldest of these lines, which is `of(path, first, last).oldest`; None when none is dated."""
        at = (path, first, last)
        if at not in self._oldest:
            dates = self.strata.files.get(path)
            runs, starts = (dates.runs, self._starts_of(path)) if dates is not None else ((), ())
            begin, end = max(0, bisect_right(starts, first - 1) - 1), bisect_left(starts, last)
            days = [self.strata.commits[commit][1] for _, commit in runs[begin:end] if commit >= 0]
            self._oldest[at] = min(days, default=None)
        return self._oldest[at]

    def _starts_of(self, path: str) -> tuple[int, ...]:
        """After how many lines each run of a file begins, and the number of all."""
        if path not in self._starts:
            self._starts[path] = (0, *accumulate(lines for lines, _ in self.strata.files[path].runs))
        return self._starts[path]

    def of_files(self, paths: Iterable[str]) -> Age:
        """The age of all lines of the given files, taken together."""
        owners: Counter[int] = Counter()
        for path in paths:
            if dates := self.strata.files.get(path):
                for lines, commit in dates.runs:
                    owners[commit] += lines
        return self.summed(owners)

    def summed(self, owners: Mapping[int, int]) -> Age:
        """The age of a set of lines, given as a number of lines per commit (an index into `Strata.commits`; -1 = unknown)."""
        total, known = sum(owners.values()), {commit: lines for commit, lines in owners.items() if commit >= 0}
        if not known:
            return Age(total, 0)
        dates = self.strata.commits
        by_day: Counter[str] = Counter()
        for commit, lines in known.items():
            by_day[dates[commit][1]] += lines
        days = sorted(by_day)
        dated = sum(known.values())
        releases = [r for commit in known if (r := self._release(commit)) >= 0]
        return Age(
            total,
            dated,
            days[0],
            _median(days, by_day, dated),
            days[-1],
            self._by_era(by_day),
            tuple(sorted(_by_year(by_day).items())),
            self.strata.releases[min(releases)] if releases else None,
            before=any(commit in self._boundary and dates[commit][1] == days[0] for commit in known),
            imported=sum(lines for commit, lines in known.items() if commit in self._imports),
        )

    def era(self, day: str) -> str | None:
        """The name of the era that an ISO day falls into; None when the history has no eras."""
        place = bisect_right([era.first for era in self.strata.eras], day) - 1
        return self.strata.eras[max(0, place)].name if self.strata.eras else None

    def _by_era(self, by_day: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        starts = [era.first for era in self.strata.eras]
        if not starts:
            return ()
        lines = [0] * len(starts)
        for day, number in by_day.items():
            lines[max(0, bisect_right(starts, day) - 1)] += number
        return tuple((era.name, number) for era, number in zip(self.strata.eras, lines, strict=True) if number)

    def _release(self, commit: int) -> int:
        return self.strata.first_release[commit] if self.strata.first_release else -1

    @cached_property
    def _boundary(self) -> frozenset[int]:
        return frozenset(self.strata.boundary)

    @cached_property
    def _imports(self) -> frozenset[int]:
        copied = {i.commit for i in self.strata.imports if i.kind == "tree"}
        return frozenset(number for number, (commit, _) in enumerate(self.strata.commits) if commit in copied)


def _median(days: list[str], by_day: Mapping[str, int], dated: int) -> str:
    seen = 0
    for day in days:
        seen += by_day[day]
        if 2 * seen >= dated:
            return day
    return days[-1]


def _by_year(by_day: Mapping[str, int]) -> Counter[str]:
    years: Counter[str] = Counter()
    for day, lines in by_day.items():
        years[day[:4]] += lines
    return years
