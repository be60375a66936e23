# SPDX-License-Identifier: BSD-3-Clause
"""The state of a pass over a body: its uses so far, the brackets that are open, and the exits that were passed."""

from __future__ import annotations

from typing import NamedTuple

from cartographer.scan.text import CUT


class Use:
    """One use of a name, while its arguments are still being read."""

    __slots__ = ("arguments", "at", "conditions", "end", "form", "launch", "name", "template")

    def __init__(self, at: int, name: str, form: str, conditions: tuple[str, ...], template: str = "") -> None:
        self.at = at
        self.name = name
        self.form = form
        self.conditions = conditions
        self.template = template
        self.end = -1
        self.arguments: tuple[str, ...] = ()
        self.launch: tuple[str, ...] = ()


class Open:
    """An open bracket, with what is known about the block or list in it."""

    __slots__ = ("at", "brace", "branch", "commas", "ends", "final", "inside", "keyword", "left", "saved", "sides", "singles", "statement", "use")

    def __init__(self, at: int, brace: bool, use: Use | None = None, keyword: str = "") -> None:
        self.at = at
        self.brace = brace
        self.use = use
        self.keyword = keyword
        self.commas: list[int] = []
        self.branch: Branch | None = None  # of a block: why it runs
        self.saved: tuple[str, ...] | None = None  # conditions to return to when the block closes
        self.inside: tuple[str, ...] = ()  # conditions with which it began
        self.singles: tuple[Single, ...] = ()  # the conditions of a statement without braces
        self.statement = at + 1  # where the statement that is read begins
        self.final = -1  # where the last one began, -1 when that was a block
        self.left: tuple[WayOut, ...] = ()  # the ways out that its later statements come after
        self.sides = False  # whether all sides so far of its last `if` leave the function
        self.ends = False  # the same of a whole one, `else` included, with which it ends: then the block leaves the function

    def side(self, chain: tuple[str, ...], *, leaves: bool) -> None:
        """Record that a side of an `if` ends here: for the first side `chain` has one condition, for the `else` none."""
        self.sides = leaves and (len(chain) == 1 or self.sides)
        self.ends = self.sides and not chain


class Branch(NamedTuple):
    """A side of an `if`: `own` is the condition of this side alone; `holding` are all that hold in it, from the sides before it too;
    `chain` are the conditions of which none holds in its `else`, "" for one of a side that the main build leaves out.
    """

    own: str
    holding: tuple[str, ...]
    chain: tuple[str, ...]


Single = tuple[tuple[str, ...], Branch, int]  # the conditions before, those of the statement, where it begins


class WayOut:
    """An exit that was passed: its condition, and the part of the body that comes after it."""

    __slots__ = ("after", "condition", "end")

    def __init__(self, condition: str, after: int) -> None:
        self.condition = condition
        self.after = after
        self.end = -1


def cut(condition: str, length: int = CUT) -> str:
    """A condition cut to a length, its open parentheses closed."""
    if len(condition) <= length:
        return condition
    kept = condition[:length].rstrip()
    return kept + "…" + ")" * max(0, kept.count("(") - kept.count(")"))


def either_label(labels: list[str]) -> str:
    """The condition under which `case` labels that follow each other are reached, with as many labels as there is room for."""
    if "default" in labels:
        return "default"
    shown = labels[: CUT // len(" || ")]
    while len(shown) > 1 and len(" || ".join(shown)) > CUT:
        shown[-2:] = ["…"]
    return " || ".join(shown) if len(shown) > 1 else labels[0]
