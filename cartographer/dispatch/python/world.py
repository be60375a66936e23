# SPDX-License-Identifier: BSD-3-Clause
"""The state of the dispatcher as Python sees it while torch is imported: operators, schemas, and what is registered so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.dispatch.findings import Defined, Fallback, Registered
from cartographer.model.operator import Origin
from cartographer.scan.text import split_commas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.model.dispatch import KeyRules
    from cartographer.model.location import Location


@dataclass(frozen=True, slots=True)
class Alias:
    """The alias annotation of an argument: `a` or `a!`."""

    is_write: bool


@dataclass(frozen=True, slots=True)
class Type:
    """A type in a schema as TorchScript has it, as far as registering code asks about it."""

    text: str

    def contained(self) -> tuple[Type, ...]:
        """The element types of a type: that of `Tensor[]?` is `Tensor[]`."""
        if self.text.endswith("?"):
            return (Type(self.text[:-1]),)
        found = re.match(r"(.*)\[\d*\]\Z", self.text)
        return (Type(found.group(1)),) if found else ()


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument or a return of a schema."""

    name: str
    type: Type
    alias_info: Alias | None
    kwarg_only: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """A function schema as torch._C.FunctionSchema shows it."""

    name: str  # aten::add
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    text: str = ""

    @property
    def is_mutable(self) -> bool:
        """Whether the operator writes to one of its arguments."""
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)


def parse_schema(text: str) -> Schema:
    """Parse a schema; raises ValueError when it cannot be parsed."""
    found = re.match(r"\s*([\w:]+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.*?)\s*\Z", text, re.DOTALL)
    if found is None:
        raise ValueError(text)
    name, overload, inside, returns = found.groups()
    arguments: list[Argument] = []
    keyword_only = False
    for part in split_commas(inside):
        if part == "*":
            keyword_only = True
        elif part:
            arguments.append(_argument(part, keyword_only=keyword_only))
    returns = returns[1:-1] if returns.startswith("(") and returns.endswith(")") else returns
    made = tuple(_argument(part, keyword_only=False) for part in split_commas(returns) if part)
    return Schema(name, overload or "", tuple(arguments), made, text)


def _argument(text: str, *, keyword_only: bool) -> Argument:
    text = re.sub(r"\s*=.*", "", text, flags=re.DOTALL)
    alias = re.search(r"\(([^()]*)\)", text)
    plain = re.sub(r"\([^()]*\)", "", text)
    typed, _, name = plain.strip().rpartition(" ")
    if not typed:
        typed, name = name, ""
    return Argument(name, Type(typed.strip()), Alias("!" in alias.group(1)) if alias else None, keyword_only)


@dataclass(slots=True)
class World:
    """The state of the dispatcher, which registrations from Python read and change."""

    rules: KeyRules
    serves: Callable[[Mapping[str, bool]], Mapping[str, str]]  # {key: fallthrough} -> computed table
    schemas: dict[str, str] = field(default_factory=dict)  # full name -> schema text
    kernels: dict[str, dict[str, bool]] = field(default_factory=dict)  # full name -> {key: fallthrough}
    script: dict[str, str] = field(default_factory=dict)  # TorchScript-only overloads: full name -> schema text
    is_complete: bool = True  # False: operators may exist that this source does not show (a wheel)
    defined: list[Defined] = field(default_factory=list)
    registered: list[Registered] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    _overloads: dict[str, list[str]] = field(default_factory=dict)
    _parsed: dict[str, Schema] = field(default_factory=dict)

    def add(self, name: str, schema: str) -> None:
        """Add an operator with its schema, unless it is known."""
        if name not in self.schemas:
            base, _, overload = name.partition(".")
            self._overloads.setdefault(base, []).append(overload)
        self.schemas[name] = schema

    def add_script(self, operators: Iterable[tuple[str, str]]) -> None:
        """Add overloads that only TorchScript has, as (name, schema): packets list them, the dispatcher has no kernel for
        them.
        """
        for name, schema in operators:
            if name not in self.schemas:
                self.script[name] = schema
                base, _, overload = name.partition(".")
                known = self._overloads.setdefault(base, [])
                if overload not in known:
                    known.append(overload)

    def overloads(self, base: str) -> list[str]:
        """The overload names of `aten::add`, "" for the default one; empty when there is no such operator."""
        return self._overloads.get(base, [])

    def schema(self, name: str) -> Schema | None:
        """The parsed schema of an operator; None when it has none that can be parsed."""
        if name not in self._parsed:
            try:
                self._parsed[name] = parse_schema(self.schemas.get(name) or self.script[name])
            except (KeyError, ValueError):
                return None
        return self._parsed[name]

    def has_kernel(self, name: str, key: str | None = None) -> bool:
        """Whether an operator has a kernel; with a key, whether it has one registered for that key."""
        keys = self.kernels.get(name, {})
        return bool(keys) if key is None else self.rules.key(key) in keys

    def has_computed_kernel(self, name: str, key: str) -> bool:
        """Whether the computed dispatch table has anything but an error for a key."""
        if name not in self.kernels:
            return False
        return self.serves(self.kernels[name]).get(self.rules.key(key), "missing") != "missing"

    def define(self, name: str, schema: str, place: Location, build: tuple[str, ...], tags: tuple[str, ...]) -> None:
        """Record that Python defines an operator."""
        name, schema = str(name), str(schema)  # their places go separately
        self.add(name, schema)
        self.kernels.setdefault(name, {})
        self.defined.append(Defined(name, schema, Origin.PYTHON, place, build, "", tags))

    def register(
        self, name: str, key: str, kernel: str | None, place: Location, build: tuple[str, ...], *, fallthrough: bool
    ) -> None:
        """Record that Python registers a kernel for an operator and a dispatch key."""
        name, key = str(name), str(self.rules.key(key))
        self.kernels.setdefault(name, {})[key] = fallthrough
        self.registered.append(
            Registered(name, key, None if kernel is None else str(kernel), Origin.PYTHON, place, build, fallthrough=fallthrough, boxed=True)
        )
