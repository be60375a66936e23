# SPDX-License-Identifier: BSD-3-Clause
"""How a function gets to the code that runs on the device: the cheapest ways, and the operators called on the way.

A way's cost grows with each function that it passes and with how little its end says: a dispatch stub or a launch
says all, a library call nearly as much, a loop inside the function least. Ways that a condition sends to another
device cost so much that they only count when there is no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.bound import left
from cartographer.link.conditions import (
    CASE,
    CHOSEN,
    either,
    has_rivals,
    is_rare,
    is_switched,
    never,
    opposite,
    rule_out,
    together,
)
from cartographer.link.costs import ALONE, LATER, continued, detour, is_check, of_all_types, order
from cartographer.link.device import NEVER, answers
from cartographer.link.generic import is_generic
from cartographer.link.plain import loops_over_elements, on_exits
from cartographer.link.sites import PLAIN
from cartographer.link.stubs import serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.link.bound import Bound
    from cartographer.link.callgraph import CallGraph
    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined
    from cartographer.link.sites import Site
    from cartographer.link.stubs import StubRegistration

DEPTH = 9
KEPT = 14  # ways kept for each function
_HELPERS = 5  # helper functions between a body and an operator's call
CALLED = 60  # operator calls kept for each function
_END = {"stub": 0.0, "launch": 0.0, "library": 1.0, "loop": 0.5, "dispatch": 2.5, "metal": 0.0, "jit": 0.5}
_GENERATED = 0.3  # a stub that only generated code registers
_BODY = 1.5  # a generic function that only its own statements make: the end of a way
_PLAIN = 1.5  # a function that loops over elements itself
_GIVEN = 0.1  # how much less it costs where it is handed what it runs for each element: `vec::map([](Vec x) {…}, out, in, n)`
_ELSEWHERE = 12.0  # a loop over types is an end on a CPU; on other devices only when there is nothing else
_DEVICE_WIDE = ("CUB", "Thrust")  # libraries that run what they are handed
_COPIES = 3.0  # moving memory is seldom the work itself
_SPECIAL = 0.3  # a specialisation is what its template was declared for
_ASIDE = 30.0
_HANDED_ON = 0.98  # a function that gives on its callable is a stage of a launcher, hardly a step


class Way(NamedTuple):
    """One way: the functions passed (the start is not among them), and the site that ends it, in `at`."""

    cost: float
    hops: tuple[Defined, ...]
    site: Site
    at: Defined
    registration: StubRegistration | None = None  # of a stub
    launched: Way | None = None  # of callables given to a launcher: how the launcher launches
    others: tuple[Site, ...] = ()  # further kernels that the launcher may launch instead

    @property
    def launch(self) -> Way:
        """The way on which the launch itself stands, launchers inside launchers passed."""
        way = self
        while way.launched is not None:
            way = way.launched
        return way

    @property
    def end(self) -> tuple[str, str, int, str]:
        """What tells ways apart: where they end."""
        return (self.site.kind, self.site.path, self.site.line, self.site.name if self.site.kind == "stub" else "".join(self.site.texts))


class OperatorCall(NamedTuple):
    """A call of an operator, with the helper functions between the start and it."""

    site: Site
    hops: tuple[Defined, ...]

    @property
    def is_sign(self) -> bool:
        """Whether it is written as a sign: arithmetic beside what is called by name."""
        return self.site.call is not None and self.site.call.form == "sign"


class Reach(NamedTuple):
    """What a function gets to on one device."""

    ways: tuple[Way, ...] = ()
    operators: tuple[OperatorCall, ...] = ()
    nulls: tuple[str, ...] = ()  # stubs registered as nullptr for the device


_NOWHERE = Reach()


@dataclass
class Search:
    """Reaches of all functions for one device; each is worked out once."""

    graph: CallGraph
    layout: str = ""
    _known: dict[tuple[int, Bound], Reach] = field(default_factory=dict, repr=False)
    _partial: dict[tuple[int, Bound], Reach] = field(default_factory=dict, repr=False)
    _active: set[int] = field(default_factory=set, repr=False)
    _elsewhere: dict[Conditions, bool] = field(default_factory=dict, repr=False)
    _nevers: dict[tuple[Conditions, str], bool] = field(default_factory=dict, repr=False)
    _entering: dict[tuple[int, int], Conditions] = field(default_factory=dict, repr=False)
    _cut: bool = False

    def reach(self, start: Defined, depth: int = 0, bound: Bound = ()) -> Reach:
        """The ways of one function, cheapest first; `bound` are parameters with their values. What was cut short, by depth or
        by a circle, is kept only while the question that cut it is being answered.
        """
        at = (id(start), bound)
        known = self._known.get(at)
        if known is not None:
            return known
        if depth and (partial := self._partial.get(at)) is not None:
            self._cut = True  # what is made of it is cut short too
            return partial
        if id(start) in self._active or depth > DEPTH:
            self._cut = True
            return Reach()
        before, self._cut = self._cut, False
        self._active.add(id(start))
        answer = self._worked_out(start, depth, bound)
        self._active.discard(id(start))
        if self._cut and depth:
            self._partial[at] = answer
        else:
            self._known[at] = answer
        self._cut = before or self._cut
        if depth == 0:
            self._partial.clear()
            self._cut = False
        return answer

    def _worked_out(self, start: Defined, depth: int, bound: Bound) -> Reach:
        ways: list[Way] = []
        operators: list[OperatorCall] = []
        nulls: list[str] = []
        begun: list[Conditions] = []  # the conditions under which each way begins
        sites = self.graph.sites(start)
        if not sites:
            return _NOWHERE
        for site in self._left(sites, bound) if bound else sites:
            if site.kind == "operator":
                if not self._never(site, start):
                    operators.append(OperatorCall(site, ()))
            elif site.kind == "stub":
                self._stub(site, start, ways, nulls)
            elif site.kind == "helper":
                self._helper(site, start, depth, ways, operators, bound)
            else:
                end = _COPIES if site.library == "CUDA runtime" else _ELSEWHERE if site.kind == "dispatch" and self.graph.device != "cpu" else _END[site.kind]
                ways.append(Way(end + self._aside(site) + order(site) + (ALONE if site.alone else 0.0), (), site, start))
            begun += [site.conditions] * (len(ways) - len(begun))
        return Reach(_best(_switched(ways, begun)), _distinct(operators), tuple(nulls))

    @staticmethod
    def _left(sites: Iterable[Site], bound: Bound) -> Iterator[Site]:
        """The sites that parameters with these values leave, under the conditions that they leave open."""
        for site in sites:
            conditions = left(site.conditions, bound) if site.conditions else ()
            if conditions is not None:
                yield site if len(conditions) == len(site.conditions) else site._replace(conditions=conditions)

    @cached_property
    def _answers(self) -> frozenset[str]:
        return answers(self.graph.device, self.layout)

    def aside(self, site: Site) -> bool:
        """Whether conditions around a site ask for another device or layout."""
        return NEVER in site.asks or self.elsewhere(site)

    def elsewhere(self, site: Site) -> bool:
        """Whether conditions around a site ask for another device by its name."""
        conditions = site.conditions
        if not conditions:
            return False
        known = self._elsewhere.get(conditions)
        if known is None:
            known = self._elsewhere[conditions] = rule_out(conditions, self._answers)
        return known

    def entering(self, body: Defined, hop: Defined) -> Conditions:
        """The conditions under which a body enters a function, those that ask for another device apart where there are others."""
        at = (id(body), id(hop))
        known = self._entering.get(at)
        if known is None:
            sites = [s for s in self.graph.sites(body) if any(t is hop for t in s.targets)]
            around = [s.conditions for s in sites if not self.elsewhere(s)] or [s.conditions for s in sites]
            known = self._entering[at] = reduce(either, around) if around else ()
        return known

    def _never(self, site: Site, start: Defined) -> bool:
        """Whether no tensors of the device lead to a site of a body, where the body's first tensor has the key's layout."""
        if not site.conditions:
            return False
        at = (site.conditions, self.graph.bodies.of(start).first)
        known = self._nevers.get(at)
        if known is None:
            known = self._nevers[at] = any(never(condition, self._answers, at[1]) for condition in site.conditions)
        return known

    def _aside(self, site: Site) -> float:
        return _ASIDE if self.aside(site) else 0.0

    def _stub(self, site: Site, start: Defined, ways: list[Way], nulls: list[str]) -> None:
        assert site.stub is not None
        registrations = serving(site.stub, "cpu" if site.host else self.graph.device, self.graph.world)
        real = [r for r in registrations if not r.missing]
        if real:
            ways.append(Way(_END["stub"] + self._aside(site) + order(site), (), site, start, real[0]))
        elif registrations:
            nulls.append(site.name)
        elif not site.stub.registrations:
            ways.append(Way(_GENERATED + self._aside(site) + order(site), (), site, start))  # only generated code registers it

    def _helper(self, site: Site, start: Defined, depth: int, ways: list[Way], operators: list[OperatorCall], bound: Bound) -> None:
        aside, place, checking = self._aside(site), order(site), is_check(start.name)
        for rank, target in self._entered(site, start):
            inner = self.reach(target, depth + 1, self.graph.binder.of(site.call, start, target, bound) if site.call is not None else ())
            extra = (_SPECIAL if target.specialised else 1.0) + 0.3 * (0 if site.base else rank) + aside + place
            extra += detour(target.name, checking=checking) - continued(start, target)
            if site.hands_on and _launching(inner) is not None:
                extra -= _HANDED_ON
            if site.given and (launching := _launching(inner)) is not None:
                cost = 0.02 * len(launching.hops) + aside + place
                ways.append(Way(cost, (), site, start, launched=_through(launching, target, 0.0), others=_others(inner, launching)))
                ways.extend([_through(way, target, extra, site) for way in inner.ways if way.site.kind == "library" and way.site.library in _DEVICE_WIDE])
                continue
            if _hands_on(site, target, inner):
                ways.append(Way(0.5 + aside + place, (), site, start))
                continue
            if self._plain(target, inner):
                lambdas = tuple(g for g in site.given if g.symbol == "lambda")
                cost = _PLAIN + extra - (_GIVEN if lambdas else 0.0)
                ways.append(Way(cost, (), site._replace(kind=PLAIN, targets=(target,), given=lambdas), start))
                continue
            if rest := self._rest(target, inner):
                own = site._replace(kind=PLAIN, targets=(target,), given=(), conditions=together(site.conditions, rest))
                ways.append(Way(_PLAIN + extra, (), own, start))
            if not inner.ways and is_generic(target) and not is_generic(start):
                ways.append(Way(_BODY + extra, (target,), site._replace(kind="loop", given=()), start))
            if inner.ways:
                ways.extend([_through(way, target, extra, site) for way in inner.ways])
            if not inner.operators or NEVER in site.asks or self._never(site, start):
                continue
            operators.extend([OperatorCall(_under(site, o.site), (target, *o.hops)) for o in inner.operators if len(o.hops) < _HELPERS])

    def _entered(self, site: Site, start: Defined) -> Iterable[tuple[int, Defined]]:
        """The functions that a call enters, with their ranks; of those for one type each the first stands for all."""
        if len(site.targets) == 1:
            target = site.targets[0]
            return ((0, target),) if target is not start and self.graph.follows(target) else ()
        return self._first_of_each(site, start)

    def _first_of_each(self, site: Site, start: Defined) -> Iterator[tuple[int, Defined]]:
        entered: set[tuple[str, ...]] = set()
        for rank, target in enumerate(site.targets):
            if target is start or not self.graph.follows(target):
                continue
            same = of_all_types(target)
            if not same or same not in entered:
                entered.add(same)
                yield rank, target

    def _plain(self, target: Defined, inner: Reach) -> bool:
        """Whether nothing is known of a function's work but that it loops over elements itself."""
        return not inner.operators and all(w.site.kind in ("dispatch", PLAIN) for w in inner.ways) and not is_generic(target) and self.graph.loops(target)

    def _rest(self, target: Defined, inner: Reach) -> Conditions:
        """The conditions under which a function loops over elements itself: past the ways out on which it hands over all other loops."""
        told = [w.site.conditions for w in inner.ways if w.site.kind not in ("dispatch", PLAIN)]
        exits = on_exits(target.fact.exits, told) if told and target.fact.exits and self.graph.device == "cpu" and target.use is None else []
        if not exits:
            return ()
        text = self.graph.bodies.lines(target.path, max(e.line for e in exits) + 1, min(e.end for e in exits))
        return tuple(opposite(e.condition) for e in exits) if loops_over_elements("\n".join(text)) else ()


