# SPDX-License-Identifier: BSD-3-Clause
"""Reads names backwards from the bracket that follows them: by far the cheapest way to meet each call once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.patterns import possessive
from cartographer.scan.preprocess import real_text

if TYPE_CHECKING:
    from cartographer.scan.preprocess import Source

# All of these match in the reversed text.
# A name, and the word or the type with template arguments that stands before it.
_NAME_BACK = possessive(
    r"\s*+([A-Za-z0-9_]++~?(?:\s*+(?:::|\.|>-)\s*+[A-Za-z0-9_]++)*+(?:\s*+(?:::|\.|>-))?+)"
    r"(?:\s++(?:([A-Za-z0-9_]++(?:::[A-Za-z0-9_]++)*+)|(>)))?+",
)
_ANGLE_BACK = re.compile(r"[<>(){};]|&&(?=\s*\w)|\|\|")
NO_CALLS = frozenset(
    ["if", "while", "for", "switch", "return", "sizeof", "alignof", "alignas", "decltype", "catch", "else", "do", "try", "case", "typeid", "noexcept", "and", "or", "not", "static_cast", "const_cast", "reinterpret_cast", "dynamic_cast", "new", "delete", "throw", "const", "defined", "__attribute__", "operator", "static_assert", "template", "typename", "class", "struct", "union", "enum", "namespace", "auto", "co_return", "co_await", "constexpr", "mutable", "__asm__", "asm", "void", "override", "final", "requires", "volatile"],
)


_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*$")
_CONDITIONS = frozenset(("if", "constexpr", "while", "for", "switch"))
NOT_TYPES = frozenset(
    ["return", "else", "case", "throw", "new", "delete", "co_return", "co_await", "co_yield", "and", "or", "not", "in", "goto", "do", "constexpr", "typename", "const", "static", "inline", "mutable", "volatile", "template"],
)
SCOPES = frozenset(("struct", "class", "union", "enum", "namespace"))


# A name, its template arguments, where it begins, the word before it, and the template arguments of that.
Named = tuple[str, str, int, str, str]


# What a parenthesis belongs to: a name and the form of its use, "" for none; the length from where that begins to the parenthesis;
# template arguments; a keyword instead.
Callee = tuple[str, str, int, str, str]
NOTHING: Callee = ("", "", 0, "", "")


def judged(name: str, template: str, length: int, word: str, of_type: str) -> Callee:
    """What the name before a parenthesis is, with the word and type before it; `length` is the distance of its beginning from the parenthesis."""
    if name in NO_CALLS:
        return ("", "", 0, "", name) if name in _CONDITIONS else NOTHING
    form = "call"
    if "." in name or "->" in name:
        form = "method"
    elif _CAPITALS.match(name):
        form = "macro"
    if word:
        if word == "new":
            form = "construct"
        elif word == "template":
            form, name = "method", "." + name
        elif word in SCOPES or word == "operator":
            return NOTHING
        elif word not in NOT_TYPES:
            return (word, "construct", length, of_type, "")  # Tensor out(x), std::vector<int> v(3)
    return (name, form, length, template, "")


@lru_cache(maxsize=1024)
def callee(text: str) -> Callee | None:
    """What the text between a parenthesis and the sign before it (a bracket, a comma, a semicolon) calls, as `judged` has it:
    most of these texts come again and again. None when what stands farther before has a say, for template arguments.
    """
    m = _NAME_BACK.match(text[::-1])
    if m is None:
        return None if text.rstrip().endswith(">") else NOTHING
    start = len(text) - m.end(1)
    name = text[start : len(text) - m.start(1)]
    if name[0].isdigit():
        return NOTHING
    if not name.isidentifier():
        name = "".join(name.split())
        if name.startswith("::") and text[start - 1 : start] == ">":
            return None
    if m.lastindex == 3:  # a type with template arguments
        return None
    return judged(name, "", m.end(1), m[2][::-1] if m.lastindex == 2 else "", "")


class Backwards:
    """Reads the names of one file backwards; offsets are those of the file."""

    def __init__(self, source: Source) -> None:
        self.code = source.code
        self.plain = source.plain
        self.text = source.code[::-1]

    def name(self, at: int, floor: int) -> Named | None:
        """The name that ends before the offset `at`; None when there is none."""
        back = self.text
        size = len(back)
        m = _NAME_BACK.match(back, size - at)
        template = ""
        if m is None:
            begin = at - 1
            while begin > floor and self.code[begin] in " \t\n":
                begin -= 1
            if self.code[begin] != ">":
                return None
            opening = self._open_angle(begin)
            if opening < 0 or (m := _NAME_BACK.match(back, size - opening)) is None:
                return None
            template = " ".join(real_text(self.plain[opening + 1 : begin]).split())
        start = size - m.end(1)
        name = self.code[start : size - m.start(1)]
        if start < floor or name[0].isdigit():
            return None
        if not name.isidentifier():
            name = "".join(name.split())
            if name.startswith("::") and self.code[start - 1] == ">":
                name, template = self._scoped(name, template, start)
        word, of_type = self._word(m, floor) if m.lastindex != 1 else ("", "")
        return name, template, start, word, of_type

    def _scoped(self, name: str, template: str, start: int) -> tuple[str, str]:
        """`Foo<T>::name`: the whole name, and T when the name has no arguments of its own."""
        opening = self._open_angle(start - 1)
        m = _NAME_BACK.match(self.text, len(self.text) - opening) if opening > 0 else None
        if m is None:
            return name, template
        scope = "".join(m.group(1)[::-1].split())
        return scope + name, template or " ".join(real_text(self.plain[opening + 1 : start - 1]).split())

    def _open_angle(self, closing: int) -> int:  # noqa: C901 - one sign a branch
        """The `<` of a template list that ends at `closing`, -1 when that is a comparison."""
        size = len(self.text)
        depth = parens = 0
        first = size - 1 - closing
        for m in _ANGLE_BACK.finditer(self.text, first, first + 2000):
            c = m[0]
            if c == ">":
                if not parens and self.text[m.end() : m.end() + 1] != "-":
                    depth += 1
            elif c == "<":
                if not parens:
                    depth -= 1
                    if depth == 0:
                        return size - 1 - m.start()
            elif c == ")":
                parens += 1
            elif c == "(":
                parens -= 1
                if parens < 0:
                    return -1
            elif c in ";{}" or not parens:
                return -1
        return -1

    def _word(self, m: re.Match[str], floor: int) -> tuple[str, str]:
        """The word before a name, with template arguments when it is a type that has some."""
        begin = len(self.text) - m.end()
        if begin < floor:
            return "", ""
        if m.group(2):
            return m.group(2)[::-1], ""
        opening = self._open_angle(begin)
        named = _NAME_BACK.match(self.text, len(self.text) - opening) if opening > 0 else None
        if named is None:
            return "", ""
        word = "".join(named.group(1)[::-1].split())
        if word in NO_CALLS:
            return "", ""
        return word, " ".join(real_text(self.plain[opening + 1 : begin]).split())
