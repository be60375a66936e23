# SPDX-License-Identifier: BSD-3-Clause
"""What we stand in for: builtins, torch._C as far as registrations use it, torch.ops, torch.library's lowest layer,
pytree and functools.
"""

from __future__ import annotations

import ast
import collections
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cartographer.dispatch.python.annotated import schema_of
from cartographer.dispatch.python.evaluate import attribute, truth_of
from cartographer.dispatch.python.execute import type_names
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
    TypeName,
    Unknown,
    Value,
    affordable,
)
from cartographer.dispatch.python.world import Schema, Type, parse_schema
from cartographer.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.dispatch.python.execute import Interpreter

NOWHERE = Location("", 0)


_OBJECT = Class("object", (), {}, Module("builtins", native=True))  # of `object()`: a value like no other


# --- operators


@dataclass(frozen=True, slots=True)
class Namespaces:
    """torch.ops."""

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """`torch.ops.aten`; its methods are unknown."""
        return Unknown(name) if name in ("load_library", "loaded_libraries", "import_module") else Namespace(name)


@dataclass(frozen=True, slots=True)
class Namespace:
    """torch.ops.aten."""

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
    """torch.ops.aten.add: all overloads of a name."""

    TYPE_NAMES: ClassVar[tuple[str, ...]] = ("OpOverloadPacket",)
    name: str
    place: Location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packet) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def get_attribute(self, run: Interpreter, name: str, place: Location | None) -> Value:
        """An overload, or what a packet can be asked."""
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
    """torch.ops.aten.add.Tensor."""

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
        """What torch._ops.OpOverload can be asked by code that registers."""
        base, _, overload = self.full.partition(".")
        schema = run.world.schema(self.full)
        match name:
            case "name":
                return Native(name, lambda _run, _args, _keywords, _here: Text(self.full, self.place))
            case "_schema":
                return Unknown(name) if schema is None else SchemaValue(schema, self.place)
            case "is_view":
                return Unknown(name) if schema is None else _is_view(schema)
            case "_overloadname":
                return overload or "default"
            case "__name__":  # OpOverload.__init__ in torch/_ops.py
                return Text(f"{base.partition('::')[2]}.{overload or 'default'}", self.place)
            case "namespace":
                return base.partition("::")[0]
            case "overloadpacket" | "_overloadpacket":
                return Packet(base, self.place)
            case "py_impl":
                return Native(name, lambda _run, _args, _keywords, _here: _IDENTITY)
            case "tags":
                return []
        return Unknown(name)


def _is_view(schema: Schema) -> bool:
    aliases = [a.alias_info for a in schema.arguments if a.alias_info is not None]
    return bool(aliases) and not any(a.is_write for a in aliases)


@dataclass(frozen=True, slots=True)
class SchemaValue:
    """torch._C.FunctionSchema."""

    TYPE_NAMES: ClassVar[tuple[str, ...]] = ("FunctionSchema",)
    schema: Schema
    place: Location

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """Its fields, arguments and returns as values of their own."""
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
    """torch._C.Argument and its alias_info."""

    name: str
    type: Type
    aliased: bool
    is_write: bool
    kwarg_only: bool

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """Its fields."""
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
    """torch._C.JitType."""

    type: Type

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """Its methods isSubtypeOf and containedTypes."""
        if name == "isSubtypeOf":
            return Native(name, lambda _run, args, _keywords, _here: isinstance(args[0], TypeValue) and args[0].type == self.type)
        if name == "containedTypes":
            return Native(name, lambda _run, _args, _keywords, _here: [TypeValue(t) for t in self.type.contained()])
        return Unknown(name)


# --- libraries


@dataclass(frozen=True, slots=True)
class LibraryValue:
    """What torch._C._dispatch_library returns: the lowest layer of torch.library.Library."""

    namespace: str
    key: str
    place: Location

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """define, impl and fallback; others change nothing in the dispatcher's tables."""
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


# --- the rest of torch._C and builtins


def _native(call: Callable[..., Value]) -> Callable[..., Value]:
    """A native that only looks at its arguments, and is unknown when one of them is."""

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


