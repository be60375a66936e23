# SPDX-License-Identifier: BSD-3-Clause
"""Finds how a function gets to the code that runs on the device: the cheapest ways, and the operators called on them.

A way's cost grows with each function that it passes and with how little its end says: a dispatch stub or a launch
says all, a library call nearly as much, a loop inside the function least. Ways that a condition sends to another
device cost so much that they only count when there is no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from cartographer.link.bound import left
from cartographer.link.composed import filled
from cartographer.link.conditions import (
    never,
    opposite,
    rule_out,
    together,
)
from cartographer.link.costs import ALONE, continued, detour, is_check, of_all_types, order
from cartographer.link.device import NEVER, answers
from cartographer.link.either import either
from cartographer.link.generic import is_generic
from cartographer.link.plain import loops_over_elements, on_exits
from cartographer.link.sites import PLAIN
from cartographer.link.stubs import serving
from cartographer.link.ways import (
    ASIDE,
    OperatorCall,
    Reach,
    Way,
    best,
    distinct,
    launching,
    others,
    possible,
    switched,
    through,
    under,
)
from cartographer.model.backend import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.link.bound import Bound
    from cartographer.link.callgraph import CallGraph
    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined
    from cartographer.link.sites import Site

DEPTH = 9
_HELPERS = 5  # helper functions between a body and an operator's call
_END = {"stub": 0.0, "launch": 0.0, "library": 1.0, "loop": 0.5, "dispatch": 2.5, "metal": 0.0, "jit": 0.5}
_GENERATED = 0.3  # a stub that only generated code registers
_BODY = 1.5  # a generic function that only its own statements make: the end of a way
_PLAIN = 1.5  # a function that loops over elements itself
_GIVEN = 0.1  # how much less it costs where it is handed what it runs for each element: `vec::map([](Vec x) {…}, out, in, n)`
_ELSEWHERE = 12.0  # a loop over types is an end on a CPU; on other devices only when there is nothing else
_DEVICE_WIDE = ("CUB", "Thrust")  # libraries that run what they are handed
_OF_LIBRARY = {"CUDA runtime": 3.0, "FBGEMM GenAI": 4.0, "MSLK": 4.0}  # moving memory is seldom the work itself, and few tensors are of the types of the others
_SPECIAL = 0.3  # a specialisation is what its template was declared for
_HANDED_ON = 0.98  # a function that gives on its callable is a stage of a launcher, hardly a step


_NOWHERE = Reach()


@dataclass
class Search:
    """Computes what all functions reach on one device; each function once. For tensors of a layout, what no condition on the way asks about
    layouts is as `dense`, the search for tensors of none, has it.
    """

    graph: CallGraph
    layout: str = ""
    dense: Search | None = None
    _known: dict[tuple[int, Bound], Reach] = field(default_factory=dict, repr=False)
    _partial: dict[tuple[int, Bound], Reach] = field(default_factory=dict, repr=False)
    _active: set[int] = field(default_factory=set, repr=False)
    _elsewhere: dict[Conditions, bool] = field(default_factory=dict, repr=False)
    _nevers: dict[tuple[Conditions, str], bool] = field(default_factory=dict, repr=False)
    _entering: dict[tuple[int, int], Conditions] = field(default_factory=dict, repr=False)
    _cut: bool = False
    _asking: set[tuple[int, Bound]] = field(default_factory=set, repr=False)  # questions on whose way conditions ask about layouts
    _by_layout: set[Conditions] = field(default_factory=set, repr=False)  # those that tensors of some layout answer otherwise
    _asked: bool = False

    def reach(self, start: Defined, depth: int = 0, bound: Bound = ()) -> Reach:
        """The ways of one function, cheapest first; `bound` are parameters with known values. An answer that was cut short, by depth or
        by a circle, is kept only while the question that cut it is being answered.
        """
        at = (id(start), bound)
        known = self._known.get(at)
        if known is not None:
            self._asked = self._asked or at in self._asking
            return known
        if self.dense is not None and (same := self.dense.of_any_layout(at)) is not None:
            return same
        if depth and (partial := self._partial.get(at)) is not None:
            self._cut = True  # what is made of it is cut short too
            self._asked = self._asked or at in self._asking
            return partial
        if id(start) in self._active or depth > DEPTH:
            self._cut = True
            return Reach()
        before, self._cut = self._cut, False
        asked, self._asked = self._asked, False
        self._active.add(id(start))
        answer = self._worked_out(start, depth, bound)
        self._active.discard(id(start))
        if self._asked:
            self._asking.add(at)
        self._asked = asked or self._asked
        if self._cut and depth:
            self._partial[at] = answer
        else:
            self._known[at] = answer
        self._cut = before or self._cut
        if depth == 0:
            self._partial.clear()
            self._cut = False
        return answer

    def behind_stub(self, site: Site, kernel: Defined, start: Defined) -> Reach:
        """What the kernel of a stub reaches, under the conditions around the stub's call; the device that the call begins with is no argument of it."""
        inner, call = self.reach(kernel), site.call
        if not site.conditions or call is None:
            return inner
        return possible(inner, site.conditions, lambda: self._handed(call.arguments[1:], kernel, start))

    def of_any_layout(self, at: tuple[int, Bound]) -> Reach | None:
        """What is known to be reached whatever the layout of tensors."""
        return self._known.get(at) if at not in self._asking else None

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
                end = of_library if (of_library := _OF_LIBRARY.get(site.library)) else _ELSEWHERE if site.kind == "dispatch" and self.graph.device != "cpu" else _END[site.kind]
                ways.append(Way(end + self._aside(site) + order(site) + (ALONE if site.alone else 0.0), (), site, start))
            begun += [site.conditions] * (len(ways) - len(begun))
        return Reach(best(switched(ways, begun)), distinct(operators), tuple(nulls))

    @staticmethod
    def _left(sites: Iterable[Site], bound: Bound) -> Iterator[Site]:
        """The sites that parameters with these values leave, under the conditions that they leave open."""
        for site in sites:
            conditions = left(site.conditions, bound) if site.conditions else ()
            if conditions is None:
                continue
            told = site if len(conditions) == len(site.conditions) else site._replace(conditions=conditions)
            name = filled(site.pattern, dict(bound)) if site.pattern else ""
            yield told._replace(texts=(name,), pattern=name) if name else told

    @cached_property
    def _answers(self) -> frozenset[str]:
        return answers(self.graph.device, self.layout)

    @cached_property
    def _others(self) -> tuple[frozenset[str], ...]:
        """What tensors of each layout answer, in the search for tensors of none."""
        return () if self.layout else tuple(answers(self.graph.device, layout) for layout in sorted(LAYOUTS))

    def aside(self, site: Site) -> bool:
        """Whether conditions around a site are for another device or layout than the one of this search."""
        return NEVER in site.asks or self.elsewhere(site)

    def elsewhere(self, site: Site) -> bool:
        """Whether conditions around a site name another device than the one of this search."""
        conditions = site.conditions
        if not conditions:
            return False
        known = self._elsewhere.get(conditions)
        if known is None:
            known = self._elsewhere[conditions] = rule_out(conditions, self._answers)
            if any(rule_out(conditions, other) is not known for other in self._others):
                self._by_layout.add(conditions)
        self._asked = self._asked or conditions in self._by_layout
        return known

    def entering(self, body: Defined, hop: Defined) -> Conditions:
        """The conditions under which a body enters a function; those that ask for another device are left out when there are others."""
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
            known = self._nevers[at] = _cannot_hold(*at, self._answers)
            if any(_cannot_hold(*at, other) is not known for other in self._others):
                self._by_layout.add(site.conditions)
        self._asked = self._asked or site.conditions in self._by_layout
        return known

    def _aside(self, site: Site) -> float:
        return ASIDE if self.aside(site) else 0.0

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
            inner = self._within(site, start, target, depth, bound)
            extra = (_SPECIAL if target.specialised else 1.0) + 0.3 * (0 if site.base else rank) + aside + place
            extra += detour(target.name, checking=checking) - continued(start, target)
            if site.hands_on and launching(inner) is not None:
                extra -= _HANDED_ON
            if site.given and (launch := launching(inner)) is not None:
                cost = 0.02 * len(launch.hops) + aside + place
                ways.append(Way(cost, (), site, start, launched=through(launch, target, 0.0), others=others(inner, launch)))
                ways.extend([through(way, target, extra, site) for way in inner.ways if way.site.kind == "library" and way.site.library in _DEVICE_WIDE])
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
                ways.extend([through(way, target, extra, site) for way in inner.ways])
            if not inner.operators or NEVER in site.asks or self._never(site, start):
                continue
            operators.extend([OperatorCall(under(site, o.site), (target, *o.hops)) for o in inner.operators if len(o.hops) < _HELPERS])

    def _within(self, site: Site, start: Defined, target: Defined, depth: int, bound: Bound) -> Reach:
        """What a function reaches that a call enters, with the arguments and under the conditions of the call."""
        call = site.call
        inner = self.reach(target, depth + 1, self.graph.binder.of(call, start, target, bound) if call is not None else ())
        return possible(inner, site.conditions, lambda: self._handed(call.arguments, target, start)) if site.conditions and call is not None else inner

    def _handed(self, arguments: tuple[str, ...], target: Defined, start: Defined) -> tuple[frozenset[str], frozenset[str]]:
        """The parameters of a function that a call fills with a variable of the same name, which the caller gives no other value; and those that
        it fills with anything else.
        """
        parameters = self.graph.bodies.of(target).parameters
        same = {n for n, a in zip(parameters, arguments, strict=False) if n == a.strip()}
        return frozenset(name for name in same if not self.graph.binder.changes(name, start)), frozenset(parameters) - same

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
        exits = on_exits(target.whole.exits, told) if told and target.whole.exits and self.graph.device == "cpu" and target.use is None else []
        if not exits:
            return ()
        text = self.graph.bodies.lines(target.path, max(e.line for e in exits) + 1, min(e.end for e in exits))
        return tuple(opposite(e.condition) for e in exits) if loops_over_elements("\n".join(text)) else ()


def _cannot_hold(conditions: Conditions, first: str, answers: frozenset[str]) -> bool:
    """Whether one of the conditions cannot hold when the first tensor answers so."""
    return any(never(condition, answers, first) for condition in conditions)


def _hands_on(site: Site, target: Defined, inner: Reach) -> bool:
    """Whether a template does nothing but hand a lambda on to a class that only its own parameter names
    (`kernel_t<func_t>::launch(iter, f)`, aten/src/ATen/native/sparse/FlattenIndicesCommon.h).
    """
    given = any(g.symbol == "lambda" for g in site.given)
    return given and not inner.ways and bool(target.fact.template) and [c.name.count("::") for c in target.whole.calls] == [1]
