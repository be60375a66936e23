# SPDX-License-Identifier: BSD-3-Clause
"""The JSON twin of an operator's page: the same facts, under the names that the export gives them.

Fields that hold nothing are left out, and a backend whose chain is that of another says so (`same_as`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from cartographer.model.operator import Chain, Operator
    from cartographer.render.site import Site


def operator_twin(site: Site, key: str) -> tuple[str, bytes]:
    """(address, bytes): all overloads of one page."""
    value = {
        "kind": "operator",
        "name": key.removeprefix("op/").replace("/", "::"),
        "pytorch": site.catalog.source.version,
        "overloads": [as_export(op) for op in site.catalog.bases[key]],
    }
    address = site.settle(f"{key}.html").removesuffix(".html") + ".json"
    return address, msgspec.json.encode(value) + b"\n"


def as_export(op: Operator) -> dict[str, Any]:
    """One overload; the model's own names are those of the export, but for helpers."""
    value: dict[str, Any] = {"kind": "op", **_filled(msgspec.to_builtins(op))}
    if op.kernels:
        value["kernels"] = _kernels(op)
    if op.autograd and op.autograd.helpers:
        value["autograd"]["helpers"] = [
            {"symbol": helper.symbol, "path": helper.place.path, "line": helper.place.line} for helper in op.autograd.helpers
        ]
    return value


def _kernels(op: Operator) -> dict[str, Any]:
    first: dict[Chain, str] = {}
    found: dict[str, Any] = {}
    for backend, chain in op.kernels.items():
        same = first.setdefault(chain, backend)
        if same == backend:
            found[backend] = _filled(msgspec.to_builtins(chain))
        else:
            found[backend] = {"status": chain.status.value, "same_as": same}
    return found


def _filled(value: Any) -> Any:
    """Without what holds nothing: null, false, empty text, lists and mappings; line ends go too."""
    if isinstance(value, dict):
        return {key: kept for key, inner in value.items() if key != "end_line" and (kept := _filled(inner)) not in (None, False, "", [], {})}
    if isinstance(value, list):
        return [_filled(inner) for inner in value]
    return value
