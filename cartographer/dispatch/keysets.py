# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates constant expressions over dispatch key sets as c10/core/DispatchKeySet.h does: a set is a number with a
bit for each backend and one for each functionality key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.dispatch.blocks import arguments, matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.expand.tokens import Token


class UnknownFormError(Exception):
    """Raised for an expression of a form that this module does not understand."""


@dataclass(slots=True)
class Bits:
    """Maps dispatch keys to bits. Before PyTorch 1.12 there are no backend bits and every key has a bit of its own."""

    backends: tuple[str, ...]
    functionality: tuple[str, ...]
    runtime: dict[str, tuple[str, str]]  # runtime key -> (functionality, backend or "")
    same: dict[str, str]
    sets: dict[str, int] = field(default_factory=dict)

    def functionality_bit(self, name: str) -> int:
        """The bit of a functionality key in a key set."""
        return 1 << (len(self.backends) + self.functionality.index(name))

    def backend_bit(self, name: str) -> int:
        """The bit of a backend in a key set."""
        return 1 << self.backends.index(name)

    @property
    def backend_mask(self) -> int:
        """The set of the bits of all backends."""
        return (1 << len(self.backends)) - 1

    def of_key(self, name: str) -> int:
        """The set with this key alone, as the constructor `DispatchKeySet(key)` makes it."""
        name = self.same.get(name, name)
        if name == "Undefined":
            return 0
        if name in self.runtime:
            functionality, backend = self.runtime[name]
            return self.functionality_bit(functionality) | (self.backend_bit(backend) if backend else 0)
        if name in self.functionality:
            return self.functionality_bit(name)
        return 0  # alias keys are in no set

    def has(self, value: int, key: str) -> bool:
        """Whether a set has all bits of a key, as `set.has(key)` tells."""
        bits = self.of_key(key)
        return bits != 0 and value & bits == bits

    def members(self, value: int) -> Iterator[str]:
        """The runtime keys in a set, in the order of DispatchKey.h."""
        return (key for key in self.runtime if self.has(value, key))

    def read_constants(self, tokens: Sequence[Token]) -> None:
        """Evaluate every `constexpr DispatchKeySet name = ...;` of a file; forms that we do not know are left out."""
        for index, token in enumerate(tokens):
            if token.text != "constexpr" or index + 3 >= len(tokens) or tokens[index + 3].text != "=":
                continue
            if tokens[index + 1].text not in ("DispatchKeySet", "auto"):
                continue
            end = next((i for i in range(index, len(tokens)) if tokens[i].text == ";"), len(tokens))
            try:
                self.sets[tokens[index + 2].text] = self.evaluate(tokens[index + 4 : end])
            except UnknownFormError:
                continue

    def evaluate(self, tokens: Sequence[Token]) -> int:
        """The value of an expression over key sets. Raises UnknownFormError."""
        try:
            return _Expression(self, tokens).whole()
        except RecursionError as error:
            raise UnknownFormError("nested too deeply") from error

    def is_true(self, tokens: Sequence[Token], key: str, alias: str) -> bool:
        """Evaluate a condition on the key `k` (and the alias key `t`): `k != DispatchKey::X && set.has(k)`, `t == k`."""
        parts: list[list[Token]] = [[]]
        for token in tokens:
            if token.text == "&&":
                parts.append([])
            else:
                parts[-1].append(token)
        return all(self._test(part, key, alias) for part in parts)

    def _test(self, tokens: Sequence[Token], key: str, alias: str) -> bool:
        words = [t.text for t in tokens]
        if "!=" in words or "==" in words:
            equal = "==" in words
            at = words.index("==" if equal else "!=")
            sides = [self._named(words[:at], key, alias), self._named(words[at + 1 :], key, alias)]
            return (sides[0] == sides[1]) is equal
        if "has" in words:
            at = words.index("has")
            inner = words[at + 1 :]
            asked = self.runtime[key][0] if "toFunctionalityKey" in inner and key in self.runtime else key
            return self.has(self.evaluate(tokens[: at - 1]), asked)
        raise UnknownFormError(" ".join(words))

    def _named(self, words: Sequence[str], key: str, alias: str) -> str:
        if words == ["k"]:
            return key
        if words == ["t"]:
            return alias
        return self.same.get(words[-1], words[-1])