def _hands_on(site: Site, target: Defined, inner: Reach) -> bool:
    """Whether a template does nothing but hand a lambda on to a class that only its own parameter names
    (`kernel_t<func_t>::launch(iter, f)`, aten/src/ATen/native/sparse/FlattenIndicesCommon.h).
    """
    given = any(g.symbol == "lambda" for g in site.given)
    return given and not inner.ways and bool(target.fact.template) and [c.name.count("::") for c in target.fact.calls] == [1]


def _switched(ways: list[Way], begun: list[Conditions]) -> list[Way]:
    """The ways, a choice of a `switch` not dearer than others where there is nothing but choices."""
    if not any(map(is_switched, begun)):
        return ways
    rivals = [conditions for way, conditions in zip(ways, begun, strict=True) if way.site.kind != "dispatch"]
    return [
        way._replace(cost=way.cost - CASE + CHOSEN) if is_switched(conditions) and way.cost >= CASE and not has_rivals(conditions, rivals) else way
        for way, conditions in zip(ways, begun, strict=True)
    ]


def _under(outer: Site, inner: Site) -> Site:
    """A site that is reached through another: the conditions of both are around it."""
    if not outer.conditions and not outer.asks:
        return inner
    return inner._replace(asks=outer.asks | inner.asks, conditions=together(outer.conditions, inner.conditions))


