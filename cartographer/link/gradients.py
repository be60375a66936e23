# SPDX-License-Identifier: BSD-3-Clause
"""Finds the functions that derivative formulas call, each with the definition of the right overload.

Formulas (tools/autograd/derivatives.yaml) are C++ expressions over the operator's arguments, its results and
`grad`; their helpers live in torch/csrc/autograd/FunctionsManual.cpp, in torch::autograd::generated::details.
Overloads are told apart by the classes of the argument expressions, nested calls included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.expand.tokens import tokenize
from cartographer.link.composites import argument_class
from cartographer.link.index import FUNCTIONS, bare
from cartographer.link.signatures import ANY, bounds, parameter_type, schema_of, schema_type
from cartographer.model.location import Location
from cartographer.model.operator import Helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cartographer.expand.tokens import Token
    from cartographer.link.index import Defined, Index
    from cartographer.model.operator import Operator

HOME = "torch/csrc/autograd/"
# What members of tensors give (aten/src/ATen/core/TensorBase.h).
_MEMBERS = {
    "sizes": "int[]", "sym_sizes": "int[]", "strides": "int[]", "sym_strides": "int[]", "scalar_type": "ScalarType", "dim": "int", "numel": "int",
    "sym_numel": "int", "size": "int", "sym_size": "int", "sym_storage_offset": "int", "storage_offset": "int", "options": "TensorOptions",
    "defined": "bool", "is_complex": "bool", "layout": "Layout", "device": "Device", "dtype": "ScalarType", "is_contiguous": "bool",
    "suggest_memory_format": "MemoryFormat", "sym_blocksize": "int[]", "toComplexDouble": ANY, "toDouble": "float", "item": "Scalar",
}  # fmt: skip
_NAMES = {
    "grad": "Tensor", "grads": "Tensor[]", "result": "Tensor", "grad_input_mask": "bool[]", "retain_variables": "bool", "self": "Tensor",
}  # fmt: skip


class Gradients:
    """Finds the helper functions of derivative formulas in one tree."""

    def __init__(self, index: Index, home: str = HOME) -> None:
        self._index = index
        self._home = home

    def helpers(self, operator: Operator) -> tuple[Helper, ...]:
        """The helpers that the formulas of an operator call, in order, each once."""
        if operator.autograd is None:
            return ()
        around = names_in_formulas(operator)
        found: dict[tuple[str, int], Helper] = {}
        for formula in operator.autograd.formulas:
            for defined in self.called(formula.text, around):
                found.setdefault((defined.path, defined.line), Helper(defined.name, Location(defined.path, defined.line)))
        return tuple(found.values())

    def called(self, text: str, around: Mapping[str, str]) -> list[Defined]:
        """The definitions of the functions that one formula calls."""
        found: list[Defined] = []
        self._expression([t for t in tokenize(text) if t.text.strip()], around, found)
        return found

    def _expression(self, tokens: Sequence[Token], around: Mapping[str, str], found: list[Defined]) -> str:
        """The class of an expression's type; helpers that it calls go to `found`."""
        parts = _split(tokens, "?", ":")
        if len(parts) > 1:
            classes = [self._expression(part, around, found) for part in parts]
            return next((c for c in classes[1:] if c != ANY), ANY)
        known = ANY
        at = 0
        operands = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind == "name":
                known, at = self._named(tokens, at, around, found)
                operands += 1
                continue
            if token.text in ("(", "{", "["):
                end = _closing(tokens, at)
                inner = [self._expression(part, around, found) for part in _split(tokens[at + 1 : end], ",")]
                if token.text == "(" and at == 0:
                    known = inner[0] if len(inner) == 1 else known
                elif token.text == "{":
                    known = "list"
                at = end + 1
                continue
            if token.text in ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "!") and "Tensor" not in known:
                self._expression(tokens[at + 1 :], around, found)
                return "bool"
            at += 1
        if len(tokens) == 1:
            return argument_class(tokens[0].text, around)
        return known

    def _named(self, tokens: Sequence[Token], at: int, around: Mapping[str, str], found: list[Defined]) -> tuple[str, int]:
        """A name with what follows: qualifiers, template arguments, a call, members."""
        name = tokens[at].text
        at += 1
        while at + 1 < len(tokens) and tokens[at].text == "::":
            name += "::" + tokens[at + 1].text
            at += 2
        at = _after_template(tokens, at)
        known = around.get(name, ANY)
        if at < len(tokens) and tokens[at].text == "(":
            end = _closing(tokens, at)
            classes = [self._expression(part, around, found) for part in _split(tokens[at + 1 : end], ",")]
            known = self._call(name, classes, found)
            at = end + 1
        while at + 1 < len(tokens) and tokens[at].text in (".", "->"):
            member = tokens[at + 1].text
            at = _after_template(tokens, at + 2)
            known = _MEMBERS.get(member, "Tensor" if known in ("Tensor", "Tensor?") else ANY)
            if at < len(tokens) and tokens[at].text == "(":
                end = _closing(tokens, at)
                for part in _split(tokens[at + 1 : end], ","):
                    self._expression(part, around, found)
                at = end + 1
        if at < len(tokens) and tokens[at].text == "[":
            end = _closing(tokens, at)
            known = known[:-2] if known.endswith("[]") else ANY
            at = end + 1
        return known, at

    def _call(self, name: str, classes: list[str], found: list[Defined]) -> str:
        """Resolve a call; the class of what it returns."""
        if name.startswith("at::") and not name.startswith("at::native::"):
            return "Tensor"
        if name in ("Tensor", "at::Tensor"):
            return "Tensor"
        if name in ("Scalar", "at::Scalar"):
            return "Scalar"
        last = bare(name)
        candidates = [d for d in self._index.named(last) if d.path.startswith(self._home) and d.fact.kind in FUNCTIONS and d.fact.kind != "method"]
        best = self._best(candidates, classes)
        if best is None:
            return "Tensor" if not name.startswith("std::") else ANY
        found.append(best)
        returns = best.fact.returns.replace("static", "").replace("inline", "").strip()
        return parameter_type(returns + " x") if returns else ANY

    def _best(self, candidates: list[Defined], classes: list[str]) -> Defined | None:
        ranked = []
        for order, defined in enumerate(candidates):
            low, high = self._bounds(defined)
            if not low <= len(classes) <= high:
                continue
            score = sum(_likeness(mine, parameter_type(p)) for mine, p in zip(classes, defined.fact.parameters, strict=False))
            ranked.append((-score, order, defined))
        ranked.sort(key=lambda item: item[:2])
        return ranked[0][2] if ranked else None

    def _bounds(self, defined: Defined) -> tuple[int, int]:
        low, high = bounds(defined.fact)
        for declared in self._index.declarations.get(defined.name, ()):
            theirs = declared.fact.parameters
            if len(theirs) == len(defined.fact.parameters) and all(
                parameter_type(a) == parameter_type(b) for a, b in zip(theirs, defined.fact.parameters, strict=True)
            ):
                low = min(low, bounds(declared.fact)[0])
        return low, high


