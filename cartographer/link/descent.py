# SPDX-License-Identifier: BSD-3-Clause
"""Chooses, below an entry, the main way to the device, what is shown beside it, and which called operator is the work itself.

Several ways may cost the same. Then names tell: PyTorch calls the kernel of `sort` something with `sort`, and keeps
forward and backward apart. Names never invent a way, they only order those that the source has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cartographer.link.arguments import member
from cartographer.link.bodies import LITERALS
from cartographer.link.callees import STEPS, SWITCH, Below, Callees
from cartographer.link.choice import GRAPH, beside, name_words, ordered
from cartographer.link.composed import unnamed
from cartographer.link.conditions import converts, is_rare, is_switched, weight
from cartographer.link.defaults import by_default, names_in_kernel, parameter_names
from cartographer.link.device import METAL_REQUESTS
from cartographer.link.generated import ufunc_kernel
from cartographer.link.index import bare, is_source
from cartographer.link.names import Scope
from cartographer.link.sites import PLAIN
from cartographer.link.steps import (
    BEFORE,
    HOPS,
    MORE,
    and_more,
    before,
    definition_step,
    end_steps,
    hop_steps,
    once,
    stub_steps,
    trimmed,
    way_steps,
)
from cartographer.link.ways import calls_itself, without_itself
from cartographer.model.backend import device_of_key, layout_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.link.bound import Bound
    from cartographer.link.index import Defined
    from cartographer.link.sites import Given
    from cartographer.link.stubs import StubRegistration
    from cartographer.link.tree import Tree
    from cartographer.link.ways import Reach, Way
    from cartographer.model.operator import Operator, Step

NEAR = 6.0  # a way that costs more is only followed when no called operator leads on
SPARED = 4  # steps kept for what calls the operator
SECOND = 5  # steps of a further stub's kernel
FAR = 20.0  # a way that costs more leads to another device
_QUEUED = frozenset(("launch", "library"))  # what runs in the order in which it is called
CARRIED = 3  # functions that bear an operator's name, where nothing else is known of its work

_GOES_ON = "goes on, not shown here"  # where a chain would be too long
_PART = re.compile(r"(?:_(?:out|impl|internal|template|helper|common))*")  # of a function's name, after an operator's


@dataclass
class Descent:
    """Works out the steps below the entries of operators; results are kept."""

    tree: Tree
    callees: Callees
    _known: dict[tuple[int, str, bool, str, Bound, str], Below] = field(default_factory=dict, repr=False)
    _stems: dict[str, str] = field(default_factory=dict, repr=False)

    def below(self, defined: Defined, operator: Operator, key: str, *, composite: bool, bound: Bound = ()) -> Below:
        """The steps below one entry; `bound` are the template arguments that its registration gives."""
        operator = self.tree.by_name.with_public_defaults(operator)
        reach = self.tree.search(key).reach(defined, bound=bound)
        itself = operator.name if reach.operators and not layout_of_key(key) and calls_itself(reach, operator.name) else ""
        at = (id(defined), key, composite, operator.base, bound, itself)
        known = self._known.get(at)
        if known is None:
            known = self._worked_out(without_itself(reach, itself, defined) if itself else reach, defined, operator, key, composite=composite)
            if known.complete:
                self._known[at] = known
        return known

    def _worked_out(self, reach: Reach, defined: Defined, operator: Operator, key: str, *, composite: bool) -> Below:
        if not (composite or reach.ways or reach.operators):
            return Below(once(self._virtual(defined, key) or self._carried_on(defined, operator, key)))
        ways = ordered((w for w in reach.ways if w.cost < FAR), operator, defined, self._stem(operator.base))
        if composite:
            told = [w for w in ways if w.site.kind in ("stub", "launch", "library", "metal")]
            near = [w for w in told if len(w.hops) <= 1 or all(_of(h, operator) for h in w.hops)] if reach.operators else told
            same = [w for w in near if w.site.kind == "metal" == near[0].site.kind and w.at is near[0].at]  # a name chosen by a condition
            steps = self._ways(same or near[:1], defined, operator, key) if near else []
            return Below(once([*steps, *self.callees.shown(reach.operators, defined, key), *self.callees.for_others(reach.operators, defined, key)]))
        plain = [w for w in ways if w.site.kind == PLAIN]
        real = [w for w in ways if w.site.kind not in ("dispatch", PLAIN)]
        shaping = [] if real else [w for w in reach.ways if w.site.library == GRAPH and not self.tree.search(key).elsewhere(w.site)]
        real = real or shaping
        if real and self.callees.switches(real[0], reach.operators, key):
            return Below(once([*self.callees.shown(self.callees.here(reach.operators, key), defined, key), *self._sides(real, key)]), works=True)
        if real and min(w.cost for w in real) < NEAR:
            here = self.callees.here(reach.operators, key)
            usual = self.callees.for_most_types(here, real[0], operator, key)
            first = _without(usual.steps, way_steps(real[0])) if usual.steps else []
            roads = self.callees.roads(here, real[0], defined, operator, key)
            passed = max((number for _, number in roads), default=-1)
            if passed >= 0 and by_default(real[0].site.conditions, operator.schema, parameter_names(defined)) > 0:
                first = [*first, *hop_steps(real[0].hops[:passed]), *(step for step, number in roads if number >= 0)]
            beside_it = [*self.callees.beside(here, operator, key), *(step for step, _ in roads), *self.callees.own(reach.operators, defined, operator, key)]
            return Below(once([*first, *self._ways([*real, *plain], defined, operator, key), *beside_it]), works=True, complete=usual.complete)
        calls = self.callees.shown(reach.operators, defined, key)
        if sum("case " in s.branch for s in calls) >= SWITCH:
            return Below(once(self.callees.shown(self.callees.here(reach.operators, key), defined, key)), works=True)  # a switch over backends: no way is the main one
        onward = self.callees.onward(reach.operators, defined, operator, key)
        arranges = bool(shaping) and weight(shaping[0].site.conditions) == 0
        steps = calls
        if onward.works and not (onward.strange and (arranges or (not real and _own_types(ways, defined)))):
            if not self.callees.composed(reach.operators, operator):
                steps = [*before(calls, defined, onward.steps), *onward.steps]
        elif real or ways:
            steps = self._ways([*real, *plain], defined, operator, key) if real else [*self._ways(plain or ways[:1], defined, operator, key), *calls[:BEFORE]]
        steps = steps or self._virtual(defined, key) or self._carried_on(defined, operator, key)
        return Below(once(steps), works=onward.works or bool(ways) or arranges, complete=onward.complete)

    def _stem(self, base: str) -> str:
        """The longest part of an operator's name, of two words at least, that is another operator's: `batch_norm` of
        `_batch_norm_with_update`; of a derivative's name only a derivative's.
        """
        known = self._stems.get(base)
        if known is None:
            words = base.strip("_").split("_")
            parts = ("_".join(words[a : a + n]) for n in range(len(words) - 1, 1, -1) for a in range(len(words) - n + 1))
            alike = (part for part in parts if ("backward" in base) is ("backward" in part))
            known = self._stems[base] = next((part for part in alike if self.tree.by_name.of_base(part)), "")
        return known

    def beyond(self, defined: Defined, operator: Operator, key: str) -> Below:
        """How a chain continues below a composite that another operator calls: through the called operator whose name is, or contains a part
        of, the composite's. `works` says whether any of the called operators gets to the device.
        """
        onward = self.callees.onward(self.tree.search(key).reach(defined).operators, defined, operator, key)
        return replace(onward, steps=()) if onward.strange else onward

    # --- ways -----------------------------------------------------------------------------------------------------

    def _ways(self, ways: list[Way], defined: Defined, operator: Operator, key: str) -> list[Step]:
        """The main way in full, then the ends of the others."""
        main = ways[0]
        device = device_of_key(key)
        steps = way_steps(main, self._metal(main, defined))
        for passed, runner in self._runners(main, defined, device) if main.site.library == GRAPH else ():
            steps.insert(passed if len(main.hops) <= HOPS else 0, runner)
        for number, chooser in enumerate(self._choosers(main, device)):
            steps.insert(min(len(main.hops), HOPS) + number, definition_step("kernel", chooser, "chooses the kernel that a lambda launches"))
        if main.registration is not None:
            steps.extend(self._kernel_of(main.registration, main, operator, key, full=True))
        elif main.site.kind == "stub":
            steps.extend(ufunc_kernel(self.tree, main.site.name.removesuffix("_stub"), device))
        elif main.site.kind == "dispatch":
            called = [*self._dispatched(main, device)]
            itself = not called and main.hops and self.tree.graph(device).loops(main.at)
            steps.extend([definition_step("device", main.at, "loops over elements itself")] if itself else called)
        steps.extend(self._overriders(main, defined, device))
        others, more = beside(ways)
        stages = [(shared, way) for way in others if (shared := self._stage(way, main, defined, device)) is not None]
        for shared, way in reversed(stages):
            steps[shared:shared] = self._end_of(way, defined)
        earlier = [way for _, way in stages]
        steps += self._others([w for w in others if w not in earlier], main, defined, operator, key, STEPS - 3 - len(steps))
        return and_more(steps) if more else steps

    def _stage(self, way: Way, main: Way, start: Defined, device: str) -> int | None:
        """The number of functions that a way shares with the main one, where it is put on a GPU's stream before that whenever that is; what
        only keeps books is no stage.
        """
        if device != "cuda" or len(main.hops) > HOPS or way.site.alone or not {way.site.kind, main.site.kind} <= _QUEUED:
            return None
        if not set(way.site.conditions) <= set(main.site.conditions):
            return None
        shared = next((n for n, (a, b) in enumerate(zip(way.hops, main.hops, strict=False)) if a is not b), min(len(way.hops), len(main.hops)))
        sites = self.tree.graph(device).sites((start, *main.hops)[shared])
        begun = [w.site.order if len(w.hops) == shared else next((s.order for s in sites if w.hops[shared] in s.targets), -1) for w in (way, main)]
        return shared if 0 <= begun[0] < begun[1] else None

    def _others(self, others: list[Way], main: Way, start: Defined, operator: Operator, key: str, room: int) -> Iterator[Step]:
        """The ends of the ways beside the main one: each in short while there is room, then those of further stubs in full."""
        library = main.site.kind == "library"  # what runs without it is told in full
        blocks: list[list[Step]] = []
        further: list[list[Step]] = []
        cut = False
        for way in others:
            if cut := sum(map(len, blocks)) > room:
                break
            if way.registration is None:
                if end := [*self._end_of(way, start)]:
                    blocks.append(end)
                    further.append([])
                continue
            usual = not is_rare(way.site.conditions)
            kernel = self._kernel_of(way.registration, way, operator, key, full=usual)
            short = len(kernel) if library and usual else 1
            blocks.append([*stub_steps(way.site, way.registration), *kernel[:short]])
            further.append(kernel[short:])
            library = False
        room -= sum(map(len, blocks)) + SPARED
        for number, (block, more) in enumerate(zip(blocks, further, strict=True), 1):
            *shown, last = *block, *_shortened(more, min(room, SECOND - 1))
            yield from shown
            notes = (last.note, _GOES_ON if len(shown) + 1 < len(block) + len(more) else "", MORE if cut and number == len(blocks) else "")
            yield replace(last, note="; ".join(filter(None, notes)))
            room -= len(more[: SECOND - 1])

    def _runners(self, way: Way, start: Defined, device: str) -> Iterator[tuple[int, Step]]:
        """The function of the file that is handed the block in which a graph is built, and runs it: `binaryOpTensor(…,
        ^BinaryOpFn(…) {…})`, or a variable that holds the block; with the number of functions passed before. The node itself may
        stand in a function that the block calls.
        """
        for passed, (body, entered) in enumerate(zip((start, *way.hops), (*way.hops, None), strict=True)):
            sites = self.tree.graph(device).sites(body)
            lines = [way.site.line] if entered is None else [s.line for s in sites if entered in s.targets]
            blocks = self.tree.bodies.variables(body).blocks
            for site in sites:
                if site.kind != "helper" or site.call is None or entered in site.targets or not is_source(site.targets[0].path):
                    continue
                if not lines or site.call.end_line < lines[0]:
                    continue
                around = site.call.line <= lines[0] and any(a.startswith(("^", "[")) for a in site.call.arguments)
                if around or not blocks.isdisjoint(site.call.arguments):
                    yield passed, definition_step("kernel", site.targets[0], "runs the block that it is handed")
                    return

    def _choosers(self, way: Way, device: str) -> tuple[Defined, ...]:
        """The functions that choose a kernel for a launch which has only a name for it: `kernel_fn<<<…>>>(p)` in a lambda."""
        kernel = way.site.targets[0] if way.site.kind == "launch" and way.site.targets else None
        return self.tree.graph(device).handed.choosers(kernel, way.at) if kernel is not None and kernel.name != bare(way.site.name) else ()

    def _end_of(self, way: Way, start: Defined) -> Iterable[Step]:
        """The end of a way beside the main one; a Metal kernel only when its name can be told, and a lambda of another file with
        the function that it stands in: `vfloor` of aten/src/ATen/cpu/vml.h.
        """
        metal = self._metal(way, start)
        if way.site.kind == "metal" and not metal:
            return ()
        around = [definition_step("kernel", way.at)] if way.site.kind == PLAIN and way.site.given and way.at.path != start.path else []
        return (*around, *end_steps(way, metal))

    def _dispatched(self, way: Way, device: str) -> Iterable[Step]:
        """What a switch over types calls for each of them, where no loop of a known kind runs: functions of the same file."""
        after = [s for s in self.tree.graph(device).sites(way.at) if s.order > way.site.order]
        until = next((s.order for s in after if s.kind == "dispatch"), 10**9)
        for site in after:
            if site.kind == "helper" and site.order < until and site.targets[0].path == way.at.path:
                yield definition_step("kernel", site.targets[0], "", site.branch)

    def _overriders(self, main: Way, start: Defined, device: str) -> Iterable[Step]:
        """Where the way leads through a virtual call: the other classes that it may enter."""
        graph = self.tree.graph(device)
        for body, entered in zip((start, *main.hops), main.hops, strict=False):
            for site in graph.sites(body):
                if site.base and entered in site.targets:
                    for other in site.targets:
                        if other is not entered:
                            yield definition_step("kernel", other, f"or this one: the class of the {site.base} decides")

    def _virtual(self, start: Defined, key: str) -> list[Step]:
        """The overriders that a virtual call of the entry itself may enter, when none of them gets any further."""
        sites = (s for s in self.tree.graph(device_of_key(key)).sites(start) if s.base)
        return [definition_step("kernel", t, f"the class of the {s.base} decides", s.branch) for s in sites for t in s.targets]

    def _carried_on(self, start: Defined, operator: Operator, key: str) -> list[Step]:
        """Where nothing else is known of an operator's work: the functions that its body, and theirs, call in any case and that bear
        its name, outside the kernels' own code too: `empty_cpu`, `at::detail::empty_cpu`, `empty_generic`.
        """
        shape = self.tree.by_name.shapes.get(operator.name)
        if shape is not None and shape.view:
            return []
        device = device_of_key(key)
        steps: list[Step] = []
        body: Defined | None = start
        while body is not None and len(steps) < CARRIED:
            passed = {(start.path, start.line), *((s.path, s.line) for s in steps)}
            calls = (s for s in self.tree.bodies.of(body).spots if s.call.form == "call" and not weight(s.conditions))
            named = (s for s in calls if name_words(bare(s.call.name)) & name_words(operator.base))
            found = (d for s in named for d in self.tree.names(device).functions(s.call.name, s.scope, s.handed.number)[:1])
            body = next((d for d in found if is_source(d.path) and (d.path, d.line) not in passed), None)
            if body is not None:
                steps.append(definition_step("kernel", body))
        return steps

    def _metal(self, way: Way, start: Defined) -> list[Given]:
        """The Metal kernels that a way asks for, their names put together from literals on the way."""
        if way.site.kind != "metal":
            return []
        bodies = (start, *way.hops)
        told = (c for d in bodies for c in d.whole.calls if member(c.name) not in METAL_REQUESTS)  # what these ask for is known by condition
        requests = self.tree.graph("mps").handed.requests
        written = frozenset[str]().union(*map(requests.written, bodies))
        given = dict.fromkeys(t for c in told for a in c.arguments for t in LITERALS.findall(a) if t and " " not in t and t not in written)
        variables = [self.tree.bodies.variables(d) for d in bodies if d.use is None]
        held = dict.fromkeys(t for v in variables for t in v.literals)
        sides = [t for v in variables for t in v.sides]
        metal = self.tree.metal
        whole = [name] if (name := way.site.pattern) and name == unnamed(name) else []  # told by what calls hand over
        found = metal.find(whole, (), (*held, *sides)) or metal.find(way.site.texts, given, (*held, *sides)) or metal.find(way.site.texts, held, (*given, *sides))
        return [step for kernel in found[:3] for step in (kernel, *metal.functors(kernel))]

    def _kernel_of(self, registration: StubRegistration, called: Way, operator: Operator, key: str, *, full: bool) -> list[Step]:
        """The kernel that a registration names and, in full, its way to the device; that of a stub called for the CPU stays there."""
        key = "CPU" if registration.device == "cpu" != device_of_key(key) else key
        kernel = self.kernel_of(registration, key)
        if kernel is None:
            return []
        steps = [definition_step("kernel", kernel)]
        if not full:
            return steps
        reach = self.tree.search(key).behind_stub(called.site, kernel, called.at)
        near = (w for w in reach.ways if w.cost < FAR and w.site.kind != "dispatch" and w.registration is not registration)
        names = names_in_kernel(called.site.call.arguments[1:], kernel, operator.schema) if called.site.call is not None else ()
        ways = ordered(near, operator, kernel, self._stem(operator.base), names)
        ways.sort(key=lambda w: w.site.kind == PLAIN)
        number = next((n for n, w in enumerate(ways) if not converts(w.site.conditions) and w.site.kind != PLAIN), 0)
        ways[: number + 1] = [*ways[number : number + 1], *ways[:number]]  # copies between types come after those of one
        if not ways or ways[0].site.kind == PLAIN:
            onward = self.callees.onward(reach.operators, kernel, operator, key)
            calls = self.callees.shown(reach.operators, kernel, key)
            if onward.works:
                return trimmed([*steps, *before(calls, kernel, onward.steps), *onward.steps], STEPS - 1)
            if not ways:
                return steps + calls[:4]
        steps.extend(way_steps(ways[0], self._metal(ways[0], kernel)))
        if ways[0].registration is not None:
            inner = self.kernel_of(ways[0].registration, key)
            steps.extend([definition_step("kernel", inner)] if inner is not None else [])
        others, more = beside(ways)
        for way in others:
            if way.registration is None:
                steps.extend(self._end_of(way, kernel))
        return trimmed(and_more(steps) if more else steps, STEPS - 3)

    def kernel_of(self, registration: StubRegistration, key: str) -> Defined | None:
        """The definition of the function that a stub's registration names."""
        device = device_of_key(key)
        namespace = tuple(p for p in registration.use.namespace.split("::") if p and "anonymous" not in p)
        name = registration.kernel.partition("<")[0].strip("& ()")
        found = self.tree.names(device).functions(name, Scope(registration.path, namespace))
        return found[0] if found else None

    def _sides(self, ways: list[Way], key: str) -> Iterator[Step]:
        """The stubs that sides of a switch call, with their kernels: none of them is the main way."""
        for way in ways:
            if way.registration is not None and not way.hops and is_switched(way.site.conditions):
                yield from stub_steps(way.site, way.registration)
                if (kernel := self.kernel_of(way.registration, key)) is not None:
                    yield definition_step("kernel", kernel)


def _without(steps: Iterable[Step], others: Iterable[Step]) -> list[Step]:
    """Steps without those that stand among others, whatever their notes and conditions."""
    taken = {(s.role, s.symbol, s.path, s.line) for s in others}
    return [s for s in steps if (s.role, s.symbol, s.path, s.line) not in taken]


def _shortened(steps: list[Step], most: int) -> list[Step]:
    """As many of the first steps of a way, the code on the device among them."""
    end = next((n for n, step in enumerate(steps) if step.role in ("device", "library")), 0)
    return [*steps[: most - 1], steps[end]] if end >= most > 0 else steps[: max(0, most)]


def _own_types(ways: list[Way], start: Defined) -> bool:
    """Whether a body, or a function of its file that it calls, switches over types whatever the case."""
    switch = next((way for way in ways if way.site.kind == "dispatch"), None)
    return switch is not None and switch.at.path == start.path and weight(switch.site.conditions) == 0


def _of(hop: Defined, operator: Operator) -> bool:
    """Whether a function's name says that it does the work of an operator: `norm`, `_norm` and `norm_out_impl` of `norm`."""
    name, base = hop.name.strip("_"), operator.base.strip("_")
    return name.startswith(base) and _PART.fullmatch(name, len(base)) is not None
