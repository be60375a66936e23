# SPDX-License-Identifier: BSD-3-Clause
"""Finds Metal kernels: kernel functions of .metal files and of Metal source in string literals, and the names the host calls them by.

A `[[host_name("…")]]` gives an instantiation of a template the name that the host asks for; most stand in macros
(aten/src/ATen/native/mps/kernels), whose uses are read here as far as these names need it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.fact import Definition, MacroDefinition, MacroUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_HOST_NAME = re.compile(r"host_name\s*\(((?:[^()]|\([^()]*\))*)\)\s*\]\][\s\\]*(?:\[\[\s*kernel\s*\]\][\s\\]*|kernel\b[\s\\]*)?void[\s\\]+(?:kernel\b[\s\\]+)?((?:::[\s\\]*)?\w+(?:[\s\\]*(?:::|##)[\s\\]*\w+)*)(?:[\s\\]*<([^<>;()]*)>)?")
_GAP = re.compile(r"[\s\\]+")
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|#\s*(\w+)|\b(\w+)\b')
_PASTE = re.compile(r"[\s\\]*##[\s\\]*")
_PARAMETER = re.compile(r"[A-Za-z_]\w*")
_NESTED = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^()]*)\)")
_METAL_SOURCE = re.compile(r"\bkernel\s+void\s+\w|\[\[\s*kernel\s*\]\]|metal_stdlib")
_FORMAT_FIELD = re.compile(r"\{(\w*)\}")
_DEPTH = 6
_MOST = 2000
_ROOM = 1_000_000  # letters of what is made in a file, and arguments on the way there


def is_metal(text: str) -> bool:
    """Whether a string literal holds Metal source."""
    return _METAL_SOURCE.search(text) is not None


def unformatted(text: str) -> str:
    """Metal source that is a format string, with `{{` as `{` and its fields as names, at the same offsets."""
    if "{{" not in text:
        return text
    text = text.replace("{{", "{ ").replace("}}", "} ")
    return _FORMAT_FIELD.sub(lambda m: f"_{m.group(1)}_", text)


def host_kernels(macros: Iterable[MacroDefinition], uses: Iterable[MacroUse]) -> list[Definition]:
    """The kernels that uses of macros instantiate, under the names that the host asks for."""
    known = {m.name: m for m in macros if m.parameters is not None}
    if not any("host_name" in m.body for m in known.values()):
        return []
    made = _Made(known)
    found: list[Definition] = []
    for use in uses:
        for name, function, arguments in made.by(use.name, use.arguments):
            found.append(Definition(
                name, name, "metal-kernel", use.line, use.line, use.end_line, macro=(use.name, *use.arguments), returns=function, specialization=arguments,
            ))  # fmt: skip
            made.room -= len(name) + len(arguments) + len(use.text)
            if len(found) > _MOST:
                return found
    return found


class _Body(NamedTuple):
    """What a macro's body holds: host names with what they name, and uses of other macros."""

    named: list[tuple[str, str, str]]
    uses: list[tuple[str, list[str]]]


class _Made:
    """What macros make, each body taken apart once, as long as there is room: macros may use each other without end."""

    def __init__(self, known: Mapping[str, MacroDefinition]) -> None:
        self.room = _ROOM
        self._known = known
        self._bodies: dict[str, _Body] = {}

    def by(self, name: str, arguments: Iterable[str], depth: int = 0) -> Iterator[tuple[str, str, str]]:
        """(host name, function, template arguments) of all instantiations that one macro use makes."""
        macro = self._known.get(name)
        if macro is None or macro.parameters is None or depth > _DEPTH:
            return
        values = dict(zip(macro.parameters, arguments, strict=False))
        body = self._bodies.get(name) or self._read(macro)
        for expression, function, template in body.named:
            if self.room > 0:
                yield _spelled(expression, values), pasted(function, values), pasted(template, values)
        for inner, given in body.uses:
            self.room -= 1 + len(given)
            if self.room <= 0:
                return
            yield from self.by(inner, [values.get(a, a) for a in given], depth + 1)

    def _read(self, macro: MacroDefinition) -> _Body:
        body = self._bodies[macro.name] = _Body(
            [(m[1], _GAP.sub("", m[2]), m[3] or "") for m in _HOST_NAME.finditer(macro.body)],
            [(m[1], [g.strip(" \\\n") for g in m[2].split(",")]) for m in _NESTED.finditer(macro.body) if m[1] in self._known and m[1] != macro.name],
        )
        return body


def pasted(text: str, values: Mapping[str, str]) -> str:
    """A piece of a macro's body with its parameters replaced and `##` carried out: `NAME##_functor` -> `fmax_functor`."""
    return " ".join(_PASTE.sub("", _PARAMETER.sub(lambda m: values.get(m[0], m[0]), text)).replace("\\", " ").split())


def _spelled(expression: str, values: Mapping[str, str]) -> str:
    """The text of `"index_" #OP "_" #DTYPE`, parameters replaced."""
    return "".join(
        text or values.get(stringified, stringified) or values.get(word, "").strip('"')
        for text, stringified, word in _PIECE.findall(expression)
    )
