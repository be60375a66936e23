# SPDX-License-Identifier: BSD-3-Clause
"""Builds the graph of which operators call which, from all chains (the only home of networkx)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class OperatorGraph:
    """The graph of operators, with an edge from each to the operators that its code calls."""

    def __init__(self, callees: Mapping[str, Iterable[str]]) -> None:
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._graph.add_nodes_from(callees)
        self._graph.add_edges_from((name, callee) for name, called in callees.items() for callee in called)

    def callers(self, name: str) -> tuple[str, ...]:
        """The operators whose code calls this one, sorted."""
        return tuple(sorted(self._graph.predecessors(name)))

    def circles(self) -> tuple[tuple[str, ...], ...]:
        """Groups of operators that call each other in a circle, each sorted: a chain cannot be followed through them."""
        groups = nx.strongly_connected_components(self._graph)
        return tuple(sorted(tuple(sorted(group)) for group in groups if len(group) > 1))
