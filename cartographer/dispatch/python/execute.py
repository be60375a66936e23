# SPDX-License-Identifier: BSD-3-Clause
"""The interpreter that follows one import of torch: its modules, and what is known while their statements run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cartographer.dispatch.python import calls, statements
from cartographer.dispatch.python.attributes import attribute
from cartographer.dispatch.python.values import (
    Class,
    Function,
    Lazy,
    Module,
    OutOfStepsError,
    RaisedError,
    Scope,
    Text,
    Unknown,
    Value,
)
from cartographer.model.atlas import Unresolved
from cartographer.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.dispatch.python.imports import Sources
    from cartographer.dispatch.python.world import World

STEPS = 3_000_000  # statements and calls of one import; PyTorch 2.6 takes about a tenth


class Interpreter:
    """Follows one import of torch, module by module, and changes the state of the dispatcher (`world`) as the registrations do."""

    def __init__(
        self,
        sources: Sources,
        world: World,
        builtins: dict[str, Value],
        natives: dict[str, Module],
        switch: Callable[[str], bool | None],
    ) -> None:
        self.sources = sources
        self.world = world
        self.builtins = builtins
        self._switch = switch
        self.modules: dict[str, Module] = dict(natives)
        self.conditions: list[str] = []
        self.notes: list[Unresolved] = []
        self.returned: Value = None
        self.here: Location | None = None  # the statement of a registering module that is being evaluated
        self._steps = STEPS
        self.depth = 0  # of calls
        self.yields: dict[str, list[int]] = {}  # the lines of modules that speak of yielding
        self.texts: dict[ast.Constant, Text] = {}  # what is written in modules, with its place
        self._written: dict[ast.expr, str] = {}
        self.marks: dict[Value, dict[str, Value]] = {}  # attributes that are set on operators

    def step(self) -> None:
        """Count one statement or call of the evaluated code. Raises OutOfStepsError when there were too many."""
        self._steps -= 1
        if self._steps < 0:
            raise OutOfStepsError

    def switch(self, name: str) -> Value:
        """Whether the stock build has a part: `torch._C._has_mkldnn` asks for "mkldnn"; an unknown value when that cannot be told."""
        answer = self._switch(name)
        return Unknown(name) if answer is None else answer

    def build(self) -> tuple[str, ...]:
        """The conditions around the current statement whose value could not be told, each as "if …"."""
        return tuple(dict.fromkeys(f"if {c}" for c in self.conditions))

    def cannot_tell(self, what: str, place: Location | None) -> None:
        """Record as unresolved that a registration was seen but not understood."""
        here = self.here or place or Location("", 0)
        reason = "it depends on a value that we cannot tell"
        if not self.world.is_complete:
            reason = "it may be of an operator that C++ defines, which is not in a wheel"
        self.notes.append(Unresolved("dispatch", what, reason, here.path, here.line))

    def written(self, condition: ast.expr) -> str:
        """The source text of a condition, cut at 100 characters."""
        if condition not in self._written:
            self._written[condition] = ast.unparse(condition)[:100]
        return self._written[condition]

    # --- modules

    def import_module(self, name: str) -> Module | None:
        """Import a module and its parents, as Python does; None for a module outside the tree."""
        found: Module | None = None
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            full = ".".join(parts[:length])
            found = self.modules.get(full)
            if found is None:
                path = self.sources.path(full)
                if path is None:
                    return None
                found = self.modules[full] = Module(full, path)
            if found.state == "new" and not found.native:
                found.state = "imported"
                if length > 1 and self.sources.registers(full):
                    self._execute(found)
                else:
                    self._follow(full)
        return found

    def _follow(self, name: str) -> None:
        for source, taken in self.sources.imports(name):
            self.import_module(source)
            for member in taken:
                if self.sources.path(f"{source}.{member}") is not None:
                    self.import_module(f"{source}.{member}")

    def _execute(self, module: Module) -> None:
        if module.state in ("executing", "executed") or module.native or not module.path:
            return
        module.state = "executing"
        module.namespace.setdefault("__name__", module.name)
        try:
            tree = ast.parse(self.sources.text(module.name))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.notes.append(Unresolved("dispatch", module.name, f"this Python cannot be parsed: {error}", module.path))
            self._follow(module.name)
            return
        scope = Scope(module.namespace, None, module)
        for node in tree.body:
            self.here = module.at(node.lineno)
            try:
                statements.statement(self, node, scope)
            except RaisedError as error:
                reason = f"evaluation raises {error}"
                self.notes.append(Unresolved("dispatch", module.name, reason, module.path, node.lineno))
            except RecursionError:
                reason = "evaluation nests too deeply"
                self.notes.append(Unresolved("dispatch", module.name, reason, module.path, node.lineno))
        module.state = "executed"

    def member(self, module: Module, name: str) -> Value:
        """The value of `module.name`; a module that registers nothing is evaluated only as far as this name needs it."""
        if name in module.namespace:
            return self.resolved(module.namespace[name])
        if module.stand_in is not None:
            return attribute(self, module.stand_in, name, None)
        full = f"{module.name}.{name}"
        if full in self.modules:
            return self.modules[full]
        if module.state == "imported" and "." in module.name:
            self.index(module)
        if name in module.pending:
            self._bind(module, name)
            return self.resolved(module.namespace.get(name, Unknown(full)))
        return Unknown(full)

    def index(self, module: Module) -> None:
        """Prepare a module that registers nothing by itself: each of its statements runs when a name that it binds is asked for."""
        module.state = "indexed"
        module.namespace.setdefault("__name__", module.name)
        try:
            tree = ast.parse(self.sources.text(module.name))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for statement in tree.body:
            for name in _bound_names(statement) | _acted_on(statement):
                module.pending.setdefault(name, []).append(statement)

    def _bind(self, module: Module, name: str) -> None:
        conditions, self.conditions = self.conditions, []
        scope = Scope(module.namespace, None, module)
        try:
            for node in module.pending.pop(name):
                try:
                    statements.statement(self, node, scope)
                except RaisedError:
                    module.namespace.setdefault(name, Unknown(name))
        finally:
            self.conditions = conditions

    def resolved(self, value: Value) -> Value:
        """The value behind a name that was imported from another module but not evaluated yet."""
        while isinstance(value, Lazy):
            value = self.member(value.module, value.name)
        return value

    def class_member(self, module: str, cls: str, name: str) -> Function | None:
        """A method, from the source of the tree, of a class that we otherwise stand in for; None when the class has no such method."""
        key = f"{module} as written"
        if key not in self.modules:
            self.modules[key] = Module(module, self.sources.path(module) or "", state="imported" if self.sources.path(module) else "executed")
        found = self.member(self.modules[key], cls)
        if not isinstance(found, Class):
            return None
        try:
            member = found.lookup(name)
        except KeyError:
            return None
        return member if isinstance(member, Function) else None

    # --- statements and calls

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> str:
        """Execute a list of statements: see `statements.block`."""
        return statements.block(self, body, scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value to the target of an assignment: see `statements.assign`."""
        statements.assign(self, target, value, scope)

    def execute_text(self, text: Value, scope: Scope) -> Value:
        """Carry out `exec(text)`: see `statements.execute_text`."""
        return statements.execute_text(self, text, scope)

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, name: str
    ) -> Function:
        """The function value of a definition: see `calls.make_function`."""
        return calls.make_function(self, node, scope, name)

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """Call any value, `function(*args, **keywords)`: see `calls.call`."""
        return calls.call(self, function, args, keywords, place)

    def super_of(self, scope: Scope) -> Value:
        """The value of `super()` in a method: see `calls.super_of`."""
        return calls.super_of(scope)


def _bound_names(node: ast.stmt) -> set[str]:
    """The names that a statement at the outermost level binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import() | ast.ImportFrom():
            return {(a.asname or a.name).split(".")[0] for a in node.names}
        case ast.Assign():
            return {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
        case ast.If() | ast.Try() | ast.With() | ast.For():
            inner = [s for s in ast.iter_child_nodes(node) if isinstance(s, ast.stmt)]
            inner += [s for h in getattr(node, "handlers", ()) for s in h.body]
            return {name for s in inner for name in _bound_names(s)}
    return set()


def _acted_on(node: ast.stmt) -> set[str]:
    """The names that a statement changes without binding them: `impl` of `@impl.register`, `table` of `table.update(x)`."""
    if isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
        return {name for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt) for name in _acted_on(part)}
    calls: list[ast.expr] = []
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        calls = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        calls = [node.value.func]
    return {c.value.id for c in calls if isinstance(c, ast.Attribute) and isinstance(c.value, ast.Name)}
