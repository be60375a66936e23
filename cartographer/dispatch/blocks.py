# SPDX-License-Identifier: BSD-3-Clause
"""Finds the registration blocks of one C++ file: TORCH_LIBRARY and its family (torch/library.h, torch/csrc/stable/library.h),
RegisterOperators (aten/src/ATen/core/op_registration), and functions that take a Library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from cartographer.expand.expander import Expander

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cartographer.expand.macros import MacroTable
    from cartographer.expand.tokens import Token

# TORCH_LIBRARY, _FRAGMENT, _IMPL; 1.7 spelled the second TORCH_LIBRARY_FRAGMENT_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY.
BLOCK = re.compile(r"(?:STABLE_)?TORCH_LIBRARY(?:(_FRAGMENT)(?:_[A-Z_]+)?|(_IMPL))?\Z")
# What is read as it stands, and what it is made of in torch/library.h. Any other macro is looked into, whatever its name.
_BLOCK_FAMILY = re.compile(rf"{BLOCK.pattern}|(?:_|MAKE_)\w*TORCH_LIBRARY")
_UNKNOWN = re.compile(r"(?:STABLE_)?TORCH_LIBRARY_[A-Z_]+\Z")
_TAKES_LIBRARY = re.compile(r"Library\s*&\s*\w+\s*\)\s*\Z")  # how a head ends: `void TORCH_LIBRARY_init_##ns(torch::Library& m)`
_MENTIONS = (b"TORCH_LIBRARY", b"RegisterOperators", b"OperatorGenerator")
TEXT = itemgetter(1)  # of a token
_BEGIN = frozenset(("namespace", "RegisterOperators", "Library", "char"))  # names at which something of ours may begin
_STOPS = _BEGIN | {"{", "}"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Block:
    """One registration block: the namespace or key that it registers to, the name of its library variable, and the tokens between its braces."""

    kind: str  # DEF | FRAGMENT | IMPL | OPERATORS (a RegisterOperators chain)
    namespace: str  # "_" in a block of backend fallbacks
    key: str | None
    variable: str
    body: tuple[Token, ...]
    head: Token
    scope: str  # the enclosing C++ namespaces
    using: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """A function that registers to the Library that it gets as an argument: `void register_all(torch::Library& m, ...) {...}`."""

    name: str
    variable: str
    parameters: tuple[str, ...]
    body: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class FileBlocks:
    """The registration blocks of one file, and what their bodies may refer to."""

    path: str
    blocks: tuple[Block, ...]
    functions: dict[str, LibraryFunction]
    constants: dict[str, tuple[Token, ...]]  # const char* and arrays of them: their initialiser's tokens
    unknown: tuple[Token, ...] = ()  # macros that look like a block's head, and are none that we know


def block_macros(table: MacroTable) -> frozenset[str]:
    """The macros whose expansion contains a registration block, directly or through each other."""
    return frozenset(name for name in macros_with(table, re.compile("TORCH_LIBRARY")) if not _BLOCK_FAMILY.match(name))


def block_heads(table: MacroTable) -> frozenset[str]:
    """Macros of other names that end like the heads of blocks: what stands in braces after them is given a Library."""
    return frozenset(
        name for name in table.names()
        if "TORCH_LIBRARY" not in name and any(_TAKES_LIBRARY.search(definition.body) for _, definition in table.definitions(name))
    )  # fmt: skip


def macros_with(table: MacroTable, wanted: re.Pattern[str]) -> frozenset[str]:
    """The macros whose expansion matches a pattern, directly or through each other."""
    bodies = {
        name: " ".join(definition.body for _, definition in table.definitions(name))
        for name in table.names()
        if not _BLOCK_FAMILY.match(name)
    }
    found: set[str] = set()
    fresh = {name for name, body in bodies.items() if wanted.search(body)}
    while fresh:
        found |= fresh
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(fresh))) + r")\b")
        fresh = {name for name, body in bodies.items() if name not in found and pattern.search(body)}
    return frozenset(found)


def read_blocks(path: str, tokens: list[Token], table: MacroTable, macros: frozenset[str], heads: frozenset[str] = frozenset()) -> FileBlocks:
    """All registration blocks of one file, those that macros make included. `heads`: what else looks like a block's head."""
    if not macros.isdisjoint(map(TEXT, tokens)):
        tokens = Expander(table, path, 0, wanted=macros.__contains__).expand(tokens)
    reader = _Reader(path, tokens, heads)
    reader.read()
    return FileBlocks(path, tuple(reader.blocks), reader.functions, reader.constants, tuple(reader.unknown))


