# SPDX-License-Identifier: BSD-3-Clause
"""Reads what a function's body uses: calls, launches, lambdas, constructions, references, macros.

One pass over the body's brackets and the names before them. It needs no grammar, so it reads bodies that macros,
CUDA's `<<<…>>>` or Objective-C would spoil for one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.patterns import possessive
from cartographer.scan.backwards import NO_CALLS, NOT_TYPES, NOTHING, SCOPES, Backwards, callee, judged
from cartographer.scan.body_facts import NO_USES, BodyFacts, Read
from cartographer.scan.conditions import holds_on_main_build, negated
from cartographer.scan.preprocess import real_text
from cartographer.scan.signs import signs
from cartographer.scan.text import CUT, items, true_commas
from cartographer.scan.uses import Branch, Open, Use, WayOut, cut, either_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.scan.backwards import Callee
    from cartographer.scan.body_facts import Uses
    from cartographer.scan.preprocess import Source
    from cartographer.scan.signs import Sign

# A bracket, a comma or a semicolon, with the label that follows or, where a bracket holds no others, with all that it holds.
_LABELS = r"(?:\s*+(?:case|default|else)\b()"
_TOKEN = possessive(
    r"\((?:[^(){}\[\];]*+\))?+|;" + _LABELS + r")?+|,|\)|\{" + _LABELS + r"|[^(){}\[\];]*+\})?+|\}" + _LABELS + r")?+|\[",
)
_LAMBDA = possessive(r"\[[^\[\]]*+\]\s*+((?:(?:[A-Z][A-Z0-9_]++|__\w++)\s*+)*+)(?=[({]|mutable\b|->)")
_LABEL = possessive(r"\s*+(?:case\b((?:[^:;{}]|::)*+):|(default)\s*+:|(else)\b\s*+(if\b)?)")
_LEAVES = re.compile(r"\s*+(?:return|throw|co_return)\b")
_NEAR = 200  # characters before a parenthesis that are worth looking up


class BodyReader:
    """Reads bodies of one file; `names` are the functions and classes that the file itself defines or declares."""

    def __init__(self, source: Source, names: frozenset[str], *, messages: bool = False) -> None:
        self.source = source
        self.names = names
        self.messages = messages
        self.back = Backwards(source)
        self.launches = source.launches

    def read(self, start: int, end: int, parameters: Iterable[str] = ()) -> Uses:
        """The uses between two offsets, in the body of a function with these parameters."""
        written = signs(self.source.code, start, end, parameters)
        find = self.source.code.find
        if not written and find("(", start, end) < 0 and find("[", start, end) < 0 and find("{", start, end) < 0 and find("else", start, end) < 0:
            return NO_USES  # a body that calls nothing and has one way out
        read = _Pass(self, start, end, written).run()
        return BodyFacts(self.source, self.names, read, messages=self.messages).uses()


def _plain_arguments(text: str) -> tuple[str, ...]:
    """The arguments of a short list in which every comma separates two."""
    if "\n" in text or "  " in text:
        parts = [" ".join(part.split()) if "\n" in part or "  " in part else part.strip() for part in text.split(",")]
    else:
        parts = [part.strip() for part in text.split(",")]
    return tuple(parts) if len(parts) > 1 or parts[0] else ()


class _Pass:
    """The state of one pass over one body."""

    def __init__(self, reader: BodyReader, start: int, end: int, written: list[Sign]) -> None:
        self.source = reader.source
        self.messages = reader.messages
        self.code = reader.source.code
        self.plain = reader.source.plain
        self.back = reader.back
        self.launches = reader.launches
        self.start = start
        self.end = end
        self.uses: list[Use] = []
        self.base = Open(start, True)
        self.stack: list[Open] = [self.base]
        self.exits: list[WayOut] = []
        self.conditions: tuple[str, ...] = ()
        self.brackets: dict[int, tuple[str, ...]] = {}  # where a message may begin: the conditions around it
        self.armed: Branch | None = None  # of the block that opens next
        self.last: tuple[str, ...] = ()  # conditions of the statement that closed last and of those that it is the `else if` of, for its else
        self.denied: tuple[str, ...] = ()  # the same for the `if` that comes next
        self.written = written[::-1]  # those still to come, the next one last
        self.next_sign = self.written[-1].at if written else end
        self.signs: list[tuple[Sign, tuple[str, ...]]] = []  # with the conditions around them
        self.one_build: bool | None = None  # whether no #if cuts the body; None when nobody has asked yet
        self.anonymous: Use | None = None  # the lambda whose block opens next
        self.anonymous_at = -1  # where its parameters begin

    def run(self) -> Read:
        """Read the body."""
        code = self.code
        stack = self.stack
        last = self.start if code[self.start - 1] == "{" else -1  # where the sign before ends, -1 when none is known
        for m in _TOKEN.finditer(code, self.start, self.end):
            at, end = m.span()
            c = code[at]
            if end > self.next_sign:
                self._signs(end)
            if c == "(":
                self._paren(at, end - 1, last)
            elif c == ",":
                if at > self.anonymous_at:  # not in a lambda's captures
                    stack[-1].commas.append(at)
            elif c == ")":
                self._close_paren(at)
            elif c == "[":
                self._bracket(at)
            elif m.lastindex:
                self._brace_or_end(c, at, at)
                self._labels(at + 1)
                end = at + 1
            elif c == ";":
                self._semicolon(at)
            else:
                self._brace_or_end(c, at, end - 1)
            last = end
        self._signs(self.end)
        return Read(self.start, self.end, self.uses, self.exits, self.signs, self.brackets)

    def _signs(self, end: int) -> None:
        """The signs up to `end`: what is open now is around them."""
        while self.written and self.written[-1].at < end:
            self.signs.append((self.written.pop(), self.conditions))
        self.next_sign = self.written[-1].at if self.written else self.end

    def _brace_or_end(self, sign: str, at: int, closing: int) -> None:
        """A semicolon or a brace; `closing` is where one ends that holds no other brackets, else `at`."""
        if sign == ";":
            self._semicolon(at)
        elif sign == "}":
            self._close_brace(at)
        else:
            self._block(at)
            if closing > at:
                self.stack[-1].commas = self._commas(at, closing)
                self._close_brace(closing)
                self._labels(closing + 1)

    # --- names ----------------------------------------------------------------------------------------------------

    def _bracket(self, at: int) -> None:
        before = self.code[at - 1]
        if self.messages:
            self.brackets[at] = self.conditions
        if before.isalnum() or before in "_)]":
            return
        m = _LAMBDA.match(self.code, at, self.end)
        if m is not None:
            self.anonymous = Use(at, "", "lambda", self.conditions)
            self.anonymous.arguments = tuple(m.group(1).split())
            self.anonymous_at = m.end()
            self.uses.append(self.anonymous)

    def _paren(self, at: int, closing: int, last: int) -> None:
        """A parenthesis; `closing` is where it ends when it holds no other brackets, else `at`; `last` is where the sign before it ends."""
        found = None
        if last >= 0 and at - last <= _NEAR and at != self.anonymous_at and not (self.launches and at in self.launches):
            found = callee(self.code[last:at].lstrip())
        name, form, length, template, keyword = found or self._before(at)
        use = None
        if form:
            use = Use(at - length, name, form, self.conditions, template)
            self.uses.append(use)
            if form == "launch":
                begin, stop = self.launches[at]
                use.launch = items(self.plain, self.plain, begin, stop, CUT)
        if closing == at:
            self.stack.append(Open(at, False, use, keyword))
        elif use is not None:
            self._finish(use, at, closing)
        elif keyword:
            self._condition(keyword, at, closing)

    def _before(self, at: int) -> Callee:
        """What a parenthesis belongs to, read backwards as far as it takes."""
        named = self.back.name(at, self.start) if at not in (self.anonymous_at, self.start) else None
        if named is None:
            return NOTHING
        name, template, start, word, of_type = named
        if at in self.launches and name not in NO_CALLS:
            return name, "launch", at - start, template, ""
        return judged(name, template, at - start, word, of_type)

    def _commas(self, opening: int, closing: int) -> list[int]:
        """The commas in a bracket without other brackets; those of a lambda's captures separate nothing."""
        find = self.code.find
        commas: list[int] = []
        if opening > self.anonymous_at:
            at = find(",", opening, closing)
            while at >= 0:
                commas.append(at)
                at = find(",", at + 1, closing)
        return commas

    def _block(self, at: int) -> None:
        """A brace: of a block, a lambda, or of a value `Foo{...}`."""
        found = self.back.name(at, self.start) if at > self.start else None
        if found is None or self.anonymous is not None:
            self._open_brace(at, None)
            return
        name, template, start, word, of_type = found
        if name in NO_CALLS or name[0] in ".-" or self.code[start - 1] == "@" or word in SCOPES or word in ("final", "typename"):
            self._open_brace(at, None)
            return
        if word and word not in NOT_TYPES:
            name, template = word, of_type
        use = Use(start, name, "construct", self.conditions, template)
        self.uses.append(use)
        self._open_brace(at, use)

    # --- brackets -------------------------------------------------------------------------------------------------

    def _close_paren(self, at: int) -> None:
        stack = self.stack
        if stack[-1].brace:
            return  # a stray one
        top = stack.pop()
        if top.use is not None:
            self._finish(top.use, top.at, at, top.commas)
        elif top.keyword:
            self._condition(top.keyword, top.at, at)

    def _finish(self, use: Use, opening: int, closing: int, commas: list[int] | None = None) -> None:
        """Give a use what stands in its brackets; without `commas` no others stand between them."""
        use.end = closing
        begin = opening + 1
        if begin == closing:
            return
        if commas is None:
            if closing - begin <= CUT and opening > self.anonymous_at:
                text = self.plain[begin:closing]
                if text.isascii() and ("," not in text or ("<" not in text and text.count(",") == self.code.count(",", begin, closing))):
                    use.arguments = _plain_arguments(text)
                    return
            commas = self._commas(opening, closing)
        if commas and self.code.find("<", begin, commas[-1]) >= 0:
            commas = true_commas(self.code, begin, commas, closing)
        texts = []
        for comma in (*commas, closing):
            text = self.plain[begin : comma if comma - begin < 1000 else begin + 1000]
            begin = comma + 1
            if "\n" in text or "  " in text:
                text = " ".join(text.split())
            text = text.strip()[:CUT]
            texts.append(text if text.isascii() else real_text(text))
        if len(texts) > 1 or texts[0]:
            use.arguments = tuple(texts)

    def _condition(self, keyword: str, opening: int, closing: int) -> None:
        if keyword not in ("if", "constexpr"):
            return
        own = cut(" ".join(real_text(self.plain[opening + 1 : min(closing, opening + 1000)]).split()))
        denied, self.denied = self.denied, ()
        shown = "" if self._elsewhere(opening) else own  # what the main build does not have denies nothing after it
        self._enter(Branch(own, (*(negated(c) for c in denied if c), own), (*denied, shown)), closing + 1)

    def _elsewhere(self, at: int) -> bool:
        """Whether a place in the body is left out of the main build: in `#ifdef __aarch64__`, an `else if` is no side of its `if`."""
        if self.one_build is None:
            self.one_build = self.source.one_condition(self.start, self.end)
        return not self.one_build and not all(map(holds_on_main_build, self.source.guards(at)))

    def _enter(self, branch: Branch, after: int) -> None:
        code = self.code
        while after < self.end and code[after] in " \t\n":
            after += 1
        if after < self.end and code[after] == "{":
            self.armed = branch
        else:
            self.stack[-1].singles += ((self.conditions, branch, after),)
            self.conditions = (*self.conditions, *branch.holding)

    def _labels(self, at: int) -> None:
        """What may follow a statement: case labels, else."""
        labels: list[str] = []
        while (m := _LABEL.match(self.code, at, self.end)) is not None:
            if m.group(3):
                if m.group(4):
                    self.denied = self.last
                else:
                    holding = tuple(negated(c) for c in self.last if c) if self.last else ("else",)
                    self._enter(Branch(" && ".join(holding), holding, ()), m.end(3))
                return
            top = self.stack[-1]
            labels.append("default" if m.group(2) else f"case {' '.join(m.group(1).split())}"[:CUT])
            self.conditions = (*top.inside, either_label(labels))
            self._end_exits(top, at)
            at = top.statement = m.end()

    def _semicolon(self, at: int) -> None:
        top = self.stack[-1]
        if not top.brace:
            return
        self.anonymous = None
        self.denied = ()
        if top.singles:
            (self.conditions, _, _), (_, branch, begin) = top.singles[0], top.singles[-1]
            self.last = branch.chain
            leaves = len(top.singles) == 1 and _LEAVES.match(self.code, begin) is not None
            if leaves:
                self._leave(branch.own, at)
            top.side(branch.chain, leaves=leaves)
            top.singles = ()
            top.final = -1
        else:
            top.final = top.statement
            top.ends = False
        top.statement = at + 1

    def _leave(self, condition: str, after: int) -> None:
        """What follows in the innermost block runs only where a condition did not hold."""
        way_out = WayOut(condition, after)
        self.exits.append(way_out)
        self.stack[-1].left += (way_out,)

    @staticmethod
    def _end_exits(block: Open, at: int) -> None:
        for way_out in block.left:
            way_out.end = at
        block.left = ()

    def _open_brace(self, at: int, use: Use | None) -> None:
        opened = Open(at, True, use)
        opened.saved = self.conditions
        self.denied = ()
        if use is None and self.anonymous is not None:
            opened.use, self.anonymous = self.anonymous, None
        if self.armed is not None:
            opened.branch = self.armed
            self.conditions = (*self.conditions, *self.armed.holding)
            self.armed = None
        opened.inside = self.conditions
        self.stack.append(opened)

    def _close_brace(self, at: int) -> None:
        stack = self.stack
        while len(stack) > 1 and not stack[-1].brace:
            top = stack.pop()
            if top.use is not None:
                self._finish(top.use, top.at, at, top.commas)
        if len(stack) == 1:
            return
        top = stack.pop()
        if top.saved is not None:
            self.conditions = top.saved
        self.last = top.branch.chain if top.branch is not None else ()
        self._end_exits(top, at)
        if top.use is not None:
            if top.use.form == "lambda":
                top.use.end = at
                return
            self._finish(top.use, top.at, at, top.commas)
            return
        around = stack[-1]
        around.ends = False
        if around.singles:
            self.conditions = around.singles[0][0]
            around.singles = ()
        elif top.branch is not None:
            leaves = top.ends or (top.final >= 0 and _LEAVES.match(self.code, top.final) is not None)
            if leaves:
                self._leave(top.branch.own, at)
            around.side(top.branch.chain, leaves=leaves)
        around.statement, around.final = at + 1, -1
