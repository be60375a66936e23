# SPDX-License-Identifier: BSD-3-Clause
"""The JSON twin of an operator's page: the same facts, under the names that the export gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from cartographer.model.operator import Operator
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
    """One overload with every field of its export line; the model's own names are the same, but for helpers."""
    value: dict[str, Any] = {"kind": "op", **msgspec.to_builtins(op)}
    if op.autograd:
        value["autograd"]["helpers"] = [
            {"symbol": helper.symbol, "path": helper.place.path, "line": helper.place.line} for helper in op.autograd.helpers
        ]
    return value
