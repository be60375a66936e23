# SPDX-License-Identifier: BSD-3-Clause
"""Answers `strata`: when the lines of a tree, a folder or a file came in; as JSON lines, JSON, CSV and text."""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_left
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from cartographer.errors import NotFound
from cartographer.model.age import Age, Ages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.model.atlas import FileDates, Import, Strata

_NAMED = 8  # oldest and newest files
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class DatedFile:
    """A file in the list of the oldest or of the newest files."""

    path: str
    lines: int
    day: str  # median of its lines; where lines have no dates, the day it was born (oldest) or changed (newest)


@dataclass(frozen=True, slots=True)
class Section:
    """The dates of all lines under a folder or in a file, with its parts."""

    path: str
    files: int
    age: Age
    parts: tuple[tuple[str, Age], ...]  # what lies directly in it
    oldest: tuple[DatedFile, ...]
    newest: tuple[DatedFile, ...]
    imports: tuple[Import, ...]


@dataclass(frozen=True, slots=True)
class LaidLine:
    """One line of a file, and the commit that it came in by; None where that is not known."""

    path: str
    line: int
    commit: str | None = None
    date: str | None = None
    first_release: str | None = None
    before: bool = False  # a shallow clone ends at this commit: the line is from then or before


def chosen(strata: Strata, paths: Iterable[str]) -> list[FileDates]:
    """The dated files under the given paths; all of them when no path is given. Raises NotFound for a path that is not in the tree."""
    wanted = [_plain(path) for path in paths]
    if strata.level == "none":
        raise NotFound("this atlas has no dates", hint=strata.reason or None)
    for path in wanted:
        if path and path not in strata.files and not any(name.startswith(f"{path}/") for name in strata.files):
            near = get_close_matches(path, {*strata.files, *_folders(strata)}, 3)
            raise NotFound(f"no dated file or folder is called {path!r}", hint=f"did you mean {', '.join(near)}?" if near else None)
    return [dates for path, dates in sorted(strata.files.items()) if not wanted or any(_under(path, one) for one in wanted)]


def lines(strata: Strata, paths: Iterable[str] = ()) -> Iterator[str]:
    """One line of JSON for each file: runs of consecutive lines with the commit each came in by, null where it is not known.

    Raises NotFound when lines have no dates here.
    """
    files = chosen(strata, paths)
    if strata.level != "lines":
        raise NotFound("this atlas dates files and not lines", hint=strata.reason or None)
    names = [commit for commit, _ in strata.commits]
    ends = {strata.commits[number][0] for number in strata.boundary}
    for dates in files:
        if dates.runs:
            runs = [[number, names[commit] if commit >= 0 else None] for number, commit in dates.runs]
            record: dict[str, Any] = {"path": dates.path, "runs": runs}
            if before := sorted(ends & {name for _, name in runs if isinstance(name, str)}):
                record["before"] = before  # a shallow clone ends at these: the lines are from then or before
            yield _encode(record)


def laid(strata: Strata, path: str, line: int) -> LaidLine:
    """When one line came in. Raises NotFound when there is no such file or line, and where lines have no dates."""
    (dates,) = chosen(strata, [path])
    if strata.level != "lines" or not dates.runs:
        raise NotFound("this atlas dates files and not lines", hint=strata.reason or None)
    ends = list(accumulate(lines for lines, _ in dates.runs))
    if line > ends[-1]:
        raise NotFound(f"{dates.path} has no line {line}, it ends with {ends[-1]}")
    commit = dates.runs[bisect_left(ends, line)][1]
    if commit < 0:
        return LaidLine(dates.path, line)
    first = strata.first_release[commit] if commit < len(strata.first_release) else -1
    name, day = strata.commits[commit]
    return LaidLine(dates.path, line, name, day, strata.releases[first] if first >= 0 else None, commit in strata.boundary)


