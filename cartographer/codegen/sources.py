# SPDX-License-Identifier: BSD-3-Clause
"""Reads the generators of the pinned tree, as far as a rule's parameter is stated in them: skip lists, sets of operators
that are registered by hand, shard counts, the names that a function compares with. They are read, never run.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cartographer.codegen import constants
from cartographer.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WANTED = (
    "torchgen/gen.py",
    "torchgen/model.py",
    "torchgen/native_function_generation.py",
    "torchgen/gen_functionalization_type.py",
    "torchgen/utils.py",
    "torchgen/api/*.py",
    "torchgen/dest/*.py",
    "torchgen/gen_vmap_plumbing.py",
    "tools/codegen/*.py",
    "tools/codegen/api/*.py",
    "tools/codegen/dest/*.py",
    "tools/autograd/*.py",
    "tools/autograd/templates/*",
    "tools/pyi/gen_pyi.py",
    "aten/src/ATen/function_wrapper.py",
    "torch/csrc/autograd/python_torch_functions_manual.cpp",
    "torch/csrc/autograd/python_nested_functions_manual.cpp",
    "torch/csrc/autograd/python_variable.cpp",
)

GEN = "gen.py"
MODEL = "model.py"
GENERATION = "native_function_generation.py"
FUNCTIONALIZATION = "gen_functionalization_type.py"
REGISTER = "dest/register_dispatch_key.py"
API_AUTOGRAD = "api/autograd.py"
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # the fields of statements that hold statements, in their order
_FOLDERS = ("torchgen/", "tools/codegen/", "tools/autograd/", "tools/pyi/", "")


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function of a generator, with questions about its syntax tree."""

    node: ast.FunctionDef
    place: Location

    def compared(self, left: str) -> frozenset[str]:
        """The strings that the function compares with `left` (as Python prints that expression), by == or !=."""
        return frozenset(
            literal.value
            for node in ast.walk(self.node)
            if isinstance(node, ast.Compare) and ast.unparse(node.left) == left
            for literal in node.comparators
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str)
        )

    def intersected(self, left: str) -> frozenset[str]:
        """The strings in set literals that the function intersects with `left`: `left & {…}`."""
        return frozenset(
            item.value
            for node in ast.walk(self.node)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) and ast.unparse(node.left) == left
            for item in (node.right.elts if isinstance(node.right, ast.Set) else ())
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        )

    def assigned(self, name: str) -> str:
        """The expression that the function assigns to a name, as Python prints it; "" when it assigns none."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                return ast.unparse(node.value)
        return ""

    def mentions(self, text: str) -> bool:
        """Whether the function contains a string literal that is exactly this text."""
        return any(isinstance(node, ast.Constant) and node.value == text for node in ast.walk(self.node))

    @property
    def text(self) -> str:
        """The function's source as Python prints it, without comments and layout."""
        return ast.unparse(self.node)

    @property
    def names(self) -> frozenset[str]:
        """The names and attributes that the function uses."""
        nodes = list(ast.walk(self.node))
        return frozenset(
            [n.id for n in nodes if isinstance(n, ast.Name)] + [n.attr for n in nodes if isinstance(n, ast.Attribute)]
        )

    def calls(self, name: str) -> Iterator[ast.Call]:
        """The calls in the function of a function or method of that name, in the order written."""
        found = [n for n in ast.walk(self.node) if isinstance(n, ast.Call) and callee(n.func) == name]
        yield from sorted(found, key=lambda n: (n.lineno, n.col_offset))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All statements, those at the outermost level first, as `ast.walk` has them; no expression is looked into."""
    todo: deque[ast.AST] = deque(tree.body)
    while todo:
        node = todo.popleft()
        for block in _BLOCKS:
            todo.extend(getattr(node, block, ()))
        if isinstance(node, ast.stmt):
            yield node


def callee(node: ast.expr) -> str:
    """The last name of what a call expression calls: `f` of `a.f(x)`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def text_of(node: ast.expr) -> str:
    """The text of a string literal; the fields of an f-string keep their names: `Register{dispatch_key}.cpp`."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else f"{{{ast.unparse(p.value)}}}"
                 for p in node.values if isinstance(p, (ast.Constant, ast.FormattedValue)))
        return "".join(str(part) for part in parts)
    return ""


class Module:
    """One Python module of the generators, parsed."""

    def __init__(self, path: str, data: bytes, sources: Sources) -> None:
        self.path = path
        self._sources = sources
        try:
            self.tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # print statements of old, null bytes or endless nesting of a damaged file
            self.tree = ast.Module(body=[], type_ignores=[])

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The module's functions by name, methods also as `Class.method`; of several with one name the first."""
        found: dict[str, Function] = {}
        for node in _statements(self.tree):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, Function(node, Location(self.path, node.lineno)))
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        found[f"{node.name}.{method.name}"] = Function(method, Location(self.path, method.lineno))
        return found

    @cached_property
    def shards(self) -> Mapping[str, tuple[ast.expr, ast.FunctionDef]]:
        """The files that the module writes in parts: the expression for their number, and the function that writes them."""
        found: dict[str, tuple[ast.expr, ast.FunctionDef]] = {}
        for function in self.functions.values():
            for node in ast.walk(function.node):
                number = next((k.value for k in node.keywords if k.arg == "num_shards"), None) if isinstance(node, ast.Call) else None
                if isinstance(node, ast.Call) and number is not None:
                    found |= {text_of(a): (number, function.node) for a in node.args if text_of(a) not in found}
        return found

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """The module's constants, with those that it imports from other generators."""
        imported: dict[str, Any] = {}
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                other = self._sources.module(node.module.rpartition(".")[2] + ".py")
                if other is not None and other is not self:
                    names = {alias.asname or alias.name: alias.name for alias in node.names}
                    wanted = {as_: name for as_, name in names.items() if name.isupper() or name.startswith("_")}
                    imported.update({as_: other.constants[n] for as_, n in wanted.items() if n in other.constants})
        return constants.of_module(self.tree, imported)


