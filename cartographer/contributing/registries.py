# SPDX-License-Identifier: BSD-3-Clause
"""Finds operators in PyTorch's other registries: torch/overrides.py, inductor's lowerings, DTensor's
strategies, the lists of decompositions, tests called after them.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from cartographer.contributing.python import dotted, last, outermost, outline, parsed
from cartographer.contributing.suites import FILE
from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.model.operator import Operator

OVERRIDES = "torch/overrides.py"
SHARDED = ("torch/distributed/tensor/_ops/*.py", "torch/distributed/_tensor/ops/*.py")  # the latter to 2.4
_REGISTERED = re.compile(r"register_\w+|make_fallback")  # calls of torch/_inductor that say what becomes of an operator
_STRATEGY = re.compile(r"register_op_strategy|register_prop_rule")  # of DTensor: how an operator's tensors are spread over devices
_OF_ONE = ("lowering", "sharding")  # whose calls name operators in their first argument alone
_COMPILERS = ("torch/_inductor/", "torch/_decomp/")
_SHARDED = tuple(glob.partition("*")[0] for glob in SHARDED)
_LISTED = re.compile(r"get_decompositions|remove_decompositions")
_MOST = 5_000  # entries of one list, which lists in lists may multiply
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
        elif path.startswith((*_COMPILERS, *_SHARDED)) and _CALLS.search(text):
            yield from _python(path, text, known)
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


def _python(path: str, text: str, known: set[str]) -> Iterator[Landmark]:
    """The calls that register operators, with one operator, a list in place, a list's name, or the variable of a loop over such a list."""
    tree = outline(text, "register_", "make_fallback", "_decompositions") or ast.Module([], [])
    statements = tuple(outermost(tree.body))
    lists = {s.targets[0].id: s.value for s in statements if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    loops = [(loop, bound) for loop in statements if isinstance(loop, ast.For) and (bound := _bound_by(loop, lists))]
    calls = [(call, values) for loop, bound in loops for call in _calls_in(loop) for values in bound]
    for call, values in (*((call, {}) for call in _calls_in(tree)), *calls):
        kind = _kind(path, last(call.func))
        for argument in (call.args[:1] if kind in _OF_ONE else call.args) if kind else ():
            name = argument.id if isinstance(argument, ast.Name) else ""
            if values and name not in values:
                continue
            for entry in (values[name],) if values else _members(argument, lists):
                if (match := _OPERATOR.fullmatch(dotted(entry))) and match[1] in known:
                    yield Landmark(f"aten::{match[1]}", kind, path, entry.lineno, last(call.func))


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (call for call in ast.walk(node) if isinstance(call, ast.Call))


def _kind(path: str, name: str) -> str:
    """What a call with this name does with the operators that it is handed, in a file of this path; "" for anything else."""
    if _LISTED.fullmatch(name) and path.startswith(_COMPILERS):
        return "decompositions"
    if path.startswith("torch/_inductor/"):
        return "lowering" if name != "register_decomposition" and _REGISTERED.fullmatch(name) else ""
    return "sharding" if path.startswith(_SHARDED) and _STRATEGY.fullmatch(name) else ""


def _bound_by(loop: ast.For, lists: Mapping[str, ast.expr]) -> list[dict[str, ast.expr]]:
    """What each turn of a loop over something written in the file binds its variables to."""
    pairs = isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute) and loop.iter.func.attr == "items"
    over = loop.iter.func.value if isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute) and pairs else loop.iter
    bound = []
    for entry in _members(over, lists, whole=False):
        if isinstance(loop.target, ast.Name):
            bound.append({loop.target.id: entry})
        elif isinstance(loop.target, ast.Tuple):
            given = [entry] if pairs else entry.elts if isinstance(entry, ast.Tuple) else []
            bound.append({name.id: value for name, value in zip(loop.target.elts, given, strict=False) if isinstance(name, ast.Name)})
    return bound


def _members(node: ast.expr, lists: Mapping[str, ast.expr], *, whole: bool = True) -> Iterator[ast.expr]:
    """The members of a list that is written in the file, of lists that are joined, the keys of a dict. `whole`: what is no list is its only member."""
    return islice(_entries(node, lists, whole=whole), _MOST)


def _entries(node: ast.expr, lists: Mapping[str, ast.expr], depth: int = 8, *, whole: bool) -> Iterator[ast.expr]:
    if depth and isinstance(node, ast.Name) and node.id in lists:
        yield from _entries(lists[node.id], lists, depth - 1, whole=whole)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for entry in node.elts:
            yield from _entries(entry.value, lists, depth - 1, whole=False) if isinstance(entry, ast.Starred) and depth else (entry,)
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _entries(node.left, lists, depth - 1, whole=False)
        yield from _entries(node.right, lists, depth - 1, whole=False)
    elif whole:
        yield node


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
