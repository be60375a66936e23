# SPDX-License-Identifier: BSD-3-Clause
"""The front page: a map of all of PyTorch, its counts with receipts, and links to the other main pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.backend import device_of_key
from cartographer.model.operator import Status
from cartographer.render import urls
from cartographer.render.figures import section
from cartographer.render.landmarks import landmark
from cartographer.render.pages.descent import backend_of
from cartographer.render.pages.frame import Link, Page, Receipt, at
from cartographer.render.pages.ladder import ladder_of
from cartographer.render.prose import guide_address
from cartographer.render.terrain import FLOOR_SAYS, FLOORS, TERRITORIES, floor_of, territory_of

if TYPE_CHECKING:
    from cartographer.model.operator import Operator
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A headline count of the front page."""

    label: str
    value: int
    note: str  # the statement that counts it


@dataclass(frozen=True, slots=True)
class Door:
    """A link from the front page to another main page."""

    name: str
    says: str
    address: str


@dataclass(frozen=True, slots=True)
class FloorRow:
    """One floor of the map in words."""

    number: int
    name: str
    says: str
    example: str
    example_address: str
    receipt: Receipt | None
    folders: tuple[tuple[str, Link], ...]  # territory, link


@dataclass(frozen=True, slots=True)
class FrontPage:
    """The content of the front page."""

    survey: tuple[Surveyed, ...]
    figure: str
    caption: str
    subject: Link | None
    doors: tuple[Door, ...]
    floors: tuple[FloorRow, ...]
    territories: tuple[tuple[str, str, int, int, str], ...]  # key, name, lines, files, says
    lines: tuple[tuple[str, Link], ...]  # the reading lines, for who has no question yet
    guide: tuple[Link, ...]  # the page of each floor, as far as the guide has one


def build(site: Site) -> Page:
    """The front page of an atlas."""
    subject = subject_of(site)
    stations = _stations(site, subject) if subject else ()
    lines = _lines(site)
    version = site.catalog.source.version
    picture = section.Section(
        title=f"A section through PyTorch {version}, from the keyboard to the chip",
        lands=_lands(site, lines),
        stations=stations,
        layers=_layers(site, subject),
        boxes=_boxes(site, subject),
        yaml_rows=site.catalog.info.count("operators_yaml"),
        derivative_rows=len({op.autograd.formula.line for op in site.catalog.operators if op.autograd and op.autograd.formula}),
    )
    link = site.operator(subject.name) if subject else None
    view = FrontPage(
        survey=_survey(site),
        figure=section.draw(picture),
        caption=f"A section through PyTorch {site.catalog.source.tag}",
        subject=link,
        doors=_doors(site),
        floors=_floors(site, stations),
        territories=tuple((t.key, t.name, *lines[t.key], t.says) for t in TERRITORIES if lines[t.key][0]),
        lines=tuple((text.fields["colour"], Link(text.title.partition(": ")[2] or text.title, guide_address(text.slug))) for text in site.book.lines),
        guide=tuple(Link(text.title, guide_address(text.slug)) for text in site.book.of_kind("floor")),
    )
    return Page(
        address=urls.MAP,
        template="front.html.jinja2",
        title="The whole map",
        description=f"The whole of PyTorch {version} on one plate: eight floors from your code to the chip, every operator with its kernels.",
        plate=urls.MAP,
        view=view,
        floors=tuple(range(1, 9)),
        says="This sheet shows all eight floors.",
        descends=True,
        following=urls.OPERATORS,
    )


def subject_of(site: Site) -> Operator | None:
    """The operator that the map follows: the one for which most backends have a kernel of their own, followed to the device."""

    def rank(op: Operator) -> tuple[bool, bool, int, int, str]:
        chain = op.kernels.get(backend_of(op))
        device = bool(chain and any(step.role == "device" for step in chain.steps))
        own = sum(letter in ("K", "S") for letter in site.catalog.letters[op.name])
        bound = any(b.python.count(".") == 1 for b in op.bindings)
        return (not bound, not device, -own, len(op.name), op.name)

    mains = list(site.catalog.mains.values())
    return min(mains, key=rank, default=None)


def _stations(site: Site, op: Operator) -> tuple[section.Station, ...]:
    backend = backend_of(op)
    chain = op.kernels.get(backend)
    found = []
    if op.bindings:
        binding = next((b for b in op.bindings if b.python.count(".") == 1), op.bindings[0])
        found = [
            section.Station(1, f"{binding.python}(…)"),
            section.Station(2, binding.python),
            section.Station(3, binding.function, generated=binding.place is None),
        ]
    if entry := landmark(site, "dispatcher"):
        found.append(section.Station(4, entry.symbol, href=urls.href(entry.address or "")))
    if chain and chain.status is Status.RESOLVED and chain.steps:
        step = chain.steps[0]
        found.append(section.Station(5, step.symbol.rpartition("at::native::")[2], href=urls.href(site.place(step.path, step.line) or "")))
        family = device_of_key(backend).upper()
        for floor, name in ((6, f"memory {family}"), (7, f"queue {family}")):
            if place := landmark(site, name):
                found.append(section.Station(floor, place.symbol, href=urls.href(place.address or "")))
        device = next((s for s in reversed(chain.steps) if s.role == "device"), None)
        if device:
            name = f"lambda at {at(device.path, device.line)}" if device.symbol == "lambda" else device.symbol.rpartition("at::native::")[2]
            found.append(section.Station(8, name, href=urls.href(site.place(device.path, device.line) or "")))
    return tuple(found)


