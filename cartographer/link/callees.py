# SPDX-License-Identifier: BSD-3-Clause
"""Judges the operators that a body calls: which of them are shown, which are beside the body's own way, and which one is the work itself.

What tells is whether a call runs in any case, whether its operator bears the caller's name, and how many others call it: what
everybody calls is a tool.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.link.choice import BRANCHES, base_of, name_words, other_types
from cartographer.link.conditions import is_rare, is_switched, of_few_types, on_other_side, text, together, weight
from cartographer.link.costs import is_check
from cartographer.link.defaults import by_default
from cartographer.link.steps import (
    BEFORE,
    UNSERVED,
    call_step,
    definition_step,
    noted,
    once,
    served,
    trimmed,
)
from cartographer.link.ways import OperatorCall
from cartographer.model.backend import DENSE, MAIN, device_of_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined
    from cartographer.link.tree import Tree
    from cartographer.link.ways import Way
    from cartographer.model.operator import Operator, Step

SWITCH = 3  # so many operators called under `case` labels make a choice at run time
CALLS = 16  # operators shown that a body calls
COMPOSED = 2  # a body that calls more operators of its own is composed of them
STEPS = 17  # the longest way that is shown
BESIDES = 5  # operators shown that an entry calls besides its own way
COMMON = 30  # an operator that so many others call is a tool, not the work itself
COMPOSITE = frozenset(("math kernel", "nested kernel", "catch all"))  # the dispatcher's words for what serves a composite
_UNSUPPORTED = re.compile(r"!\w*supported")


@dataclass(frozen=True, slots=True)
class Below:
    """The steps below an entry; `works` says that device code, or a stub that leads to it, is among them."""

    steps: tuple[Step, ...] = ()
    works: bool = False
    complete: bool = True  # False: an operator on the way was being worked out itself
    strange: bool = False  # the steps are those of a called operator of quite another name


@dataclass(frozen=True)
class Callees:
    """Judges called operators; `work_of` gives the steps of one on a key (None while they are being computed), `callers` tells how many
    bodies call it, `questions` are the operators that read no data of a tensor.
    """

    tree: Tree
    work_of: Callable[[Operator, str], Below | None]
    callers: Callable[[str], int]
    questions: Collection[str] = ()

    def here(self, calls: tuple[OperatorCall, ...], key: str) -> tuple[OperatorCall, ...]:
        """The calls on this device: those that no condition reserves for another one."""
        search = self.tree.search(key)
        return tuple(c for c in calls if not search.aside(c.site))

    def switches(self, main: Way, calls: tuple[OperatorCall, ...], key: str) -> bool:
        """Whether the main way is only one case of a switch over backends whose other cases call operators."""
        called = [c.site for c in self.here(calls, key) if not c.hops and c.site.called is not None and self.callers(c.site.called.main) <= COMMON]
        labels = {condition for site in called for condition in site.conditions if condition.startswith("case ")}
        return not main.hops and is_switched(main.site.conditions) and len(labels) >= SWITCH

    def shown(self, calls: tuple[OperatorCall, ...], start: Defined, key: str) -> list[Step]:
        """The steps for the operators that a body calls, each with the helper of the same file that contains the call. Operators that only ask
        about a tensor are left out; so are views, and operators that return no tensor, when there are many others.
        """
        if not calls:
            return []
        shapes = self.tree.by_name.shapes
        chosen = [c for c in calls if c.site.called is not None and c.site.called.main not in self.questions]
        elsewhere = self.tree.search(key).elsewhere
        chosen = self._by_rank(chosen, key)
        chosen.sort(key=lambda c: elsewhere(c.site))  # those for a second tensor of another layout last
        near = [c for c in chosen if len(c.hops) <= 2 + any(h.use is not None for h in c.hops) and all(h.path == start.path for h in c.hops[1:])]
        near = near or [c for c in chosen if len(c.hops) <= 3]
        if len(near) > CALLS:
            near = [c for c in near if c.site.called is not None and not (shapes[c.site.called.main].view or shapes[c.site.called.main].metadata)] or near
        if len(near) > CALLS:
            near = [c for c in near if len(c.hops) <= 1] or near
        if len(near) > CALLS:
            near = [c for c in near if not c.is_sign] or near
        steps: list[Step] = []
        for call in near[:CALLS]:
            if call.hops:
                steps.extend(definition_step("kernel", hop, "", text(conditions)) for hop, conditions in self._entered(start, call.hops[:3], key))
            steps.append(self._step(call, key))
        return list(once(steps))

    def _by_rank(self, calls: list[OperatorCall], key: str) -> list[OperatorCall]:
        """Calls of the sides of a switch over what the context lists in order, in this order; all others where they stand."""
        if sum(is_switched(c.site.conditions) for c in calls) <= 1:
            return calls
        rank = self.tree.graph(device_of_key(key)).constants.usual.settings.rank
        ranked = [(r, n) for n, c in enumerate(calls) if c.site.conditions and (r := rank(c.site.conditions)) is not None]
        places = {n: calls[m] for (_, m), n in zip(sorted(ranked), sorted(n for _, n in ranked), strict=True)}
        return [places.get(n, c) for n, c in enumerate(calls)]

    def for_others(self, calls: tuple[OperatorCall, ...], start: Defined, key: str) -> list[Step]:
        """The operators that a composite, which has one body for all devices, calls for dense tensors of other devices, and for tensors of
        another layout.
        """
        if key not in DENSE:
            return []
        sites = self.tree.graph(device_of_key(key)).sites(start)
        here, elsewhere = {c.site.called.operators for c in calls if c.site.called is not None}, self.tree.search(key).elsewhere
        others = [OperatorCall(s, ()) for s in sites if s.called is not None and s.called.operators not in here and elsewhere(s)]
        return self.shown(tuple(others), start, key)[:BEFORE]

    def _entered(self, start: Defined, hops: tuple[Defined, ...], key: str) -> Iterator[tuple[Defined, Conditions]]:
        """The functions that are passed one after the other from a body on, each with the conditions under which it is entered."""
        entering = self.tree.search(key).entering
        conditions: Conditions = ()
        for body, hop in zip((start, *hops), hops, strict=False):
            conditions = together(conditions, entering(body, hop))
            yield hop, conditions

    def composed(self, calls: tuple[OperatorCall, ...], operator: Operator) -> bool:
        """Whether a body is composed of several operators, none of which is the work itself."""
        names = {c.site.called.main for c in calls if c.site.called is not None and len(c.hops) <= 1 and not c.is_sign}
        if any(name_words(operator.base) & name_words(base_of(n)) for n in names):
            return False  # one of them bears its name, or a part of it
        shapes = self.tree.by_name.shapes
        return len({base_of(n) for n in names if not shapes[n].metadata and not shapes[n].view and self.callers(n) <= COMMON}) > COMPOSED

    def _step(self, call: OperatorCall, key: str) -> Step:
        """The step of a call, which says so when the operator has no kernel for this key."""
        step, called = call_step(call), call.site.called
        return served(step, key, called.operators, self.tree.by_name.by_name) if key in MAIN and called is not None else step

    def beside(self, calls: tuple[OperatorCall, ...], operator: Operator, key: str) -> list[Step]:
        """The operators whose name contains this operator's and that the entry calls under conditions of run time:
        `at::cudnn_batch_norm_backward` beside the kernels of `batch_norm_backward`.
        """
        own = operator.base.strip("_")
        shapes = self.tree.by_name.shapes
        return [
            self._step(c, key) for c in calls
            if c.site.called is not None and not c.hops and c.site.branch and own in base_of(c.site.called.main) != own
            and not shapes[c.site.called.main].metadata
        ][:BRANCHES]  # fmt: skip

    def roads(self, calls: tuple[OperatorCall, ...], main: Way, start: Defined, operator: Operator, key: str) -> list[tuple[Step, int]]:
        """The operators whose call is an alternative to the main way: the entry returns after it, `if (…) { self.scatter_add_(…); return; }`, or it is
        on the other side of an `if` around the main way; the latter with the number of functions of the way before it, the former
        with -1. When there are many, those that the fewest other operators call.
        """
        left = {way_out.condition for way_out in start.whole.exits}
        sides = [c for c in calls if c.site.conditions and c.hops == main.hops[: len(c.hops)] and not c.is_sign] if main.site.conditions else ()
        there = {id(c) for c in sides if _opposed(c, main) and _takes_tensors(self._target(c, operator))}
        near = (c for c in calls if id(c) in there or (not c.hops and not left.isdisjoint(c.site.conditions)))
        found = [c for c in near if not is_rare(c.site.conditions) and self._is_work(c, operator, key, dense=id(c) in there)]
        ranked = sorted(found, key=lambda c: (c.is_sign, self.callers(self._target(c, operator).name), c.site.conditions[-1] not in left))
        return [(self._step(c, key), len(c.hops) if id(c) in there else -1) for c in found if c in ranked[:BESIDES]]

    def for_most_types(self, calls: tuple[OperatorCall, ...], main: Way, operator: Operator, key: str) -> Below:
        """The chain of the operator that the entry itself calls for the types that most tensors have, when the main way is for other types:
        `if (!self.is_complex()) { return at::dot(self, other); }`.
        """
        for call in calls if any(map(of_few_types, main.site.conditions)) else ():
            if call.hops or not other_types(main, call):
                continue
            target = self._target(call, operator)
            below = self.work_of(target, key)
            if below is None:
                return Below(complete=False)
            if below.works:
                steps = tuple(noted(s, f"of {target.name}") for s in below.steps)
                return Below((self._step(call, key), *trimmed(list(steps), STEPS - 3)), works=True)
        return Below()

    def own(self, calls: tuple[OperatorCall, ...], start: Defined, operator: Operator, key: str) -> list[Step]:
        """The operators that the entry itself, or a function of its file, calls in any case besides its own way: those that do
        part of the work and are not called everywhere.
        """
        near = (c for c in calls if not c.hops or (len(c.hops) == 1 and c.hops[0].path == start.path))
        found = [c for c in near if c.site.called is not None and _in_any_case(c, operator) and self._does_work(self._target(c, operator), operator, key)]
        return [s for c in found[:BESIDES] for s in (*(definition_step("kernel", h) for h in c.hops), self._step(c, key))]

    def _is_work(self, call: OperatorCall, operator: Operator, key: str, *, dense: bool) -> bool:
        """Whether a called operator is work of its own; with `dense` also where it works on the dense tensors in those of another layout, be it
        the operator itself: `at::cat` of what was quantized.
        """
        target = self._target(call, operator)
        if self._does_work(target, operator, key):
            return True
        plain, own = device_of_key(key).upper(), base_of(target.name) == operator.base.strip("_")
        if not dense or key in DENSE or plain not in DENSE or (target.dispatch.get(key) == "kernel" and not own):
            return False
        return self._does_work(target, operator, plain, itself=True)

    def _does_work(self, target: Operator, operator: Operator, key: str, *, itself: bool = False) -> bool:
        """Whether a called operator is work of its own: no view, no question, nothing that many call."""
        shape, same = self.tree.by_name.shapes[target.name], base_of(target.name) == operator.base.strip("_")
        if shape.view or shape.metadata or (same and not itself) or (self.callers(target.name) > COMMON and not (same and itself)):
            return False
        below = self.work_of(target, key) if not is_check(target.base) else None
        return below is not None and below.works

    def onward(self, calls: tuple[OperatorCall, ...], defined: Defined, operator: Operator, key: str) -> Below:
        """The chain of the called operator that is the work itself: one with a name like this operator's, else the first that is
        not called everywhere and gets to the device.
        """
        search = self.tree.search(key)
        candidates = [c for c in calls if c.site.called is not None and len(c.hops) <= 2 and not search.aside(c.site)]
        if defined.device:  # written for one device: what it calls from everywhere are tools
            candidates = [c for c in candidates if c.site.called is not None and self.callers(c.site.called.main) <= COMMON]
        complete = True
        for call in sorted(candidates, key=self._nearness(operator, key)):
            target = self._target(call, operator)
            if not self._may_be_the_work(call, target, operator, key):
                continue
            if target.dispatch.get(key) in UNSERVED and _bears_name(target, operator):
                break  # what is named like it has no kernel here: none of the others is the work
            below = self.work_of(target, key)
            if below is None:
                complete = False
            elif below.works:
                steps = tuple(noted(s, f"of {target.name}") for s in below.steps)
                return Below(tuple(trimmed(list(steps), STEPS - 3)), True, complete, _strange(target, operator, key))
        return Below(complete=complete)

    def _nearness(self, operator: Operator, key: str) -> Callable[[OperatorCall], tuple[bool, bool, bool, bool, bool, int, bool]]:
        """Sorts calls of operators: those named like this operator first, then those that share a word; the way back for what leads
        forward, signs, tools and special cases last.
        """
        root = operator.base.strip("_")

        def order(call: OperatorCall) -> tuple[bool, bool, bool, bool, bool, int, bool]:
            target = self._target(call, operator)
            special, back = not _in_any_case(call, operator), "backward" in target.base and "backward" not in root
            common = self.callers(target.name) > COMMON
            return (base_of(target.name) != root, _strange(target, operator, key), back, call.is_sign, common, len(call.hops), special)

        return order

    def _target(self, call: OperatorCall, operator: Operator) -> Operator:
        """The operator that a call means, of several equally likely ones not the caller itself."""
        assert call.site.called is not None
        name = next((n for n in call.site.called.operators if n != operator.name), call.site.called.main)
        return self.tree.by_name.by_name[name]

    def _may_be_the_work(self, call: OperatorCall, target: Operator, operator: Operator, key: str) -> bool:
        """Whether a called operator may be what another one is for: no check, nothing that only looks at its tensors unless both
        do, and of composites with quite another name, which often are tools, only what the body itself calls in any case.
        """
        if target.name == operator.name or is_check(target.base):
            return False
        if _strange(target, operator, key):
            shapes = self.tree.by_name.shapes
            own = shapes.get(operator.name)  # none where its schema cannot be read
            if shapes[target.name].metadata and not (own is not None and own.metadata):
                return False
            if target.dispatch.get(key) in COMPOSITE and (call.hops or weight(call.site.conditions) > 0 or self.callers(target.name) > COMMON):
                return False
        return key in DENSE or (base_of(target.name) == operator.base.strip("_") and target.dispatch.get(key) == "kernel")


def _opposed(call: OperatorCall, main: Way) -> bool:
    """Whether a call stands on the other side of an `if` around a way, with what is supported."""
    return on_other_side((c for c in call.site.conditions if not _UNSUPPORTED.search(c)), main.site.conditions)


def _takes_tensors(operator: Operator) -> bool:
    """Whether an operator is given a tensor to work on."""
    return "Tensor" in operator.schema.partition("->")[0]


def _in_any_case(call: OperatorCall, operator: Operator) -> bool:
    """Whether an operator is called under no special condition, or under such as the defaults of the arguments meet."""
    return round(weight(call.site.conditions) + by_default(call.site.conditions, operator.schema), 3) <= 0


def _strange(target: Operator, operator: Operator, key: str) -> bool:
    """Whether a called operator's name tells nothing of the other one's: no word is in both. For a composite, which may be a
    tool, one word is not enough.
    """
    if target.dispatch.get(key) in COMPOSITE:
        return not _bears_name(target, operator)
    return base_of(target.name) != operator.base.strip("_") and not name_words(base_of(target.name)) & name_words(operator.base)


def _bears_name(target: Operator, operator: Operator) -> bool:
    """Whether all words of one operator's name are in the other's: `softmax` and `safe_softmax`."""
    called, own = name_words(base_of(target.name)), name_words(operator.base)
    return base_of(target.name) == operator.base.strip("_") or (bool(called & own) and (called <= own or own <= called))
