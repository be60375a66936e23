# SPDX-License-Identifier: BSD-3-Clause
"""Anchors of guide texts -> places, pages and numbers of one atlas; an anchor that no longer holds says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide import counts, places
from cartographer.guide.texts import ANCHOR, glossary_terms
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.guide.places import Touch
    from cartographer.guide.texts import Text
    from cartographer.model.location import Location
    from cartographer.model.operator import Operator
    from cartographer.store.reader import Reader

PAGES = ("operators", "kernels", "generated", "strata", "checks", "territory", "nodes")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an anchor means in this atlas. `page` names one of ours: ("operator", base), ("file", path), ("guide", slug)...

    `stale` says what does not hold; then nothing else is to be believed.
    """

    text: str
    path: str = ""
    line: int = 0
    page: tuple[str, str] | None = None
    receipt: str = ""  # of a number: how it was counted
    stale: str = ""
    touches: tuple[Touch, ...] = ()  # of {places:…} and {contributing}


@dataclass(frozen=True, slots=True)
class Stale:
    """An anchor that does not hold in this atlas."""

    slug: str
    anchor: str
    reason: str


class Resolver:
    """Resolves anchors in one atlas."""

    def __init__(self, reader: Reader, texts: tuple[Text, ...]) -> None:
        self._reader = reader
        self._texts = {text.slug: text for text in texts}
        self._terms = glossary_terms(texts)
        self.known: dict[tuple[str, str], Answer] = {}

    def answer(self, kind: str, argument: str) -> Answer:
        """The meaning of one anchor."""
        key = (kind, argument)
        if key not in self.known:
            method = getattr(self, f"_{kind}", None)
            self.known[key] = method(argument) if method else _gone(argument or kind, f"there is no anchor called {kind}")
        return self.known[key]

    def check(self) -> Iterator[Stale]:
        """All anchors of all texts that do not hold, text by text."""
        for slug, text in self._texts.items():
            parts = [text.body, *(part for stop in text.stops for part in (stop.at, stop.body))]
            for match in dict.fromkeys((m[1], m[2] or "") for part in parts for m in ANCHOR.finditer(part)):
                if (answer := self.answer(*match)).stale:
                    yield Stale(slug, ":".join(filter(None, match)), answer.stale)
            for stop in text.line_stops:
                if stop not in self._texts:
                    yield Stale(slug, stop, "the guide has no such stop")

    # One method for each kind of anchor ------------------------------------------------------------------------------

    def _op(self, name: str) -> Answer:
        found = self._operators(name)
        if not found:
            return _gone(name, f"no operator is called {name}")
        first = found[0]
        return _at(first.declared, name, ("operator", first.name))

    def _path(self, path: str) -> Answer:
        if path in self._files:
            return Answer(path, path, 0, ("file", path))
        if path in self._folders:
            return Answer(path, page=("folder", path))
        if path in self._paths:
            return Answer(path, path)
        if any(known.startswith(f"{path}/") for known in self._paths):
            return Answer(path)
        return _gone(path, self._missing(f"there is no {path}"))

    def _symbol(self, name: str) -> Answer:
        path, _, qualname = name.rpartition("::") if name.count("::") == 1 and "/" in name else ("", "", name)
        if "/" in name:
            path, _, qualname = name.partition("::")
        last = qualname.rpartition("::")[2].rpartition(".")[2]
        wanted = qualname.replace(".", "::")
        for symbol in self._reader.symbols_in(path) if path else ():
            own = symbol.qualname.replace(".", "::")
            if symbol.name.split("<")[0] == last and (own == wanted or own.endswith(f"::{wanted}")):
                return Answer(last, path, symbol.line, ("file", path))
        reason = f"{qualname} is not in {path}" if path in self._files else f"there is no {path}"
        return _gone(last, self._missing(reason))

    def _count(self, name: str) -> Answer:
        value, receipt = counts.count(self._reader, name)
        if value is None:
            return _gone(name, f"this atlas does not count {name}")
        return Answer(f"{value:,}", receipt=receipt)

    def _term(self, word: str) -> Answer:
        return Answer(word, page=("guide", f"pages/glossary#{word}")) if word in self._terms else _gone(word, "the glossary has no such word")

    def _page(self, name: str) -> Answer:
        return Answer(name, page=("plate", name)) if name in PAGES else _gone(name, "the atlas has no such plate")

    def _guide(self, slug: str) -> Answer:
        text = self._texts.get(slug)
        return Answer(text.title, page=("guide", slug)) if text else _gone(slug, "the guide has no such text")

    def _binding(self, name: str) -> Answer:
        for op in self._operators(name):
            for binding in op.bindings:
                if not binding.deprecated:
                    place = binding.place or binding.generator
                    page = ("operator", op.name)
                    return Answer(binding.function, place.path if place else "", place.line if place else 0, page)
        return self._hand_written(name)

    def _hand_written(self, name: str) -> Answer:
        """A binding that belongs to no operator: its C function stands in a template."""
        for match in self._reader.lookup.symbols_called(f"THPVariable_{name}"):
            return Answer(f"THPVariable_{name}", match.path, match.line, ("file", match.path))
        return _gone(name, f"nothing in Python is bound to {name}")

    def _node(self, name: str) -> Answer:
        for op in self._operators(name):
            if op.autograd and op.autograd.nodes:
                place = op.autograd.formula
                return Answer(op.autograd.nodes[0], place.path if place else "", place.line if place else 0, ("operator", op.name))
        return _gone(name, f"{name} leaves no Node")

    def _kernel(self, argument: str) -> Answer:
        name, _, backend = argument.partition(":")
        backend = backend or "CPU"
        for op in self._operators(name):
            chain = op.kernels.get(backend)
            if chain is not None and chain.status is Status.RESOLVED and chain.steps:
                step = next((s for role in ("kernel", "device", "entry") for s in chain.steps if s.role == role), chain.steps[0])
                return Answer(step.symbol, step.path, step.line, ("operator", op.name))
        return _gone(f"{name} on {backend}", self._missing(f"no {backend} kernel of {name} is known"))

    def _places(self, name: str) -> Answer:
        found = self._operators(name)
        return Answer(name, touches=places.touches(self._reader, found)) if found else _gone(name, f"no operator is called {name}")

    def _contributing(self, _: str) -> Answer:
        found = places.commands(self._reader)
        return Answer("CONTRIBUTING.md", touches=found) if found else _gone("CONTRIBUTING.md", self._missing("there is no CONTRIBUTING.md to read commands from"))

    # ------------------------------------------------------------------------------------------------------------------

    def _operators(self, name: str) -> tuple[Operator, ...]:
        """Overloads called this: the exact one first, then the plain, then those that write nowhere else."""
        base, _, overload = name.partition(".")
        found = self._reader.group(base)
        return tuple(sorted(found, key=lambda op: (op.overload != overload, op.overload not in ("", "Tensor"), "out" in op.overload)))

    def _missing(self, reason: str) -> str:
        kind = self._reader.info().source.kind.value
        return f"{reason}; this atlas was built from a wheel, which does not carry all sources" if kind == "wheel" else reason

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(row.path for row in self._reader.files())

    @cached_property
    def _paths(self) -> frozenset[str]:
        return self._reader.paths()

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(row.path for row in self._reader.folders())


def _at(place: Location, text: str, page: tuple[str, str]) -> Answer:
    return Answer(text, place.path, place.line, page)


def _gone(text: str, reason: str) -> Answer:
    return Answer(text, stale=reason)
