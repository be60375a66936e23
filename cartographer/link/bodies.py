# SPDX-License-Identifier: BSD-3-Clause
"""Reads the bodies of functions, once for all devices: which of their calls may lead to a kernel, and the types that their text tells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from cartographer.link import conditions as told
from cartographer.link.arguments import (
    arguments_at,
    first_member,
    member,
    parameter_name,
    split_template,
)
from cartographer.link.composites import types_around
from cartographer.link.conditions import UNLIKELY, alternatives
from cartographer.link.device import CPU_LOOPS, DRIVER, METAL_COPIES, METAL_REQUESTS, NEVER
from cartographer.link.hierarchy import is_method
from cartographer.link.holdings import Holdings
from cartographer.link.index import FUNCTIONS, bare, is_source
from cartographer.link.kinds import Told, on_tensor
from cartographer.link.lambdas import Held, held, where_called
from cartographer.link.leading import Leading
from cartographer.link.mentions import Mentions
from cartographer.link.names import scope_of
from cartographer.link.receivers import Receivers
from cartographer.link.sites import NOTHING_HANDED, Spot
from cartographer.link.variables import Variables
from cartographer.scan.depth import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cartographer.link.composites import Called, Operators
    from cartographer.link.conditions import Conditions
    from cartographer.link.constants import Boolean
    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Scope
    from cartographer.link.overloads import Type
    from cartographer.link.signs import Signs
    from cartographer.link.stubs import Stubs
    from cartographer.model.fact import Call, MacroDefinition

SWITCH = re.compile(r"(?:AT|TORCH)_DISPATCH_\w+|DISPATCH_\w+|_AT_DISPATCH\w*")
LITERALS = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
NOWHERE = ("std::", "c10::", "at::globalContext", "at::maybe_", "at::checkAll", "at::checkSame", "at::namedinference::", "namedinference::")
SCHEMA = "findSchemaOrThrow"  # asks the dispatcher for an operator by its name
RUNS = frozenset(("execute", "run"))  # methods by which objects of libraries do their work
CUTLASS = "cutlass::"
_CALL_LINES = 20  # over which a call may run
_MADE_AND_CALLED = re.compile(r"(?:\(\s*\)|\{\s*\})\s*\(")
_NAME_ALONE = re.compile(r"(?<![\w.>:\"])[A-Za-z_]\w*(?![\w(.:<\"]|->)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# Within the code of kernels, the plumbing that all kernels use and that leads anywhere.
_PLUMBING = re.compile(
    r"aten/src/ATen/native/(TensorIterator\w*|Resize\w*|TypeProperties|ReduceOpsUtils|TensorProperties|TensorDimApply|cuda/Resize|mps/TensorFactory)\.(h|cpp|cuh|cu)"
    r"|aten/src/ATen/cuda/(?!CUDABlas|CUDASparseBlas|CUDASolver|jiterator|detail/|llvm|CUDASparse|cub|tunable/|LegacyTH|CUDAApplyUtils|ApplyGridUtils)\w+.*"
    r"|aten/src/TH/(THTensor|THStorage|THAllocator|THGeneral|generic/THTensor\.|generic/THStorage).*"
    r"|aten/src/THC/(THCGeneral|THCStorage|THCAllocator|generic/THCStorage).*"
)
_MAKERS = frozenset(("make_intrusive", "make_shared", "make_unique"))
_NEVER, _NOT_ASKED = frozenset((NEVER,)), frozenset[str]()


@dataclass(slots=True)
class Body:
    """One function body: the classes of its parameters' types (`around`) and the parameters as written, both by name."""

    around: dict[str, str]
    parameters: dict[str, str]
    first: str  # the first tensor among them
    spots: tuple[Spot, ...] = ()
    receivers: dict[int, str] = field(default_factory=dict)  # by the order of the call, filled as they are asked for
    types: dict[str, Type | None] = field(default_factory=dict)  # of arguments as written, filled as they are asked for
    asked: frozenset[str] | None = None  # the parameters that decide conditions, when that was asked for


