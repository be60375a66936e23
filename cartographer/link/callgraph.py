# SPDX-License-Identifier: BSD-3-Clause
"""What each call in a function's body is, on the way to one device: a stub, a launch, a callable handed to a launcher,
a vendor library, an operator, or another function of the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from cartographer.link.arguments import first_member, split_template
from cartographer.link.bodies import NOWHERE, SCHEMA, SWITCH
from cartographer.link.bound import Binder, left, template_names
from cartographer.link.conditions import together
from cartographer.link.constants import Constants
from cartographer.link.device import (
    CPU_LOOPS,
    DRIVER,
    METAL_COPIES,
    METAL_REQUESTS,
    MPS_KERNELS,
    PREPARING,
    SHAPING,
    device_named,
    library,
)
from cartographer.link.either import either
from cartographer.link.expansions import Expansions
from cartographer.link.handed import Handed, general
from cartographer.link.hierarchy import is_constructor, is_method
from cartographer.link.index import bare
from cartographer.link.overloads import Overloads, by_type, not_for_float
from cartographer.link.plain import loops_over_elements
from cartographer.link.sites import by_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.link.bodies import Bodies
    from cartographer.link.composites import Called, Operators
    from cartographer.link.conditions import Conditions
    from cartographer.link.constants import Left
    from cartographer.link.guards import World
    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Names
    from cartographer.link.sites import Site, Spot
    from cartographer.link.stubs import Stubs

_CAST = re.compile(r"static_cast<.*>\(&?(at::\w+)\)")
_TO_CPU = re.compile(r"(?:\.|->)(?:cpu\(\)|to\((?:at::|c10::)?kCPU\))")
_OVERRIDERS = 8  # followed and shown
_HANDED_ON = 2  # functions through which a template argument is followed
_CLASSES_AT_MOST = 6  # a method that more classes have tells nothing


@dataclass
class CallGraph:
    """Classifies the calls of every body for one device; each body once."""

    index: Index
    names: Names
    operators: Operators
    stubs: Stubs
    bodies: Bodies
    world: World
    device: str
    _sites: dict[int, tuple[Site, ...]] = field(default_factory=dict, repr=False)
    _by_member: dict[tuple[str, int], tuple[Defined, ...]] = field(default_factory=dict, repr=False)
    _loops: dict[int, bool] = field(default_factory=dict, repr=False)

    @cached_property
    def handed(self) -> Handed:
        """The reader of what calls pass: lambdas, functors, functions, stubs."""
        return Handed(self.index, self.names, self.bodies, self.device)

    @cached_property
    def overloads(self) -> Overloads:
        """The chooser among overloaded functions, by the types of arguments."""
        return Overloads(self.bodies)

    @cached_property
    def binder(self) -> Binder:
        """The reader of the values that calls pass for parameters."""
        return Binder(self.bodies, self.overloads)

    @cached_property
    def constants(self) -> Constants:
        """The conditions that the build settles for this device."""
        return Constants(self.bodies, self.names, self.world)

    @cached_property
    def expansions(self) -> Expansions:
        """The reader of what macros do where a body uses them."""
        return Expansions(self.bodies, self.names, self.stubs, self.handed, self.world, self.device, self._ours)

    def sites(self, defined: Defined) -> tuple[Site, ...]:
        """The sites of one body, in the order of the text."""
        known = self._sites.get(id(defined))
        if known is None:
            known = self._sites[id(defined)] = tuple(self._told(defined))
        return known

    def follows(self, defined: Defined) -> bool:
        """Whether a way may lead through a definition."""
        return self.bodies.follows(defined)

    def loops(self, defined: Defined) -> bool:
        """Whether a function loops over the elements of tensors itself: on a CPU that is the work."""
        known = self._loops.get(id(defined))
        if known is None:
            known = self.device == "cpu" and defined.use is None and self.follows(defined) and loops_over_elements(self.bodies.text(defined))
            self._loops[id(defined)] = known
        return known

    def _told(self, defined: Defined) -> Iterator[Site]:
        body = self.bodies.of(defined)
        settled: dict[tuple[Conditions, Conditions], Left | None] = {}
        for read in body.spots:
            spot = self._on_device(read, settled) if read.conditions or read.call.guards else read
            if spot is None:
                continue
            if spot.handed.stubs:
                yield from self._handed_stubs(spot)
            if spot.call.form == "macro":
                yield from self._macro(spot)
                continue
            site = self._site(spot, body.around)
            if site is not None and site.kind == "metal":
                yield from self.handed.requests.parts(site, spot)
            elif site is not None:
                yield from by_class(site) if site.kind == "helper" and spot.call.form == "method" and len(site.targets) > 1 else self.handed.sides(site, spot)
            if spot.handed.casts:
                yield from self._cast(spot)

    def _site(self, spot: Spot, around: Mapping[str, str]) -> Site | None:
        match spot.call.form:
            case "sign":
                return spot.site("operator", spot.called.written, called=spot.called) if spot.called is not None else None
            case "method":
                return self._method(spot)
            case "launch":
                return self._launch(spot)
            case "message":
                return self._message(spot)
            case _:
                return self._call(spot, around)

    def _handed_stubs(self, spot: Spot) -> Iterator[Site]:
        """The stubs among the arguments of a call, where the function that it enters calls them."""
        for stub in spot.handed.stubs:
            conditions = self._conditions_within(spot, stub.name)
            if conditions is not None:
                yield spot._replace(conditions=conditions).site("stub", stub.name, stub=stub)

    def _conditions_within(self, spot: Spot, handed: str) -> Conditions | None:
        """The conditions under which a function calls what it is handed, or hands it on, those around the call of the function
        included; None when it does neither with these arguments.
        """
        number = next((n for n, a in enumerate(spot.call.arguments) if bare(a.lstrip("&")) == handed), None)
        targets = self._functions(spot, spot.call.name.removeprefix("::")) if number is not None and spot.call.form == "call" else ()
        target = next((d for d in targets if self.follows(d)), None)
        parameters = list(self.bodies.of(target).parameters) if target is not None else []
        if target is None or number is None or number >= len(parameters):
            return spot.conditions
        name = parameters[number]
        calls = [s.conditions for s in self.bodies.of(target).spots if s.call.name == name or name in s.call.arguments]
        bound = self.binder.of(spot.call, spot.inside, target)
        known = [conditions for c in calls if (conditions := left(c, bound)) is not None]
        if not known:
            return None if calls else spot.conditions
        return together(spot.conditions, reduce(either, known))

    def _on_device(self, spot: Spot, settled: dict[tuple[Conditions, Conditions], Left | None]) -> Spot | None:
        """A call under conditions, as the build for this device has it, without those that hold anyway; None when it has not.
        `settled` keeps what was found for other calls of the body: many stand under the same conditions.
        """
        around = (spot.conditions, spot.call.guards)
        if around not in settled:
            settled[around] = self.constants.left(*around, spot.inside)
        found = settled[around]
        if found is None:
            return None
        same = not (found.without or found.unusual) and len(found.conditions) == len(spot.conditions)
        return spot if same else spot._replace(conditions=found.conditions, without=found.without, unusual=found.unusual)

    def _launch(self, spot: Spot) -> Site:
        given = tuple(self.handed.functors(spot))
        kernels = self.handed.kernels(spot.call.name, spot, spot.handed.number)
        return spot.site("launch", spot.call.name, kernels, given=given, alone=tuple(spot.call.launch[:2]) == ("1", "1"))

    def _message(self, spot: Spot) -> Site | None:
        receiver, _, selector = spot.call.name.partition(" ")
        if self.device == "mps" and "raph" in receiver and PREPARING.search(selector) is None:
            return spot.site("library", selector, library="MPSGraph", never=SHAPING.search(selector) is not None)
        if self.device == "mps" and selector == "alloc" and MPS_KERNELS.fullmatch(receiver):
            return spot.site("library", receiver, library="Metal Performance Shaders")
        return None

    def _macro(self, spot: Spot) -> Iterable[Site]:
        if SWITCH.fullmatch(spot.call.name):
            return (spot.site("dispatch", spot.call.name),)
        return self.expansions.sites(spot.call.name, spot.call.arguments, spot)

    def _cast(self, spot: Spot) -> Iterator[Site]:
        """Operators handed over under a cast that picks the overload: `compare(r, a, b, static_cast<OutFunc>(at::eq_out))`."""
        for argument in spot.handed.casts:
            match = _CAST.fullmatch(argument.strip())
            if match is not None and (called := self.operators.referred(match[1], spot.call)) is not None:
                yield spot.site("operator", called.written, called=called)

    # --- calls by name --------------------------------------------------------------------------------------------

    def _call(self, spot: Spot, around: Mapping[str, str]) -> Site | None:
        name = spot.call.name.removeprefix("::")
        if name.startswith(NOWHERE):
            return None
        last = spot.last
        if last in self.stubs and spot.call.form in ("call", "reference") and not self._local_function(last, spot):
            stub = self.stubs.find(name, spot.scope.namespace)
            other = device_named(spot.call.arguments) not in ("", self.device)
            host = other and any(map(_TO_CPU.search, spot.call.arguments))
            return spot.site("stub", last, stub=stub, never=other and not host, host=host)
        if title := self._library(name, spot):
            return spot.site("library", name, library=title)
        if self.device == "mps" and name in METAL_REQUESTS:  # in the library's own methods
            return spot.site("metal", name, texts=self.handed.requests.texts(spot))
        if self.device == "cuda" and (strings := tuple(self.handed.strings(spot))):
            return spot.site("jit", name, given=strings)
        if self.device == "cpu" and last in CPU_LOOPS:
            return spot.site("loop", last, given=self.handed.given(spot) or tuple(self.handed.variables(spot)))
        leads = self.bodies.leading.leads(spot, name)
        if spot.call.form == "call" and name in self.bodies.variables(spot.inside).lambdas:  # what it does stands in this very body
            return self._helper(spot, name, ()) if leads else None
        targets = self._functions(spot, name) if leads and spot.called is None else ()
        if leads and spot.called is None and all(map(is_method, targets)):  # a variable may bear a method's name
            targets = tuple(self.handed.pointed(name, spot)) or targets
        if (called := spot.called or self._operator(spot, name, targets, around)) is not None:
            return spot.site("operator", called.written, called=called)
        return self._helper(spot, name, targets) if leads else None

    def _helper(self, spot: Spot, name: str, targets: tuple[Defined, ...]) -> Site | None:
        """A call of functions of the tree, those included that it is handed as callbacks."""
        if spot.handed.callbacks:
            targets = (*targets, *self.handed.functions(spot, self._run_handed))
        followed = tuple([d for d in targets if self.follows(d)])
        if not followed:
            return None
        given = self.handed.given(spot)
        if not given:
            given = tuple(self.handed.variables(spot))
        if not given and any(d.fact.template for d in followed):
            given = tuple(self.handed.called(spot))
        return spot.site("helper", name, followed, given=given)

    def _library(self, name: str, spot: Spot) -> str:
        """The library that a call enters by its name, or by the class of the object that it calls; "" when it enters none."""
        if self.device == "cuda" and "::" not in name and self.bodies.is_of_cutlass(spot.inside, name):
            return "CUTLASS"
        title = library(name, self.device, spot.call.arguments) if spot.call.form == "call" else ""
        return title if title == "QNNPACK" or (title and not self._ours(name)) else ""  # QNNPACK's sources are in the tree

    def _functions(self, spot: Spot, name: str) -> tuple[Defined, ...]:
        """The functions that a call enters by its name; for a functor, what it runs."""
        if name.startswith("TH") and (bodies := self.index.generic.find(name, spot.call.arguments)):
            return tuple(d for d in bodies if self.names.has(d))[:2]
        if spot.call.form != "construct":
            targets = self.names.functions(name, spot.scope, spot.handed.number)
            if len(targets) == 1 and not is_constructor(targets[0]):
                return targets
            if targets and not is_constructor(targets[0]):
                meant = sorted(self._overload(targets, spot), key=by_type)
                return tuple(d for d in meant if not not_for_float(d) or not_for_float(meant[0]))[:6]
        return tuple(m for c in general(self.names.classes(name, spot.scope)) if self.follows(c) for m in self._run(c, spot))

    def _overload(self, targets: tuple[Defined, ...], spot: Spot) -> tuple[Defined, ...]:
        """Of overloads the one for the types of the arguments; constants may be macros, and count when all take so many."""
        arguments = spot.call.arguments
        if len(targets) < 2 or (spot.handed.number is None and not all(self.names.takes(d, len(arguments)) for d in targets)):
            return targets
        return self.overloads.meant(targets, arguments, spot)

    def _run(self, cls: Defined, spot: Spot) -> tuple[Defined, ...]:
        """What a functor runs; of several call operators the one that takes what it is called with: `Functor<true>()(self, dim)`.
        A graph is built by its constructor.
        """
        runs = self.handed.run_by(cls, spot)
        if not runs and self.device == "mps":
            return self.handed.constructors(cls)
        if len(runs) < 2 or spot.call.arguments or runs[0].name != "operator()":
            return () if runs and runs[0].name != "operator()" and self.handed.is_up_to(cls, spot, self._methods) else runs
        if spot.call.form == "reference":
            handing = (s for s in self.bodies.of(spot.inside).spots if s.call.line == spot.call.line and spot.call.name in s.handed.callbacks)
            return next((self._run_handed(cls, s) for s in handing), runs)
        return self._taking(runs, self.bodies.called_with(spot.call, spot.inside), spot)

    def _taking(self, runs: tuple[Defined, ...], arguments: tuple[str, ...], spot: Spot) -> tuple[Defined, ...]:
        """The call operators that take these arguments; all when that cannot be told."""
        fitting = [d for d in runs if self.names.takes(d, len(arguments))] if arguments else []
        return self.overloads.meant(fitting, arguments, spot) if fitting else runs

    def _run_handed(self, cls: Defined, spot: Spot) -> tuple[Defined, ...]:
        """What a functor runs that a call hands over as a template argument: what the function that it enters calls it with."""
        runs = self.handed.runs(cls)
        if len(runs) < 2 or runs[0].name != "operator()":
            return runs
        entered = [d for s in self._called_as(spot, cls.name) for d in self._taking(runs, s.call.arguments or self.bodies.called_with(s.call, s.inside), s)]
        return tuple(dict.fromkeys(entered)) or runs

    def _called_as(self, spot: Spot, name: str, depth: int = 0) -> Iterator[Spot]:
        """The calls of a template argument in the function that a call enters, or in the one to which that hands it on."""
        number = next((n for n, text in enumerate(split_template(spot.call.template)) if bare(text) == name), None)
        target = next((d for d in self._functions(spot, spot.call.name.removeprefix("::")) if self.follows(d)), None) if number is not None else None
        own = template_names(target.fact.template)[number : number + 1] if target is not None and number is not None else ()
        for inner in self.bodies.of(target).spots if target is not None and own else ():
            if inner.call.name == own[0]:
                yield inner
            elif depth < _HANDED_ON and own[0] in inner.handed.callbacks:
                yield from self._called_as(inner, own[0], depth + 1)

    def _operator(self, spot: Spot, name: str, targets: tuple[Defined, ...], around: Mapping[str, str]) -> Called | None:
        """The operator that a plain name means. Inside at::native it is the native function, if there is one."""
        if any(map(self.follows, targets)) or spot.call.form != "call" or "::" in name or spot.scope.namespace[:1] != ("at",):
            return None
        called = self.operators.function(name, f"at::{name}", spot.call, around) if not spot.call.name.startswith("::") else None
        if called is None or name in around or name in self.bodies.variables(spot.inside):
            return None  # a variable that is called
        return called

    def _ours(self, name: str) -> bool:
        """Whether the tree itself defines a function or class of this plain name for the build, whatever was found when it was
        made ready: then it is a wrapper, no library.
        """
        if "::" in name:
            return False
        return any(d.fact.kind not in ("variable", "alias") and self.world.allows(d.fact.guards) for d in self.index.named(name))

    def _local_function(self, name: str, spot: Spot) -> bool:
        """Whether a function of the same file bears the stub's name."""
        return any(d.path == spot.scope.path and d.fact.kind in ("function", "device") for d in self.index.named(name))

    # --- members --------------------------------------------------------------------------------------------------

    def _method(self, spot: Spot) -> Site | None:
        if spot.called is not None:
            return spot.site("operator", spot.called.written, called=spot.called)
        member = spot.last
        if self.device == "mps" and member in METAL_REQUESTS:
            return spot.site("metal", member, texts=self.handed.requests.texts(spot))
        if self.device == "mps" and member in METAL_COPIES and spot.call.name.strip() == f"stream->{member}":
            return spot.site("library", f"stream->{member}", library="Metal, a blit")
        if self.device == "cpu" and member in CPU_LOOPS:
            return spot.site("loop", member, given=self.handed.given(spot) or tuple(self.handed.variables(spot)))
        if self.device == "cuda" and (title := self._object(member, spot)):
            return spot.site("library", member if title == "CUDA driver" else spot.call.name.strip(), library=title)
        if member == SCHEMA and (called := self.operators.by_schema(spot.call)) is not None:
            return spot.site("operator", called.written, called=called)
        targets, base = self._methods(member, spot)
        return spot.site("helper", member, targets, given=self.handed.given(spot), base=base) if targets else None

    def _object(self, member: str, spot: Spot) -> str:
        """The library whose object runs by this method: a graph of cuDNN's frontend by `execute`, a CUTLASS operation by `run`,
        the driver's functions that are looked up at run time (c10/cuda/driver_api.h) by their names.
        """
        if member == "execute" and any(include.target.startswith("cudnn_frontend") for include in self.index.files[spot.scope.path].includes):
            return "cuDNN"
        if member == "run" and self.bodies.is_of_cutlass(spot.inside, first_member(spot.call.name)):
            return "CUTLASS"
        return "CUDA driver" if DRIVER.fullmatch(member) else ""

    def _methods(self, member: str, spot: Spot) -> tuple[tuple[Defined, ...], str]:
        """The methods that a call of a member can enter; with the class when several override it.

        Where the receiver's class is known, these are the class's own and those of the classes that derive from it; where it is
        not, the methods of this name in the code of kernels that the file can see, unless too many classes have one.
        """
        arguments, hierarchy = len(spot.call.arguments), self.index.hierarchy
        owners = hierarchy.of(self.bodies.receiver(spot), self.names, spot.scope)
        if owners is not None:
            made = self.bodies.made(spot) if len(owners) > 1 else ()
            owners = tuple(o for o in owners if o.name in made) or owners
            found = [d for owner in owners for d in hierarchy.methods(owner, member)]
            found = found or [d for owner in owners[:1] for d in hierarchy.inherited(owner, member)]
            found = [d for d in found if d.device in ("", self.device) and self.names.takes(d, arguments) and self.names.has(d)]
            several = len({d.segments for d in found}) > 1
            return tuple(found[:_OVERRIDERS]), owners[0].name if several else ""
        known = self._by_member.get((member, arguments))
        if known is None:
            found = [d for d in self.index.named(member) if self._is_method(d, arguments)]
            enough = len({d.segments[:-1] for d in found}) <= _CLASSES_AT_MOST
            known = self._by_member[member, arguments] = tuple(found[:6]) if enough else ()
        path = spot.scope.path
        seen = tuple(d for d in known if (d.path == path or not d.hidden) and hierarchy.sees(path, d))
        made = self.bodies.made(spot) if len(seen) > 1 else ()
        return tuple(d for d in seen if d.segments[-2] in made) or seen, ""

    def _is_method(self, defined: Defined, arguments: int) -> bool:
        return defined.device in ("", self.device) and is_method(defined) and self.names.takes(defined, arguments) and self.names.has(defined)
