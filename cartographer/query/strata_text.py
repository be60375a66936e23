# SPDX-License-Identifier: BSD-3-Clause
"""Prints the dates of a section for people: its eras from the newest down, each with its share and its number of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.model.age import Age
    from cartographer.model.atlas import Strata
    from cartographer.query.ink import Ink
    from cartographer.query.strata import DatedFile, LaidLine, Section

_BAR = 40
_PARTS = 24  # parts shown; all are in --json and --csv


def text(found: Section, strata: Strata, ink: Ink) -> Iterator[str]:
    """A section as lines for people."""
    name = found.path or "the whole tree"
    yield f"{ink.strong(name)}: {found.files:,} files, {found.age.lines:,} lines"
    if strata.reason:
        yield ink.doubt(strata.reason)
    if found.age.dated:
        yield _span(found.age)
        yield ""
        yield from _layers("era", found.age.eras, found.age.dated, ink)
        yield from _layers("year", found.age.years, found.age.dated, ink)
        yield from _parts(found, ink)
    yield from _files("oldest files", found.oldest, ink)
    yield from _files("newest files", found.newest, ink)
    if found.imports:
        yield ink.strong("came in as copies") + ink.faint(" (the code is older than its date here)")
        for came in found.imports:
            mark = ", third-party" if came.vendored else ""
            yield f"  {came.date}  {came.commit[:10]}  {came.folder or 'all over'}: {came.lines:,} lines{mark}  {ink.faint(came.subject)}"


def line_text(found: LaidLine, ink: Ink) -> str:
    """The sentence that says when one line of a file came in."""
    place = ink.strong(f"{found.path}:{found.line}")
    if found.commit is None:
        return f"{place}: {ink.doubt('when it came in is not known')}"
    said = f"{place} came in on {found.date}{' or before' if found.before else ''} by {ink.place(found.commit)}"
    return f"{said}; the first release with it is {found.first_release}" if found.first_release else said


def _span(age: Age) -> str:
    said = f"from {age.oldest} {'or before ' if age.before else ''}to {age.newest}, half of them by {age.median}"
    if age.first_release:
        said += f"; the first are in {age.first_release}"
    if age.dated < age.lines:
        said += f"; {age.lines - age.dated:,} lines have no date"
    return f"{said}; {age.imported:,} came in as copies" if age.imported else said


def _layers(title: str, layers: Sequence[tuple[str, int]], dated: int, ink: Ink) -> Iterator[str]:
    if not layers:
        return
    width = max(len(name) for name, _ in layers)
    yield ink.strong(f"by {title}")
    for name, lines in reversed(layers):  # the youngest on top, as in the ground
        bar = "█" * max(1, round(_BAR * lines / dated))
        yield f"  {name:<{width}}  {lines:>9,}  {100 * lines / dated:5.1f} %  {ink.faint(bar)}"
    yield ""


def _parts(found: Section, ink: Ink) -> Iterator[str]:
    parts = sorted((part for part in found.parts if part[1].dated), key=lambda part: (-part[1].lines, part[0]))
    if not parts:
        return
    width = max(len(name) for name, _ in parts[:_PARTS])
    yield ink.strong("what lies in it") + ink.faint("  lines, oldest, median, newest")
    for name, age in parts[:_PARTS]:
        yield f"  {ink.place(f'{name:<{width}}')}  {age.lines:>9,}  {age.oldest}  {age.median}  {age.newest}"
    if len(parts) > _PARTS:
        yield ink.faint(f"  and {len(parts) - _PARTS} more (--csv has them all)")
    yield ""


def _files(title: str, files: Sequence[DatedFile], ink: Ink) -> Iterator[str]:
    if len(files) > 1:
        yield ink.strong(title)
        yield from (f"  {file.day}  {ink.place(file.path)}" for file in files)
        yield ""
