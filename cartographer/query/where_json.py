# SPDX-License-Identifier: BSD-3-Clause
"""Prints the answers of `where` as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cartographer.query import export
from cartographer.query.where import Where

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.query.reverse import Backwards
    from cartographer.query.where import Descent


def record(answer: Where | Backwards, deep: Callable[[Descent], list[dict[str, Any]]] | None = None) -> dict[str, Any]:
    """An answer as a JSON value. `kind` is "operators" for a name of operators, "reverse" for anything else. `deep` gives what a chain calls."""
    return _down(answer, deep) if isinstance(answer, Where) else _back(answer)


def _down(answer: Where, deep: Callable[[Descent], list[dict[str, Any]]] | None) -> dict[str, Any]:
    return {
        "kind": "operators", "asked": answer.asked, "said": answer.named.said, "exact": answer.named.exact, "backend": answer.backend,
        "through": [{"symbol": t.name, "path": t.path, "line": t.line} for t in answer.named.through],
        "operators": list(answer.named.names),
        "elsewhere": asdict(answer.elsewhere) if answer.elsewhere else None,
        "answers": [
            {"operators": list(d.names), "backends": list(d.backends), "served": dict(d.served),
             "main": export.step(d.main) if d.main else None} | export.chain(d.chain) | ({"deep": deep(d)} if deep else {})
            for d in answer.descents
        ],
    }  # fmt: skip


def _back(answer: Backwards) -> dict[str, Any]:
    return {
        "kind": "reverse", "asked": answer.asked, "said": answer.said, "note": answer.note, "shared": answer.shared,
        "places": [{"what": p.what, "symbol": p.symbol, "path": p.path, "line": p.line} for p in answer.places],
        "operators": list(answer.operators),
        "reaches": [
            {"operator": r.operator, "backend": r.backend, "role": r.role, "symbol": r.symbol, "path": r.path, "line": r.line, "branch": r.branch, "direct": r.direct}
            for r in answer.reaches
        ],
    }  # fmt: skip
