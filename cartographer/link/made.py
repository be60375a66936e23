# SPDX-License-Identifier: BSD-3-Clause
"""Expands macros whose functions and registrations exist only after the expansion.

A macro used at namespace scope is expanded from its body in the pinned tree, token pasting included, and the text is
read like any other source. What it makes stands on the line of the use. Macros that scan already understands
(the heads `TORCH_IMPL_FUNC(x)`, the stub macros) stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from cartographer.expand.expander import Expander, ExpansionTooLargeError
from cartographer.expand.tokens import tokenize
from cartographer.link.conditions import alternatives, past
from cartographer.link.index import Use, defined_by_macro
from cartographer.link.stubs import is_stub_macro, putting_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cartographer.expand.macros import Macro, MacroTable
    from cartographer.expand.tokens import Token
    from cartographer.link.index import Defined
    from cartographer.model.fact import Call, Definition, FileFacts, MacroUse

# Heads of bodies, and blocks that another stage reads; they say what they define by themselves.
_HEAD = re.compile(r"TORCH_(IMPL|META|PRECOMPUTE_META)_FUNC2?")
_LEAF = re.compile(r"(STABLE_)?TORCH_LIBRARY\w*|TORCH_(CHECK|API|CUDA)\w*|C10_\w+|AT_DISPATCH\w*|AT_ERROR|TORCH_INTERNAL\w*|DEFINE_\w*HEADERS")
_BODY = re.compile(r"\b(\w++)\s*+(?:<[^<>;{}]*>)?\s*\((?:[^(){};]|\((?:[^()]|\([^()]*\))*\))*\)\s*(?:const\s*|noexcept\s*|override\s*)*\{", re.DOTALL)
_CLOSE = re.compile(r"\s*(::|->|\.|\(|\[)\s*|(^&|!)\s+(?!=)|\s+(?=[),\]])")
_REFERENCE = re.compile(r"&((?:\w+::)+[a-z_]\w*)")
_LAST_NAME = re.compile(r"((?:\w+::)*\w+)$")
_KEYWORDS = frozenset(("if", "for", "while", "switch", "catch", "return"))
_CODE = (".cpp", ".cc", ".cu", ".mm", ".h", ".cuh", ".c", ".hpp")


@dataclass(slots=True)
class Made:
    """The definitions and macro uses that come out of macros, by file; `too_large` are expansions that were given up."""

    definitions: dict[str, tuple[Defined, ...]] = field(default_factory=dict)
    uses: dict[str, tuple[MacroUse, ...]] = field(default_factory=dict)
    too_large: list[tuple[str, int, str]] = field(default_factory=list)


class Maker:
    """Expands the macro uses of a tree. `parse` reads expanded text into facts (a function of `scan`)."""

    def __init__(self, table: MacroTable, parse: Callable[[str, str], FileFacts]) -> None:
        self._table = table
        self._parse = parse
        self._defining: dict[tuple[str, int], bool] = {}
        self._others: frozenset[str] = frozenset()  # called like macros that register a stub, but expanded

    def all(self, files: Mapping[str, FileFacts], within: Callable[[str], bool]) -> Made:
        """Everything that the macros make which are used in the files that `within` selects."""
        made = Made()
        self._others = putting_together(files)
        for path in sorted(files):
            if path.endswith(_CODE) and within(path) and files[path].uses:
                self._file(path, files[path], made)
        return made

    def head(self, path: str, definition: Definition) -> str:
        """The name that a body with a macro as its head defines: the last one in the head's expansion; "" when it cannot be told."""
        if self._table.find(definition.macro[0], path, definition.line) is None:
            return ""
        text = f"{definition.macro[0]}({', '.join(definition.macro[1:])})"
        try:
            tokens = Expander(self._table, path, definition.line, limit=2_000).expand(tokenize(text, path, definition.line))
        except ExpansionTooLargeError:
            return ""
        spelled = "".join(t.text if t.text == "::" else f" {t.text} " for t in tokens).replace(" ::", "::").replace(":: ", "::").strip()
        match = _LAST_NAME.search(_before_parameters(spelled).rpartition(" ")[2])
        return match[1] if match and match[1] != definition.macro[0] else ""

    def _file(self, path: str, facts: FileFacts, made: Made) -> None:
        definitions: list[Defined] = []
        uses: list[MacroUse] = []
        for use in facts.uses:
            if _LEAF.fullmatch(use.name) or _HEAD.fullmatch(use.name) or self._is_stub(use.name):
                continue
            macro = self._table.find(use.name, path, use.line)
            if macro is None or not self._defines(macro, use, path):
                continue
            try:
                text, lines = self._text(use, path)
            except ExpansionTooLargeError:
                made.too_large.append((path, use.line, use.name))
                continue
            found = _settled(self._parse(text, path), lines, use)
            origin = Use(use.name, use.line, use.end_line, macro.path, macro.line)
            definitions.extend(defined_by_macro(path, found.definitions, origin))
            uses.extend(found.uses)
        if definitions:
            made.definitions[path] = tuple(definitions)
        if uses:
            made.uses[path] = tuple(uses)

    def _defines(self, macro: Macro, use: MacroUse, path: str) -> bool:
        """Whether a use makes a function, a stub or a registration; or hands on a macro that does (X-macros)."""
        if self._body_defines(macro, path):
            return True
        handed = [a.strip() for a in use.arguments if a.strip() in self._table]
        return any(
            inner is not None and self._body_defines(inner, path)
            for inner in (self._table.find(name, path, use.line) for name in handed)
        )

    def _body_defines(self, macro: Macro, path: str) -> bool:
        key = (macro.path, macro.line)
        if key not in self._defining:
            self._defining[key] = False  # a macro that mentions itself
            text = " ".join(t.text for t in macro.body)
            self._defining[key] = ("{" in text and any(m[1] not in _KEYWORDS for m in _BODY.finditer(text))) or any(
                self._mentions(token, macro, path) for token in macro.body if token.kind == "name"
            )
        return self._defining[key]

    def _mentions(self, token: Token, macro: Macro, path: str) -> bool:
        if self._is_stub(token.text) or _HEAD.fullmatch(token.text):
            return True
        if token.text not in self._table or _LEAF.fullmatch(token.text):
            return False
        inner = self._table.find(token.text, macro.path, token.line) or self._table.find(token.text, path, 10**9)
        return inner is not None and self._body_defines(inner, path)

    def _text(self, use: MacroUse, path: str) -> tuple[str, list[int]]:
        """The expansion, one token a line, and the line in `path` that each stands for (0: only in the macro's body)."""
        expander = Expander(self._table, path, use.line, wanted=self._wanted, limit=60_000)
        tokens = expander.expand(tokenize(use.text, path, use.line))
        lines = [t.line if t.path == path and use.line <= t.line <= use.end_line else 0 for t in tokens]
        return "\n".join(t.text.replace("\n", " ") for t in tokens), lines

    def _is_stub(self, name: str) -> bool:
        return is_stub_macro(name) and name not in self._others

    def _wanted(self, name: str) -> bool:
        return not (_LEAF.fullmatch(name) or self._is_stub(name))


