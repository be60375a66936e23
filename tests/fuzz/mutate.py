# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of a text: of its bytes, its words and lines, its nesting, its size, and its encoding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

LARGEST = 60_000  # bytes; what grows beyond is cut
_SIGNS = [b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b'"', b"'", b"\\", b"#", b"\n", b"\r\n", b"\t", b":", b";", b",", b"=", b"@", b"|", b"&",
          b"*", b"-", b"!", b"?", b".", b"%", b"/*", b"*/", b"//", b"->", b"::", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", "é".encode(), b"\xef\xbb\xbf",
          b"\xf0\x9f\x94\xa5", b"0", b"-1", b"99999999999999999999", b"1e999", b"true", b"null", b"~", b" "]  # fmt: skip
_WORD = re.compile(rb"\w+")


class Mutator:
    """Makes new inputs out of seeds; `words` are what a grammar would put in."""

    def __init__(self, rng: random.Random, seeds: Sequence[bytes], words: Sequence[bytes] = (), largest: int = LARGEST) -> None:
        self.rng, self.seeds, self.words, self.largest = rng, list(seeds), [*words, *_SIGNS], largest
        self._ways = (
            self.flip, self.insert, self.insert, self.delete, self.delete, self.double, self.swap, self.splice, self.word, self.word, self.line, self.line,
            self.nest, self.cut, self.number, self.spread,
        )  # fmt: skip

    def make(self) -> bytes:
        """One input: a seed, changed one to six times; now and then a change that makes it huge or deep."""
        rng = self.rng
        data = rng.choice(self.seeds)
        for _ in range(1 + min(int(rng.expovariate(0.6)), 5)):
            data = rng.choice(self._ways)(data)
        if rng.random() < 0.01:
            data = self.heap(data)
        return data[: self.largest]

    def _at(self, data: bytes) -> int:
        return self.rng.randrange(len(data) + 1)

    def _piece(self, data: bytes, most: int = 60) -> tuple[int, int]:
        start = self._at(data)
        return start, min(len(data), start + self.rng.randrange(1, most))

    def flip(self, data: bytes) -> bytes:
        at = self._at(data)
        return data[:at] + bytes([self.rng.randrange(256)]) + data[at + 1 :]

    def insert(self, data: bytes) -> bytes:
        at = self._at(data)
        return data[:at] + self.rng.choice(self.words) + data[at:]

    def delete(self, data: bytes) -> bytes:
        start, end = self._piece(data)
        return data[:start] + data[end:]

    def double(self, data: bytes) -> bytes:
        start, end = self._piece(data, 200)
        return data[:end] + data[start:end] * self.rng.choice((1, 1, 2, 7)) + data[end:]

    def swap(self, data: bytes) -> bytes:
        a, b = sorted((self._at(data), self._at(data)))
        c = min(len(data), b + self.rng.randrange(40))
        return data[:a] + data[b:c] + data[a:b] + data[c:]

    def splice(self, data: bytes) -> bytes:
        other = self.rng.choice(self.seeds)
        start, end = self._piece(other, 400)
        at = self._at(data)
        return data[:at] + other[start:end] + data[at:]

    def word(self, data: bytes) -> bytes:
        """Another word in the place of one."""
        start = self._at(data)
        found = _WORD.search(data, start) or _WORD.search(data)
        if found is None:
            return self.insert(data)
        others = _WORD.findall(data, max(0, start - 400), start + 400)
        return data[: found.start()] + self.rng.choice([*others, self.rng.choice(self.words)]) + data[found.end() :]

    def line(self, data: bytes) -> bytes:
        """A line that goes, comes twice, moves, or is indented otherwise."""
        lines = data.split(b"\n")
        at, way = self.rng.randrange(len(lines)), self.rng.randrange(5)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(at, lines[at])
        elif way == 2:
            lines.insert(self.rng.randrange(len(lines)), lines.pop(at))
        elif way == 3:
            lines[at] = self.rng.choice((b" ", b"  ", b"    ", b"\t")) + lines[at]
        else:
            lines[at] = lines[at].lstrip()
        return b"\n".join(lines)

    def nest(self, data: bytes) -> bytes:
        """Brackets around a piece, some deep."""
        start, end = self._piece(data)
        left, right = self.rng.choice(((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"<", b">"), (b'"', b'"'), (b"f(", b")"), (b"!(", b")"), (b"-", b""), (b"a.", b"")))
        depth = self.rng.choice((1, 1, 2, 5, 20, 120))
        return data[:start] + left * depth + data[start:end] + (right * depth if self.rng.random() < 0.8 else b"") + data[end:]

    def cut(self, data: bytes) -> bytes:
        at = self._at(data)
        return data[:at] if self.rng.random() < 0.5 else data[at:]

    def number(self, data: bytes) -> bytes:
        """Another number in the place of one."""
        found = re.compile(rb"\d+").search(data, self._at(data))
        if found is None:
            return self.flip(data)
        return data[: found.start()] + self.rng.choice((b"0", b"1", b"-1", b"65535", b"4294967296", b"9" * 30, b"9" * 5000, b"0x", b"")) + data[found.end() :]

    def spread(self, data: bytes) -> bytes:
        """Another encoding, or other line ends."""
        way = self.rng.randrange(5)
        if way == 0:
            return data.replace(b"\n", b"\r\n")
        if way == 1:
            return data.replace(b"\n", b" ")
        if way == 2:
            return b"\xef\xbb\xbf" + data
        if way == 3:
            return data.decode("latin-1").encode("utf-16")
        return data.replace(b" ", b"")

    def heap(self, data: bytes) -> bytes:
        """Something thousands of times: nesting, a long line, NUL bytes, all the same word."""
        rng = self.rng
        at = self._at(data)
        some = rng.choice((b"(", b"[", b"{", b"<", b"f(", b"{a: ", b"- ", b"!", b"-", b"a.b.", b"not ", b"\0", b"x" * 40, b"\n", b"* ", b"#if A\n", b"a, ", b"? ", b"## ", b"case a: ", b'"', rng.choice(self.words), data[at : at + 30]))  # fmt: skip
        return data[:at] + some * rng.choice((300, 1_500, 8_000)) + data[at:]
