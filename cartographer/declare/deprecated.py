# SPDX-License-Identifier: BSD-3-Clause
"""Reads deprecated.yaml: Python signatures kept for old callers (tools/autograd/gen_python_functions.py reads it)."""

from __future__ import annotations

from cartographer.declare.native_functions import parse_schema
from cartographer.declare.yaml_lines import YamlFile
from cartographer.model.declaration import DeprecatedSignature
from cartographer.model.location import Location

PATH = "tools/autograd/deprecated.yaml"


def load(data: bytes, path: str = PATH) -> tuple[DeprecatedSignature, ...]:
    """The rows of deprecated.yaml. Raises DeclarationError."""
    file = YamlFile(path, data)
    rows = []
    for row in file.rows():
        entry = row.entries.get("aten")
        if entry is None:
            raise file.error("the row has no 'aten'", row.line, row.column)
        schema = parse_schema(file, row, "name")
        rows.append(DeprecatedSignature(schema, file.text(entry), Location(path, row.line, row.end_line)))
    return tuple(rows)