def line_asked(strata: Strata, text: str) -> tuple[str, int] | None:
    """(path, line) of `aten/x.cpp:12`; None when there is no such file."""
    path, _, digits = text.rpartition(":")
    path = _plain(path)
    return (path, int(digits[:10])) if path in strata.files and digits.isdecimal() and int(digits[:10]) else None


def section(strata: Strata, path: str = "") -> Section:
    """The dates of the lines under a folder, in a file, or in the whole tree. Raises NotFound."""
    path = _plain(path)
    files = chosen(strata, [path] if path else [])
    ages = Ages(strata)
    parts: dict[str, list[str]] = {}
    for dates in files:
        if dates.path != path:
            rest = dates.path[len(path) + 1 if path else 0 :]
            parts.setdefault(rest.partition("/")[0] + ("/" if "/" in rest else ""), []).append(dates.path)
    ordered = _by_age(ages, files)
    touched = {strata.commits[commit][0] for dates in files for _, commit in dates.runs if commit >= 0}
    return Section(
        path,
        len(files),
        ages.of_files(dates.path for dates in files),
        tuple((name, ages.of_files(held)) for name, held in sorted(parts.items())),
        ordered[:_NAMED],
        tuple(reversed(ordered[-_NAMED:])),
        tuple(i for i in strata.imports if i.kind == "tree" and i.commit in touched),
    )


def _by_age(ages: Ages, files: list[FileDates]) -> tuple[DatedFile, ...]:
    if ages.strata.level == "files":
        return tuple(sorted((DatedFile(f.path, 0, f.born or "") for f in files if f.born), key=lambda f: (f.day, f.path)))
    told = ((f.path, ages.of_files([f.path])) for f in files if f.runs)
    return tuple(sorted((DatedFile(path, age.lines, age.median) for path, age in told if age.median), key=lambda f: (f.day, f.path)))


def _plain(path: str) -> str:
    """A path as the tree has it, however it was written: `./aten//src/` is `aten/src`, `.` is the whole tree, "" here."""
    plain = normpath(path.strip("/") or ".")
    return "" if plain == "." else plain


def _under(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _folders(strata: Strata) -> set[str]:
    return {path[:at] for path in strata.files for at, letter in enumerate(path) if letter == "/"}


def record(found: Section, strata: Strata) -> dict[str, Any]:
    """A section as a JSON value."""
    return {
        "path": found.path, "level": strata.level, "reason": strata.reason, "files": found.files, **_age(found.age),
        "parts": [{"name": name, **_age(age)} for name, age in found.parts],
        "oldest": [{"path": f.path, "lines": f.lines, "date": f.day} for f in found.oldest],
        "newest": [{"path": f.path, "lines": f.lines, "date": f.day} for f in found.newest],
        "imports": [
            {"commit": i.commit, "date": i.date, "folder": i.folder, "files": i.files, "lines": i.lines, "surviving": i.surviving,
             "subject": i.subject, "reason": i.reason, "vendored": i.vendored}
            for i in found.imports
        ],
        "evidence": [
            {"era": era.name, "first": era.first, "last": era.last,
             "evidence": [{"what": what, "commit": commit, "date": day} for what, commit, day in era.evidence]}
            for era in strata.eras
        ],
    }  # fmt: skip


def _age(age: Age) -> dict[str, Any]:
    return {
        "lines": age.lines, "dated": age.dated, "oldest": age.oldest, "median": age.median, "newest": age.newest,
        "first_release": age.first_release, "before": age.before, "imported": age.imported,
        "eras": dict(age.eras), "years": dict(age.years),
    }  # fmt: skip


def table(found: Section) -> Iterator[str]:
    """A section as CSV, without line ends: the lines of each part by year; the last rows, called `total`, are the whole."""
    years = [year for year, _ in found.age.years]
    yield _row(["name", *years, "unknown", "lines"])
    for name, age in (*found.parts, ("total", found.age)):
        by_year = dict(age.years)
        yield _row([name, *(by_year.get(year, 0) for year in years), age.lines - age.dated, age.lines])


def _row(cells: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
