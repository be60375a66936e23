# SPDX-License-Identifier: BSD-3-Clause
"""The comparison for people: a report for the terminal, and Markdown for release notes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cartographer.compare.schemas import SCHEMA_IDS
from cartographer.model.change import Level, folded, is_public, operators_by_level
from cartographer.model.marking import marked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cartographer.model.change import Change, ChangePlace, Comparison

    Paint = Callable[[str, str], str]

_LEVELS = (
    (Level.BREAK, "BREAKS", "old calls can fail"),
    (Level.MAYBE, "MAYBE", "overriding subclasses, registered kernels, serialized programs, gradients"),
    (Level.INFO, "INFORMATION", "nothing to do"),
)
_TITLES = {
    "op-removed": "operators removed", "overload-removed": "overloads removed", "op-added": "new operators",
    "overload-added": "new overloads", "python-module-changed": "moved to another Python module", "schema": "signatures changed",
}
_ORDER = ("op-removed", "overload-removed", "python-module-changed", "variants-changed", "schema")



def plain(text: str, style: str) -> str:  # noqa: ARG001 - the painter that paints nothing
    """No colours."""
    return text


_ANSI = {"bold": "1", "break": "1;31", "maybe": "33", "info": "36", "dim": "2", "old": "31", "new": "32"}


def ansi(text: str, style: str) -> str:
    """Colours of a terminal."""
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if text else ""


def as_text(comparison: Comparison, paint: Paint = plain, *, everything: bool = False) -> Iterator[str]:
    """The report, line by line. Information is summed up by kind unless `everything` is wanted."""
    counts = operators_by_level(comparison)
    total = sum(counts.values())
    yield paint(f"PyTorch {comparison.old} → {comparison.new}", "bold") + f": {_n(total, 'operator')} changed"
    for level, word, means in _LEVELS:
        if counts[level]:
            yield f"  {paint(f'{counts[level]:>6,}', str(level))} {word.lower():<12} {paint(means, 'dim')}"
    for note in comparison.notes:
        yield f"  note: {note}"
    for level, word, means in _LEVELS:
        changes = [c for c in comparison.changes if c.level is level]
        if not changes:
            continue
        kept, folds = folded(changes)
        yield ""
        yield paint(f"{word} · {means}", str(level))
        if level is Level.INFO and not everything:
            yield from _sums(kept, paint)
        else:
            yield from _groups(kept, paint)
        for id_, why, number in folds:
            yield f"  {paint(f'{number:,} × {id_}', 'dim')} folded: {why}"
    if not total:
        yield "  no changes"


def _n(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _group_of(change: Change) -> str:
    return "schema" if change.id in SCHEMA_IDS else change.id


def _rank(change: Change) -> tuple[bool, int, str, str, str]:
    group = _group_of(change)
    return (not is_public(change), _ORDER.index(group) if group in _ORDER else len(_ORDER), group, change.op, change.id)


def _sums(changes: list[Change], paint: Paint) -> Iterator[str]:
    for group, members in groupby(sorted(changes, key=lambda c: (_group_of(c), c.op)), key=_group_of):
        names = list(dict.fromkeys(c.op.partition("::")[2] for c in members))
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        yield f"  {len(names):>6,} {_TITLES.get(group, group)}: {paint(shown, 'dim')}"
    if changes:
        yield paint("  (--level info --all lists them one by one)", "dim")


def _groups(changes: list[Change], paint: Paint) -> Iterator[str]:
    for (private, _, group), members in groupby(sorted(changes, key=_rank), key=lambda c: _rank(c)[:3]):
        rows = list(members)
        operators = len({c.op for c in rows})
        internal = " of internal or generated operators" if private else ""
        yield f"  {paint(f'{_TITLES.get(group, group)}{internal} ({operators:,})', 'bold')}"
        for op, own in groupby(rows, key=lambda c: c.op):
            yield from _operator(op, list(own), paint)


def _operator(op: str, changes: list[Change], paint: Paint) -> Iterator[str]:
    name = op.removeprefix("aten::")
    reasons = "; ".join(dict.fromkeys(c.reason for c in changes))
    yield f"    {paint(name, 'bold')}  {reasons}"
    first = changes[0]
    schemas = first.detail.get("schema")
    if isinstance(schemas, list):
        old, new = (_painted(pieces, paint, side) for pieces, side in zip(marked(*schemas), ("old", "new"), strict=True))
        yield f"      - {old}  {paint(_place(first.places, 'old'), 'dim')}"
        yield f"      + {new}  {paint(_place(first.places, 'new'), 'dim')}"
        return
    if first.old is not None:
        yield f"      - {paint(first.old, 'old')}  {paint(_place(first.places, 'old'), 'dim')}"
    if first.new is not None:
        yield f"      + {paint(first.new, 'new')}  {paint(_place(first.places, 'new'), 'dim')}"


def _painted(pieces: Iterable[tuple[bool, str]], paint: Paint, side: str) -> str:
    return "".join(paint(text, side) if changed else text for changed, text in pieces)


def _place(places: Iterable[ChangePlace], side: str) -> str:
    return next((f"{p.path}:{p.line}" for p in places if p.side == side), "")


def as_markdown(comparison: Comparison) -> Iterator[str]:
    """For release notes: a heading a level, a table a kind; permalinks where both sides are known."""
    yield f"# PyTorch operators, {comparison.old} → {comparison.new}"
    for level, word, means in _LEVELS:
        kept, folds = folded(c for c in comparison.changes if c.level is level)
        if not kept and not folds:
            continue
        yield f"\n## {word.capitalize()}: {means}\n"
        for (_, _, group), members in groupby(sorted(kept, key=_rank), key=lambda c: _rank(c)[:3]):
            yield f"\n### {_TITLES.get(group, group).capitalize()}\n"
            yield "| operator | what | old | new |\n| --- | --- | --- | --- |"
            for change in members:
                old, new = _cell(change, "old", comparison.old_web), _cell(change, "new", comparison.new_web)
                yield f"| `{change.op.removeprefix('aten::')}` | {_escape(change.reason)} | {old} | {new} |"
        for id_, why, number in folds:
            yield f"\n{number:,} × `{id_}`: {_escape(why)}."


def _cell(change: Change, side: str, web: str) -> str:
    text = change.old if side == "old" else change.new
    place = next((p for p in change.places if p.side == side), None)
    shown = f"`{_escape(text)}`" if text else ""
    return f"{shown} [{place.line}]({web}/{place.path}#L{place.line})".strip() if place else shown


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
