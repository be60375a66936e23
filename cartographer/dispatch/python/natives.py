# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for builtins, pytree, functools and whatever else of the standard library registering code uses."""

from __future__ import annotations

import ast
import collections
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.dispatch.python.annotated import schema_of
from cartographer.dispatch.python.attributes import attribute
from cartographer.dispatch.python.evaluate import truth_of
from cartographer.dispatch.python.operators import IDENTITY, Namespaces, Overload
from cartographer.dispatch.python.torch_c import Core, plain
from cartographer.dispatch.python.values import (
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
    type_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.dispatch.python.execute import Interpreter
    from cartographer.model.location import Location


_OBJECT = Class("object", (), {}, Module("builtins", native=True))  # of `object()`: a value like no other


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
    """A builtin type such as `str`: it can be called, and asked about in isinstance."""

    type: type
    name: str = ""

    def call(self, run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """Make a value of the type, as `str(x)` does; of an operator, its name."""
        if self.type is str and args and not isinstance(args[0], Unknown):
            place = args[0].place if isinstance(args[0], (Text, Overload)) else place
            return Text(str(args[0]), place)
        if self.type is bytes and args and isinstance(args[0], int):
            return Unknown("bytes")
        return plain(self.type)(run, args, keywords, place)

    def get_attribute(self, _run: Interpreter, name: str, _place: Location | None) -> Value:
        """A method of the type, such as `str.join`."""
        if name == "__name__":
            return self.type.__name__
        return Native(name, plain(getattr(self.type, name))) if hasattr(self.type, name) else Unknown(name)


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
    """A function of functools.singledispatch, which chooses an implementation by the class of the first argument."""

    default: Value
    others: dict[str, Value]

    def call(self, run: Interpreter, args: list[Value], keywords: dict[str, Value], place: Location | None) -> Value:
        """Call the implementation for the class of the first argument."""
        names = type_names(args[0]) if args else set()
        chosen = next((f for name, f in self.others.items() if name in names), self.default)
        return run.call(chosen, args, keywords, place)

    def get_attribute(self, run: Interpreter, name: str, place: Location | None) -> Value:
        """The method `register`; other attributes are those of the default implementation."""
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
        return IDENTITY


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
    """Python's builtins by name, as far as registering code uses them."""
    types = (str, int, float, bool, list, tuple, dict, set, frozenset, bytes, range)
    found: dict[str, Value] = {t.__name__: PlainType(t, t.__name__) for t in types}
    for function in (len, min, max, sum, abs, ord, chr, repr):
        found[function.__name__] = Native(function.__name__, plain(function))
    listed: dict[str, Callable[..., Value]] = {
        "sorted": lambda items, **_k: sorted(items, key=str),
        "reversed": lambda items: list(reversed(items)),
        "enumerate": lambda items, start=0: list(enumerate(items, start)),
        "zip": lambda *items, **_k: list(zip(*items, strict=False)),
        "iter": lambda items: items,
    }
    found |= {name: Native(name, plain(call)) for name, call in listed.items()}
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
    """The modules that stand in for torch._C, torch._ops, pytree and some of the standard library, by name."""
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
            "lru_cache": Native("lru_cache", lambda _run, args, _k, _p: args[0] if args and isinstance(args[0], Function) else IDENTITY),
            "cache": IDENTITY,
            "singledispatch": Native("singledispatch", lambda _run, args, _k, _p: SingleDispatch(args[0], {})),
        },
        "torch._library.infer_schema": {"infer_schema": Native("infer_schema", _infer_schema)},
        "inspect": {"getmodule": Native("getmodule", _get_module)},
        "typing": {"TYPE_CHECKING": False, "cast": Native("cast", lambda _run, args, _k, _p: args[1] if len(args) > 1 else None)},
        "typing_extensions": {"TYPE_CHECKING": False},
        "sys": {"version_info": version, "platform": "linux", "modules": {}},
        "collections": {"defaultdict": Native("defaultdict", _default_dict), "OrderedDict": PlainType(dict, "OrderedDict")},
        "itertools": {"chain": Native("chain", plain(lambda *parts: list(itertools.chain(*parts))))},
        "os": {"environ": {}, "getenv": Native("getenv", lambda _run, args, _k, _p: args[1] if len(args) > 1 else None)},
        "warnings": {},
        "logging": {},
    }
    made = {name: Module(name, "", space, "executed", native=True) for name, space in spaces.items()}
    root = {"ops": ops, "_C": Core(), "_ops": made["torch._ops"]}
    made["torch._C"] = Module("torch._C", "", {}, "executed", native=True, stand_in=Core())
    made["torch"] = Module("torch", "torch/__init__.py", root, "new")
    return made
