# SPDX-License-Identifier: BSD-3-Clause
"""Reads the outline of a C-family file: namespaces, classes, functions, macro-headed bodies, macro uses, variables.

It reads brackets and heads, not grammar, so a macro that no grammar knows cannot make it lose what follows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.scan import heads
from cartographer.scan.heads import Head
from cartographer.scan.outline import Brackets, Found, Frame, Outline, Use
from cartographer.scan.preprocess import folded

if TYPE_CHECKING:
    from cartographer.scan.heads import Range
    from cartographer.scan.preprocess import Source

_STOP = re.compile(r"[;{}(]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ALONE = re.compile(r"(?:(?:static|inline)\s+)*([A-Za-z_]\w*)\s*")
_BLANK = re.compile(r"[ \t\n]*+")
_METAL_KERNEL = re.compile(r"\bkernel\b")
_HOST_NAME = re.compile(r'host_name\s*\(\s*"([^"\n]*)"\s*\)')
_LONGEST_PREFIX = 2000  # namespaces nested deeper than any program's start anew
_VALUE = re.compile(r"\s*(?:u?8?R?(?=\")|[{\"'\[&*\d-]|true\b|false\b|nullptr\b)")
_GOES_ON = re.compile(r"\s*[;,)({.:?|&+\-*/<>=\]]")
_DECLARATOR = re.compile(r"\s*[;,\[]")
_MORE_MEMBERS = re.compile(r"\s*[,{]")
_ALIAS = re.compile(r"using\s+(\w+)\s*=\s*")
_USING = re.compile(r"using\s+((?:namespace\s+)?[\w:]+)\s*$")
_KEYWORD_HEADS = frozenset(["if", "else", "for", "while", "do", "switch", "return", "case", "goto", "break", "continue", "delete", "new", "throw", "static_assert"])
_DEVICE = re.compile(r"__device__|\bC10_DEVICE\b")
_HOST = re.compile(r"__host__|\bC10_HOST\b")
_LIBRARY = re.compile(r"\bLibrary\s*&")
_LIBRARY_HEAD = re.compile(r"(?:STABLE_)?TORCH_LIBRARY")


class OutlineReader:
    """Walks through one file from top to bottom, without going into bodies of functions."""

    def __init__(self, source: Source, brackets: Brackets, outline: Outline, within: Range, prefix: str = "") -> None:
        self.source = source
        self.code = source.code
        self.plain = source.plain
        self.braces = brackets.braces
        self.parens = brackets.parens
        self.outline = outline
        self.head, self.end = within
        self.frames = [Frame(self.end, prefix)]
        self.groups: list[Range] = []
        self.metal = outline.metal

    def read(self) -> None:
        """Add the definitions within the range to the outline."""
        code = self.code
        position = self.head
        while (m := _STOP.search(code, position, self.end)) is not None:
            at = m.start()
            c = code[at]
            if c == "(":
                closing = self.parens.close(at, self.frames[-1].end)
                if closing < 0:
                    position = at + 1
                else:
                    self.groups.append((at, closing))
                    position = closing + 1
            elif c == ";":
                self._statement(at)
                position = self._next(at + 1)
            elif c == "}":
                self._close(at)
                position = self._next(at + 1)
            else:
                position = self._open(at)
        if self.end >= len(code):
            self._trailing(len(code))

    def _next(self, at: int) -> int:
        self.head = at
        self.groups = []
        return at

    def _trailing(self, at: int) -> None:
        """A macro use that no semicolon ends, before a closing brace or at the end of the file."""
        if not self.groups:
            return
        head = self._lead(at)
        groups = head.groups or []
        word = _WORD.match(self.code, head.start)
        if word is None or len(groups) != 1 or word.group() in _KEYWORD_HEADS or word.group() == self.frames[-1].class_name:
            return
        if not self.code[word.end() : groups[0][0]].strip() and not self.code[groups[0][1] + 1 : at].strip():
            self._use(word.group(), head.start, groups[0])

    def _close(self, at: int) -> None:
        self._trailing(at)
        if len(self.frames) > 1 and at >= self.frames[-1].end:
            frame = self.frames.pop()
            if frame.found is not None:
                frame.found.end = at
        else:
            self._unread(self.head, at + 1)

    def _unread(self, start: int, end: int) -> None:
        self.outline.unread.append((start, end, self.frames[-1].prefix))

    def _qualified(self, name: str) -> str:
        prefix = self.frames[-1].prefix
        return f"{prefix}::{name}" if prefix and len(prefix) < _LONGEST_PREFIX else name

    def _lead(self, end: int) -> Head:
        """The head that ends at `end`, macro uses before it taken off and recorded."""
        frame = self.frames[-1]
        while True:
            head = heads.lead(self.code, self.head, end)
            groups = [g for g in self.groups if g[0] >= head.start]
            word = heads.peelable(self.code, head.start, end, groups[0], frame.class_name) if groups and not head.template else None
            if word is None:
                head.groups = groups
                return head
            if not word.group(1).startswith("__") and word.group(1) != "alignas":
                self._use(word.group(1), word.start(1), groups[0])
            self.head = groups[0][1] + 1
            self.groups = groups[1:]

    def _use(self, name: str, start: int, group: Range) -> None:
        self.outline.uses.append(Use(name, start, group[1], group, self.frames[-1].prefix))

    # --- what ends with a semicolon -------------------------------------------------------------------------------

    def _statement(self, at: int) -> None:  # noqa: C901 - one kind of statement a branch
        head = self._lead(at)
        code = self.code
        text = code[head.start : at].strip()
        if not text:
            return
        frame = self.frames[-1]
        word = _WORD.match(text)
        first = word.group() if word else ""
        if first == "using":
            self._using(head, text, at)
            return
        if first in _KEYWORD_HEADS or first == "namespace":
            if first not in ("static_assert", "namespace"):
                self._unread(head.start, at)
            return
        groups = head.groups or []
        if (use := self._alone(head, at)) is not None and use[1] != frame.class_name:
            self._use(use[1], use.start(1), groups[0])
            return
        equals = heads.initializer_at(code, head)
        if first == "typedef":
            self._typedef(head, at)
        elif equals >= 0:
            special = code[equals + 1 : at].strip() in ("0", "default", "delete")
            if special and groups and groups[0][0] < equals:
                self._function(Head(head.start, equals, template=head.template, groups=[g for g in groups if g[0] < equals]), None, at)
            elif not frame.class_name:
                self._variable(head, equals, at)
        elif groups and _VALUE.match(code, groups[-1][0] + 1, groups[-1][1]) is not None:
            self._constructed(head, groups[-1], at)
        elif groups:
            self._function(head, None, at)
        elif not frame.class_name:
            self._plain_variable(head, first, at)

    def _alone(self, head: Head, at: int) -> re.Match[str] | None:
        """The word of a statement that is a word and its arguments, and nothing else but how it is linked: `static CREATE_UNARY_UFUNC(relu);`."""
        groups = head.groups
        if not groups or self.code[groups[0][1] + 1 : at].strip():
            return None
        return _ALONE.fullmatch(self.code, head.start, groups[0][0])

    def _using(self, head: Head, text: str, at: int) -> None:
        m = _ALIAS.match(text)
        if m is not None:
            self._add("alias", m.group(1), head, head.start, at, returns=folded(self.source.text(head.start + m.end(), at)))
        elif (m := _USING.match(text)) is not None and not self.frames[-1].class_name:
            self.outline.using.append(" ".join(m.group(1).split()))

    def _typedef(self, head: Head, at: int) -> None:
        end = at
        for opening, closing in head.groups or []:
            inside = self.code[opening + 1 : closing].strip()
            if inside.startswith("*") and _WORD.fullmatch(inside[1:].strip().split("::")[-1]):
                self._add("alias", inside[1:].strip(), head, opening, at, returns=folded(self.source.text(head.start + 7, at)))
                return
        name_at, name, _, _ = heads.name_before(self.code, head.start, end)
        if name:
            self._add("alias", name, head, name_at, at, returns=folded(self.source.text(head.start + 7, name_at)))

    def _plain_variable(self, head: Head, first: str, at: int) -> None:
        if first in ("class", "struct", "enum", "union", "friend", "template", "extern", "public", "private", "protected"):
            return
        name_at, name, scope, _ = heads.name_before(self.code, head.start, at)
        if name and name_at > head.start:
            self._add("variable", f"{scope}::{name}" if scope else name, head, name_at, at)

    def _constructed(self, head: Head, group: Range, at: int) -> None:
        """`Type name({...});`: a variable whose parentheses cannot hold parameters."""
        name_at, name, scope, _ = heads.name_before(self.code, head.start, group[0])
        if name and name_at > head.start and not self.frames[-1].class_name:
            self._add(
                "variable", f"{scope}::{name}" if scope else name, head, name_at, at, body=(group[0] + 1, group[1]),
                returns=folded(self.source.text(head.start, name_at)),
                keep_text=self._registers(head.start, at),
            )

    def _braced(self, head: Head, at: int, closing: int) -> None:
        """`Type name{...};`."""
        name_at, name, scope, _ = heads.name_before(self.code, head.start, at)
        if name and name_at > head.start:
            self._add(
                "variable", f"{scope}::{name}" if scope else name, head, name_at, closing, body=(at + 1, closing),
                returns=folded(self.source.text(head.start, name_at)),
            )

    def _variable(self, head: Head, equals: int, at: int) -> None:
        code = self.code
        end = equals
        while end > head.start and (code[end - 1] in " \t\n" or code[end - 1] == "]"):
            if code[end - 1] == "]":
                end = code.rfind("[", head.start, end)
                if end < 0:
                    return
            else:
                end -= 1
        name_at, name, scope, _ = heads.name_before(code, head.start, end)
        if not name or name_at == head.start:
            return
        kind = "lambda-variable" if heads.is_lambda(code, equals, at) else "variable"
        self._add(
            kind, f"{scope}::{name}" if scope else name, head, name_at, at, body=(equals + 1, at),
            returns=folded(self.source.text(head.start, name_at)),
            keep_text=self._registers(head.start, at),
        )

    def _add(self, kind: str, name: str, head: Head, name_at: int, end: int, **more: object) -> Found:
        found = Found(
            kind, name.rsplit("::", 1)[-1], self._qualified(name), name_at, self._start(head), end,
            template=head.template, **more,  # type: ignore[arg-type]
        )
        self.outline.found.append(found)
        return found

    def _start(self, head: Head) -> int:
        blank = _BLANK.match(self.code, self.head, head.start)
        return blank.end() if blank is not None else self.head

    # --- what opens a brace ---------------------------------------------------------------------------------------

    def _open(self, at: int) -> int:  # noqa: C901 - one kind of block a branch
        """Deal with the `{` at `at`; where to read on."""
        head = self._lead(at)
        code = self.code
        closing = self.braces.get(at, len(code))
        text = code[head.start : at].strip()
        frame = self.frames[-1]
        if not text:
            if head.body_of_linkage:
                self.frames.append(Frame(closing, frame.prefix))
                return self._next(at + 1)
            self._unread(at, closing + 1)
            return self._next(closing + 1)
        name = heads.namespace_name(text)
        if name is not None:
            self.frames.append(Frame(closing, self._qualified(name)))
            return self._next(at + 1)
        if not head.groups and (name := heads.enum_name(text)) is not None:
            if name:
                self._add("enum", name, head, code.index(name, head.start), closing)
            return self._after_block(closing)
        if (read := heads.class_head(code, self.plain, head)) is not None:
            return self._class(head, read, at, closing)
        equals = heads.initializer_at(code, head)
        if equals >= 0 and _GOES_ON.match(code, closing + 1) is not None:
            return closing + 1  # an initializer or a lambda: the statement goes on to its semicolon
        if head.groups:
            return self._maybe_function(head, at, closing)
        if _DECLARATOR.match(code, closing + 1) is None:
            self._unread(head.start, closing + 1)
        elif not frame.class_name:
            self._braced(head, at, closing)
        return self._after_block(closing)

    def _after_block(self, closing: int) -> int:
        """After a block that is no scope: a declarator may follow, as in `enum X {…} x;`."""
        if _DECLARATOR.match(self.code, closing + 1) is not None:
            stop = self.code.find(";", closing)
            return self._next(stop + 1 if stop >= 0 else len(self.code))
        return self._next(closing + 1)

    def _class(self, head: Head, read: heads.ClassHead, at: int, closing: int) -> int:
        found = None
        if read.name:
            found = self._add(
                read.kind, read.name, head, read.name_at, closing, bases=read.bases, specialization=read.specialization,
            )
            found.body = None
        prefix = self._qualified(read.name) if read.name else self.frames[-1].prefix
        self.frames.append(Frame(closing, prefix, read.name.rsplit("::", 1)[-1] or "(anonymous)", found))
        return self._next(at + 1)

    def _maybe_function(self, head: Head, at: int, closing: int) -> int:
        code = self.code
        before = code[head.start : at].rstrip()[-1:]
        if (
            (before.isalnum() or before in "_>") and heads.constructor_colon(code, head) >= 0
            and _MORE_MEMBERS.match(code, closing + 1) is not None
        ):
            return closing + 1  # a member's initializer in braces
        word = _WORD.match(code, head.start)
        if word is not None and word.group() in _KEYWORD_HEADS:
            self._unread(head.start, closing + 1)
            return self._next(closing + 1)
        if (
            (before.isalnum() or before in "_>") and _DECLARATOR.match(code, closing + 1) is not None
            and not heads.ends_with_qualifier(code, head)
        ):
            return self._after_block(closing)  # a variable that takes functions: `std::function<void()> f{nullptr};`
        found = self._function(head, (at, closing), closing)
        if found is None:
            self._unread(head.start, closing + 1)
            return self._after_block(closing)
        return self._next(closing + 1)

    def _function(self, head: Head, body: Range | None, end: int) -> Found | None:
        frame = self.frames[-1]
        read = heads.function_head(self.code, self.plain, head, frame.class_name)
        if read is None:
            return None
        if body is None and read.macro:
            return None
        kind = self._kind(read, body)
        name = f"{read.scope}::{read.name}" if read.scope else read.name
        found = Found(
            kind, read.name, self._qualified(name), read.name_at, self._start(head), end, body, read.parameters,
            read.returns, head.template, read.macro, (), read.specialization,
        )
        if body is not None:
            found.keep_text = (
                _LIBRARY_HEAD.match(read.macro[0]) is not None if read.macro
                else self._registers(*read.group)
            )
        if kind == "metal-kernel" and (host := _HOST_NAME.search(self.plain, self.head, read.name_at)) is not None:
            found.macro = ("host_name", read.name)
            found.name = found.qualname = host.group(1)
            found.at = host.start(1)
        self.outline.found.append(found)
        return found

    def _registers(self, start: int, end: int) -> bool:
        """Whether the code between two offsets names what operators are registered with."""
        find = self.code.find
        return find("RegisterOperators", start, end) >= 0 or (
            find("Library", start, end) >= 0 and _LIBRARY.search(self.code, start, end) is not None
        )

    def _kind(self, read: heads.FunctionHead, body: Range | None) -> str:
        if "__global__" in read.before:
            return "kernel" if body else "declaration"
        if self.metal and _METAL_KERNEL.search(self.code, self.head, read.name_at) is not None:
            return "metal-kernel"
        if body is None:
            return "declaration"
        if read.macro:
            return "macro-headed"
        if self.frames[-1].class_name or read.scope.rsplit("::", 1)[-1][:1].isupper():
            return "method"
        if _DEVICE.search(read.before) and not _HOST.search(read.before):
            return "device"
        return "function"
