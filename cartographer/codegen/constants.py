# SPDX-License-Identifier: BSD-3-Clause
"""Reads the constants of a generator's module from its syntax tree. Nothing is executed: only literals, names of
other constants, and the few operations by which the generators join lists, sets and dicts are understood.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class NotConstant(Exception):  # noqa: N818 - a signal inside this module
    """Raised for an expression that is more than a constant."""


def of_module(module: ast.Module, imported: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a module's names, as far as they are constants; `imported` gives those of other modules."""
    values: dict[str, Any] = dict(imported)
    for statement in module.body:
        try:
            _execute(statement, values)
        except (NotConstant, TypeError, KeyError, AttributeError):
            continue
    return values


def strings(value: Any) -> frozenset[str]:
    """The strings in a constant: the items of a set, list or tuple, or the keys of a dict."""
    if isinstance(value, str):
        return frozenset((value,))
    if isinstance(value, (set, frozenset, list, tuple, dict)):
        return frozenset(item for item in value if isinstance(item, str))
    return frozenset()


def _execute(statement: ast.stmt, values: dict[str, Any]) -> None:
    match statement:
        case ast.Assign(targets=targets, value=expression):
            value = evaluate(expression, values)
            for target in targets:
                _assign(target, value, values)
        case ast.AnnAssign(target=ast.Name(id=name), value=expression) if expression is not None:
            values[name] = evaluate(expression, values)
        case ast.AugAssign(target=ast.Name(id=name), op=operator, value=expression):
            values[name] = _join(values[name], operator, evaluate(expression, values))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments)):
            _mutate(values[name], method, [evaluate(a, values) for a in arguments])
        case ast.For(target=ast.Name(id=name), iter=iterable, body=body):
            for item in evaluate(iterable, values):
                for inner in body:
                    _execute(inner, {**values, name: item})
        case _:
            raise NotConstant


def _assign(target: ast.expr, value: Any, values: dict[str, Any]) -> None:
    match target:
        case ast.Name(id=name):
            values[name] = value
        case ast.Subscript(value=ast.Name(id=name), slice=key):
            values[name][evaluate(key, values)] = value
        case _:
            raise NotConstant


def _mutate(container: Any, method: str, arguments: list[Any]) -> None:
    if method not in {"update", "add", "append", "extend"} or len(arguments) != 1:
        raise NotConstant
    getattr(container, method)(arguments[0])


def evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of a constant expression. Raises NotConstant."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name not in values:
                raise NotConstant
            return values[name]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            found = list(_items(items, values))
            return set(found) if isinstance(node, ast.Set) else found if isinstance(node, ast.List) else tuple(found)
        case ast.Dict(keys=keys, values=items):
            return _dict(keys, items, values)
        case ast.BinOp(left=left, op=operator, right=right):
            return _join(evaluate(left, values), operator, evaluate(right, values))
        case ast.Attribute(attr=attribute, value=ast.Name(id="DispatchKey")):
            return attribute
        case ast.Call():
            return _call(node, values)
        case _:
            raise NotConstant


def _items(items: Iterable[ast.expr], values: Mapping[str, Any]) -> Iterable[Any]:
    for item in items:
        if isinstance(item, ast.Starred):
            yield from evaluate(item.value, values)
        else:
            yield evaluate(item, values)


def _dict(keys: Iterable[ast.expr | None], items: Iterable[ast.expr], values: Mapping[str, Any]) -> dict[Any, Any]:
    """Values that are no constants (lambdas, calls) are None: the keys are what matters."""
    found: dict[Any, Any] = {}
    for key, item in zip(keys, items, strict=True):
        try:
            value = evaluate(item, values)
        except NotConstant:
            value = None
        if key is None:
            found.update(value or {})
        else:
            found[evaluate(key, values)] = value
    return found


def _join(left: Any, operator: ast.operator, right: Any) -> Any:
    if isinstance(operator, ast.BitOr) and isinstance(left, (set, frozenset, dict)):
        return left | right
    if isinstance(operator, ast.Add) and isinstance(left, (list, tuple, str)):
        return left + right
    if isinstance(operator, ast.Sub) and isinstance(left, (set, frozenset)):
        return left - right
    raise NotConstant


def _call(node: ast.Call, values: Mapping[str, Any]) -> Any:
    """`set(X)`, `X.keys()`, `X.union(Y)`, `"a b".split()`."""
    arguments = [evaluate(a, values) for a in node.args]
    match node.func:
        case ast.Name(id="set" | "frozenset" | "list" | "tuple" | "OrderedSet" as kind):
            made = arguments[0] if arguments else ()
            return set(made) if kind in {"set", "frozenset", "OrderedSet"} else list(made)
        case ast.Attribute(value=owner, attr="keys" | "copy"):
            return evaluate(owner, values)
        case ast.Attribute(value=owner, attr="union"):
            return set(evaluate(owner, values)).union(*arguments)
        case ast.Attribute(value=owner, attr="split") if not arguments:
            return evaluate(owner, values).split()
        case _:
            raise NotConstant