class Sources:
    """All sources of generators that the tree has, by path in the repository."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """A module of the generators, `gen.py`, `api/autograd.py`, `gen_trace_type.py`, in whatever folder this release keeps it."""
        if name not in self._modules:
            self._modules[name] = None  # an import cycle ends here
            path = next((folder + name for folder in _FOLDERS if folder + name in self.files), None)
            if path is not None:
                self._modules[name] = Module(path, self.files[path], self)
        return self._modules[name]

    def constant(self, module: str, name: str) -> Any:
        """A constant of a module; None when the module has no such constant."""
        found = self.module(module)
        return found.constants.get(name) if found else None

    def strings(self, module: str, *names: str) -> frozenset[str]:
        """The strings in the first of these constants that the module has."""
        for name in names:
            value = self.constant(module, name)
            if value is not None:
                return constants.strings(value)
        return frozenset()

    def function(self, module: str, *names: str) -> Function | None:
        """The first of these functions that the module has."""
        found = self.module(module)
        return next((found.functions[n] for n in names if n in found.functions), None) if found else None

    def rule(self, module: str, *names: str) -> str:
        """The place where a rule is stated, as printed: `torchgen/gen.py:954`; the module's path when the function is gone,
        nothing when the tree has no such module.
        """
        function = self.function(module, *names)
        if function is not None:
            return str(function.place)
        found = self.module(module)
        return found.path if found else ""

    def place(self, module: str, *names: str) -> Location | None:
        """The location of the first of these functions that the module has: where a rule is stated."""
        function = self.function(module, *names)
        return function.place if function else None

    def compared(self, module: str, function: str, left: str) -> frozenset[str]:
        """The strings that a function of a module compares with an expression."""
        found = self.function(module, function)
        return found.compared(left) if found else frozenset()

    def text(self, path: str) -> str:
        """The text of a file; "" when the tree lacks it."""
        return self.files.get(path, b"").decode("utf-8", "replace")


def matches(path: str) -> bool:
    """Whether a path of the tree is one of the files that this stage reads."""
    return _PATTERN.fullmatch(path) is not None


_PATTERN = re.compile("|".join(re.escape(glob).replace(r"\*", "[^/]*") for glob in WANTED))
