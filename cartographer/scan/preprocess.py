# SPDX-License-Identifier: BSD-3-Clause
"""Makes one file of the C family ready for reading: comments and string contents blanked, directives taken out,
every offset kept. What the preprocessor would know (conditions, macros, includes) is recorded on the way.

All texts are latin-1 decoded, so that an index into them is an offset into the file's bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from cartographer.model.fact import Include, MacroDefinition
from cartographer.patterns import possessive
from cartographer.scan.conditions import holds_on_main_build, negated

if TYPE_CHECKING:
    from collections.abc import Iterator

# Comments (lines of them that follow each other are one), strings, characters.
_LEXEME = possessive(
    r"[/\"'](?:(?<=/)/[^\n]*+(?:(?<=\\)\n[^\n]*+|\n[ \t]*+//[^\n]*+)*+|(?<=/)\*(?:[^*]++|\*(?!/))*+(\*/)?"
    r"|(?<=\")(?:[^\"\\\n]++|\\.|\\\n)*+\"?|(?<=')(?:\\[^\n]{1,5}?|[^'\\\n])')",
)
_RAW_PREFIX = re.compile(r"(?:u8|[uUL])?R$")
_RAW_OPEN = re.compile(r'"([^()\\\s]{0,16})\(')
_LAUNCH = re.compile(r"(<<<[^;{}]{0,2000}?>>>)\s*\(")
_DIRECTIVE = possessive(r"[ \t]*+#[ \t]*+(\w+)([^\n]*+(?:(?<=\\)\n[^\n]*+)*+)")
_DEFINE = re.compile(r"\s*(\w+)(\([^()]*\))?")
_INCLUDE = re.compile(r'\s*(?:"([^"\n]+)"|<([^>\n]+)>|(\w+))')
_PLACEHOLDER = re.compile(r"\$(?:\{[^{}\n]*\}|\w+)")  # of code generation templates (aten/src/ATen/templates)
_ASCII = bytes(byte if 0x20 <= byte <= 0x7E or byte in b"\t\n" else 0x20 for byte in range(256))
_LONGEST_DROP = 6000  # a longer branch is kept even when its brackets do not balance
_DEEPEST = 40  # conditionals nested deeper are not named

Guards = tuple[str, ...]


@dataclass(slots=True)
class Group:
    """One `#if` … `#endif`: its branches, each with the range of text that it covers."""

    branches: list[tuple[str, int, int]] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    start: int = 0
    transparent: bool = False  # an include guard


@dataclass(slots=True)
class Source:
    """A file ready to be read. `plain` still has its strings, `code` has not; both are without comments.

    `raw_strings` are the ranges of the contents of raw string literals; `launches` map the parenthesis after a CUDA
    launch's `<<<…>>>` (blanked in `code`) to the range between the brackets.
    """

    plain: str
    code: str
    line_ends: list[int]  # the offset after each
    guard_starts: list[int]
    guard_values: list[Guards]
    macros: tuple[MacroDefinition, ...]
    includes: tuple[Include, ...]
    raw_strings: tuple[tuple[int, int], ...]
    launches: dict[int, tuple[int, int]]
    groups: tuple[Group, ...]
    notes: tuple[str, ...]

    def line(self, offset: int) -> int:
        """The line, counted from 1, that contains an offset."""
        return bisect_right(self.line_ends, offset) + 1

    def guards(self, offset: int) -> Guards:
        """The `#if` conditions around an offset, outermost first."""
        return self.guard_values[bisect_right(self.guard_starts, offset) - 1]

    def one_condition(self, start: int, end: int) -> bool:
        """Whether no `#if` group begins, ends or changes its branch between two offsets."""
        return bisect_right(self.guard_starts, start) == bisect_right(self.guard_starts, end)

    def text(self, start: int, end: int) -> str:
        """The source between two offsets as Unicode text, with comments blanked."""
        return real_text(self.plain[start:end])


def real_text(text: str) -> str:
    """Undo the latin-1 decoding of a piece of a file: decode it as UTF-8."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")


def folded(text: str) -> str:
    """A text as one line, with each run of white space as one space."""
    return " ".join(text.split())


