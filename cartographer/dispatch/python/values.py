# SPDX-License-Identifier: BSD-3-Clause
"""The values of the evaluation of Python code. Plain Python constants and containers represent themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from cartographer.model.location import Location

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

Value = Any


class Unknown:
    """A value that could not be worked out; everything that is made from it is unknown too."""

    __slots__ = ("what",)

    def __init__(self, what: str = "") -> None:
        self.what = what

    def __repr__(self) -> str:
        return f"<unknown {self.what}>"


class Text(str):
    """A string that knows where in the source it is written."""

    __slots__ = ("place",)
    place: Location | None

    def __new__(cls, text: str, place: Location | None) -> Self:
        """Attach a place to a text."""
        made = super().__new__(cls, text)
        made.place = place
        return made


class RaisedError(Exception):
    """An exception that the evaluated code raises."""

    def __init__(self, kind: str, what: str = "") -> None:
        super().__init__(f"{kind}: {what}" if what else kind)
        self.kind = kind


class OutOfStepsError(Exception):
    """The evaluation takes too many steps; the caller reports it as unresolved."""


@dataclass(slots=True, eq=False)
class Scope:
    """The variables of a function, class body or comprehension; `parent` is the scope in which other names are looked up."""

    variables: dict[str, Value]
    parent: Scope | None
    module: Module
    is_class: bool = False
    outer_names: set[str] = field(default_factory=set)  # declared nonlocal or global
    owner: Class | None = None  # class of the method that runs here
    receiver: Value = None
    candidates: list[Value] = field(default_factory=list)  # returned under conditions that we cannot tell


@dataclass(slots=True, eq=False)
class Module:
    """A module of the tree, or one that has a stand-in."""

    name: str
    path: str = ""
    namespace: dict[str, Value] = field(default_factory=dict)
    state: str = "new"  # new | imported | indexed (evaluated by name) | executing | executed
    native: bool = False
    stand_in: Value = None  # asked for the members of a native module
    pending: dict[str, list[ast.stmt]] = field(default_factory=dict)  # by the name that they bind, not evaluated yet
    places: dict[int, Location] = field(default_factory=dict)

    def at(self, line: int) -> Location:
        """The location of a line of the module's file."""
        place = self.places.get(line)
        if place is None:
            place = self.places[line] = Location(self.path, line)
        return place


@dataclass(slots=True, eq=False)
class Function:
    """A function or lambda of the tree, with the scope that it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    name: str
    qualname: str
    defaults: list[Value]
    keyword_defaults: dict[str, Value]
    attributes: dict[str, Value] = field(default_factory=dict)
    wrapped: Function | None = None
    owner: Class | None = None
    generator: bool | None = None  # whether it yields; None until it is called
    parameters: tuple[str, ...] = ()  # what arguments without a name fill
    keyword_only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Read its parameters once for all calls."""
        given = self.node.args
        self.parameters = tuple(a.arg for a in (*given.posonlyargs, *given.args))
        self.keyword_only = tuple(a.arg for a in given.kwonlyargs)

    @property
    def origin(self) -> Function:
        """The function inside all wrappers that functools.wraps made: the one that a person wrote."""
        function = self
        while function.wrapped is not None:
            function = function.wrapped
        return function


@dataclass(slots=True, eq=False)
class Native:
    """A function of Python or PyTorch that has an implementation in this package."""

    name: str
    call: Callable[..., Value]


@dataclass(slots=True, eq=False)
class Partial:
    """The result of `functools.partial`: a function with some of its arguments given."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(slots=True, eq=False)
class Class:
    """A class that the evaluated code defines."""

    name: str
    bases: tuple[Value, ...]
    namespace: dict[str, Value]
    module: Module
    own_fields: list[str] = field(default_factory=list)  # annotated, in order: those of a dataclass

    def fields(self) -> list[str]:
        """The annotated fields of the class and its bases, in order."""
        found = [f for base in self.bases if isinstance(base, Class) for f in base.fields()]
        return [*found, *(f for f in self.own_fields if f not in found)]

    def lookup(self, name: str) -> Value:
        """A member of the class or of its bases; raises KeyError when there is none."""
        if name in self.namespace:
            return self.namespace[name]
        for base in self.bases:
            if isinstance(base, Class):
                try:
                    return base.lookup(name)
                except KeyError:
                    continue
        raise KeyError(name)

    def has_unknown_base(self) -> bool:
        """Whether a base class is not known, so that members may be missing here."""
        return any(b.has_unknown_base() if isinstance(b, Class) else True for b in self.bases)

    def names(self) -> set[str]:
        """The names of the class and of its bases."""
        found = {self.name}
        for base in self.bases:
            found |= base.names() if isinstance(base, Class) else {getattr(base, "name", "")}
        return found


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class that the evaluated code defines."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Bound:
    """A method together with the object that it is called on."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True)
class TypeName:
    """A class of which only the name is known: torch._ops.OpOverload, torch._C.FunctionSchema, ..."""

    name: str


@dataclass(frozen=True, slots=True)
class Property:
    """A property: a function under the decorator `@property`."""

    getter: Value


@dataclass(frozen=True, slots=True)
class Static:
    """A function under `@staticmethod`, or under `@classmethod`."""

    function: Value
    of_class: bool = False


LARGEST = 100_000  # items or characters of a value; code that registers operators stays far below


def affordable(*values: Value) -> bool:
    """Whether values are no larger than a registration needs; larger ones are not made, whatever the evaluated code asks for."""
    for value in values:
        if isinstance(value, bool):
            continue
        if isinstance(value, int) and abs(value) > LARGEST * 100:
            return False
        if isinstance(value, (str, bytes, list, tuple, dict, set, frozenset, range)) and len(value) > LARGEST:
            return False
    return True


def type_names(value: Value) -> set[str]:
    """The names of the classes that a value is an instance of."""
    if isinstance(value, Instance):
        return value.cls.names()
    if isinstance(value, TypeName):
        return {"type"}
    return set(getattr(type(value), "TYPE_NAMES", ()))


@dataclass(frozen=True, slots=True)
class Lazy:
    """A name taken from a module that is evaluated only when the name is used."""

    module: Module
    name: str
