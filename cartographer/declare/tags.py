# SPDX-License-Identifier: BSD-3-Clause
"""Reads tags.yaml: the tags that an operator may carry."""

from __future__ import annotations

from cartographer.declare.yaml_lines import YamlFile
from cartographer.model.declaration import TagRow
from cartographer.model.location import Location

PATH = "aten/src/ATen/native/tags.yaml"


def load(data: bytes, path: str = PATH) -> tuple[TagRow, ...]:
    """The rows of tags.yaml. Raises DeclarationError."""
    file = YamlFile(path, data)
    tags = []
    for row in file.rows():
        entry = row.entries.get("tag")
        if entry is None:
            raise file.error("the row has no 'tag'", row.line, row.column)
        description = row.entries.get("desc")
        text = " ".join(file.text(description).split()) if description else ""
        tags.append(TagRow(file.text(entry), text, Location(path, row.line, row.end_line)))
    return tuple(tags)