def blank(text: str) -> str:
    """Spaces of the same length as a text, with its line ends kept."""
    if "\n" not in text:
        return " " * len(text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def prepare(data: bytes) -> Source:
    """Read the surface of a file: first lexemes, then directives, then the branches of `#if`."""
    text = data.decode("latin-1")
    if "\r" in text:
        text = text.replace("\\\r\n", " \\\n").replace("\r", " ")
    plain, code, raw_strings, notes = _mask(text)
    if "$" in code:
        code = _PLACEHOLDER.sub(lambda m: " " * len(m[0]), code)
    line_ends = list(accumulate(map(len, code.splitlines(keepends=True))))
    if line_ends and not code.endswith("\n"):
        line_ends.pop()
    reader = _Directives(plain, code, line_ends)
    code = reader.read()
    code = _choose_branches(code, reader.groups)
    code, launches = _launches(code)
    return Source(
        plain, code, line_ends, reader.guard_starts, reader.guard_values, tuple(reader.macros),
        tuple(reader.includes), tuple(raw_strings), launches, tuple(reader.groups), tuple(notes),
    )


def _mask(text: str) -> tuple[str, str, list[tuple[int, int]], list[str]]:
    """`text` without comments, and without comments and string contents."""
    pieces: list[str] = []
    contents: list[tuple[int, int]] = []  # of strings and characters
    raw_strings: list[tuple[int, int]] = []
    notes: list[str] = []
    position = at = 0
    while (m := _LEXEME.search(text, at)) is not None:
        start, at = m.span()
        sign = text[start]
        if sign == "/":
            pieces += (text[position:start], _gap(text[start:at]))
            position = at
            if text[start + 1] == "*" and not m.lastindex:
                notes.append("unterminated comment")
        elif sign == "'":
            contents.append((start + 1, at - 1))
        elif (raw := _raw_string(text, start, notes)) is not None:
            inside, at = raw
            raw_strings.append(inside)
            contents.append(inside)
        else:
            contents.append((start + 1, at - 1 if at - start > 1 and text[at - 1] == '"' else at))
    pieces.append(text[position:])
    plain = "".join(pieces)
    return plain, _blanked(plain, contents).encode("latin-1").translate(_ASCII).decode("ascii"), raw_strings, notes


def _gap(comment: str) -> str:
    """What is left of a comment. One inside a macro's body leaves its lines together."""
    gap = blank(comment)
    if "\n" in gap and comment.startswith("/*") and comment.split("\n", 1)[0].endswith("\\"):
        return gap.replace(" \n", "\\\n")
    return gap


def _blanked(text: str, ranges: list[tuple[int, int]]) -> str:
    """The text with some of its ranges blank."""
    pieces: list[str] = []
    position = 0
    for start, end in ranges:
        pieces += (text[position:start], blank(text[start:end]))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _raw_string(text: str, start: int, notes: list[str]) -> tuple[tuple[int, int], int] | None:
    """The range of the contents of a raw string literal whose quote stands at `start`, and its end."""
    if text[start - 1 : start] != "R" or _RAW_PREFIX.search(text, max(0, start - 3), start) is None:
        return None
    m = _RAW_OPEN.match(text, start)
    if m is None or re.search(r"\w(?:u8|[uUL])?R$", text[max(0, start - 4) : start]) is not None:
        return None
    close = f'){m.group(1)}"'
    stop = text.find(close, m.end())
    if stop < 0:
        notes.append("unterminated raw string")
        stop, close = len(text), ""
    return (m.end(), stop), stop + len(close)


def _launches(code: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """The code with every `<<<grid, block>>>` blanked, and where they were."""
    if "<<<" not in code:
        return code, {}
    found: dict[int, tuple[int, int]] = {}
    pieces: list[str] = []
    position = 0
    for m in _LAUNCH.finditer(code):
        pieces.append(code[position : m.start()])
        pieces.append(blank(m.group(1)))
        position = m.start() + len(m.group(1))
        found[m.end() - 1] = (m.start() + 3, position - 3)
    pieces.append(code[position:])
    return "".join(pieces), found


class _Directives:
    """Takes the directives out of a text and remembers what they say."""

    def __init__(self, plain: str, code: str, line_ends: list[int]) -> None:
        self.plain = plain
        self.code = code
        self.line_ends = line_ends
        self.macros: list[MacroDefinition] = []
        self.includes: list[Include] = []
        self.groups: list[Group] = []
        self.guard_starts = [0]
        self.guard_values: list[Guards] = [()]
        self._stack: list[Group] = []
        self._guards: list[Guards] = []
        self._open: dict[str, list[int]] = {}

    def read(self) -> str:
        """Record all directives; the code without them."""
        pieces: list[str] = []
        position = 0
        found = list(_directives(self.code))
        for index, m in enumerate(found):
            start, end = m.span()
            pieces.append(self.code[position:start])
            pieces.append(blank(self.code[start:end]))
            position = end
            word = m.group(1)
            if word == "define":
                self._define(start, m.start(2), end)
            elif word == "undef":
                self._undef(start, m.start(2), end)
            elif word in ("include", "import", "include_next"):
                self._include(start, m.start(2), end)
            elif word in ("if", "ifdef", "ifndef", "elif", "else", "endif", "elifdef", "elifndef"):
                following = found[index + 1] if index + 1 < len(found) else None
                self._conditional(word, self.plain[m.start(2) : end], start, end, index == 0, following)
        pieces.append(self.code[position:])
        while self._stack:
            self._close(len(self.code))
        return "".join(pieces)

    def _line(self, offset: int) -> int:
        return bisect_right(self.line_ends, offset) + 1

    def _define(self, start: int, rest: int, end: int) -> None:
        text = self.plain[rest:end]
        m = _DEFINE.match(text)
        if m is None:
            return
        parameters = None
        if m.group(2) is not None:
            parameters = tuple(p for p in (folded(p.replace("\\", " ")) for p in m.group(2)[1:-1].split(",")) if p)
        before = "\n" * text.count("\n", 0, m.end())  # a parameter list may run over lines: those of the body keep their places
        body = before + "\n".join(line.rstrip().removesuffix("\\").rstrip() for line in text[m.end() :].split("\n")).rstrip()
        # The keyword's line and the name's line are the same in practice.
        hash_line = self._line(start + len(self.code[start:rest]) - len(self.code[start:rest].lstrip()))
        self._open.setdefault(m.group(1), []).append(len(self.macros))
        self.macros.append(
            MacroDefinition(m.group(1), parameters, hash_line, real_text(body.lstrip(" \t")), self.guard_values[-1]),
        )

    def _undef(self, start: int, rest: int, end: int) -> None:
        name = self.code[rest:end].strip()
        for index in self._open.pop(name, ()):
            d = self.macros[index]
            self.macros[index] = MacroDefinition(d.name, d.parameters, d.line, d.body, d.guards, self._line(start))

    def _include(self, start: int, rest: int, end: int) -> None:
        m = _INCLUDE.match(self.plain[rest:end])
        if m is not None:
            self.includes.append(Include(m.group(1) or m.group(2) or m.group(3), self._line(start)))

    def _conditional(
        self, word: str, rest: str, start: int, end: int, first: bool, following: re.Match[str] | None,
    ) -> None:
        condition = folded(rest.replace("\\\n", " "))
        if word.endswith("ifdef") or word == "elifdef":
            condition = f"defined({condition})"
        elif word in ("ifndef", "elifndef"):
            if first and word == "ifndef" and following is not None and _guards_file(condition, following):
                self._stack.append(Group(start=end, transparent=True))
                self._guards.append(())
                return
            condition = f"!defined({condition})"
        if word in ("if", "ifdef", "ifndef"):
            self._stack.append(Group(conditions=[condition], start=end))
            self._guards.append((condition,))
        elif not self._stack:
            return
        elif word == "endif":
            self._close(start)
        else:
            group = self._stack[-1]
            group.branches.append((group.conditions[-1] if group.conditions else "", group.start, start))
            denied = tuple(negated(c) for c in group.conditions if c)
            if word == "else":
                group.conditions.append("")
                self._guards[-1] = denied
            else:
                group.conditions.append(condition)
                self._guards[-1] = (*denied, condition)
            group.start = end
        self._mark(end)

    def _close(self, start: int) -> None:
        group = self._stack.pop()
        self._guards.pop()
        group.branches.append((group.conditions[-1] if group.conditions else "", group.start, start))
        if not group.transparent:
            self.groups.append(group)
        self._mark(start)

    def _mark(self, offset: int) -> None:
        self.guard_starts.append(offset)
        self.guard_values.append(tuple(c for part in self._guards[:_DEEPEST] for c in part))


def _directives(code: str) -> Iterator[re.Match[str]]:
    """The directives of a text: lines that begin with `#`, with those that continue them; a line that continues another one is none."""
    at = code.find("#")
    while at >= 0:
        begin = code.rfind("\n", 0, at) + 1
        m = _DIRECTIVE.match(code, begin) if not code.endswith("\\\n", 0, begin) else None
        if m is not None:
            yield m
        at = code.find("#", at + 1 if m is None else m.end())


def _guards_file(name: str, following: re.Match[str]) -> bool:
    """Whether `#ifndef name` opens an include guard: its next line defines the name, to nothing."""
    return following.group(1) == "define" and following.group(2).split() in ([name], [name, "1"])


def _choose_branches(code: str, groups: list[Group]) -> str:
    """Keep one branch of each conditional whose branches do not balance their brackets."""
    if not groups:
        return code
    out = bytearray(code, "latin-1")
    changed = False
    for group in groups:
        for condition, start, end in group.branches:
            if condition in ("0", "false"):
                out[start:end] = blank(out[start:end].decode("latin-1")).encode("latin-1")
                changed = True
        if any(end - start > _LONGEST_DROP for _, start, end in group.branches):
            continue
        if all(_balanced(out, start, end) for _, start, end in group.branches):
            continue
        kept = False
        for condition, start, end in group.branches:
            if not kept and (holds_on_main_build(condition) if condition else True):
                kept = True
                continue
            out[start:end] = blank(out[start:end].decode("latin-1")).encode("latin-1")
            changed = True
    return out.decode("latin-1") if changed else code


def _balanced(text: bytearray, start: int, end: int) -> bool:
    return (
        text.count(b"{", start, end) == text.count(b"}", start, end)
        and text.count(b"(", start, end) == text.count(b")", start, end)
    )
