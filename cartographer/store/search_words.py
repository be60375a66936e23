# SPDX-License-Identifier: BSD-3-Clause
"""Splits names into the words of the full-text index, and turns what people type into its queries."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# The order is the order of answers; a kind's place is part of the index (schema.sql, table search).
KINDS = ("operator", "python", "binding", "node", "kernel", "stub", "file", "generated", "symbol")

_IDENTIFIER = r"\w+"
_MANY = 1 << 13  # names that are taken apart at once
_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"


@cache
def _finders() -> tuple[Callable[[str], list[str]], ...]:
    """Compiled when an index is written: a look-up does without."""
    return re.compile(_IDENTIFIER).findall, re.compile(_PART).findall, re.compile(rf"{_PART}|\n").findall


def words_of(names: Sequence[str]) -> Iterator[str]:
    """For each name, a text of its words as `words` gives them, some perhaps repeated: thousands of names are split at once."""
    of_lines = _finders()[2]
    for start in range(0, len(names), _MANY):
        some = names[start : start + _MANY]
        lines = "\n".join([name if name.isascii() and "\n" not in name else "" for name in some])
        parts = " ".join(of_lines(lines)).lower().split("\n")
        for name, lowered, parted in zip(some, lines.lower().split("\n"), parts, strict=True):
            yield f"{lowered} {parted}" if lowered else words(name)


def words(text: str) -> str:
    """Split a name into words: `FunctionsManual::sumBackward2` -> "functionsmanual functions manual sumbackward2 sum backward 2"."""
    identifiers, parts, _ = _finders()
    found: dict[str, None] = {}
    for identifier in identifiers(text):
        found[identifier.lower()] = None
        for part in parts(identifier):
            found[part.lower()] = None
    return " ".join(found)


def question(text: str, *, any_word: bool = False) -> str:
    """The FTS5 query for what a person typed: every identifier (or any of them) must occur, as a word or as the beginning of one."""
    return (" OR " if any_word else " AND ").join(f'"{identifier.lower()}"*' for identifier in re.findall(_IDENTIFIER, text))


def plain(symbol: str) -> str:
    """The last name in a C++ symbol: `void at::native::f<4, at::X<float>>(int)` -> `f`; `TORCH_IMPL_FUNC(mul_out)` -> `mul_out`."""
    if symbol.replace("::", "").isidentifier() and not symbol.endswith(("::impl", "::meta")):
        return symbol.rpartition("::")[2]
    text = symbol.strip()
    macro = re.fullmatch(r"[A-Z][A-Z0-9_]+\(\s*([\w:]+).*\)", text)
    if macro:
        text = macro[1]
    text = text.replace("(anonymous namespace)", "anonymous").replace("(anonymous)", "anonymous")
    text = without_brackets(text)
    text = text.partition("(")[0].strip().rpartition(" ")[2] if not text.startswith("operator") else text
    parts = text.split("::")
    if (
        parts[-1] in ("impl", "meta") and len(parts) > 1
    ):  # structured_mul_out::impl is what TORCH_IMPL_FUNC(mul_out) defines
        return parts[-2].removeprefix("structured_")
    return parts[-1].lstrip("&*~")


def without_brackets(text: str) -> str:
    """`text` without template arguments, however deep."""
    if "<" not in text:
        return text
    kept, depth = [], 0
    for character in text:
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return "".join(kept)
