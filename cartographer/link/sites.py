# SPDX-License-Identifier: BSD-3-Clause
"""Value types for the calls in a body, before and after they are classified. There are hundreds of thousands, so they are tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.conditions import text, together
from cartographer.link.device import NEVER
from cartographer.link.either import either

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.link.composites import Called
    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined
    from cartographer.link.names import Scope
    from cartographer.link.stubs import StubPlaces
    from cartographer.model.fact import Call

PLAIN = "plain"


class Given(NamedTuple):
    """A lambda or functor that is passed to a launcher or loop: the code that runs for each element."""

    symbol: str
    path: str
    line: int
    within: str = ""  # the kernel that runs it, where that is known by name alone (Metal)


class Site(NamedTuple):
    """A call that has been classified for one device.

    `kind` is stub, launch, jit, helper, library, operator, loop, dispatch (a switch over types), metal or plain (a
    function that loops over elements itself). `targets` are the functions that it can enter, `conditions` those around it, and
    `asks` says when it never is the way on this device.
    """

    kind: str
    name: str
    path: str
    line: int
    order: int
    conditions: Conditions = ()
    asks: frozenset[str] = frozenset()
    targets: tuple[Defined, ...] = ()
    called: Called | None = None
    given: tuple[Given, ...] = ()
    library: str = ""
    stub: StubPlaces | None = None
    texts: tuple[str, ...] = ()  # literals that name a Metal kernel
    without: float = 0.0  # what it costs more that only a build without some feature has it, or that most people's calls do not get to it
    alone: bool = False  # a launch of one single thread: bookkeeping
    base: str = ""  # of a virtual call: the class whose overriders `targets` are
    optional: bool = False  # under a condition without another side
    hands_on: bool = False  # gives on a callable that the function was given itself
    made: str = ""  # the macro whose body holds the call, when a macro made the function
    call: Call | None = None  # as it is written
    host: bool = False  # a stub that is called for the CPU by its name, with tensors that are brought there
    unusual: bool = False  # most people's calls do not get to it
    pattern: str = ""  # the name of a Metal kernel, with fields for what cannot be told, as far as parameters of the function are part of it
    rarely: Conditions | None = None  # all under which it is reached, where `conditions` are those of most tensors alone

    @property
    def all_conditions(self) -> Conditions:
        """The conditions of the call for any tensors, those included that few people have."""
        return self.conditions if self.rarely is None else self.rarely

    @property
    def branch(self) -> str:
        """The conditions of the call, in the text in which a step shows them."""
        return text(self.all_conditions)

    def reached(self, usual: Conditions, every: Conditions) -> Site:
        """The same site under other conditions: those of most tensors, and all under which it is reached."""
        return self._replace(conditions=usual, rarely=None if every == usual else every)

    def reached_as(self, other: Site) -> Site:
        """The same site where another one is the same call in effect: under the conditions of either."""
        return self.reached(either(self.conditions, other.conditions), either(self.all_conditions, other.all_conditions))

    def inside(self, outer: Conditions) -> Site:
        """The same site where what it stands in is called under conditions: all of them hold."""
        return self.reached(together(outer, self.conditions), together(outer, self.all_conditions)) if outer else self


class Mentioned(NamedTuple):
    """What the arguments and template arguments of a call name, as far as their text tells."""

    number: int | None = None  # of the arguments; None when it cannot be told (packs, macros)
    stubs: tuple[StubPlaces, ...] = ()
    constructed: tuple[str, ...] = ()  # classes whose objects are made for the call
    callbacks: tuple[str, ...] = ()  # functions, or functors by their class
    casts: tuple[str, ...] = ()  # functions under a cast that picks the overload
    has_lambda: bool = False
    hands_on: bool = False  # a parameter whose type is one of the template's own: `f` of `template <typename func_t> … (const func_t& f)`


NOTHING_HANDED = Mentioned()


class Spot(NamedTuple):
    """A call in a body as its text has it, before it is known what it enters; equal for every device, apart from `without`."""

    call: Call
    inside: Defined
    scope: Scope
    order: int
    conditions: Conditions
    asks: frozenset[str]
    optional: bool
    last: str  # the member, or the name without namespaces
    called: Called | None  # the operator that a member, or a qualified name, means
    handed: Mentioned  # what is handed over
    without: float = 0.0
    unusual: bool = False

    def under(self, conditions: Conditions) -> Spot:
        """The same call under further conditions, which come first."""
        return self._replace(conditions=together(self.conditions, conditions)) if conditions else self

    def site(
        self, kind: str, name: str, targets: tuple[Defined, ...] = (), *, called: Called | None = None, given: tuple[Given, ...] = (),
        library: str = "", stub: StubPlaces | None = None, texts: tuple[str, ...] = (), line: int = 0, never: bool = False,
        alone: bool = False, base: str = "", host: bool = False,
    ) -> Site:  # fmt: skip
        """The site that this call is, now that it is known what it enters."""
        asks = self.asks | {NEVER} if never else self.asks
        return Site(
            kind, name, self.inside.path, line or self.call.line, self.order, self.conditions, asks, targets, called, given, library, stub, texts,
            self.without, alone, base, self.optional, self.handed.hands_on, self.inside.use.macro if self.inside.use is not None else "", self.call, host, self.unusual,
        )  # fmt: skip


def by_class(site: Site) -> Iterator[Site]:
    """Split a site into one for each class that a template parameter can be, when one class's name is part of all the others': which one runs
    is a matter of the case, `CellParams` before `QuantizedCellParams`.
    """
    owners = {d.segments[-2]: None for d in site.targets if len(d.segments) > 1}
    plain = min(owners, key=len, default="")
    if site.base or len(owners) < 2 or not all(plain in owner for owner in owners):
        yield site
        return
    for owner in sorted(owners, key=len):
        targets = tuple(d for d in site.targets if d.segments[-2:-1] == (owner,))
        yield site._replace(targets=targets, conditions=(*site.conditions, f"case {owner}"))