def _layers(site: Site, op: Operator | None) -> tuple[tuple[str, bool], ...]:
    """Five rungs of the ladder: what acts, and what lies around it."""
    if op is None:
        return ()
    rungs = [rung for rung in ladder_of(site, op, "") if not rung.key.startswith("and ")]
    first = next((number for number, rung in enumerate(rungs) if rung.css == "stops-here"), 0)
    start = max(0, min(first - 2, len(rungs) - 5))
    return tuple((rung.key, rung.css == "stops-here") for rung in rungs[start : start + 5])


def _boxes(site: Site, op: Operator | None) -> tuple[str, ...]:
    """The largest folders of kernels; the one of the subject's backend stands third, where the call passes."""
    native = site.catalog.folders.get("aten/src/ATen/native")
    if native is None:
        return ()
    names = sorted(native.folders, key=lambda path: -site.catalog.folders[path].lines)
    short = [path.rpartition("/")[2] for path in names]
    wanted = backend_of(op).lower() if op else ""
    own = wanted if wanted in short else short[0] if short else ""
    others = [name for name in short if name != own][:4]
    return (*others[:2], own, *others[2:])


def _lines(site: Site) -> dict[str, tuple[int, int]]:
    counts = {territory.key: [0, 0] for territory in TERRITORIES}
    for entry in site.catalog.files:
        total = counts[territory_of(entry.path).key]
        total[0] += entry.lines
        total[1] += 1
    return {key: (total[0], total[1]) for key, total in counts.items()}


def _lands(site: Site, lines: dict[str, tuple[int, int]]) -> tuple[section.Land, ...]:
    found = []
    for territory in TERRITORIES:
        root = next((path for path in territory.roots if path in site.catalog.folders), None)
        if root is None or not lines[territory.key][0]:
            continue
        inside = [path for path in site.catalog.folders[root].folders if territory_of(path).key == territory.key]
        parts = sorted(inside, key=lambda path: -site.catalog.folders[path].lines)
        names = tuple(path.rpartition("/")[2] for path in parts)
        found.append(section.Land(territory.key, territory.name, territory.says, lines[territory.key][0], names, urls.href(site.folder(root))))
    return tuple(found)


_HEADLINES = ("operators_yaml", "operators", "bound", "registrations", "nodes", "lines")


def _survey(site: Site) -> tuple[Surveyed, ...]:
    counts = {count.name: count for count in site.catalog.info.counts}
    return tuple(Surveyed(counts[name].says, counts[name].value, counts[name].receipt) for name in _HEADLINES if name in counts)


def _doors(site: Site) -> tuple[Door, ...]:
    says = {
        urls.OPERATORS: ("All operators", "Which backend has which kernel, as one matrix; each name opens its passport."),
        urls.KERNELS: ("Kernels", "Stubs, kernel functions and device kernels, with the operators that reach them."),
        urls.TERRITORY: ("Territory", "Folders by size, coloured by territory, age, floor, language or parse health."),
        urls.STRATA: ("Strata", "How old the code is: when each line came in, by folder and year."),
        urls.GENERATED: ("Generated code", "The files that only a build has: who writes them, from which template."),
        urls.LINES: ("Reading lines", "Routes through the guide for new contributors and others, stop by stop."),
        urls.RELEASES: ("Releases", "What changed between two releases, and what it may break."),
        urls.CHECKS: ("Sources and checks", "What was read, how well, and what could not be told."),
    }
    doors = [Door(*says[link.address], link.address) for link in site.plates if link.address in says]
    doors.insert(1, Door("Autograd Nodes", "The names that grad_fn shows, and the operators behind them.", urls.NODES))
    return tuple(doors)


def _floors(site: Site, stations: tuple[section.Station, ...]) -> tuple[FloorRow, ...]:
    by_floor = {station.floor: station for station in stations}
    rows = []
    for number, (name, says) in enumerate(zip(FLOORS, FLOOR_SAYS, strict=True), start=1):
        station = by_floor.get(number)
        folders = [path for path in site.catalog.folders if path and floor_of(path) == number]
        roots = [path for path in folders if floor_of(path.rpartition("/")[0]) != number]
        largest = sorted(roots, key=lambda path: -site.catalog.folders[path].lines)[:6]
        rows.append(
            FloorRow(
                number, name, says, station.name if station else "", station.href if station else "", None,
                tuple((territory_of(path).key, Link(path, site.folder(path))) for path in largest),
            )
        )  # fmt: skip
    return tuple(rows)
