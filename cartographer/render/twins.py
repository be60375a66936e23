# SPDX-License-Identifier: BSD-3-Clause
"""The JSON twin of an operator's page: the same facts, with the names that the export gives them.

Fields that hold nothing are left out. What overloads share stands once, at the end of the file (`steps` of chains, dispatch
`layers`, `served`: runtime keys by what serves them), and overloads name it by its number there. Keys and layers behind which only a
general fallback stands are the same for all operators and are left out. Registrations that differ in their key alone stand
together (`keys`). `kernels` names the chains, which stand in `chains`, by their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from cartographer.render.catalog import step_key
from cartographer.render.pages.operator import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from cartographer.model.operator import Operator, Registration
    from cartographer.render.site import Site


def operator_twin(site: Site, key: str) -> tuple[str, bytes]:
    """The JSON twin of an operator's page, as (address, bytes): all overloads of the page."""
    operators = site.catalog.bases[key]
    ways = {site.catalog.alike(chain): chain for op in operators for chain in op.kernels.values()}
    numbers = {way: number for number, way in enumerate(ways)}
    steps: _Table = {}
    layers: _Table = {}
    served: _Table = {}
    overloads = [_overload(site, op, numbers, layers, served) for op in operators]
    chains = [
        _said(("status", "reason", "steps"), (way.status.value, way.reason, [steps.setdefault(step_key(step), len(steps)) for step in way.steps]))
        for way in ways.values()
    ]
    value = {
        "kind": "operator",
        "name": name_of(key, operators),
        "pytorch": site.catalog.source.version,
        "overloads": overloads,
        "chains": chains,
        "steps": [_said(_STEP, step) for step in steps],
        "layers": [_said(_LAYER, map(_told, layer)) for layer in layers],
        "served": [dict(table) for table in served],
    }
    return address(site.settle(f"{key}.html")), msgspec.json.encode(value) + b"\n"


def address(page: str) -> str:
    """The address of the JSON twin of an operator's page: beside the page."""
    return page.removesuffix(".html") + ".json"


_Table = dict[Any, int]
_STEP = ("role", "symbol", "path", "line", "note", "branch")
_LAYER = ("key", "acts", "outcome", "place")
_layer_key = attrgetter(*_LAYER)
_ELSEWHERE = frozenset(("kernels", "layers", "dispatch", "registrations"))


def _overload(site: Site, op: Operator, ways: Mapping[Hashable, int], layers: _Table, served: _Table) -> dict[str, Any]:
    """One overload; the model's own names are those of the export, but for helpers."""
    value: dict[str, Any] = {"kind": "op", **_fields_of(op, without=_ELSEWHERE)}
    value["kernels"] = {backend: ways[site.catalog.alike(chain)] for backend, chain in op.kernels.items()}
    own = [layer for layer in op.layers if not layer.outcome.endswith("backend fallback")]
    value["registrations"] = _registrations(op)
    value["layers"] = [layers.setdefault(_layer_key(layer), len(layers)) for layer in own]
    if op.dispatch:
        value["dispatch"] = served.setdefault(_served(op), len(served))
    if op.autograd and op.autograd.helpers:
        value["autograd"]["helpers"] = [
            {"symbol": helper.symbol, "path": helper.place.path, "line": helper.place.line} for helper in op.autograd.helpers
        ]
    return value


_KEY = frozenset(("key",))


def _registrations(op: Operator) -> list[dict[str, Any]]:
    groups: dict[tuple[Any, ...], tuple[Registration, list[str]]] = {}
    for r in op.registrations:
        alike = (r.kernel, r.origin, r.fallthrough, r.boxed, r.active, r.build, r.place, r.rule)
        groups.setdefault(alike, (r, []))[1].append(r.key)
    rows = ({"keys": keys, **_fields_of(first, without=_KEY)} for first, keys in groups.values())
    return [row if row.pop("active", False) else {**row, "overridden": True} for row in rows]


def _served(op: Operator) -> tuple[tuple[str, tuple[str, ...]], ...]:
    groups: dict[str, list[str]] = {}
    for key, outcome in op.dispatch.items():
        if outcome.endswith("backend fallback"):
            continue
        groups.setdefault(outcome, []).append(key)
    return tuple((outcome, tuple(keys)) for outcome, keys in groups.items())


_PLAIN = frozenset((str, int, bool, type(None)))  # what JSON has as it is


def _told(value: Any) -> Any:
    """A value of the model as JSON has it, without what holds nothing: null, false, empty text, lists and mappings; line ends go too."""
    if type(value) in _PLAIN or isinstance(value, str | int):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [inner if type(inner) is str else _told(inner) for inner in value]
    if isinstance(value, Mapping):
        return _said(value, map(_told, value.values()))
    return _fields_of(value)


def _fields_of(value: Any, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    names, values = _fields(value.__class__, without)
    return _said(names, [inner if type(inner) in _PLAIN else _told(inner) for inner in values(value)])


@cache
def _fields(kind: type, without: frozenset[str]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of what is told of a class, at least two, and what reads it off a value."""
    names = tuple(field.name for field in fields(kind) if field.name != "end_line" and field.name not in without)
    return names, attrgetter(*names)


def _said(names: Iterable[str], told: Iterable[Any]) -> dict[str, Any]:
    """Names with what they hold, where that is something; the number 0 is."""
    return {name: value for name, value in zip(names, told, strict=True) if value or type(value) is int}
