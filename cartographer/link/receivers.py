# SPDX-License-Identifier: BSD-3-Clause
"""Tells what a member is called on, as far as the text shows: `weight.sym_sizes().slice(1)` is a call on a list of sizes, not on a tensor.

A receiver is a variable or what a call gives. Variables are followed to their declaration, members to the methods of
PyTorch's own tensor class. What nothing tells may be a tensor.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.conditions import closing
from cartographer.link.signatures import ANY, parameter_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.link.composites import Operators
    from cartographer.link.index import Defined, Index
    from cartographer.link.variables import Variables
    from cartographer.model.fact import Call

_TENSORS = frozenset(("Tensor", "TensorBase"))  # aten/src/ATen/core/TensorBase.h, aten/src/ATen/templates/TensorBody.h
_CALLEE = re.compile(r"((?:::)?(?:\w+::)*(?:\w+(?:\.|->))*\w+)\s*(?:<[^<>();]*>)?\s*\(")
_MEMBER = re.compile(r"\s*(?:\.|->)\s*(\w+)\s*(?:<[^<>();]*>)?\s*\(")
_CALLED_BEFORE = re.compile(r"((?:::)?(?:\w+::)*(?:\w+(?:\.|->))*~?\w+|(?:\.|->)\s*\w+)\s*(?:<[^<>();]*>)?\s*\Z")
_OF_RESULT = re.compile(r"(?:(?<=\))\s*|^\s*)\.\s*(\w+)\s*(?:<[^()]*>)?\s*\(", re.MULTILINE)  # `).member(`, or the same at the beginning of a line
_END = re.compile(r"\s*;")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WRITTEN = re.compile(r"^(?:(?:static|virtual|inline|constexpr|const|C10_\w+)\s+)+")
_OWNERS = ("std::optional", "std::shared_ptr", "std::unique_ptr", "std::reference_wrapper", "std::decay", "std::conditional", "std::remove")
_OWNED = "MaybeOwned<Tensor>"  # c10/util/MaybeOwned.h
_LINES = 12  # of one expression
_CALLS = 20  # in one expression


@dataclass
class Receivers:
    """Judges what members are called on in one tree; `lines` gives lines of a file."""

    index: Index
    operators: Operators
    lines: Callable[[str, int, int], list[str]]
    _given: dict[str, bool] = field(default_factory=dict, repr=False)
    _methods: dict[str, bool] = field(default_factory=dict, repr=False)

    def is_no_tensor(self, call: Call, inside: Defined, order: int, variables: Callable[[Defined], Variables]) -> bool:
        """Whether a member is certainly called on something other than a tensor."""
        receiver, _, member = call.name.partition(".")
        if not self._of_others(member):
            return False
        if receiver:
            return _IDENTIFIER.fullmatch(receiver) is not None and self._variable(receiver, variables(inside))
        if inside.use is not None or not self._may_follow(call, inside, order):
            return False
        callee = self._before(call, inside, order)
        return bool(callee) and self._gives_none(callee)

    def owns_tensor(self, name: str, variables: Variables) -> bool:
        """Whether a variable is a `c10::MaybeOwned<Tensor>`: `auto [a, b] = expand_outplace(self, other);`, `a->add(*b)`."""
        function = variables.bindings.get(name) or variables.results.get(name, "")
        if not function or "." in function or ">" in function:
            return _OWNED in variables.declared(name)
        last = function.rpartition("::")[2]
        return any(_OWNED in d.fact.returns for d in (*self.index.named(last), *self.index.declarations.get(last, ())))

    def _variable(self, name: str, variables: Variables) -> bool:
        """Whether a variable's declarations tell that it is no tensor."""
        begun = variables.begun.get(name)
        if begun is None:
            return _no_tensor(variables.written_class(name))
        return all(self._ends_in_none(given_by(variables.text, at)) for at in begun)

    def _ends_in_none(self, callees: tuple[str, ...]) -> bool:
        """Whether calls, each of a member of what the one before gives, end in no tensor. `slice` of sizes is no operator."""
        none = bool(callees) and self._gives_none(callees[0])
        for member in callees[1:]:
            none = bool(self.operators.of_base(member)) if none else self._gives_none(f".{member}")
        return none

    def _of_others(self, member: str) -> bool:
        """Whether another class of the tree has a method of this name."""
        known = self._methods.get(member)
        if known is None:
            found = (*self.index.named(member), *self.index.declarations.get(member, ()))
            known = self._methods[member] = any(len(d.segments) > 1 and d.segments[-2][:1].isupper() and d.segments[-2] not in _TENSORS for d in found)
        return known

    def _may_follow(self, call: Call, inside: Defined, order: int) -> bool:
        """Whether one of the calls just before gives no tensor: only then has the text to be asked which one is meant."""
        for before in inside.whole.calls[max(0, order - _CALLS) : order]:
            if before.line > call.line - _LINES and self._gives_none(before.name):
                return True
        return False

    def _gives_none(self, callee: str) -> bool:
        """Whether what a call gives is no tensor."""
        known = self._given.get(callee)
        if known is None:
            known = self._given[callee] = self._told(callee)
        return known

    def _told(self, callee: str) -> bool:
        last = re.split(r"\.|->|::", callee)[-1].strip()
        member = "." in callee or "->" in callee
        if not member and callee.removeprefix("::").startswith("std::"):
            return False
        shapes = self.operators.of_base(last)
        if shapes:
            return all(s.metadata for s in shapes)
        if not member and parameter_type(last) != ANY:
            return _no_tensor(last)  # a conversion: SymFloat(x)
        found = (*self.index.named(last), *self.index.declarations.get(last, ()))
        given = [d.fact.returns for d in found if d.fact.returns and (not member or (d.segments[-2:-1] and d.segments[-2] in _TENSORS))]
        return bool(given) and all(map(_no_tensor, given))

    def _before(self, call: Call, inside: Defined, order: int) -> str:
        """The call whose result a member is called on: `.slice` in `f(g(x)).slice(1)` -> `f`; "" when it cannot be told."""
        member = call.name.lstrip(".").strip()
        first = max(inside.fact.line, call.line - _LINES)
        text = "\n".join(self.lines(inside.path, first, call.line))
        places = (m.start() for m in _OF_RESULT.finditer(text, text.rfind("\n") + 1) if m[1] == member)
        before = sum(c.line == call.line and c.name == call.name for c in inside.whole.calls[max(0, order - _CALLS) : order])
        at = next(itertools.islice(places, before, None), -1)
        return _callee_before(text, at) if at >= 0 else ""


