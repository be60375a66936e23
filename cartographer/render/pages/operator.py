# SPDX-License-Identifier: BSD-3-Clause
"""The page of one operator: all overloads under one name, from the Python call to the kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.operator import Origin, Status
from cartographer.render import coverage, urls
from cartographer.render.pages.chains import ChainView, Shown, chains_of
from cartographer.render.pages.descent import Floor, backend_of, descent_of
from cartographer.render.pages.dispatch import KeysOf, RegistrationRow, named_elsewhere, outcomes_of, rows_of
from cartographer.render.pages.frame import Link, Page, Receipt
from cartographer.render.pages.kernel_sizes import KernelSizes, kernel_sizes
from cartographer.render.pages.passport import Fact, facts_of, lead_of
from cartographer.render.pages.registries import RegistryRow, registries_of
from cartographer.render.pages.wayback import WayBack, way_back_of
from cartographer.render.site import anchor_of, short_name
from cartographer.render.terrain import say_floors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cartographer.model.operator import Operator
    from cartographer.render.coverage import Sign
    from cartographer.render.site import Site


class Covered(NamedTuple):
    """One backend in the coverage strip of an overload."""

    label: str
    sign: Sign
    chain: str  # anchor of the chain, "" when there is none


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload with everything that the page shows about it."""

    anchor: str
    name: str
    arguments: str  # the schema after the name
    says: str
    generated: bool
    declared: Receipt
    facts: tuple[Fact, ...]
    strip: tuple[Covered, ...]
    floors: tuple[Floor, ...]
    descends_for: str
    followed: str  # anchor of the chain that the descent shows, "" when the chain is shown by itself
    rows: tuple[RegistrationRow, ...]
    implied: tuple[RegistrationRow, ...]  # those of a further overload that are told in one sentence
    outcomes: tuple[KeysOf, ...]
    served_as: Link | None  # the overload above whose runtime keys are served the same way, those of `outcomes` aside
    further: int  # how many keys those are
    chains: tuple[ChainView, ...]
    unresolved: int
    way_back: WayBack | None
    back_as: Link | None  # the overload above with the very same derivative
    callers: tuple[Link, ...]
    callees: tuple[Link, ...]

    @property
    def untold(self) -> str:
        """Why kernels in the dispatch table have no place, "" when all have one."""
        *found, last = dict.fromkeys(row.untold for row in self.rows if row.untold) or ("",)
        return f"{', '.join(found)} or {last}" if found else last


@dataclass(frozen=True, slots=True)
class OperatorPage:
    """The content of an operator's page: all overloads under one name."""

    name: str
    namespace: str
    lead: tuple[str, ...]
    facts: tuple[Fact, ...]
    main: Overload
    others: tuple[Overload, ...]
    twin: str  # the same as JSON
    relatives: tuple[Link, ...]
    registries: tuple[tuple[str, tuple[RegistryRow, ...]], ...]  # by registry
    sizes: KernelSizes | None
    receipts: tuple[tuple[str, Receipt], ...]  # rules of generators, by letter
    elsewhere: tuple[Link, ...]  # to what is said of backends whose kernels another repository has


@dataclass(frozen=True, slots=True)
class Seen:
    """What a page has shown already, so that each thing is shown once: ends of chains, receipts of generators' rules."""

    facts: tuple[Fact, ...] = ()
    chains: Shown = field(default_factory=Shown)
    letters: dict[str, Receipt] = field(default_factory=dict)
    dispatches: list[tuple[Mapping[str, str], Link]] = field(default_factory=list)
    ways_back: dict[WayBack, Link] = field(default_factory=dict)


def build(site: Site, key: str) -> Page:
    """The page of one operator; `key` is its address without ending."""
    operators = site.catalog.bases[key]
    main = site.catalog.mains[key]
    others = tuple(op for op in operators if op is not main)
    seen = Seen(facts=facts_of(site, main, whole=True))
    first = _overload(site, main, seen, descent=True)
    rest = tuple(_overload(site, op, seen, descent=False) for op in others)
    name = name_of(key, operators)
    view = OperatorPage(
        name=name,
        namespace=main.namespace,
        lead=lead_of(operators, main),
        facts=seen.facts,
        main=first,
        others=rest,
        twin=urls.href(site.settle(key + ".html").rpartition("/")[2].removesuffix(".html") + ".json"),
        relatives=_relatives(site, key),
        registries=registries_of(site, operators),
        sizes=kernel_sizes(site, main, seen.chains.linked),
        receipts=tuple(seen.letters.items()),
        elsewhere=tuple([Link(text, f"{urls.OPERATORS}#elsewhere") for text in named_elsewhere(site, main.dispatch)]),
    )
    floors = tuple(floor.number for floor in first.floors)
    return Page(
        address=site.settle(key + ".html"),
        template="operator.html.jinja2",
        title=f"{name} · operator",
        description=" ".join(view.lead[:2]),
        plate=urls.OPERATORS,
        view=view,
        crumbs=(Link("Operators", urls.OPERATORS),),
        floors=floors,
        says=f"Followed over {say_floors(floors)}." if len(floors) < 8 else "This call reaches every floor.",
        descends=True,
    )


def name_of(key: str, operators: Sequence[Operator]) -> str:
    """The name that the overloads of a page have in common: `add`, `quantized::add`."""
    own = next((op for op in operators if urls.operator_key(op.namespace, op.base) == key), None)
    first = own or operators[0]
    base = first.base if own else first.base.removesuffix("_")
    return short_name(f"{first.namespace}::{base}")


