# SPDX-License-Identifier: BSD-3-Clause
"""Finds the classes of types of what a function hands to calls, by which overloads of an operator are chosen: local variables
(`Storage storage(…); result.set_(storage, 0, {0}, {});`), elements of lists, results of operators and of functions, numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.link.conditions import closing
from cartographer.link.signatures import ANY, parameter_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.link.composites import Shape
    from cartographer.link.index import Index
    from cartographer.link.variables import Variables
    from cartographer.model.fact import Call

_MEMBER = re.compile(r"\.|->")
_OF_OPERATOR = re.compile(r"at::\w+|\w+(?:\.|->)\w+|\.\w+")  # what may be called without a namespace is C's `pow`, too
_ELEMENT = re.compile(r"(\w+)\[[^\[\]]*\]")
_CALL = re.compile(r"((?:\w+::)*\w+)\(")
_LAST_CALL = re.compile(r"[\w)\]]\.(\w+)(?=\()")
_ARITHMETIC = re.compile(r"[\w\s.+\-*/()]*[\w.)]\s*[-+*/][\w\s.+\-*/()]*")
_OPERAND = re.compile(r"(?<![\w.])(?:([A-Za-z_]\w*)|(\d[\w.]*|\.\d\w*))")
_CAST = re.compile(r"static_cast<\s*(?:(double|float)|int\d*(?:_t)?)\s*>\(|(?:c10::)?(pi)<(?:double|float)>")
_STORAGE = re.compile(r"\b(?:static|inline|virtual|constexpr|extern|[A-Z][A-Z0-9]*_[A-Z_]+)\b")
_FUNCTIONS = frozenset(("function", "declaration"))
_LISTS = frozenset(("Tensor[]", "Scalar[]", "int[]", "float[]", "bool[]"))
_NUMBERS = frozenset(("int", "float"))
_CONTAINERS = frozenset(("data", "size", "empty"))  # members that the containers of C++ have too
_LONGEST = 110  # the scanner cuts longer arguments


@dataclass(frozen=True, slots=True)
class Told:
    """What a function's text tells: its variables, which of them are tensors, the operators of a base name, the functions of the tree."""

    around: Mapping[str, str]
    variables: Variables
    is_tensor: Callable[[str], bool]
    of_base: Callable[[str], list[Shape]]
    index: Index

    def kinds(self, texts: Iterable[str]) -> dict[str, str]:
        """The classes of the types of arguments that are not known by their text alone, as far as declarations and values tell."""
        found = {}
        for text in texts:
            if text not in self.around and len(text) < _LONGEST and (kind := self._kind(text.strip())):
                found[text] = kind
        return found

    def _kind(self, text: str) -> str:
        if "?" in text:
            return ""  # either side
        if text.isidentifier():
            return self.around.get(text) or self._of_variable(text)
        if (match := _ELEMENT.fullmatch(text)) is not None:
            return kind[:-2] if (kind := self._kind(match[1])) in _LISTS else ""
        if text.endswith(")") and (kind := self._of_call(text)):
            return kind
        numbers = _CAST.sub(lambda m: "1." if m[2] else "1. * (" if m[1] else "1 * (", text)
        return self._of_numbers(numbers) if _ARITHMETIC.fullmatch(numbers) else ""

    def _of_variable(self, name: str) -> str:
        if name in self.variables.counted:
            return "int"
        written = self.variables.all_declared(name)
        if written:
            kinds = {parameter_type(f"{text} {name}") for text in written}
            return kinds.pop() if len(kinds) == 1 and ANY not in kinds else ""
        given = self.variables.results.get(name) or self.variables.last_member(name)
        return "Tensor" if given and _OF_OPERATOR.fullmatch(given) and self.is_tensor(name) else ""

    def _of_call(self, text: str) -> str:
        """The class of what a call gives: `at::f(…)`, `x.view(…)`, `wrapped_scalar_tensor(…)`."""
        match = _CALL.match(text)
        if match is not None and closing(text, match.end() - 1) == len(text) - 1:
            if match[1].startswith(("at::", "torch::")) and (shapes := self.of_base(match[1].rpartition("::")[2])):
                return _given(shapes)
            return self._of_function(match[1].rpartition("::")[2]) if not match[1].startswith("std::") else ""
        last = next((m for m in _LAST_CALL.finditer(text) if closing(text, m.end()) == len(text) - 1), None)
        return _given([s for s in self.of_base(last[1]) if s.method]) if last is not None and last[1] not in _CONTAINERS else ""

    def _of_function(self, name: str) -> str:
        """The class of what functions of the tree give, when all of one name give the same."""
        found = (*self.index.named(name), *self.index.declarations.get(name, ()))
        kinds = {parameter_type(f"{_STORAGE.sub('', d.fact.returns)} x") for d in found if d.fact.returns and d.fact.kind in _FUNCTIONS}
        return kinds.pop() if len(kinds) == 1 and ANY not in kinds else ""

    def _of_numbers(self, text: str) -> str:
        """The class of an arithmetic expression of numbers."""
        kinds = set()
        for name, literal in _OPERAND.findall(text):
            kind = self._kind(name) if name else "float" if "." in literal else "int"
            if kind not in _NUMBERS or (name and f"{name}(" in text):
                return ""
            kinds.add(kind)
        return "float" if "float" in kinds else "int" if kinds else ""


def _given(shapes: list[Shape]) -> str:
    """What operators of one name give: a tensor, where all do."""
    return "Tensor" if shapes and all(s.tensor for s in shapes) else ""


def on_tensor(call: Call, around: Mapping[str, str], path: str) -> bool:
    """Whether a member is called on a tensor: in native/cpu most receivers of unknown type are vectors (Vectorized<T>)."""
    if "/native/cpu/" not in path:
        return True
    receiver = _MEMBER.split(call.name)[0]
    return around.get(receiver, "").rstrip("?") == "Tensor"
