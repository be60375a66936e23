# SPDX-License-Identifier: BSD-3-Clause
"""The list of all operators: a row for each, a column for each dispatch key; in sheets, and as data for the filter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.operator import Origin
from cartographer.render import coverage, urls
from cartographer.render.pages.dispatch import elsewhere_of
from cartographer.render.pages.frame import Link, Page, Receipt, sheet_names
from cartographer.render.site import short_name

if TYPE_CHECKING:
    from cartographer.model.operator import Operator
    from cartographer.render.coverage import Column, Sign
    from cartographer.render.pages.dispatch import Elsewhere
    from cartographer.render.site import Site

SHEET = 300
DATA = "operators/operators-data.js"


@dataclass(frozen=True, slots=True)
class Row:
    """One operator in the list of all operators."""

    name: str
    address: str
    kind: str  # f functional, i in place, o out=
    generated: bool
    python: str
    letters: tuple[str, ...]
    declared: Receipt


@dataclass(frozen=True, slots=True)
class Profile:
    """How many operators one backend answers, and in which way."""

    label: str
    own: int
    default: int
    composed: int
    none: int
    total: int  # with those of which it is not known

    @property
    def shares(self) -> tuple[tuple[str, str], ...]:
        """The segments of the profile's bar: (sign, width in per cent)."""
        parts = (("k", self.own), ("d", self.default), ("c", self.composed), ("x", self.none))
        return tuple((css, f"{100 * count / self.total:.2f}") for css, count in parts if count)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of the list of all operators."""

    number: int
    sheets: tuple[Link, ...]
    rows: tuple[Row, ...]
    total: int
    columns: tuple[Column, ...]
    groups: tuple[bool, ...]  # whether a column starts a group, for the cells that many rows share
    profiles: tuple[Profile, ...]
    signs: tuple[Sign, ...]
    choices: tuple[tuple[str, str], ...]  # of the filter: letters that occur, with their words
    elsewhere: tuple[Elsewhere, ...]  # of backends whose kernels another repository has
    data: str


def count_of_sheets(total: int) -> int:
    """The number of sheets for a list of so many operators."""
    return max(1, -(-total // SHEET))


def build(site: Site, number: int) -> Page:
    """The page of one sheet of the list; `number` counts from 1."""
    ordered = site.catalog.in_order
    sheets = [ordered[start : start + SHEET] for start in range(0, max(1, len(ordered)), SHEET)]
    names = sheet_names([op.base if op.namespace == "aten" else f"{op.namespace}::{op.base}" for op in ordered], SHEET) or ("none",)
    links = tuple(Link(text, urls.sheet(urls.OPERATORS, index)) for index, text in enumerate(names, start=1))
    view = Sheet(
        number=number,
        sheets=links,
        rows=tuple(_row(site, op) for op in sheets[number - 1]),
        total=len(ordered),
        columns=site.catalog.columns,
        groups=tuple(column.starts_group for column in site.catalog.columns),
        profiles=_profiles(site) if number == 1 else (),
        signs=(*coverage.SIGNS, coverage.NONE),
        choices=tuple((letter, says) for letter, says in coverage.CHOICES if letter in site.catalog.occurring),
        elsewhere=elsewhere_of(site, [column.key for column in site.catalog.columns]),
        data=DATA,
    )
    which = "" if len(sheets) == 1 else f", sheet {links[number - 1].text}"
    return Page(
        address=urls.sheet(urls.OPERATORS, number),
        template="operators.html.jinja2",
        title=f"All operators{which}",
        description=f"The {len(ordered):,} operators of PyTorch {site.catalog.source.version}, with the backends that answer each.",
        plate=urls.OPERATORS,
        view=view,
        crumbs=(Link("Operators", urls.OPERATORS),) if number > 1 else (),
        floors=(3, 4, 5),
        says="Rows are named at the border, sorted at the dispatcher, answered by kernels.",
        scripts=("operators.js",),
        previous=links[number - 2].address if number > 1 else "",
        following=links[number].address if number < len(links) else "",
    )


def data_script(site: Site) -> bytes:
    """All rows for the filter, as a script that sets one global: `fetch` does not work on file://."""
    columns = [column.key for column in site.catalog.columns]
    rows = [
        [row.name, row.address, row.kind, row.python, "".join(letter or "-" for letter in row.letters)]
        for row in (_row(site, op) for op in site.catalog.in_order)
    ]
    body = json.dumps({"keys": columns, "rows": rows}, separators=(",", ":"), ensure_ascii=True)
    return f"window.ATLAS_OPERATORS={body};\n".replace("</", "<\\/").encode()


def kind_of(op: Operator) -> str:
    """The kind of an operator as a letter: `f` functional, `i` in place, `o` out=."""
    if " out" in op.schema and "!) " in op.schema.rpartition("*")[2]:
        return "o"
    return "i" if op.base.endswith("_") and not op.base.endswith("__") else "f"


def _row(site: Site, op: Operator) -> Row:
    link = site.operator(op.name)
    owners = dict.fromkeys(binding.python.rpartition(".")[0] for binding in op.bindings)
    return Row(
        name=short_name(op.name),
        address=link.address if link else "",
        kind=kind_of(op),
        generated=op.origin is Origin.GENERATED,
        python=", ".join(owner.removeprefix("torch.") for owner in owners),
        letters=site.catalog.letters[op.name],
        declared=site.receipt(op.declared.path, op.declared.line),
    )


def _profiles(site: Site) -> tuple[Profile, ...]:
    found = []
    for number, column in enumerate(site.catalog.columns):
        if not column.backend:
            continue
        letters = [row[number] for row in site.catalog.letters.values()]
        own, default, composed = letters.count("K") + letters.count("S"), letters.count("D"), letters.count("C")
        none = sum(letter in ("", "f", "w", "e") for letter in letters)
        if own + default + composed + none:
            found.append(Profile(column.label, own, default, composed, none, len(letters)))
    return tuple(found)