class _Expression:
    """A reader of one key set expression."""

    def __init__(self, bits: Bits, tokens: Sequence[Token]) -> None:
        self._bits = bits
        self._tokens = tokens
        self._at = 0

    def whole(self) -> int:
        value = self._term()
        while self._at < len(self._tokens):
            sign = self._next()
            right = self._term()
            match sign:
                case "|":
                    value |= right
                case "&":
                    value &= right
                case "-":
                    value &= self._bits.backend_mask | ~right
                case "^":
                    value ^= right
                case _:
                    raise UnknownFormError(sign)
        return value

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise UnknownFormError("unfinished expression")
        self._at += 1
        return self._tokens[self._at - 1].text

    def _group(self) -> Sequence[Token]:
        close = matching(self._tokens, self._at)
        inside = self._tokens[self._at + 1 : close]
        self._at = close + 1
        return inside

    def _term(self) -> int:
        value = self._primary()
        while self._at < len(self._tokens) and self._tokens[self._at].text == ".":
            self._at += 1
            method = self._next()
            given = [_last_name(part) for part in arguments(self._group())]
            match method:
                case "remove":
                    bits = self._bits.of_key(given[0])
                    value &= ~(bits & ~self._bits.backend_mask)
                case "add":
                    value |= self._bits.of_key(given[0])
                case "remove_backend":
                    value &= ~self._bits.backend_bit(given[0].removesuffix("Bit"))
                case _:
                    raise UnknownFormError(method)
        return value

    def _primary(self) -> int:
        if self._tokens[self._at : self._at + 1] and self._tokens[self._at].text == "(":
            return _Expression(self._bits, self._group()).whole()
        name = self._next()
        while self._at < len(self._tokens) and self._tokens[self._at].text == "::":
            self._at += 1
            name = self._next()
        if name == "DispatchKeySet":
            return self._constructed(self._group())
        if name in self._bits.sets:
            return self._bits.sets[name]
        raise UnknownFormError(name)

    def _constructed(self, inside: Sequence[Token]) -> int:
        parts = arguments(inside)
        if not parts:
            return 0
        first = _last_name(parts[0])
        if len(parts) < (2 if first in ("RAW", "FULL_AFTER") else 1) or not all(parts):
            raise UnknownFormError("DispatchKeySet(" + ", ".join(" ".join(t.text for t in part) for part in parts) + ")")
        if parts[0][0].text == "{":
            return self._listed(arguments(parts[0][1 : matching(parts[0], 0)]))
        if first == "RAW":
            words = [t.text for t in parts[1]]
            if "full_backend_mask" in words or "num_backends" in words:
                return self._bits.backend_mask
            raise UnknownFormError(" ".join(words))
        if first in ("FULL_AFTER", "FULL"):
            whole = (1 << (len(self._bits.backends) + len(self._bits.functionality))) - 1
            if first == "FULL":
                return whole
            key = self._bits.same.get(name := _last_name(parts[1]), name)
            functionality = self._bits.runtime.get(key, (key, ""))[0]
            return self._bits.functionality_bit(functionality) - 1
        return self._listed(parts)

    def _listed(self, parts: list[list[Token]]) -> int:
        value = 0
        for part in parts:
            name = _last_name(part)
            if name.endswith("Bit") and name.removesuffix("Bit") in self._bits.backends:
                value |= self._bits.backend_bit(name.removesuffix("Bit"))
            elif name:
                value |= self._bits.of_key(name)
        return value


def _last_name(tokens: Sequence[Token]) -> str:
    return next((t.text for t in reversed(tokens) if t.kind == "name"), "")
