# SPDX-License-Identifier: BSD-3-Clause
"""Makes the functions of the evaluated code, and calls them."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.dispatch.python.evaluate import evaluate
from cartographer.dispatch.python.values import Bound, Class, Function, Instance, Native, Partial, Scope, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.model.location import Location

_YIELD = re.compile(rb"yield|await")
DEPTH = 60  # nested calls


def make_function(
    run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, name: str
) -> Function:
    """The function value of a definition, with its defaults evaluated."""
    defaults = [evaluate(run, d, scope) for d in node.args.defaults]
    keyword_defaults = {
        a.arg: evaluate(run, d, scope) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None
    }
    return Function(node, scope, name, name, defaults, keyword_defaults)


def call(run: Interpreter, function: Value, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    """Call any value, `function(*args, **keywords)`; calling what is unknown gives an unknown value."""
    run.step()
    handler = _HANDLERS.get(type(function))
    if handler is not None:
        return handler(run, function, args, keywords, place)
    return function.call(run, args, keywords, place) if hasattr(type(function), "call") else Unknown("call")


def _call_bound(run: Interpreter, bound: Bound, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    return call(run, bound.function, [bound.receiver, *args], keywords, place)


def _call_partial(run: Interpreter, partial: Partial, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    return call(run, partial.function, [*partial.arguments, *args], {**partial.keywords, **keywords}, place)


def _call_instance(run: Interpreter, instance: Instance, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    try:
        return call(run, Bound(instance.cls.lookup("__call__"), instance), args, keywords, place)
    except KeyError:
        return Unknown("call")


def _construct(run: Interpreter, cls: Class, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    made = Instance(cls)
    try:
        begin = cls.lookup("__init__")
    except KeyError:  # a dataclass, or a class that a library makes: arguments are fields in order
        made.attributes.update(zip(cls.fields(), args, strict=False))
        made.attributes.update(keywords)
        return made
    call(run, begin, [made, *args], keywords, place)
    return made


def _call_function(run: Interpreter, function: Function, args: list[Value], keywords: dict[str, Value], _place: Location | None) -> Value:
    if function.generator is None:
        node = function.node
        function.generator = isinstance(node, ast.AsyncFunctionDef) or (
            not isinstance(node, ast.Lambda) and _may_yield(run, function) and _yields(node.body)
        )
    if function.generator or run.depth >= DEPTH:
        return Unknown(function.name)
    variables = _arguments(function, args, keywords)
    if variables is None:
        return Unknown(function.name)
    scope = Scope(variables, function.scope, function.scope.module, owner=function.owner, receiver=args[0] if args else None)
    if isinstance(function.node, ast.Lambda):
        return evaluate(run, function.node.body, scope)
    run.depth += 1
    try:
        outcome = run.block(function.node.body, scope)
    finally:
        run.depth -= 1
    if outcome == "return":
        scope.candidates.append(run.returned)
    elif not scope.candidates:
        return None
    known = [c for c in scope.candidates if not isinstance(c, Unknown)]
    return known[0] if known else Unknown(function.name)


def _may_yield(run: Interpreter, function: Function) -> bool:
    """A quick look at the text of a function, before its tree is searched."""
    name, node = function.scope.module.name, function.node
    if name not in run.yields:
        text = run.sources.text(name) if run.sources.path(name) else b""
        run.yields[name] = _lines_of(_YIELD, text)
    at = bisect_left(run.yields[name], node.lineno)
    return at < len(run.yields[name]) and run.yields[name][at] <= (node.end_lineno or node.lineno)


def _lines_of(word: re.Pattern[bytes], text: bytes) -> list[int]:
    """The lines on which a pattern is found."""
    lines: list[int] = []
    line, last = 1, 0
    for found in word.finditer(text):
        line += text.count(b"\n", last, found.start())
        last = found.start()
        lines.append(line)
    return lines


def _arguments(  # noqa: C901 - the ways in which an argument finds its parameter
    function: Function, args: list[Value], keywords: dict[str, Value]
) -> dict[str, Value] | None:
    """Bind arguments to parameters; None when they do not fit."""
    given, names = function.node.args, function.parameters
    bound = dict(zip(names, args, strict=False))
    if len(args) > len(names):
        if given.vararg is None:
            return None
        bound[given.vararg.arg] = tuple(args[len(names) :])
    elif given.vararg is not None:
        bound[given.vararg.arg] = ()
    rest: dict[str, Value] = {}
    for name, value in keywords.items():
        if name in names or name in function.keyword_only:
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
    for name in (*names, *function.keyword_only):
        if name not in bound:
            bound[name] = Unknown(name)
    return bound


def super_of(scope: Scope) -> Value:
    """The value of `super()` in a method that runs in the given scope."""
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


def _call_native(run: Interpreter, native: Native, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    return native.call(run, args, keywords, place)


_HANDLERS: dict[type, Callable[..., Value]] = {
    Native: _call_native, Bound: _call_bound, Partial: _call_partial, Function: _call_function, Class: _construct, Instance: _call_instance,
}  # fmt: skip
