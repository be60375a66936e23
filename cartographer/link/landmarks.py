# SPDX-License-Identifier: BSD-3-Clause
"""Places that a contributor needs beside the way of a call: documentation, OpInfo, decompositions, references, owners,
and the commands that the repository's own CONTRIBUTING gives.
"""

from __future__ import annotations

import re
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
WANTED = (*OWNERS, GUIDE, *COMPATIBILITY, "torch/testing/_internal/*.py")

_DOCS = {"add_docstr": "torch/_torch_docs.py", "add_docstr_all": "torch/_tensor_docs.py", "_add_docstr": "torch/"}
_OPINFO = re.compile(r"^[ \t]+((?:\w*Info))\(\s*['\"]([\w.]+)['\"]", re.MULTILINE)
_OPERATOR = re.compile(r"(?:torch\.ops\.)?\b(aten|prims)\.(\w+)")
_COMMAND = re.compile(r"^\s*(?:\$ )?((?:[A-Z_]+=\S+ )*(?:python3?|pip3?|make|lintrunner|conda|pytest)\b[^\n]*?)\s*(?:#.*)?$")
_LISTED = re.compile(r"^[ \t]+\(\s*r?\"(aten|prims)::([\w.]+)", re.MULTILINE)


def landmarks(operators: Iterable[Operator], facts: Mapping[str, FileFacts], texts: Mapping[str, bytes]) -> tuple[Landmark, ...]:
    """All of them, sorted; only those of operators that exist."""
    known = {f"{op.namespace}::{op.base}" for op in operators}
    python = {_tail(b.python): f"{op.namespace}::{op.base}" for op in operators for b in op.bindings if not b.deprecated}
    found = {
        *_from_facts(facts, known, python),
        *(mark for path, data in texts.items() for mark in _from_text(path, data.decode("utf-8", "replace"), known, python)),
    }
    return tuple(sorted(found, key=lambda m: (m.subject, m.kind, m.path, m.line, m.text)))


def _tail(python: str) -> str:
    """`linalg.svd` of torch._C._linalg.linalg_svd, `exp` of torch.exp and torch.Tensor.exp."""
    return python.rpartition(".")[2]


def _from_facts(facts: Mapping[str, FileFacts], known: set[str], python: Mapping[str, str]) -> Iterator[Landmark]:
    for path, found in facts.items():
        if not path.startswith("torch/") or found.language != "Python":
            continue
        for call in found.python_calls:
            yield from _of_call(path, call, known, python)
        if path.startswith("torch/_refs/"):
            for definition in found.definitions:
                if definition.kind == "function" and (subject := _subject(definition.name, known, python)):
                    yield Landmark(subject, "reference", path, definition.line, definition.name)


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
    if path in OWNERS:
        yield from _owners(path, text)
    elif path == GUIDE:
        yield from _commands(text)
    elif path in COMPATIBILITY:
        for match in _LISTED.finditer(text):
            name = f"{match[1]}::{match[2].partition('.')[0]}"
            if name in known:
                yield Landmark(name, "compatibility", path, _line(text, match.start(1)), match[2])
    elif "OpInfo" in text or "UfuncInfo" in text:
        for match in _OPINFO.finditer(text):
            if subject := _subject(_tail(match[2]), known, python) or _subject(match[2].replace(".", "_"), known, python):
                yield Landmark(subject, "opinfo", path, _line(text, match.start(1)), f"{match[1]}({match[2]})")


def _owners(path: str, text: str) -> Iterator[Landmark]:
    """`pattern @owner @owner`, as GitHub reads it; # begins a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        pattern, *owners = line.partition("#")[0].split() or [""]
        if owners:
            yield Landmark(pattern, "owner", path, number, " ".join(owners))


def _commands(text: str) -> Iterator[Landmark]:
    """The commands in fenced blocks, as far as they build, test or lint."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif inside and (match := _COMMAND.match(line)) and any(word in match[1] for word in ("setup.py", "pip install", "test", "lint", "make")):
            yield Landmark("", "command", GUIDE, number, match[1])


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
