# SPDX-License-Identifier: BSD-3-Clause
"""Numbers repeated things while an atlas is written, so that each text, step or chain is stored once."""

from __future__ import annotations

import json
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cartographer.store.search_words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.location import Location
    from cartographer.model.operator import Chain, Layer, Step

_STEP = attrgetter("role", "symbol", "path", "line", "note", "branch")  # its fields: a tuple is compared faster than a Step
_LAYER = attrgetter("key", "acts", "outcome", "place")
Place = tuple[int | None, int | None, int | None]


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def as_json(value: Any) -> str:
    """A value as compact JSON text."""
    return _encode(value) if value else "{}" if isinstance(value, dict) else "[]"


@lru_cache(maxsize=1 << 12)
def texts_as_json(texts: tuple[str, ...]) -> str:
    """Texts as a compact JSON list; equal lists, which many rows have, are encoded once."""
    return as_json(texts)


def numbers_as_json(numbers: Iterable[int]) -> str:
    """Numbers as a compact JSON list."""
    return f"[{','.join(map(str, numbers))}]"


def storable(text: str) -> str:
    """`text` with what is not Unicode (a lone surrogate: a byte of a file name that is not UTF-8) replaced by its sign."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Numbers:
    """Gives each new text the next number, from 1."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def of(self, key: str) -> int:
        """The number of a text: a new one when it is not known yet."""
        known = self.known
        number = known.get(key)
        if number is None:
            number = known[key] = len(known) + 1
        return number

    def rows(self) -> Iterable[tuple[int, str]]:
        """All texts as rows (number, text), in the order of numbers."""
        return ((number, storable(key)) for key, number in self.known.items())


class Ledger:
    """All numbered things of one atlas, and the rows of the tables that keep them."""

    def __init__(self) -> None:
        self.paths = Numbers()
        self.words = Numbers()
        self.kernels = Numbers()
        self._tables: dict[int, int] = {}
        self._known_tables: dict[tuple[int, str], int] = {}
        self._layers: dict[int, int] = {}
        self._known_layers: dict[tuple[Any, ...], int] = {}
        self._steps: dict[tuple[Any, ...], int] = {}
        self._chains: dict[tuple[Any, ...], int] = {}
        self.layer_rows: list[tuple[Any, ...]] = []
        self.step_rows: list[tuple[Any, ...]] = []
        self.chain_rows: list[tuple[Any, ...]] = []
        self.chain_step_rows: list[tuple[int, int, int, bool]] = []

    def place(self, location: Location | None) -> Place:
        """A location as the three columns path, line, end_line."""
        if location is None:
            return (None, None, None)
        return (self.paths.of(location.path), location.line, location.end_line)

    def table(self, outcomes: Mapping[str, str]) -> int:
        """The number of a dispatch table. Stages often share one mapping, so its identity is tried first."""
        found = self._tables.get(id(outcomes))
        if found is None:
            table = self.words.of(as_json(list(outcomes))), numbers_as_json(map(self.words.of, outcomes.values()))
            found = self._tables[id(outcomes)] = self._known_tables.setdefault(table, len(self._known_tables) + 1)
        return found

    @property
    def table_rows(self) -> Iterable[tuple[int, int, str]]:
        """The rows of the table `dispatch_table`: a number, the word that lists its keys, the words of their outcomes."""
        return ((number, *table) for table, number in self._known_tables.items())

    def layer(self, layer: Layer) -> int:
        """The number of a layer. Operators share most of them, so its identity is tried first."""
        found = self._layers.get(id(layer))
        if found is None:
            found = self._layers[id(layer)] = self._new_layer(layer)
        return found

    def _new_layer(self, layer: Layer) -> int:
        key = _LAYER(layer)
        number = self._known_layers.get(key)
        if number is None:
            number = self._known_layers[key] = len(self._known_layers) + 1
            outcome = self.words.of(layer.outcome)
            self.layer_rows.append((number, layer.key, layer.acts, outcome, *self.place(layer.place)))
        return number

    def step(self, step: Step) -> int:
        """The number of a step, given to it when it is seen for the first time."""
        key = _STEP(step)
        number = self._steps.get(key)
        if number is None:
            number = self._steps[key] = len(self._steps) + 1
            self.step_rows.append((number, step.role, step.symbol, plain(step.symbol), self.paths.of(step.path), step.line,
                                   self.words.of(step.note), self.words.of(step.branch)))  # fmt: skip
        return number

    def chain(self, chain: Chain) -> int:
        """The number of a chain, given to it when it is seen for the first time; its steps get their numbers too."""
        key = (chain.status.value, chain.reason, *map(_STEP, chain.steps))
        number = self._chains.get(key)
        if number is None:
            number = self._chains[key] = len(self._chains) + 1
            steps = [self.step(step) for step in chain.steps]
            reason = None if chain.reason is None else self.words.of(chain.reason)
            self.chain_rows.append((number, chain.status.value, reason))
            entries = 0
            for position, (step, found) in enumerate(zip(steps, chain.steps, strict=True)):
                entries += found.role == "entry"
                self.chain_step_rows.append((number, position, step, entries <= 1))
        return number
