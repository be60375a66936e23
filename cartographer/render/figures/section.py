# SPDX-License-Identifier: BSD-3-Clause
"""Draws the section through PyTorch: eight floors, the territories on them, and one call that goes straight down.

Names, line counts and the call come from the atlas; where a territory lies is the map's own convention, not to scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from cartographer.render.figures import hand, svg
from cartographer.render.terrain import FLOORS

WIDTH, HEIGHT, LEFT = 1080, 766, 160
_TOPS = (0, 84, 192, 262, 380, 524, 600, 668, HEIGHT)
_CALL_X = 500
_SUBJECT = 2  # the box of kernels that the call passes
_BOXES = ((198, 104), (310, 104), (422, 150), (580, 92), (680, 86))  # x, width


@dataclass(frozen=True, slots=True)
class Land:
    """A territory as the section shows it: its name, what it is, its number of lines, its page."""

    key: str
    name: str
    says: str
    lines: int
    parts: tuple[str, ...]  # its largest folders
    href: str


@dataclass(frozen=True, slots=True)
class Station:
    """One name on the call that the section shows."""

    floor: int
    name: str
    generated: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The data of the whole figure."""

    title: str
    lands: tuple[Land, ...]
    stations: tuple[Station, ...]
    layers: tuple[tuple[str, bool], ...]  # layer, whether it acts
    boxes: tuple[str, ...]  # folders of kernels, the subject's backend third
    yaml_rows: int
    derivative_rows: int


def draw(section: Section) -> str:
    """The section through PyTorch as inline SVG."""
    lands = {land.key: land for land in section.lands}
    pieces = [_ground(), _floor_names()]
    for key, drawer in (("torch", _torch), ("csrc", _csrc), ("aten", _aten), ("c10", _c10), ("gen", _gen)):
        if key in lands:
            pieces.append(drawer(lands[key], section))
    pieces += [_bedrock(), _call(section)]
    return svg.picture(
        WIDTH, HEIGHT, "map", section.title,
        "Eight floors from top to bottom with the folders that lie in them. One call goes straight down in orange. The list below the plate says the same in words.",
        "".join(pieces), "map",
    )  # fmt: skip


def _ground() -> str:
    pieces = []
    for number, (top, bottom) in enumerate(pairwise(_TOPS), start=1):
        upper = hand.edge((LEFT, top), (WIDTH, top), 2.6)
        low = bottom + 3 if bottom < HEIGHT else bottom
        pieces.append(svg.path(f"M{LEFT} {top}{upper}L{WIDTH} {low}L{LEFT} {low}Z", f"floor{number}"))
    pieces += [svg.path(hand.line([(LEFT, top), (WIDTH, top)], 2.6), "thin") for top in _TOPS[1:-1]]
    pieces.append(svg.path(hand.line([(LEFT, 0), (LEFT, HEIGHT)], 1.6), "ink"))
    return "".join(pieces)


def _floor_names() -> str:
    pieces = []
    for number, name in enumerate(FLOORS, start=1):
        middle = (_TOPS[number - 1] + _TOPS[number]) / 2
        label = svg.text(38, middle + 7, str(number), "num", "middle") + svg.text(62, middle + 5, name, "water")
        pieces.append(svg.link(f"#floor-{number}", label) + svg.path(f"M152 {middle:g}H{LEFT + 8}", "thin"))
    return "".join(pieces)


def _land(points: list[hand.Point], css: str) -> str:
    return f'<g class="ft-{css}">{svg.path(hand.area(points), "terr")}</g>'


def _named(x: float, y: float, land: Land, characters: int = 60) -> str:
    name = svg.link(land.href, svg.text(x, y, land.name, "place"))
    return name + svg.text(x, y + 19, svg.cut(f"{land.says}, {land.lines:,} lines", characters), "tiny")


def _torch(land: Land, _section: Section) -> str:
    shape = _land([(182, 98), (822, 98), (822, 182), (182, 182)], "torch")
    above = svg.text(202, 48, "above ground: everything you write", "water")
    return shape + above + _named(202, 128, land) + svg.text(202, 169, svg.cut(", ".join(land.parts[:6]), 40), "water")


def _csrc(land: Land, _section: Section) -> str:
    shape = _land([(182, 204), (706, 204), (706, 256), (432, 256), (432, 372), (182, 372)], "csrc")
    built = svg.path(hand.box(352, 213, 344, 34), "ink dash", "fill:var(--paper);fill-opacity:.55")
    words = svg.text(364, 235, "written at build", "water")
    parts = "".join(svg.text(202, 320 + 21 * n, part, "water") for n, part in enumerate(land.parts[:3]))
    name = svg.link(land.href, svg.text(202, 237, land.name, "place"))
    return shape + built + words + name + svg.text(202, 280, land.says, "tiny") + svg.text(202, 294, f"{land.lines:,} lines", "tiny") + parts


