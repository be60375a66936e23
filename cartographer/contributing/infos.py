# SPDX-License-Identifier: BSD-3-Clause
"""Works out which OpInfo records an expression names: `op_db`, a list made from it, a part of it, or the sum of several."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cartographer.contributing.python import dotted, last, outermost, outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HOME = "torch/testing/_internal/"
MAIN = ("torch/testing/_internal/common_methods_invocations.py", "op_db")  # the list that PyTorch describes its operators in
_DEEP = 40  # names that stand for names that stand for names
_MAKES_CLASS = re.compile(r"^class \w+Info\(", re.MULTILINE)
_SAME = ("tuple", "list", "sorted", "set", "frozenset", "chain", "deepcopy", "copy")


class Info(NamedTuple):
    """One record: the class that it is made of, and where."""

    kind: str
    path: str
    line: int


class Infos(NamedTuple):
    """The records that an expression holds for certain, and those of which it holds some."""

    whole: frozenset[Info] = frozenset()
    part: frozenset[Info] = frozenset()

    def __or__(self, other: Infos) -> Infos:
        whole = self.whole | other.whole
        return Infos(whole, (self.part | other.part) - whole)

    @property
    def all(self) -> frozenset[Info]:
        """All records that may be meant."""
        return self.whole | self.part

    @property
    def some(self) -> Infos:
        """The same records, where only some of them are taken."""
        return Infos(part=self.all)


NONE = Infos()


class File:
    """A Python file as far as lists of records go: what its names stand for."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.values: dict[str, list[tuple[str, ast.expr]]] = {}  # name -> ("=" or "+=", expression), in order
        self.lines: dict[str, int] = {}
        self.imports: dict[str, str] = {}  # name -> torch.testing._internal.opinfo.definitions, or that with `.op_db` behind
        self.bases: dict[str, tuple[str, ...]] = {}
        for statement in outermost(tree.body):
            self._note(statement)

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.values.setdefault(name, []).append(("=", value))
                self.lines.setdefault(name, statement.lineno)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                self.values.setdefault(name, []).append(("+=", value))
            case ast.ClassDef(name=name, bases=bases):
                self.bases[name] = tuple(last(base) for base in bases)
            case ast.Import(names=names):
                self.imports.update({n.asname: n.name for n in names if n.asname})
            case ast.ImportFrom(module=str(module), names=names, level=0):
                self.imports.update({n.asname or n.name: f"{module}.{n.name}" for n in names})


