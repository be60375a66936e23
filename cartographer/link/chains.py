# SPDX-License-Identifier: BSD-3-Clause
"""Makes the chain of each operator on each backend: from the function that the dispatcher calls to the code that runs.

A chain is a path of the steps that matter. Where run time decides, the main way comes first and the others follow as
branches. Operators without device code of their own show the operators that their body calls; where one of these
is plainly the work itself, the chain goes on through it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.link.bound import bound_by
from cartographer.link.callees import COMPOSITE, STEPS, Below, Callees
from cartographer.link.descent import Descent
from cartographer.link.fallbacks import Fallbacks
from cartographer.link.generated import generated_steps
from cartographer.link.index import CLASSES, bare
from cartographer.link.platforms import DEVICES
from cartographer.link.questions import questions
from cartographer.link.raising import IN_CUDA, note_of_error, only_raises, raising
from cartographer.link.redispatch import sent_on
from cartographer.link.sending import packed, unpacked
from cartographer.link.steps import definition_step, noted, served, trimmed
from cartographer.model.backend import FIRST, MAIN, device_of_key
from cartographer.model.dispatch import ALIASES
from cartographer.model.operator import Chain, Operator, Origin, Registration, Status, Step
from cartographer.processes import beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.link.bound import Bound
    from cartographer.link.index import Defined
    from cartographer.link.redispatch import Sent
    from cartographer.link.tree import Tree
    from cartographer.model.location import Location

KEYS = (  # whose chains are followed also where another key's kernel serves them
    *FIRST, "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA", "QuantizedCPU", "QuantizedCUDA",
    "MkldnnCPU", "NestedTensorCPU", "NestedTensorCUDA",
)  # fmt: skip
DECORATORS = 20  # lines that a Python function's decorators may take
_LAYOUTS = {"CUDA": ("QuantizedCUDA", "SparseCUDA", "SparseCsrCUDA", "NestedTensorCUDA"), "CPU": ("QuantizedCPU", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU")}
_SECOND = ("cuda", "mps")  # devices whose chains take as long as those of all others

def chains_in(tree: Tree, workers: int = 1) -> dict[str, dict[str, Chain]]:
    """The chains of all operators on a prepared tree. Chains of different devices share only the tree and the counted callers,
    so a second process makes about half of them.
    """
    maker = ChainMaker(tree)
    _ = maker.callers, maker.questions
    keys = (*KEYS, *_further(tree.operators))
    first, second = (tuple(k for k in keys if (device_of_key(k) in _SECOND) is chosen) for chosen in (False, True))
    theirs = beside(lambda: packed(maker.of(operator, second) for operator in tree.operators), workers=workers)
    ours = [maker.of(operator, first) for operator in tree.operators]
    return {
        operator.name: {key: chain for key in keys if (chain := mine.get(key) or their.get(key)) is not None}
        for operator, mine, their in zip(tree.operators, ours, unpacked(theirs.result()), strict=True)
    }


@dataclass
class ChainMaker:
    """Makes the chains of operators; parts that several chains share are worked out once."""

    tree: Tree
    _made: dict[tuple[str, str], Chain] = field(default_factory=dict, repr=False)
    _active: set[tuple[str, str]] = field(default_factory=set, repr=False)
    _working: set[tuple[str, str]] = field(default_factory=set, repr=False)  # chains that get to device code
    _raising: dict[str, bool] = field(default_factory=dict, repr=False)  # functions, by name
    _composites: dict[tuple[str, str], Below] = field(default_factory=dict, repr=False)  # where composite operators go on

    def of(self, operator: Operator, keys: Iterable[str] = KEYS) -> dict[str, Chain]:
        """The chains of one operator by dispatch key, for those of the keys on which something serves it."""
        found = {}
        for key in keys:
            outcome = _outcome(operator, key)
            known = key in MAIN and (key in operator.dispatch or not operator.dispatch)  # in this release
            if known or (outcome == "kernel" if key not in KEYS else outcome != "missing"):
                found[key] = self.chain(operator, key)
        return found

    def chain(self, operator: Operator, key: str) -> Chain:
        """The chain of one operator on one dispatch key."""
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
        outcome = _outcome(operator, key)
        registration = serving_registration(operator, key, outcome)
        if outcome in ("missing", "backend fallback", "fallthrough kernel", "fallthrough backend fallback"):
            return self._without(operator, key, outcome)
        if registration is None and outcome == "not in a wheel":
            return Chain(Status.UNRESOLVED, "what C++ registers for it is not in a wheel")
        if registration is None:
            return Chain(Status.UNRESOLVED, f"the dispatch table says {outcome!r}, but no registration for it is known")
        if registration.fallthrough:
            return Chain(Status.NONE, f"fallthrough for {key}: the next key serves it")
        device = device_of_key(key)
        steps = self._without_definition(operator, registration, device)
        if steps is not None:
            return Chain(Status.RESOLVED, None, tuple(self._served(s, key) for s in steps))
        return self._from_source(operator, key, outcome, registration)

    def _served(self, step: Step, key: str) -> Step:
        """A step of code that the build writes: the operator that it calls may have no kernel here."""
        if step.role != "calls" or key not in MAIN:
            return step
        return served(step, key, (step.note.rpartition(": ")[2],), self.tree.by_name.by_name)

    def _without_definition(self, operator: Operator, registration: Registration, device: str) -> tuple[Step, ...] | None:
        """The steps of a kernel that is no C++ function of the tree; None when it should be one."""
        place = registration.place
        if registration.origin is Origin.PYTHON and place is not None:
            return self._python(operator, registration, place)
        steps = generated_steps(self.tree, operator, registration, device)
        if steps is None and place is not None and (registration.kernel or "").startswith(("lambda", "[")):
            return (Step("entry", operator.base, place.path, place.line, "a lambda given to the registration"),)
        return steps

    def _from_source(self, operator: Operator, key: str, outcome: str, registration: Registration) -> Chain:
        """The chain of a kernel that is a function of the tree."""
        entry = self.tree.entries(device_of_key(key)).find(operator, registration)
        if entry.defined is None:
            return Chain(Status.UNRESOLVED, entry.reason if self.tree.has_kernels else "the bodies of kernels are not in a wheel")
        composite = outcome in COMPOSITE
        first = definition_step("entry", entry.defined, entry.reason)
        if only_raises(entry.defined.whole, self._raises):
            twin = self._twin(operator, key, registration, entry.defined)
            note = "; ".join(filter(None, (first.note, IN_CUDA if twin else self._note_of_error(entry.defined))))
            return Chain(Status.RESOLVED, None, (replace(first, note=note), *(twin or self._other_layout(operator, key, outcome))))
        below = self._descent.below(entry.defined, operator, key, composite=composite, bound=self._bound(registration, entry.defined))
        sent = sent_on(self.tree, entry.defined, device_of_key(key)) if registration.boxed else None
        if sent is not None and sent.key in KEYS and sent.key != key:
            return Chain(Status.RESOLVED, None, (first, *self._sent(sent, below, operator, key)))
        if below.works:
            self._working.add((operator.name, key))
            return Chain(Status.RESOLVED, None, (first, *below.steps))
        shape = self.tree.by_name.shapes.get(operator.name)
        if not below.steps and shape is not None and shape.view:
            first = replace(first, note="; ".join(filter(None, (first.note, "a view: sizes, strides and storage, no device code"))))
        return Chain(Status.RESOLVED, None, (first, *below.steps, *self._other_layout(operator, key, outcome)))

    def _note_of_error(self, defined: Defined) -> str:
        return note_of_error(defined.whole, lambda first, last: self.tree.bodies.lines(defined.path, first, last))

    def _raises(self, name: str) -> bool:
        """Whether what a kernel calls first, in any case, does nothing but raise an error."""
        known = self._raising.get(name)
        if known is None:
            known = self._raising[name] = raising(self.tree.index.named(bare(name)), self.tree.bodies.text)
        return known

    def _sent(self, sent: Sent, below: Below, operator: Operator, key: str) -> tuple[Step, ...]:
        """The steps of an operator that its kernel sends on to another key: those there follow what the kernel does besides."""
        self._working.add((operator.name, key))
        inside = sent.inside
        at = Step("calls", sent.call.name, inside.path, sent.call.line, f"the operator itself, on {sent.key}")
        own = [s for s in below.steps if s.role == "calls" and s.path == inside.path and inside.fact.start <= s.line <= inside.fact.end]
        there = [noted(s, f"of {operator.name}; on {sent.key}") for s in self.chain(operator, sent.key).steps]
        return tuple(trimmed([*(definition_step("kernel", hop) for hop in sent.passed), at, *own, *there], STEPS - 1))

    def _bound(self, registration: Registration, defined: Defined) -> Bound:
        """The template arguments that a hand-written registration names."""
        place = registration.place
        if place is None or self.tree.source is None:
            return ()
        name, template = defined.name, defined.fact.template
        if not template and len(defined.segments) > 1:
            name = defined.segments[-2]
            template = next((d.fact.template for d in self.tree.index.named(name) if d.path == defined.path and d.fact.kind in CLASSES), "")
        if not template:
            return ()
        lines = (self.tree.source(place.path) or "").split("\n")[place.line - 1 : place.line + 2]
        return bound_by(lines, name, template)

    def _twin(self, operator: Operator, key: str, registration: Registration, defined: Defined) -> tuple[Step, ...]:
        """Where the CUDA build has only a function that raises: the one of a ROCm build (MIOpen's operators), and what it runs."""
        if key != "CUDA":
            return ()
        twin = self.tree.entries("hip").find(operator, registration).defined
        if twin is None or twin is defined or self.tree.world("cuda").allows(twin.fact.guards) is not False:
            return ()
        steps = (definition_step("entry", twin), *self._descent.below(twin, operator, "HIP", composite=False).steps)
        return tuple(replace(s, branch=" && ".join(filter(None, ("ROCm build", s.branch)))) for s in steps)

    def _other_layout(self, operator: Operator, key: str, outcome: str) -> tuple[Step, ...]:
        """Where the kernel for dense tensors does no work of its own, the one that does it for tensors of another layout."""
        if outcome != "kernel" or key not in _LAYOUTS or "Tensor" not in operator.schema.partition("->")[0]:
            return ()
        for layout in _LAYOUTS[key]:
            if operator.dispatch.get(layout) == "kernel" and (operator.name, layout) not in self._active:
                chain = self.chain(operator, layout)
                if (operator.name, layout) in self._working:
                    return tuple(replace(s, branch=" && ".join(filter(None, (f"{layout} tensors", s.branch)))) for s in chain.steps)
        return ()

    def _without(self, operator: Operator, key: str, outcome: str) -> Chain:
        if outcome == "backend fallback":
            registration = next((r for r in operator.registrations if r.key == key and r.active), None)
            place = registration.place if registration is not None else None
            steps = (Step("entry", registration.kernel or "", place.path, place.line, "fallback"),) if registration is not None and place is not None else ()
            told = self._fallbacks.says(key, operator) or "the backend's, which serves it, or says that nothing does"
            return Chain(Status.NONE, f"no kernel for {key}; its fallback: {told}", steps)
        if outcome.startswith("fallthrough"):
            return Chain(Status.NONE, f"fallthrough for {key}")
        served = sorted(k for k, o in operator.dispatch.items() if o == "kernel" and k in KEYS)
        only = f"; kernels exist for {', '.join(served)}" if served else ""
        return Chain(Status.NONE, f"no kernel for {key}{only}")

    def _python(self, operator: Operator, registration: Registration, place: Location) -> tuple[Step, ...]:
        """A function of Python: where it is defined, and the line that registers it."""
        symbol = registration.kernel or "a Python function"
        module, _, name = symbol.rpartition(".")
        for path in (place.path, f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
            line = self.tree.python_line(path, name, place.line if path == place.path else 0)
            if line is None:
                continue
            if path == place.path and place.line < line <= place.line + DECORATORS:  # a decorator that names the operator
                written = Step("registration", operator.base, place.path, place.line, "registered in Python")
                return (Step("entry", symbol, path, line), written)
            there = "" if (path, line) == (place.path, place.line) else f" at {place}"
            return (Step("entry", symbol, path, line, f"registered in Python{there}"),)
        return (Step("entry", operator.base, place.path, place.line, f"{symbol}, registered in Python"),)

    # --- below the entry ------------------------------------------------------------------------------------------

    @cached_property
    def _fallbacks(self) -> Fallbacks:
        return Fallbacks(self.tree, self._raises)

    @cached_property
    def _descent(self) -> Descent:
        return Descent(self.tree, Callees(self.tree, self._onward, lambda name: self.callers[name], self.questions))

    def _onward(self, operator: Operator, key: str) -> Below | None:
        """The steps of an operator that another one calls; None while it is being worked out itself."""
        if (operator.name, key) in self._active:
            return None
        chain = self.chain(operator, key)
        if chain.status is not Status.RESOLVED:
            return Below(chain.steps)
        if (operator.name, key) in self._working:
            return Below(chain.steps, works=True)
        beyond = self._beyond(operator, key)
        return replace(beyond, steps=(*chain.steps, *beyond.steps))

    def _beyond(self, operator: Operator, key: str) -> Below:
        """Where a composite operator goes on through those that it calls."""
        at = (operator.name, key)
        known = self._composites.get(at)
        if known is None:
            known = Below()
            outcome = _outcome(operator, key)
            registration = serving_registration(operator, key, outcome)
            if outcome in COMPOSITE and registration is not None and registration.origin is Origin.YAML:
                entry = self.tree.entries(device_of_key(key)).find(operator, registration)
                if entry.defined is not None:
                    self._active.add(at)
                    known = self._descent.beyond(entry.defined, operator, key)
                    self._active.discard(at)
            if known.complete:
                self._composites[at] = known
        return known

    @cached_property
    def callers(self) -> Counter[str]:
        """For each operator, the number of operators that call it in their bodies."""
        return Counter(name for called in self._calling.values() for name in called)

    @cached_property
    def questions(self) -> frozenset[str]:
        """The operators that only ask about a tensor (sizes, types, flags) and need none of its data."""
        return questions(self.tree.by_name, self._calling)

    @cached_property
    def _calling(self) -> dict[str, set[str]]:
        """The operators that each operator calls in its bodies for the CPU."""
        found: dict[str, set[str]] = {}
        graph = self.tree.graph("cpu")
        entries = self.tree.entries("cpu")
        for operator in self.tree.operators:
            seen = found[operator.name] = set()
            for registration in operator.registrations:
                if registration.origin in (Origin.YAML, Origin.STRUCTURED) and registration.kernel:
                    entry = entries.find(operator, registration)
                    if entry.defined is not None:
                        seen.update(s.called.main for s in graph.sites(entry.defined) if s.called is not None)
        return found


def _further(operators: Iterable[Operator]) -> list[str]:
    """Keys of other backends whose code the tree has, with kernels of their own: `SparseMeta`, `Vulkan`."""
    return sorted({r.key for o in operators for r in o.registrations if r.active and device_of_key(r.key) in DEVICES}.difference(KEYS))


def _outcome(operator: Operator, key: str) -> str:
    """What serves a key, in the dispatcher's words. A source without DispatchKey.h (before 1.4) has no table; then a kernel
    of the key's own tells or, for the backends that there were, a composite one.
    """
    if operator.dispatch:
        return operator.dispatch.get(key, "missing")
    registered = {registration.key for registration in operator.registrations}
    if key in registered:
        return "kernel"
    if key not in ("CPU", "CUDA"):
        return "missing"
    return next((words for words, names in ALIASES.items() if words != "nested kernel" and registered.intersection(names)), "missing")


def serving_registration(operator: Operator, key: str, outcome: str) -> Registration | None:
    """The registration whose kernel serves a runtime key, found by the dispatcher's word for what serves it."""
    wanted = ALIASES.get(outcome, (key,))
    for name in wanted:
        for registration in operator.registrations:
            if registration.key == name and registration.active:
                return registration
    return None
