# SPDX-License-Identifier: BSD-3-Clause
"""Value types of an outline: definitions and macro uses by their offsets, before they become facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.scan.heads import Range
    from cartographer.scan.text import Parens


@dataclass(slots=True)
class Found:
    """A definition, by its offsets in the file; `body` is None for a declaration."""

    kind: str
    name: str
    qualname: str
    at: int
    start: int
    end: int
    body: Range | None = None
    parameters: tuple[str, ...] = ()
    returns: str = ""
    template: str = ""
    macro: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    specialization: str = ""
    keep_text: bool = False


@dataclass(slots=True)
class Use:
    """A use of a macro, by its offsets in the file."""

    name: str
    start: int
    end: int
    group: Range
    namespace: str


@dataclass(slots=True)
class Frame:
    """A namespace or class whose closing brace has not been reached yet."""

    end: int
    prefix: str
    class_name: str = ""
    found: Found | None = None


@dataclass(slots=True)
class Brackets:
    """The matching brackets of a whole file."""

    braces: dict[int, int]
    parens: Parens


@dataclass(slots=True)
class Outline:
    """All definitions and macro uses at namespace and class scope of one file."""

    found: list[Found] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    using: list[str] = field(default_factory=list)
    metal: bool = False
    unread: list[tuple[int, int, str]] = field(default_factory=list)  # what made no sense, with its namespace
