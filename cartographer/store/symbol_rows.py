# SPDX-License-Identifier: BSD-3-Clause
"""How a symbol is read from its row."""

from __future__ import annotations

import json
from typing import Any

from cartographer.model.atlas import Symbol

SYMBOL = (
    "SELECT s.name, CASE WHEN s.suffix THEN q.text || s.name ELSE q.text END, s.kind, p.path, s.line, s.end_line, g.text, c.text"
    " FROM symbol s JOIN word q ON q.id = s.scope_word JOIN path p ON p.id = s.path JOIN word g ON g.id = s.signature_word"
    " JOIN word c ON c.id = s.guards_word"
)


def symbol_of(row: tuple[Any, ...]) -> Symbol:
    """A row of SYMBOL as a value."""
    name, qualname, kind, path, line, end_line, signature, guards = row
    return Symbol(
        name, qualname, kind, path, line, end_line, signature, () if guards == "[]" else tuple(json.loads(guards))
    )
