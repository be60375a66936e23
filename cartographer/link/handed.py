# SPDX-License-Identifier: BSD-3-Clause
"""Finds what a call passes on: lambdas, functors, functions, dispatch stubs, kernels behind pointers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.link.arguments import has_word, is_lambda
from cartographer.link.conditions import together
from cartographer.link.holdings import is_callable
from cartographer.link.index import bare
from cartographer.link.names import scope_of
from cartographer.link.requests import Requests
from cartographer.link.sites import Given
from cartographer.scan.choices import choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cartographer.link.bodies import Bodies
    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Names, Scope
    from cartographer.link.sites import Site, Spot
    from cartographer.model.fact import Call

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"[A-Za-z_][\w:]*")
_KERNELS = ("kernel", "macro-headed")
_LOW = re.compile(r"bf16|(?<!b)f16|half|bfloat", re.IGNORECASE)  # in the name of a kernel for other types than float
_ARCHITECTURE = re.compile(r"_sm_?(\d+)")  # in the name of a kernel for GPUs from this compute capability on
_CALLBACKS = 40  # functions through which a callback is followed


@dataclass
class Handed:
    """Reads the arguments and template arguments of calls, for one device."""

    index: Index
    names: Names
    bodies: Bodies
    device: str

    @cached_property
    def requests(self) -> Requests:
        """The reader of the names under which Metal kernels are asked for."""
        return Requests(self.bodies, self.names, self)

    def given(self, spot: Spot) -> tuple[Given, ...]:
        """The lambdas and functors among the arguments of a call."""
        if not (spot.handed.has_lambda or spot.handed.constructed):
            return ()
        found: list[Given] = []
        if spot.handed.has_lambda:
            found.extend(_lambdas_in(spot.inside, spot.call, spot.order, marked=self.device == "cuda"))
        found.extend(self.functors(spot))
        return tuple(found)

    def functors(self, spot: Spot) -> Iterator[Given]:
        """The functors that a call constructs among its arguments, under their own name or an alias of the function."""
        for name in spot.handed.constructed:
            found = tuple(self._classes(name, spot.scope))
            if not found and "::" not in name:
                meant = self.bodies.variables(spot.inside).meant(name)
                found = tuple(self._classes(meant, spot.scope)) if meant != name else ()
            yield from found

    def strings(self, spot: Spot) -> Iterator[Given]:
        """Device code as text among the arguments: variables made by `jiterator_stringify`, compiled at run time; variables of
        other functions are not known here.
        """
        for argument in spot.call.arguments[1:]:
            if argument in self.index.also_stringified:
                yield Given(argument, *self.index.also_stringified[argument])
            inside = spot.inside.segments
            found = [d for d in self.index.stringified.get(argument, ()) if inside[: len(d.segments) - 1] == d.segments[:-1]]
            if found:
                best = min(found, key=lambda d: (-len(d.segments), d.path != spot.scope.path, d.path, d.line))
                yield Given(best.name, best.path, best.line)

    def variables(self, spot: Spot) -> Iterator[Given]:
        """Variables that hold a lambda or a functor, among the arguments: `MulFunctor<T> f; gpu_kernel(iter, f);`."""
        for cls, line, marked in self.bodies.holdings.of(spot):
            if cls:
                yield from self._classes(cls, spot.scope, callable_only=True)
            elif marked or self.device != "cuda":  # unmarked ones run on the host
                yield Given("lambda", spot.inside.path, line)

    def called(self, spot: Spot) -> Iterator[Given]:
        """The functions that a call passes as arguments: `cpu_kernel_vec(iter, scalar_gelu<scalar_t>, vectorized_gelu<scalar_t>)`."""
        for name in spot.handed.callbacks:
            if any(name in a for a in spot.call.arguments):
                yield from (Given(d.name, d.path, d.line) for d in self.names.functions(name, spot.scope)[:1] if self.bodies.follows(d))

    def initial(self, argument: str, spot: Spot) -> Iterator[str]:
        """The texts with which a variable that is an argument begins: `const std::string kernel = "searchsorted_" + …;`."""
        if spot.inside.use is None and _IDENTIFIER.fullmatch(argument):
            yield from re.findall(rf"\b{argument}\s*=\s*([^;]*);", self.bodies.variables(spot.inside).text)

    def pointed(self, name: str, spot: Spot) -> Iterator[Defined]:
        """The functions to which a variable points that is called, even when functions of its name exist elsewhere: `auto launch = &run;
        launch(params);`, `auto f = hermitian ? lapackA<T> : lapackB<T>; f(…)`; or what its class runs: `MultiplyOp<scalar_t> op; op(a, b)`.
        """
        if spot.call.form != "call" or "::" in name:
            return
        variables = self.bodies.variables(spot.inside)
        for written in _QUALIFIED.findall(variables.assigned.get(name, "")):
            yield from sorted(self.names.functions(written, spot.scope), key=lambda d: d.fact.specialization != "float")[:1]
        for cls in general(self.names.classes(variables.written_class(name), spot.scope)):
            if self.bodies.follows(cls) and not variables.is_of_lambda(name):
                yield from (d for d in self.run_by(cls, spot) if d.name == "operator()" and self.names.takes(d, len(spot.call.arguments)))

    def sides(self, site: Site, spot: Spot) -> Iterator[Site]:
        """A call through a variable; one for each function where a conditional operator chooses which it points to."""
        chosen = self.bodies.variables(spot.inside).assigned.get(site.name, "") if spot.call.form == "call" and len(site.targets) > 1 else ""
        every = choices(chosen, 0, len(chosen)) if "?" in chosen else []
        parts = [(tuple(d for d in site.targets if has_word(chosen[c.begin : c.end], d.name)), c.condition) for c in every]
        if not parts or [d for targets, _ in parts for d in targets] != list(site.targets):
            yield site
            return
        for targets, condition in parts:
            yield site._replace(targets=targets, conditions=together(site.conditions, (condition,)))

    def _classes(self, name: str, scope: Scope, *, callable_only: bool = False) -> Iterator[Given]:
        for cls in general(self.names.classes(name, scope)):
            if not self.bodies.follows(cls):
                continue
            methods = self.bodies.holdings.methods(cls)
            if (methods or cls.fact.bases) if not callable_only else is_callable(methods):
                yield Given(cls.name, cls.path, cls.line)

    def functions(self, spot: Spot, run: Callable[[Defined, Spot], tuple[Defined, ...]]) -> Iterator[Defined]:
        """Functions and functors that template arguments or arguments name: callbacks; `run` tells what a functor runs."""
        for name in spot.handed.callbacks:
            functions = [d for d in self.names.functions(name, spot.scope) if d.path == spot.scope.path]
            yield from functions[:2]
            if not functions:
                meant = self.bodies.variables(spot.inside).meant(name)
                for cls in general(self.names.classes(meant, spot.scope)):
                    if self.bodies.follows(cls):
                        yield from run(cls, spot)[:1]

    def runs(self, cls: Defined) -> tuple[Defined, ...]:
        """What a functor runs when it is called: its call operators, else its other methods."""
        methods = [d for d in self.index.methods.get((cls.path, cls.segments), ()) if cls.fact.start <= d.line <= cls.fact.end and self.names.has(d)]
        return tuple(d for d in methods if d.name == "operator()") or tuple(d for d in methods if d.name != cls.name)[:4]

    def run_by(self, cls: Defined, spot: Spot) -> tuple[Defined, ...]:
        """What a call that makes an object runs: what the functor runs, or the constructor alone where a method of the object is called
        next, which is a call of its own: `KronImpl(self, other).kron()`.
        """
        runs = self.runs(cls)
        if not runs or runs[0].name == "operator()":
            return runs
        names = {f".{d.name}" for d in self.index.methods.get((cls.path, cls.segments), ())}
        following = (c for c in spot.inside.whole.calls[spot.order + 1 :] if spot.call.end_line <= c.line <= spot.call.end_line + 1)
        return self.constructors(cls) if any(c.form == "method" and c.name in names for c in following) else runs

    def is_up_to(self, cls: Defined, spot: Spot, called: Callable[[str, Spot], tuple[tuple[Defined, ...], str]]) -> bool:
        """Whether a function of the tree that gets a class, or an object of it, calls its methods, and so decides which of them
        run: `GRUCell<CellParams>{}(input, hx, CellParams{…})`. `called` gives the methods that a call means.
        """
        methods = {d.name for d in self.index.methods.get((cls.path, cls.segments), ())}
        for other in self.bodies.of(spot.inside).spots:
            call = other.call
            if call.form not in ("call", "construct") or not call.line <= spot.call.line <= max(call.line, call.end_line) or bare(call.name) == cls.name:
                continue
            if any(has_word(text, cls.name) for text in (call.template, *call.arguments)):
                entered = self.names.functions(call.name, spot.scope) or tuple(m for c in self.names.classes(call.name, spot.scope) for m in self.runs(c))
                asked = (s for d in entered for s in self.bodies.of(d).spots if s.call.form == "method" and s.last in methods)
                if any(d.segments[:-1] == cls.segments for s in asked for d in called(s.last, s)[0]):
                    return True
        return False

    def constructors(self, cls: Defined) -> tuple[Defined, ...]:
        """The constructors of a class; they do the work of a class that builds a graph of a vendor library."""
        return tuple(d for d in self.index.methods.get((cls.path, cls.segments), ()) if d.name == cls.name)[:1]

    def kernels(self, name: str, spot: Spot, arguments: int | None = None) -> tuple[Defined, ...]:
        """The `__global__` functions that a launch can mean; through a pointer, those that are assigned to it; through a
        callback's parameter, those that are passed to the callback.
        """
        scope, inside = spot.scope, spot.inside
        found = self.names.functions(name, scope, arguments) or self.names.functions(name, scope)
        kernels = tuple(d for d in found if d.fact.kind in ("kernel", "function", "macro-headed"))
        if kernels or inside.use is not None:
            return kernels
        pointed: list[Defined] = []
        for assigned in re.findall(rf"\b{re.escape(name)}\s*=\s*([^;]*);", self.bodies.variables(inside).text):
            for match in _QUALIFIED.findall(assigned):
                pointed.extend(d for d in self.names.functions(match, scope) if d.fact.kind in _KERNELS and d not in pointed)
        return tuple(pointed) or tuple(sorted((kernel for kernel, _ in self._called_back(scope, inside)), key=_commonness))

    def choosers(self, kernel: Defined, inside: Defined) -> tuple[Defined, ...]:
        """The functions, from the one that gets a lambda of ours to the one that passes a kernel to it; () for other kernels."""
        return next((passed for handed, passed in self._called_back(scope_of(inside), inside) if handed is kernel), ())

    def _called_back(self, scope: Scope, inside: Defined) -> Iterator[tuple[Defined, tuple[Defined, ...]]]:
        """The kernels that the functions which get one of our lambdas hand to it, with the functions on the way:
        `dispatch_cutlassF<scalar_t>(launchKernel, …)`.
        """
        lambdas = self.bodies.variables(inside).lambdas
        asked = [c for c in inside.whole.calls if c.form == "call" and any(a in lambdas for a in c.arguments)]
        waiting: list[tuple[Defined, tuple[Defined, ...]]] = [(d, (d,)) for c in asked for d in self.names.functions(c.name, scope)[:1]]
        seen: set[int] = set()
        while waiting and len(seen) < _CALLBACKS:
            function, passed = waiting.pop(0)
            if id(function) in seen:
                continue
            seen.add(id(function))
            own = {_IDENTIFIER.findall(p)[-1] for p in function.fact.parameters if _IDENTIFIER.search(p)}
            for call in function.whole.calls:
                if call.name in own:
                    yield from ((kernel, passed) for argument in call.arguments for kernel in self._global(argument))
                elif call.form == "call" and own.intersection(call.arguments):
                    waiting.extend((d, (*passed, d)) for d in self.names.functions(call.name, scope)[:1])

    def _global(self, name: str) -> list[Defined]:
        return [d for d in self.index.named(name) if d.fact.kind == "kernel"][:1]


def _commonness(kernel: Defined) -> tuple[bool, int]:
    """Sorts kernels of one purpose: those for float first, of these the ones for the newest GPUs."""
    newest = max(map(int, _ARCHITECTURE.findall(kernel.name)), default=0)
    return _LOW.search(kernel.name) is not None, -newest


def general(classes: Sequence[Defined]) -> tuple[Defined, ...]:
    """The class template, among a class's definitions, rather than one of its specialisations."""
    return tuple(sorted(classes, key=lambda c: bool(c.fact.specialization))[:1])


def _lambdas_in(inside: Defined, call: Call, order: int, *, marked: bool) -> Iterator[Given]:
    """The lambdas that are arguments of a call: those that begin inside it, outside any other lambda of it; with
    `marked` only those that say that they run on the device.
    """
    end = max(call.end_line, call.line)
    covered = 0
    wanted = sum(is_lambda(a) for a in call.arguments)
    for other in inside.whole.calls[order + 1 :]:
        if other.line > end or not wanted:
            return
        if other.form == "lambda" and other.line >= covered:  # the next one may begin where one ends: `}, [=](vec_t a) {`
            if other.arguments or not marked:
                yield Given("lambda", inside.path, other.line)
            covered = max(other.end_line, other.line)
            wanted -= 1
