# SPDX-License-Identifier: BSD-3-Clause
"""Turns ways into the steps that an atlas shows: each has a role, a symbol, and the line that contains it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.link.either import either_text
from cartographer.link.generic import is_generic
from cartographer.link.index import is_source
from cartographer.link.sites import PLAIN
from cartographer.model.operator import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cartographer.link.index import Defined
    from cartographer.link.sites import Given, Site
    from cartographer.link.stubs import StubRegistration
    from cartographer.link.ways import OperatorCall, Way
    from cartographer.model.operator import Operator

ON_CPU = "runs on the CPU"  # of a stub that is called for it by name
_WRAPPER = "default backend kernel"  # the dispatcher's words for what serves a structured operator on keys that have no kernel for it
UNSERVED = frozenset(("missing", "backend fallback"))  # the dispatcher's words for an operator without a kernel
MORE = "further ways are not shown"  # where a chain would be too long
BEFORE = 8  # operators shown before the chain goes on through one of them
_AS_SIGN = "; written as "  # in the note of an operator that no name calls
HOPS = 4  # helper functions shown on one way; more are cut in the middle


def definition_step(role: str, defined: Defined, note: str = "", branch: str = "") -> Step:
    """A step at the definition of a function; its note names the macro that made the function."""
    made = ""
    if defined.use is not None:
        made = f"made by {defined.use.macro}" + (f" ({defined.use.macro_path}:{defined.use.macro_line})" if defined.use.macro_path else "")
    elif is_generic(defined):
        made = "generic code, compiled once for each type"
    return Step(role, defined.symbol, defined.path, defined.line, "; ".join(filter(None, (note, made))), branch)


def hop_steps(hops: tuple[Defined, ...]) -> Iterator[Step]:
    """One step for each helper function on a way; of a long way the middle is left out."""
    shown = hops if len(hops) <= HOPS else (*hops[: HOPS // 2], *hops[-(HOPS - HOPS // 2) :])
    for hop in shown:
        yield definition_step("kernel", hop)


def stub_steps(site: Site, registration: StubRegistration | None) -> Iterator[Step]:
    """The stub where it is defined, with the place of the call; then its registration."""
    places = site.stub
    assert places is not None
    where = (places.defined or places.declared or [(site.path, site.line)])[0]
    note = f"called in {site.path}:{site.line}" + (f"; {ON_CPU}" if site.host else "")
    yield Step("stub", site.name, where[0], where[1], note, site.branch)
    if registration is not None:
        capability = f", {registration.capability}" if registration.capability else ""
        how = f"{registration.macro} for {registration.device}{capability}"
        made = registration.use.text.partition("(")[0].strip()
        if made != registration.macro:
            how += f"; made by {made}"
        yield Step("registration", site.name, registration.path, registration.line, how)


def end_steps(way: Way, metal: Sequence[Given] = ()) -> Iterator[Step]:
    """The device code that ends a way; `metal` are the Metal kernels that it asks for."""
    site = way.site
    if site.kind == "metal":
        yield from _metal_steps(site, metal)
    elif site.kind == "launch":
        yield from _launch_steps(site)
    elif site.kind == "library":
        yield Step("library", site.name, site.path, site.line, _in_macro(site.library, site), site.branch)
    elif site.kind == PLAIN and not site.given:
        yield definition_step("device", site.targets[0], "loops over elements itself", site.branch)
    elif site.given:
        yield from _given_steps(way)


def _metal_steps(site: Site, metal: Sequence[Given]) -> Iterator[Step]:
    for kernel in metal[:4]:
        how = f"runs in {kernel.within}" if kernel.within else f"asked for in {site.path}:{site.line}"
        yield Step("device", kernel.symbol, kernel.path, kernel.line, f"Metal, {how}", site.branch)
    if not metal:
        yield Step("device", site.name, site.path, site.line, "a Metal kernel whose name is made at run time", site.branch)


def _given_steps(way: Way) -> Iterator[Step]:
    """Lambdas and functors, and the kernel that runs them."""
    site = way.site
    how = f"compiled at run time, runs in {site.name}" if site.kind == "jit" else f"runs in {site.name}"
    for given in site.given[:2]:
        yield Step("device", given.symbol, given.path, given.line, _in_macro(how, site) if given.path == site.path else how, site.branch)
    if way.launched is None:
        return
    if is_source(site.path):
        yield from (definition_step("kernel", hop, "launcher of this file") for hop in way.launched.hops if hop.path == site.path)
        if way.launched.site.path == site.path and way.launched.site.given and way.launched.site.kind != "launch":
            yield from _given_steps(way.launched)  # what it is handed runs inside a lambda of the launcher
            return
    if way.launch.site.kind == "launch":
        yield from _launch_steps(way.launch.site, f"launched by {site.name}")
        for other in way.others:
            yield from _launch_steps(other._replace(given=()), f"or launched by {site.name}")


def _launch_steps(site: Site, note: str = "") -> Iterator[Step]:
    for given in site.given[:1]:
        yield Step("device", given.symbol, given.path, given.line, f"given to {site.name}", site.branch)
    if site.targets:
        for target in site.targets[:2]:
            yield definition_step("device", target, note or f"launched in {site.path}:{site.line}", site.branch)
    else:
        yield Step("device", site.name, site.path, site.line, note or "launched here", site.branch)


def call_step(call: OperatorCall) -> Step:
    """The step for an operator that a body calls."""
    site = call.site
    assert site.called is not None
    note = site.called.operators[0] if len(site.called.operators) == 1 else " or ".join(site.called.operators[:4])
    if site.call is not None and call.is_sign:
        note = f"{note}{_AS_SIGN}{site.call.name}"
    return Step("calls", site.name, site.path, site.line, _in_macro(note, site), site.branch)


def served(step: Step, key: str, names: Iterable[str], by_name: Mapping[str, Operator]) -> Step:
    """A step of a call, with a remark when none of the operators that it can mean has a kernel for a key: for a dense tensor it then fails or
    falls back. Operators for other layouts of the device are named.
    """
    tables = [table for name in names if (table := _answering(name, key, by_name))]
    if not tables or not all(table.get(key, "missing") in UNSERVED for table in tables):
        return step
    layouts = dict.fromkeys(k for table in tables for k, outcome in table.items() if k != key and k.endswith(key) and outcome == "kernel")
    told = f"no kernel for {key}" + (f", only for {', '.join(layouts)}" if layouts else "")
    return replace(step, note=f"{step.note}; {told}")


def _answering(name: str, key: str, by_name: Mapping[str, Operator]) -> Mapping[str, str]:
    """What serves an operator, by key; for a structured one without a kernel here, what serves the out= operator that its wrapper calls."""
    operator = by_name.get(name)
    if operator is None:
        return {}
    delegate = by_name.get(f"{operator.namespace}::{operator.structured_delegate}")
    return delegate.dispatch if delegate is not None and operator.dispatch.get(key) == _WRAPPER else operator.dispatch


def _in_macro(note: str, site: Site) -> str:
    """The note, with the macro whose body holds the call; the line is then that of the macro's use."""
    return f"{note}; in the body of {site.made}" if site.made else note


