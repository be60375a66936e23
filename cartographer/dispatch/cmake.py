# SPDX-License-Identifier: BSD-3-Clause
"""Reads from PyTorch's CMake files which source files go into a library and under which conditions,
which switches there are and what they are by default, which names the compiler gets with -D.

A reading, not a run: every branch is taken with its condition noted, and only the commands that move source files
and switches are understood. The lists that CMake itself takes from build_variables.bzl are read from there.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from cartographer.scan.cmake import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Conditions = tuple[str, ...]
_DEFINE = re.compile(r"-D([A-Za-z_]\w*)")
_ROOTS = ("PROJECT_SOURCE_DIR", "CMAKE_SOURCE_DIR", "TORCH_ROOT", "Torch_SOURCE_DIR", "Caffe2_SOURCE_DIR", "CAFFE2_ROOT")
# Bounds for files that nobody would write: of files in one list, of conditions under which one file is in a list, and of a
# condition's length. PyTorch stays below a hundredth of each.
_MOST, _MOST_WAYS, _LONGEST = 100_000, 64, 10_000
_SKIPPED_BODIES = {"function": "endfunction", "macro": "endmacro"}
_LIBRARIES = frozenset({"add_library", "cuda_add_library", "hip_add_library", "target_sources", "torch_compile_options", "add_executable"})


class Source(NamedTuple):
    """A file, or a glob pattern, in a list of CMake, and the conditions under which it is in that list."""

    pattern: str
    conditions: Conditions
    recursive: bool = False


class Setting(NamedTuple):
    """One value that a switch is set to: "ON", "OFF", or for a dependent option its value when `depends` fails."""

    value: str
    conditions: Conditions
    depends: str = ""
    otherwise: str = ""


@dataclass(slots=True)
class Project:
    """What the CMake files set and add, in the order in which CMake executes them."""

    sources: list[Source] = field(default_factory=list)  # of libraries and executables
    settings: dict[str, list[Setting]] = field(default_factory=dict)
    definitions: dict[str, list[Conditions]] = field(default_factory=dict)  # compiler definitions


def read_project(read: Callable[[str], bytes | None]) -> Project:
    """Follow CMakeLists.txt from the root. `read(path)` gives a file's bytes or None."""
    walk = _Walk(read)
    walk.file("CMakeLists.txt", "")
    return walk.project


