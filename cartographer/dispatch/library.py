# SPDX-License-Identifier: BSD-3-Clause
"""Reads the operators and kernels that C++ registers by hand: TORCH_LIBRARY blocks, RegisterOperators, and the operators that
exist for TorchScript only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.dispatch.blocks import (
    TEXT,
    arguments,
    block_heads,
    block_macros,
    macros_with,
    matching,
    mentions_registration,
    read_blocks,
)
from cartographer.dispatch.findings import Defined, Fallback, Findings, Registered, ScriptOperator
from cartographer.dispatch.options import chain_of_operators
from cartographer.dispatch.statements import Statement, is_name, schema_name, statements
from cartographer.expand.expander import Expander, ExpansionTooLargeError
from cartographer.expand.tokens import read_tokens, string_value
from cartographer.model.atlas import Unresolved
from cartographer.model.dispatch import CATCH_ALL
from cartographer.model.location import Location
from cartographer.model.operator import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.dispatch.blocks import Block, FileBlocks
    from cartographer.dispatch.build import Build
    from cartographer.expand.macros import MacroTable
    from cartographer.expand.tokens import Token
    from cartographer.model.fact import FileFacts

_SCRIPT = re.compile(r"\bOperator(?:Generator|GeneratorArgs)?\b\s*[({]")
_RUN = "operator()"
_SCRIPT_CLASSES = frozenset({"Operator", "OperatorGenerator", "OperatorGeneratorArgs"})  # torch/csrc/jit/runtime/operator.h
# Names that blocks keep as they are: what they expand to is PyTorch's plumbing, what they mean we know.
_KEPT = frozenset({"TORCH_FN", "TORCH_SELECTIVE_NAME", "TORCH_SELECTIVE_SCHEMA", "TORCH_BOX", "TORCH_CHECK"})


@dataclass(frozen=True, slots=True)
class Makers:
    """The macros of a tree that make registration blocks, those that look like the head of one, and those that make operators of TorchScript."""

    blocks: frozenset[str]
    heads: frozenset[str]
    script: frozenset[str]


def makers_of(table: MacroTable) -> Makers:
    """Find the macros that register something, by what they expand to."""
    return Makers(block_macros(table), block_heads(table), macros_with(table, _SCRIPT))


def wanted(text: bytes, makers: Makers) -> bool:
    """Whether a C++ file may register something. In templates of generated files only registrations that are written out count."""
    return mentions_registration(text, [m.encode() for m in (*makers.blocks, *makers.heads)])


def library_findings(
    texts: Iterable[tuple[str, str]],
    table: MacroTable,
    build: Build,
    known: frozenset[str] = frozenset(),
    makers: Makers | None = None,
) -> Findings:
    """Read the registrations in all files, given as (path, text). `build` gives the conditions of a place: () when the stock build has it.
    `known`: the tree's namespaces (`scopes`); `makers`: its macros that register, where they are known already.
    """
    makers = makers or makers_of(table)
    found = Findings()
    for path, text in texts:
        tokens = read_tokens(text, path)
        try:
            file = read_blocks(path, tokens, table, makers.blocks, makers.heads)
        except ExpansionTooLargeError as error:
            found += Findings(unresolved=(Unresolved("dispatch", path, f"expansion without bounds: {error}", path),))
            continue
        for token in file.unknown:
            reason = "a registration macro whose meaning is not known"
            found += Findings(unresolved=(Unresolved("dispatch", token.text, reason, path, token.line),))
        for block in file.blocks:
            found += _block_findings(block, file, table, build, known)
        if "/jit/" in path:
            found += Findings(script=tuple(_script_operators(path, tokens, table, makers.script)))
    return found


def _block_findings(
    block: Block, file: FileBlocks, table: MacroTable, build: Build, known: frozenset[str]
) -> Findings:
    body = _expanded(block, file, table)
    if body is None:
        reason = "its macros expand without bounds"
        return Findings(unresolved=(Unresolved("dispatch", f"block {block.namespace}", reason, file.path, block.head.line),))
    defined: list[Defined] = []
    registered: list[Registered] = []
    fallbacks: list[Fallback] = []
    unresolved: list[Unresolved] = []
    for statement in (chain_of_operators if body.kind == "OPERATORS" else statements)(body, file):
        place = Location(statement.token.path or file.path, statement.token.line)
        guards = (*block.head.guards, *(g for g in statement.token.guards if g not in block.head.guards))
        terms = build.terms(file.path, guards)
        if not isinstance(statement, Statement):
            if "/templates/" in file.path:
                continue
            unresolved.append(Unresolved("dispatch", f"block {block.namespace}", statement.reason, place.path, place.line))
        elif "$" in statement.text:
            continue  # a hole of a template, which a generator fills
        elif statement.verb == "fallback":
            fallbacks.append(_fallback(block, statement, place, terms, known))
        else:
            if statement.verb == "def":
                needs = build.needs(file.path, guards)
                defined.append(replace(_definition(block, statement, place, terms, known), needs=needs))
            if statement.kernel is not None:
                registered.append(_registration(block, statement, place, terms, known))
    return Findings(tuple(defined), tuple(registered), tuple(fallbacks), (), tuple(unresolved))


def _expanded(block: Block, file: FileBlocks, table: MacroTable) -> Block | None:
    expander = Expander(table, file.path, block.head.line, wanted=lambda name: name not in _KEPT)
    try:
        body = tuple(expander.expand(block.body))
    except ExpansionTooLargeError:
        return None
    return type(block)(block.kind, block.namespace, block.key, block.variable, body, block.head, block.scope)


def _fallback(block: Block, statement: Statement, place: Location, build: tuple[str, ...], known: frozenset[str]) -> Fallback:
    kernel = statement.kernel
    key = statement.key or block.key or CATCH_ALL
    symbol = qualified(kernel.symbol, block.scope, known) if kernel and kernel.symbol else None
    return Fallback(key, symbol, bool(kernel and kernel.fallthrough), place, build)


def _definition(block: Block, statement: Statement, place: Location, build: tuple[str, ...], known: frozenset[str]) -> Defined:
    text = statement.text.strip()
    name = with_namespace(schema_name(text), block.namespace)
    schema = None if is_name(text) else with_namespace(text, block.namespace)
    function = statement.function or (statement.kernel.symbol if statement.kernel else None)
    function = None if function == "lambda" or schema is not None else function
    tags = statement.tags
    run = run_by(function, block.scope, known) if function and block.kind == "OPERATORS" else None
    return Defined(name, schema, Origin.LIBRARY, place, build, run or (qualified(function, block.scope, known) if function else ""), tags)


def _registration(block: Block, statement: Statement, place: Location, build: tuple[str, ...], known: frozenset[str]) -> Registered:
    kernel = statement.kernel
    assert kernel is not None
    key = statement.key or block.key or CATCH_ALL
    run = run_by(kernel.symbol, block.scope, known) if kernel.functor and kernel.symbol else None
    return Registered(
        with_namespace(schema_name(statement.text), block.namespace),
        CATCH_ALL if key in (CATCH_ALL, "Undefined") else key,
        run or (qualified(kernel.symbol, block.scope, known) if kernel.symbol else None),
        Origin.LIBRARY,
        place,
        build,
        kernel.fallthrough,
        kernel.boxed,
    )


def with_namespace(name: str, namespace: str) -> str:
    """An operator's full name: with the namespace that it has already, else with that of the block."""
    return name if "::" in name.partition("(")[0] or not namespace else f"{namespace}::{name}"


