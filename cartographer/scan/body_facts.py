# SPDX-License-Identifier: BSD-3-Clause
"""Turns what was read of a function's body into facts: with lines instead of offsets, with the preprocessor's guards, and with what its
arguments refer to.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.fact import Call, Exit
from cartographer.patterns import possessive
from cartographer.scan.choices import choices
from cartographer.scan.text import CUT

if TYPE_CHECKING:
    from cartographer.scan.choices import Choice
    from cartographer.scan.preprocess import Guards, Source
    from cartographer.scan.signs import Sign
    from cartographer.scan.uses import Use, WayOut

_MESSAGE = re.compile(r"\[\s*+([A-Za-z_][\w.]*+)\s++([A-Za-z_]\w*)\s*+(?=[:\]])")
_MESSAGE_TO_RESULT = re.compile(r"\[\s*\[[^\[\]]*+\]\s*+([A-Za-z_]\w*)\s*+(?=[:\]])")
_REFERENCE = possessive(r"&?\s*+((?:::)?[A-Za-z_]\w*+(?:::~?[A-Za-z_]\w*+)*+)(?:<(.*)>)?$")
_CONSTANT = re.compile(r"k[A-Z]|[A-Z_]|nullopt|npos|ignore|move")
_ONE_WORD = frozenset(("call", "macro", "lambda"))  # forms whose names have no members
_COMMENTS = 2000  # characters that stand between the members of a chain, at most
_LAST_NAME = re.compile(r"~?\w+$")


class Uses(NamedTuple):
    """What a body uses: calls and the like in the order in which they begin, the exits before its end, signs between tensors."""

    calls: tuple[Call, ...] = ()
    exits: tuple[Exit, ...] = ()
    signs: tuple[Call, ...] = ()


NO_USES = Uses()


@dataclass(slots=True)
class Read:
    """The raw result of one pass over a body, with offsets."""

    start: int
    end: int
    uses: list[Use]
    exits: list[WayOut]
    signs: list[tuple[Sign, tuple[str, ...]]]  # with the conditions around them
    brackets: dict[int, tuple[str, ...]]  # where a message may begin: the conditions around it


class BodyFacts:
    """Converts the raw result of a pass into facts; `names` are the functions and classes that the file itself defines or declares."""

    def __init__(self, source: Source, names: frozenset[str], read: Read, *, messages: bool) -> None:
        self.source = source
        self.names = names
        self.read = read
        self.messages = messages
        self.outer = source.guards(read.start)

    def uses(self) -> Uses:
        """All uses of the body as facts."""
        return Uses(self._result(), self._ways_out(), self._tell_signs())

    def _result(self) -> tuple[Call, ...]:
        source = self.source
        if sides := choices(self.source.code, self.read.start, self.read.end):
            self._choose(sides)
        uniform = source.one_condition(self.read.start, self.read.end)
        line_ends = source.line_ends
        calls: list[Call] = []
        begins: list[int] = []  # where each of them begins
        for use in self.read.uses:
            at = use.at
            guards: Guards = () if uniform else _inner(source.guards(at), self.outer)
            number = bisect_right(line_ends, at if use.form in _ONE_WORD else self._name_at(use)) + 1
            calls.append(Call(
                use.name, use.form, number, use.arguments, use.template,
                bisect_right(line_ends, use.end) + 1 if use.end >= 0 else number, guards, use.conditions, use.launch,
            ))
            if use.arguments or use.template:
                calls += self._references(use, number, guards)
            if self.messages:
                begins += [at] * (len(calls) - len(begins))
        if not self.messages:
            return tuple(calls)
        both = [*zip(begins, calls, strict=True), *self._messages(uniform=uniform)]
        return tuple(call for _, call in sorted(both, key=lambda pair: pair[0]))

    def _choose(self, sides: list[Choice]) -> None:
        """Put what stands on a side of a conditional operator under its condition."""
        uses = sorted(self.read.uses, key=lambda use: use.at)
        places = [use.at for use in uses]
        for side in sides:
            for use in uses[bisect_right(places, side.begin) : bisect_left(places, side.end)]:
                use.conditions = (*use.conditions, side.condition)
        self.read.signs = [(s, (*held, *(c.condition for c in sides if c.begin < s.at < c.end))) for s, held in self.read.signs]

    def _ways_out(self) -> tuple[Exit, ...]:
        if not self.read.exits:
            return ()
        line = self.source.line
        return tuple(
            Exit(e.condition, line(e.after), line(e.end if e.end >= 0 else self.read.end), _inner(self.source.guards(e.after), self.outer)) for e in self.read.exits
        )

    def _tell_signs(self) -> tuple[Call, ...]:
        if not self.read.signs:
            return ()
        line = self.source.line
        return tuple(
            Call(s.sign, "sign", line(s.at), s.operands, "", line(s.at), _inner(self.source.guards(s.at), self.outer), conditions)
            for s, conditions in self.read.signs
        )

    def _name_at(self, use: Use) -> int:
        """Where the called name itself stands: a chain of members may run over lines."""
        if ("." not in use.name and "->" not in use.name) or self.source.code.startswith(use.name, use.at):
            return use.at
        last = _LAST_NAME.search(use.name)
        if last is None:
            return use.at
        for room in (CUT, _COMMENTS):
            if (at := self.source.code.find(last.group(), use.at, use.at + len(use.name) + room)) >= 0:
                return at
        return use.at

    def _references(self, use: Use, line: int, guards: Guards) -> list[Call]:
        found = []
        names = self.names
        texts: tuple[str, ...] = use.arguments
        if use.template:
            texts = (*texts, *(t.strip() for t in use.template.split(",")))
        for text in texts:
            if not text or text[-1] in ")\"'" or text[0] in "\"(['0123456789!" or (text.isidentifier() and text not in names):
                continue
            m = _REFERENCE.match(text)
            if m is None:
                continue
            name = m.group(1)
            last = name.rsplit("::", 1)[-1]
            if last in names or (last != name and _CONSTANT.match(last) is None and not name.startswith("std::")):
                found.append(Call(name, "reference", line, (), (m.group(2) or "")[:CUT], line, guards, use.conditions))
        return found

    def _messages(self, *, uniform: bool) -> list[tuple[int, Call]]:
        found = []
        for pattern in (_MESSAGE, _MESSAGE_TO_RESULT):
            for m in pattern.finditer(self.source.code, self.read.start, self.read.end):
                name = f"{m.group(1)} {m.group(2)}" if pattern is _MESSAGE else f"] {m.group(1)}"
                number = self.source.line(m.end(m.lastindex or 0) - 1)
                guards: Guards = () if uniform else _inner(self.source.guards(m.start()), self.outer)
                found.append((m.start(), Call(name, "message", number, (), "", number, guards, self.read.brackets.get(m.start(), ()))))
        return found


def _inner(guards: Guards, outer: Guards) -> Guards:
    """The conditions that are not around the whole definition."""
    return guards[len(outer) :] if guards[: len(outer)] == outer else tuple(g for g in guards if g not in outer)
