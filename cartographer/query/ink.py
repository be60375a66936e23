# SPDX-License-Identifier: BSD-3-Clause
"""Styles lines for people: colours on a terminal and none elsewhere, and lists of names cut to a readable length."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO


@dataclass(frozen=True, slots=True)
class Ink:
    """Puts text in a colour, or leaves it as it is."""

    colour: bool = False

    @staticmethod
    def for_stream(stream: TextIO, environment: Mapping[str, str] | None = None) -> Ink:
        """Colour on a terminal, unless NO_COLOR is set (no-color.org: to anything but nothing) or TERM is dumb."""
        known = os.environ if environment is None else environment
        return Ink(stream.isatty() and not known.get("NO_COLOR") and known.get("TERM") != "dumb")

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def strong(self, text: str) -> str:
        """A text as the answer itself: bold."""
        return self._in("1", text)

    def faint(self, text: str) -> str:
        """A text that readers may skip: dimmed."""
        return self._in("2", text)

    def place(self, text: str) -> str:
        """A text as a path with its line: cyan."""
        return self._in("36", text)

    def good(self, text: str) -> str:
        """A text about something resolved: green."""
        return self._in("32", text)

    def doubt(self, text: str) -> str:
        """A text about something unresolved, or a warning: yellow."""
        return self._in("33", text)

    def bad(self, text: str) -> str:
        """A text as an error: red."""
        return self._in("31", text)


def short(names: Sequence[str], most: int) -> str:
    """The first few of some names, and the number of those that are left out."""
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more} more"
