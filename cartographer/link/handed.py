# SPDX-License-Identifier: BSD-3-Clause
"""What a call hands over: lambdas, functors, functions, dispatch stubs, kernels behind pointers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.link.index import bare
from cartographer.link.sites import Given
from cartographer.link.variables import Variables, variables_of

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
_WRAPPED = re.compile(r"(?:(?:::)?(?:\w+::)*[A-Za-z_]\w*\s*(?:<[^()]*>)?\s*[({]\s*)?(?:std::move\()?([A-Za-z_]\w*)\)?\s*[)}]?$")
_WRAPS_LAMBDA = re.compile(r"\s*[a-z]\w*\s*<[^()]*>\s*\(\s*\[")
_REDUCES = frozenset(("reduce", "combine", "project"))  # the methods of a functor of aten/src/ATen/native/SharedReduceOps.h
_MEMBER = re.compile(r"\.|->|::")
_LAMBDA = ("[", "^")
_KERNELS = ("kernel", "macro-headed")
_CALLBACKS = 40  # functions through which a callback is followed
_TEXT = 100  # longer arguments are expressions


@dataclass
class Handed:
    """Reads the arguments and template arguments of calls; `source` gives a file's text for local variables."""

    index: Index
    names: Names
    stubs: Stubs
    follows: Callable[[Defined], bool]
    source: Callable[[str], str | None] | None = None

    def given(self, spot: Spot) -> tuple[Given, ...]:
        """The lambdas and functors among the arguments."""
        found: list[Given] = []
        if any(_is_lambda(a) for a in spot.call.arguments):
            found.extend(_lambdas_in(spot.inside, spot.call, spot.order, marked=spot.scope.device == "cuda"))
        found.extend(self.functors(spot.call, spot.scope, spot.inside))
        return tuple(found)

    def functors(self, call: Call, scope: Scope, inside: Defined | None = None) -> Iterator[Given]:
        """Functors constructed among the arguments; `inside` tells what aliases of its own stand for."""
        for argument in call.arguments:
            match = _CONSTRUCTED.match(argument.strip())
            if match is not None and not match[1].startswith("std::"):
                found = tuple(self._classes(match[1], scope))
                if not found and inside is not None and "::" not in match[1]:
                    meant = self.local(inside).meant(match[1])
                    found = tuple(self._classes(meant, scope)) if meant != match[1] else ()
                yield from found

    def strings(self, spot: Spot) -> Iterator[Given]:
        """Device code as text among the arguments: variables made by `jiterator_stringify`, compiled at run time."""
        for argument in spot.call.arguments[1:]:
            if argument in self.index.also_stringified:
                yield Given(argument, *self.index.also_stringified[argument])
            if not _IDENTIFIER.fullmatch(argument) or argument not in self.index.stringified:
                continue
            found = self.index.stringified[argument]
            inside = (*spot.inside.segments, argument)
            best = min(found, key=lambda d: (d.segments != inside, d.path != spot.scope.path, d.path, d.line))
            yield Given(best.name, best.path, best.line)

    def variables(self, spot: Spot) -> Iterator[Given]:
        """Local variables that hold a lambda or a functor, among the arguments: `MulFunctor<T> f; gpu_kernel(iter, f);`."""
        names = [m[1] for a in spot.call.arguments if len(a) < _TEXT and (m := _WRAPPED.match(a.strip()))]
        if not names:
            return
        local = self.local(spot.inside)
        for name in names:
            if name in local.lambdas:
                line, marked = local.lambdas[name]
                if marked or spot.scope.device != "cuda":  # unmarked ones run on the host
                    yield Given("lambda", spot.inside.path, line)
            elif name in local.classes:
                yield from self._classes(local.classes[name], spot.scope, callable_only=True)

    def local(self, inside: Defined) -> Variables:
        """The local variables of a function, none where its text is not at hand."""
        known = self.index.variables.get(id(inside))
        if known is None:
            text = self._text(inside) if self.source is not None and inside.use is None else ""
            known = self.index.variables[id(inside)] = variables_of(text, inside.fact.line)
        return known

    def initial(self, spot: Spot) -> Iterator[str]:
        """The texts with which the variables among the arguments begin: `const std::string kernel = "searchsorted_" + …;`."""
        for argument in spot.call.arguments:
            if self.source is not None and spot.inside.use is None and _IDENTIFIER.fullmatch(argument):
                yield from re.findall(rf"\b{argument}\s*=\s*([^;]*);", self._text(spot.inside))

    def pointed(self, name: str, spot: Spot) -> Iterator[Defined]:
        """The functions that a variable points to: `auto f = hermitian ? lapackA<T> : lapackB<T>; f(…)`."""
        for written in _QUALIFIED.findall(self.local(spot.inside).assigned.get(name, "")):
            yield from sorted(self.names.functions(written, spot.scope), key=lambda d: d.fact.specialization != "float")[:1]

    def receiver(self, spot: Spot) -> str:
        """The type, as written, of what a member is called on: a parameter, a local variable, or a call's result; "" when
        nothing tells it.
        """
        name = _MEMBER.split(spot.call.name)[0].strip()
        if not name:
            before = spot.inside.fact.calls[spot.order - 1] if spot.order else None
            return self._result(before.name) if before is not None and before.form in ("call", "method") else ""
        for parameter in spot.inside.fact.parameters:
            if (words := _IDENTIFIER.findall(parameter.partition("=")[0])) and words[-1] == name:
                return parameter.rpartition(name)[0]
        local = self.local(spot.inside)
        return self._result(local.results[name]) if name in local.results else local.classes.get(name, "")

    def _result(self, function: str) -> str:
        """The type that a function gives back, when all functions of its name agree."""
        last = _MEMBER.split(function)[-1]
        found = {d.fact.returns for d in (*self.index.named(last), *self.index.declarations.get(last, ())) if self.follows(d) and d.fact.returns}
        told = {t.removeprefix("static ").removeprefix("virtual ") for t in found}
        return told.pop() if len(told) == 1 else ""

    def _classes(self, name: str, scope: Scope, *, callable_only: bool = False) -> Iterator[Given]:
        for cls in general(self.names.classes(name, scope)):
            if not self.follows(cls):
                continue
            methods = {d.name for d in self.index.methods.get((cls.path, cls.segments), ())} - {cls.name}
            if (methods or cls.fact.bases) if not callable_only else ("operator()" in methods or methods >= _REDUCES):
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

    def kernels(self, name: str, scope: Scope, inside: Defined, arguments: int | None = None) -> tuple[Defined, ...]:
        """The `__global__` functions that a launch can mean; through a pointer, those that are assigned to it; through a
        callback's parameter, those that are handed to the callback.
        """
        found = self.names.functions(name, scope, arguments) or self.names.functions(name, scope)
        kernels = tuple(d for d in found if d.fact.kind in ("kernel", "function", "macro-headed"))
        if kernels or self.source is None or inside.use is not None:
            return kernels
        pointed: list[Defined] = []
        for assigned in re.findall(rf"\b{re.escape(name)}\s*=\s*([^;]*);", self._text(inside)):
            for match in _QUALIFIED.findall(assigned):
                pointed.extend(d for d in self.names.functions(match, scope) if d.fact.kind in _KERNELS and d not in pointed)
        return tuple(pointed) or tuple(self._called_back(scope, inside))

    def _called_back(self, scope: Scope, inside: Defined) -> Iterator[Defined]:
        """The kernels that the functions which get one of our lambdas hand to it: `dispatch_cutlassF<scalar_t>(launchKernel, …)`."""
        lambdas = self.local(inside).lambdas
        asked = [c for c in inside.fact.calls if c.form == "call" and any(a in lambdas for a in c.arguments)]
        waiting = [d for c in asked for d in self.names.functions(c.name, scope)[:1]]
        seen: set[int] = set()
        while waiting and len(seen) < _CALLBACKS:
            function = waiting.pop(0)
            if id(function) in seen:
                continue
            seen.add(id(function))
            own = {_IDENTIFIER.findall(p)[-1] for p in function.fact.parameters if _IDENTIFIER.search(p)}
            for call in function.fact.calls:
                if call.name in own:
                    for argument in call.arguments:
                        yield from self._global(argument)
                elif call.form == "call" and own.intersection(call.arguments):
                    waiting.extend(self.names.functions(call.name, scope)[:1])

    def _global(self, name: str) -> list[Defined]:
        return [d for d in self.index.named(name) if d.fact.kind == "kernel"][:1]

    def _text(self, defined: Defined) -> str:
        """The source of a definition, "" when its text is not at hand."""
        return "\n".join(self.lines(defined.path, defined.fact.line, defined.fact.end))

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Some lines of a file, none when its text is not at hand."""
        known = self.index.lines.get(path)
        if known is None:
            text = self.source(path) if self.source is not None else None
            known = self.index.lines[path] = (text or "").split("\n")
        return known[first - 1 : last]


def general(classes: Sequence[Defined]) -> tuple[Defined, ...]:
    """The class that stands for all of them: the template rather than one of its specialisations."""
    return tuple(sorted(classes, key=lambda c: bool(c.fact.specialization))[:1])


def _is_lambda(argument: str) -> bool:
    """Whether an argument is a lambda, or one that a function template wraps: `func_wrapper<out_t>([] GPU_LAMBDA …)`."""
    return argument.lstrip().startswith(_LAMBDA) or _WRAPS_LAMBDA.match(argument) is not None


def _lambdas_in(inside: Defined, call: Call, order: int, *, marked: bool) -> Iterator[Given]:
    """The lambdas that are arguments of a call: those that begin inside it, outside any other lambda of it; with
    `marked` only those that say that they run on the device.
    """
    end = max(call.end_line, call.line)
    covered = 0
    wanted = sum(_is_lambda(a) for a in call.arguments)
    for other in inside.fact.calls[order + 1 :]:
        if other.line > end or not wanted:
            return
        if other.form == "lambda" and (other.line > covered or covered == 0):
            if other.arguments or not marked:
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