@lru_cache(maxsize=4096)
def _no_tensor(written: str) -> bool:
    """Whether a type, as written, is surely no tensor."""
    plain = _WRITTEN.sub("", written.strip())
    kind = parameter_type(plain) if plain else ANY
    if kind != ANY:
        return kind.rstrip("?") != "Tensor"
    return plain.startswith("std::") and not plain.startswith(_OWNERS)


def given_by(text: str, at: int) -> tuple[str, ...]:
    """The calls in a chain of members, each on the result of the one before: `f`, `g` of `f(x).g();`; () when
    the expression is anything else.
    """
    match = _CALLEE.match(text, at)
    callees: list[str] = []
    while match is not None:
        callees.append(match[1])
        end = closing(text, match.end() - 1)
        match = _MEMBER.match(text, end + 1) if end >= 0 else None
        if match is None and end >= 0 and _END.match(text, end + 1):
            return tuple(callees)
    return ()


def _callee_before(text: str, at: int) -> str:
    """The name of the call that ends before `at`."""
    end, depth = len(text[:at].rstrip()) - 1, 0
    if end < 0 or text[end] != ")":
        return ""
    opening, closed = text.rfind("(", 0, end), end
    while opening >= 0:
        depth += text.count(")", opening + 1, closed + 1) - 1
        if depth == 0:
            match = _CALLED_BEFORE.search(text, max(0, opening - 200), opening)
            return re.sub(r"\s", "", match[1]) if match is not None else ""
        opening, closed = text.rfind("(", 0, opening), opening
    return ""
