# SPDX-License-Identifier: BSD-3-Clause
"""Brackets: which closes which, where a list splits. All work on texts without comments and string contents."""

from __future__ import annotations

import re

from cartographer.scan.preprocess import folded, real_text

_PARENS = re.compile(r"[()]")
_LIST = re.compile(r"[(){}\[\]<>,]")
_TEMPLATE = re.compile(r"[<>(){};]|&&(?=\s*\w)|\|\|")
_PAIR = {")": "(", "]": "[", "}": "{"}
CUT = 120
_DEEPEST = 100  # of template lists in one another
_MOST_TRIES = 200  # template lists looked for among the arguments of one call


def split_commas(text: str, opening: str = "([{", closing: str = ")]}") -> list[str]:
    """The parts of a list, without the white space around them, split at the commas that stand in none of these brackets."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in opening) - (sign in closing)
        if sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def brace_table(code: str) -> dict[int, int]:
    """Opening brace to closing brace, for a whole file; an unclosed one ends with the file."""
    table: dict[int, int] = {}
    stack: list[int] = []
    opening, closing = code.find("{"), code.find("}")
    while opening >= 0 or closing >= 0:
        if 0 <= opening < closing or closing < 0:
            stack.append(opening)
            opening = code.find("{", opening + 1)
        else:
            if stack:
                table[stack.pop()] = closing
            closing = code.find("}", closing + 1)
    for at in stack:
        table[at] = len(code)
    return table


class Parens:
    """Which parenthesis closes which, found by need; a file with open ones is counted through once."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._table: dict[int, int] | None = None

    def close(self, opening: int, limit: int) -> int:
        """The offset of the parenthesis that closes the one at `opening`, or -1."""
        if self._table is not None:
            found = self._table.get(opening, -1)
            return found if found < limit else -1
        depth = 0
        at, closing = opening, self._code.find(")", opening, limit)
        while closing >= 0:
            depth += self._code.count("(", at, closing) - 1
            if depth == 0:
                return closing
            at, closing = closing, self._code.find(")", closing + 1, limit)
        self._table = self._count()
        return -1

    def _count(self) -> dict[int, int]:
        table: dict[int, int] = {}
        stack: list[int] = []
        for m in _PARENS.finditer(self._code):
            if m[0] == "(":
                stack.append(m.start())
            elif stack:
                table[stack.pop()] = m.start()
        return table


def close_angle(  # noqa: C901, PLR0912 - one sign a branch
    code: str, opening: int, limit: int, *, header: bool = False,
) -> int:
    """The offset of the `>` that closes the template bracket at `opening`, or -1 if it is a comparison.

    A template's own header (`header`) may hold conditions joined by && and ||.
    """
    depth = 1
    parens = 0
    for m in _TEMPLATE.finditer(code, opening + 1, min(limit, opening + 2000)):
        at = m.start()
        c = code[at]
        if header and c in "<>" and code[at - 1] == " " and code[at + 1 : at + 2] in (" ", "="):
            continue  # a comparison
        if c == "<":
            if not parens:
                depth += 1
            if depth > _DEEPEST:
                return -1
        elif c == ">":
            if not parens and code[at - 1] != "-":
                depth -= 1
                if depth == 0:
                    return at
        elif c == "(":
            parens += 1
        elif c == ")":
            parens -= 1
            if parens < 0:
                return -1
        elif c == "{" and header:
            parens += 1
        elif c == "}" and header:
            parens -= 1
        elif c in ";{}" or not (parens or header):
            return -1
    return -1


def split(code: str, start: int, end: int) -> list[tuple[int, int]]:
    """The ranges of a list's items, split at top-level commas. Angle brackets count when they pair up."""
    if code.find(",", start, end) < 0:
        return [(start, end)] if code[start:end].strip() else []
    ranges: list[tuple[int, int]] = []
    depth = 0
    begin = start
    skip = start
    for m in _LIST.finditer(code, start, end):
        at = m.start()
        if at < skip:
            continue
        c = code[at]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "<":
            if depth == 0:
                close = close_angle(code, at, end)
                if close > 0:
                    skip = close + 1
        elif c == "," and depth <= 0:
            ranges.append((begin, at))
            begin = at + 1
    ranges.append((begin, end))
    return ranges if code[begin:end].strip() else ranges[:-1]


def items(code: str, plain: str, start: int, end: int, cut: int = 0) -> tuple[str, ...]:
    """The texts of a list's items, folded; each cut at `cut` characters when that is given."""
    text = code[start:end]
    if text == plain[start:end] and not (cut or "<" in text or "(" in text or "[" in text or "{" in text):
        parts = text.split(",")  # no bracket and no string: every comma separates
        if not parts[-1].strip():
            parts.pop()
        return tuple([" ".join(part.split()) for part in parts])
    texts = []
    for a, b in split(code, start, end):
        text = folded(real_text(plain[a : min(b, a + 8 * cut) if cut else b]))
        texts.append(text[:cut] if cut else text)
    return tuple(texts)


def true_commas(code: str, start: int, commas: list[int], end: int) -> list[int]:
    """Those of a list's top-level commas that do not stand between template brackets."""
    kept = []
    begin = start
    tries = 0
    inside = start  # the end of the last template list that was entered
    for comma in commas:
        if comma < inside:
            continue
        at = code.find("<", begin, comma)
        while at >= 0 and tries < _MOST_TRIES:
            tries += 1
            close = close_angle(code, at, end)
            if close > comma:
                inside = close
                break
            at = code.find("<", max(at, close) + 1, comma)
        if comma > inside or inside == start:
            kept.append(comma)
        begin = comma + 1
    return kept
