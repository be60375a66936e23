# SPDX-License-Identifier: BSD-3-Clause
"""Reads what strings an expression can make: `fmt::format("{}_{}", name, dense ? "dense" : "strided")`, `name + "_" + (wide ? "wide" : "narrow")`.

Each string stands with the conditions that choose it; what cannot be told is a field, `{}`, in it, and a parameter of the function a named one, `{name}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.arguments import arguments_at
from cartographer.link.conditions import closing, negation, opposed, together, unbracketed
from cartographer.scan.choices import choices

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from cartographer.link.conditions import Conditions

FIELD = "{}"
MOST = 24  # strings that one expression makes; of what makes more, none is told
_DEPTH = 12
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'(\w)'")
_FORMAT = re.compile(r"(?:fmt::)?format\s*(?=\()")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")
_SIGNS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[()\[\]{}?+]")
Text = tuple[str, "Conditions"]


def composed(expression: str, look: Callable[[str], Iterable[Text]], parameters: Container[str] = ()) -> list[Text]:
    """The strings that an expression can make. `look` tells the expressions that a variable is set to, with the conditions of each; nothing when
    that cannot be told. A string that the expression's own conditions rule out is left out, and where there are too many, none is told.
    """
    return _Reader(look, parameters).read(expression)


def unnamed(text: str) -> str:
    """A string in which no field has a name."""
    return _NAMED.sub(FIELD, text)


def is_told(text: str) -> bool:
    """Whether a string is more than fields and what joins them."""
    return bool(unnamed(text).replace(FIELD, "").strip("_"))


def filled(text: str, values: Mapping[str, str]) -> str:
    """A string with the literals that are known for its named fields; "" when none is."""
    given = {name: value[1:-1] for name, value in values.items() if _LITERAL.fullmatch(value)}
    return unnamed(_NAMED.sub(lambda m: given.get(m[1], m[0]), text)) if any(m[1] in given for m in _NAMED.finditer(text)) else ""


class _Reader:
    """Reads an expression and the variables in it, each once; one that is part of itself is a field."""

    def __init__(self, look: Callable[[str], Iterable[Text]], parameters: Container[str]) -> None:
        self._look = look
        self._parameters = parameters
        self._known: dict[str, list[Text]] = {}

    def read(self, expression: str, depth: int = 0) -> list[Text]:
        text = _bare(expression)
        if depth > _DEPTH:
            return [(FIELD, ())]
        if (match := _LITERAL.fullmatch(text)) is not None:
            return [(match[1] or match[2] or "", ())]
        if _NAME.fullmatch(text):
            return self._variable(text, depth)
        if (sides := _sides(text)) is not None:
            return _all((self.read(side, depth + 1), (condition,)) for side, condition in sides)
        if len(parts := _summands(text)) > 1:
            return _joined([self.read(part, depth + 1) for part in parts])
        if (match := _FORMAT.match(text)) is not None and closing(text, match.end()) == len(text) - 1:
            return self._formatted(*arguments_at(text, match.end()), depth=depth)
        return [(FIELD, ())]

    def _variable(self, name: str, depth: int) -> list[Text]:
        known = self._known.get(name)
        if known is None:
            self._known[name] = [(FIELD, ())]  # while it is read
            unknown = f"{{{name}}}" if name in self._parameters else FIELD
            known = _all((self.read(setting, depth + 1), given) for setting, given in self._look(name)) or [(unknown, ())]
            self._known[name] = known
        return known

    def _formatted(self, form: str, *given: str, depth: int) -> list[Text]:
        literal = _LITERAL.fullmatch(form)
        if literal is None or literal[1].count(FIELD) != len(given):
            return [(FIELD, ())]
        begin, *between = literal[1].split(FIELD)
        pieces: list[list[Text]] = [[(begin, ())]]
        for value, piece in zip(given, between, strict=True):
            pieces.extend((self.read(value, depth + 1), [(piece, ())]))
        return _joined(pieces)


def _all(sides: Iterable[tuple[list[Text], Conditions]]) -> list[Text]:
    """The strings of several sides, each under its side's conditions too."""
    found = [(text, both) for texts, given in sides for text, inner in texts if (both := _possible(given, inner)) is not None]
    return found if len(found) <= MOST else [(FIELD, ())]


def _joined(parts: Iterable[list[Text]]) -> list[Text]:
    """Strings put one behind another, each with each that its conditions allow."""
    found: list[Text] = [("", ())]
    for part in parts:
        found = [(text + more, both) for text, given in found for more, inner in part if (both := _possible(given, inner)) is not None]
        if len(found) > MOST:
            return [(FIELD, ())]
    return found


def _possible(outer: Conditions, inner: Conditions) -> Conditions | None:
    """All conditions of two lists; None when one of them denies another."""
    if any(opposed(a, b) for a in outer for b in inner):
        return None
    return together(outer, inner)


def _sides(text: str) -> Iterator[tuple[str, str]] | None:
    """The two sides of a conditional operator that is the whole expression, with their conditions; None when it is none."""
    mark = next(_outside(text, "?"), None)
    if mark is None:
        return None
    found = [c for c in choices(text, 0, len(text)) if c.begin >= mark][:2]
    return ((text[c.begin + 1 : c.end], bare(c.condition)) for c in found) if len(found) > 1 else None


def _summands(text: str) -> list[str]:
    """What plus signs put together."""
    ends = [at for at in _outside(text, "+") if text[at : at + 2] != "++"]
    return [text[begin:end] for begin, end in zip([0, *(at + 1 for at in ends)], [*ends, len(text)], strict=True)]


def _outside(text: str, sign: str) -> Iterator[int]:
    """Where a sign stands outside of brackets and literals."""
    depth = 0
    for match in _SIGNS.finditer(text):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if match[0] == sign and depth == 0:
            yield match.start()


def _bare(expression: str) -> str:
    """An expression without white space, and brackets, around all of it."""
    text = expression.strip()
    while (inner := unbracketed(text)) != text:
        text = inner.strip()
    return text


def bare(condition: str) -> str:
    """A condition without brackets around all of it, those that its negation has apart."""
    denied = negation(condition)
    said = _bare(denied or condition)
    return f"!({said})" if denied else said
