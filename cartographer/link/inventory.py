# SPDX-License-Identifier: BSD-3-Clause
"""Makes the lists of files and symbols that an atlas shows from facts, and resolves includes and imports inside the tree."""

from __future__ import annotations

import posixpath
import re
from operator import attrgetter
from typing import TYPE_CHECKING

from cartographer.model.atlas import INSTANCE, FileEntry, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cartographer.model.fact import Definition, FileFacts, Include
    from cartographer.model.source import TreeFile

# Where the build looks for headers besides the including file's own folder and the root (CMake's include folders of
# caffe2/CMakeLists.txt and aten/CMakeLists.txt).
_INCLUDE_ROOTS = ("", "aten/src", "torch/csrc/api/include", "torch/csrc", "torch/lib", "aten/src/TH", "caffe2/..")
_PLAIN = re.compile(r"[^/.][^/]*(?:/[^/.][^/]*)*")  # a path of names that none begins with a dot
_ORDER = attrgetter("line", "qualname", "kind")
_NOT_LISTED = frozenset(("declaration", "variable", "alias", "lambda-variable"))


def file_entries(files: Iterable[TreeFile], facts: Mapping[str, FileFacts]) -> tuple[FileEntry, ...]:
    """One entry for each file that was scanned."""
    known = {file.path for file in files}
    resolver = _Resolver(known)
    return tuple(
        FileEntry(
            path=file.path, blob=file.blob, size=file.size, language=found.language, lines=found.lines,
            error_nodes=found.error_nodes, error_bytes=found.error_bytes, notes=found.notes,
            includes=tuple(resolver.all(file.path, found.includes)) if found.includes else (),
        )
        for file in files
        if (found := facts.get(file.path)) is not None
    )


class _Resolver:
    """An include or import as written -> the path in the tree, or the text itself when it lies outside."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self._seen: dict[str, dict[str, str]] = {}  # by the folder, then by what is written
        self._below_roots: dict[str, str | None] = {}
        self._modules: dict[str, str] = {}

    def all(self, path: str, includes: Iterable[Include]) -> Iterator[tuple[str, int]]:
        """What the includes of one file lead to, each with its line."""
        folder, python = posixpath.dirname(path), path.endswith((".py", ".pyi"))
        seen = self._seen.setdefault(folder, {})
        for include in includes:
            target = include.target
            found = seen.get(target)
            if found is None:
                found = seen[target] = self._module(path, target) if python else self._header(folder, target)
            yield found, include.line

    def _header(self, folder: str, target: str) -> str:
        beside = _joined(folder, target)
        if beside in self._known:
            return beside
        if target not in self._below_roots:
            candidates = (_joined(root, target) for root in _INCLUDE_ROOTS)
            self._below_roots[target] = next((c for c in candidates if c in self._known), None)
        return self._below_roots[target] or target

    def _module(self, path: str, target: str) -> str:
        if target.startswith("."):
            return next((c for c in _python(path, target) if c in self._known), target)
        if target not in self._modules:  # an absolute name means the same everywhere
            self._modules[target] = next((c for c in _python("", target) if c in self._known), target)
        return self._modules[target]


def _joined(folder: str, target: str) -> str:
    """A path below a folder. Most need no more than a stroke between them."""
    if folder and _PLAIN.fullmatch(target) and _PLAIN.fullmatch(folder):
        return f"{folder}/{target}"
    return posixpath.normpath(posixpath.join(folder, target))


def _python(path: str, target: str) -> Iterator[str]:
    dots = len(target) - len(target.lstrip("."))
    base = posixpath.dirname(path) if dots else ""
    for _ in range(dots - 1):
        base = posixpath.dirname(base)
    module = posixpath.join(base, target[dots:].replace(".", "/")) if target[dots:] else base
    for end in (".py", "/__init__.py", ".pyi"):
        yield module + end
    parent = posixpath.dirname(module)  # `from a.b import name` may have been written down with the name
    for end in (".py", "/__init__.py"):
        yield parent + end


def symbols(facts: Mapping[str, FileFacts]) -> Iterator[Symbol]:
    """All definitions and macros worth finding, file by file, in the order of lines."""
    for path, found in facts.items():
        listed = [_symbol(path, d) for d in found.definitions if d.kind not in _NOT_LISTED]
        listed += [
            Symbol(m.name, m.name, "macro", path, m.line, m.line + m.body.count("\n"),
                   "" if m.parameters is None else f"({', '.join(m.parameters)})", m.guards)
            for m in found.macros
        ]
        listed.sort(key=_ORDER)
        yield from listed


def _symbol(path: str, d: Definition) -> Symbol:
    signature = f"({', '.join(d.parameters)})" if d.kind not in ("class", "struct", "enum") else ""
    if d.kind == "metal-kernel" and d.macro:
        signature = f"{INSTANCE}{d.macro[1] if d.macro[0] == 'host_name' else d.returns}<{d.specialization}>"
    return Symbol(d.name, d.qualname, d.kind, path, d.line, d.end, signature, d.guards)


def extents(facts: Mapping[str, FileFacts]) -> Callable[[str, int], tuple[int, int]]:
    """A function from the place of a definition's name to the definition's first and last line; of any other place the line alone."""
    known: dict[str, dict[int, tuple[int, int]]] = {}

    def extent(path: str, line: int) -> tuple[int, int]:
        if path not in known:
            found = facts.get(path)
            known[path] = {d.line: (d.start, d.end) for d in found.definitions} if found else {}
        return known[path].get(line, (line, line))

    return extent
