# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates Python expressions over our own values. A value that is made from an unknown one is unknown too."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

from cartographer.dispatch.python.attributes import OF_KIND, PLAIN, attribute, is_hashable, placed
from cartographer.dispatch.python.values import (
    LARGEST,
    Lazy,
    Native,
    RaisedError,
    Scope,
    Text,
    Unknown,
    Value,
    affordable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.model.location import Location

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_, ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitXor: operator.xor,
}  # fmt: skip
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def evaluate(run: Interpreter, node: ast.expr, scope: Scope) -> Value:
    """Evaluate an expression; one of a kind that is not handled is unknown."""
    handler = _HANDLERS.get(type(node))
    return Unknown(type(node).__name__) if handler is None else handler(run, node, scope)


def _constant(run: Interpreter, node: ast.Constant, scope: Scope) -> Value:
    if isinstance(node.value, str):
        text = run.texts.get(node)
        if text is None:
            text = run.texts[node] = Text(node.value, scope.module.at(node.lineno))
        return text
    return node.value


def _name(run: Interpreter, node: ast.Name, scope: Scope) -> Value:
    """A name as Python finds it: local, enclosing, global, builtin."""
    name = node.id
    at: Scope | None = scope
    while at is not None:
        if name in at.variables and (at is scope or not at.is_class):
            value = at.variables[name]
            return run.resolved(value) if type(value) is Lazy else value
        at = at.parent
    module = scope.module
    if name in module.namespace or name in module.pending:
        return run.member(module, name)
    return run.builtins[name] if name in run.builtins else Unknown(name)


def _attribute(run: Interpreter, node: ast.Attribute, scope: Scope) -> Value:
    value = evaluate(run, node.value, scope)
    handler = OF_KIND.get(type(value))
    if handler is not None:
        return handler(run, value, node.attr)
    return attribute(run, value, node.attr, scope.module.at(node.lineno))


def _call(run: Interpreter, node: ast.Call, scope: Scope) -> Value:
    function = evaluate(run, node.func, scope)
    args: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            given = evaluate(run, argument.value, scope)
            if not isinstance(given, (list, tuple, set)):
                return Unknown("call with unknown arguments")
            args.extend(given)
        else:
            args.append(evaluate(run, argument, scope))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(run, keyword.value, scope)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, dict):
            keywords.update(value)
        else:
            return Unknown("call with unknown keywords")
    if isinstance(function, Native) and function.name == "super" and not args:
        return run.super_of(scope)
    if isinstance(function, Native) and function.name == "exec" and args:
        return run.execute_text(args[0], scope)
    return run.call(function, args, keywords, scope.module.at(node.lineno))


