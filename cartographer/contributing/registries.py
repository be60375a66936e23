# SPDX-License-Identifier: BSD-3-Clause
"""Finds operators in PyTorch's other registries: torch/overrides.py, inductor's lowerings, the lists of decompositions, tests called after them."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from cartographer.contributing.python import dotted, last, outermost, outline, parsed
from cartographer.contributing.suites import FILE
from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.model.operator import Operator

OVERRIDES = "torch/overrides.py"
_REGISTERED = re.compile(r"register_\w+|make_fallback")  # calls of torch/_inductor that say what becomes of an operator
_LISTED = re.compile(r"get_decompositions|remove_decompositions")
_CALLS = re.compile(r"\b(?:register_\w+|make_fallback|get_decompositions|remove_decompositions)\(")
_OPERATOR = re.compile(r"(?:torch\.ops\.)?aten\.(\w+)(?:\.\w+)?")
_TEST = re.compile(r"^    def test_(\w+)\(self\b", re.MULTILINE)
_OUTSIDE = re.compile(r"^ {0,4}\S", re.MULTILINE)  # where a method ends


def registries(operators: Iterable[Operator], texts: Mapping[str, str]) -> Iterator[Landmark]:
    """The entries of all of these registries that name one of the operators."""
    operators = tuple(operators)
    bound = {b.python: f"{op.namespace}::{op.base}" for op in operators for b in op.bindings if not b.deprecated}
    known = {op.base for op in operators if op.namespace == "aten"}
    tests = {python.rpartition(".")[2]: subject for python, subject in bound.items()}
    for path, text in texts.items():
        if path == OVERRIDES:
            yield from _overrides(text, bound)
        elif path.startswith(("torch/_inductor/", "torch/_decomp/")) and _CALLS.search(text):
            yield from _compilers(path, text, known)
        elif FILE.fullmatch(path):
            yield from _called_after(path, text, tests)


def _overrides(text: str, bound: Mapping[str, str]) -> Iterator[Landmark]:
    """The functions that torch/overrides.py lists, as keys of a dict or members of a set."""
    for node in ast.walk(parsed(text) or ast.Module([], [])):
        listed = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set) else ()
        for entry in listed:
            name = dotted(entry)
            if name and (subject := _bound(f"torch.{name}" if name.startswith("Tensor.") else name, bound)):
                yield Landmark(subject, "override", OVERRIDES, entry.lineno if entry else 0, name)


def _bound(name: str, bound: Mapping[str, str]) -> str:
    """The operator behind a public name: bound by that name, or behind torch.nn.functional, torch.linalg and their like."""
    module, _, function = name.rpartition(".")
    inner = module.rpartition(".")[2]
    behind = ("torch._C._nn.", "torch.") if module == "torch.nn.functional" else (f"torch._C._{inner}.{inner}_",)
    return next((bound[n] for n in (name, *(f"{b}{function}" for b in behind)) if n in bound), "")


def _compilers(path: str, text: str, known: set[str]) -> Iterator[Landmark]:
    tree = outline(text, "register_", "make_fallback", "_decompositions") or ast.Module([], [])
    lists = {
        s.targets[0].id: s.value for s in outermost(tree.body) if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
    }  # fmt: skip
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not (name := last(call.func)):
            continue
        registered = path.startswith("torch/_inductor/") and name != "register_decomposition" and _REGISTERED.fullmatch(name)
        if registered or _LISTED.fullmatch(name):
            for argument in call.args[:1] if registered else call.args:
                given = lists.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
                for entry in given.elts if isinstance(given, ast.List | ast.Tuple) else (given,):
                    if (match := _OPERATOR.fullmatch(dotted(entry))) and match[1] in known:
                        yield Landmark(f"aten::{match[1]}", "lowering" if registered else "decompositions", path, entry.lineno, name)


def _called_after(path: str, text: str, names: Mapping[str, str]) -> Iterator[Landmark]:
    """The first test of a file that is called as an operator is, `def test_gelu(self)`, and calls it by its public name. Not every
    `test_add` is about the operator.
    """
    ends: list[int] = []
    seen = set()
    for match in _TEST.finditer(text):
        if (subject := names.get(match[1])) and subject not in seen and _calls(text, match):
            seen.add(subject)
            ends = ends or [m.start() for m in re.finditer("\n", text)]
            yield Landmark(subject, "named", path, bisect_right(ends, match.start(1)) + 1, f"test_{match[1]}")


def _calls(text: str, test: re.Match[str]) -> bool:
    """Whether the body of a test names `torch.add`, `F.gelu`, `aten.add` or their like."""
    end = _OUTSIDE.search(text, test.end())
    return re.search(rf"\b(?:torch(?:\.\w+)*|F|functional|aten)\.{test[1]}\b", text[test.end() : end.start() if end else len(text)]) is not None
