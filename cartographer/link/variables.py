# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the local variables of a function are, as far as its text tells: lambdas, functors, aliases of classes."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.conditions import closing
from cartographer.link.device import asks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A pattern that begins with a fixed word is looked for by that word alone; what has to stand before it is checked afterwards.
_CLASS_BEFORE = re.compile(
    r"(?<!\w)([A-Z][\w:]*+|[a-z]\w*+::[\w:]++)(?:[ \t]*+<[^;{}<>\n]*(?:<[^;{}<>\n]*>[^;{}<>\n]*)*>)?(?:[ \t]*[&*][ \t]++|[ \t]++)[&*]?\Z"
)
_DECLARES = re.compile(r"\s*[;({=]")  # what follows the name of a variable that is declared
_BEFORE_NAME = frozenset(" \t&*")
_DECLARED = re.compile(r"[ \t&*]([A-Za-z_]\w*+)(?=\s*[;({=])")
_NAME = re.compile(r"[A-Za-z_]\w*").fullmatch
_IS_VARIABLE = re.compile(r"[a-z_]\w*").fullmatch
_LAMBDA = re.compile(r"=\s*(?=\[[^\[\]]*\]\s*((?:(?:[A-Z][A-Z0-9_]*|__\w+__)\s*)*)(?:\(|\{|mutable\b|->))")
_BLOCK = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=\s*\^\s*(?=[\w({])")
_WORD = re.compile(r"(?<![=!<>])=\s*\"(\w+)\"\s*[;+]")
_SIDES = re.compile(r"(?<![=!<>])=[^=;{}\"]*\?\s*\"(\w+)\"\s*:\s*\"(\w+)\"\s*;")
_NAME_BEFORE = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*\Z")
_LONGEST_TYPE = 1000  # characters of a written type
_LONGEST = 200  # characters of a name and the white space behind it
_ALIAS = re.compile(r"using(?<!\wusing)\s+([A-Za-z_]\w*)\s*=\s*(?:typename\s+)?((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?=[<;])")
_OF_ALIAS = re.compile(r"(?<![\w:.>])([a-z]\w*_t|[a-z]\w*)[ \t]+([a-z_]\w*)\s*[({]")
_RESULT = re.compile(r"auto(?<!\wauto)\s*[&*]?\s*([A-Za-z_]\w*)\s*=\s*((?:(?:\w+::)*|\w+(?:->|\.))\w+)\s*\([^;{}]*\)\s*;")
_BINDING = re.compile(r"auto(?<!\wauto)\s*&*\s*\[([^\[\]]*)\]\s*=\s*((?:\w+::)*\w+)\s*\(")
_ASSIGNED = re.compile(r"auto(?<!\wauto)\s*+[*&]?\s*+([a-z]\w*+)\s*+=\s*+([^;(){}=\[\]]*);")
_FLAG = re.compile(r"(?:auto|bool)(?<!\wauto)(?<!\wbool)\s++(\w++)\s*+=\s*+([^;{}]*(?:is_\w+\(|[!=]=\s*(?:at::|c10::)?(?:k|DeviceType::))[^;{}]*);")
_GIVEN = re.compile(r"(?:auto|bool)(?<!\wauto)(?<!\wbool)\s+(\w+)\s*=\s*(\w+)\.(has_value|defined)\(\)\s*;")
_BORROWED = re.compile(r"borrow_from_optional_tensor(?<!\wborrow_from_optional_tensor)\(\s*(\w+)\s*\)")
_SET_TO = re.compile(r"(?<!\w)(\w++)\s*+=\s*+\*?\s*+\(?\s*+(?:at::)?\Z")
_TYPE_BEFORE = re.compile(r"(?<![\w.>:])((?:const\s+)?(?:\w+::)*([A-Za-z_]\w*)(?:\s*<[^;{}()]*>)?[ \t]*[&*]*)[ \t]*[&*]*\Z")
_STRING_SIDE = re.compile(r"if(?<!\wif)\s*\(\*?(\w+) == \"(\w[\w-]*)\"\)\s*\{([^{}]*)\}")
_CONSTANT = re.compile(r"(?<![\w.>])(\w+) = (true|false|(?:\w+::)*[A-Z]\w+);")
_COUNTED = re.compile(r"auto(?<!\wauto)\s+(\w+)\s*:\s*(?:c10::)?irange\(")
_BEGUN = re.compile(r"auto(?<!\wauto)\s*[&*]*\s*([A-Za-z_]\w*)\s*=\s*")
_LAST_MEMBER = re.compile(r"\([^;{}]*\)(\.\w+)\([^;(){}]*\);")
_NO_VALUE = re.compile(r"(?<![\w:.])(?:at::)?Tensor ((?:\w+, *)*\w+) *;")
_ONCE_USED = 2  # times that a name stands that is declared, and then used once
_KEYWORDS = frozenset(("return", "else", "new", "delete", "throw", "case", "goto", "typename", "auto", "const"))


class Setting(NamedTuple):
    """What a variable is set to, and the lines of it."""

    text: str
    first: int
    last: int
    declares: bool  # it stands in the declaration, so that there is no other value before

    def holds(self, line: int) -> bool:
        """Whether a line is one of it."""
        return self.first <= line <= self.last


class Variables:
    """The names that a function's body declares; each kind is read when it is first asked for."""

    def __init__(self, text: str, first: int) -> None:
        """`text` is that of the function; `first` the line of the file with which it begins."""
        self.text = text
        self._first = first

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Names that `using` declares, with the classes that they stand for."""
        return {m[1]: m[2] for m in _ALIAS.finditer(self.text)}

    @cached_property
    def lambdas(self) -> dict[str, tuple[int, bool]]:
        """Variables that hold a lambda: its line, and whether it is marked for a device (`GPU_LAMBDA`, `__device__`)."""
        return {name: (self._line(match.end()), bool(match[1])) for name, match in self._of_lambdas}

    @cached_property
    def spans(self) -> dict[str, tuple[int, int]]:
        """Variables that hold a lambda and are set once, with the first and last line of the lambda."""
        found: dict[str, list[tuple[int, int]]] = {}
        for name, match in self._of_lambdas:
            opening = self.text.find("{", match.end())
            if opening >= 0:
                end = closing(self.text, opening)
                lines = (self._line(match.end()), self._line(end if end >= 0 else len(self.text)))
                found.setdefault(name, []).append(lines)
        return {name: lines[0] for name, lines in found.items() if len(lines) == 1}

    @cached_property
    def _of_lambdas(self) -> list[tuple[str, re.Match[str]]]:
        """The variables that are set to a lambda, in the order of the text."""
        found = ((self._name_before(_NAME_BEFORE, match), match) for match in _LAMBDA.finditer(self.text))
        return [(name, match) for name, match in found if name]

    def _name_before(self, pattern: re.Pattern[str], match: re.Match[str]) -> str:
        """The name that a pattern finds before a place; "" when there is none."""
        name = pattern.search(self.text, max(0, match.start() - _LONGEST), match.start())
        return name[1] if name is not None else ""

    def _line(self, offset: int) -> int:
        return self._first + self.text.count("\n", 0, offset)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Variables that hold a block of Objective-C."""
        return frozenset(_BLOCK.findall(self.text)) if "^" in self.text else frozenset()

    @cached_property
    def literals(self) -> list[str]:
        """The words that variables are set to or begin with: `func_name = "digamma";`, `kernel_name = "fused_adam_" + …`."""
        return _WORD.findall(self.text)

    @cached_property
    def sides(self) -> list[str]:
        """The words between which a variable's conditional operator chooses: `suffix = iter.is_contiguous() ? "dense" : "strided";`."""
        return [word for pair in _SIDES.findall(self.text) for word in pair]

    def settings(self, name: str) -> list[Setting]:
        """What a variable is set to, in the order of the text; nothing for one that is also added to."""
        if not _NAME(name) or re.search(rf"(?<![\w.>]){name}\s*\+=", self.text):
            return []
        found = re.finditer(rf"(?<![\w.>]){name}\s*=(?!=)\s*([^;]*);", self.text)
        return [Setting(m[1], self._line(m.start(1)), self._line(m.end(1)), self._declares(m.start())) for m in found]

    def _declares(self, at: int) -> bool:
        """Whether a type, or `auto`, stands on the same line before the name that begins at a place."""
        found = _TYPE_BEFORE.search(self.text, self._line_before(at), at)
        return found is not None and (found[2] == "auto" or found[2] not in _KEYWORDS)

    @cached_property
    def assigned(self) -> dict[str, str]:
        """Variables by name, with the text that they are set to when that calls nothing."""
        return {m[1]: m[2] for m in _ASSIGNED.finditer(self.text)}

    @cached_property
    def flags(self) -> dict[str, str]:
        """Variables that hold whether a tensor is on a device: `const auto cpu = A.device() == kCPU;` -> `A.device() == kCPU`; and variables
        that hold whether an optional has a value.
        """
        found = ((m[1], m[2].strip()) for m in _FLAG.finditer(self.text))
        return {**{name: text for name, text in found if asks(text)}, **self._given}

    @property
    def _given(self) -> dict[str, str]:
        """Variables that hold whether an optional has a value, asked of it or of the tensor in it: `const bool backward =
        grad.defined();` after `const Tensor& grad = *(at::borrow_from_optional_tensor(grad_opt));` -> `grad_opt.has_value()`.
        """
        meant = ((flag, name if how == "has_value" else self._borrowed.get(name, "")) for flag, name, how in self._questions)
        return {flag: f"{name}.has_value()" for flag, name in meant if name}

    @cached_property
    def _questions(self) -> list[tuple[str, str, str]]:
        """Variables that hold whether an optional has a value, or a tensor is defined: the variable, what it asks, and how."""
        return _GIVEN.findall(self.text)

    @cached_property
    def _borrowed(self) -> dict[str, str]:
        """Variables for the tensors in optionals, by the names of these."""
        found = ((self._name_before(_SET_TO, match), match[1]) for match in _BORROWED.finditer(self.text))
        return {name: optional for name, optional in found if name}

    @cached_property
    def of_tensors(self) -> dict[str, str]:
        """What is asked about tensors that may be undefined, in words that a call decides: `has_out` is `out.defined()`, and `std_t.defined()` is
        `std_opt.has_value()` where that tensor is borrowed from the optional.
        """
        flags = {flag: f"{name}.defined()" for flag, name, how in self._questions if how == "defined" and name not in self._borrowed}
        return {**flags, **{f"{name}.defined()": f"{optional}.has_value()" for name, optional in self._borrowed.items()}}

    def is_undefined(self, name: str) -> bool:
        """Whether a variable is a tensor that is declared without a value, `at::Tensor result, unused;`, and named in one call alone: what is named
        more often may be set by a call.
        """
        return name in self._without_value and len(re.findall(rf"\b{name}\b", self.text)) == _ONCE_USED

    @cached_property
    def _without_value(self) -> frozenset[str]:
        """The tensors that are declared without a value."""
        return frozenset(name for names in _NO_VALUE.findall(self.text) for name in re.findall(r"\w+", names))

    def is_of_lambda(self, name: str) -> bool:
        """Whether a lambda has a parameter of this name."""
        return re.search(rf"\]\s*\([^()]*\b{name}\s*[,)]", self.text) is not None

    @cached_property
    def by_string(self) -> dict[tuple[str, str], dict[str, str]]:
        """What variables are set to when a string has a value, by the string's name and that value: `if (mode == "nearest") { kind = KindNearest; } else if …`;
        only variables that are set nowhere else after their declaration.
        """
        if ' == "' not in self.text:
            return {}
        found = [((m[1], f'"{m[2]}"'), dict(_CONSTANT.findall(m[3]))) for m in _STRING_SIDE.finditer(self.text)]
        settings = [name for _, sides in found for name in sides]
        before = {name: value for name, value in reversed(_CONSTANT.findall(self.text)) if name in settings}  # the first stays
        once = {n for n in before if len(re.findall(rf"(?<![\w.>]){n}\s*=(?!=)", self.text)) == settings.count(n) + 1}
        return {key: {name: sides.get(name, before[name]) for name in sorted(once)} for key, sides in found}

    @cached_property
    def results(self) -> dict[str, str]:
        """Variables by name, with the function whose result they hold."""
        return {m[1]: m[2] for m in _RESULT.finditer(self.text)}

    @cached_property
    def bindings(self) -> dict[str, str]:
        """Names that take a tuple apart, by the function that gives it: `auto [a, b] = f(…);`."""
        return {name.strip(): m[2] for m in _BINDING.finditer(self.text) for name in m[1].split(",")}

    @cached_property
    def counted(self) -> frozenset[str]:
        """Variables that count the rounds of a loop: `for (const auto i : c10::irange(n))`."""
        return frozenset(_COUNTED.findall(self.text)) if "irange(" in self.text else frozenset()

    def last_member(self, name: str) -> str:
        """The last member that is called in the expression in brackets that a variable without a written type is set to:
        `.sum` of `auto x = (a * b).sum(1);`.
        """
        for at in self.begun.get(name, ()):
            if self.text[at : at + 1] == "(" and (match := _LAST_MEMBER.match(self.text, at)) is not None:
                return match[1]
        return ""

    @cached_property
    def begun(self) -> dict[str, list[int]]:
        """Variables without a written type, with the offsets in the text at which the expressions begin that they are set to."""
        found: dict[str, list[int]] = {}
        for match in _BEGUN.finditer(self.text):
            found.setdefault(match[1], []).append(match.end())
        return found

    @cached_property
    def _of_aliases(self) -> dict[str, str]:
        """Variables whose class is written as an alias, by what it stands for."""
        found = []
        for alias, cls in self.aliases.items():
            at = self.text.find(alias) if alias not in _KEYWORDS else -1
            while at >= 0:
                if (match := _OF_ALIAS.match(self.text, at)) is not None and match[1] == alias:
                    found.append((at, match[2], cls))
                at = self.text.find(alias, at + 1)
        return {name: cls for _, name, cls in sorted(found)}

    def written_class(self, name: str) -> str:
        """The class of a variable as its last declaration has it; "" when nothing declares it."""
        return self._of_aliases.get(name) or self._declared(name)

    def _declared(self, name: str) -> str:
        """The class before the last place that looks like a declaration: `Foo<T>& name =`."""
        if not _IS_VARIABLE(name):
            return ""
        for at in self._places(name):
            match = _CLASS_BEFORE.search(self.text, self._line_before(at), at)
            if match is not None:
                return match[1]
        return ""

    def declared(self, name: str) -> str:
        """The type, as written, of a variable as its last declaration has it, that of a number too; "" when nothing tells it."""
        return next(self._types(name), "")

    def all_declared(self, name: str) -> set[str]:
        """The types, as written, of all variables of a name that are declared in the function, those without one included."""
        return set(self._types(name))

    def _types(self, name: str) -> Iterator[str]:
        """The types written before a name where it is declared, that of the last declaration first."""
        for at in self._places(name):
            match = _TYPE_BEFORE.search(self.text, self._line_before(at), at)
            if match is not None and match[2] not in _KEYWORDS:
                yield self.text[match.start() : at].strip()

    def _line_before(self, at: int) -> int:
        """Where what stands before an offset begins: its line, or as much of it as a type may take."""
        return max(self.text.rfind("\n", 0, at) + 1, at - _LONGEST_TYPE)

    def _places(self, name: str) -> Iterable[int]:
        """Where a name looks like that of a variable that is declared, the last place first."""
        if _NAME(name):
            return reversed(self._declarations.get(name, ()))
        return self._places_of_text(name)

    def _places_of_text(self, name: str) -> Iterator[int]:
        """The same for what is no plain name."""
        at = self.text.rfind(name)
        while at >= 0:
            if _DECLARES.match(self.text, at + len(name)) and self.text[at - 1 : at] in _BEFORE_NAME:
                yield at
            at = self.text.rfind(name, 0, at)

    @cached_property
    def _declarations(self) -> dict[str, list[int]]:
        """All such places by name."""
        found: dict[str, list[int]] = {}
        for match in _DECLARED.finditer(self.text):
            found.setdefault(match[1], []).append(match.start(1))
        return found

    def class_of(self, name: str) -> str:
        """The class of a variable, its alias resolved: `Gemm gemm_op;` -> `cutlass::gemm::device::GemmUniversalBase`."""
        return self.meant(self.written_class(name))

    def meant(self, name: str) -> str:
        """The class that a name stands for, with at most one alias resolved."""
        return self.aliases.get(name, name)

    def __contains__(self, name: str) -> bool:
        return name in self.lambdas or name in self.assigned or bool(self.written_class(name))
