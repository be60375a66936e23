# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for operators as Python sees them: torch.ops, schemas and their types, and the lowest layer of torch.library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cartographer.dispatch.python.values import (
    Bound,
    Function,
    Native,
    Partial,
    RaisedError,
    Text,
    Unknown,
    Value,
)
from cartographer.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.dispatch.python.world import Schema, Type

NOWHERE = Location("", 0)
IDENTITY = Native("identity", lambda _run, args, _keywords, _place: args[0] if args else None)


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Stands in for `torch.ops`: its attributes are namespaces of operators."""

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """A namespace of operators, `torch.ops.aten`; the methods of `torch.ops` are unknown values."""
        return Unknown(name) if name in ("load_library", "loaded_libraries", "import_module") else Namespace(name)


@dataclass(frozen=True, slots=True)
class Namespace:
    """Stands in for one namespace of operators, `torch.ops.aten`."""

    name: str

    def get_attribute(self, run: Interpreter, name: str, place: Location | None) -> Value:
        """`torch.ops.aten.add`, which exists when an operator of that name is registered."""
        if name in ("__name__", "name"):
            return self.name
        full = f"{self.name}::{name}"
        if not run.world.overloads(full):
            if run.world.is_complete or name.startswith("__"):
                raise RaisedError("AttributeError", full)
            return Unknown(full)
        return Packet(full, place or NOWHERE)


@dataclass(frozen=True, slots=True)
class Packet:
    """Stands in for an operator with all its overloads, `torch.ops.aten.add` (torch._ops.OpOverloadPacket)."""

    TYPE_NAMES: ClassVar[tuple[str, ...]] = ("OpOverloadPacket",)
    name: str
    place: Location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packet) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def get_attribute(self, run: Interpreter, name: str, place: Location | None) -> Value:
        """An overload by its name, or another attribute of torch._ops.OpOverloadPacket that registering code uses."""
        if name == "overloads":
            names = [o or "default" for o in run.world.overloads(self.name)]
            return Native(name, lambda _run, _args, _keywords, _place: names)
        if name in ("__name__", "_qualified_op_name", "__qualname__"):
            return self.name if name.startswith("_q") else self.name.partition("::")[2]
        overload = "" if name == "default" else name
        if overload in run.world.overloads(self.name):
            here = place if place is not None and place.path else self.place
            return Overload(self.name + (f".{overload}" if overload else ""), here)
        method = run.class_member("torch._ops", "OpOverloadPacket", name)
        if method is not None:
            return Bound(method, self)
        if name.startswith("_") or name == "op":
            return Unknown(name)
        raise RaisedError("AttributeError", f"{self.name} has no overload {name}")


@dataclass(frozen=True, slots=True)
class Overload:
    """Stands in for one overload, `torch.ops.aten.add.Tensor` (torch._ops.OpOverload)."""

    TYPE_NAMES: ClassVar[tuple[str, ...]] = ("OpOverload", "OperatorBase")
    full: str
    place: Location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Overload) and other.full == self.full

    def __hash__(self) -> int:
        return hash(self.full)

    def __str__(self) -> str:
        base, _, overload = self.full.partition(".")
        return f"{base.replace('::', '.')}.{overload or 'default'}"

    def get_attribute(self, run: Interpreter, name: str, _place: Location | None) -> Value:
        """An attribute of torch._ops.OpOverload that registering code uses."""
        base, _, overload = self.full.partition(".")
        match name:
            case "name":
                return Native(name, lambda _run, _args, _keywords, _here: Text(self.full, self.place))
            case "_schema" | "is_view":
                schema = run.world.schema(self.full)
                if schema is None:
                    return Unknown(name)
                return _is_view(schema) if name == "is_view" else SchemaValue(schema, self.place)
            case "_overloadname":
                return overload or "default"
            case "__name__":  # OpOverload.__init__ in torch/_ops.py
                return Text(f"{base.partition('::')[2]}.{overload or 'default'}", self.place)
            case "namespace":
                return base.partition("::")[0]
            case "overloadpacket" | "_overloadpacket":
                return Packet(base, self.place)
            case "py_impl":
                return Native(name, lambda _run, _args, _keywords, _here: IDENTITY)
            case "tags":
                return []
        return Unknown(name)


def _is_view(schema: Schema) -> bool:
    aliases = [a.alias_info for a in schema.arguments if a.alias_info is not None]
    return bool(aliases) and not any(a.is_write for a in aliases)


@dataclass(frozen=True, slots=True)
class SchemaValue:
    """Stands in for a function schema (`torch._C.FunctionSchema`)."""

    TYPE_NAMES: ClassVar[tuple[str, ...]] = ("FunctionSchema",)
    schema: Schema
    place: Location

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """A field of the schema; its arguments and returns are values of their own."""
        schema = self.schema
        match name:
            case "name" | "overload_name":
                return Text(getattr(schema, name), self.place)
            case "arguments" | "returns":
                return [Field(a.name, a.type, a.alias_info is not None, bool(a.alias_info and a.alias_info.is_write), a.kwarg_only)
                        for a in getattr(schema, name)]
            case "is_mutable":
                return schema.is_mutable
            case "_is_view_op":
                return Native(name, lambda _run, _args, _keywords, _here: _is_view(schema))
        return Unknown(name)

    def __str__(self) -> str:
        return self.schema.text


@dataclass(frozen=True, slots=True)
class Field:
    """Stands in for an argument of a schema (`torch._C.Argument`) and for its `alias_info`."""

    name: str
    type: Type
    aliased: bool
    is_write: bool
    kwarg_only: bool

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """A field of the argument, such as `name`, `type` or `alias_info`."""
        match name:
            case "name" | "is_write" | "kwarg_only":
                return getattr(self, name)
            case "type":
                return TypeValue(self.type)
            case "alias_info":
                return self if self.aliased else None
        return Unknown(name)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """Stands in for a type of a schema (`torch._C.JitType`)."""

    type: Type

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """The methods `isSubtypeOf` and `containedTypes`; all others are unknown values."""
        if name == "isSubtypeOf":
            return Native(name, lambda _run, args, _keywords, _here: isinstance(args[0], TypeValue) and args[0].type == self.type)
        if name == "containedTypes":
            return Native(name, lambda _run, _args, _keywords, _here: [TypeValue(t) for t in self.type.contained()])
        return Unknown(name)


@dataclass(frozen=True, slots=True)
class LibraryValue:
    """Stands in for what torch._C._dispatch_library returns: the lowest layer of torch.library.Library."""

    namespace: str
    key: str
    place: Location

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """The methods `define`, `impl` and `fallback`; others change nothing in the dispatcher's tables."""
        actions: dict[str, Callable[..., Value]] = {
            "define": self._define,
            "impl": self._impl,
            "fallback": self._fallback,
            "register_ad_inplace_or_view_fallback": self._ad_inplace_or_view,
        }
        return Native(name, actions[name]) if name in actions else Unknown(name)

    def _define(self, run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
        text = args[0] if args else None
        if not isinstance(text, str):
            run.cannot_tell("the schema of a definition", place)
            return Unknown("define")
        full = text if "::" in text.partition("(")[0] else f"{self.namespace}::{text}"
        name = "".join(full.partition("(")[0].split())
        full = name + full[full.index("(") :] if "(" in full else name
        run.world.define(name, full, _place_of(text, place), run.build(), ())
        return Text(name, _place_of(text, place))

    def _impl(self, run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
        name, key, function = (*args, None, None, None)[:3]
        if not isinstance(name, str) or not isinstance(key, str):
            run.cannot_tell("the operator of a registration", place)
            return None
        full = name if "::" in name else f"{self.namespace}::{name}"
        fallthrough = isinstance(function, Function) and function.name == "fallthrough_kernel"  # torch/library.py
        run.world.register(full, key or self.key, _kernel(function), _place_of(name, place), run.build(), fallthrough=fallthrough)
        return None

    def _ad_inplace_or_view(self, run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        return self._impl(run, [*args[:1], "ADInplaceOrView", None], keywords, place)

    def _fallback(self, _run: Interpreter, _args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
        return None


def _place_of(text: Value, place: Location | None) -> Location:
    if isinstance(text, Text) and text.place is not None and text.place.path:
        return text.place
    return place or NOWHERE


def _kernel(function: Value) -> str | None:
    if isinstance(function, Partial):
        return _kernel(function.function)
    if isinstance(function, Function):
        origin = function.origin
        return f"{origin.scope.module.name}.{origin.qualname}"
    return None
