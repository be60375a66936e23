# SPDX-License-Identifier: BSD-3-Clause
"""Joins what torchgen registers with what is registered by hand, and computes what serves each dispatch key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.dispatch.build import in_view
from cartographer.dispatch.layers import Layers
from cartographer.dispatch.table import Tables, shown_keys
from cartographer.model.atlas import Unresolved
from cartographer.model.dispatch import CATCH_ALL
from cartographer.model.operator import OVERLOAD, Operator, Origin, Registration
from cartographer.model.schema import FunctionSchema, SchemaError, made_up_overload
from cartographer.model.schema_text import printed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.dispatch.collect import Collected
    from cartographer.dispatch.findings import Defined, Registered
    from cartographer.model.dispatch import KeyRules


FALLBACK_RULE = "calls the backend fallback"


def assemble(
    operators: Iterable[Operator], collected: Collected
) -> tuple[tuple[Operator, ...], tuple[Unresolved, ...]]:
    """All operators of this PyTorch with all their registrations, dispatch tables and layers, sorted by name."""
    rules, findings = collected.rules, collected.findings
    known = {operator.name: operator for operator in operators}
    notes = [*findings.unresolved, *_namesakes(known.values())]
    apart = {(d.name, d.place): made for d in findings.defined if (made := _told_apart(d, known.get(d.name))) is not None}
    for made in apart.values():
        known.setdefault(made.name, made)
    for defined in findings.defined:
        if (defined.name, defined.place) in apart:
            continue
        there = known.get(defined.name)
        if there is None or (there.build and not defined.build):
            known[defined.name] = _operator(defined, notes)
    by_name: dict[str, list[Registration]] = {}
    fallbacks = {(f.key, f.kernel): f for f in findings.fallbacks if f.kernel}
    for registered in findings.registered:
        name = apart[found].name if (found := (registered.name, registered.place)) in apart else registered.name
        if name in known:
            registration = _registration(registered, rules)
            fallback = fallbacks.get((registered.key, registered.kernel or ""))
            if fallback is not None:  # MPSFallback.mm: registered, and yet no kernel of the backend's own
                registration = replace(registration, rule=f"{FALLBACK_RULE} of {registered.key} ({fallback.place})")
            by_name.setdefault(name, []).append(registration)
        elif collected.complete:
            reason = "a kernel is registered, but nothing defines the operator"
            notes.append(Unresolved("dispatch", registered.name, reason, registered.place.path, registered.place.line))
    joined = [
        (operator, _joined(_canonical(operator.registrations, rules), by_name.get(name, [])))
        for name, operator in sorted(known.items())
    ]
    if rules is None:
        return tuple(replace(o, build=_as_viewed(o.build), registrations=registrations) for o, registrations in joined), tuple(notes)
    return tuple(_with_tables(joined, collected, rules)), tuple(notes)


def _told_apart(defined: Defined, listed: Operator | None) -> Operator | None:
    """The operator of a definition by hand whose name an operator of the list has with other arguments, as `aten::index` of
    strings in 1.2, where names have no overloads. Since they do, the dispatcher denies such a definition.
    """
    if listed is None or listed.origin is not Origin.YAML or defined.schema is None:
        return None
    try:
        schema, other = FunctionSchema.parse(defined.schema), FunctionSchema.parse(listed.schema)
    except (SchemaError, ValueError):
        return None
    if [a.element for a in schema.arguments] == [a.element for a in other.arguments]:
        return None
    made = _operator(replace(defined, name=f"{defined.name.partition('.')[0]}.{made_up_overload(schema)}"), [])
    return replace(made, extra={**made.extra, OVERLOAD: f"made up: native_functions.yaml has {defined.name} with other arguments"})


def _namesakes(operators: Iterable[Operator]) -> Iterable[Unresolved]:
    """How many rows of the list share their name with others: the overloads that tell them apart are ours."""
    told = [operator for operator in operators if OVERLOAD in operator.extra]
    if told:
        shared = {operator.schema.partition("(")[0] for operator in told}
        reason = (
            f"the list gives none to {len(told) + len(shared)} rows that share {len(shared)} names: the first of each name keeps it, "
            f"the overloads of the other {len(told)} are made up from the types of their arguments"
        )
        yield Unresolved("dispatch", "names of overloads", reason, told[0].declared.path, min(o.declared.line for o in told))


def fallbacks(collected: Collected) -> dict[str, tuple[Registration, ...]]:
    """The kernels that are registered for all operators together, by dispatch key, in the order of the source; those that let a call fall
    through are left out.
    """
    found: dict[str, list[Registration]] = {}
    for fallback in collected.findings.fallbacks:
        if fallback.kernel and not fallback.fallthrough:
            key = collected.rules.key(fallback.key) if collected.rules is not None else fallback.key
            found.setdefault(key, []).append(
                Registration(key, fallback.kernel, Origin.LIBRARY, boxed=True, place=fallback.place, build=_as_viewed(fallback.build))
            )
    return {key: tuple(ones) for key, ones in found.items()}


def _with_tables(
    operators: list[tuple[Operator, tuple[Registration, ...]]], collected: Collected, rules: KeyRules
) -> Iterable[Operator]:
    fallbacks = collected.findings.fallbacks
    shown = shown_keys(rules, (r for _, registrations in operators for r in registrations), fallbacks, complete=collected.complete)
    tables = Tables(rules, fallbacks, shown, complete=collected.complete)
    layers = Layers(rules, tables)
    for operator, registrations in operators:
        dispatch = tables.of(registrations)
        yield replace(
            operator, build=_as_viewed(operator.build), registrations=registrations,
            dispatch=dispatch, layers=layers.of(dispatch, registrations),
        )


def _operator(defined: Defined, notes: list[Unresolved]) -> Operator:
    schema = defined.schema
    if schema is None:
        schema = defined.name
        reason = f"its schema is inferred from the C++ type of {defined.function or 'its function'}"
        notes.append(Unresolved("dispatch", f"schema of {defined.name}", reason, defined.place.path, defined.place.line))
    else:
        try:
            schema = printed(FunctionSchema.parse(schema))
        except (SchemaError, ValueError) as error:
            notes.append(Unresolved("dispatch", f"schema of {defined.name}", str(error), defined.place.path, defined.place.line))
    return Operator(
        name=defined.name, schema=schema, origin=defined.origin, declared=defined.place, build=defined.build, tags=defined.tags,
        extra={"switches": ", ".join(defined.needs)} if defined.needs else {},
    )


def _registration(registered: Registered, rules: KeyRules | None) -> Registration:
    key = registered.key
    if rules is not None:
        key = _key(key, rules)
    return Registration(
        key=key,
        kernel=registered.kernel,
        origin=registered.origin,
        fallthrough=registered.fallthrough,
        boxed=registered.boxed,
        build=registered.build,
        place=registered.place,
        rule=registered.rule,
    )


def _canonical(registrations: Iterable[Registration], rules: KeyRules | None) -> list[Registration]:
    """Torchgen's registrations with the first name of each key, and the conditions as the stock build sees them."""
    found = []
    for r in registrations:
        key, build = r.key if rules is None else _key(r.key, rules), _as_viewed(r.build)
        found.append(r if key == r.key and build == r.build else replace(r, key=key, build=build))
    return found


def _key(key: str, rules: KeyRules) -> str:
    """The first name of a key. A registration without one, as torchgen made them up to 1.7 for operators without a
    `dispatch`, becomes what the release makes of it.
    """
    return rules.catch_all if key == CATCH_ALL else rules.key(key)


def _as_viewed(build: tuple[str, ...]) -> tuple[str, ...]:
    return () if in_view(build) else build


def _joined(generated: list[Registration], by_hand: list[Registration]) -> tuple[Registration, ...]:
    """All registrations of an operator. The newest one for a key is active (OperatorEntry::registerKernel puts it in
    front); Python registers last. Kernels of other platforms do not override those of the stock build.
    """
    everything = sorted([*generated, *by_hand], key=lambda r: r.origin is Origin.PYTHON)
    newest: dict[tuple[str, tuple[str, ...]], int] = {}
    for number, registration in enumerate(everything):
        newest[(registration.key, registration.build)] = number
    return tuple(r if newest[(r.key, r.build)] == n else replace(r, active=False) for n, r in enumerate(everything))