_IDENTITY = Native("identity", lambda _run, args, _keywords, _place: args[0] if args else None)


@dataclass(frozen=True, slots=True)
class Core:
    """torch._C."""

    def get_attribute(self, run: Interpreter, name: str, _place: Location | None) -> Value:  # noqa: C901, PLR0912 - a list of members
        """The members that registration code asks; all others are unknown."""
        world = run.world
        match name:
            case "_dispatch_library":
                return Native(name, _dispatch_library)
            case "_dispatch_has_kernel":
                return Native(name, _native(world.has_kernel))
            case "_dispatch_has_kernel_for_dispatch_key":
                return Native(name, _native(world.has_kernel))
            case "_dispatch_has_computed_kernel_for_dispatch_key":
                return Native(name, _native(world.has_computed_kernel))
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
                return Native(name, _native(lambda key: key if _is_key(run, key) else None))
            case "_dispatch_key_for_device":
                return Native(name, _native(lambda device: _key_of_device(run, device)))
            case "_is_key_in_modes_map" | "_dispatch_is_included_in_alias":
                return Unknown(name)
        if name.startswith("_has_"):
            return run.switch(name.removeprefix("_has_"))
        return TypeName(name) if name[:1].isupper() else Unknown(name)


@dataclass(frozen=True, slots=True)
class KeyNames:
    """torch._C.DispatchKey: keys are their names."""

    def get_attribute(self, _run: Interpreter, name: str, place: Location | None) -> Value:
        """`DispatchKey.Meta`."""
        return Text(name, place) if name[:1].isupper() else Unknown(name)


@dataclass(frozen=True, slots=True)
class Getter:
    """X of `X.get()`."""

    value: Value

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """`get`."""
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


