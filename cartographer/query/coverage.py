# SPDX-License-Identifier: BSD-3-Clause
"""Tells which operators a backend serves, and how: with a kernel of its own, through a composite, through its fallback, or
not at all. The words are those of the dispatcher's computed table.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from cartographer.errors import NotFound, UsageError
from cartographer.model import serving
from cartographer.model.atlas import said_elsewhere
from cartographer.model.backend import OUT_OF_TREE, device_of_key
from cartographer.model.dispatch import COMPOSITE, DEFAULT, FALLBACK, NOTHING, OUTCOMES, OWN
from cartographer.model.operator import Operator
from cartographer.model.serving import RAISES, REFUSES, UNTOLD, WAITS, WAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cartographer.model.atlas import Landmark
    from cartographer.store.values import OperatorRow

HOW = WAYS
SAYS = {
    OWN: "a kernel of its own",
    DEFAULT: "one kernel for all backends (CompositeExplicitAutograd)",
    COMPOSITE: "made of other operators (CompositeImplicitAutograd)",
    FALLBACK: "the backend's fallback: the CPU, or an error that says so",
    WAITS: "the build writes it around another form of the operator (mostly out=), which this backend lacks or leaves to its fallback: one kernel to bring serves both",
    RAISES: "a kernel whose body only raises an error, where other backends have one that works or the error says to bring it: the backend must bring its own",
    REFUSES: "an error on purpose: the backend's own kernel raises it, or one that serves every backend, or the operator is only for tensors of other layouts (sparse, nested, ...)",
    NOTHING: "not at all",
    UNTOLD: "this source does not show it",
}
_LACKS = (RAISES, NOTHING, FALLBACK, UNTOLD)  # what --missing lists: a form that waits comes with the one that it waits for
_AFTER_BACKENDS = "BackendSelect"


@dataclass(frozen=True, slots=True)
class Served:
    """How one operator is served on one backend."""

    name: str
    how: str
    words: str  # of the computed table
    build: tuple[str, ...] = ()
    through: str = ""  # the form that it waits for
    forms: tuple[str, ...] = ()  # those that wait for this one


@dataclass(frozen=True, slots=True)
class BackendCoverage:
    """One backend: how many operators it serves in each way, and the operators asked for."""

    key: str
    counts: Mapping[str, int]
    operators: tuple[Served, ...]
    elsewhere: Landmark | None = None  # where the kernels are that this source does not show
    base: str = ""  # which operators were looked at, in words

    @property
    def total(self) -> int:
        """The number of operators that were looked at."""
        return sum(self.counts.values())


def coverage(
    rows: Iterable[OperatorRow | Operator],
    backend: str | None = None,
    *,
    core: bool = False,
    missing: bool = False,
    namespace: str = "aten",
    listed: Callable[[], Iterable[str]] = tuple,
    elsewhere: Mapping[str, Landmark] | None = None,
) -> tuple[BackendCoverage, ...]:
    """The coverage of one backend, or of every backend that the atlas knows, from rows of a list or, telling fallbacks that are
    registered like kernels, errors and forms that wait for another apart as well, from whole operators. `core`: only operators of the core set;
    `missing`: list only what has neither a kernel nor a composite, or none that this source shows. `listed`: gives the
    names of all dispatch keys of the release; `elsewhere`: the landmarks of devices whose kernels another repository has. Raises UsageError for a backend that there is not, NotFound when there is nothing to count.
    """
    known = tuple(rows)
    chosen = [r for r in known if (not namespace or r.namespace == namespace) and (not core or "core" in r.tags)]
    if known and not any(row.dispatch for row in known):
        raise NotFound("this atlas has no dispatch tables: what serves which backend is not told", hint="they are computed from c10/core/DispatchKey.h, which its source does not have")
    if core and not chosen:
        raise NotFound("no operator of this release is tagged core", hint="leave --core out: all operators are counted then")
    wanted = backends(known) if backend is None else (_named(backend, known, listed),)
    by_name = {row.name: row for row in known if isinstance(row, Operator)}
    base = _base(len(chosen), len(known), namespace, core=core)
    return tuple(replace(_of_backend(chosen, key, by_name, elsewhere or {}, missing=missing), base=base) for key in wanted)


def _base(chosen: int, known: int, namespace: str, *, core: bool) -> str:
    """What the numbers are numbers of: other places count the operators of all namespaces."""
    whose = f" of {namespace}" if namespace else ""
    which = " tagged core" if core else ""
    rest = f", not of all {known:,} of the release" if chosen != known else ""
    return f"of {chosen:,} operators{whose}{which}{rest}"


def backends(rows: Sequence[OperatorRow | Operator]) -> tuple[str, ...]:
    """The keys of backends: those that a default backend kernel serves (CompositeExplicitAutograd covers exactly the
    backends, aten/src/ATen/core/dispatch and c10/core/DispatchKeySet.cpp), and the nested ones, which it leaves out. Up to 1.7
    there was no such kernel: there it is the keys before BackendSelect, which follows the backends (c10/core/DispatchKey.h).
    """
    found: dict[str, bool] = {}
    for row in rows:
        for key, words in row.dispatch.items():
            found[key] = found.get(key, False) or words == "default backend kernel" or key.startswith("NestedTensor")
    keys = tuple(found)
    return tuple(key for key in keys if found[key]) or (keys[: keys.index(_AFTER_BACKENDS)] if _AFTER_BACKENDS in found else ())


def _named(backend: str, rows: Sequence[OperatorRow | Operator], listed: Callable[[], Iterable[str]]) -> str:
    keys = {key: None for row in rows for key in row.dispatch}
    for key in keys:
        if key.lower() == backend.lower():
            return key
    if own := next((key for key in listed() if key.lower() == backend.lower()), ""):
        raise UsageError(f"the dispatch tables of this atlas have no column for {own}: no registration to it is known in this release",
                         hint=f"what a backend finds that registers nothing is told of {OUT_OF_TREE}: -b {OUT_OF_TREE}")  # fmt: skip
    near = difflib.get_close_matches(backend.lower(), [k.lower() for k in keys], 3, 0.5)
    meant = [k for k in keys if k.lower() in near]
    hint = f"backends of this release: {', '.join(backends(rows))}"
    raise UsageError(f"this release has no dispatch key {backend!r}", hint=f"did you mean {', '.join(meant)}?\n{hint}" if meant else hint)


def _of_backend(rows: list[OperatorRow | Operator], key: str, by_name: Mapping[str, Operator], elsewhere: Mapping[str, Landmark], *, missing: bool) -> BackendCoverage:
    counts = dict.fromkeys(HOW, 0)
    found: dict[str, Served] = {}
    forms: dict[str, list[str]] = {}
    for row in rows:
        words = row.dispatch.get(key, "")
        how, through = serving.served(by_name[row.name], key, by_name, elsewhere) if row.name in by_name else (OUTCOMES.get(words, UNTOLD), "")
        counts[how] += 1
        found[row.name] = Served(row.name, how, words, row.build, through)
        if through:
            forms.setdefault(through, []).append(row.name)
    listed = [replace(s, forms=tuple(forms.get(s.name, ()))) for s in found.values() if not missing or s.how in _LACKS]
    return BackendCoverage(key, {how: n for how, n in counts.items() if n or how in (OWN, NOTHING)}, tuple(listed), elsewhere.get(device_of_key(key)))


def table_lines(found: Sequence[BackendCoverage]) -> Iterator[str]:
    """The coverage as a table for people: a line for each backend; of a single backend its operators follow."""
    shown = [how for how in HOW if any(b.counts.get(how) for b in found)]
    width = max((len(b.key) for b in found), default=8)
    yield f"{'':<{width}}  " + "  ".join(f"{how:>9}" for how in shown) + f"  {'total':>9}"
    for backend in found:
        numbers = "  ".join(f"{backend.counts.get(how, 0):>9,}" for how in shown)
        yield f"{backend.key:<{width}}  {numbers}  {backend.total:>9,}"
    yield from dict.fromkeys(backend.base for backend in found if backend.base)
    yield ""
    yield from (f"{how:<9}  {SAYS[how]}" for how in shown)
    for mark in dict.fromkeys(backend.elsewhere for backend in found if backend.elsewhere):
        yield f"\n{said_elsewhere(mark)}: {mark.path}:{mark.line}"
    if len(found) == 1:
        if waits := found[0].counts.get(WAITS, 0):
            brings = sum(found[0].counts.get(how, 0) for how in (RAISES, NOTHING, FALLBACK))
            yield f"\nto bring: {brings:,} kernel{'s' * (brings != 1)} of {found[0].key}; with them comes what waits: {waits:,} further form{'s' * (waits != 1)}"
        yield ""
        for served in found[0].operators:
            yield f"{served.how:<9}  {served.name}{_note(served)}"


def _note(served: Served) -> str:
    waits = f"once {served.through} has a kernel" if served.through else ""
    serves = f"its kernel serves {', '.join(served.forms)} too" if served.forms else ""
    told = "; ".join(filter(None, (", ".join(served.build), waits, serves)))
    return f"  ({told})" if told else ""


def csv_text(found: Sequence[BackendCoverage]) -> str:
    """The coverage as CSV, with the columns backend, operator, how, outcome, build, through."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("backend", "operator", "how", "outcome", "build", "through"))
    for backend in found:
        writer.writerows((backend.key, s.name, s.how, s.words, " ".join(s.build), s.through) for s in backend.operators)
    return out.getvalue()


def records(found: Sequence[BackendCoverage]) -> list[dict[str, object]]:
    """The coverage as a list of JSON values."""
    return [
        {
            "backend": backend.key,
            "base": backend.base,
            "counts": dict(backend.counts),
            "elsewhere": asdict(backend.elsewhere) if backend.elsewhere else None,
            "operators": [{"name": s.name, "how": s.how, "outcome": s.words, "build": list(s.build), "through": s.through, "forms": list(s.forms)} for s in backend.operators],
        }
        for backend in found
    ]


def json_text(found: Sequence[BackendCoverage]) -> str:
    """The coverage as one JSON document."""
    return json.dumps(records(found), ensure_ascii=False, indent=1)
