# SPDX-License-Identifier: BSD-3-Clause
"""Finds places that a contributor needs beside the way of a call: documentation and its index, OpInfos, meta functions,
decompositions, references, owners. What has a reader of its own (tests, commands, further registries) is found in `contributing`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.model.fact import FileFacts, PythonCall
    from cartographer.model.operator import Operator

OWNERS = ("CODEOWNERS", ".github/CODEOWNERS")
GUIDE = "CONTRIBUTING.md"
COMPATIBILITY = (
    "test/forward_backward_compatibility/check_forward_backward_compatibility.py",
    "test/backward_compatibility/check_backward_compatibility.py",
)
# What nobody scans and the guide names: read for its length.
_LONG = ("aten/src/ATen/native/native_functions.yaml", "aten/src/ATen/native/README.md", "tools/autograd/derivatives.yaml")
WANTED = (*OWNERS, GUIDE, *COMPATIBILITY, *_LONG, "torch/testing/_internal/*.py", "docs/source/*.rst", "docs/source/*.md")

_DOCS = {"add_docstr": "torch/_torch_docs.py", "add_docstr_all": "torch/_tensor_docs.py", "_add_docstr": "torch/"}
# Both stand at the beginning of their lines, which is looked at when the fixed word, which is found fast, is there.
_OPINFO = re.compile(r"Info\(\s*['\"]([\w.]+)['\"]")
_OPINFO_HEAD = re.compile(r"[ \t]+(\w*)")
_OPERATOR = re.compile(r"(?:torch\.ops\.)?\b(aten|prims)\.(\w+)")
_MAPPED = re.compile(r"^\s*[*-] \[[^\]]+\]\(([\w./-]+)\)")
_LISTED = re.compile(r"^[ \t]+\(\s*r?\"(aten|prims)::([\w.]+)", re.MULTILINE)
_META = re.compile(r"TORCH_(?:PRECOMPUTE_)?META_FUNC2?\b")
_MODULE = re.compile(r"^\.\. (?:currentmodule|module|automodule):: ([\w.]+)\s*$")
_ENTRY = re.compile(r"^\s+~?([A-Za-z_][\w.]*)\s*$")
_AUTO = re.compile(r"^\.\. auto(?:function|method|class):: ([\w.]+)")


def landmarks(operators: Iterable[Operator], facts: Mapping[str, FileFacts], texts: Mapping[str, bytes]) -> tuple[Landmark, ...]:
    """All landmarks of a tree, sorted; of operators only those that exist."""
    known = {f"{op.namespace}::{op.base}" for op in operators}
    python = {_tail(b.python): f"{op.namespace}::{op.base}" for op in operators for b in op.bindings if not b.deprecated}
    decoded = {path: data.decode("utf-8", "replace") for path, data in texts.items()}
    found = {
        *_from_facts(facts, known, python),
        *(mark for path, text in decoded.items() for mark in _from_text(path, text, known, python)),
        *(Landmark(path, "length", path, text.count("\n") + (not text.endswith("\n"))) for path, text in decoded.items() if path not in facts),
    }
    return tuple(sorted(found, key=lambda m: (m.subject, m.kind, m.path, m.line, m.text)))


def _tail(python: str) -> str:
    """`linalg.svd` of torch._C._linalg.linalg_svd, `exp` of torch.exp and torch.Tensor.exp."""
    return python.rpartition(".")[2]


def _from_facts(facts: Mapping[str, FileFacts], known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    metas = {macro.name for found in facts.values() for macro in found.macros if _META.search(macro.body)}
    for path, found in facts.items():
        if found.language != "Python":
            yield from _metas(path, found, metas, known)
        if not path.startswith("torch/") or found.language != "Python":
            continue
        for call in found.python_calls:
            yield from _of_call(path, call, known, python)
        if path.startswith("torch/_refs/"):
            for definition in found.definitions:
                if definition.kind == "function" and (subject := _subject(definition.name, known, python)):
                    yield Landmark(subject, "reference", path, definition.line, definition.name)


def _metas(path: str, found: FileFacts, macros: set[str], known: set[str]) -> Iterator[Landmark]:
    """Meta functions of structured kernels: `TORCH_META_FUNC(addmm) (...) {...}`, or a macro whose body is one."""
    for definition in found.definitions:
        if len(definition.macro) > 1 and _META.fullmatch(definition.macro[0]) and f"aten::{definition.macro[1]}" in known:
            yield Landmark(f"aten::{definition.macro[1]}", "meta", path, definition.line, definition.name)
    for use in found.uses:
        if use.name in macros and use.arguments and f"aten::{use.arguments[0]}" in known:
            yield Landmark(f"aten::{use.arguments[0]}", "meta", path, use.line, f"{use.name}({use.arguments[0]})")


def _of_call(path: str, call: PythonCall, known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    last = call.name.rpartition(".")[2]
    if last in _DOCS and path.startswith(_DOCS[last]) and call.arguments:
        if subject := _subject(_tail(call.arguments[0].strip("\"'")), known, python):
            yield Landmark(subject, "docs", path, call.line, call.arguments[0].strip("\"'"))
    elif last in ("register_decomposition", "register_meta") and call.decorated:
        kind = "decomposition" if last == "register_decomposition" else "meta"
        for namespace, name in _OPERATOR.findall(" ".join(call.arguments)):
            if f"{namespace}::{name}" in known:
                yield Landmark(f"{namespace}::{name}", kind, path, call.decorated_line or call.line, call.decorated)


def _subject(name: str, known: set[str], python: Mapping[str, str]) -> str:
    """The operator of a Python name: that of its binding, else the one of that base name."""
    return python.get(name) or (f"aten::{name}" if f"aten::{name}" in known else "")


def _from_text(path: str, text: str, known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    lines = _Lines(text)
    if path in OWNERS:
        yield from _owners(path, text)
    elif path == GUIDE:
        yield from _map(text)
    elif path in COMPATIBILITY:
        for match in _LISTED.finditer(text):
            name = f"{match[1]}::{match[2].partition('.')[0]}"
            if name in known:
                yield Landmark(name, "compatibility", path, lines.at(match.start(1)), match[2])
    elif path.startswith("docs/"):
        yield from _index(path, text, known, python)
    elif path.startswith("torch/testing/"):
        yield from _opinfos(path, text, known, python)


def _opinfos(path: str, text: str, known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    """`OpInfo("exp", ...)` and the like, each at the beginning of a line."""
    lines = _Lines(text)
    for match in _OPINFO.finditer(text):
        head = _OPINFO_HEAD.fullmatch(text, text.rfind("\n", 0, match.start()) + 1, match.start())
        if head is None:
            continue
        kind, name = f"{head[1]}Info", match[1]
        prefix = "_foreach_" if kind.startswith("Foreach") and not name.startswith("_foreach_") else ""
        if subject := _subject(prefix + _tail(name), known, python) or _subject(name.replace(".", "_"), known, python):
            yield Landmark(subject, "opinfo", path, lines.at(match.start()), f"{kind}({name})")


def _owners(path: str, text: str) -> Iterator[Landmark]:
    """`pattern @owner @owner`, as GitHub reads it; # begins a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        pattern, *owners = line.partition("#")[0].split() or [""]
        if owners:
            yield Landmark(pattern, "owner", path, number, " ".join(owners))


