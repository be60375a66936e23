# SPDX-License-Identifier: BSD-3-Clause
"""The passport of one operator: all overloads under one name, from the Python call to the kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cartographer.model.operator import Origin, Status
from cartographer.render import coverage, urls
from cartographer.render.pages.chains import ChainView, Shown, chains_of
from cartographer.render.pages.descent import Floor, backend_of, descent_of
from cartographer.render.pages.dispatch import KeysOf, RegistrationRow, outcomes_of, rows_of
from cartographer.render.pages.frame import Link, Page, Receipt
from cartographer.render.pages.kernel_sizes import KernelSizes, kernel_sizes
from cartographer.render.pages.passport import Fact, facts_of, lead_of
from cartographer.render.pages.registries import RegistryRow, registries_of
from cartographer.render.pages.wayback import WayBack, way_back_of
from cartographer.render.site import anchor_of, short_name
from cartographer.render.terrain import say_floors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.operator import Operator
    from cartographer.render.coverage import Sign
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class Covered:
    """One backend in the strip of an overload."""

    label: str
    sign: Sign
    chain: str  # anchor of the chain, "" when there is none


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload, whole."""

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
    rows: tuple[RegistrationRow, ...]
    outcomes: tuple[KeysOf, ...]
    as_main: int  # keys that are served as those of the main overload, and left out
    chains: tuple[ChainView, ...]
    unresolved: int
    way_back: WayBack | None
    callers: tuple[Link, ...]
    callees: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class OperatorPage:
    """All overloads under one name."""

    name: str
    namespace: str
    lead: str
    facts: tuple[Fact, ...]
    main: Overload
    others: tuple[Overload, ...]
    twin: str  # the same as JSON
    relatives: tuple[Link, ...]
    registries: tuple[RegistryRow, ...]
    sizes: KernelSizes | None
    receipts: tuple[tuple[str, Receipt], ...]  # rules of generators, by letter


@dataclass(frozen=True, slots=True)
class Seen:
    """What a page has shown already, so that it is shown once: ends of chains, receipts of generators' rules."""

    chains: Shown = field(default_factory=dict)
    letters: dict[str, Receipt] = field(default_factory=dict)


def build(site: Site, key: str) -> Page:
    """The page of one operator; `key` is its address without ending."""
    operators = site.catalog.bases[key]
    main = main_of(operators)
    others = tuple(op for op in operators if op is not main)
    seen = Seen()
    first = _overload(site, main, seen, descent=True)
    rest = tuple(_without_shared(_overload(site, op, seen, descent=False), first) for op in others)
    name = key.removeprefix("op/").replace("/", "::")
    view = OperatorPage(
        name=name,
        namespace=main.namespace,
        lead=lead_of(operators, main),
        facts=facts_of(site, main, whole=True),
        main=first,
        others=rest,
        twin=urls.href(site.settle(key + ".html").rpartition("/")[2].removesuffix(".html") + ".json"),
        relatives=_relatives(site, key),
        registries=registries_of(site, operators),
        sizes=kernel_sizes(site, main),
        receipts=tuple(seen.letters.items()),
    )
    floors = tuple(floor.number for floor in first.floors)
    return Page(
        address=site.settle(key + ".html"),
        template="operator.html.jinja2",
        title=f"{name} · operator",
        description=view.lead,
        plate=urls.OPERATORS,
        view=view,
        crumbs=(Link("Operators", urls.OPERATORS),),
        floors=floors,
        says=f"Followed over {say_floors(floors)}." if len(floors) < 8 else "This call reaches every floor.",
        descends=True,
    )


def main_of(operators: Sequence[Operator]) -> Operator:
    """The overload that a plain call in Python most likely means: bound, written by hand, neither in place nor out=."""

    def rank(op: Operator) -> tuple[bool, bool, bool, bool, bool, str]:
        return (
            op.origin is Origin.GENERATED,
            op.base.endswith("_") and not op.base.endswith("__"),
            "out" in op.overload.split("_") or op.overload.endswith("out"),
            not op.bindings,
            op.overload not in ("Tensor", "", "self"),
            op.name,
        )

    return min(operators, key=rank)


def _overload(site: Site, op: Operator, seen: Seen, *, descent: bool) -> Overload:
    chains = chains_of(site, op, seen.chains)
    anchors = {backend: chain.anchor for chain in chains for backend in chain.backends}
    head, _, rest = op.schema.partition("(")
    backend = backend_of(op) if descent else ""
    return Overload(
        anchor=anchor_of(op.name),
        name=short_name(op.name),
        arguments=f"({rest}" if rest else op.schema.removeprefix(head),
        says=_says(op),
        generated=op.origin is Origin.GENERATED,
        declared=site.receipt(op.declared.path, op.declared.line),
        facts=() if descent else facts_of(site, op, whole=False),
        strip=_strip(site, op, anchors),
        floors=descent_of(site, op, backend) if descent else (),
        descends_for=backend,
        rows=rows_of(site, op, seen.letters),
        outcomes=outcomes_of(op),
        as_main=0,
        chains=chains,
        unresolved=sum(chain.status is Status.UNRESOLVED for chain in op.kernels.values()),
        way_back=way_back_of(site, op),
        callers=_links(site, op.callers),
        callees=_links(site, op.callees),
    )


def _without_shared(overload: Overload, main: Overload) -> Overload:
    """Without the groups of runtime keys that are served exactly as those of the main overload."""
    own = tuple(group for group in overload.outcomes if group not in main.outcomes)
    as_main = sum(len(group.keys) for group in overload.outcomes) - sum(len(group.keys) for group in own)
    return replace(overload, outcomes=own, as_main=as_main)


def _strip(site: Site, op: Operator, anchors: dict[str, str]) -> tuple[Covered, ...]:
    if not op.dispatch:
        return ()
    return tuple(
        Covered(column.label, coverage.sign(coverage.letter(op, column.key)), anchors.get(column.key, ""))
        for column in site.catalog.columns
    )


def _links(site: Site, names: Sequence[str]) -> tuple[Link, ...]:
    return tuple(link for link in map(site.operator, sorted(names)) if link)


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
