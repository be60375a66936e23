# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tests that run over lists of OpInfo records: methods of test classes that are made for each device, decorated with such a list."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from cartographer.contributing.infos import MAIN, NONE, File, Info, Infos, Lists
from cartographer.contributing.python import last, outermost, outline
from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EVERY = "OpInfo"  # the class of all records
_DECORATOR = "ops"  # of torch/testing/_internal/common_device_type.py, as is what follows
_MAKER = "instantiate_device_type_tests"
FILE = re.compile(r"test/(?:.*/)?test_[^/]*\.py")  # what test/run_test.py takes for a suite
_IMPORTS = re.compile(r"common_methods_invocations|opinfo|_op_db\b")


def suites(texts: Mapping[str, str]) -> Iterator[Landmark]:
    """The files with tests over every record of a class, or over some, with their number; and the classes of the main list."""
    lists = Lists(texts)
    for path, text in texts.items():
        if FILE.fullmatch(path) and _MAKER in text and _IMPORTS.search(text) and (tree := outline(text)):
            yield from _of_file(path, tree, lists)
    home = lists.file(MAIN[0])
    for kind in {info.kind for info in lists.every.all} if home else ():
        yield Landmark(kind, "listed", MAIN[0], home.lines[MAIN[1]] if home else 0, MAIN[1])


def _of_file(path: str, tree: ast.Module, lists: Lists) -> Iterator[Landmark]:
    whole: dict[str, list[int]] = defaultdict(list)
    part: dict[str, list[int]] = defaultdict(list)
    for line, infos in _tests(File(path, tree), lists):
        for kind, is_whole in _kinds(infos, lists).items():
            (whole if is_whole else part)[kind].append(line)
    for kind in sorted({*whole, *part}):
        lines = sorted(whole[kind]) or sorted(part[kind])
        yield Landmark(kind, "tests", path, lines[0], _said(len(whole[kind]), len(part[kind]), kind))


def _said(whole: int, part: int, kind: str) -> str:
    if not whole:
        return f"{part} test{'s' * (part > 1)} over some {kind}"
    return f"{whole} test{'s' * (whole > 1)} over every {kind}" + (f", {part} over some" if part else "")


def _kinds(infos: Infos, lists: Lists) -> dict[str, bool]:
    """The classes that a test runs over, and whether over every record of them."""
    every, found = lists.every.all, {}
    rest: frozenset[Info] = infos.all
    if every and every <= infos.all:
        found[EVERY] = every <= infos.whole
        rest -= every
    for kind in {info.kind for info in rest} - {EVERY}:
        members = {info for info in every if info.kind == kind}
        found[kind] = members <= infos.whole and any(info.kind == kind for info in infos.whole)
    return found


def _tests(file: File, lists: Lists) -> Iterator[tuple[int, Infos]]:
    """The tests of the classes that are run: the line of the decorator, and the records. Not what a function defines: that is a sample for a test of the tools."""
    statements = list(outermost(file.tree.body))
    run = {last(call.args[0]) for call in _calls(statements) if last(call.func) == _MAKER and call.args}
    run |= {base for name in run for base in _ancestors(name, file)}
    aliases = {_DECORATOR, *(name for name, value in _assigned(statements) if _is_partial(value))}
    for statement in statements:
        if not isinstance(statement, ast.ClassDef) or statement.name not in run:
            continue
        inside = list(outermost(statement.body))
        own = aliases | {name for name, value in _assigned(inside) if _is_partial(value)}
        for method in inside:
            if isinstance(method, ast.FunctionDef) and method.name.startswith("test"):
                for decorator in method.decorator_list:
                    if isinstance(decorator, ast.Call) and last(decorator.func) in own and (infos := _handed(decorator, file, lists)) != NONE:
                        yield decorator.lineno, infos


def _handed(decorator: ast.Call, file: File, lists: Lists) -> Infos:
    handed = decorator.args[0] if decorator.args else next((k.value for k in decorator.keywords if k.arg == "op_list"), None)
    return lists.of(handed, file) if handed is not None else NONE


def _calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    return (s.value for s in statements if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))


def _assigned(statements: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value


def _is_partial(value: ast.expr) -> bool:
    """`partial(ops, dtypes=...)`, which is a decorator with some of its arguments given."""
    match value:
        case ast.Call(func=function, args=[first, *_]):
            return last(function) == "partial" and last(first) == _DECORATOR
    return False


def _ancestors(name: str, file: File, deep: int = 0) -> Iterator[str]:
    for base in file.bases.get(name, ()) if deep < 10 else ():
        yield base
        yield from _ancestors(base, file, deep + 1)
