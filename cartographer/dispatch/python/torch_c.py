# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for torch._C, as far as registering code uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.dispatch.python.operators import NOWHERE, LibraryValue, SchemaValue, TypeValue
from cartographer.dispatch.python.values import (
    Native,
    RaisedError,
    Text,
    TypeName,
    Unknown,
    Value,
    affordable,
)
from cartographer.dispatch.python.world import Type, parse_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.model.location import Location



def plain(call: Callable[..., Value]) -> Callable[..., Value]:
    """Make a native function of a Python function; it gives an unknown value when an argument is unknown."""

    def inner(_run: Interpreter, args: list[Value], keywords: dict[str, Value], _place: Location | None) -> Value:
        if any(isinstance(a, Unknown) for a in (*args, *keywords.values())) or not affordable(*args):
            return Unknown("call")
        try:
            return call(*args, **keywords)
        except TypeError:
            return Unknown("call")
        except (ValueError, KeyError, IndexError, AttributeError) as error:
            raise RaisedError(type(error).__name__, str(error)) from error

    return inner


@dataclass(frozen=True, slots=True)
class Core:
    """Stands in for the module `torch._C`."""

    def get_attribute(self, run: Interpreter, name: str, _place: Location | None) -> Value:  # noqa: C901, PLR0912 - a list of members
        """A member of torch._C that registering code uses; all others are unknown values."""
        world = run.world
        match name:
            case "_dispatch_library":
                return Native(name, _dispatch_library)
            case "_dispatch_has_kernel":
                return Native(name, plain(world.has_kernel))
            case "_dispatch_has_kernel_for_dispatch_key":
                return Native(name, plain(world.has_kernel))
            case "_dispatch_has_computed_kernel_for_dispatch_key":
                return Native(name, plain(world.has_computed_kernel))
            case "_dispatch_find_schema_or_throw":
                return Unknown(name)
            case "parse_schema":
                return Native(name, lambda _run, args, _keywords, place: _parsed(args, place))
            case "DispatchKey":
                return KeyNames()
            case "TensorType":
                return Getter(TypeValue(Type("Tensor")))
            case "OptionalType" | "ListType":
                mark = "?" if name == "OptionalType" else "[]"
                return Native(name, lambda _run, args, _keywords, _here: _type_of(args, mark))
            case "_parse_dispatch_key":
                return Native(name, plain(lambda key: key if _is_key(run, key) else None))
            case "_dispatch_key_for_device":
                return Native(name, plain(lambda device: _key_of_device(run, device)))
            case "_is_key_in_modes_map" | "_dispatch_is_included_in_alias":
                return Unknown(name)
        if name.startswith("_has_"):
            return run.switch(name.removeprefix("_has_"))
        return TypeName(name) if name[:1].isupper() else Unknown(name)


@dataclass(frozen=True, slots=True)
class KeyNames:
    """Stands in for `torch._C.DispatchKey`; a dispatch key is represented by its name."""

    def get_attribute(self, _run: Interpreter, name: str, place: Location | None) -> Value:
        """A dispatch key, such as `DispatchKey.Meta`."""
        return Text(name, place) if name[:1].isupper() else Unknown(name)


@dataclass(frozen=True, slots=True)
class Getter:
    """Stands in for an object whose method `get` returns a value: X of `X.get()`."""

    value: Value

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """The method `get`; all others are unknown values."""
        return Native(name, lambda _run, _args, _keywords, _here: self.value) if name == "get" else Unknown(name)


def _type_of(args: list[Value], mark: str) -> Value:
    inner = args[0] if args else None
    return TypeValue(Type(inner.type.text + mark)) if isinstance(inner, TypeValue) else Unknown("type")


def _is_key(run: Interpreter, name: str) -> bool:
    rules = run.world.rules
    return rules.key(name) in rules.runtime or rules.key(name) in rules.alias or name in rules.functionality


def _key_of_device(run: Interpreter, device: str) -> str:
    return next((b for b in run.world.rules.backends if b.lower() == device.lower()), device.upper())


def _dispatch_library(run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
    if len(args) < 2 or not isinstance(args[1], str):
        return Unknown("library")
    key = args[2] if len(args) > 2 and isinstance(args[2], str) else ""
    del run
    return LibraryValue(str(args[1]), key, place or NOWHERE)


def _parsed(args: list[Value], place: Location | None) -> Value:
    try:
        return SchemaValue(parse_schema(str(args[0])), place or NOWHERE) if args and isinstance(args[0], str) else Unknown("schema")
    except ValueError as error:
        raise RaisedError("RuntimeError", str(error)) from error
