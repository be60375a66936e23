# SPDX-License-Identifier: BSD-3-Clause
"""Finds the operator that a C++ call means: `at::add(…)`, `self.add(…)`, `at::_ops::add_Tensor::call(…)`, `at::redispatch::…`.

The names are those of torchgen/api/cpp.py: `_out` after the base of an out= operator, `_symint` for symbolic
sizes, `_outf` where the outputs stand last. A row's `cpp_no_default_args` have no default there. Overloads are told
apart by number and type of the arguments; what remains equal is taken together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.arguments import parameter_name
from cartographer.link.signatures import ANY, parameter_type, schema_of, schema_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cartographer.model.fact import Call, Definition
    from cartographer.model.operator import Operator

_SUFFIX = re.compile(r"(_symint)?(_out|_outf)?(_symint)?$")
_STATIC = frozenset(("cpu", "cuda", "meta", "mps", "compositeexplicitautograd", "compositeimplicitautograd", "redispatch", "functionalization"))
# What an argument's text tells of its type, the surest first.
_ARGUMENTS = tuple((kind, re.compile(pattern)) for kind, pattern in (
    ("bool", r"^(true|false)$"),
    ("none", r"^((std|c10)::)?nullopt$|^\{\}$"),
    ("int", r"^-?\d+[uUlL]*$"),
    ("float", r"^-?((\d+\.\d*|\.\d+)([eE][-+]?\d+)?[fF]?|\d+[eE][-+]?\d+)$"),
    ("str", r"^\""),
    ("list", r"^\{"),
    ("ScalarType", r"^(at::|c10::|torch::)?k(Long|Float|Double|B?Half|BFloat16|Bool|Int|Byte|Char|Short|Complex\w+)$|(scalar_type|\.dtype)\(\)$"),
    ("TensorOptions", r"options\(.*\)$|\.(dtype|device|layout|memory_format)\(.+\)$|^(at::|torch::)?(TensorOptions|dtype|device)\("),
    ("int[]", r"\.(sym_)?(sizes|strides)\(\)$"),
    ("int", r"\.(numel|dim|sym_numel|size)\(-?\d*\)$|\.(sym_)?storage_offset\(\)$|\.to(Long|Int)\(\)$"),
    ("float", r"\.to(Double|Float)\(\)$"),
    ("Scalar", r"^(at::|c10::)?Scalar\(|\.item\(\)$"),
    ("Storage", r"(\.|->)storage\(\)$"),
))  # fmt: skip
_NOTE = re.compile(r"^/\*.*?\*/\s*")  # the name of a parameter, before the argument
_MOVED = re.compile(r"^std::move\((\w+)\)$")
_CONTAINER = frozenset(("data", "size", "empty"))  # members that the containers of C++ have too
_OPTIONS = ("ScalarType", "Layout", "Device", "bool")


class Form(NamedTuple):
    """One list of arguments that the C++ function of an operator takes; defaults and overloads give an operator several."""

    kinds: tuple[str, ...]  # the classes of their types
    least: int  # so many have no default
    names_no_dimension: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """What a call of an operator must look like."""

    operator: Operator
    forms: tuple[Form, ...]
    method_forms: tuple[Form, ...]  # without the tensor on which it is called
    outs: int
    method: bool
    function: bool
    metadata: bool  # gives no tensor back and writes none: a question about one
    view: bool  # gives back a part of its input
    tensor: bool  # gives back one tensor


_PART_OF = re.compile(r"_?(\w+?)_(?:forward|backward)")  # of an operator that people do not call themselves


@dataclass(frozen=True, slots=True)
class Called:
    """A call of an operator: the name as written, and the operators that it can mean (mostly one)."""

    written: str
    operators: tuple[str, ...]
    line: int

    @property
    def main(self) -> str:
        """The likeliest of the operators that the call can mean."""
        return self.operators[0]


class Operators:
    """All operators, found by the names that C++ code calls them by."""

    def __init__(self, operators: Iterable[Operator]) -> None:
        self.by_name: dict[str, Operator] = {}
        self.shapes: dict[str, Shape] = {}
        self._functional: dict[str, list[Shape]] = {}
        self._out: dict[str, list[Shape]] = {}
        self._unambiguous: dict[str, Shape] = {}
        self._methods: dict[str, list[Shape]] = {}
        self._public: dict[str, Operator] = {}
        for operator in sorted(operators, key=lambda o: (o.declared.path, o.declared.line, o.name)):
            self.by_name[operator.name] = operator
            shape = shape_of(operator)
            if shape is None:
                continue
            self.shapes[operator.name] = shape
            if operator.namespace != "aten":
                continue
            (self._out if shape.outs else self._functional).setdefault(operator.base, []).append(shape)
            self._unambiguous[f"{operator.base}_{operator.overload}" if operator.overload else operator.base] = shape

    def called(self, call: Call, around: Mapping[str, str]) -> Called | None:
        """The operators that a call means; None when it calls none. `around` gives the classes of the types of known names."""
        name = call.name.removeprefix("::")
        if call.form == "method":
            return self._method(call, name, around)
        parts = name.split("::")
        if len(parts) > 2 and parts[-3] == "_ops":
            shape = self._unambiguous.get(parts[-2])
            return Called(name, (shape.operator.name,), call.line) if shape else None
        if len(parts) < 2 or parts[0] not in ("at", "torch"):
            return None
        if (len(parts) == 3 and parts[1] not in _STATIC) or len(parts) > 3:
            return None
        return self.function(parts[-1], name, call, around)

    def function(self, base: str, written: str, call: Call, around: Mapping[str, str]) -> Called | None:
        """The operators that a call of a function means whose namespace is known."""
        wanted, shapes = self._shapes(base)
        chosen = _choose([s for s in shapes if s.function], call.arguments, around, skip_self=False, outf=wanted == "_outf")
        return Called(written, tuple(s.operator.name for s in chosen), call.line) if chosen else None

    def referred(self, name: str, call: Call) -> Called | None:
        """The operators meant by a function that is passed without being called: `unary_op_impl(self, at::sin_out)`."""
        parts = name.split("::")
        if len(parts) != 2 or parts[0] not in ("at", "Tensor"):
            return None
        shapes = [s for s in self._shapes(parts[1])[1] if (s.function if parts[0] == "at" else s.method)]
        return Called(name, tuple(s.operator.name for s in shapes), call.line) if shapes else None

    def by_schema(self, call: Call) -> Called | None:
        """The operator that a look-up in the dispatcher names: `findSchemaOrThrow("c10d::allreduce_", "")`."""
        texts = [a.strip().strip('"') for a in call.arguments[:2]]
        name = ".".join(filter(None, texts))
        return Called(name, (name,), call.line) if name in self.by_name else None

    def with_public_defaults(self, operator: Operator) -> Operator:
        """An operator `x_forward` or `x_backward` with the defaults that the arguments of `x` have: most calls are made through that one."""
        known = self._public.get(operator.name)
        if known is None:
            known = self._public[operator.name] = self._with_public_defaults(operator)
        return known

    def _with_public_defaults(self, operator: Operator) -> Operator:
        match = _PART_OF.fullmatch(operator.base)
        public = self.by_name.get(f"{operator.namespace}::{match[1]}") if match is not None else None
        schema, given = schema_of(operator.schema), schema_of(public.schema) if public is not None else None
        if schema is None or given is None:
            return operator
        defaults = {argument.name: argument.default for argument in given.arguments}
        arguments = tuple(a if a.default is not None else replace(a, default=defaults.get(a.name)) for a in schema.arguments)
        return replace(operator, schema=str(replace(schema, arguments=arguments)))

    def of_base(self, base: str) -> list[Shape]:
        """The operators of this base name that return their result, in-place ones included."""
        return self._functional.get(base, [])

    def _shapes(self, base: str) -> tuple[str, list[Shape]]:
        if base in self._functional:
            return "", self._functional[base]
        match = _SUFFIX.search(base)
        stem, out = base[: match.start()] if match else base, match[2] if match else None
        if out is not None:
            return out, self._out.get(stem, [])
        return "", self._functional.get(stem, [])

    def _methods_of(self, member: str) -> list[Shape]:
        known = self._methods.get(member)
        if known is None:
            known = self._methods[member] = [s for s in self._shapes(member)[1] if s.method]
        return known

    def _method(self, call: Call, name: str, around: Mapping[str, str]) -> Called | None:
        receiver, member, arrow = _member_of(name)
        shapes = self._methods_of(member.removeprefix("__dispatch_"))
        if not shapes:
            return None
        known = around.get(receiver, "")
        if known and known.rstrip("?") != "Tensor" and known != ANY:
            return None
        if (arrow or member in _CONTAINER) and known.rstrip("?") != "Tensor":
            return None
        if call.template and member != "item":
            return None  # a template of another class: `Scalar::to<double>()`
        member = member.removeprefix("__dispatch_")
        chosen = _choose(shapes, call.arguments, around, skip_self=True, outf=False)
        return Called(f"Tensor::{member}", tuple(s.operator.name for s in chosen), call.line) if chosen else None


@lru_cache(maxsize=65536)
def _member_of(name: str) -> tuple[str, str, bool]:
    """What a member is called on, the member, and whether it is reached by an arrow: `x.y->f` -> ("x.y", "f", True)."""
    arrow = name.rfind("->") > name.rfind(".")
    member = name[name.rfind("->") + 2 :] if arrow else name[name.rfind(".") + 1 :]
    return name[: -len(member)].rstrip(".->"), member, arrow


def shape_of(operator: Operator) -> Shape | None:
    """The form that calls of an operator have; None when its schema cannot be parsed."""
    schema = schema_of(operator.schema)
    if schema is None:
        return None
    arguments = [*schema.positional, *schema.kwarg_only]
    outs = schema.out
    without_default = operator.extra.get("cpp_no_default_args", "").split(", ")
    returns_tensor = any("Tensor" in r.type for r in schema.returns) or any(a.is_write for a in schema.arguments) or operator.base.endswith("_")
    variants = operator.variants or ("function",)
    wanted = [(_named(schema_type(a.type), operator), a.default is not None and a.name not in without_default) for a in arguments]
    return Shape(
        operator,
        _forms(wanted),
        _forms(wanted[1:]),
        len(outs),
        "method" in variants,
        "function" in variants or operator.origin.value == "generated",
        not returns_tensor,
        any(r.annotation is not None and not r.annotation.write for r in schema.returns),
        [schema_type(r.type) for r in schema.returns] == ["Tensor"],
    )


def _named(kind: str, operator: Operator) -> str:
    """The class of a type, dimension names told from strings: torch prints both as `str`."""
    if kind.startswith("str[]") or (kind == "str" and "name" in operator.overload.lower()):
        return kind.replace("str", "Dimname")
    return kind


def _choose(shapes: Sequence[Shape], arguments: Sequence[str], around: Mapping[str, str], *, skip_self: bool, outf: bool) -> list[Shape]:
    """The shapes that fit a call best; equal ones together, those that name dimensions only if nothing else fits."""
    if not shapes:
        return []
    classes = [argument_class(a, around) for a in arguments]
    scored = [(score, shape) for shape in shapes if (score := _score(shape, classes, skip_self=skip_self, outf=outf)) >= 0]
    if not scored:
        return []
    best = max(score for score, _ in scored)
    return [shape for score, shape in scored if score == best]


def _score(shape: Shape, classes: Sequence[str], *, skip_self: bool, outf: bool) -> int:
    given = classes
    if shape.outs:
        given = given[: len(given) - shape.outs] if outf else given[shape.outs :]
    best = -1
    for kinds, least, names_no_dimension in shape.method_forms if skip_self else shape.forms:
        if not least <= len(given) <= len(kinds):
            continue
        score = 10
        for theirs, mine in zip(kinds, given, strict=False):
            fits = compatible(mine, theirs)
            if fits < 0:
                score = -1
                break
            score += fits
        if score >= 0 and names_no_dimension:
            score += 1
        best = max(best, score)
    return best


def _forms(wanted: list[tuple[str, bool]]) -> tuple[Form, ...]:
    """The lists of arguments that stand for one, each with the class of its type and whether it has a default in C++."""
    return tuple(
        Form(tuple(kind for kind, _ in form), sum(not has for _, has in form), not any("Dimname" in kind for kind, _ in form))
        for form in _with_options(wanted)
    )  # fmt: skip


def _with_options(wanted: list[tuple[str, bool]]) -> list[list[tuple[str, bool]]]:
    """The argument list, and the one that takes a TensorOptions for its four arguments."""
    for at in range(len(wanted) - 3):
        if tuple(t.rstrip("?") for t, _ in wanted[at : at + 4]) == _OPTIONS:
            merged = [*wanted[:at], ("TensorOptions", wanted[at][1]), *wanted[at + 4 :]]
            return [wanted, merged]
    return [wanted]


@lru_cache(maxsize=16384)
def compatible(mine: str, theirs: str) -> int:
    """Whether an argument of class `mine` can be passed for `theirs`: -1 for no, 0 for unknown, else the higher the surer."""
    if ANY in (mine, theirs):
        return 0
    plain = theirs.rstrip("?")
    if mine == "none":
        return 2 if theirs.endswith("?") else (1 if "[]" in theirs else -1)
    if mine.rstrip("?") == plain:
        return 3
    if mine == "list":
        return 1 if "[]" in theirs or plain in ("Tensor", "Scalar") else -1
    loose = {
        "int": ("Scalar", "float", "int[]", "bool"), "float": ("Scalar",), "bool": ("Scalar", "int"), "ScalarType": ("TensorOptions",),
        "Device": ("TensorOptions",), "Tensor": ("Tensor[]",), "Layout": ("TensorOptions",), "int[]": (), "Tensor[]": ("Tensor?[]",),
        "Scalar": (), "str": ("Dimname",), "Dimname": ("Dimname[]",), "Dimname[]": (),
    }  # fmt: skip
    if mine.rstrip("?") in loose:
        return 1 if plain in loose[mine.rstrip("?")] else -1
    return 0


def argument_class(text: str, around: Mapping[str, str]) -> str:
    """The class of an argument's type, as far as its text tells it."""
    text = text.strip()
    if text.startswith("/*"):
        text = _NOTE.sub("", text)
    if text.startswith("std::move("):
        text = _MOVED.sub(r"\1", text)
    return around[text] if text in around else _class_of(text)


@lru_cache(maxsize=65536)
def _class_of(text: str) -> str:
    """The class of an expression by itself."""
    return next((kind for kind, pattern in _ARGUMENTS if pattern.search(text)), ANY)


def types_around(definition: Definition) -> dict[str, str]:
    """The classes of types of a function's parameters by name, and those of the members that structured kernels have."""
    known: dict[str, str] = {}
    for parameter in definition.parameters:
        if name := parameter_name(parameter):
            known[name] = parameter_type(parameter)
    return known
