# SPDX-License-Identifier: BSD-3-Clause
"""Facts -> the files and symbols that an atlas lists, with includes and imports resolved inside the tree."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from cartographer.model.atlas import FileEntry, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cartographer.model.fact import Definition, FileFacts
    from cartographer.model.source import TreeFile

# Where the build looks for headers besides the including file's own folder and the root (CMake's include folders of
# caffe2/CMakeLists.txt and aten/CMakeLists.txt).
_INCLUDE_ROOTS = ("", "aten/src", "torch/csrc/api/include", "torch/csrc", "torch/lib", "aten/src/TH", "caffe2/..")
_NOT_LISTED = frozenset(("declaration", "variable", "alias", "lambda-variable"))


def file_entries(files: Iterable[TreeFile], facts: Mapping[str, FileFacts]) -> tuple[FileEntry, ...]:
    """One entry for each file that was scanned."""
    known = {file.path for file in files}
    resolve = _Resolver(known)
    return tuple(
        FileEntry(
            path=file.path, blob=file.blob, size=file.size, language=found.language, lines=found.lines,
            error_nodes=found.error_nodes, error_bytes=found.error_bytes, notes=found.notes,
            includes=tuple((resolve(file.path, include.target), include.line) for include in found.includes),
        )
        for file in files
        if (found := facts.get(file.path)) is not None
    )


class _Resolver:
    """An include or import as written -> the path in the tree, or the text itself when it lies outside."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self._seen: dict[tuple[str, str], str] = {}

    def __call__(self, path: str, target: str) -> str:
        key = (posixpath.dirname(path), target)
        if key not in self._seen:
            candidates = _python(path, target) if path.endswith((".py", ".pyi")) else _headers(key[0], target)
            self._seen[key] = next((c for c in candidates if c in self._known), target)
        return self._seen[key]


def _headers(folder: str, target: str) -> Iterator[str]:
    yield posixpath.normpath(posixpath.join(folder, target))
    for root in _INCLUDE_ROOTS:
        yield posixpath.normpath(posixpath.join(root, target))


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
        yield from sorted(listed, key=lambda s: (s.line, s.qualname, s.kind))


def _symbol(path: str, d: Definition) -> Symbol:
    signature = f"({', '.join(d.parameters)})" if d.kind not in ("class", "struct", "enum") else ""
    return Symbol(d.name, d.qualname, d.kind, path, d.line, d.end, signature, d.guards)


def extents(facts: Mapping[str, FileFacts]) -> Callable[[str, int], tuple[int, int]]:
    """From a place to the first and last line of the definition whose name stands there; the line alone when none does."""
    known: dict[str, dict[int, tuple[int, int]]] = {}

    def extent(path: str, line: int) -> tuple[int, int]:
        if path not in known:
            found = facts.get(path)
            known[path] = {d.line: (d.start, d.end) for d in found.definitions} if found else {}
        return known[path].get(line, (line, line))

    return extent