def _aten(land: Land, section: Section) -> str:
    outline: list[hand.Point] = [(446, 274), (822, 274), (822, 514), (182, 514), (182, 390), (446, 390)]
    pieces = [_land(outline, "aten"), _named(202, 424, land, 46)]
    for number, (name, (x, width)) in enumerate(zip(section.boxes, _BOXES, strict=False)):
        pieces.append(svg.path(hand.box(x, 466, width, 36), "thin", "fill:var(--paper);fill-opacity:.35"))
        place = (x + 8, "") if number == _SUBJECT else (x + width / 2, "middle")
        pieces.append(svg.text(place[0], 488, svg.cut(name, int(width / 7.4)), "mono", place[1]))
    for number, (layer, acts) in enumerate(section.layers[:5]):
        y = 314 + 15 * number
        pieces.append(svg.path(f"M458 {y}H640", "ink" if acts else "ctx dash"))
        pieces.append(svg.text(648, y + 4, svg.cut(layer, 20), "tiny subt" if acts else "tiny"))
    return "".join(pieces)


def _c10(land: Land, _section: Section) -> str:
    column: list[hand.Point] = [(182, 538), (782, 538), (782, 300), (806, 300), (806, 538), (822, 538), (822, 654), (182, 654)]
    shape = _land(column, "c10")
    keys = '<text x="799" y="446" class="tiny" transform="rotate(-90 799 446)" text-anchor="middle">dispatch keys</text>'
    return shape + keys + _named(202, 570, land, 80) + svg.text(202, 634, "streams and events: work waits in order", "water")


def _gen(land: Land, section: Section) -> str:
    shape = _land([(868, 204), (1052, 204), (1052, 514), (868, 514)], "gen")
    first, _, second = land.name.partition(", ")
    pieces = [shape, svg.link(land.href, svg.text(886, 232, first, "place") + svg.text(886, 253, second, "place"))]
    pieces += [svg.text(886, 278, f"{land.lines:,} lines that", "tiny"), svg.text(886, 292, "write code", "tiny")]
    if section.yaml_rows:
        pieces += [svg.text(886, 330, "native_functions.yaml", "mono"), svg.text(886, 354, f"{section.yaml_rows:,}", "num"), svg.text(950, 354, "rows", "tiny")]
    if section.derivative_rows:
        pieces += [svg.text(886, 388, "derivatives.yaml", "mono"), svg.text(886, 412, f"{section.derivative_rows:,}", "num"), svg.text(950, 412, "used", "tiny")]
    pieces += [svg.text(886, 460, "the build runs it,", "water"), svg.text(886, 479, "then forgets it", "water")]
    for y, end in ((230, 712), (330, 828), (484, 828)):
        pieces.append(svg.path(hand.line([(864, y), (end, y)], 1.0) + f"M{end + 7} {y - 4}L{end} {y}L{end + 7} {y + 4}", "ink dash"))
    pieces.append(svg.text(790, 222, "bindings", "water", "middle"))
    return "".join(pieces)


def _bedrock() -> str:
    strokes = "".join(f"M{x} {HEIGHT - 4}l26 -56" for x in range(LEFT + 40, WIDTH - 40, 30))
    return svg.path(strokes, "hair") + svg.text(202, 724, "in no repository", "water halo8")


def _call(section: Section) -> str:
    points: list[hand.Point] = []
    labels = []
    for station in section.stations:
        top, bottom = _TOPS[station.floor - 1], _TOPS[station.floor]
        y = {3: 230.0, 4: 290.0, 5: 484.0, 8: 716.0}.get(station.floor, (top + bottom) / 2)
        points.append((_CALL_X, y))
        last = station is section.stations[-1]
        mark = svg.circle(_CALL_X, y, 6.5, "dot dotf" if last else "dot", "stroke-dasharray:3 2" if station.generated else "fill:var(--orange)" if last else "")
        css = "mono subt halo8" if station.floor == 8 else "mono" + (" subt" if station.floor == 1 else "")
        label = svg.text(_CALL_X + 15, y + 4, svg.cut(station.name, 44 if station.floor != 3 else 24), css)
        labels.append(mark + (svg.link(station.href, label) if station.href else label))
    if len(points) < 2:
        return "".join(labels)
    way = hand.line(points, 3)
    return svg.path(way, "case") + svg.path(way, "sub") + "".join(labels)
