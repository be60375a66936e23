# SPDX-License-Identifier: BSD-3-Clause
"""The output formats of a comparison and of a timeline, by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cartographer.compare.machine import as_github, as_json
from cartographer.compare.markdown import as_markdown
from cartographer.compare.text import ansi, as_text, plain
from cartographer.model.kinds import Part, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cartographer.compare.timeline import Timeline
    from cartographer.model.change import Change, Comparison


def _text(found: Comparison, colour: bool, everything: bool) -> str:
    return "\n".join(as_text(found, ansi if colour else plain, everything=everything)) + "\n"


def _json(found: Comparison, colour: bool, everything: bool) -> str:  # noqa: ARG001
    return as_json(found)


def _markdown(found: Comparison, colour: bool, everything: bool) -> str:  # noqa: ARG001
    return "\n".join(as_markdown(found)) + "\n"


def _github(found: Comparison, colour: bool, everything: bool) -> str:  # noqa: ARG001
    return "\n".join(as_github(found)) + "\n"


FORMS: Mapping[str, Callable[[Comparison, bool, bool], str]] = {"text": _text, "json": _json, "markdown": _markdown, "github": _github}


def timeline_text(found: Sequence[Timeline], looked: Sequence[str]) -> Iterator[str]:
    """The timelines as lines for people: each overload with its events, oldest first."""
    yield f"looked at {f'{len(looked)} releases, {looked[0]} to {looked[-1]}' if len(looked) > 1 else f'{looked[0]} alone'}; unknown before {looked[0]}"
    if looked[0].removeprefix("v").startswith("0."):
        yield "before v1.0 many operators were declared in Declarations.cwrap alone, which is not read: an operator may be older than it is said to be"
    for line in found:
        yield ""
        yield f"{line.name}  {line.says}"
        for schema in line.namesakes:
            yield f"  {'once also':<20} {schema}"
        for event in line.events:
            if not event.changes:
                yield f"  {event.release:<20} {event.schema}"
            step = f"{event.previous} → {event.release}"
            for change in sorted(event.changes, key=part_of, reverse=True):
                if part_of(change) is not Part.BOOKKEEPING:
                    yield f"  {step:<20} {_told(change)}"
            if books := dict.fromkeys(change.reason for change in event.changes if part_of(change) is Part.BOOKKEEPING):
                yield f"  {step:<20} bookkeeping: {'; '.join(books)}"


def _told(change: Change) -> str:
    """What changed, why it matters, and the two sides where that does not say it all."""
    if change.id.endswith("-added"):
        return f"{change.reason}: {change.new}"
    if change.old is None or change.new is None:
        side = change.new or change.old or ""
        return change.reason if side in change.reason.split() else f"{change.reason}: {side}"
    return f"{change.reason}: {change.old} → {change.new}"


def timeline_json(found: Sequence[Timeline], looked: Sequence[str]) -> str:
    """The timelines as one JSON document."""
    return json.dumps({
        "releases": list(looked),
        "operators": [
            {"name": line.name, "says": line.says, "namesakes": line.namesakes, "before": line.before, "events": [
                {"release": e.release, "previous": e.previous, "present": e.present, "schema": e.schema,
                 "changes": [{"id": c.id, "level": str(c.level), "reason": c.reason, "old": c.old, "new": c.new} for c in e.changes]}
                for e in line.events
            ]}
            for line in found
        ],
    }, ensure_ascii=False, indent=2)
