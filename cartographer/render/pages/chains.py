# SPDX-License-Identifier: BSD-3-Clause
"""Shows kernel chains: from the function that the dispatcher calls down to the code that runs on the device.

Overloads and backends share long parts of their ways. A page shows each row of steps once; a later chain that has it too says so
and links there, which is shorter and shows that it is the same code. What the descent shows is not shown again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cartographer.render.pages.frame import Link
from cartographer.render.site import anchor_of, short_name

if TYPE_CHECKING:
    from collections.abc import Hashable

    from cartographer.model.operator import Chain, Operator, Step
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site

Key = tuple[str | int, ...]  # what makes two steps the same
_KEY = attrgetter("role", "symbol", "path", "line", "branch")


@dataclass(slots=True)
class Shown:
    """The chains that a page has shown so far, and the place in them of each step."""

    chains: list[tuple[Link, tuple[Key, ...]]] = field(default_factory=list)
    linked: set[str] = field(default_factory=set)  # addresses: a name is a link where it comes first
    at: dict[Key, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, link: Link, way: tuple[Key, ...]) -> None:
        """Remember a chain that the page shows at `link`."""
        for place, key in enumerate(way):
            self.at.setdefault(key, []).append((len(self.chains), place))
        self.chains.append((link, way))

    def longest(self, way: tuple[Key, ...], start: int) -> tuple[int, Link | None]:
        """How many steps from `start` on have been shown in one row already, and where."""
        best, link = 0, None
        for number, place in self.at.get(way[start], ())[:_LOOKS]:
            shown_at, other = self.chains[number]
            count = 1
            while start + count < len(way) and place + count < len(other) and way[start + count] == other[place + count]:
                count += 1
            if count > best:
                best, link = count, shown_at
        return best, link


_LOOKS = 40  # places of one step that are compared


class StepView(NamedTuple):
    """One step of a chain as the page shows it."""

    role: str
    symbol: str
    address: str | None  # of the symbol, in this site
    receipt: Receipt
    generated: bool
    note: str
    branch: str

    @property
    def again(self) -> bool:
        """Always False: the page shows this step here (see `Again`)."""
        return False


@dataclass(frozen=True, slots=True)
class Again:
    """A row of steps that the page shows elsewhere, replaced by a link."""

    link: Link
    count: int
    first: str
    last: str

    @property
    def again(self) -> bool:
        """Always True: the page shows these steps elsewhere."""
        return True


@dataclass(frozen=True, slots=True)
class ChainView:
    """The chain of one backend, or of several backends that share it."""

    anchor: str
    backends: tuple[str, ...]
    status: str
    reason: str
    parts: tuple[StepView | Again, ...]
    above: bool  # the descent shows it

    @property
    def again(self) -> bool:
        """Whether the whole chain is shown elsewhere on the page."""
        return len(self.parts) == 1 and isinstance(self.parts[0], Again) and self.status == "resolved"


ROLES = {
    "entry": "entry", "stub": "stub", "registration": "registered", "kernel": "kernel", "device": "device", "library": "library",
    "calls": "calls",
}  # fmt: skip


def chains_of(site: Site, op: Operator, shown: Shown, descent: str = "") -> tuple[ChainView, ...]:
    """The chains of an overload; backends with equal chains are shown together. `shown` grows over the page. The chain of the
    backend that the page's descent follows is not shown again, where the descent has it in order.
    """
    groups: dict[Hashable, tuple[Chain, list[str]]] = {}
    for backend, chain in op.kernels.items():
        groups.setdefault(site.catalog.alike(chain), (chain, []))[1].append(backend)
    views = {}
    for place, (chain, backends) in sorted(enumerate(groups.values()), key=lambda group: descent not in group[1][1]):  # the others refer to the descent's
        above = descent in backends and in_order(chain)
        ordered = sorted(backends, key=lambda backend: backend != descent) if above else backends
        views[place] = _view(site, op, chain, ordered, shown, above=above)
    return tuple(views[place] for place in range(len(groups)))


def in_order(chain: Chain) -> bool:
    """Whether a descent, which goes by floors, has the steps in the chain's own order: only more device code comes after device code."""
    roles = [step.role for step in chain.steps]
    return bool(roles) and roles == sorted(roles, key=lambda role: role == "device")


def _key(step: Step) -> Key:
    """What makes a step another one on a page: of a call also its note, which says where the operator has no kernel."""
    return (*_KEY(step), step.note) if step.role == "calls" else _KEY(step)


def _view(site: Site, op: Operator, chain: Chain, backends: list[str], shown: Shown, *, above: bool) -> ChainView:
    anchor = f"{anchor_of(op.name)}-{backends[0]}"
    way = tuple(map(_key, chain.steps))
    parts: list[StepView | Again] = []
    start = 0
    while start < len(way) and not above:
        count, link = shown.longest(way, start)
        outer = start == 0 or start + count == len(way)
        if link and count >= (2 if outer else 3):
            own = link.address.startswith(f"{anchor_of(op.name)}-")
            shorter = Link(link.text.rpartition(", ")[2], link.address) if own else link
            parts.append(Again(shorter, count, chain.steps[start].symbol, chain.steps[start + count - 1].symbol))
            start += count
        else:
            parts.append(step_view(site, chain.steps[start], shown.linked))
            start += 1
    shown.add(Link(f"{short_name(op.name)}, {backends[0]}", anchor), way)
    return ChainView(anchor, tuple(backends), chain.status.value, chain.reason or "", tuple(parts), above)


_OPERATOR = re.compile(r"\w+::[\w.]+")


def address_of(site: Site, step: Step) -> str | None:
    """The address in this site to which a step leads: the operator that it calls, else the symbol at its place."""
    if step.role == "calls":
        for name in _OPERATOR.findall(step.note):
            if link := site.operator(name):
                return link.address
    symbol = site.catalog.symbol_at(step.path, step.line)
    own = symbol and (symbol.line == step.line or symbol.name == last_name(step.symbol))
    return site.place(step.path, step.line) if own else None  # the function around a place is not what the step is about


def last_name(symbol: str) -> str:
    """The last part of a symbol: `add` for `at::native::add<float>` and for `TORCH_IMPL_FUNC(add)`."""
    return re.split(r"::|\.", re.sub(r"<.*", "", symbol.rstrip(")").rpartition("(")[2] or symbol))[-1]


def note_of(step: Step) -> str:
    """The note of a step without what its row says already: the folder of its own file, the operator that the name links to."""
    if step.role == "calls" and step.note == f"aten::{last_name(step.symbol)}":
        return ""
    note = step.note
    if step.role == "calls":
        called, semicolon, more = note.replace("aten::", "").partition(";")
        note = called.removesuffix(f": {step.symbol}") + semicolon + more
    folder = step.path.rpartition("/")[0]
    return note.replace(step.path, step.path[len(folder) + 1 :]) if folder else note


def step_view(site: Site, step: Step, linked: set[str]) -> StepView:
    """One step of a chain, with its links."""
    address = address_of(site, step)
    first = address not in linked
    linked.add(address or "")
    generated = site.is_generated(step.path) or step.note.startswith(("generated", "written by the build"))
    return StepView(
        role=ROLES.get(step.role, step.role),
        symbol=step.symbol,
        address=address if first else None,
        receipt=site.receipt(step.path, step.line),
        generated=generated,
        note=note_of(step),
        branch=step.branch,
    )
