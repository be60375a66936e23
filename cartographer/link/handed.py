# SPDX-License-Identifier: BSD-3-Clause
"""What a call hands over: lambdas, functors, functions, dispatch stubs, kernels behind pointers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.link.index import bare
from cartographer.link.sites import Given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Names, Scope
    from cartographer.link.sites import Site, Spot
    from cartographer.link.stubs import Stubs
    from cartographer.model.fact import Call

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"[A-Za-z_][\w:]*")
_NAME = re.compile(r"&?\s*((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?$", re.DOTALL)
_CONSTRUCTED = re.compile(r"((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?\s*[({].*[)}]$", re.DOTALL)
_LOCAL = re.compile(r"\b([A-Z][\w:]*|[a-z]\w*::[\w:]+)[ \t]*(?:<[^;{}<>\n]*(?:<[^;{}<>\n]*>[^;{}<>\n]*)*>)?[ \t]+([a-z_]\w*)\s*[;({=]")
_LAMBDA = ("[", "^")
_TEXT = 100  # longer arguments are expressions


@dataclass
class Handed:
    """Reads the arguments and template arguments of calls; `source` gives a file's text for local variables."""

    index: Index
    names: Names
    stubs: Stubs
    follows: Callable[[Defined], bool]
    source: Callable[[str], str | None] | None = None
    _texts: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _locals: dict[int, dict[str, str]] = field(default_factory=dict, repr=False)

    def given(self, spot: Spot) -> tuple[Given, ...]:
        """The lambdas and functors among the arguments."""
        found: list[Given] = []
        if any(a.lstrip().startswith(_LAMBDA) for a in spot.call.arguments):
            found.extend(_lambdas_in(spot.inside, spot.call, spot.order))
        found.extend(self.functors(spot.call, spot.scope))
        return tuple(found)

    def functors(self, call: Call, scope: Scope) -> Iterator[Given]:
        """Functors constructed among the arguments."""
        for argument in call.arguments:
            match = _CONSTRUCTED.match(argument.strip())
            if match is not None and not match[1].startswith("std::"):
                yield from self._classes(match[1], scope)

    def strings(self, spot: Spot) -> Iterator[Given]:
        """Device code as text among the arguments: variables made by `jiterator_stringify`, compiled at run time."""
        for argument in spot.call.arguments[1:]:
            if not _IDENTIFIER.fullmatch(argument) or argument not in self.index.stringified:
                continue
            found = self.index.stringified[argument]
            inside = (*spot.inside.segments, argument)
            best = min(found, key=lambda d: (d.segments != inside, d.path != spot.scope.path, d.path, d.line))
            yield Given(best.name, best.path, best.line)

    def variables(self, spot: Spot) -> Iterator[Given]:
        """Local variables that hold a functor, among the arguments: `MulFunctor<T> f; gpu_kernel(iter, f);`."""
        names = [a for a in spot.call.arguments[1:] if _IDENTIFIER.fullmatch(a)]
        if not names or self.source is None or spot.inside.use is not None:
            return
        types = self._locals.get(id(spot.inside))
        if types is None:
            types = self._locals[id(spot.inside)] = {m[2]: m[1] for m in _LOCAL.finditer(self._text(spot.inside))}
        for name in names:
            if name in types:
                yield from self._classes(types[name], spot.scope, callable_only=True)

    def _classes(self, name: str, scope: Scope, *, callable_only: bool = False) -> Iterator[Given]:
        for cls in general(self.names.classes(name, scope)):
            runs = self.runs(cls) if self.follows(cls) else ()
            if self.follows(cls) and (not callable_only or any(d.name == "operator()" for d in runs)):
                yield Given(cls.name, cls.path, cls.line)

    def stub_sites(self, spot: Spot) -> Iterator[Site]:
        """Stubs among the arguments or template arguments."""
        texts = [a for a in spot.call.arguments if len(a) < _TEXT and "(" not in a]
        if spot.call.template:
            texts.extend(spot.call.template.split(","))
        for text in texts:
            match = _NAME.match(text.strip())
            if match is not None and bare(match[1]) in self.stubs:
                yield spot.site("stub", bare(match[1]), stub=self.stubs.find(match[1], spot.scope.namespace))

    def functions(self, spot: Spot) -> Iterator[Defined]:
        """Functions and functors that template arguments or arguments name: callbacks."""
        texts = split_template(spot.call.template) if spot.call.template else []
        texts += [a for a in spot.call.arguments if a[:1] == "&" or ("<" in a and "(" not in a)]
        for text in texts:
            match = _NAME.match(text.strip())
            if match is None or len(match[1]) < 3:
                continue
            functions = [d for d in self.names.functions(match[1], spot.scope) if d.path == spot.scope.path]
            yield from functions[:2]
            if not functions:
                for cls in general(self.names.classes(match[1], spot.scope)):
                    if self.follows(cls):
                        yield from self.runs(cls)[:1]

    def runs(self, cls: Defined) -> tuple[Defined, ...]:
        """What a functor runs: its call operators, else its other methods."""
        methods = [d for d in self.index.methods.get((cls.path, cls.segments), ()) if cls.fact.start <= d.line <= cls.fact.end]
        return tuple(d for d in methods if d.name == "operator()") or tuple(d for d in methods if d.name != cls.name)[:4]

    def kernels(self, name: str, scope: Scope, inside: Defined) -> tuple[Defined, ...]:
        """The `__global__` functions that a launch can mean; through a pointer, those that are assigned to it."""
        kernels = tuple(d for d in self.names.functions(name, scope) if d.fact.kind in ("kernel", "function", "macro-headed"))
        if kernels or self.source is None or inside.use is not None:
            return kernels
        found: list[Defined] = []
        for assigned in re.findall(rf"\b{re.escape(name)}\s*=\s*([^;]*);", self._text(inside)):
            for match in _QUALIFIED.findall(assigned):
                found.extend(d for d in self.names.functions(match, scope) if d.fact.kind == "kernel" and d not in found)
        return tuple(found)

    def _text(self, defined: Defined) -> str:
        """The source of a definition, "" when its text is not at hand."""
        return "\n".join(self.lines(defined.path, defined.fact.line, defined.fact.end))

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Some lines of a file, none when its text is not at hand."""
        known = self._texts.get(path)
        if known is None:
            text = self.source(path) if self.source is not None else None
            known = self._texts[path] = (text or "").split("\n")
        return known[first - 1 : last]


def general(classes: Sequence[Defined]) -> tuple[Defined, ...]:
    """The class that stands for all of them: the template rather than one of its specialisations."""
    return tuple(sorted(classes, key=lambda c: bool(c.fact.specialization))[:1])


def _lambdas_in(inside: Defined, call: Call, order: int) -> Iterator[Given]:
    """The lambdas that are arguments of a call: those that begin inside it, outside any other lambda of it."""
    end = max(call.end_line, call.line)
    covered = 0
    wanted = sum(a.lstrip().startswith(_LAMBDA) for a in call.arguments)
    for other in inside.fact.calls[order + 1 :]:
        if other.line > end or not wanted:
            return
        if other.form == "lambda" and (other.line > covered or covered == 0):
            yield Given("lambda", inside.path, other.line)
            covered = max(other.end_line, other.line)
            wanted -= 1


def split_template(text: str) -> list[str]:
    """Template arguments, split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in (*parts, text[start:].strip()) if p]
