# SPDX-License-Identifier: BSD-3-Clause
"""Answers `show`: everything that the atlas knows about an operator, in the order in which a call meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.backend import in_order
from cartographer.model.dispatch import by_outcome
from cartographer.model.recorded import limits
from cartographer.query import elsewhere, export, operators, where_text
from cartographer.query.ink import short
from cartographer.query.where import Descent, main_step, not_found

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cartographer.model.atlas import Landmark
    from cartographer.model.location import Location
    from cartographer.model.operator import Autograd, Operator, Registration
    from cartographer.query.ink import Ink
    from cartographer.query.operators import Named
    from cartographer.store.reader import Reader


def find(reader: Reader, text: str) -> tuple[Named, tuple[Operator, ...]]:
    """The operators that `text` names, with everything about them. Raises NotFound with near misses."""
    named = operators.resolve(reader.lookup, text) or operators.in_sentence(reader.lookup, text)
    if named is None:
        raise not_found(reader, text)
    return named, tuple(reader.operator(name) for name in named.names)


def text(named: Named, found: tuple[Operator, ...], ink: Ink, fetched: Collection[Landmark] = ()) -> Iterator[str]:
    """The answer as lines for people, overload by overload. Of many overloads the first is shown in full, the others by schema. `fetched`: the
    backends whose kernels another repository has.
    """
    if not named.exact:
        yield ink.faint(f"# {named.said}")
    for through in named.through:
        yield f"{ink.place(f'{through.path}:{through.line}')}  {through.name}"
    yield from one(found[0], ink, fetched)
    if len(found) > 1:
        yield ""
        yield ink.strong(f"{len(found) - 1} more overload{'s' * (len(found) > 2)}") + ink.faint(" (show one by its full name)")
        for operator in found[1:]:
            yield f"  {operator.schema}"


def one(o: Operator, ink: Ink, fetched: Collection[Landmark] = ()) -> Iterator[str]:
    """Everything about one overload, as lines for people."""
    yield ink.strong(o.schema)
    yield from _rows("declared", _declaration(o, ink))
    yield from _rows("Python", [f"{b.python}  {ink.faint(f'{b.function} in {b.file}')}{' (deprecated)' * b.deprecated}"
                                + (f"  {_at(b.place, ink)}" if b.place else "") for b in o.bindings])  # fmt: skip
    if o.cpp:
        yield from _rows("C++", [", ".join(name for name in (o.cpp.function, o.cpp.method, o.cpp.op) if name)])
    yield from _rows("layers", [f"{layer.key}: {layer.outcome}" + (f"  {_at(layer.place, ink)}" if layer.place else "")
                                for layer in o.layers if layer.acts])  # fmt: skip
    yield from _rows("registered", [_registration(r, ink) for r in o.registrations])
    yield from _rows("served by", [f"{outcome}: {', '.join(keys)}" for outcome, keys in by_outcome(o.dispatch)])
    yield from _rows("elsewhere", [elsewhere.line(mark, ink) for mark in fetched])
    for backend in in_order(o.kernels):
        yield from _rows(backend, _kernel(o, backend, ink))
    if o.autograd:
        yield from _rows("backward", list(_autograd(o, o.autograd, ink)))
    yield from _rows("calls", [short(o.callees, 12)] if o.callees else [])
    yield from _rows("called by", [short(o.callers, 12)] if o.callers else [])
    yield from _rows("age", [f"{thing}: {date or 'not known'}" for thing, date in o.age.items()])
    yield from _rows("also", [f"{key}: {value}" for key, value in o.extra.items()])


def _rows(head: str, rows: list[str]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"  {head if number == 0 else '':<11} {row}"


def _at(place: Location | None, ink: Ink) -> str:
    return ink.place(str(place)) if place else ""


def _declaration(o: Operator, ink: Ink) -> list[str]:
    facts = [o.origin.value, *o.variants, *(f"tag {tag}" for tag in o.tags)]
    if o.structured:
        facts.append("structured")
    if o.structured_delegate:
        facts.append(f"structured_delegate {o.structured_delegate}")
    if o.python_module:
        facts.append(f"python_module {o.python_module}")
    if o.generated_from:
        facts.append(f"derived from {o.generated_from}")
    if o.build:
        facts.append(f"only in builds with {' and '.join(o.build)}")
    return [f"{_at(o.declared, ink)}  {ink.faint(', '.join(facts))}"]


def _registration(r: Registration, ink: Ink) -> str:
    kernel = r.kernel or ("fallthrough" if r.fallthrough else "a function without a name")
    notes = [r.origin.value, *(["boxed"] if r.boxed else []), *([] if r.active else ["overridden"]),
             *([f"only with {' and '.join(r.build)}"] if r.build else [])]  # fmt: skip
    return f"{r.key:<26} {kernel}  {ink.faint(', '.join(notes))}" + (f"  {_at(r.place, ink)}" if r.place else "")


def _kernel(o: Operator, backend: str, ink: Ink) -> list[str]:
    chain = o.kernels[backend]
    descent = Descent((o.name,), (backend,), chain)
    main = main_step(chain.steps)
    rows = [where_text.status(descent, ink) if main is None else f"{ink.place(f'{main.path}:{main.line}')}  {main.symbol}  {where_text.status(descent, ink)}"]
    rows.extend(where_text.step(found, ink).strip() for found in chain.steps if len(chain.steps) > 1)
    return rows


def _autograd(o: Operator, a: Autograd, ink: Ink) -> Iterator[str]:
    limited = limits(o)
    head = ", ".join(f"{node} (for {limited[node]})" if node in limited else node for node in a.nodes) or a.kind or "no Node"
    yield f"{head}  {_at(a.formula, ink)}".rstrip()
    if a.saved:
        yield f"saves {', '.join(a.saved)}"
    for formula in a.formulas:
        kind = "forward " * formula.forward + (f"{formula.key} " if formula.key != "Default" else "")
        yield f"{kind}{', '.join(formula.names)}: {formula.text}"
    for helper in a.helpers:
        yield f"{_at(helper.place, ink)}  {helper.symbol}"


def as_json(named: Named, found: tuple[Operator, ...]) -> dict[str, object]:
    """Everything about the operators as JSON values, in the form of the export."""
    return {"said": named.said, "exact": named.exact, "operators": [export.record(operator) for operator in found]}