def names_in_formulas(operator: Operator) -> dict[str, str]:
    """The classes of types of the names that a formula may use: arguments, results, forward-mode `_p` and `_t`."""
    known = dict(_NAMES)
    schema = schema_of(operator.schema)
    if schema is None:
        return known
    for argument in schema.arguments:
        kind = schema_type(argument.type)
        known[argument.name] = kind
        known[f"{argument.name}_p"] = known[f"{argument.name}_t"] = kind
    for number, returned in enumerate(schema.returns):
        kind = schema_type(returned.type)
        for name in {returned.name or f"result{number}", f"result{number}", "result" if len(schema.returns) == 1 else f"result{number}"}:
            known[name] = known[f"{name}_p"] = known[f"{name}_t"] = kind
        known[f"grad_{returned.name}"] = "Tensor"
    return known


def _likeness(mine: str, theirs: str) -> int:
    if mine == theirs and mine != ANY:
        return 5
    if ANY in (mine, theirs) or (mine == "int" and theirs in ("Scalar", "float", "int[]")):
        return 1
    if mine.rstrip("?") == theirs.rstrip("?"):
        return 4
    if (mine == "list" and "[]" in theirs) or (mine == "none" and theirs.endswith("?")):
        return 3
    return -6


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index].text in ("(", "[", "{")) - (tokens[index].text in (")", "]", "}"))
        if depth == 0:
            return index
    return len(tokens)


def _split(tokens: Sequence[Token], *marks: str) -> list[Sequence[Token]]:
    """Parts between marks that stand outside brackets; template arguments `f<a, b>(` stay together."""
    parts: list[Sequence[Token]] = []
    start = at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text in ("(", "[", "{"):
            at = _closing(tokens, at) + 1
            continue
        if text == "<" and (after := _after_template(tokens, at)) > at:
            at = after
            continue
        if text in marks:
            parts.append(tokens[start:at])
            start = at + 1
        at += 1
    if start < len(tokens) or parts:
        parts.append(tokens[start:])
    return parts


def _after_template(tokens: Sequence[Token], at: int) -> int:
    """Behind `<…>` when these are template arguments of a call, else where it was."""
    if at >= len(tokens) or tokens[at].text != "<":
        return at
    for index in range(at + 1, min(len(tokens), at + 24)):
        if tokens[index].text == ">":
            return index + 1 if index + 1 < len(tokens) and tokens[index + 1].text in ("(", "{") else at
        if tokens[index].kind == "punctuator" and tokens[index].text not in ("::", ",", "<", "*", "&"):
            return at
    return at
