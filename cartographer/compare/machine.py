# SPDX-License-Identifier: BSD-3-Clause
"""Prints a comparison for programs: the published JSON, its JSON Schema, and annotations for GitHub."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cartographer.model.change import Level
from cartographer.model.kinds import Part, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cartographer.model.change import Change, Comparison

JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "cartographer diff",
    "description": "What changed in PyTorch's operators between two releases.",
    "type": "object",
    "required": ["from", "to", "changes"],
    "properties": {
        "from": {"type": "string", "description": "version of the old side"},
        "to": {"type": "string", "description": "version of the new side"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "level", "op", "old", "new", "detail", "places"],
                "properties": {
                    "id": {"type": "string", "description": "kind of the change"},
                    "level": {"enum": ["break", "maybe", "info"]},
                    "op": {"type": "string", "description": "full name of the operator"},
                    "reason": {"type": "string", "description": "why it has this level, in a sentence"},
                    "old": {"type": ["string", "null"]},
                    "new": {"type": ["string", "null"]},
                    "generated": {"type": "boolean", "description": "torchgen makes this operator"},
                    "bound": {"type": "boolean", "description": "Python has, or had, a name for it; false: C++ alone calls it"},
                    "bookkeeping": {"type": "boolean", "description": "PyTorch writes the same down otherwise (tags, flags, files, layers); no call meets it"},
                    "fold": {"type": "string", "description": "why the change only looks big; empty when it does not"},
                    "detail": {
                        "type": "object",
                        "description": "more by kind: arg, index, key or keys (dispatch keys), backends, python_names, successor and evidence, schema (old and new), "
                        "pytorch (why PyTorch calls it not backward compatible), named_by (operators whose formulas or structured forms use it), callers (with two atlases)",
                    },
                    "places": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["side", "path", "line"],
                            "properties": {"side": {"enum": ["old", "new"]}, "path": {"type": "string"}, "line": {"type": "integer", "minimum": 0},
                                           "url": {"type": "string", "description": "permalink"}},
                        },
                    },
                },
            },
        },
    },
}


def as_json(comparison: Comparison) -> str:
    """The comparison in the published JSON format, which is stable: one change a line, sorted."""
    head = {"from": comparison.old, "to": comparison.new, "notes": list(comparison.notes)}
    webs = {"old": comparison.old_web, "new": comparison.new_web}
    rows = ",\n".join(json.dumps(_change(change, webs), ensure_ascii=False) for change in comparison.changes)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "changes": [\n{rows}\n]}}\n'


def _change(change: Change, webs: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": change.id, "level": str(change.level), "op": change.op, "reason": change.reason, "old": change.old, "new": change.new,
        "generated": change.generated, "bound": change.bound,
        "bookkeeping": part_of(change) is Part.BOOKKEEPING, "fold": change.fold, "detail": dict(change.detail),
        "places": [
            {"side": p.side, "path": p.path, "line": p.line, **({"url": f"{webs[p.side]}/{p.path}#L{p.line}"} if webs.get(p.side) else {})} for p in change.places
        ],
    }


_COMMANDS = {Level.BREAK: "error", Level.MAYBE: "warning", Level.INFO: "notice"}


def as_github(comparison: Comparison) -> Iterator[str]:
    """Workflow commands that GitHub shows as annotations (documented as `::error file=…,line=…::message`)."""
    for note in comparison.notes:
        yield f"::notice title=note::{_escape(note, message=True)}"
    for change in comparison.changes:
        place = next((p for p in reversed(change.places)), None)
        where = f"file={_escape(place.path)},line={place.line}," if place else ""
        text = f"{change.op}: {change.reason}"
        yield f"::{_COMMANDS[change.level]} {where}title={_escape(change.id)}::{_escape(text, message=True)}"


def _escape(text: str, *, message: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text if message else text.replace(":", "%3A").replace(",", "%2C")
