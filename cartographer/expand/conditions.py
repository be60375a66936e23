# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates `#if` conditions with three answers: they hold in a view of the build, they do not, or it cannot be told."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from cartographer.expand.tokens import tokenize
from cartographer.model.fact import ALTERNATIVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.expand.tokens import Token

# What a name is worth: 0 or 1 for switches, a number for versions, None when unknown, and False when it is not defined.
Value = int | None
NEWEST = 10**9  # what versions of CUDA, cuDNN and compilers count as: a build has current ones
_PRECEDENCE = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}  # fmt: skip


def evaluate(condition: str, value_of: Callable[[str], Value], defined: Callable[[str], Value]) -> bool | None:
    """Whether a condition holds. `value_of(name)` gives a macro's number, `defined(name)` 1 or 0, both None when
    unknown; a function-like use `AT_MKLDNN_ENABLED()` asks for the name's value.
    """
    reader = _Reader([t for t in tokenize(condition) if t.text.strip()], value_of, defined)
    try:
        value = reader.binary(0)
    except RecursionError:  # nested beyond what a compiler would take
        return None
    return None if value is None or reader.left() else bool(value)


def combined(answers: list[bool | None]) -> bool | None:
    """Whether all of some conditions hold: False as soon as one is False, None when one is unknown."""
    if any(a is False for a in answers):
        return False
    return None if any(a is None for a in answers) else True


class _Reader:
    """A precedence climber over the tokens of one condition."""

    def __init__(self, tokens: list[Token], value_of: Callable[[str], Value], defined: Callable[[str], Value]) -> None:
        self._tokens = tokens
        self._at = 0
        self._value_of = value_of
        self._defined = defined

    def left(self) -> bool:
        return self._at < len(self._tokens)

    def _peek(self) -> str:
        text = self._tokens[self._at].text if self.left() else ""
        return ALTERNATIVES.get(text, text)

    def _next(self) -> str:
        text = self._peek()
        self._at += 1
        return text

    def binary(self, least: int) -> Value:
        value = self._unary()
        while (level := _PRECEDENCE.get(self._peek(), 0)) > least:
            sign = self._next()
            value = _apply(sign, value, self.binary(level))
        return value

    def _unary(self) -> Value:
        text = self._next()
        if text == "!":
            inner = self._unary()
            return None if inner is None else int(not inner)
        if text in ("-", "+"):
            inner = self._unary()
            return None if inner is None else (-inner if text == "-" else inner)
        if text == "(":
            value = self.binary(0)
            if self._peek() == ")":
                self._next()
            return value
        if text == "defined":
            return self._defined_operand()
        if text[:1].isdigit():
            found = re.match(r"0[xX][0-9a-fA-F]{1,40}|\d{1,40}", text.replace("'", ""))
            return int(found.group(), 0) if found and not re.match(r"0\d", text) else 0
        value = self._value_of(text) if text[:1].isalpha() or text[:1] == "_" else None
        if self._peek() == "(":
            arguments = self._skip_parentheses()
            return value if arguments == 0 else None
        return value

    def _defined_operand(self) -> Value:
        if self._peek() == "(":
            self._next()
            name = self._next()
            if self._peek() == ")":
                self._next()
        else:
            name = self._next()
        return self._defined(name)

    def _skip_parentheses(self) -> int:
        depth = inside = 0
        while self.left():
            text = self._next()
            depth += (text == "(") - (text == ")")
            if depth == 0:
                break
            inside += text not in "()"
        return inside


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip


def _apply(sign: str, left: Value, right: Value) -> Value:
    """One binary operator; `&&` and `||` may be told although one side is unknown."""
    if sign in ("&&", "||"):
        decided = int(sign == "||")
        if any(side is not None and int(bool(side)) == decided for side in (left, right)):
            return decided
        return None if left is None or right is None else 1 - decided
    if left is None or right is None or (sign in "/%" and right == 0):
        return None
    return int(_ARITHMETIC[sign](left, right))
