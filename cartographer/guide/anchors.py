# SPDX-License-Identifier: BSD-3-Clause
"""Resolves the anchors of guide texts to places, pages and numbers of one atlas; an anchor that no longer holds is reported as stale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide import places
from cartographer.guide.counts import Counts
from cartographer.guide.shapes import shape_of
from cartographer.guide.texts import ANCHOR, glossary_terms
from cartographer.model.operator import Status
from cartographer.model.source import SourceKind, is_carried

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cartographer.guide.places import Reading, Touch
    from cartographer.guide.texts import Text
    from cartographer.model.atlas import Symbol
    from cartographer.model.location import Location
    from cartographer.model.operator import Chain, Operator
    from cartographer.store.reader import Reader

KINDS = (
    "op", "path", "symbol", "count", "term", "page", "guide", "binding", "node", "kernel", "places", "files", "read", "contributing", "mapped",
    "eras", "lost", "layers", "saved", "shape", "shaped", "compiled",
)  # fmt: skip
PAGES = {
    "operators": "the list of operators", "kernels": "the plate of kernels", "generated": "the list of generated files", "strata": "the strata",
    "checks": "the checks", "territory": "the map of territories", "nodes": "the list of Nodes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What an anchor resolves to in this atlas. `page` names one of its pages: ("operator", base), ("file", path), ("guide", slug)...

    `stale` says what does not hold; if it is set, the other fields mean nothing.
    """

    text: str
    path: str = ""
    line: int = 0
    page: tuple[str, str] | None = None
    receipt: str = ""  # of a number: how it was counted
    stale: str = ""
    absent: bool = False  # stale for want of sources: a wheel does not carry what would show it
    touches: tuple[Touch, ...] = ()  # of {places:…} and {contributing}
    readings: tuple[Reading, ...] = ()  # of {read:…} and {files:…}


@dataclass(frozen=True, slots=True)
class Stale:
    """An anchor that does not hold in this atlas; `absent`: it cannot be checked, since a wheel does not carry its source."""

    slug: str
    anchor: str
    reason: str
    absent: bool = False