def _sequence(run: Interpreter, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    values: list[Value] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            given = evaluate(run, item.value, scope)
            values.extend(given if isinstance(given, (list, tuple, set, dict)) else [Unknown("*")])
        else:
            values.append(evaluate(run, item, scope))
    if isinstance(node, ast.Set):
        return {v for v in values if is_hashable(v)}
    return values if isinstance(node, ast.List) else tuple(values)


def _dict(run: Interpreter, node: ast.Dict, scope: Scope) -> Value:
    made: dict[Value, Value] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(run, item, scope)
        if key is None:
            made.update(value if isinstance(value, dict) else {})
        elif is_hashable(name := evaluate(run, key, scope)):
            made[name] = value
    return made


def _joined(run: Interpreter, node: ast.JoinedStr, scope: Scope) -> Value:
    parts: list[str] = []
    named: Location | None = None
    changed = False
    for part in node.values:
        value = evaluate(run, part.value if isinstance(part, ast.FormattedValue) else part, scope)
        if not isinstance(value, (str, int, float)):
            return Unknown("f-string")
        parts.append(str(value))
        if isinstance(part, ast.FormattedValue):
            named = value.place if isinstance(value, Text) and value.place is not None else named
        else:
            changed = changed or value not in ("::", ".")
    # A name that is put together is named by the statement that asks for it, one with its namespace by itself.
    return Text("".join(parts), (None if changed else named) or run.here or scope.module.at(node.lineno))


def _binary(run: Interpreter, node: ast.BinOp, scope: Scope) -> Value:
    left, right = evaluate(run, node.left, scope), evaluate(run, node.right, scope)
    apply = _BINARY.get(type(node.op))
    if apply is None or not isinstance(left, PLAIN) or not isinstance(right, PLAIN):
        return Unknown("operation")
    if not _affordable_operation(node.op, left, right):
        return Unknown("a value too large")
    try:
        result = apply(left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise RaisedError(type(error).__name__, str(error)) from error
    naming = right if isinstance(left, Text) and left.endswith("::") else left
    return placed(result, naming.place) if isinstance(naming, Text) else result


def _affordable_operation(sign: ast.operator, left: Value, right: Value) -> bool:
    if not affordable(left, right):
        return False
    sizes = [v if isinstance(v, int) else len(v) for v in (left, right) if isinstance(v, (int, str, bytes, list, tuple))]
    if isinstance(sign, ast.Mult) and len(sizes) == 2:
        return abs(sizes[0] * sizes[1]) <= LARGEST
    if isinstance(sign, ast.LShift):
        return isinstance(right, int) and 0 <= right < 64
    # A width in a format makes text of any length.
    if isinstance(sign, ast.Mod) and isinstance(left, bytes):
        return False
    return not (isinstance(sign, ast.Mod) and isinstance(left, str) and re.search(r"%[^a-z%]*\d", left))


def _boolean(run: Interpreter, node: ast.BoolOp, scope: Scope) -> Value:
    unknown: Unknown | None = None
    value: Value = None
    for part in node.values:
        value = evaluate(run, part, scope)
        truth = truth_of(value)
        if truth is None:
            unknown = Unknown("condition")
        elif truth is isinstance(node.op, ast.Or):
            return value if unknown is None else (unknown if truth else value)
    return value if unknown is None else unknown


def truth_of(value: Value) -> bool | None:
    """Whether a value is true in a condition; None when that cannot be told."""
    if value is True or value is False:
        return value
    if isinstance(value, Unknown):
        return None
    return bool(value) if isinstance(value, PLAIN) else True


def _unary(run: Interpreter, node: ast.UnaryOp, scope: Scope) -> Value:
    value = evaluate(run, node.operand, scope)
    if isinstance(node.op, ast.Not):
        truth = truth_of(value)
        return Unknown("condition") if truth is None else not truth
    if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
        return -value
    return Unknown("operation")


def _compare(run: Interpreter, node: ast.Compare, scope: Scope) -> Value:
    left = evaluate(run, node.left, scope)
    unknown = False
    for sign, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(run, right_node, scope)
        answer = _compared(left, sign, right)
        if answer is False:
            return False
        unknown = unknown or answer is None
        left = right
    return Unknown("comparison") if unknown else True


def _compared(left: Value, sign: ast.cmpop, right: Value) -> bool | None:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if isinstance(sign, (ast.Is, ast.IsNot)):
        same = left is right or (isinstance(left, (str, int, bool)) and left == right)
        return same is isinstance(sign, ast.Is)
    try:
        if isinstance(sign, (ast.Eq, ast.NotEq)):
            return bool(left == right) is isinstance(sign, ast.Eq)
        if isinstance(sign, (ast.In, ast.NotIn)):
            if not isinstance(right, (str, list, tuple, dict, set, frozenset)):
                return None
            found = left in right
            # A table of some size is keyed by what we know; looking through it each time would cost more than it tells.
            if not found and not isinstance(right, str) and len(right) <= 64 and Unknown in map(type, right):
                return None
            return found is isinstance(sign, ast.In)
        return bool(_ORDER[type(sign)](left, right))
    except TypeError:
        return None


def _conditional(run: Interpreter, node: ast.IfExp, scope: Scope) -> Value:
    truth = truth_of(evaluate(run, node.test, scope))
    if truth is None:
        chosen = [evaluate(run, node.body, scope), evaluate(run, node.orelse, scope)]
        return next((v for v in chosen if not isinstance(v, Unknown)), chosen[0])
    return evaluate(run, node.body if truth else node.orelse, scope)


def _subscript(run: Interpreter, node: ast.Subscript, scope: Scope) -> Value:
    value = evaluate(run, node.value, scope)
    if isinstance(node.slice, ast.Slice):
        bounds = [
            None if part is None else evaluate(run, part, scope) for part in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        if isinstance(value, (str, list, tuple)) and all(b is None or isinstance(b, int) for b in bounds):
            part = value[slice(*bounds)]
            return placed(part, value.place) if isinstance(value, Text) else part
        return Unknown("slice")
    index = evaluate(run, node.slice, scope)
    if isinstance(index, Unknown) or not isinstance(value, (str, list, tuple, dict)):
        return Unknown("item")
    try:
        return value[index]
    except (KeyError, IndexError, TypeError) as error:
        raise RaisedError(type(error).__name__, str(error)) from error


def _lambda(run: Interpreter, node: ast.Lambda, scope: Scope) -> Value:
    return run.make_function(node, scope, "<lambda>")


def _comprehension(run: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> Value:
    inner = Scope({}, scope, scope.module, owner=scope.owner, receiver=scope.receiver)
    values: list[Value] = []
    pairs: dict[Value, Value] = {}
    for whole in _generated(run, node.generators, inner):
        if not whole:
            return Unknown("comprehension")
        if isinstance(node, ast.DictComp):
            key = evaluate(run, node.key, inner)
            if is_hashable(key):
                pairs[key] = evaluate(run, node.value, inner)
        else:
            values.append(evaluate(run, node.elt, inner))
    if isinstance(node, ast.DictComp):
        return pairs
    return {v for v in values if is_hashable(v)} if isinstance(node, ast.SetComp) else values


def _generated(run: Interpreter, generators: list[ast.comprehension], scope: Scope) -> Iterator[bool]:
    """Bind the variables for every round: True a round, False when a source or a condition is unknown."""
    if not generators:
        yield True
        return
    first, *rest = generators
    source = evaluate(run, first.iter, scope)
    if not isinstance(source, (list, tuple, dict, set, frozenset, str, range)) or not affordable(source):
        yield False
        return
    for item in list(source):
        run.step()
        run.assign(first.target, item, scope)
        truths = [truth_of(evaluate(run, test, scope)) for test in first.ifs]
        if any(t is None for t in truths):
            yield False
            return
        if all(truths):
            yield from _generated(run, rest, scope)


def _named(run: Interpreter, node: ast.NamedExpr, scope: Scope) -> Value:
    value = evaluate(run, node.value, scope)
    run.assign(node.target, value, scope)
    return value


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.Call: _call, ast.List: _sequence,
    ast.Tuple: _sequence, ast.Set: _sequence, ast.Dict: _dict, ast.JoinedStr: _joined, ast.BinOp: _binary,
    ast.BoolOp: _boolean, ast.UnaryOp: _unary, ast.Compare: _compare, ast.IfExp: _conditional, ast.Subscript: _subscript,
    ast.Lambda: _lambda, ast.ListComp: _comprehension, ast.SetComp: _comprehension, ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension, ast.NamedExpr: _named,
}  # fmt: skip
