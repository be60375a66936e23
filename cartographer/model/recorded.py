# SPDX-License-Identifier: BSD-3-Clause
"""Tells for which tensors an autograd Node is recorded: a derivative formula alone records none, what serves an autograd key does.

The formula's function is registered to the alias `Autograd` (tools/autograd/gen_variable_type.py). Where a backend has no kernel of its
own, a composite function serves the backend's autograd key before that alias does (aten/src/ATen/core/dispatch/OperatorEntry.cpp,
computeDispatchTableEntryWithDebug); then the operators that it calls are recorded, and it itself is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.model.backend import DENSE, dense_key, layout_prefix
from cartographer.model.dispatch import OUTCOMES

if TYPE_CHECKING:
    from cartographer.model.operator import Operator

_KEYED = re.compile(r"Backward(Autograd\w+?)\d+$")  # ChunkBackwardAutogradNestedTensor0: of the formula for that key alone
_NESTED = "AutogradNestedTensor"
_OTHER = "AutogradOther"
COMPOSED = ("math kernel", "catch all")  # what serves an autograd key where the call ends in a composite function
NEVER = "no tensor"


def autograd_key(operator: Operator, backend: str) -> str:
    """The autograd key that tensors of a backend carry (c10/core/DispatchKeySet.cpp, getAutogradRelatedKeySetFromBackend)."""
    layout = layout_prefix(backend)
    if layout == "NestedTensor":
        return _NESTED
    own = f"Autograd{backend if layout == 'Mkldnn' else dense_key(backend)}"
    return own if own in operator.dispatch else _OTHER


def recorded(operator: Operator, backend: str) -> tuple[str, ...]:
    """The Nodes that a call on tensors of a backend records for the operator itself; all that it has where the table does not tell."""
    nodes = operator.autograd.nodes if operator.autograd else ()
    key = autograd_key(operator, backend)
    outcome = operator.dispatch.get(key, "")
    if outcome not in OUTCOMES:
        return nodes
    return tuple(node for node in nodes if _records(node, key, outcome))


def is_composed(operator: Operator) -> bool:
    """Whether a composite function serves the autograd key of some backend of dense tensors, so that the operators it calls are recorded."""
    return any(operator.dispatch.get(f"Autograd{backend}") in COMPOSED for backend in DENSE)


def limits(operator: Operator) -> dict[str, str]:
    """The Nodes of an operator that are not recorded for dense tensors of every backend, each with the tensors for which it is."""
    dense = [backend for backend in DENSE if operator.dispatch.get(f"Autograd{backend}") in OUTCOMES]
    found = {}
    for node in operator.autograd.nodes if operator.autograd and dense else ():
        on = [backend for backend in dense if node in recorded(operator, backend)]
        if len(on) < len(dense):
            nested = ["nested tensors"] if _records(node, _NESTED, operator.dispatch.get(_NESTED, "")) else []
            found[node] = " and ".join(filter(None, (", ".join((on + nested)[:-1]), *(on + nested)[-1:]))) or NEVER
    return found


def _records(node: str, key: str, outcome: str) -> bool:
    keyed = _KEYED.search(node)
    if keyed:
        return keyed[1] == key and outcome == "kernel"
    return outcome == "autograd kernel"