def _before_parameters(head: str) -> str:
    """A head without the parameter list with which it ends: `void f (int a)` -> `void f`."""
    if not head.endswith(")"):
        return head
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0:
            return head[:at].rstrip()
    return head


def _settled(facts: FileFacts, lines: list[int], use: MacroUse) -> FileFacts:
    """Facts of an expansion with lines of the file that uses the macro."""

    def at(line: int) -> int:
        return (lines[line - 1] if 0 < line <= len(lines) else 0) or use.line

    definitions = tuple(_moved(d, at, use) for d in facts.definitions)
    uses = tuple(
        msgspec.structs.replace(
            u, line=at(u.line), end_line=at(u.line), text=use.text, guards=(*use.guards, *u.guards),
            namespace="::".join(filter(None, (use.namespace, u.namespace))),
        )
        for u in facts.uses
    )  # fmt: skip
    return msgspec.structs.replace(facts, definitions=definitions, uses=uses)


def _moved(definition: Definition, at: Callable[[int], int], use: MacroUse) -> Definition:
    qualname = "::".join(filter(None, (use.namespace, definition.qualname)))
    left = alternatives(definition.calls, definition.exits)
    calls = tuple(made for c in definition.calls for made in _with_references(_moved_call(_past_exits(c, definition, left), at)))
    return msgspec.structs.replace(
        definition, qualname=qualname, line=at(definition.line), start=use.line, end=use.end_line, calls=calls, exits=(),
        signs=tuple(_moved_call(s, at) for s in definition.signs), guards=(*use.guards, *definition.guards),
    )  # fmt: skip


def _past_exits(call: Call, inside: Definition, left: frozenset[str]) -> Call:
    """A call under the conditions, too, under which its function was not left before: once it stands on the line of the use, lines do not tell that."""
    before = past(call, inside.exits, left) if left else ()
    return msgspec.structs.replace(call, conditions=(*before, *call.conditions)) if before else call


def _with_references(call: Call) -> Iterator[Call]:
    """A call and what it hands over by name: in an expansion the tokens of `&at::sgn_outf` stand too far apart for scan."""
    yield call
    for argument in call.arguments:
        match = _REFERENCE.fullmatch(argument)
        if match is not None:
            yield msgspec.structs.replace(call, name=match[1], form="reference", arguments=(), template="")


def _moved_call(call: Call, at: Callable[[int], int]) -> Call:
    return msgspec.structs.replace(
        call, line=at(call.line), end_line=at(max(call.line, call.end_line)), conditions=tuple(map(_tidy, call.conditions)), arguments=tuple(map(_tidy, call.arguments)),
    )  # fmt: skip


def _tidy(text: str) -> str:
    """Text as a person would write it: the tokens of an expansion stand apart."""
    return _CLOSE.sub(lambda m: m[1] or m[2] or "", text)
