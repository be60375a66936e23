# SPDX-License-Identifier: BSD-3-Clause
"""The chain of each operator on each backend: from the function that the dispatcher calls to the code that runs.

A chain is a path of the steps that matter. Where run time decides, the main way comes first and the others follow as
branches. Operators without device code of their own show the operators that their body calls; where one of these
is plainly the work itself, the chain goes on through it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cartographer.link.entries import DEVICE_OF_KEY
from cartographer.link.generated import generated_steps
from cartographer.link.index import bare
from cartographer.link.names import Scope
from cartographer.link.steps import call_step, definition_step, way_steps
from cartographer.link.tree import Tree, tree_of
from cartographer.model.operator import Chain, Operator, Origin, Registration, Status, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.link.index import Defined
    from cartographer.link.reach import OperatorCall, Way
    from cartographer.link.stubs import StubRegistration
    from cartographer.model.fact import FileFacts

KEYS = (
    "CUDA", "CPU", "MPS", "XPU", "Meta", "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA", "QuantizedCPU", "QuantizedCUDA",
    "MkldnnCPU", "NestedTensorCPU", "NestedTensorCUDA",
)  # fmt: skip
MAIN_KEYS = ("CUDA", "CPU", "MPS")  # for these a missing kernel is an answer of its own
_ALIASES = {
    "default backend kernel": ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "DefaultBackend"),
    "math kernel": ("CompositeImplicitAutograd", "Math", "CatchAll"),
    "nested kernel": ("CompositeImplicitAutogradNestedTensor",),
}
BRANCHES = 3  # further ways shown beside the main one
CALLS = 12  # operators shown that a body calls
FAR = 20.0  # a way that costs more leads to another device
COMMON = 30  # an operator that so many others call is a tool, not the work itself


def chains(operators: Iterable[Operator], facts: Mapping[str, FileFacts], source: Callable[[str], str | None] | None = None) -> dict[str, dict[str, Chain]]:
    """The chains of all operators, by name and dispatch key."""
    return chains_in(tree_of(operators, facts, source))


def chains_in(tree: Tree) -> dict[str, dict[str, Chain]]:
    """The same on a tree that is ready."""
    maker = ChainMaker(tree)
    return {operator.name: maker.of(operator) for operator in tree.operators}


@dataclass
class ChainMaker:
    """Makes chains, each part once."""

    tree: Tree
    _made: dict[tuple[str, str], Chain] = field(default_factory=dict, repr=False)
    _active: set[tuple[str, str]] = field(default_factory=set, repr=False)
    _descents: dict[tuple[int, str, bool], tuple[Step, ...]] = field(default_factory=dict, repr=False)
    _callers: Counter[str] | None = None

    def of(self, operator: Operator) -> dict[str, Chain]:
        """The chains of one operator."""
        found = {}
        for key in KEYS:
            outcome = operator.dispatch.get(key, "missing")
            if outcome == "missing" and key not in MAIN_KEYS:
                continue
            found[key] = self.chain(operator, key)
        return found

    def chain(self, operator: Operator, key: str) -> Chain:
        """The chain of one operator on one key."""
        at = (operator.name, key)
        known = self._made.get(at)
        if known is not None:
            return known
        if at in self._active:
            return Chain(Status.UNRESOLVED, "the operators call each other in a circle")
        self._active.add(at)
        made = self._chain(operator, key)
        self._active.discard(at)
        self._made[at] = made
        return made

    def _chain(self, operator: Operator, key: str) -> Chain:
        outcome = operator.dispatch.get(key, "missing")
        if outcome in ("missing", "backend fallback", "fallthrough kernel", "fallthrough backend fallback"):
            return self._without(operator, key, outcome)
        registration = serving_registration(operator, key, outcome)
        if registration is None:
            return Chain(Status.UNRESOLVED, f"the dispatch table says {outcome!r}, but no registration for it is known")
        if registration.fallthrough:
            return Chain(Status.NONE, f"fallthrough for {key}: the next key serves it")
        device = DEVICE_OF_KEY.get(key, "cpu")
        if registration.origin is Origin.PYTHON:
            return self._python(registration)
        if (steps := generated_steps(self.tree, operator, registration, device)) is not None:
            return Chain(Status.RESOLVED, None, steps)
        entry = self.tree.entries(device).find(operator, registration)
        if entry.defined is None:
            return Chain(Status.UNRESOLVED, entry.reason)
        composite = outcome in ("math kernel", "nested kernel")
        first = definition_step("entry", entry.defined, entry.reason)
        return Chain(Status.RESOLVED, None, (first, *self._descent(entry.defined, operator, key, composite=composite)))

    def _without(self, operator: Operator, key: str, outcome: str) -> Chain:
        if outcome == "backend fallback":
            registration = next((r for r in operator.registrations if r.key == key and r.active), None)
            place = registration.place if registration is not None else None
            steps = (Step("entry", registration.kernel or "", place.path, place.line, "fallback"),) if registration is not None and place is not None else ()
            return Chain(Status.NONE, f"no kernel for {key}: the backend's fallback serves it", steps)
        if outcome.startswith("fallthrough"):
            return Chain(Status.NONE, f"fallthrough for {key}")
        served = sorted(k for k, o in operator.dispatch.items() if o == "kernel" and k in KEYS)
        only = f"; kernels exist for {', '.join(served)}" if served else ""
        return Chain(Status.NONE, f"no kernel for {key}{only}")

    def _python(self, registration: Registration) -> Chain:
        if registration.place is None:
            return Chain(Status.UNRESOLVED, "registered in Python at a place that is not known")
        symbol = registration.kernel or "(a Python function)"
        return Chain(Status.RESOLVED, None, (Step("entry", symbol, registration.place.path, registration.place.line, "registered in Python"),))

    # --- below the entry ------------------------------------------------------------------------------------------

    def _descent(self, defined: Defined, operator: Operator, key: str, *, composite: bool) -> tuple[Step, ...]:
        at = (id(defined), key, composite)
        known = self._descents.get(at)
        if known is None:
            made, complete = self._descended(defined, operator, key, composite=composite)
            if not complete:
                return made
            known = self._descents[at] = made
        return known

    def _descended(self, defined: Defined, operator: Operator, key: str, *, composite: bool) -> tuple[tuple[Step, ...], bool]:
        reach = self.tree.search(key).reach(defined)
        ways = [w for w in reach.ways if w.cost < FAR]
        if composite:
            ways = [w for w in ways if w.site.kind in ("stub", "launch", "library") and len(w.hops) <= 1]
            steps = self._ways(ways[:1], key) if ways else []
            steps += self._calls(reach.operators)
            return _once(steps), True
        if ways and not (ways[0].site.kind == "dispatch" and self._works(reach.operators)):
            return _once(self._ways(ways, key)), True
        steps = self._calls(reach.operators)
        onward, complete = self._onward(reach.operators, operator, key)
        if not onward and ways:
            return _once(self._ways(ways, key)), True
        if reach.nulls and not onward:
            steps = [replace(s) for s in steps]
        return _once([*steps, *onward]), complete

    def _works(self, calls: tuple[OperatorCall, ...]) -> bool:
        return False

    def _ways(self, ways: list[Way], key: str) -> list[Step]:
        """The main way in full, then where the others part from it."""
        steps: list[Step] = []
        cheapest = ways[0].cost
        for number, way in enumerate(ways):
            if number > BRANCHES or (number and way.cost > cheapest + 4.0):
                break
            if number and way.site.kind in ("dispatch", "library") and ways[0].site.kind == "stub":
                continue
            steps.extend(way_steps(way, self.tree.stubs))
            if way.registration is not None:
                steps.extend(self._kernel_of(way.registration, key))
        return steps

    def _kernel_of(self, registration: StubRegistration, key: str) -> list[Step]:
        """The kernel that a stub's registration names, and its way to the device."""
        device = DEVICE_OF_KEY.get(key, "cpu")
        namespace = tuple(p for p in registration.use.namespace.split("::") if p and "anonymous" not in p)
        name = registration.kernel.partition("<")[0] if "<" in registration.kernel else registration.kernel
        found = self.tree.names(device).functions(name.strip("& ()"), Scope(registration.path, namespace, device))
        if not found:
            return []
        kernel = found[0]
        steps = [definition_step("kernel", kernel)]
        reach = self.tree.search(key).reach(kernel)
        ways = [w for w in reach.ways if w.cost < FAR and w.site.kind != "dispatch"]
        for number, way in enumerate(ways):
            if number > BRANCHES or way.cost > ways[0].cost + 4.0:
                break
            if way.site.kind == "stub" and number:
                continue
            steps.extend(way_steps(way, self.tree.stubs))
            if way.registration is not None and way.registration is not registration:
                inner = self.tree.names(device).functions(bare(way.registration.kernel), Scope(way.registration.path, namespace, device))
                steps.extend(definition_step("kernel", d) for d in inner[:1])
        if not ways:
            steps.extend(self._calls(reach.operators)[:4])
        return steps

    def _calls(self, calls: tuple[OperatorCall, ...]) -> list[Step]:
        """The operators that a body calls, with the helper that holds the call; questions about tensors left out."""
        shapes = self.tree.by_name.shapes
        chosen = [c for c in calls if c.site.called is not None and not shapes[c.site.called.main].metadata]
        direct = [c for c in chosen if len(c.hops) <= 1] or [c for c in chosen if len(c.hops) <= 3]
        steps: list[Step] = []
        for call in direct[:CALLS]:
            steps.extend(definition_step("kernel", hop) for hop in call.hops[-1:])
            steps.append(call_step(call))
        return steps

    def _onward(self, calls: tuple[OperatorCall, ...], operator: Operator, key: str) -> tuple[list[Step], bool]:
        """The chain of the called operator that is the work itself: named like the operator, else the first that is no
        common tool and gets to the device.
        """
        candidates = [c for c in calls if c.site.called is not None and len(c.hops) <= 2 and not c.site.aside]
        callers = self.callers()
        root = operator.base.strip("_")

        def order(call: OperatorCall) -> tuple[bool, bool, int]:
            assert call.site.called is not None
            name = call.site.called.main
            base = name.partition("::")[2].partition(".")[0].strip("_")
            return (base != root, callers[name] > COMMON, len(call.hops))

        complete = True
        for call in sorted(candidates, key=order):
            assert call.site.called is not None
            target = self.tree.by_name.by_name[call.site.called.main]
            if target.name == operator.name:
                continue
            if (target.name, key) in self._active:
                complete = False
                continue
            chain = self.chain(target, key)
            if chain.status is Status.RESOLVED and any(s.role in ("device", "library", "stub") for s in chain.steps):
                note = f"of {target.name}"
                return [replace(s, note=s.note or note) if s.role == "entry" else s for s in chain.steps], complete
        return [], complete

    def callers(self) -> Counter[str]:
        """How many operators call each operator in their bodies."""
        if self._callers is None:
            counted: Counter[str] = Counter()
            search = self.tree.search("CPU")
            entries = self.tree.entries("cpu")
            for operator in self.tree.operators:
                seen: set[str] = set()
                for registration in operator.registrations:
                    if registration.origin in (Origin.YAML, Origin.STRUCTURED) and registration.kernel:
                        entry = entries.find(operator, registration)
                        if entry.defined is not None:
                            seen.update(s.called.main for s in search.graph.sites(entry.defined) if s.called is not None)
                counted.update(seen)
            self._callers = counted
        return self._callers


def serving_registration(operator: Operator, key: str, outcome: str) -> Registration | None:
    """The registration that serves a runtime key, by the dispatcher's words for it."""
    wanted = _ALIASES.get(outcome, (key,))
    for name in wanted:
        for registration in operator.registrations:
            if registration.key == name and registration.active:
                return registration
    return None


def _once(steps: list[Step]) -> tuple[Step, ...]:
    """Each step once, at its first place."""
    seen: dict[tuple[str, str, str, int], Step] = {}
    for step in steps:
        seen.setdefault((step.role, step.symbol, step.path, step.line), step)
    return tuple(seen.values())
