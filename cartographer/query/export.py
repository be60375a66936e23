# SPDX-License-Identifier: BSD-3-Clause
"""Writes the JSON-lines export, whose format must stay stable: first the atlas, then one line for each operator, sorted by name."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from cartographer.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cartographer.model.location import Location
    from cartographer.model.operator import Autograd, Binding, Chain, Layer, Operator, Registration, Step
    from cartographer.store.reader import Reader
    from cartographer.store.values import AtlasInfo

FORMAT = 1

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def lines(reader: Reader) -> Iterator[str]:
    """All lines of the export, without line ends, one at a time."""
    yield _encode(head(reader.info()))
    for operator in reader.operators():
        yield _encode(record(operator))


def write(reader: Reader, path: Path) -> None:
    """Write the export to a file, through a file beside it, so that an interruption leaves what was there."""
    swap = path.is_file() or not path.exists()  # not for /dev/stdout or a pipe
    beside = path.with_name(f".{path.name}.{os.getpid()}.new") if swap else path
    try:
        try:
            with beside.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines(reader))
            if swap:
                beside.replace(path)
        finally:
            if swap:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(error.strerror or str(error), where=str(path), hint="name another file with -o") from error


def head(info: AtlasInfo) -> dict[str, Any]:
    """The first line of the export: what the atlas is of."""
    source = info.source
    return {
        "kind": "atlas", "format": FORMAT, "pytorch": source.version, "tag": source.tag, "commit": source.commit,
        "source": source.kind.value, "counts": {count.name: count.value for count in info.counts}, "tool": info.tool_version,
        "strata": info.strata_level,
    }  # fmt: skip


def record(o: Operator) -> dict[str, Any]:
    """One operator overload as a JSON value."""
    return {
        "kind": "op", "name": o.name, "schema": o.schema, "origin": o.origin.value, "declared": _place(o.declared), "build": list(o.build),
        "bindings": [_binding(b) for b in o.bindings],
        "cpp": {"op": o.cpp.op, "function": o.cpp.function, "method": o.cpp.method} if o.cpp else None,
        "registrations": [_registration(r) for r in _in_force_first(o)],
        "dispatch": dict(o.dispatch), "layers": [_layer(layer) for layer in o.layers],
        "kernels": {backend: chain(found) for backend, found in o.kernels.items()},
        "autograd": _autograd(o.autograd) if o.autograd else None, "age": dict(o.age),
        "callers": list(o.callers), "callees": list(o.callees), "variants": list(o.variants), "tags": list(o.tags),
        "structured": o.structured, "structured_delegate": o.structured_delegate, "python_module": o.python_module,
        "generated_from": o.generated_from, "extra": dict(o.extra),
    }  # fmt: skip


def chain(found: Chain) -> dict[str, Any]:
    """The chain of one backend as a JSON value."""
    return {"status": found.status.value, "reason": found.reason, "steps": [step(s) for s in found.steps]}


def step(found: Step) -> dict[str, Any]:
    """One step of a chain as a JSON value; `note` and `branch` only where they are not empty."""
    told = {"role": found.role, "symbol": found.symbol, "path": found.path, "line": found.line}
    return told | {name: text for name, text in (("note", found.note), ("branch", found.branch)) if text}


def _in_force_first(o: Operator) -> list[Registration]:
    """All registrations; where a key has several, the one in force stands first, those that it overrides behind all others."""
    return sorted(o.registrations, key=lambda r: not r.active)


def _registration(r: Registration) -> dict[str, Any]:
    return {"key": r.key, "kernel": r.kernel, "origin": r.origin.value, "fallthrough": r.fallthrough, "boxed": r.boxed, "active": r.active, "build": list(r.build),
            "place": _place(r.place), "rule": r.rule}  # fmt: skip


def _binding(b: Binding) -> dict[str, Any]:
    return {"python": b.python, "function": b.function, "file": b.file, "deprecated": b.deprecated, "place": _place(b.place),
            "generator": _place(b.generator)}  # fmt: skip


def _layer(found: Layer) -> dict[str, Any]:
    return {"key": found.key, "acts": found.acts, "outcome": found.outcome, "place": _place(found.place)}


def _autograd(a: Autograd) -> dict[str, Any]:
    return {
        "nodes": list(a.nodes), "formula": _place(a.formula), "saved": list(a.saved),
        "helpers": [{"symbol": h.symbol, "path": h.place.path, "line": h.place.line} for h in a.helpers],
        "formulas": [{"names": list(f.names), "text": f.text, "place": _place(f.place), "key": f.key, "forward": f.forward} for f in a.formulas],
        "output_differentiability": list(a.output_differentiability), "kind": a.kind,
    }  # fmt: skip


def _place(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {"path": location.path, "line": location.line}
