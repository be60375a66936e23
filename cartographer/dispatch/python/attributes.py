# SPDX-License-Identifier: BSD-3-Clause
"""Looks up attributes, `value.name`, on every kind of value of the evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cartographer.dispatch.python.values import (
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Partial,
    Property,
    RaisedError,
    Static,
    Text,
    Unknown,
    Value,
    affordable,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.model.location import Location

PLAIN = (str, int, float, bool, list, tuple, dict, set, frozenset, bytes, type(None))
_PADDING = frozenset({"ljust", "rjust", "center", "zfill", "expandtabs", "format_map", "to_bytes"})


def attribute(run: Interpreter, value: Value, name: str, place: Location | None) -> Value:
    """The value of `value.name`. Raises RaisedError when the value certainly has no such attribute."""
    handler = OF_KIND.get(type(value))
    if handler is not None:
        return handler(run, value, name)
    if isinstance(value, Bound):
        return value.receiver if name == "__self__" else attribute(run, value.function, name, place)
    if hasattr(type(value), "get_attribute"):
        marks = run.marks.get(value) if run.marks and is_hashable(value) else None
        return marks[name] if marks and name in marks else value.get_attribute(run, name, place)
    if isinstance(value, PLAIN):
        if not hasattr(value, name):
            raise RaisedError("AttributeError", name)
        return Native(name, lambda _run, args, keywords, _place: _plain_method(value, name, args, keywords))
    return Unknown(name)


def _partial_attribute(_run: Interpreter, value: Partial, name: str) -> Value:
    return {"func": value.function, "args": value.arguments, "keywords": value.keywords}.get(name, Unknown(name))


def _property_attribute(_run: Interpreter, value: Property, name: str) -> Value:
    return Native(name, lambda _run, _args, _keywords, _place: value) if name in ("setter", "deleter", "getter") else Unknown(name)


def _plain_method(value: Value, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    if not affordable(value, *args, *keywords.values()) or (name == "format" and ":" in value) or name in _PADDING:
        return Unknown(name)
    hashable = not isinstance(value, (list, dict, set))
    if hashable and any(isinstance(a, Unknown) for a in (*args, *keywords.values())):
        return Unknown(name)
    if isinstance(value, list) and name == "sort":
        return None
    try:
        result = getattr(value, name)(*args, **keywords)
    except TypeError:
        return Unknown(name)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise RaisedError(type(error).__name__, str(error)) from error
    if isinstance(value, Text):
        return placed(result, value.place)
    return list(result) if name in ("items", "keys", "values") else result


def placed(value: Value, place: Location | None) -> Value:
    """Give strings that are made from a string with a place the same place."""
    if isinstance(value, str):
        return Text(value, place)
    if isinstance(value, (list, tuple)):
        return type(value)(placed(v, place) for v in value)
    return value


def is_hashable(value: Value) -> bool:
    """Whether a value can be a key of a dict or a member of a set."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _instance_attribute(run: Interpreter, value: Instance, name: str) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    if name == "__class__":
        return value.cls
    if name == "__dict__":
        return value.attributes
    try:
        member = value.cls.lookup(name)
    except KeyError:
        if value.cls.has_unknown_base() or name.startswith("__"):
            return Unknown(name)
        raise RaisedError("AttributeError", name) from None
    if isinstance(member, (Function, Native, Partial)):
        return Bound(member, value)
    if isinstance(member, Static):
        return Bound(member.function, value.cls) if member.of_class else member.function
    if isinstance(member, Property):
        return run.call(member.getter, [value], {}, None)
    return member


def _class_attribute(_run: Interpreter, value: Class, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return value.name
    if name == "__module__":
        return value.module.name
    try:
        member = value.lookup(name)
    except KeyError:
        return Unknown(name)
    if isinstance(member, Static):
        return Bound(member.function, value) if member.of_class else member.function
    return member


def _function_attribute(_run: Interpreter, value: Function, name: str) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    if name == "__name__":
        return Text(value.name, value.origin.scope.module.at(value.origin.node.lineno))
    known = {"__qualname__": value.qualname, "__module__": value.origin.scope.module.name}
    if name in known:
        return known[name]
    if name == "__annotations__":
        arguments = value.origin.node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        value.attributes[name] = {a.arg: Unknown("annotation") for a in named if a.annotation is not None}
        return value.attributes[name]
    if name == "__wrapped__" and value.wrapped is not None:
        return value.wrapped
    return Unknown(name)


OF_KIND: dict[type, Callable[[Interpreter, Any, str], Value]] = {
    Unknown: lambda _run, _value, name: Unknown(name), Module: lambda run, value, name: run.member(value, name), Instance: _instance_attribute,
    Class: _class_attribute, Function: _function_attribute, Partial: _partial_attribute, Property: _property_attribute,
    Native: lambda _run, value, name: value.name if name == "__name__" else Unknown(name), Static: lambda _run, _value, name: Unknown(name),
}  # fmt: skip