def _overload(site: Site, op: Operator, seen: Seen, *, descent: bool) -> Overload:
    head, _, rest = op.schema.partition("(")
    backend = backend_of(op) if descent else ""
    chains = chains_of(site, op, seen.chains, backend)
    anchors = {backend: f"{anchor_of(op.name)}-{backend}" for backend in op.kernels}
    here = Link(short_name(op.name), anchor_of(op.name))
    outcomes, served_as, further = served(op, seen, here)
    rows = rows_of(site, op, seen.letters, brief=not descent)
    way_back = way_back_of(site, op)
    back_as = seen.ways_back.get(way_back) if way_back and way_back.formulas else None
    if way_back and not back_as:
        seen.ways_back[way_back] = here
    return Overload(
        anchor=anchor_of(op.name),
        name=short_name(op.name),
        arguments=f"({rest}" if rest else op.schema.removeprefix(head),
        says=_says(op),
        generated=op.origin is Origin.GENERATED,
        declared=site.receipt(op.declared.path, op.declared.line),
        facts=() if descent else facts_of(site, op, whole=False, said=seen.facts),
        strip=_strip(site, op, anchors) if descent else (),
        floors=descent_of(site, op, backend) if descent else (),
        descends_for=backend,
        followed=next((chain.anchor for chain in chains if chain.above), ""),
        rows=rows if descent else tuple([row for row in rows if not row.plain]),
        implied=() if descent else tuple([row for row in rows if row.plain]),
        outcomes=outcomes,
        served_as=served_as,
        further=further,
        chains=chains,
        unresolved=sum(chain.status is Status.UNRESOLVED for chain in op.kernels.values()),
        way_back=way_back,
        back_as=back_as,
        callers=_links(site, op, op.callers),
        callees=_links(site, op, op.callees),
    )


def served(op: Operator, seen: Seen, here: Link) -> tuple[tuple[KeysOf, ...], Link | None, int]:
    """The part of what serves each runtime key that a page shows: when an overload above is nearly equal, only the keys that differ."""
    alike, own = None, list(op.dispatch)
    for dispatch, link in seen.dispatches:
        other = [] if dispatch == op.dispatch else [key for key in op.dispatch if dispatch.get(key) != op.dispatch[key]]
        if dispatch.keys() == op.dispatch.keys() and len(other) < len(own):
            alike, own = link, other
    if own or not op.dispatch:
        seen.dispatches.append((op.dispatch, here))
    return outcomes_of({key: op.dispatch[key] for key in own}), alike, len(op.dispatch) - len(own)


def _strip(site: Site, op: Operator, anchors: dict[str, str]) -> tuple[Covered, ...]:
    if not op.dispatch:
        return ()
    catalog = site.catalog
    return tuple([
        Covered(column.label, coverage.sign(letter), anchors.get(column.key, ""))
        for column, letter in zip(catalog.columns, catalog.letters[op.name], strict=True)
    ])


def _links(site: Site, op: Operator, names: Sequence[str]) -> tuple[Link, ...]:
    """Links to neighbours from this page; the overload that leads its page needs no anchor there."""
    catalog, found = site.catalog, []
    own = catalog.key_of[op.name]
    page = site.settle(f"{own}.html")
    for name in sorted(names):
        link, key = site.operator(name), catalog.key_of.get(name)
        if link and key:
            ahead = link.address.partition("#")[0] if key != own and catalog.mains[key].name == name else link.address
            found.append(Link(link.text, urls.href("#" + anchor_of(name)) if key == own else urls.relative(page, ahead)))
    return tuple(found)


_SAYS = {
    Origin.GENERATED: "Stands in no list: torchgen adds it during the build.",
    Origin.LIBRARY: "Declared in C++ by TORCH_LIBRARY.",
    Origin.PYTHON: "Declared in Python through torch.library.",
}


def _says(op: Operator) -> str:
    words = [_SAYS.get(op.origin, "")]
    if op.generated_from:
        words = [f"Stands in no list: torchgen derives it from {short_name(op.generated_from)}."]
    if "(a!)" in op.schema and op.base.endswith("_") and not op.base.endswith("__"):
        words.append("Writes into its first argument.")
    elif "!) out" in op.schema:
        words.append("Writes into a tensor that the caller gives as out=.")
    if op.structured_delegate:
        words.append(f"Delegates to {op.structured_delegate}: shape and arithmetic are written once, there.")
    if op.build:
        words.append("Only in builds with " + ", ".join(op.build) + ".")
    return " ".join(word for word in words if word)


def _relatives(site: Site, key: str) -> tuple[Link, ...]:
    """Pages of near names: `_foreach_add`, `add_relu`, `_add_relu` for `add`."""
    folder, _, base = key.rpartition("/")
    core = base.strip("_")
    if len(core) < 3:
        return ()
    near = []
    for ending in ("_copy", "_backward", "_functional", "_forward", "_out", "_symint"):
        near += [f"{core}{ending}", f"_{core}{ending}"]
    near += [f"_foreach_{core}", f"_{core}", core, f"special_{core}", f"linalg_{core}", f"_native_{core}", f"native_{core}"]
    if core.endswith(("_copy", "_backward", "_functional")):
        near.append(core.rpartition("_")[0])
    near += [core.removeprefix("foreach_"), core.removeprefix("special_"), core.removeprefix("linalg_"), core.removeprefix("native_")]
    found = sorted({name for name in near if name != base and f"{folder}/{name}" in site.catalog.bases})
    return tuple(Link(name, site.settle(f"{folder}/{name}.html")) for name in found)