def matching(tokens: Sequence[Token], at: int) -> int:
    """The index of the bracket that closes the one at `at`; the number of tokens when none does."""
    depth = 0
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind == "punctuator":
            if token.text in _PAIRS:
                depth += 1
            elif token.text in ")]}":
                depth -= 1
                if depth == 0:
                    return index
    return len(tokens)


def arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split the tokens between two parentheses at the commas of the outermost level."""
    parts: list[list[Token]] = [[]]
    depth = angles = 0
    for index, token in enumerate(tokens):
        if token.kind == "punctuator":
            depth += (token.text in _PAIRS) - (token.text in ")]}")
            if depth == 0:
                angles = _angles(tokens, index, angles)
            if token.text == "," and depth == 0 and angles == 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts if parts != [[]] else []


def _angles(tokens: Sequence[Token], index: int, angles: int) -> int:
    """Depth of template argument lists: a `<` after a name opens one when it is closed before the expression ends."""
    text = tokens[index].text
    if text == "<" and index and tokens[index - 1].kind == "name":
        return angles + 1
    if text in (">", ">>") and angles:
        return max(0, angles - len(text))
    return angles


class _Reader:
    """One walk over a file's tokens that keeps track of namespaces."""

    def __init__(self, path: str, tokens: list[Token], heads: frozenset[str]) -> None:
        self.path = path
        self._heads = heads
        self.blocks: list[Block] = []
        self.unknown: list[Token] = []
        self.functions: dict[str, LibraryFunction] = {}
        self.constants: dict[str, tuple[Token, ...]] = {}
        self._tokens = tokens
        self._scope: list[tuple[str, int]] = []

    def read(self) -> None:
        tokens = self._tokens
        index, depth = 0, 0
        stops = _STOPS | self._heads
        for place in [n for n, text in enumerate(map(TEXT, tokens)) if text in stops or "TORCH_LIBRARY" in text]:
            if place < index:
                continue  # part of what was read there
            index = place + 1
            token = tokens[place]
            if token.kind == "punctuator":
                if token.text == "{":
                    depth += 1
                elif token.text == "}":
                    depth -= 1
                    while self._scope and self._scope[-1][1] > depth:
                        self._scope.pop()
            elif token.kind == "name" and (after := self._at_name(place, depth)) is not None:
                index, depth = after

    def _at_name(self, index: int, depth: int) -> tuple[int, int] | None:
        """What begins at a name: the index to go on from and the brace depth there; None for nothing of ours."""
        tokens = self._tokens
        text = tokens[index].text
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if text == "namespace":
            end = index + 1
            while end < len(tokens) and tokens[end].text not in ("{", ";", "="):
                end += 1
            if end < len(tokens) and tokens[end].text == "{":
                name = "".join(t.text for t in tokens[index + 1 : end] if t.kind == "name" or t.text == "::")
                self._scope.append((name.removeprefix("inline"), depth + 1))
                return end + 1, depth + 1
            return end, depth
        if following == "(" and (found := BLOCK.match(text)) is not None:
            return self._block(index, found.group(1) or found.group(2), depth)
        if following == "(" and (text in self._heads or _UNKNOWN.match(text)):
            after = matching(tokens, index + 1) + 1
            if after < len(tokens) and tokens[after].text == "{":
                self.unknown.append(tokens[index])
        if (text == "RegisterOperators" and following in ("(", "{")) or (
            text == "RegisterOperators" and index + 2 < len(tokens) and tokens[index + 2].text in ("(", "{")
        ):
            return self._operators(index, depth)
        if text == "Library" and following == "&":
            return self._function(index, depth)
        if text == "char":
            self._constant(index)
        return None

    def _block(self, index: int, suffix: str | None, depth: int) -> tuple[int, int] | None:
        tokens = self._tokens
        close = matching(tokens, index + 1)
        parts = ["".join(t.text for t in part) for part in arguments(tokens[index + 2 : close])]
        if close + 1 >= len(tokens) or tokens[close + 1].text != "{" or len(parts) < 2:
            return None
        end = matching(tokens, close + 1)
        body = tuple(tokens[close + 2 : end])
        kind = {None: "DEF", "_FRAGMENT": "FRAGMENT", "_IMPL": "IMPL"}[suffix]
        key = parts[1] if kind == "IMPL" else None
        self.blocks.append(Block(kind, parts[0], key, parts[-1], body, tokens[index], self._namespace()))
        return end + 1, depth

    def _operators(self, index: int, depth: int) -> tuple[int, int] | None:
        """`RegisterOperators().op(...)...;` or `RegisterOperators name(...);`, up to the semicolon."""
        tokens = self._tokens
        end = index
        while end < len(tokens) and tokens[end].text != ";":
            end = matching(tokens, end) + 1 if tokens[end].text in _PAIRS else end + 1
        body = tuple(tokens[index + 1 : end])
        if end >= len(tokens) or not any(t.kind == "string" for t in body):
            return None
        self.blocks.append(Block("OPERATORS", "", None, "", body, tokens[index], self._namespace()))
        return end + 1, depth

    def _function(self, index: int, depth: int) -> tuple[int, int] | None:
        tokens = self._tokens
        open_at = index
        while open_at > 0 and tokens[open_at].text not in ("(", ";", "}", "{"):
            open_at -= 1
        if tokens[open_at].text != "(" or open_at == 0 or tokens[open_at - 1].kind != "name":
            return None
        close = matching(tokens, open_at)
        if close + 1 >= len(tokens) or tokens[close + 1].text != "{":
            return None
        end = matching(tokens, close + 1)
        names = tuple(part[-1].text for part in arguments(tokens[open_at + 1 : close]) if part)
        variable = tokens[index + 2].text
        name = tokens[open_at - 1].text
        self.functions[name] = LibraryFunction(name, variable, names, tuple(tokens[close + 2 : end]))
        return end + 1, depth

    def _constant(self, index: int) -> None:
        """`const char* name = "..."`, `constexpr char name[] = "..."`, `const char* names[] = {"...", ...}`."""
        tokens = self._tokens
        end = index + 1
        name = ""
        while end < len(tokens) and tokens[end].text not in ("=", ";", "(", ")", "{", ","):
            if tokens[end].kind == "name" and tokens[end].text != "const":
                name = tokens[end].text
            end += 1
        if not name or end >= len(tokens) or tokens[end].text not in ("=", "{"):
            return
        stop = end + (tokens[end].text == "=")
        start = stop
        while stop < len(tokens) and tokens[stop].text != ";":
            stop = matching(tokens, stop) + 1 if tokens[stop].text in _PAIRS else stop + 1
        self.constants[name] = tuple(tokens[start:stop])

    def _namespace(self) -> str:
        return "::".join(name for name, _ in self._scope if name)


def mentions_registration(text: bytes, macros: Iterable[bytes]) -> bool:
    """Whether a file has to be read: it contains the word of a registration, or of a macro that makes one."""
    return any(word in text for word in _MENTIONS) or any(m in text for m in macros)