@dataclass
class Bodies:
    """The bodies of all functions of a tree, each read when it is first asked for; `source` gives a file's text."""

    index: Index
    operators: Operators
    stubs: Stubs
    signs: Signs
    source: Callable[[str], str | None] | None = None
    _read: dict[int, Body] = field(default_factory=dict, repr=False)
    _variables: dict[int, Variables] = field(default_factory=dict, repr=False)
    _lines: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _of_cutlass: set[str] = field(default_factory=set, repr=False)  # files that name a class of it
    _followed: dict[str, bool] = field(default_factory=dict, repr=False)
    booleans: dict[str, list[Boolean]] = field(default_factory=dict, repr=False)  # declared with their value, by file
    _macros: dict[str, dict[str, list[MacroDefinition]]] = field(default_factory=dict, repr=False)
    _methods: dict[str, bool] = field(default_factory=dict, repr=False)

    def of(self, defined: Defined) -> Body:
        """The body of a definition, read once: its parameters, their types, and the name of the first tensor among them."""
        known = self._read.get(id(defined))
        if known is None:
            parameters: dict[str, str] = {}
            for parameter in defined.fact.parameters:
                if name := parameter_name(parameter):
                    parameters.setdefault(name, parameter)
            around = types_around(defined.fact)
            known = self._read[id(defined)] = Body(around, parameters, next((name for name, kind in around.items() if kind == "Tensor"), "self"))
            known.spots = tuple(self._spots(defined, known))
            if defined.whole.signs:
                known.spots = tuple(sorted((*self._signs(defined, known), *known.spots), key=lambda spot: spot.order))
        return known

    def follows(self, defined: Defined) -> bool:
        """Whether a way may lead through a definition: it is code of kernels, not the plumbing that all of them use."""
        known = self._followed.get(defined.path)
        if known is None:
            known = defined.path.startswith(KERNELS) and _PLUMBING.fullmatch(defined.path) is None
            self._followed[defined.path] = known
        return known

    # --- calls ----------------------------------------------------------------------------------------------------

    def _spots(self, defined: Defined, body: Body) -> Iterator[Spot]:
        """The calls of a body that lead anywhere on some device."""
        scope, around, own = scope_of(defined), body.around, _of_template(defined, body.parameters)
        exits, left = defined.whole.exits, alternatives(defined.whole.calls, defined.whole.exits)
        every = {c for call in defined.whole.calls for c in call.conditions} | left
        mentions = self._mentions
        lambdas = tuple(self._lambdas(defined, left)) if any(c.form == "lambda" for c in defined.whole.calls) else ()
        said: dict[tuple[Conditions, Conditions], tuple[Conditions, frozenset[str], bool]] = {((), ()): ((), _NOT_ASKED, False)}
        for order, call in enumerate(defined.whole.calls):
            if call.form == "lambda" or (call.form == "reference" and self._is_variable(call.name, defined, body)):
                continue
            method = call.form == "method"
            last = member(call.name) if method else bare(call.name)
            owner = call.name.partition("->")[0] if method and "->" in call.name else ""
            owned = owner and owner not in around and self.operators.of_base(last) and self._receivers.owns_tensor(owner, self.variables(defined))
            called = self._called(call, {**around, owner: "Tensor"} if owned else around, scope)
            if called is not None and method and self._receivers.is_no_tensor(call, defined, order, self.variables):
                called = None
            if called is not None and len(called.operators) > 1:
                called = self._told_apart(called, call, around, defined)
            handed = mentions.of(call, scope)
            if own and own.intersection(call.arguments):
                handed = handed._replace(hands_on=True)
            if called is not None or handed.stubs or handed.casts or self._leads(call, last, defined.path):
                at = (call.conditions, call.guards)
                if left or at not in said:  # what is left before depends on the line
                    conditions = self._spelled_out(told.around(call, exits, left), defined)
                    asks = _NEVER if any(c.startswith(UNLIKELY) for c in call.conditions) else _NOT_ASKED
                    said[at] = (conditions, asks, told.optional(call.conditions, every, left))
                spot = Spot(call, defined, scope, order, *said[at], last, called, handed)
                yield from where_called(spot, lambdas) if lambdas else (spot,)

    def _lambdas(self, defined: Defined, left: frozenset[str]) -> Iterator[Held]:
        """The lambdas of a body that run under conditions."""
        for lines, uses in held(defined.whole, self.variables(defined), left):
            yield Held(lines, tuple(use._replace(conditions=self._spelled_out(use.conditions, defined)) for use in uses))

    def _spelled_out(self, conditions: Conditions, defined: Defined) -> Conditions:
        """Conditions, with what they ask in place of the variables that hold it."""
        if not conditions or defined.use is not None or not (flags := self.variables(defined).flags):
            return conditions
        return tuple(_NAME_ALONE.sub(lambda m: told.whole(flags[m[0]]) if m[0] in flags else m[0], c) for c in conditions)

    def _is_variable(self, name: str, defined: Defined, body: Body) -> bool:
        """Whether a name that is handed over is that of a parameter or of a local variable, whatever functions bear it."""
        if "::" in name:
            return False
        if name in body.parameters:
            return True
        local = self.variables(defined)
        return name in local.begun or bool(local.declared(name))

    def _signs(self, defined: Defined, body: Body) -> Iterator[Spot]:
        """The operators that a body writes as signs, each before the calls of later lines."""
        exits, left = defined.whole.exits, alternatives(defined.whole.calls, defined.whole.exits)
        lines = [call.line for call in defined.whole.calls]
        for call in defined.whole.signs:
            called = self._written(call, defined, body.around)
            if called is not None:
                order = next((n for n, line in enumerate(lines) if line > call.line), len(lines))
                conditions = self._spelled_out(told.around(call, exits, left), defined)
                yield Spot(call, defined, scope_of(defined), order, conditions, _NOT_ASKED, False, "", called, NOTHING_HANDED)

    def _written(self, call: Call, defined: Defined, around: Mapping[str, str]) -> Called | None:
        """The operator that a sign means: one of its operands, at least, is known to be a tensor."""
        method = self.signs.method(call.name, alone=len(call.arguments) == 1)
        tensors = [name for name in call.arguments if name and self._is_tensor(name, defined, around)] if method else []
        if not tensors:
            return None
        others = tuple(a for n, a in enumerate(call.arguments) if n != call.arguments.index(tensors[0]))
        written, known = replace(call, name=f"{tensors[0]}.{method}", form="method", arguments=others), {**around, **dict.fromkeys(tensors, "Tensor")}
        called = self.operators.called(written, known)
        return called if called is None or len(called.operators) < 2 else self._told_apart(called, written, known, defined)

    def _is_tensor(self, name: str, defined: Defined, around: Mapping[str, str]) -> bool:
        """Whether a parameter or a variable of a function is a tensor."""
        if name in around:
            return around[name] == "Tensor"
        if "::" in name:
            return any(s.tensor for s in self.operators.of_base(member(name).removesuffix("_symint")))
        local = self.variables(defined)
        if name in local.assigned:
            return local.assigned[name] != name and self._is_tensor(local.assigned[name], defined, around)
        function = local.results.get(name) or local.last_member(name)
        if not function:
            return bare(local.written_class(name)) == "Tensor"
        shapes = self.operators.of_base(member(function)) if not function.startswith("std::") else []
        return any(s.tensor for s in shapes) and not any(s.metadata for s in shapes)

    def _leads(self, call: Call, last: str, path: str) -> bool:
        """Whether a call may lead anywhere by its own name."""
        match call.form:
            case "method":
                asks = last in METAL_REQUESTS or last in METAL_COPIES or last in CPU_LOOPS or last in RUNS or last == SCHEMA
                return asks or self._is_method(last) or DRIVER.fullmatch(last) is not None
            case "macro":
                return bool(self.macros(call.name, path, call.line)) or SWITCH.fullmatch(call.name) is not None
            case "launch" | "message":
                return True
            case _:
                return not call.name.removeprefix("::").startswith(NOWHERE)

    def _called(self, call: Call, around: Mapping[str, str], scope: Scope) -> Called | None:
        """The operator that a call of a member or of a qualified name means, or a function of one that is handed over."""
        if call.form == "method":
            called = self.operators.called(call, around)
            return called if called is not None and on_tensor(call, around, scope.path) else None
        if call.form == "reference":
            return self.operators.referred(call.name.removeprefix("::"), call)
        return self.operators.called(call, around) if call.form == "call" and "::" in call.name.removeprefix("::") else None

    def _told_apart(self, called: Called, call: Call, around: Mapping[str, str], defined: Defined) -> Called:
        """Of several operators that a call can mean those for the types of the local variables among its arguments."""
        told = Told(around, self.variables(defined), lambda name: self._is_tensor(name, defined, around), self.operators.of_base, self.index)
        more = told.kinds(call.arguments)
        return (self.operators.called(call, {**around, **more}) if more else None) or called

    def _is_method(self, name: str) -> bool:
        """Whether a class of the kernels' code may have a method of this name."""
        known = self._methods.get(name)
        if known is None:
            known = self._methods[name] = any(
                d.fact.kind in FUNCTIONS and (is_method(d) or d.segments[:-1] in self._classes) for d in self.index.named(name)
            )  # fmt: skip
        return known

    @cached_property
    def leading(self) -> Leading:
        """The judge of which calls may lead to a kernel."""
        return Leading(self)

    @cached_property
    def holdings(self) -> Holdings:
        """The reader of what variables hold that are passed as arguments."""
        return Holdings(self)

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self.stubs)

    @cached_property
    def _receivers(self) -> Receivers:
        return Receivers(self.index, self.operators, self.lines)

    @cached_property
    def _classes(self) -> frozenset[tuple[str, ...]]:
        """The classes of the kernels' code."""
        return frozenset(cls.segments for cls in self.index.hierarchy.classes)

    def _macros_of(self, path: str) -> dict[str, list[MacroDefinition]]:
        known = self._macros.get(path)
        if known is None:
            known = self._macros[path] = {}
            for macro in self.index.files[path].macros:
                known.setdefault(macro.name, []).append(macro)
        return known

    def macros(self, name: str, path: str, line: int) -> Sequence[tuple[str, MacroDefinition]]:
        """The definitions of a macro that apply on a line of a file, with their files: those of the file itself, else those
        of the kernels' headers that it includes.
        """
        own = [(path, m) for m in self._macros_of(path).get(name, ()) if m.line <= line and not 0 < m.undefined <= line]
        if own or name not in self._of_headers:
            return own
        return [(other, m) for other, m in self._of_headers[name] if other in self.index.hierarchy.visible(path)]

    @cached_property
    def _of_headers(self) -> dict[str, list[tuple[str, MacroDefinition]]]:
        """The macros with parameters that headers of the kernels' code define to their end, by name."""
        table: dict[str, list[tuple[str, MacroDefinition]]] = {}
        for path in sorted(p for p in self.index.files if p.startswith(KERNELS) and not is_source(p) and _PLUMBING.fullmatch(p) is None):
            for macro in self.index.files[path].macros:
                if macro.parameters and not macro.undefined:
                    table.setdefault(macro.name, []).append((path, macro))
        return table

    # --- types and texts ------------------------------------------------------------------------------------------

    def receiver(self, spot: Spot) -> str:
        """The type, as written, of what a member is called on: a parameter, a local variable, or a call's result; "" when
        nothing tells it.
        """
        body = self.of(spot.inside)
        known = body.receivers.get(spot.order)
        if known is None:
            known = body.receivers[spot.order] = self._receiver(spot, body)
        return known

    def _receiver(self, spot: Spot, body: Body) -> str:
        name = first_member(spot.call.name)
        if not name:
            before = spot.inside.whole.calls[spot.order - 1] if spot.order else None
            return self.result(before.name) if before is not None and before.form in ("call", "method") else ""
        if name in body.parameters:
            return body.parameters[name].rpartition(name)[0]
        local = self.variables(spot.inside)
        return self.result(local.results[name]) if name in local.results else local.written_class(name)

    def result(self, function: str) -> str:
        """The type that a function returns, when all functions of its name agree: the class of the object that they construct,
        else what they are declared with.
        """
        last = member(function)
        made = self._made(last)
        if len(made) == 1:
            return next(iter(made))
        found = {d.fact.returns for d in (*self.index.named(last), *self.index.declarations.get(last, ())) if self.follows(d) and d.fact.returns}
        told = {t.removeprefix("static ").removeprefix("virtual ") for t in found}
        return told.pop() if len(told) == 1 else ""

    def _made(self, function: str) -> dict[str, None]:
        """The classes of the objects that functions of a name make, as written, in their order."""
        return dict.fromkeys(c.template for d in self.index.named(function) if self.follows(d) for c in d.whole.calls if bare(c.name) in _MAKERS)

    def made(self, spot: Spot) -> frozenset[str]:
        """The names of the classes that the function whose result a variable holds constructs:
        `auto quantizer = make_per_channel_affine_quantizer(…);`.
        """
        function = self.variables(spot.inside).results.get(first_member(spot.call.name), "")
        return frozenset(bare(written) for written in self._made(member(function))) if function else frozenset()

    def variables(self, defined: Defined) -> Variables:
        """The local variables of a function; none when its text is not at hand."""
        known = self._variables.get(id(defined))
        if known is None:
            text = self.text(defined) if defined.use is None else ""
            known = self._variables[id(defined)] = Variables(text, defined.fact.line)
        return known

    def of_file(self, name: str, path: str) -> str:
        """The type of a variable that is declared outside all functions of a file: `static TensorAssign tensor_assign;`."""
        place = next((d for d in self.index.named(name) if d.path == path and d.fact.kind == "variable"), None)
        written = " ".join(self.lines(path, place.fact.start, place.line)) if place is not None else ""
        return written[: written.find(name)].strip() if name in written else ""

    def called_with(self, call: Call, inside: Defined) -> tuple[str, ...]:
        """The arguments of the call operator, where a functor is made and called in one: `Functor<true>()(self, dim)`."""
        text = "\n".join(self.lines(inside.path, call.line, call.line + _CALL_LINES))
        if _MADE_AND_CALLED.search(text) is None:
            return ()
        match = re.compile(rf"\b{re.escape(bare(call.name))}\s*(?:<[^;{{}}()]*>)?\s*(?:\(\s*\)|\{{\s*\}})\s*(?=\()").search(text)
        return tuple(" ".join(a.split()) for a in arguments_at(text, match.end())) if match is not None else ()

    def text(self, defined: Defined) -> str:
        """The source text of a definition; "" when it is not at hand."""
        return "\n".join(self.lines(defined.path, defined.fact.line, defined.fact.end))

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """The given lines of a file; none when its text is not at hand."""
        known = self._lines.get(path)
        if known is None:
            text = (self.source(path) if self.source is not None else None) or ""
            known = self._lines[path] = text.split("\n")
            if CUTLASS in text:
                self._of_cutlass.add(path)
        return known[first - 1 : last]

    def is_of_cutlass(self, defined: Defined, name: str) -> bool:
        """Whether a variable of a function is an object of CUTLASS: `Gemm gemm_op;`."""
        self.lines(defined.path, 1, 0)
        return defined.path in self._of_cutlass and self.variables(defined).class_of(name).startswith(CUTLASS)


def _of_template(defined: Defined, parameters: Mapping[str, str]) -> frozenset[str]:
    """The parameters whose types are parameters of the template: callables, mostly."""
    types = {name for p in split_template(defined.fact.template) if (name := parameter_name(p))} if defined.fact.template else ()
    return frozenset(name for name, written in parameters.items() if types and types.intersection(_IDENTIFIER.findall(written.rpartition(name)[0])))
