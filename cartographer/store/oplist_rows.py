# SPDX-License-Identifier: BSD-3-Clause
"""Packs the operator list of a release into JSON, one object a row with empty fields left out, and unpacks it."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import Any

from cartographer.model.oplist import Advice, DerivativeRow, OperatorList, OperatorRow
from cartographer.store.ledger import as_json, storable

_LISTS = frozenset(("variants", "tags", "autogen", "python", "namesakes"))


def head(found: OperatorList | None) -> str | None:
    """What the list is of, as JSON: version, tag, commit, and what is not in its rows; None when there is no list."""
    if found is None:
        return None
    advice = {name: [[a.instead, a.path, a.line] for a in told] for name, told in found.advice.items()}
    return as_json({"version": found.version, "tag": found.tag, "commit": found.commit, "web": found.web, "advice": advice, "written": found.written, "keys": found.keys})


def packed(found: OperatorList | None) -> bytes | None:
    """All rows of the list, sorted by name, as compressed JSON."""
    if found is None:
        return None
    return zlib.compress(storable(as_json([[name, _row(row)] for name, row in sorted(found.rows.items())])).encode())


def _row(found: OperatorRow) -> dict[str, Any]:
    told = _filled(found)
    if found.derivative is not None:
        told["derivative"] = _filled(found.derivative)
    return told


def _filled(value: OperatorRow | DerivativeRow) -> dict[str, Any]:
    return {f.name: found for f in dataclasses.fields(value) if f.name != "derivative" and ((found := getattr(value, f.name)) or (f.name == "python" and found is not None))}


def list_of(told: str, rows: bytes) -> OperatorList:
    """The operator list that `head` and `packed` wrote."""
    fields = json.loads(told)
    advice = {name: tuple(Advice(*each) for each in given) for name, given in fields.pop("advice", {}).items()}
    written = {name: (str(path), int(line)) for name, (path, line) in fields.pop("written", {}).items()}
    return OperatorList(**fields, rows={name: _row_of(row) for name, row in json.loads(zlib.decompress(rows))}, advice=advice, written=written)


def _row_of(told: dict[str, Any]) -> OperatorRow:
    fields: dict[str, Any] = {name: tuple(value) if name in _LISTS else value for name, value in told.items()}
    if "derivative" in fields:
        fields["derivative"] = DerivativeRow(**{"path": "", "line": 0} | fields["derivative"])
    empty: dict[str, Any] = {"name": "", "schema": "", "path": "", "line": 0}
    return OperatorRow(**empty | fields)