def _launching(reach: Reach) -> Way | None:
    """The cheapest way to a launch or a loop; launched on both sides of an `if`, a kernel runs under the conditions of either."""
    first = next((w for w in reach.ways if w.site.kind in ("launch", "loop") or w.launched is not None), None)
    if first is None or first.launched is not None or not first.site.conditions or not first.site.targets:
        return first
    same = (w.site.conditions for w in reach.ways if w.site.kind == "launch" and w.site.targets == first.site.targets and w.cost < _ASIDE)
    conditions = reduce(either, same, first.site.conditions)
    return first if conditions == first.site.conditions else first._replace(site=first.site._replace(conditions=conditions))


def _others(reach: Reach, launching: Way) -> tuple[Site, ...]:
    """Launches of other kernels than the first one's, in the order of their costs."""
    seen = {launching.launch.site.name}
    found: list[Site] = []
    for site in launching.others:
        seen.add(site.name)
        found.append(site)
    for way in reach.ways:
        site = way.launch.site
        if site.kind == "launch" and site.targets and site.name not in seen and way.cost < _ASIDE:
            seen.add(site.name)
            found.append(site)
    return tuple(found[:2])


def _through(way: Way, target: Defined, extra: float, site: Site | None = None) -> Way:
    inner = way.site
    if site is not None and site.conditions:
        conditions = together(site.conditions, inner.conditions)
        inner = inner._replace(conditions=conditions, optional=inner.optional or site.optional, unusual=inner.unusual or site.unusual)
    return Way(way.cost + extra, (target, *way.hops), inner, way.at, way.registration, way.launched, way.others)


