# SPDX-License-Identifier: BSD-3-Clause
"""Reads operators from their rows. Texts, steps, chains and tables that operators share are read once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cartographer.model.location import Location
from cartographer.model.operator import (
    Autograd,
    Binding,
    Chain,
    CppNames,
    Formula,
    Helper,
    Layer,
    Operator,
    Origin,
    Registration,
    Status,
    Step,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Routes:
    """The part of an operator that `where` asks for: what serves each key, and the chains."""

    name: str
    dispatch: Mapping[str, str]
    kernels: Mapping[str, Chain]


class OperatorReader:
    """Reads operators of one atlas by their numbers."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._paths: dict[int, str] = {}
        self._words: dict[int, str] = {}
        self._tables: dict[int, Mapping[str, str]] = {}
        self._layers: dict[int, Layer] = {}
        self._steps: dict[int, Step] = {}
        self._chains: dict[int, Chain] = {}

    def _rows(self, statement: str, number: int) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, (number,)).fetchall()

    def path(self, number: int) -> str:
        """The path with this number."""
        found = self._paths.get(number)
        if found is None:
            found = self._paths[number] = self._rows("SELECT path FROM path WHERE id = ?", number)[0][0]
        return found

    def word(self, number: int) -> str:
        """The text with this number in the table `word`."""
        found = self._words.get(number)
        if found is None:
            found = self._words[number] = self._rows("SELECT text FROM word WHERE id = ?", number)[0][0]
        return found

    def place(self, path: int | None, line: int, end_line: int | None) -> Location | None:
        """The location in the three columns path, line, end_line; None when they have no path."""
        return None if path is None else Location(self.path(path), line, end_line)

    def table(self, number: int) -> Mapping[str, str]:
        """The dispatch table with this number: runtime key -> what serves it."""
        found = self._tables.get(number)
        if found is None:
            ((keys, outcomes),) = self._rows("SELECT keys_word, outcomes FROM dispatch_table WHERE id = ?", number)
            words = map(self.word, json.loads(outcomes))
            found = self._tables[number] = dict(zip(json.loads(self.word(keys)), words, strict=True))
        return found

    def chain(self, number: int) -> Chain:
        """The chain with this number, with its steps."""
        found = self._chains.get(number)
        if found is None:
            ((status, reason),) = self._rows("SELECT status, reason_word FROM chain WHERE id = ?", number)
            steps = self._rows("SELECT step FROM chain_step WHERE chain = ? ORDER BY position", number)
            found = Chain(
                Status(status),
                None if reason is None else self.word(reason),
                tuple(self.step(step) for (step,) in steps),
            )
            self._chains[number] = found
        return found

    def step(self, number: int) -> Step:
        """The step with this number, which several chains may share."""
        found = self._steps.get(number)
        if found is None:
            ((role, symbol, path, line, note, branch),) = self._rows(
                "SELECT role, symbol, path, line, note_word, branch_word FROM step WHERE id = ?", number)  # fmt: skip
            found = self._steps[number] = Step(role, symbol, self.path(path), line, self.word(note), self.word(branch))
        return found

    def layer(self, number: int) -> Layer:
        """The functionality layer with this number."""
        found = self._layers.get(number)
        if found is None:
            ((key, acts, outcome, *place),) = self._rows(
                "SELECT key, acts, outcome_word, path, line, end_line FROM layer WHERE id = ?", number)  # fmt: skip
            found = self._layers[number] = Layer(key, bool(acts), self.word(outcome), self.place(*place))
        return found

    def routes(self, number: int) -> Routes:
        """The dispatch table and the chains of one overload: what `where` needs, without the rest."""
        ((name, dispatch),) = self._rows("SELECT name, dispatch FROM operator WHERE id = ?", number)
        return Routes(name, self.table(dispatch), self._kernels(number))

    def operator(self, number: int) -> Operator:
        """One overload with everything that the atlas knows about it."""
        ((name, schema, origin, path, line, end_line, build, variants, tags, structured, delegate, module, generated_from,
          cpp_op, cpp_function, cpp_method, dispatch, layers, callers, callees, age, extra),) = self._rows(
            "SELECT name, schema, origin, path, line, end_line, build, variants, tags, structured, structured_delegate,"
            " python_module, generated_from, cpp_op, cpp_function, cpp_method, dispatch, layers_word, callers, callees, age, extra"
            " FROM operator WHERE id = ?", number)  # fmt: skip
        return Operator(
            name=name, schema=schema, origin=Origin(origin), declared=Location(self.path(path), line, end_line),
            build=_texts(build), variants=_texts(variants), tags=_texts(tags), structured=bool(structured),
            structured_delegate=delegate, python_module=module, generated_from=generated_from, bindings=self._bindings(number),
            cpp=None if cpp_op is None else CppNames(cpp_op, cpp_function, cpp_method), registrations=self._registrations(number),
            dispatch=self.table(dispatch), layers=tuple(self.layer(layer) for layer in json.loads(self.word(layers))), kernels=self._kernels(number),
            autograd=self._autograd(number), callers=tuple(self.word(w) for w in json.loads(callers)),
            callees=tuple(self.word(w) for w in json.loads(callees)), age=json.loads(age), extra=json.loads(extra),
        )  # fmt: skip

    def _bindings(self, operator: int) -> tuple[Binding, ...]:
        rows = self._rows("SELECT python, function, file, deprecated, path, line, end_line, generator_path, generator_line, generator_end_line"
                          " FROM binding WHERE operator = ? ORDER BY position", operator)  # fmt: skip
        return tuple(Binding(python, function, file, bool(deprecated), self.place(*places[:3]), self.place(*places[3:]))
                     for python, function, file, deprecated, *places in rows)  # fmt: skip

    def _registrations(self, operator: int) -> tuple[Registration, ...]:
        rows = self._rows("SELECT r.key_word, k.symbol, r.origin, r.fallthrough, r.boxed, r.active, r.build, r.rule_word, r.path, r.line, r.end_line"
                          " FROM registration r LEFT JOIN kernel k ON k.id = r.kernel WHERE r.operator = ? ORDER BY r.position", operator)  # fmt: skip
        return tuple(Registration(self.word(key), kernel, Origin(origin), bool(fallthrough), bool(boxed), bool(active), _texts(build),
                                  self.place(*place), self.word(rule))
                     for key, kernel, origin, fallthrough, boxed, active, build, rule, *place in rows)  # fmt: skip

    def _kernels(self, operator: int) -> Mapping[str, Chain]:
        rows = self._rows("SELECT backend_word, chain FROM operator_chain WHERE operator = ? ORDER BY position", operator)
        return {self.word(backend): self.chain(chain) for backend, chain in rows}

    def _autograd(self, operator: int) -> Autograd | None:
        rows = self._rows(
            "SELECT kind, path, line, end_line, saved, output_differentiability FROM autograd WHERE operator = ?",
            operator,
        )
        if not rows:
            return None
        ((kind, *place, saved, differentiable),) = rows
        nodes = self._rows("SELECT name FROM node WHERE operator = ? ORDER BY position", operator)
        helpers = self._rows(
            "SELECT symbol, path, line, end_line FROM helper WHERE operator = ? ORDER BY position", operator
        )
        formulas = self._rows("SELECT names, text_word, path, line, end_line, key, forward FROM formula"
                              " WHERE operator = ? ORDER BY position", operator)  # fmt: skip
        return Autograd(
            nodes=tuple(name for (name,) in nodes), formula=self.place(*place), saved=_texts(saved),
            helpers=tuple(Helper(symbol, Location(self.path(path), line, end)) for symbol, path, line, end in helpers),
            formulas=tuple(Formula(_texts(names), self.word(text), Location(self.path(path), line, end), key, bool(forward))
                           for names, text, path, line, end, key, forward in formulas),
            output_differentiability=_texts(differentiable), kind=kind,
        )  # fmt: skip


def _texts(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))
