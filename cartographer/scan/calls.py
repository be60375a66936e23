# SPDX-License-Identifier: BSD-3-Clause
"""What a function's body uses: calls, launches, lambdas, constructions, references, macros.

One pass over the body's brackets and the names before them. It needs no grammar, so it reads bodies that macros,
CUDA's `<<<…>>>` or Objective-C would spoil for one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.model.fact import Call
from cartographer.scan.conditions import negated
from cartographer.scan.preprocess import real_text
from cartographer.scan.text import CUT, close_angle, items

if TYPE_CHECKING:
    from cartographer.scan.preprocess import Guards, Source

_TOKEN = re.compile(
    r"(?P<chain>(?:(?:\.|->|::)\s*+)?[A-Za-z_~]\w*+(?:\s*+(?:::|\.|->)\s*+(?:template\s++)?~?[A-Za-z_]\w*+)*+)"
    r"\s*+(?P<next>[(<{])"
    r"|(?P<lambda>(?<![\w)\]])\[[^\[\]]*+\]\s*+(?:(?:[A-Z][A-Z0-9_]++|__\w++)\s*+)*+(?=[({]|mutable\b|->))"
    r"|(?P<label>\bcase\b(?:[^:;{}]|::)*+:|\bdefault\s*+:)"
    r"|(?P<else>\belse\b)"
    r"|(?P<launch><<<)"
    r"|[(){},;]",
)
_MESSAGE = re.compile(r"\[\s*+([A-Za-z_][\w.]*|\]|\))\s++([A-Za-z_]\w*)\s*+(?=[:\]])|(?<=\])\s++([A-Za-z_]\w*)\s*+(?=[:\]])")
_TYPE_BEFORE = re.compile(r"[A-Za-z_][\w:]*$")
_REFERENCE = re.compile(r"&?\s*((?:::)?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)(?:<(.*)>)?$")
_CONSTANT = re.compile(r"k[A-Z]|[A-Z_]|nullopt|npos|ignore|move")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*$")
_LAUNCH_END = re.compile(r">>>\s*(?=\()")
_LOOSE_NAME = re.compile(r"([A-Za-z_][\w:]*)\s*(?:\[[^\[\]]*\]|<[^;{}]*>)?\s*\)?\s*$")
_CONDITIONS = frozenset(("if", "constexpr", "while", "for", "switch"))
_NO_CALLS = frozenset(
    "if while for switch return sizeof alignof alignas decltype catch else do try case typeid noexcept and or not "
    "static_cast const_cast reinterpret_cast dynamic_cast new delete throw const defined __attribute__ operator "
    "static_assert template typename class struct union enum namespace auto co_return co_await constexpr mutable "
    "__asm__ asm void override final requires volatile".split(),
)
_NOT_TYPES = frozenset(
    "return else case throw new delete co_return co_await co_yield and or not in goto do constexpr typename const "
    "static inline mutable volatile".split(),
)
_SCOPES = frozenset(("struct", "class", "union", "enum", "namespace"))


class _Use:
    """One use while it is read."""

    __slots__ = ("arguments", "at", "context", "end", "form", "launch", "name", "template")

    def __init__(self, at: int, name: str, form: str, context: str, template: str = "") -> None:
        self.at = at
        self.name = name
        self.form = form
        self.context = context
        self.template = template
        self.end = -1
        self.arguments: tuple[str, ...] = ()
        self.launch: tuple[str, ...] = ()


class _Open:
    """An open bracket, and what it belongs to."""

    __slots__ = ("at", "brace", "commas", "condition", "keyword", "saved", "singles", "use")

    def __init__(self, at: int, *, brace: bool, use: _Use | None = None, keyword: str = "") -> None:
        self.at = at
        self.brace = brace
        self.use = use
        self.keyword = keyword
        self.commas: list[int] = []
        self.condition = ""  # of a block: why it runs
        self.saved: str | None = None  # context to return to when the block closes
        self.singles: list[tuple[str, str]] = []  # (context before, condition) of statements without braces


class BodyReader:
    """Reads bodies of one file; `names` are the functions and classes that the file itself defines or declares."""

    def __init__(self, source: Source, names: frozenset[str], *, messages: bool = False) -> None:
        self.source = source
        self.names = names
        self.messages = messages

    def read(self, start: int, end: int) -> tuple[Call, ...]:
        """The uses between two offsets, in the order in which they begin."""
        return _Pass(self, start, end).run()


class _Pass:
    """The state of one pass over one body."""

    def __init__(self, reader: BodyReader, start: int, end: int) -> None:
        self.source = reader.source
        self.names = reader.names
        self.messages = reader.messages
        self.code = reader.source.code
        self.plain = reader.source.plain
        self.start = start
        self.end = end
        self.uses: list[_Use] = []
        self.base = _Open(start, brace=True)
        self.stack: list[_Open] = [self.base]
        self.context = ""
        self.armed: str | None = None  # condition of the block that opens next
        self.last = ""  # condition of the statement that closed last, for its else
        self.scope: tuple[int, str, str] = (-1, "", "")  # `Foo<T>` that ended at an offset, before `::` or a name
        self.anonymous: _Use | None = None  # the lambda whose block opens next

    def run(self) -> tuple[Call, ...]:
        """Read the body."""
        code = self.code
        skip = self.start
        for m in _TOKEN.finditer(code, self.start, self.end):
            at = m.start()
            if at < skip:
                continue
            group = m.lastgroup
            if group == "next":
                skip = self._name(m)
            elif group is None:
                c = code[at]
                if c == ",":
                    self.stack[-1].commas.append(at)
                elif c == "(":
                    self.stack.append(_Open(at, brace=False))
                elif c == ")":
                    self._close_paren(at)
                elif c == ";":
                    self._semicolon()
                elif c == "{":
                    self._open_brace(at, None)
                else:
                    self._close_brace(at)
            elif group == "lambda":
                self.anonymous = _Use(at, "", "lambda", self.context)
                self.uses.append(self.anonymous)
            elif group == "label":
                self._label(m.group())
            elif group == "else":
                self._else(m.end())
            else:
                skip = self._loose_launch(at)
        return self._result()

    # --- names ----------------------------------------------------------------------------------------------------

    def _name(self, m: re.Match[str]) -> int:
        """Deal with a name before a bracket; where to read on."""
        name = m.group("chain")
        if not name.isidentifier():
            name = "".join(name.split()).replace("->", ".") if " " in name or "\n" in name or "->" in name else name
        at = m.start()
        opening = m.start("next")
        before, template, _ = self.scope[1], "", 0
        if self.scope[0] == at and name.startswith("::"):
            name = before + name
            template = self.scope[2]
        nxt = m.group("next")
        if nxt == "<":
            return self._template(name, template, at, opening)
        if nxt == "(":
            self._call(name, template, at, opening)
        else:
            self._braced(name, template, at, opening)
        return opening + 1

    def _template(self, name: str, template: str, at: int, opening: int) -> int:
        code = self.code
        if code.startswith("<<<", opening):
            return self._launch(name, template, at, opening)
        close = close_angle(code, opening, self.end)
        if close < 0:
            return opening + 1
        template = " ".join(real_text(self.plain[opening + 1 : close]).split())
        after = close + 1
        while after < self.end and code[after] in " \t\n":
            after += 1
        if after >= self.end:
            return close + 1
        c = code[after]
        if c == "(":
            self._call(name, template, at, after)
            return after + 1
        if c == "{":
            self._braced(name, template, at, after)
            return after + 1
        if c == "<" and code.startswith("<<<", after):
            return self._launch(name, template, at, after)
        self.scope = (after, name, template)
        return close + 1

    def _call(self, name: str, template: str, at: int, opening: int) -> None:
        if name in _NO_CALLS:
            self.stack.append(_Open(opening, brace=False, keyword=name if name in _CONDITIONS else ""))
            return
        form = "call"
        if "." in name:
            form = "method"
        elif _CAPITALS.match(name):
            form = "macro"
        if self.scope[0] == at and not name.startswith(self.scope[1] + "::"):
            form, name, template = "construct", self.scope[1], self.scope[2]  # std::vector<int> v(3)
        elif self.code[at - 1] in " \t\n":
            word = self._word_before(at)
            if word == "new":
                form = "construct"
            elif word in _SCOPES:
                form = ""
            elif word and word not in _NOT_TYPES:
                form, name = "construct", word  # Tensor out(x)
        use = _Use(at, name, form, self.context, template) if form else None
        if use is not None:
            self.uses.append(use)
        self.stack.append(_Open(opening, brace=False, use=use))

    def _word_before(self, at: int) -> str:
        code = self.code
        end = at - 1
        floor = max(self.start, at - 200)
        while end > floor and code[end - 1] in " \t\n":
            end -= 1
        last = code[end - 1]
        if not (last.isalnum() or last == "_"):
            return ""
        begin = end - 1
        while begin > floor and ((c := code[begin - 1]).isalnum() or c in "_:"):
            begin -= 1
        return code[begin:end]

    def _braced(self, name: str, template: str, at: int, opening: int) -> None:
        if name == "else":
            self._arm_else()
        if name in _NO_CALLS or name.startswith(".") or self.anonymous is not None or self.code[at - 1] == "@":
            self._open_brace(opening, None)
            return
        word = self._word_before(at) if self.code[at - 1] in " \t\n" else ""
        if word in _SCOPES or word in ("final", "typename"):
            self._open_brace(opening, None)
            return
        if self.scope[0] == at and self.scope[1]:
            name, template = self.scope[1], self.scope[2]
        elif word and word not in _NOT_TYPES:
            name = word
        use = _Use(at, name, "construct", self.context, template)
        self.uses.append(use)
        self._open_brace(opening, use)

    # --- launches -------------------------------------------------------------------------------------------------

    def _launch(self, name: str, template: str, at: int, opening: int) -> int:
        m = _LAUNCH_END.search(self.code, opening + 3, min(self.end, opening + 3000))
        if m is None:
            return opening + 3
        use = _Use(at, name, "launch", self.context, template)
        use.launch = items(self.code, self.plain, opening + 3, m.start(), CUT)
        self.uses.append(use)
        self.stack.append(_Open(m.end(), brace=False, use=use))
        return m.end() + 1

    def _loose_launch(self, at: int) -> int:
        """`(kernel<T>)<<<…>>>(…)` and `kernels[i]<<<…>>>(…)`."""
        begin = max(self.start, at - 300)
        m = _LOOSE_NAME.search(self.code, begin, at)
        return self._launch(m.group(1) if m else "", "", m.start() if m else at, at)

    # --- brackets -------------------------------------------------------------------------------------------------

    def _close_paren(self, at: int) -> None:
        stack = self.stack
        if stack[-1].brace:
            return  # a stray one
        top = stack.pop()
        if top.use is not None:
            self._finish(top, at)
        elif top.keyword:
            self._condition(top, at)

    def _finish(self, top: _Open, at: int) -> None:
        use = top.use
        assert use is not None
        use.end = at
        texts = []
        begin = top.at + 1
        for comma in (*top.commas, at):
            text = self.plain[begin : min(comma, begin + 1000)]
            begin = comma + 1
            if "\n" in text or "  " in text:
                text = " ".join(text.split())
            text = text.strip()[:CUT]
            texts.append(text if text.isascii() else real_text(text))
        if len(texts) > 1 or texts[0]:
            use.arguments = tuple(texts)

    def _condition(self, top: _Open, at: int) -> None:
        if top.keyword not in ("if", "constexpr"):
            return
        condition = " ".join(real_text(self.plain[top.at + 1 : min(at, top.at + 1000)]).split())[:CUT]
        self._enter(condition, at + 1)

    def _enter(self, condition: str, after: int) -> None:
        code = self.code
        while after < self.end and code[after] in " \t\n":
            after += 1
        if after < self.end and code[after] == "{":
            self.armed = condition
        else:
            self.stack[-1].singles.append((self.context, condition))
            self.context = condition

    def _arm_else(self) -> None:
        self.armed = negated(self.last) if self.last else "else"

    def _else(self, after: int) -> None:
        if re.compile(r"\s*if\b").match(self.code, after, self.end) is None:
            self._enter(negated(self.last) if self.last else "else", after)

    def _label(self, text: str) -> None:
        if self.stack[-1].saved is None:
            self.stack[-1].saved = self.context
        self.context = " ".join(text[:-1].split())[:CUT]

    def _semicolon(self) -> None:
        top = self.stack[-1]
        if top.brace:
            self.anonymous = None
            self.scope = (-1, "", "")
        if top.singles:
            self.context, self.last = top.singles[0][0], top.singles[-1][1]
            top.singles = []

    def _open_brace(self, at: int, use: _Use | None) -> None:
        opened = _Open(at, brace=True, use=use)
        opened.saved = self.context
        if use is None and self.anonymous is not None:
            opened.use, self.anonymous = self.anonymous, None
        if self.armed is not None:
            opened.condition = self.context = self.armed
            self.armed = None
        self.stack.append(opened)

    def _close_brace(self, at: int) -> None:
        stack = self.stack
        while len(stack) > 1 and not stack[-1].brace:
            top = stack.pop()
            if top.use is not None:
                self._finish(top, at)
        if len(stack) == 1:
            return
        top = stack.pop()
        if top.saved is not None:
            self.context = top.saved
        self.last = top.condition
        if top.use is not None:
            if top.use.form == "lambda":
                top.use.end = at
                return
            self._finish(top, at)
        elif stack[-1].singles:
            self.context = stack[-1].singles[0][0]
            stack[-1].singles = []

    # --- the result -----------------------------------------------------------------------------------------------

    def _result(self) -> tuple[Call, ...]:
        source = self.source
        outer = source.guards(self.start)
        uniform = source.one_condition(self.start, self.end)
        line = source.line
        calls: list[tuple[int, Call]] = []
        for use in self.uses:
            at = use.at
            guards: Guards = () if uniform else _inner(source.guards(at), outer)
            number = line(at)
            calls.append((at, Call(
                use.name, use.form, number, use.arguments, use.template,
                line(use.end) if use.end >= 0 else number, guards, use.context, use.launch,
            )))
            if use.arguments or use.template:
                calls.extend((at, c) for c in self._references(use, number, guards))
        if self.messages:
            calls.extend(self._messages())
            calls.sort(key=lambda pair: pair[0])
        return tuple(call for _, call in calls)

    def _references(self, use: _Use, line: int, guards: Guards) -> list[Call]:
        found = []
        texts: tuple[str, ...] = use.arguments
        if use.template:
            texts = (*texts, *(t.strip() for t in use.template.split(",")))
        for text in texts:
            if not text or text[-1] in ")\"'" or text[0] in "\"(['0123456789!":
                continue
            m = _REFERENCE.match(text)
            if m is None:
                continue
            name = m.group(1)
            last = name.rsplit("::", 1)[-1]
            if last in self.names or (last != name and _CONSTANT.match(last) is None and not name.startswith("std::")):
                found.append(Call(name, "reference", line, (), (m.group(2) or "")[:CUT], line, guards, use.context))
        return found

    def _messages(self) -> list[tuple[int, Call]]:
        found = []
        for m in _MESSAGE.finditer(self.code, self.start, self.end):
            receiver = m.group(1) or "]"
            name = f"{receiver} {m.group(2) or m.group(3)}"
            number = self.source.line(m.start())
            found.append((m.start(), Call(name, "message", number, (), "", number)))
        return found


def _inner(guards: Guards, outer: Guards) -> Guards:
    """The conditions that are not around the whole definition."""
    return guards[len(outer) :] if guards[: len(outer)] == outer else tuple(g for g in guards if g not in outer)
