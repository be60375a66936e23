# SPDX-License-Identifier: BSD-3-Clause
"""Runs the link stage as a whole: operators and facts -> operators with chains, helpers, callers and callees."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cartographer.link.chains import chains_in
from cartographer.link.gradients import Gradients
from cartographer.link.graph import OperatorGraph
from cartographer.link.stubs import as_values
from cartographer.link.tree import tree_of
from cartographer.model.atlas import Unresolved
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.link.tree import Tree
    from cartographer.model.atlas import Stub
    from cartographer.model.fact import FileFacts
    from cartographer.model.operator import Chain, Operator, Registration

# Files whose text tells more than their facts, besides those that registrations are read from: device code in headers, Metal.
WANTED = ("aten/*.cuh", "aten/*.metal")

_NAME = re.compile(r"\b\w+::\w+(?:\.\w+)?")


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of the link stage: the operators with their chains, the dispatch stubs, and what could not be resolved."""

    operators: tuple[Operator, ...]
    stubs: tuple[Stub, ...]
    unresolved: tuple[Unresolved, ...]


def prepare(
    facts: Mapping[str, FileFacts], source: Callable[[str], str | None] | None = None, whole: Callable[[str], FileFacts] | None = None,
) -> Tree:
    """Index a tree for linking: the part of the work that needs no operators. See `tree_of`."""
    tree = tree_of((), facts, source, whole)
    _ = tree.index.by_name, tree.stubs
    return tree


def link(
    operators: Iterable[Operator], tree: Tree, workers: int = 1, fallbacks: Mapping[str, tuple[Registration, ...]] = MappingProxyType({}),
) -> Linked:
    """Follow every operator down to its kernels, and find the helpers of its derivative, in a tree that `prepare` made. `fallbacks` are
    what is registered for all operators together, by dispatch key.
    """
    tree.operators, tree.fallbacks = tuple(operators), fallbacks
    chains = chains_in(tree, workers)
    gradients = Gradients(tree.index)
    named: dict[tuple[str, str], str | None] = {}
    callees = {name: _called(found, tree.by_name.by_name, named) for name, found in chains.items()}
    graph = OperatorGraph(callees)
    linked = []
    for operator in tree.operators:
        autograd = operator.autograd
        if autograd is not None:
            autograd = replace(autograd, helpers=gradients.helpers(operator))
        linked.append(replace(
            operator, kernels=chains[operator.name], autograd=autograd,
            callers=graph.callers(operator.name), callees=callees[operator.name],
        ))
    return Linked(tuple(linked), as_values(tree.stubs), tuple(_unresolved(linked)))


def _called(chains: Mapping[str, Chain], known: Mapping[str, Operator], named: dict[tuple[str, str], str | None]) -> tuple[str, ...]:
    """The operators that the chains of one operator call: the note of such a step names them, the likeliest first. `named` keeps
    what notes and symbols name.
    """
    found: dict[str, None] = {}
    for chain in chains.values():
        for number, step in enumerate(chain.steps):
            if number and step.role == "entry":
                break  # from here on it is the called operator that calls
            if step.role == "calls":
                at = (step.note, step.symbol)
                if at not in named:
                    names = (*_NAME.findall(step.note), step.symbol, f"aten::{step.symbol.rpartition('::')[2]}")
                    named[at] = next((name for name in names if name in known), None)
                if (name := named[at]) is not None:
                    found[name] = None
    return tuple(found)


def _unresolved(operators: Iterable[Operator]) -> Iterable[Unresolved]:
    for operator in operators:
        for key, chain in operator.kernels.items():
            if chain.status is Status.UNRESOLVED:
                yield Unresolved("link", f"{operator.name} {key}", chain.reason or "", operator.declared.path, operator.declared.line)