def _best(ways: list[Way]) -> tuple[Way, ...]:
    if len(ways) < 2:
        return tuple(ways)
    ways.sort(key=lambda way: way.cost + LATER if way.site.unusual else way.cost)
    kept: dict[tuple[str, str, int, str], Way] = {}
    for way in ways:
        known = kept.get(way.end)
        if known is None:
            if len(kept) < KEPT:
                kept[way.end] = way
        elif known.site.conditions and way.cost < known.cost + _ASIDE / 2:
            joined = either(known.site.conditions, way.site.conditions)
            if is_rare(known.site.conditions) or not is_rare(way.site.conditions) or len(joined) < len(known.site.conditions):
                kept[way.end] = known._replace(site=_joined(known.site, way.site, joined))
    return tuple(kept.values())


def _joined(known: Site, other: Site, conditions: Conditions) -> Site:
    """One site that is reached in two ways: under the conditions of either."""
    asks, unusual = known.asks & other.asks, known.unusual and other.unusual
    same = conditions == known.conditions and asks == known.asks and unusual == known.unusual
    return known if same else known._replace(conditions=conditions, asks=asks, unusual=unusual)


def _distinct(operators: list[OperatorCall]) -> tuple[OperatorCall, ...]:
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
        if rare[0] == rare[1] or len(joined) < len(first.site.conditions):
            first = OperatorCall(_joined(first.site, other.site, joined), first.hops)
        if later:
            del kept[key]  # its place is the later one
        kept[key] = first
    return tuple(kept.values())[:CALLED]
