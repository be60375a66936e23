# SPDX-License-Identifier: BSD-3-Clause
"""The ways from a function to the code that runs on the device, the operators called on them, and which of many are kept."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.conditions import (
    CASE,
    CHOSEN,
    has_rivals,
    is_rare,
    is_switched,
    opposite,
    settled,
    terms,
    value,
    variables_in,
)
from cartographer.link.costs import LATER
from cartographer.link.either import either, is_cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined
    from cartographer.link.sites import Site
    from cartographer.link.stubs import StubRegistration

ASIDE = 30.0  # what a way costs more that a condition sends to another device
KEPT = 14  # ways kept for each function, those to one kernel counted once
CALLED = 60  # operator calls kept for each function
_NAMES = re.compile(r"(?<![\w.>])[A-Za-z_]\w*")
_TO_CPU = re.compile(r"(?:\.|->)(?:cpu\(\)|to\()")


class Way(NamedTuple):
    """One way to the device: the functions passed (without the one where it starts), and the site that ends it, in the function `at`."""

    cost: float
    hops: tuple[Defined, ...]
    site: Site
    at: Defined
    registration: StubRegistration | None = None  # of a stub
    launched: Way | None = None  # of callables given to a launcher: how the launcher launches
    others: tuple[Site, ...] = ()  # further kernels that the launcher may launch instead

    @property
    def launch(self) -> Way:
        """The way that ends in the launch itself, inside any nested launchers."""
        way = self
        while way.launched is not None:
            way = way.launched
        return way

    @property
    def end(self) -> tuple[str, str, int, str]:
        """The key of where a way ends: two ways with the same end are one."""
        return (self.site.kind, self.site.path, self.site.line, self.site.name if self.site.kind == "stub" else "".join(self.site.texts))

    @property
    def runs(self) -> tuple[object, ...]:
        """What runs at the end: a kernel that is launched in many places, as in each case of a `switch`, is one."""
        return self.site.targets if self.site.kind == "launch" and self.site.targets else self.end


class OperatorCall(NamedTuple):
    """A call of an operator, with the helper functions between the start of the way and the call."""

    site: Site
    hops: tuple[Defined, ...]

    @property
    def is_sign(self) -> bool:
        """Whether the call is written as a sign, `a + b`, and not by a name."""
        return self.site.call is not None and self.site.call.form == "sign"


class Reach(NamedTuple):
    """The ways to the device and the operator calls of one function, on one device."""

    ways: tuple[Way, ...] = ()
    operators: tuple[OperatorCall, ...] = ()
    nulls: tuple[str, ...] = ()  # stubs registered as nullptr for the device


def calls_itself(reach: Reach, operator: str) -> bool:
    """Whether a call in a kernel may mean the operator whose kernel it is."""
    return any(c.site.called is not None and operator in c.site.called.operators for c in reach.operators)


def without_itself(reach: Reach, operator: str, start: Defined) -> Reach:
    """What a kernel of dense tensors reaches, without calls that would enter it again for ever, in functions that have no other way out: where such
    a call may mean several overloads it is another one, and one that can only be this operator is no call of it (`self.conj()` of the tensor class).
    """
    operators: list[OperatorCall] = []
    for call in reach.operators:
        called = call.site.called
        inside = call.hops[-1] if call.hops else start
        may_end = call.site.conditions or inside.whole.exits or (call.site.call is not None and any(map(_TO_CPU.search, call.site.call.arguments)))
        if called is not None and operator in called.operators and not may_end:
            others = tuple(name for name in called.operators if name != operator)
            if others:
                operators.append(call._replace(site=call.site._replace(called=replace(called, operators=others))))
        else:
            operators.append(call)
    return reach._replace(operators=tuple(operators))


def switched(ways: list[Way], begun: list[Conditions]) -> list[Way]:
    """The ways, a choice of a `switch` not dearer than others where there is nothing but choices."""
    if not any(map(is_switched, begun)):
        return ways
    rivals = [conditions for way, conditions in zip(ways, begun, strict=True) if way.site.kind != "dispatch"]
    return [
        way._replace(cost=way.cost - CASE + CHOSEN) if is_switched(conditions) and way.cost >= CASE and not has_rivals(conditions, rivals) else way
        for way, conditions in zip(ways, begun, strict=True)
    ]


def under(outer: Site, inner: Site) -> Site:
    """A site that is reached through another site, under the conditions of both."""
    if not outer.conditions and not outer.asks:
        return inner
    return inner.inside(outer.conditions)._replace(asks=outer.asks | inner.asks)


def possible(reach: Reach, outer: Conditions, handed: Callable[[], tuple[frozenset[str], frozenset[str]]]) -> Reach:
    """What a function reaches, without what the conditions around its call deny: `f` under `p == 2`, and in it a way under `!(p == 2)`.
    `handed` gives those of its parameters that are what has the same name outside, and those that are not.
    """
    denied, known = frozenset(map(opposite, outer)), settled(outer)
    inner = {c for site in (*(w.site for w in reach.ways), *(o.site for o in reach.operators)) for c in site.conditions}
    against = {c for c in inner if c in denied or (not known.keys().isdisjoint(terms(c)) and "…" not in c and value(c, known.get) is False)}
    if against:
        same, other = handed()
        told = {term: holds for term, holds in known.items() if variables_in(term) <= same}  # of nothing else is it known that it is the same
        against = {c for c in against if (c in denied and other.isdisjoint(_NAMES.findall(c))) or ("…" not in c and value(c, told.get) is False)}
    if not against:
        return reach
    ways = tuple(w for w in reach.ways if against.isdisjoint(w.site.conditions))
    return reach._replace(ways=ways, operators=tuple(o for o in reach.operators if against.isdisjoint(o.site.conditions)))


def launching(reach: Reach) -> Way | None:
    """The cheapest way to a launch or a loop; launched on both sides of an `if`, a kernel runs under the conditions of either."""
    first = next((w for w in reach.ways if w.site.kind in ("launch", "loop") or w.launched is not None), None)
    if first is None or first.launched is not None or not first.site.conditions or not first.site.targets:
        return first
    same = (w.site for w in reach.ways if w.site.kind == "launch" and w.site.targets == first.site.targets and w.cost < ASIDE)
    site = reduce(lambda one, other: one.reached_as(other), same, first.site)
    return first if site == first.site else first._replace(site=site)


def others(reach: Reach, launching: Way) -> tuple[Site, ...]:
    """Launches of other kernels than the first one's, in the order of their costs."""
    own, given = launching.launch.site.name, {site.name for site in launching.others}
    found = {site.name: site for site in launching.others}
    for way in reach.ways:
        site = way.launch.site
        if site.kind == "launch" and site.targets and site.name != own and site.name not in given and way.cost < ASIDE:
            known = found.get(site.name)
            found[site.name] = site if known is None else _joined(known, site)
    return tuple(found.values())[:2]


