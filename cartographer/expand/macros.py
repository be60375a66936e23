# SPDX-License-Identifier: BSD-3-Clause
"""Decides which macro definition a use means: the one in the same file that is in force on that line, then the one of an
included header, then the only one of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.expand.tokens import Token, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, KeysView, Mapping

    from cartographer.model.fact import FileFacts, MacroDefinition


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro definition, ready to expand; `parameters` is None for an object-like macro."""

    name: str
    path: str
    line: int
    parameters: tuple[str, ...] | None
    variadic: str | None  # the name that stands for the rest: __VA_ARGS__, or GNU's `args...`
    body: tuple[Token, ...]


def macro_of(definition: MacroDefinition, path: str) -> Macro:
    """Tokenise a definition; the tokens of its body keep the lines on which they are written."""
    parameters = definition.parameters
    variadic = None
    if parameters and parameters[-1].endswith("..."):
        variadic = parameters[-1].removesuffix("...").strip() or "__VA_ARGS__"
        parameters = parameters[:-1]
    body = tuple(tokenize(definition.body.replace("\\\n", "\n"), path, definition.line))
    return Macro(definition.name, path, definition.line, parameters, variadic, body)


class MacroTable:
    """All macro definitions of a tree. `holds` tells whether conditions hold in the view that we expand for: True,
    False or None (cannot be told); definitions under a false condition are only taken when there is no other.
    """

    def __init__(self, facts: Mapping[str, FileFacts], holds: Callable[[tuple[str, ...]], bool | None]) -> None:
        self._holds = lru_cache(maxsize=None)(holds)
        self._by_name: dict[str, list[tuple[str, MacroDefinition]]] = {}
        self._includes: dict[str, tuple[str, ...]] = {}
        self._reach: dict[str, frozenset[str]] = {}
        self._ready: dict[tuple[str, str, int], Macro] = {}
        self._paths = _IncludePaths(facts)
        for path, file in facts.items():
            for definition in file.macros:
                self._by_name.setdefault(definition.name, []).append((path, definition))
            if file.includes and file.language != "Python":
                self._includes[path] = tuple(include.target for include in file.includes)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def definitions(self, name: str) -> tuple[tuple[str, MacroDefinition], ...]:
        """Every definition of a name, as (path, definition)."""
        return tuple(self._by_name.get(name, ()))

    def names(self) -> KeysView[str]:
        """The names of all macros."""
        return self._by_name.keys()

    def find(self, name: str, path: str, line: int) -> Macro | None:
        """The definition that a use of `name` on that line of that file means; None when that cannot be told."""
        candidates = self._by_name.get(name)
        if candidates is None:
            return None
        here = [c for c in candidates if c[0] == path and c[1].line <= line and not 0 < c[1].undefined <= line]
        if here:
            return self._macro(*self._best(here)[-1])
        headers = [c for c in candidates if c[0] != path and c[1].undefined == 0]
        if len(headers) > 1:
            reach = self.reachable(path)
            headers = self._best([c for c in headers if c[0] in reach] or headers)
        if len(headers) > 1:
            near = [c for c in headers if c[0].rpartition("/")[0] == path.rpartition("/")[0]]
            headers = near or headers
        if len({(d.parameters, d.body) for _, d in headers}) != 1:
            return None
        return self._macro(*headers[0])

    def _best(self, candidates: list[tuple[str, MacroDefinition]]) -> list[tuple[str, MacroDefinition]]:
        for wanted in (True, None):
            chosen = [c for c in candidates if self._holds(c[1].guards) is wanted]
            if chosen:
                return chosen
        return candidates

    def _macro(self, path: str, definition: MacroDefinition) -> Macro:
        key = (path, definition.name, definition.line)
        if key not in self._ready:
            self._ready[key] = macro_of(definition, path)
        return self._ready[key]

    def reachable(self, path: str) -> frozenset[str]:
        """The headers that a file includes, directly or through other headers."""
        if path not in self._reach:
            seen: set[str] = set()
            todo = [path]
            while todo:
                at = todo.pop()
                for target in self._includes.get(at, ()):
                    header = self._paths.resolve(target, at)
                    if header is not None and header not in seen:
                        seen.add(header)
                        todo.append(header)
            self._reach[path] = frozenset(seen)
        return self._reach[path]


class _IncludePaths:
    """Where an `#include` leads: beside the file, from the root, or from one of the roots that PyTorch's build adds."""

    ROOTS = ("", "aten/src/", "torch/csrc/api/include/", "torch/csrc/", "caffe2/", "aten/src/ATen/")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)

    def resolve(self, target: str, path: str) -> str | None:
        target = target.strip('<>"')
        beside = _joined(path.rpartition("/")[0], target)
        for candidate in (beside, *(root + target for root in self.ROOTS)):
            if candidate in self._paths:
                return candidate
        return None


def _joined(folder: str, target: str) -> str:
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