class _Walk:
    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self.project = Project()
        self._read = read
        self._lists: dict[str, list[Source]] = {}
        self._conditions: list[str] = []
        self._loops: list[str] = []  # variables of the foreach() around
        self._active: list[str] = []
        self._filelists = _filelists(read)

    def file(self, path: str, folder: str) -> None:
        """Execute one CMake file as far as we understand it."""
        data = self._read(path)
        if data is None or path in self._active:
            return
        self._active.append(path)
        depth = len(self._conditions)
        branches: list[list[str]] = []
        until = ""
        for name, arguments, _ in commands(data.decode("utf-8", "replace")):
            if until:
                until = "" if name == until else until
                continue
            until = _SKIPPED_BODIES.get(name, "")
            if until or self._branch(name, arguments, branches) or self._loop(name, arguments, folder):
                continue
            self._command(name, arguments, folder)
        del self._conditions[depth:]
        self._active.pop()

    def _here(self) -> Conditions:
        """The conditions around, those on the variable of a loop aside: its items take one branch or another."""
        return tuple(c for c in self._conditions if not any(re.search(rf"\b{re.escape(name)}\b", c) for name in self._loops))

    def _loop(self, name: str, arguments: list[str], folder: str) -> bool:
        """A foreach(): its body is read once, with all items as the value of the variable."""
        if name == "foreach" and arguments:
            items = [a for a in arguments[1:] if a not in ("IN", "LISTS", "ITEMS", "ZIP_LISTS")]
            named = [f"${{{a}}}" if a in self._lists else a for a in items]
            self._lists[arguments[0]] = self._sources(named, folder)
            self._loops.append(arguments[0])
        elif name == "endforeach" and self._loops:
            self._loops.pop()
        else:
            return False
        return True

    def _branch(self, name: str, arguments: list[str], branches: list[list[str]]) -> bool:
        if name == "if":
            branches.append([" ".join(arguments)])
            self._conditions.append(branches[-1][0])
        elif name in ("elseif", "else") and branches:
            condition = " AND ".join(f"NOT ( {c} )" for c in branches[-1])
            if name == "elseif":
                branches[-1].append(" ".join(arguments))
                condition += f" AND ( {branches[-1][-1]} )"
            self._conditions[-1] = condition if len(condition) <= _LONGEST else "A_CONDITION_TOO_LONG_TO_READ"
        elif name == "endif" and branches:
            branches.pop()
            self._conditions.pop()
        else:
            return name in ("elseif", "else", "endif")
        return True

    def _command(self, name: str, arguments: list[str], folder: str) -> None:
        if name == "set" and arguments:
            self._set(arguments, folder)
        elif name == "list" and arguments[:1] == ["APPEND"] and len(arguments) > 1:
            self._append(arguments[1], self._sources(arguments[2:], folder))
        elif name == "file" and arguments[:1] in (["GLOB"], ["GLOB_RECURSE"]) and len(arguments) > 2:
            recursive = arguments[0] == "GLOB_RECURSE"
            found = [s._replace(recursive=recursive) for s in self._sources(arguments[2:], folder)]
            self._lists[arguments[1]] = found
        elif name == "append_filelist" and len(arguments) > 1:
            paths = self._filelists.get(arguments[0].strip(), ())
            self._append(arguments[1], [Source(p, self._here()) for p in paths])
        elif name in _LIBRARIES and len(arguments) > 1:
            self.project.sources.extend(self._sources(arguments[1:], folder))
        elif name in ("add_subdirectory", "include") and arguments:
            self._other_file(name, arguments[0], folder)
        else:
            self._switches(name, arguments)

    def _switches(self, name: str, arguments: list[str]) -> None:
        conditions = self._here()
        if name in ("option", "cmake_dependent_option") and len(arguments) > 1:
            value = arguments[2] if len(arguments) > 2 else "OFF"
            depends, otherwise = (arguments[3], arguments[4]) if len(arguments) > 4 else ("", "")
            self.project.settings.setdefault(arguments[0], []).append(Setting(value, conditions, depends, otherwise))
        elif name in ("target_compile_definitions", "add_compile_definitions"):
            for argument in arguments[name.startswith("target") :]:
                if re.match(r"(?:-D)?[A-Z_]\w*(?:=.*)?\Z", argument) and argument not in ("PRIVATE", "PUBLIC", "INTERFACE"):
                    self._define(argument.removeprefix("-D").partition("=")[0])
        elif name in ("add_definitions", "string", "add_compile_options", "target_compile_options"):
            for defined in _DEFINE.findall(" ".join(arguments)):
                self._define(defined)

    def _define(self, name: str) -> None:
        self.project.definitions.setdefault(name, []).append(self._here())

    def _set(self, arguments: list[str], folder: str) -> None:
        name, *values = [a for a in arguments if a not in ("PARENT_SCOPE", "CACHE")] or [""]
        for defined in _DEFINE.findall(" ".join(values)):
            self._define(defined)
        if values and re.fullmatch(r"\$\{\w+\}|[\w+-]*", values[0]):
            self.project.settings.setdefault(name, []).append(Setting(values[0], self._here()))
        found = self._sources(values, folder)
        # In a branch the old value may remain: keep both, each with its conditions.
        if self._conditions or self._loops:
            self._append(name, found)
        else:
            self._lists[name] = found

    def _append(self, name: str, found: list[Source]) -> None:
        """Add sources to a list; one that is there under fewer conditions already says all."""
        old = self._lists.setdefault(name, [])
        weakest: dict[str, list[set[str]]] = {}
        for source in old:
            weakest.setdefault(source.pattern, []).append(set(source.conditions))
        for source in found:
            mine = set(source.conditions)
            known = weakest.setdefault(source.pattern, [])
            if len(known) < _MOST_WAYS and not any(k <= mine for k in known):
                known.append(mine)
                old.append(source)

    def _sources(self, arguments: list[str], folder: str) -> list[Source]:
        here = self._here()
        found: list[Source] = []
        for argument in arguments:
            whole = re.fullmatch(r"\$\{(\w+)\}", argument)
            if whole is not None and whole.group(1) in self._lists:
                for source in self._lists[whole.group(1)]:
                    added = tuple(c for c in here if c not in source.conditions)
                    found.append(source._replace(conditions=source.conditions + added))
            else:
                found.extend(Source(p, here) for part in argument.split(";") if (p := _path(part, folder)) is not None)
        return list(dict.fromkeys(found))

    def _other_file(self, name: str, argument: str, folder: str) -> None:
        path = _path(argument, folder, any_file=True)
        if path is None:
            return
        if name == "add_subdirectory":
            self.file(f"{path}/CMakeLists.txt" if path else "CMakeLists.txt", path)
        else:
            for candidate in (path, f"{path}.cmake", argument, f"cmake/{argument}.cmake"):
                if candidate.endswith(".cmake"):
                    self.file(candidate, folder)


def _path(argument: str, folder: str, *, any_file: bool = False) -> str | None:
    """A path from the root of the tree; None for what is no source file or holds variables that we do not know."""
    relative = True
    for root in _ROOTS:
        if argument.startswith("${" + root + "}"):
            argument, relative = argument[len(root) + 3 :].lstrip("/"), False
    if argument.startswith("${TORCH_SRC_DIR}"):
        argument, relative = "torch" + argument[len("${TORCH_SRC_DIR}") :], False
    for here in ("${CMAKE_CURRENT_SOURCE_DIR}", "${CMAKE_CURRENT_LIST_DIR}"):
        argument = argument.replace(here + "/", "").replace(here, ".")
    if "$" in argument or argument.startswith("/") or not argument:
        return None
    if not any_file and not re.search(r"\.(?:cpp|cc|cu|c|mm|hip)\Z", argument):
        return None
    parts: list[str] = folder.split("/") if relative and folder else []
    for part in argument.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def _filelists(read: Callable[[str], bytes | None]) -> dict[str, tuple[str, ...]]:
    """The lists of source files in build_variables.bzl, by name."""
    data = read("build_variables.bzl") or read("tools/build_variables.bzl")
    lists: dict[str, tuple[str, ...]] = {}
    try:
        for statement in ast.parse(data or b"").body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                lists[statement.targets[0].id] = tuple(islice(_strings(statement.value, lists), _MOST))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # damaged, or nested without end
        return lists
    return lists


def _strings(node: ast.expr, lists: dict[str, tuple[str, ...]]) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield from _strings(item, lists)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _strings(left, lists)
            yield from _strings(right, lists)
        case ast.Name(id=name):
            yield from lists.get(name, ())
        case ast.Call(func=ast.Name(id="sorted" | "list" | "depset"), args=args):
            for argument in args:
                yield from _strings(argument, lists)
        case _:
            return
