# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the comparison of two atlases needs: a few columns of every operator, and the code of kernels."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

import msgspec

from cartographer.model.compared import ComparedAtlas, ComparedOperator
from cartographer.model.operator import Chain, Status, Step
from cartographer.model.source import SourceKind

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

_Bodies = dict[str, dict[int, bytes]]


def packed_bodies(bodies: Mapping[str, Mapping[int, bytes]]) -> bytes | None:
    """The statements of kernels' code, compressed into one value; None when there are none."""
    return zlib.compress(msgspec.msgpack.encode(bodies), 1) if bodies else None


def unpacked_bodies(value: bytes | None) -> _Bodies:
    """The statements that `packed_bodies` compressed; empty when they are damaged or were never written."""
    if not isinstance(value, bytes):
        return {}
    try:
        return msgspec.msgpack.decode(zlib.decompress(value), type=_Bodies)
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return {}


def compared(connection: sqlite3.Connection) -> ComparedAtlas:
    """Read all that an atlas is compared by, beyond its operator list."""
    words: dict[int, str] = dict(connection.execute("SELECT id, text FROM word"))
    tables = {
        number: dict(zip(json.loads(words[keys]), (words[outcome] for outcome in json.loads(outcomes)), strict=True))
        for number, keys, outcomes in connection.execute("SELECT id, keys_word, outcomes FROM dispatch_table")
    }
    chains = _own_chains(connection, words)
    bindings: dict[int, dict[str, tuple[str, str]]] = {}
    for number, python, function, file in connection.execute("SELECT operator, python, function, file FROM binding WHERE NOT deprecated ORDER BY operator, position"):
        bindings.setdefault(number, {}).setdefault(python, (function, file))
    nodes: dict[int, list[str]] = {}
    for number, name in connection.execute("SELECT operator, name FROM node ORDER BY operator, position"):
        nodes.setdefault(number, []).append(name)
    operators = {
        name: ComparedOperator(name, bindings.get(number, {}), tables[dispatch], tuple(nodes.get(number, ())), chains.get(number, {}),
                               tuple(words[word] for word in json.loads(callers)))
        for number, name, dispatch, callers in connection.execute("SELECT id, name, dispatch, callers FROM operator ORDER BY id")
    }  # fmt: skip
    told = connection.execute("SELECT data FROM whole WHERE name = 'bodies'").fetchone()
    kind = connection.execute("SELECT value FROM meta WHERE key = 'kind'").fetchone()
    return ComparedAtlas(operators, unpacked_bodies(told[0] if told else None), kind == (SourceKind.WHEEL.value,))


def _own_chains(connection: sqlite3.Connection, words: Mapping[int, str]) -> dict[int, dict[str, Chain]]:
    """Operator -> backend -> its chain up to where it enters another operator. Equal chains are one value."""
    steps = {
        number: Step(role, symbol, path, line)
        for number, role, symbol, path, line in connection.execute("SELECT s.id, s.role, s.symbol, p.path, s.line FROM step s JOIN path p ON p.id = s.path")
    }
    own: dict[int, list[Step]] = {}
    for chain, step in connection.execute("SELECT chain, step FROM chain_step WHERE direct ORDER BY chain, position"):
        own.setdefault(chain, []).append(steps[step])
    chains = {number: Chain(Status(status), None, tuple(own.get(number, ()))) for number, status in connection.execute("SELECT id, status FROM chain")}
    found: dict[int, dict[str, Chain]] = {}
    for number, backend, chain in connection.execute("SELECT operator, backend_word, chain FROM operator_chain ORDER BY operator, position"):
        found.setdefault(number, {})[words[backend]] = chains[chain]
    return found