def qualified(symbol: str, scope: str, known: frozenset[str] = frozenset()) -> str:
    """A C++ name as seen from the namespaces around the block; names that begin at the top stay. The first part of
    `native::f` is looked for from the inside out, among the namespaces and classes that the tree is known to have.
    """
    first = symbol.partition("::")[0]
    if symbol == "lambda" or not scope or first in ("at", "torch", "c10", "caffe2", "std"):
        return symbol
    around = scope.split("::")
    if first != symbol:
        for depth in range(len(around), 0, -1):
            if "::".join((*around[:depth], first)) in known:
                return "::".join((*around[:depth], symbol))
    return f"{scope}::{symbol}"


def run_by(functor: str, scope: str, known: frozenset[str]) -> str | None:
    """The `operator()` of a class as seen from the namespaces around a block; None where no such class has one."""
    around = [part for part in scope.split("::") if part]
    names = ("::".join((*around[:depth], functor, _RUN)) for depth in range(len(around), -1, -1))
    return next((name for name in names if name in known), None)


def scopes(facts: Mapping[str, FileFacts]) -> frozenset[str]:
    """All namespaces and classes that contain a definition, those around them, and what runs where an object is called."""
    names = {d.qualname.replace("::(anonymous)", "") for file in facts.values() for d in file.definitions}
    runs = {name.removeprefix("(anonymous)::") for name in names if name.endswith(f"::{_RUN}")}
    inner = {name.rpartition("::")[0] for name in names}
    return frozenset(runs) | frozenset("::".join(parts[:depth]) for parts in (s.split("::") for s in inner) for depth in range(1, len(parts) + 1))


def _script_operators(path: str, tokens: list[Token], table: MacroTable, macros: frozenset[str]) -> Iterable[ScriptOperator]:
    """Schemas given to torch::jit::Operator in its three spellings, macros that make them expanded."""
    if (_SCRIPT_CLASSES | macros).isdisjoint(map(TEXT, tokens)):
        return
    try:
        tokens = Expander(table, path, 0, wanted=macros.__contains__).expand(tokens)
    except ExpansionTooLargeError:
        return
    for index in [n for n, text in enumerate(map(TEXT, tokens[:-1])) if text in _SCRIPT_CLASSES]:
        if tokens[index + 1].text not in ("(", "{"):
            continue
        parts = arguments(tokens[index + 2 : matching(tokens, index + 1)])
        strings = [t for t in (parts[0] if parts else []) if t.kind == "string"]
        schema = "".join(string_value(t) for t in strings).strip()
        if "::" in schema and "(" in schema:
            naming = next((t for t in strings if not string_value(t).rstrip().endswith("::")), strings[0])
            yield ScriptOperator(schema_name(schema), schema, Location(naming.path, naming.line))


def by_key(registered: Iterable[Registered]) -> Mapping[str, int]:
    """The number of registrations for each dispatch key, for reports."""
    counts: dict[str, int] = {}
    for registration in registered:
        counts[registration.key] = counts.get(registration.key, 0) + 1
    return counts