def through(way: Way, target: Defined, extra: float, site: Site | None = None) -> Way:
    """A way of a function, from another one that enters it at a site: dearer, and under the site's conditions too."""
    inner = way.site
    if site is not None and site.conditions:
        inner = inner.inside(site.conditions)._replace(optional=inner.optional or site.optional, unusual=inner.unusual or site.unusual)
    return Way(way.cost + extra, (target, *way.hops), inner, way.at, way.registration, way.launched, way.others)


def best(ways: list[Way]) -> tuple[Way, ...]:
    """The cheapest ways, each end once, under the conditions of all that lead to it."""
    if len(ways) < 2:
        return tuple(ways)
    ways.sort(key=lambda way: way.cost + LATER if way.site.unusual else way.cost)
    kept: dict[tuple[str, str, int, str], Way] = {}
    runs: set[tuple[object, ...]] = set()
    for way in ways:
        known = kept.get(way.end)
        if known is None:
            if len(runs) < KEPT or way.runs in runs:
                kept[way.end] = way
                runs.add(way.runs)
        elif known.site.conditions and way.cost < known.cost + ASIDE / 2:
            kept[way.end] = known._replace(site=_for_most(known.site, way.site))
    return tuple(kept.values())


def _joined(known: Site, other: Site) -> Site:
    """One site that is reached in two ways: under the conditions of either."""
    return known.reached_as(other)._replace(asks=known.asks & other.asks, unusual=known.unusual and other.unusual)


def _for_most(known: Site, other: Site) -> Site:
    """The same, where what only few tensors meet changes nothing for most of them."""
    joined = _joined(known, other)
    rarely = is_rare(other.conditions) and not is_rare(known.conditions) and len(joined.conditions) >= len(known.conditions)
    return known.reached(known.conditions, joined.all_conditions) if rarely else joined


def distinct(operators: list[OperatorCall]) -> tuple[OperatorCall, ...]:
    """Each operator once, where it is called in most cases, or else where it is called most directly."""
    if len(operators) < 2:
        return tuple(operators)
    kept: dict[tuple[str, tuple[str, ...]], OperatorCall] = {}
    for call in operators:
        assert call.site.called is not None
        key = (call.site.name, call.site.called.operators)
        known = kept.get(key)
        if known is None:
            kept[key] = call
            continue
        rare = is_rare(known.site.conditions), is_rare(call.site.conditions)
        later = rare[0] if rare[0] != rare[1] else len(call.hops) < len(known.hops)
        first, other = (call, known) if later else (known, call)
        joined = either(first.site.conditions, other.site.conditions)
        if joined == other.site.conditions != first.site.conditions and len(other.hops) <= len(first.hops) and not is_cut(joined):
            first, other = other, first  # which holds wherever either does: its line is the one to show
        first = OperatorCall(_for_most(first.site, other.site), first.hops)
        if later:
            del kept[key]  # its place is the later one
        kept[key] = first
    return tuple(kept.values())[:CALLED]