_PIPELINE = "PipelineState"  # what Metal runs: a function that returns one only looks it up


def way_steps(way: Way, metal: Sequence[Given] = ()) -> list[Step]:
    """All steps of a way, a stub's kernel excluded."""
    steps = list(hop_steps(tuple(hop for hop in way.hops if _PIPELINE not in hop.fact.returns)))
    if way.site.kind == "stub":
        steps.extend(stub_steps(way.site, way.registration))
    else:
        steps.extend(end_steps(way, metal))
    return steps


def noted(step: Step, note: str) -> Step:
    """An entry's step with a note that says whose entry it is, unless it has a note already."""
    if step.role != "entry" or step.note.startswith("of "):
        return step
    return replace(step, note="; ".join(filter(None, (note, step.note))))


def before(calls: list[Step], start: Defined, onward: tuple[Step, ...]) -> list[Step]:
    """The calls that are worth showing before the chain goes on through one of them: that one, and those that the body itself makes before it."""
    if len(calls) <= BEFORE:
        return calls
    named = [s for s in calls if _AS_SIGN not in s.note] or calls
    own = [s for s in named if s.role == "calls" and s.path == start.path and start.fact.start <= s.line <= start.fact.end] or named
    name = next((s.note.partition(";")[0].removeprefix("of ") for s in onward if s.role == "entry"), "")
    followed = [s for s in own[BEFORE:] if name in s.note.partition(";")[0].split(" or ")][:1]
    return [*own[: BEFORE - len(followed)], *followed]


def trimmed(steps: list[Step], most: int) -> list[Step]:
    """Cut steps to a length: calls of operators are dropped first, those written as signs before others, cases of a switch last, and the code on
    the device last of all. A call through which the chain goes on is kept.
    """
    followed = {step.note.partition(";")[0].removeprefix("of ") for step in steps if step.role == "entry"}
    spare = [n for n, step in enumerate(steps) if step.role == "calls" and followed.isdisjoint(step.note.partition(";")[0].split(" or "))]
    spare.sort(key=lambda number: (_AS_SIGN in steps[number].note, "case " not in steps[number].branch))
    dropped = set(spare[max(0, len(spare) - (len(steps) - most)) :]) if len(steps) > most else set()
    kept = [step for number, step in enumerate(steps) if number not in dropped]
    return kept if len(kept) <= most else and_more(kept[:most])


def and_more(steps: list[Step]) -> list[Step]:
    """The steps, the last of which says that there are further ways, for which there is no room."""
    if not steps or steps[-1].note.endswith(MORE):
        return steps
    return [*steps[:-1], replace(steps[-1], note="; ".join(filter(None, (steps[-1].note, MORE))))]


def once(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Each step once, at its first place; a stub that is called for the CPU by name is another one."""
    seen: dict[tuple[str, str, str, int, bool], Step] = {}
    for step in steps:
        at = (step.role, step.symbol, step.path, step.line, step.note.endswith(ON_CPU))
        known = seen.setdefault(at, step)
        if known.branch != step.branch:
            seen[at] = replace(known, branch=either_text(known.branch, step.branch))
    return tuple(seen.values())
