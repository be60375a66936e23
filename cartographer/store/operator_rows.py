# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Writes operators into the tables over which an overload is spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cartographer.store.ledger import Ledger, as_json, numbers_as_json, texts_as_json
from cartographer.store.search_words import plain

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from cartographer.model.operator import Autograd, Operator

_WIDTHS = {
    "operator": 26,
    "binding": 12,
    "registration": 13,
    "operator_chain": 4,
    "autograd": 7,
    "node": 3,
    "helper": 7,
    "formula": 9,
}


def write(connection: sqlite3.Connection, operators: Iterable[Operator], ledger: Ledger) -> None:
    """Write all operators, numbered in the order of their names, and the things that they share."""
    rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _WIDTHS}
    ordered = sorted(operators, key=lambda o: o.name)
    for operator in ordered:
        ledger.table(operator.dispatch)  # ahead of all others, so that their words, which stand in long lists, have the smallest numbers
    for number, operator in enumerate(ordered, 1):
        rows["operator"].append(_operator(number, operator, ledger))
        rows["binding"].extend(_bindings(number, operator, ledger))
        rows["registration"].extend(_registrations(number, operator, ledger))
        rows["operator_chain"].extend((number, position, ledger.words.of(backend), ledger.chain(chain))
                                      for position, (backend, chain) in enumerate(operator.kernels.items()))  # fmt: skip
        if operator.autograd is not None:
            _autograd(number, operator.autograd, ledger, rows)
    for table, width in _WIDTHS.items():
        _insert(connection, table, width, rows[table])
    _insert(connection, "dispatch_table", 3, ledger.table_rows)
    _insert(connection, "layer", 7, ledger.layer_rows)
    _insert(connection, "kernel", 3, ((number, symbol, plain(symbol)) for number, symbol in ledger.kernels.rows()))
    _insert(connection, "step", 8, ledger.step_rows)
    _insert(connection, "chain", 3, ledger.chain_rows)
    _insert(connection, "chain_step", 4, ledger.chain_step_rows)


def _insert(connection: sqlite3.Connection, table: str, width: int, rows: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * width)})", rows)


def _operator(number: int, o: Operator, ledger: Ledger) -> tuple[Any, ...]:
    word = ledger.words.of
    cpp = (o.cpp.op, o.cpp.function, o.cpp.method) if o.cpp else (None, None, None)
    return (
        number, o.name, o.namespace, o.base, o.overload, o.schema, o.origin.value, *ledger.place(o.declared),
        texts_as_json(o.build), texts_as_json(o.variants), texts_as_json(o.tags), o.structured, o.structured_delegate, o.python_module,
        o.generated_from, *cpp, ledger.table(o.dispatch), word(numbers_as_json(map(ledger.layer, o.layers))),
        numbers_as_json(map(word, o.callers)), numbers_as_json(map(word, o.callees)),
        as_json(dict(o.age)), as_json(dict(o.extra)),
    )  # fmt: skip


def _bindings(number: int, o: Operator, ledger: Ledger) -> Iterable[tuple[Any, ...]]:
    for position, b in enumerate(o.bindings):
        yield (
            number,
            position,
            b.python,
            b.function,
            b.file,
            b.deprecated,
            *ledger.place(b.place),
            *ledger.place(b.generator),
        )


def _registrations(number: int, o: Operator, ledger: Ledger) -> Iterable[tuple[Any, ...]]:
    for position, r in enumerate(o.registrations):
        kernel = None if r.kernel is None else ledger.kernels.of(r.kernel)
        yield (number, position, ledger.words.of(r.key), kernel, r.origin.value, r.fallthrough, r.boxed, r.active, texts_as_json(r.build),
               *ledger.place(r.place), ledger.words.of(r.rule))  # fmt: skip


def _autograd(number: int, a: Autograd, ledger: Ledger, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    rows["autograd"].append(
        (number, a.kind, *ledger.place(a.formula), texts_as_json(a.saved), texts_as_json(a.output_differentiability))
    )
    rows["node"].extend((number, position, name) for position, name in enumerate(a.nodes))
    rows["helper"].extend(
        (number, position, h.symbol, plain(h.symbol), *ledger.place(h.place)) for position, h in enumerate(a.helpers)
    )
    rows["formula"].extend(
        (number, position, texts_as_json(f.names), ledger.words.of(f.text), *ledger.place(f.place), f.key, f.forward)
        for position, f in enumerate(a.formulas)
    )
