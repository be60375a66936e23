# SPDX-License-Identifier: BSD-3-Clause
"""Computes how generated files are split: into how many parts, and which part contains what (torchgen/utils.py, write_sharded)."""

from __future__ import annotations

import ast
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.codegen.sources import Sources


def shard_of(key: str, count: int) -> int:
    """The number of the part that contains a key (string_stable_hash)."""
    return int.from_bytes(hashlib.sha1(key.encode("latin1")).digest(), "little") % count  # noqa: S324 - torchgen's choice


def name_of(file: str, shard: int) -> str:
    """The file name of one part: `VariableType_2.cpp` of `VariableType.cpp`."""
    stem, _, suffix = file.rpartition(".")
    return f"{stem}_{shard}.{suffix}"


def count_of(sources: Sources, module: str, file: str, key: str = "") -> int:
    """The number of parts in which a generator writes a file; 0 when it writes the file whole. `key` is the dispatch key of
    a `Register….cpp`, by which the number may depend (`4 if dispatch_key == DispatchKey.CPU else 1`).
    """
    found = sources.module(module)
    if found is None or file not in found.shards:
        return 0
    number, function = found.shards[file]
    return _number(number, function, key)


def _number(node: ast.expr, function: ast.FunctionDef, key: str) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            for statement in ast.walk(function):
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
                    return _number(statement.value, function, key)
        case ast.IfExp(test=ast.Compare(comparators=[ast.Attribute(attr=special)]), body=body, orelse=orelse):
            return _number(body if special == key else orelse, function, key)
    return 0