class Resolver:
    """Resolves the anchors of guide texts in one atlas; answers are kept."""

    def __init__(self, reader: Reader, texts: tuple[Text, ...]) -> None:
        self._reader = reader
        self._texts = {text.slug: text for text in texts}
        self._terms = glossary_terms(texts)
        self._counts = Counts(reader)
        self.known: dict[tuple[str, str], Answer] = {}

    def answer(self, kind: str, argument: str) -> Answer:
        """What one anchor resolves to; a stale answer when there is no such kind of anchor."""
        key = (kind, argument)
        if key not in self.known:
            method = getattr(self, f"_{'files_of' if kind == 'files' else kind}", None) if kind in KINDS else None
            self.known[key] = method(argument) if method else _gone(argument or kind, f"there is no anchor called {kind}")
        return self.known[key]

    def check(self) -> Iterator[Stale]:
        """The anchors of all texts that do not hold, text by text."""
        for slug, text in self._texts.items():
            for match in dict.fromkeys((m[1], m[2] or "") for part in text.parts for m in ANCHOR.finditer(part)):
                if (answer := self.answer(*match)).stale:
                    yield Stale(slug, ":".join(filter(None, match)), answer.stale, answer.absent)
                for path in (reading.path for reading in answer.readings if reading.missing):
                    if (missing := self.answer("path", path)).stale:
                        yield Stale(slug, f"{match[0]}:{path}", missing.stale, missing.absent)
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

    def _path(self, paths: str) -> Answer:
        """A file or folder; of several, which are the same one in releases from the newest to the oldest, the first that is here."""
        newest = paths.split(maxsplit=1)[0]
        path = next((p for p in paths.split() if p in self._paths), newest)
        if path in self._files:
            return Answer(path, path, 0, ("file", path))
        if path in self._folders:
            return Answer(path, page=("folder", path))
        if path in self._paths:
            return Answer(path, path)
        if any(known.startswith(f"{path}/") for known in self._paths):
            return Answer(path)
        return self._not_here(path, path, f"there is no {path}")

    def _symbol(self, name: str) -> Answer:
        path, _, qualname = name.rpartition("::") if name.count("::") == 1 and "/" in name else ("", "", name)
        if "/" in name:
            path, _, qualname = name.partition("::")
        last = qualname.rpartition("::")[2].rpartition(".")[2]
        wanted = qualname.replace(".", "::")

        def is_meant(symbol: Symbol) -> bool:
            own = symbol.qualname.replace(".", "::")
            return symbol.name.split("<")[0] == last and (own == wanted or own.endswith(f"::{wanted}"))

        for symbol in self._reader.symbols_in(path) if path else ():
            if is_meant(symbol):
                return Answer(last, path, symbol.line, ("file", path))
        file = f"/{path.rpartition('/')[2]}"  # moved with its file: CUDAEvent.h went from ATen/cuda to c10/cuda
        moved = {symbol.path: symbol for symbol in self._reader.lookup.symbols_called(last)[::-1] if symbol.path.endswith(file) and is_meant(symbol)}
        if len(moved) == 1:
            (place, symbol), = moved.items()
            return Answer(last, place, symbol.line, ("file", place))
        return self._not_here(last, path, f"{qualname} is not in {path}" if path in self._files else f"there is no {path}")

    def _count(self, name: str) -> Answer:
        value, receipt = self._counts.count(name)
        if value is None:
            return _gone(name, f"this atlas does not count {name}")
        return Answer(f"{value:,}", receipt=receipt)

    def _term(self, word: str) -> Answer:
        return Answer(word, page=("guide", f"pages/glossary#{word}")) if word in self._terms else _gone(word, "the glossary has no such word")

    def _page(self, name: str) -> Answer:
        return Answer(PAGES[name], page=("plate", name)) if name in PAGES else _gone(name, "the atlas has no such plate")

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

    def _saved(self, name: str) -> Answer:
        """What is kept for the backward of an operator, as its formulas name it."""
        for op in self._operators(name):
            if op.autograd and op.autograd.saved:
                return _at(op.autograd.formula or op.declared, ", ".join(op.autograd.saved), ("operator", op.name))
        return _gone(name, f"{name} saves nothing")

    def _shape(self, name: str) -> Answer:
        found = self._operators(name)
        return Answer(shape_of(found).words) if found else _gone(name, f"no operator is called {name}")

    def _shaped(self, name: str) -> Answer:
        found = self._operators(name)
        return Answer(shape_of(found).says) if found else _gone(name, f"no operator is called {name}")

    def _kernel(self, argument: str) -> Answer:
        op, chain = self._chain(argument)
        if op is None or chain is None:
            return self._no_kernel(argument)
        step = places.own_step(chain)
        return Answer(step.symbol, step.path, step.line, ("operator", op.name))

    def _compiled(self, argument: str) -> Answer:
        """What of an operator's own way on a backend is compiled when it is first used: the jiterator's strings, which old releases have not."""
        op, chain = self._chain(argument)
        if op is None or chain is None:
            return self._no_kernel(argument)
        step = next((step for step in chain.steps if step.note.startswith("compiled at run time")), None)
        return Answer(step.symbol, step.path, step.line, ("operator", op.name)) if step else Answer("nothing")

    def _chain(self, argument: str) -> tuple[Operator | None, Chain | None]:
        """The way of `name:BACKEND`, and the overload that has it."""
        name, _, backend = argument.partition(":")
        for op in self._operators(name):
            chain = op.kernels.get(backend or "CPU")
            if chain is not None and chain.status is Status.RESOLVED and chain.steps:
                return op, chain
        return None, None

    def _no_kernel(self, argument: str) -> Answer:
        name, _, backend = argument.partition(":")
        return self._not_here(f"{name} on {backend or 'CPU'}", "", f"no {backend or 'CPU'} kernel of {name} is known")

    def _places(self, argument: str) -> Answer:
        name, _, short = argument.partition(", ")
        found = self._operators(name)
        return Answer(name, touches=places.touches(self._reader, found, short=bool(short))) if found else _gone(name, f"no operator is called {name}")

    def _files_of(self, name: str) -> Answer:
        touched = self.answer("places", f"{name}, in short")
        if touched.stale:
            return touched
        first = {touch.path: touch.line for touch in reversed(touched.touches) if touch.what != "owners"}
        order = dict.fromkeys(touch.path for touch in touched.touches if touch.what != "owners")
        return Answer(name, readings=places.reading(self._reader, ((path, first[path]) for path in order), self._lines))

    def _read(self, paths: str) -> Answer:
        return Answer(paths, readings=places.reading(self._reader, ((path, 0) for path in paths.split()), self._lines))

    def _layers(self, _: str) -> Answer:
        found = self._counts.layers
        return Answer("the layers", touches=found) if found else _gone("the layers", "no operator has layers")

    def _contributing(self, purpose: str) -> Answer:
        found = places.commands(self._reader, purpose)
        return Answer("CONTRIBUTING.md", touches=found) if found else self._not_here("CONTRIBUTING.md", "CONTRIBUTING.md", "no such command in CONTRIBUTING.md")

    def _mapped(self, folder: str) -> Answer:
        """Whether CONTRIBUTING's map of the repository names a folder."""
        for mark in self._reader.landmarks(folder):
            if mark.kind == "map":
                return Answer("on it", mark.path, mark.line)
        if "CONTRIBUTING.md" not in self._paths:
            return self._not_here(folder, "CONTRIBUTING.md", "there is no CONTRIBUTING.md")
        return Answer("not on it", "CONTRIBUTING.md")

    def _lost(self, path: str) -> Answer:
        """A file of old: here, or not in this release."""
        return Answer("here", path, 0, ("file", path)) if path in self._paths else Answer("not in this release")

    def _eras(self, _: str) -> Answer:
        """The eras of a dated atlas, each with the commit that proves its beginning."""
        found = [f"{era.name} since {era.first[:10]}" + (f" ({era.evidence[0][0]}, {era.evidence[0][1][:9]})" if era.evidence else "") for era in self._reader.eras()]
        said = "Dated here: " + "; ".join(found) + "." if found else "This atlas is not dated: it was built without history."
        return Answer(said)

    # ------------------------------------------------------------------------------------------------------------------

    def _operators(self, name: str) -> tuple[Operator, ...]:
        """Overloads called this: the exact one first, then the plain, then those that write nowhere else."""
        base, _, overload = name.partition(".")
        found = self._reader.group(base)
        return tuple(sorted(found, key=lambda op: (op.overload != overload, op.overload not in ("", "Tensor"), "out" in op.overload)))

    def _not_here(self, text: str, path: str, reason: str) -> Answer:
        """Gone, or only not in a wheel, which has all of Python and the generators, and of other sources the headers alone."""
        wheel = self._reader.info().source.kind is SourceKind.WHEEL
        if wheel and path not in self._files and not is_carried(path):
            return Answer(text, stale=f"{reason}; a wheel does not carry this source", absent=True)
        return _gone(text, reason)

    @cached_property
    def _lines(self) -> dict[str, int]:
        return {entry.path: entry.lines for entry in self._reader.file_entries()}

    @property
    def _files(self) -> Collection[str]:
        return self._lines.keys()

    @cached_property
    def _paths(self) -> frozenset[str]:
        return self._reader.paths()

    @cached_property
    def _folders(self) -> frozenset[str]:
        found = {""}
        for path in self._files:
            while (path := path.rpartition("/")[0]) not in found:
                found.add(path)
        return frozenset(found)


def _at(place: Location, text: str, page: tuple[str, str]) -> Answer:
    return Answer(text, place.path, place.line, page)


def _gone(text: str, reason: str) -> Answer:
    return Answer(text, stale=reason)