def _is_instance(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    value, types = (*args, None, None)[:2]
    if isinstance(value, Unknown):
        return Unknown("isinstance")
    unknown = False
    for candidate in types if isinstance(types, (tuple, list)) else [types]:
        answer = _belongs(value, candidate)
        if answer:
            return True
        unknown = unknown or answer is None
    return Unknown("isinstance") if unknown else False


def _belongs(value: Value, candidate: Value) -> bool | None:
    if isinstance(candidate, PlainType):
        return isinstance(value, candidate.type)
    if isinstance(candidate, (Class, TypeName)):
        if isinstance(value, (Class, TypeName)) and isinstance(candidate, Class):
            return None  # a class of a metaclass: we do not follow those
        if isinstance(value, Instance) and candidate.name not in value.cls.names():
            return None if value.cls.has_unknown_base() and isinstance(candidate, TypeName) else False
        return candidate.name in type_names(value)
    if isinstance(candidate, Unknown) and isinstance(value, (str, int, list, tuple, dict, type(None))):
        return False if "torch" in candidate.what or candidate.what == "Tensor" else None
    return None


@dataclass(frozen=True, slots=True)
class PlainType:
    """A builtin type: callable, and good for isinstance."""

    type: type
    name: str = ""

    def call(self, run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """Make one; of an operator, its name."""
        if self.type is str and args and not isinstance(args[0], Unknown):
            place = args[0].place if isinstance(args[0], (Text, Overload)) else place
            return Text(str(args[0]), place)
        if self.type is bytes and args and isinstance(args[0], int):
            return Unknown("bytes")
        return _native(self.type)(run, args, keywords, place)

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """`str.join` and the like."""
        if name == "__name__":
            return self.type.__name__
        return Native(name, _native(getattr(self.type, name))) if hasattr(self.type, name) else Unknown(name)


def _getattr(run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
    if len(args) < 2 or not isinstance(args[1], str):
        return Unknown("getattr")
    here = getattr(args[1], "place", None) or getattr(args[0], "place", None) or run.here or place
    try:
        return attribute(run, args[0], args[1], here)
    except RaisedError:
        if len(args) > 2:
            return args[2]
        raise


def _hasattr(run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
    if isinstance(args[0], Core):
        return True  # of the stock build
    try:
        found = attribute(run, args[0], args[1], place) if isinstance(args[1], str) else Unknown("hasattr")
    except RaisedError:
        return False
    return Unknown("hasattr") if isinstance(found, Unknown) else True


def _any(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    if not args or not isinstance(args[0], (list, tuple, set)):
        return Unknown("any")
    truths = [truth_of(v) for v in args[0]]
    return True if any(truths) else (Unknown("any") if None in truths else False)


def _all(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    if not args or not isinstance(args[0], (list, tuple, set)):
        return Unknown("all")
    truths = [truth_of(v) for v in args[0]]
    return False if False in truths else (Unknown("all") if None in truths else True)


def _wraps(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    original = args[0] if args else None

    def wrap(run: Interpreter, functions: list[Value], _names: dict[str, Value], place: Location | None) -> Value:
        function = functions[0]
        if isinstance(function, Function) and isinstance(original, Function):
            function.name, function.qualname, function.wrapped = original.name, original.qualname, original
            function.attributes = {**original.attributes, **function.attributes}
        elif isinstance(function, Function):
            name = attribute(run, original, "__name__", place)
            function.name = name if isinstance(name, str) else function.name
        return function

    return Native("wraps", wrap)


@dataclass(slots=True, eq=False)
class SingleDispatch:
    """functools.singledispatch: picks a function by the class of the first argument."""

    default: Value
    others: dict[str, Value]

    def call(self, run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """Call the function for the first argument's class."""
        names = type_names(args[0]) if args else set()
        chosen = next((f for name, f in self.others.items() if name in names), self.default)
        return run.call(chosen, args, keywords, place)

    def get_attribute(self, run: Interpreter, name: str, place: Location | None) -> Value:
        """`register`; all else is asked of the default function."""
        return Native(name, self._register) if name == "register" else attribute(run, self.default, name, place)

    def _register(self, _run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
        function = args[-1] if args else None
        if isinstance(function, Function) and function.node.args.args:
            annotation = function.node.args.args[0].annotation
            self.others[annotation.id if isinstance(annotation, ast.Name) else ""] = function
            return function
        if isinstance(function, (Class, TypeName)):
            name = function.name
            return Native("register", lambda _run, functions, _keywords, _place: self.others.setdefault(name, functions[0]))
        return _IDENTITY


def _tree_map(run: Interpreter, args: list[Value], _keywords: dict[str, Value], place: Location | None) -> Value:
    function, tree = (*args, None, None)[:2]
    if not isinstance(function, (Function, Native, Partial)) and isinstance(tree, (Function, Native, Partial)):
        function, tree = tree, function  # the older order of arguments
    if isinstance(tree, (list, tuple)):
        return [_tree_map(run, [function, item], {}, place) for item in tree]
    if isinstance(tree, dict):
        return {k: _tree_map(run, [function, v], {}, place) for k, v in tree.items()}
    return run.call(function, [tree], {}, place)


def _get_module(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    return args[0].origin.scope.module if args and isinstance(args[0], Function) else Unknown("getmodule")


def _infer_schema(run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
    function, mutates = args[0] if args else None, keywords.get("mutates_args")
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return Unknown("schema")
    mutated: frozenset[str] | None = None
    if isinstance(mutates, (list, tuple, set, frozenset, dict)) and all(isinstance(m, str) for m in mutates):
        mutated = frozenset(mutates)
    elif mutates != "unknown":
        return Unknown("schema")
    schema = schema_of(function.node, mutated)
    name = keywords.get("op_name")
    return Unknown("schema") if schema is None else Text((name if isinstance(name, str) else "") + schema, run.here or place)


def _default_dict(_run: Interpreter, args: list[Value], _keywords: dict[str, Value], _place: Location | None) -> Value:
    factory = args[0].type if args and isinstance(args[0], PlainType) else None
    return collections.defaultdict(factory)


def builtins() -> dict[str, Value]:
    """Python's builtins, as far as registrations use them."""
    plain = (str, int, float, bool, list, tuple, dict, set, frozenset, bytes, range)
    found: dict[str, Value] = {t.__name__: PlainType(t, t.__name__) for t in plain}
    for function in (len, min, max, sum, abs, ord, chr, repr):
        found[function.__name__] = Native(function.__name__, _native(function))
    listed: dict[str, Callable[..., Value]] = {
        "sorted": lambda items, **_k: sorted(items, key=str),
        "reversed": lambda items: list(reversed(items)),
        "enumerate": lambda items, start=0: list(enumerate(items, start)),
        "zip": lambda *items, **_k: list(zip(*items, strict=False)),
        "iter": lambda items: items,
    }
    found |= {name: Native(name, _native(call)) for name, call in listed.items()}
    found |= {
        "isinstance": Native("isinstance", _is_instance),
        "getattr": Native("getattr", _getattr),
        "hasattr": Native("hasattr", _hasattr),
        "any": Native("any", _any),
        "all": Native("all", _all),
        "super": Native("super", lambda *_args: Unknown("super")),
        "callable": Native("callable", lambda _run, args, _k, _p: isinstance(args[0], (Function, Native, Partial, Class)) or Unknown("")),
        "property": Native("property", lambda _run, args, _k, _p: Property(args[0])),
        "staticmethod": Native("staticmethod", lambda _run, args, _k, _p: Static(args[0])),
        "classmethod": Native("classmethod", lambda _run, args, _k, _p: Static(args[0], of_class=True)),
        "object": Native("object", lambda *_args: Instance(_OBJECT)),
        "exec": Native("exec", lambda *_args: None),  # `_call` evaluates its text where it stands
        "NotImplemented": Unknown("NotImplemented"),
        "__debug__": True,
    }
    return found


def native_modules() -> dict[str, Module]:
    """Modules that are ours: what stands in for torch._C, torch._ops, pytree and some of the standard library."""
    ops = Namespaces()
    types = {name: TypeName(name) for name in ("OpOverload", "OpOverloadPacket", "HigherOrderOperator", "OperatorBase", "PyOperator")}
    tree_map = Native("tree_map", _tree_map)
    version = (3, 12, 0, "final", 0)
    spaces: dict[str, dict[str, Value]] = {
        "torch._ops": {"ops": ops, **types},
        "torch.utils._pytree": {"tree_map": tree_map, "tree_map_": tree_map, "tree_map_only": Unknown("tree_map_only")},
        "functools": {
            "wraps": Native("wraps", _wraps),
            "partial": Native("partial", lambda _run, args, keywords, _p: Partial(args[0], tuple(args[1:]), keywords)),
            "lru_cache": Native("lru_cache", lambda _run, args, _k, _p: args[0] if args and isinstance(args[0], Function) else _IDENTITY),
            "cache": _IDENTITY,
            "singledispatch": Native("singledispatch", lambda _run, args, _k, _p: SingleDispatch(args[0], {})),
        },
        "torch._library.infer_schema": {"infer_schema": Native("infer_schema", _infer_schema)},
        "inspect": {"getmodule": Native("getmodule", _get_module)},
        "typing": {"TYPE_CHECKING": False, "cast": Native("cast", lambda _run, args, _k, _p: args[1] if len(args) > 1 else None)},
        "typing_extensions": {"TYPE_CHECKING": False},
        "sys": {"version_info": version, "platform": "linux", "modules": {}},
        "collections": {"defaultdict": Native("defaultdict", _default_dict), "OrderedDict": PlainType(dict, "OrderedDict")},
        "itertools": {"chain": Native("chain", _native(lambda *parts: list(itertools.chain(*parts))))},
        "os": {"environ": {}, "getenv": Native("getenv", lambda _run, args, _k, _p: args[1] if len(args) > 1 else None)},
        "warnings": {},
        "logging": {},
    }
    made = {name: Module(name, "", space, "executed", native=True) for name, space in spaces.items()}
    root = {"ops": ops, "_C": Core(), "_ops": made["torch._ops"]}
    made["torch._C"] = Module("torch._C", "", {}, "executed", native=True, stand_in=Core())
    made["torch"] = Module("torch", "torch/__init__.py", root, "new")
    return made
