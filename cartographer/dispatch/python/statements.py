# SPDX-License-Identifier: BSD-3-Clause
"""Executes Python statements over our own values. Where a condition cannot be told, both sides are followed, and what they register has that condition."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cartographer.dispatch.python.attributes import attribute, is_hashable
from cartographer.dispatch.python.evaluate import evaluate, truth_of
from cartographer.dispatch.python.values import (
    Class,
    Function,
    Instance,
    Lazy,
    Module,
    Property,
    RaisedError,
    Scope,
    Static,
    Unknown,
    Value,
    affordable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.dispatch.python.execute import Interpreter

NORMAL = "normal"


def block(run: Interpreter, body: Sequence[ast.stmt], scope: Scope) -> str:
    """Execute statements: "normal", "return" (the value is in `returned`), "break" or "continue"."""
    for node in body:
        outcome = statement(run, node, scope)
        if outcome != NORMAL:
            return outcome
    return NORMAL


def statement(run: Interpreter, node: ast.stmt, scope: Scope) -> str:
    """Execute one statement; returns the outcome as `block` does. Statements that cannot change a value of interest do nothing."""
    run.step()
    handler = _HANDLERS.get(type(node))
    return NORMAL if handler is None else handler(run, node, scope)


def _expression(run: Interpreter, node: ast.Expr, scope: Scope) -> str:
    evaluate(run, node.value, scope)
    return NORMAL


def _assign(run: Interpreter, node: ast.Assign, scope: Scope) -> str:
    value = evaluate(run, node.value, scope)
    for target in node.targets:
        assign(run, target, value, scope)
    return NORMAL


def _annotated(run: Interpreter, node: ast.AnnAssign, scope: Scope) -> str:
    if node.value is not None:
        assign(run, node.target, evaluate(run, node.value, scope), scope)
    return NORMAL


def _while(run: Interpreter, node: ast.While, scope: Scope) -> str:
    """Not followed, unless its condition is false from the beginning."""
    return block(run, node.orelse, scope) if truth_of(evaluate(run, node.test, scope)) is False else NORMAL


def _return(run: Interpreter, node: ast.Return, scope: Scope) -> str:
    run.returned = None if node.value is None else evaluate(run, node.value, scope)
    return "return"


def _raise(run: Interpreter, node: ast.Raise, _scope: Scope) -> str:
    if not run.conditions:
        raise RaisedError(ast.unparse(node)[:80])
    return NORMAL


def _outer(_run: Interpreter, node: ast.Global | ast.Nonlocal, scope: Scope) -> str:
    scope.outer_names.update(node.names)
    return NORMAL


def _delete(_run: Interpreter, node: ast.Delete, scope: Scope) -> str:
    for target in node.targets:
        if isinstance(target, ast.Name):
            scope.variables.pop(target.id, None)
    return NORMAL


def assign(run: Interpreter, target: ast.expr, value: Value, scope: Scope) -> None:  # noqa: C901, PLR0912 - one case a kind of target
    """Assign a value to a target: a name, an attribute, an item, or several of them."""
    match target:
        case ast.Name(id=name):
            _variables_of(name, scope)[name] = value
        case ast.Attribute(value=of, attr=name):
            owner = evaluate(run, of, scope)
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
                run.marks.setdefault(owner, {})[name] = value
        case ast.Subscript(value=of, slice=index):
            owner, key = evaluate(run, of, scope), evaluate(run, index, scope)
            within = isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
            if within or (isinstance(owner, dict) and is_hashable(key)):
                owner[key] = value
        case ast.Tuple(elts=items) | ast.List(elts=items):
            known = isinstance(value, (list, tuple)) and len(value) == len(items)
            for number, item in enumerate(items):
                assign(run, item, value[number] if known else Unknown("part"), scope)
        case ast.Starred(value=of):
            assign(run, of, Unknown("rest"), scope)


def _variables_of(name: str, scope: Scope) -> dict[str, Value]:
    if name in scope.outer_names:
        at = scope.parent
        while at is not None:
            if name in at.variables and not at.is_class:
                return at.variables
            at = at.parent
        return scope.module.namespace
    return scope.variables


def _augmented(run: Interpreter, node: ast.AugAssign, scope: Scope) -> str:
    if isinstance(node.target, (ast.Name, ast.Attribute, ast.Subscript)):
        read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        assign(run, node.target, evaluate(run, read, scope), scope)
    return NORMAL


def _if(run: Interpreter, node: ast.If, scope: Scope) -> str:
    truth = truth_of(evaluate(run, node.test, scope))
    if truth is not None:
        return block(run, node.body if truth else node.orelse, scope)
    for body, negated in ((node.body, ""), (node.orelse, "not ")):
        run.conditions.append(negated + run.written(node.test))
        try:
            if block(run, body, scope) == "return":
                scope.candidates.append(run.returned)
        except RaisedError:
            pass
        finally:
            run.conditions.pop()
    return NORMAL


def _for(run: Interpreter, node: ast.For, scope: Scope) -> str:
    source = evaluate(run, node.iter, scope)
    if not isinstance(source, (list, tuple, dict, set, frozenset, range, str)) or not affordable(source):
        return NORMAL
    for item in list(source):
        assign(run, node.target, item, scope)
        outcome = block(run, node.body, scope)
        if outcome == "return":
            return outcome
        if outcome == "break":
            return NORMAL
    return block(run, node.orelse, scope)


def _try(run: Interpreter, node: ast.Try, scope: Scope) -> str:
    try:
        outcome = block(run, node.body, scope)
        if outcome == NORMAL:
            outcome = block(run, node.orelse, scope)
    except RaisedError as error:
        handler = next((h for h in node.handlers if _catches(h, error)), None)
        if handler is None:
            raise
        if handler.name:
            scope.variables[handler.name] = Unknown("exception")
        outcome = block(run, handler.body, scope)
    final = block(run, node.finalbody, scope)
    return final if final != NORMAL else outcome


def _with(run: Interpreter, node: ast.With, scope: Scope) -> str:
    for item in node.items:
        manager = evaluate(run, item.context_expr, scope)
        entered: Value = Unknown("with")
        if isinstance(manager, Instance):
            enter = attribute(run, manager, "__enter__", None)
            entered = run.call(enter, [], {}, None)
        if item.optional_vars is not None:
            assign(run, item.optional_vars, entered, scope)
    return block(run, node.body, scope)


def _wanted_module(run: Interpreter, name: str, scope: Scope) -> Module | None:
    """Import a module, unless it is a function that imports it and we cannot tell whether it gets there."""
    if run.conditions and scope.variables is not scope.module.namespace:
        return run.modules.get(name)
    return run.import_module(name)


def _import(run: Interpreter, node: ast.Import, scope: Scope) -> str:
    for alias in node.names:
        module = _wanted_module(run, alias.name, scope)
        first = alias.name.split(".")[0]
        value: Value = module if alias.asname else run.modules.get(first)
        scope.variables[alias.asname or first] = Unknown(alias.name) if value is None else value
    return NORMAL


def _import_from(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> str:
    source = run.sources.absolute(scope.module.name, "." * node.level + (node.module or ""))
    module = _wanted_module(run, source, scope)
    for alias in node.names:
        if module is None:
            scope.variables[alias.asname or alias.name] = Unknown(f"{source}.{alias.name}")
        elif alias.name == "*":
            if module.state == "imported" and "." in module.name:
                run.index(module)
            names = {*module.namespace, *module.pending}
            scope.variables.update({k: Lazy(module, k) for k in names if not k.startswith("_")})
        elif run.sources.path(f"{source}.{alias.name}") is not None and alias.name not in module.namespace:
            found = _wanted_module(run, f"{source}.{alias.name}", scope)
            scope.variables[alias.asname or alias.name] = Unknown(alias.name) if found is None else found
        elif scope.variables is scope.module.namespace:
            scope.variables[alias.asname or alias.name] = Lazy(module, alias.name)
        else:
            scope.variables[alias.asname or alias.name] = run.member(module, alias.name)
    return NORMAL


def _function(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
    value: Value = run.make_function(node, scope, node.name)
    for decorator in reversed(node.decorator_list):
        given = evaluate(run, decorator, scope)
        made = run.call(given, [value], {}, scope.module.at(decorator.lineno))
        # A decorator that we cannot follow is taken to return the function, or a wrapper of it.
        value = value if isinstance(made, Unknown) or made is None else made
    _variables_of(node.name, scope)[node.name] = value
    return NORMAL


def _class(run: Interpreter, node: ast.ClassDef, scope: Scope) -> str:
    bases = tuple(evaluate(run, b, scope) for b in node.bases)
    made = Class(node.name, bases, {}, scope.module)
    inner = Scope(made.namespace, scope, scope.module, is_class=True)
    block(run, node.body, inner)
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
        result = run.call(evaluate(run, decorator, scope), [value], {}, scope.module.at(decorator.lineno))
        value = result if isinstance(result, (Class, Function, Instance)) else value
    scope.variables[node.name] = value
    return NORMAL


def execute_text(run: Interpreter, text: Value, scope: Scope) -> Value:
    """Carry out `exec(text)`: run its statements as statements of the module."""
    if not isinstance(text, str):
        return Unknown("exec")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RaisedError("SyntaxError", str(error)) from error
    block(run, body, Scope(scope.module.namespace, None, scope.module))
    return None


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target


def _catches(handler: ast.ExceptHandler, error: RaisedError) -> bool:
    if handler.type is None:
        return True
    names = [n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)]
    return any(n in ("Exception", "BaseException") or n in error.kind for n in names)


_HANDLERS: dict[type[ast.stmt], Callable[..., str]] = {
    ast.Expr: _expression, ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function, ast.ClassDef: _class, ast.Import: _import, ast.ImportFrom: _import_from, ast.If: _if, ast.For: _for,
    ast.While: _while, ast.Try: _try, ast.With: _with, ast.Return: _return, ast.Raise: _raise, ast.Break: lambda *_: "break",
    ast.Continue: lambda *_: "continue", ast.Global: _outer, ast.Nonlocal: _outer, ast.Delete: _delete,
}  # fmt: skip