class Lists:
    """The lists of records below torch/testing, read as they are asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._files: dict[str, File | None] = {}
        self._named: dict[tuple[str, str], Infos] = {}

    @cached_property
    def every(self) -> Infos:
        """The records of the main list."""
        return self.named(*MAIN)

    def file(self, path: str) -> File | None:
        """A file below torch/testing; None when it is not there or cannot be read."""
        if path not in self._files:
            tree = outline(self._texts[path]) if path in self._texts else None
            self._files[path] = File(path, tree) if tree else None
        return self._files[path]

    def named(self, path: str, name: str, deep: int = 0) -> Infos:
        """The records of a name of a file below torch/testing."""
        key = (path, name)
        if key not in self._named:
            self._named[key] = NONE  # a name that stands for itself
            file = self.file(path)
            self._named[key] = self.of_name(name, file, deep) if file else NONE
        return self._named[key]

    def of_name(self, name: str, file: File, deep: int = 0) -> Infos:
        """The records that a name of a file stands for."""
        found = NONE
        if name not in file.values:
            return self._imported(file.imports.get(name, ""), deep)
        for sign, value in file.values[name]:
            told = self.of(value, file, deep + 1)
            found = told if sign == "=" else found | told
        return found

    def of(self, node: ast.expr, file: File, deep: int = 0) -> Infos:  # noqa: C901 - one case for each form
        """The records that an expression of a file holds."""
        if deep > _DEEP:
            return NONE
        match node:
            case ast.Name(id=name):
                return self.named(file.path, name, deep) if self._files.get(file.path) is file else self.of_name(name, file, deep)
            case ast.Attribute():
                root, _, rest = dotted(node).partition(".")
                return self._imported(f"{file.imports[root]}.{rest}" if root in file.imports else dotted(node), deep)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return _sum(self._element(e, file, deep) for e in elements)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                return self.of(left, file, deep + 1) | self.of(right, file, deep + 1)
            case ast.Subscript(value=value, slice=ast.Slice(lower=ast.Name() | None, upper=ast.Name() | None)):
                return self.of(value, file, deep + 1)  # a run that is split into shards: together they are the list
            case ast.ListComp(elt=element, generators=[loop]) | ast.GeneratorExp(elt=element, generators=[loop]) | ast.SetComp(elt=element, generators=[loop]):
                found = self.of(loop.iter, file, deep + 1)
                same = dotted(element) == dotted(loop.target) != ""
                return self._where(found, dotted(loop.target), loop.ifs) if same else found.some
            case ast.Call(func=function, args=arguments):
                return self._called(last(function), arguments, file, deep)
            case ast.Subscript(value=value):
                return self.of(value, file, deep + 1).some
            case ast.IfExp(body=body, orelse=other):
                return (self.of(body, file, deep + 1) | self.of(other, file, deep + 1)).some
        return NONE

    def is_a(self, kind: str, wanted: str) -> bool:
        """Whether a class of records is another one, or derived from it."""
        return kind == wanted or any(self.is_a(base, wanted) for base in self._bases.get(kind, ()) if base != kind)

    def _element(self, node: ast.expr, file: File, deep: int) -> Infos:
        if isinstance(node, ast.Starred):
            return self.of(node.value, file, deep + 1)
        if isinstance(node, ast.Call) and last(node.func).endswith("Info"):
            return Infos(frozenset({Info(last(node.func), file.path, node.lineno)}))
        return NONE

    def _called(self, name: str, arguments: Sequence[ast.expr], file: File, deep: int) -> Infos:
        if name == "filter" and len(arguments) == 2:
            found = self.of(arguments[1], file, deep + 1)
            match arguments[0]:
                case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=target)]), body=body):
                    return self._where(found, target, (body,))
            return found.some
        found = _sum(self.of(a, file, deep + 1) for a in arguments)
        return found if name in _SAME else found.some

    def _where(self, found: Infos, target: str, conditions: Iterable[ast.expr]) -> Infos:
        """The records for which the conditions hold: a class is told from the record, whatever else is asked leaves some of them."""
        for condition in (part for c in conditions for part in _parts(c)):
            wanted, negated = _classes(condition, target)
            if wanted:
                kept = frozenset(info for info in found.all if any(self.is_a(info.kind, w) for w in wanted) is not negated)
                found = Infos(found.whole & kept, found.part & kept)
            else:
                found = found.some
        return found

    def _imported(self, name: str, deep: int) -> Infos:
        """The records of `torch.testing._internal.common_methods_invocations.op_db`, through files that only hand it on."""
        module, _, attribute = name.rpartition(".")
        folder = module.replace(".", "/")
        for path in (f"{folder}.py", f"{folder}/__init__.py") if folder.startswith(HOME.rstrip("/")) and deep < _DEEP else ():
            if path in self._texts:
                return self.named(path, attribute, deep + 1)
        return NONE

    @cached_property
    def _bases(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for path, text in sorted(self._texts.items()):
            if path.startswith(HOME) and _MAKES_CLASS.search(text) and (file := self.file(path)):
                found.update(file.bases)
        return found


def _sum(found: Iterable[Infos]) -> Infos:
    total = NONE
    for each in found:
        total = total | each
    return total


def _parts(condition: ast.expr) -> Iterator[ast.expr]:
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        for value in condition.values:
            yield from _parts(value)
    else:
        yield condition


def _classes(condition: ast.expr, target: str) -> tuple[tuple[str, ...], bool]:
    """The classes of `isinstance(op, UnaryUfuncInfo)`, and whether it is negated; none for any other condition."""
    match condition:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            classes, negated = _classes(operand, target)
            return classes, not negated
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), ast.Tuple(elts=elements)]) if name == target:
            return tuple(last(e) for e in elements), False
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]) if name == target:
            return (last(kind),), False
    return (), False
