# SPDX-License-Identifier: BSD-3-Clause
"""Prints a comparison for release notes: a heading for each level, a table for each kind, permalinks on both sides."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cartographer.compare.titles import PARTS, rank
from cartographer.model.change import folded
from cartographer.model.kinds import Part, part_of, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.change import Change, Comparison


def as_markdown(comparison: Comparison) -> Iterator[str]:
    """The comparison as lines of Markdown."""
    yield f"# PyTorch operators, {comparison.old} → {comparison.new}"
    for note in comparison.notes:
        yield f"\n> {_escape(note)}"
    for part, word, means in PARTS:
        changes = [c for c in comparison.changes if part_of(c) is part]
        if not changes:
            continue
        yield f"\n## {word.capitalize()}: {means}"
        if part is Part.BOOKKEEPING and not comparison.filtered:
            yield ""
            yield from (f"- {len({c.op for c in members}):,} × {title(group)}" for group, members in _by_group(changes))
            continue
        kept, folds = folded(changes)
        for group, members in _by_group(kept):
            yield f"\n### {title(group)[:1].upper()}{title(group)[1:]}\n"
            yield "| operator | what | old | new |\n| --- | --- | --- | --- |"
            for change in members:
                old, new = _cell(change, "old", comparison.old_web), _cell(change, "new", comparison.new_web)
                yield f"| `{change.op.removeprefix('aten::')}` | {_escape(change.reason)} | {old} | {new} |"
        for id_, why, number in folds:
            yield f"\n{number:,} × {title(id_)}: {_escape(why)}."


def _by_group(changes: list[Change]) -> Iterator[tuple[str, list[Change]]]:
    for (_, group), members in groupby(sorted(changes, key=rank), key=lambda c: rank(c)[:2]):
        yield group, list(members)


def _cell(change: Change, side: str, web: str) -> str:
    text = change.old if side == "old" else change.new
    place = next((p for p in change.places if p.side == side), None)
    shown = f"`{_escape(text)}`" if text else ""
    return f"{shown} [{place.line}]({web}/{place.path}#L{place.line})".strip() if place else shown


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
