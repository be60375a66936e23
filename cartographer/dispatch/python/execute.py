# SPDX-License-Identifier: BSD-3-Clause
"""Statements, calls and imports. Where a condition cannot be told both ways are followed, and what is registered on
them carries the condition.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.dispatch.python.evaluate import attribute, evaluate, is_hashable, truth_of
from cartographer.dispatch.python.values import (
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Native,
    OutOfStepsError,
    Partial,
    Property,
    RaisedError,
    Scope,
    Static,
    TypeName,
    Unknown,
    Value,
    affordable,
)
from cartographer.model.atlas import Unresolved
from cartographer.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.dispatch.python.imports import Sources
    from cartographer.dispatch.python.world import World

STEPS = 3_000_000  # statements and calls of one import; PyTorch 2.6 takes about a tenth
DEPTH = 60  # nested calls
_NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class Lazy:
    """A name taken from a module that we evaluate only if the name is used."""

    module: Module
    name: str


class Interpreter:
    """One import of torch, followed."""

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
        self._depth = 0
        self._lines: dict[str, list[bytes]] = {}
        self.marks: dict[Value, dict[str, Value]] = {}  # attributes that are set on operators

    def step(self) -> None:
        """Count a step. Raises OutOfStepsError."""
        self._steps -= 1
        if self._steps < 0:
            raise OutOfStepsError

    def switch(self, name: str) -> Value:
        """Whether the stock build has something: torch._C._has_mkldnn asks for "mkldnn"."""
        answer = self._switch(name)
        return Unknown(name) if answer is None else answer

    def build(self) -> tuple[str, ...]:
        """The conditions that we could not tell and that hold here."""
        return tuple(dict.fromkeys(f"if {c}" for c in self.conditions))

    def cannot_tell(self, what: str, place: Location | None) -> None:
        """Note that a registration is seen but not understood."""
        here = self.here or place or Location("", 0)
        reason = "it depends on a value that we cannot tell"
        if not self.world.is_complete:
            reason = "it may be of an operator that C++ defines, which is not in a wheel"
        self.notes.append(Unresolved("dispatch", what, reason, here.path, here.line))

    # --- modules

    def import_module(self, name: str) -> Module | None:
        """Import a module with its parents, as Python does; None for one outside the tree."""
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
        for statement in tree.body:
            self.here = module.at(statement.lineno)
            try:
                self.statement(statement, scope)
            except RaisedError as error:
                reason = f"evaluation raises {error}"
                self.notes.append(Unresolved("dispatch", module.name, reason, module.path, statement.lineno))
            except RecursionError:
                reason = "evaluation nests too deeply"
                self.notes.append(Unresolved("dispatch", module.name, reason, module.path, statement.lineno))
        module.state = "executed"

    def member(self, module: Module, name: str) -> Value:
        """`module.name`, evaluating the module if that is needed and it is not the root package."""
        if name in module.namespace:
            return self.resolved(module.namespace[name])
        if module.stand_in is not None:
            return attribute(self, module.stand_in, name, None)
        full = f"{module.name}.{name}"
        if full in self.modules:
            return self.modules[full]
        if module.state == "imported" and "." in module.name:
            self._index(module)
        if name in module.pending:
            self._bind(module, name)
            return self.resolved(module.namespace.get(name, Unknown(full)))
        return Unknown(full)

    def _index(self, module: Module) -> None:
        """Prepare a module that registers nothing by itself: its statements run when their names are asked for."""
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
            for statement in module.pending.pop(name):
                try:
                    self.statement(statement, scope)
                except RaisedError:
                    module.namespace.setdefault(name, Unknown(name))
        finally:
            self.conditions = conditions

    def resolved(self, value: Value) -> Value:
        """A value behind a name that was taken from another module and not looked at yet."""
        while isinstance(value, Lazy):
            value = self.member(value.module, value.name)
        return value

    def class_member(self, module: str, cls: str, name: str) -> Function | None:
        """A method of a class of the tree that we stand in for: what we do not know of it, its source tells."""
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

    # --- statements

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> str:
        """Execute statements: "normal", "return" (the value is in `returned`), "break" or "continue"."""
        for statement in body:
            outcome = self.statement(statement, scope)
            if outcome != _NORMAL:
                return outcome
        return _NORMAL

    def statement(self, node: ast.stmt, scope: Scope) -> str:  # noqa: C901, PLR0912 - one case a kind of statement
        """Execute one statement."""
        self.step()
        match node:
            case ast.Expr():
                evaluate(self, node.value, scope)
            case ast.Assign():
                value = evaluate(self, node.value, scope)
                for target in node.targets:
                    self.assign(target, value, scope)
            case ast.AnnAssign(value=ast.expr() as given):
                self.assign(node.target, evaluate(self, given, scope), scope)
            case ast.AugAssign():
                self._augmented(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.If():
                return self._if(node, scope)
            case ast.For():
                return self._for(node, scope)
            case ast.While():
                if truth_of(evaluate(self, node.test, scope)) is False:
                    return self.block(node.orelse, scope)
            case ast.Try():
                return self._try(node, scope)
            case ast.With():
                return self._with(node, scope)
            case ast.Return():
                self.returned = None if node.value is None else evaluate(self, node.value, scope)
                return "return"
            case ast.Raise():
                if not self.conditions:
                    raise RaisedError(ast.unparse(node)[:80])
            case ast.Break():
                return "break"
            case ast.Continue():
                return "continue"
            case ast.Global() | ast.Nonlocal():
                scope.outer_names.update(node.names)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        scope.variables.pop(target.id, None)
        return _NORMAL

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:  # noqa: C901, PLR0912 - one case a kind of target
        """Bind a target."""
        match target:
            case ast.Name(id=name):
                self._variables_of(name, scope)[name] = value
            case ast.Attribute(value=of, attr=name):
                owner = evaluate(self, of, scope)
                if isinstance(owner, Instance):
                    owner.attributes[name] = value
                elif isinstance(owner, Function):
                    if name == "__name__" and isinstance(value, str):
                        owner.name = value
                    elif name != "__qualname__":
                        owner.attributes[name] = value
                elif isinstance(owner, Class) or (isinstance(owner, Module) and not owner.native):
                    owner.namespace[name] = value
                elif hasattr(type(owner), "get_attribute") and is_hashable(owner):
                    self.marks.setdefault(owner, {})[name] = value
            case ast.Subscript(value=of, slice=index):
                owner, key = evaluate(self, of, scope), evaluate(self, index, scope)
                within = isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
                if within or (isinstance(owner, dict) and is_hashable(key)):
                    owner[key] = value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                known = isinstance(value, (list, tuple)) and len(value) == len(items)
                for number, item in enumerate(items):
                    self.assign(item, value[number] if known else Unknown("part"), scope)
            case ast.Starred(value=of):
                self.assign(of, Unknown("rest"), scope)

    def _variables_of(self, name: str, scope: Scope) -> dict[str, Value]:
        if name in scope.outer_names:
            at = scope.parent
            while at is not None:
                if name in at.variables and not at.is_class:
                    return at.variables
                at = at.parent
            return scope.module.namespace
        return scope.variables

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        if isinstance(node.target, (ast.Name, ast.Attribute, ast.Subscript)):
            read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
            self.assign(node.target, evaluate(self, read, scope), scope)

    def _if(self, node: ast.If, scope: Scope) -> str:
        truth = truth_of(evaluate(self, node.test, scope))
        if truth is not None:
            return self.block(node.body if truth else node.orelse, scope)
        for body, negated in ((node.body, ""), (node.orelse, "not ")):
            self.conditions.append(negated + ast.unparse(node.test)[:100])
            try:
                if self.block(body, scope) == "return":
                    scope.candidates.append(self.returned)
            except RaisedError:
                pass
            finally:
                self.conditions.pop()
        return _NORMAL

    def _for(self, node: ast.For, scope: Scope) -> str:
        source = evaluate(self, node.iter, scope)
        if not isinstance(source, (list, tuple, dict, set, frozenset, range, str)) or not affordable(source):
            return _NORMAL
        for item in list(source):
            self.assign(node.target, item, scope)
            outcome = self.block(node.body, scope)
            if outcome == "return":
                return outcome
            if outcome == "break":
                return _NORMAL
        return self.block(node.orelse, scope)

    def _try(self, node: ast.Try, scope: Scope) -> str:
        try:
            outcome = self.block(node.body, scope)
            if outcome == _NORMAL:
                outcome = self.block(node.orelse, scope)
        except RaisedError as error:
            handler = next((h for h in node.handlers if _catches(h, error)), None)
            if handler is None:
                raise
            if handler.name:
                scope.variables[handler.name] = Unknown("exception")
            outcome = self.block(handler.body, scope)
        final = self.block(node.finalbody, scope)
        return final if final != _NORMAL else outcome

    def _with(self, node: ast.With, scope: Scope) -> str:
        for item in node.items:
            manager = evaluate(self, item.context_expr, scope)
            entered: Value = Unknown("with")
            if isinstance(manager, Instance):
                enter = attribute(self, manager, "__enter__", None)
                entered = self.call(enter, [], {}, None)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, scope)
        return self.block(node.body, scope)

    def _wanted_module(self, name: str, scope: Scope) -> Module | None:
        """Import a module, unless it is a function that imports it and we cannot tell whether it gets there."""
        if self.conditions and scope.variables is not scope.module.namespace:
            return self.modules.get(name)
        return self.import_module(name)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = self._wanted_module(alias.name, scope)
                first = alias.name.split(".")[0]
                value: Value = module if alias.asname else self.modules.get(first)
                scope.variables[alias.asname or first] = Unknown(alias.name) if value is None else value
            return
        source = self.sources.absolute(scope.module.name, "." * node.level + (node.module or ""))
        module = self._wanted_module(source, scope)
        for alias in node.names:
            if module is None:
                scope.variables[alias.asname or alias.name] = Unknown(f"{source}.{alias.name}")
            elif alias.name == "*":
                if module.state == "imported" and "." in module.name:
                    self._index(module)
                names = {*module.namespace, *module.pending}
                scope.variables.update({k: Lazy(module, k) for k in names if not k.startswith("_")})
            elif self.sources.path(f"{source}.{alias.name}") is not None and alias.name not in module.namespace:
                found = self._wanted_module(f"{source}.{alias.name}", scope)
                scope.variables[alias.asname or alias.name] = Unknown(alias.name) if found is None else found
            elif isinstance(node, ast.ImportFrom) and scope.variables is scope.module.namespace:
                scope.variables[alias.asname or alias.name] = Lazy(module, alias.name)
            else:
                scope.variables[alias.asname or alias.name] = self.member(module, alias.name)

    # --- functions and classes

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, name: str
    ) -> Function:
        """The function that a definition makes, its defaults evaluated."""
        defaults = [evaluate(self, d, scope) for d in node.args.defaults]
        keyword_defaults = {
            a.arg: evaluate(self, d, scope) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None
        }
        return Function(node, scope, name, name, defaults, keyword_defaults)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        value: Value = self.make_function(node, scope, node.name)
        for decorator in reversed(node.decorator_list):
            given = evaluate(self, decorator, scope)
            made = self.call(given, [value], {}, scope.module.at(decorator.lineno))
            # A decorator that we cannot follow is taken to return the function, or a wrapper of it.
            value = value if isinstance(made, Unknown) or made is None else made
        self._variables_of(node.name, scope)[node.name] = value

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = tuple(evaluate(self, b, scope) for b in node.bases)
        made = Class(node.name, bases, {}, scope.module)
        inner = Scope(made.namespace, scope, scope.module, is_class=True)
        self.block(node.body, inner)
        made.own_fields = [n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        if any(isinstance(b, Unknown) and b.what.rpartition(".")[2].endswith(("Enum", "Flag")) for b in bases):
            members = {k: v for k, v in made.namespace.items() if not k.startswith("_") and not isinstance(v, (Function, Static, Property))}
            made.namespace.update({k: Instance(made, {"name": k, "value": v}) for k, v in members.items()})
        for member in made.namespace.values():
            function = member.function if isinstance(member, Static) else member.getter if isinstance(member, Property) else member
            if isinstance(function, Function) and function.owner is None:
                function.owner = made
                function.qualname = f"{made.name}.{function.name}"
        value: Value = made
        for decorator in reversed(node.decorator_list):
            result = self.call(evaluate(self, decorator, scope), [value], {}, scope.module.at(decorator.lineno))
            value = result if isinstance(result, (Class, Function, Instance)) else value
        scope.variables[node.name] = value

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """`function(*args, **keywords)`."""
        self.step()
        match function:
            case Native():
                return function.call(self, args, keywords, place)
            case Bound():
                return self.call(function.function, [function.receiver, *args], keywords, place)
            case Partial():
                return self.call(function.function, [*function.arguments, *args], {**function.keywords, **keywords}, place)
            case Function():
                return self._call_function(function, args, keywords)
            case Class():
                return self._construct(function, args, keywords, place)
            case Instance():
                try:
                    return self.call(Bound(function.cls.lookup("__call__"), function), args, keywords, place)
                except KeyError:
                    return Unknown("call")
            case _ if hasattr(type(function), "call"):
                return function.call(self, args, keywords, place)
        return Unknown("call")

    def _construct(self, cls: Class, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        made = Instance(cls)
        try:
            begin = cls.lookup("__init__")
        except KeyError:  # a dataclass, or a class that a library makes: arguments are fields in order
            made.attributes.update(zip(cls.fields(), args, strict=False))
            made.attributes.update(keywords)
            return made
        self.call(begin, [made, *args], keywords, place)
        return made

    def _call_function(self, function: Function, args: list[Value], keywords: dict[str, Value]) -> Value:
        if function.generator is None:
            node = function.node
            function.generator = isinstance(node, ast.AsyncFunctionDef) or (
                not isinstance(node, ast.Lambda) and self._may_yield(function) and _yields(node.body)
            )
        if function.generator or self._depth >= DEPTH:
            return Unknown(function.name)
        variables = self._arguments(function, args, keywords)
        if variables is None:
            return Unknown(function.name)
        scope = Scope(variables, function.scope, function.scope.module, owner=function.owner, receiver=args[0] if args else None)
        if isinstance(function.node, ast.Lambda):
            return evaluate(self, function.node.body, scope)
        self._depth += 1
        try:
            outcome = self.block(function.node.body, scope)
        finally:
            self._depth -= 1
        if outcome == "return":
            scope.candidates.append(self.returned)
        elif not scope.candidates:
            return None
        known = [c for c in scope.candidates if not isinstance(c, Unknown)]
        return known[0] if known else Unknown(function.name)

    def _may_yield(self, function: Function) -> bool:
        """A quick look at the text of a function, before its tree is searched."""
        name, node = function.scope.module.name, function.node
        if name not in self._lines:
            self._lines[name] = self.sources.text(name).split(b"\n") if self.sources.path(name) else []
        part = self._lines[name][node.lineno - 1 : node.end_lineno]
        return any(b"yield" in line or b"await" in line for line in part)

    def _arguments(  # noqa: C901 - the ways in which an argument finds its parameter
        self, function: Function, args: list[Value], keywords: dict[str, Value]
    ) -> dict[str, Value] | None:
        """Bind arguments to parameters; None when they do not fit."""
        given = function.node.args
        names = [a.arg for a in (*given.posonlyargs, *given.args)]
        bound = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            if given.vararg is None:
                return None
            bound[given.vararg.arg] = tuple(args[len(names) :])
        elif given.vararg is not None:
            bound[given.vararg.arg] = ()
        rest: dict[str, Value] = {}
        for name, value in keywords.items():
            if name in names or any(name == a.arg for a in given.kwonlyargs):
                bound[name] = value
            else:
                rest[name] = value
        if given.kwarg is not None:
            bound[given.kwarg.arg] = rest
        elif rest:
            return None
        for name, default in zip(names[len(names) - len(function.defaults) :], function.defaults, strict=True):
            bound.setdefault(name, default)
        for name, default in function.keyword_defaults.items():
            bound.setdefault(name, default)
        for name in (*names, *(a.arg for a in given.kwonlyargs)):
            bound.setdefault(name, Unknown(name))
        return bound

    def execute_text(self, text: Value, scope: Scope) -> Value:
        """`exec(text)`: evaluate its statements as those of the module."""
        if not isinstance(text, str):
            return Unknown("exec")
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RaisedError("SyntaxError", str(error)) from error
        self.block(body, Scope(scope.module.namespace, None, scope.module))
        return None

    def super_of(self, scope: Scope) -> Value:
        """`super()` of the method that runs in a scope."""
        at: Scope | None = scope
        while at is not None and at.owner is None:
            at = at.parent
        if at is None or at.owner is None:
            return Unknown("super")
        return _Super(at.owner, at.receiver)


@dataclass(frozen=True, slots=True)
class _Super:
    owner: Class
    receiver: Value

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """A member of the bases, bound to the object."""
        for base in self.owner.bases:
            if isinstance(base, Class):
                try:
                    return Bound(base.lookup(name), self.receiver)
                except KeyError:
                    continue
        return Unknown(name)


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


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target


def _yields(body: Sequence[ast.AST]) -> bool:
    """Whether a function's own body, not that of functions inside, yields."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
    return False


def _catches(handler: ast.ExceptHandler, error: RaisedError) -> bool:
    if handler.type is None:
        return True
    names = [n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)]
    return any(n in ("Exception", "BaseException") or n in error.kind for n in names)


def type_names(value: Value) -> set[str]:
    """The names of classes that a value belongs to."""
    if isinstance(value, Instance):
        return value.cls.names()
    if isinstance(value, TypeName):
        return {"type"}
    return set(getattr(type(value), "TYPE_NAMES", ()))