def _map(text: str) -> Iterator[Landmark]:
    """Folders that its map of the repository names: list items that begin with a link to a path of the tree."""
    for number, line in enumerate(text.split("\n"), 1):
        if (match := _MAPPED.match(line)) and "://" not in match[1]:
            yield Landmark(match[1].strip("/"), "map", GUIDE, number, match[1])


def _index(path: str, text: str, known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    """Entries of the documentation's index: names in an autosummary block, or an autofunction line."""
    module, inside = "torch", False
    for number, line in enumerate(text.split("\n"), 1):
        if match := _MODULE.match(line):
            module = match[1]
        auto = _AUTO.match(line)
        if line.startswith(".. autosummary::"):
            inside = True
        elif line.strip() and not line[0].isspace():
            inside = False
        entry = auto[1] if auto else match[1] if inside and (match := _ENTRY.match(line)) else ""
        if entry and (subject := _documented(entry, module, known, python)):
            yield Landmark(subject, "index", path, number, entry if entry.startswith(f"{module}.") else f"{module}.{entry}")


def _documented(entry: str, module: str, known: set[str], python: Mapping[str, str]) -> str:
    """The operator of an entry: of `exp` in torch, `Tensor.exp`, nn.functional's, or `svd` in torch.linalg (linalg_svd)."""
    full = entry if entry.startswith("torch.") else f"{module}.{entry}"
    owner, _, name = full.rpartition(".")
    if owner in ("torch", "torch.Tensor", "torch.nn.functional"):
        return _subject(name, known, python)
    prefixed = f"{owner.rpartition('.')[2]}_{name}"
    return _subject(prefixed, known, python) if owner.startswith("torch.") else ""


class _Lines:
    """The lines of a text by their offsets."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(line) + 1 for line in self._text.split("\n")))

    def at(self, offset: int) -> int:
        """The number of the line that holds an offset."""
        return bisect_right(self._ends, offset) + 1
