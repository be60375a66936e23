# SPDX-License-Identifier: BSD-3-Clause
"""The JSON twin of an operator's page: the same facts, under the names that the export gives them.

Fields that hold nothing are left out. What overloads share stands once, at the end of the file (`steps` of chains, dispatch
`layers`, `served`: runtime keys by what serves them), and overloads name it by its number there. Keys and layers behind which only a
general fallback stands are the same for all operators and are left out. Registrations that differ in their key alone stand
together (`keys`). `kernels` names the chains, which stand in `chains`, by their number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from cartographer.render.pages.operator import name_of

if TYPE_CHECKING:
    from cartographer.model.operator import Operator, Registration
    from cartographer.render.site import Site


def operator_twin(site: Site, key: str) -> tuple[str, bytes]:
    """(address, bytes): all overloads of one page."""
    steps: _Table = {}
    layers: _Table = {}
    served: _Table = {}
    chains: _Table = {}
    overloads = [_overload(op, chains, layers, served) for op in site.catalog.bases[key]]
    ways = [{"status": c.status.value, "reason": c.reason, "steps": [steps.setdefault(step, len(steps)) for step in c.steps]} for c in chains]
    value = {
        "kind": "operator",
        "name": name_of(key, site.catalog.bases[key]),
        "pytorch": site.catalog.source.version,
        "overloads": overloads,
        "chains": [_filled(way) for way in ways],
        "steps": [_filled(msgspec.to_builtins(step)) for step in steps],
        "layers": [_filled(msgspec.to_builtins(layer)) for layer in layers],
        "served": [dict(table) for table in served],
    }
    return address(site.settle(f"{key}.html")), msgspec.json.encode(value) + b"\n"


def address(page: str) -> str:
    """Where the twin of an operator's page stands: beside it."""
    return page.removesuffix(".html") + ".json"


_Table = dict[Any, int]


def _overload(op: Operator, chains: _Table, layers: _Table, served: _Table) -> dict[str, Any]:
    """One overload; the model's own names are those of the export, but for helpers."""
    bare = replace(op, kernels={}, layers=(), dispatch={}, registrations=())
    value: dict[str, Any] = {"kind": "op", **_filled(msgspec.to_builtins(bare))}
    value["kernels"] = {backend: chains.setdefault(chain, len(chains)) for backend, chain in op.kernels.items()}
    own = [layer for layer in op.layers if not layer.outcome.endswith("backend fallback")]
    value["registrations"] = _registrations(op)
    value["layers"] = [layers.setdefault(layer, len(layers)) for layer in own]
    if op.dispatch:
        value["dispatch"] = served.setdefault(_served(op), len(served))
    if op.autograd and op.autograd.helpers:
        value["autograd"]["helpers"] = [
            {"symbol": helper.symbol, "path": helper.place.path, "line": helper.place.line} for helper in op.autograd.helpers
        ]
    return value


def _registrations(op: Operator) -> list[dict[str, Any]]:
    groups: dict[Registration, list[str]] = {}
    for registration in op.registrations:
        groups.setdefault(replace(registration, key=""), []).append(registration.key)
    rows = ({"keys": keys, **_filled(msgspec.to_builtins(alike))} for alike, keys in groups.items())
    return [row if row.pop("active", False) else {**row, "overridden": True} for row in rows]


def _served(op: Operator) -> tuple[tuple[str, tuple[str, ...]], ...]:
    groups: dict[str, list[str]] = {}
    for key, outcome in op.dispatch.items():
        if outcome.endswith("backend fallback"):
            continue
        groups.setdefault(outcome, []).append(key)
    return tuple((outcome, tuple(keys)) for outcome, keys in groups.items())


def _filled(value: Any) -> Any:
    """Without what holds nothing: null, false, empty text, lists and mappings; line ends go too."""
    if isinstance(value, dict):
        filled = ((key, _filled(inner)) for key, inner in value.items() if key != "end_line")
        return {key: inner for key, inner in filled if inner is not None and inner is not False and inner not in ("", [], (), {})}
    if isinstance(value, list | tuple):
        return [_filled(inner) for inner in value]
    return value
