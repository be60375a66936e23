# SPDX-License-Identifier: BSD-3-Clause
"""Splits a CMake file into its commands, without running any (cmake-language(7): comments, quoted and bracket arguments)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMAND = re.compile(r"#(?:\[(?P<level>=*)\[)?|(?<!\w)(?P<name>[A-Za-z_]\w*+)\s*+\(")
_ARGUMENT = re.compile(
    r'\s+|(?P<comment>#)?\[(?P<level>=*)\[|(?P<line>#)[^\n]*|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<paren>[()])|(?P<plain>(?:[^\s()#"\\]|\\.)+)', re.DOTALL,
)
_PLAIN = re.compile(r'(?:[^\s()#"\\]|\\.)+', re.DOTALL)


class Command(NamedTuple):
    """One command, its name in small letters; `offsets` are where its arguments stand in the text. In `if` quotes are kept."""

    name: str
    arguments: list[str]
    offsets: list[int]


def commands(text: str) -> Iterator[Command]:
    """The commands of a file, in order; what has no end is left out."""
    reader = _Reader(text)
    position = 0
    while (found := _COMMAND.search(text, position)) is not None:
        position = found.end()
        if found["name"] is None:
            position = reader.after_comment(found)
            continue
        command = Command(found["name"].lower(), [], [])
        position = reader.arguments(command, position)
        yield command


class _Reader:
    """Reads one text; remembers of which brackets it has no end, so that none is looked for twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._endless: set[str] = set()

    def arguments(self, command: Command, position: int) -> int:
        """Fill in the arguments of a command from behind its parenthesis on; where they end."""
        depth = 1
        while depth and (part := _ARGUMENT.match(self._text, position)) is not None:
            at, position = position, part.end()
            if part["comment"] is not None:
                position = self.after_comment(part)
            elif part["level"] is not None:
                position = self._bracket(command, part)
            elif part["paren"]:
                depth += 1 if part["paren"] == "(" else -1
                if depth:
                    _add(command, part["paren"], at)
            elif part["quoted"] is not None:
                _add(command, f'"{part["quoted"]}"' if command.name in ("if", "elseif") else part["quoted"], at)
            elif part["plain"]:
                _add(command, part["plain"], at)
        return position

    def after_comment(self, opening: re.Match[str]) -> int:
        """Where a comment ends: that of one line, or one between brackets."""
        end = self._end(opening["level"], opening.end()) if opening["level"] is not None else -1
        if end >= 0:
            return end
        line = self._text.find("\n", opening.start())
        return line if line >= 0 else len(self._text)

    def _bracket(self, command: Command, opening: re.Match[str]) -> int:
        """Take an argument between brackets, `[[…]]` or `[=[…]=]`; one without an end is a plain one."""
        end = self._end(opening["level"], opening.end())
        if end >= 0:
            _add(command, self._text[opening.end() : end - len(opening["level"]) - 2], opening.start())
            return end
        plain = _PLAIN.match(self._text, opening.start())
        assert plain is not None
        _add(command, plain[0], opening.start())
        return plain.end()

    def _end(self, level: str, start: int) -> int:
        closing = f"]{level}]"
        at = self._text.find(closing, start) if closing not in self._endless else -1
        if at < 0:
            self._endless.add(closing)
            return -1
        return at + len(closing)


def _add(command: Command, argument: str, offset: int) -> None:
    command.arguments.append(argument)
    command.offsets.append(offset)
