# SPDX-License-Identifier: BSD-3-Clause
"""The pages of kernels: dispatch stubs, device kernels and the functions behind operators, each with the operators that reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.pages.frame import Link, Page, Receipt, sheet_names
from cartographer.render.site import STUBS_A_SHEET, Reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.atlas import Stub
    from cartographer.render.site import Site

FUNCTIONS = "kernels/functions.html"
DEVICE = "kernels/device.html"
ROWS = 400


@dataclass(frozen=True, slots=True)
class Slot:
    """One kernel that is registered to a stub."""

    device: str
    kernel: str
    receipt: Receipt
    address: str | None


@dataclass(frozen=True, slots=True)
class StubRow:
    """One dispatch stub as the page lists it."""

    anchor: str
    name: str
    declared: tuple[Receipt, ...]
    defined: tuple[Receipt, ...]
    slots: tuple[Slot, ...]
    operators: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One function, with the operators that reach it."""

    name: str
    address: str | None
    receipt: Receipt
    backends: tuple[str, ...]
    operators: tuple[Link, ...]
    through: tuple[Link, ...]  # operators that come by because they call another operator


@dataclass(frozen=True, slots=True)
class Section:
    """One of the lists of kernels, as the front page of kernels names it."""

    title: str
    says: str
    count: int
    address: str


@dataclass(frozen=True, slots=True)
class KernelsFront:
    """The content of the front page of kernels."""

    sections: tuple[Section, ...]
    busiest: tuple[KernelRow, ...]


@dataclass(frozen=True, slots=True)
class KernelSheet:
    """One sheet of a list of stubs or functions."""

    title: str
    says: str
    number: int
    sheets: tuple[Link, ...]
    stubs: tuple[StubRow, ...]
    rows: tuple[KernelRow, ...]
    total: int


def front(site: Site) -> Page:
    """The front page of kernels, with the lists that there are."""
    functions, device = site.function_rows, site.device_rows
    sections = (
        Section("Dispatch stubs", "Tables of function pointers: one operator's arithmetic, once for each kind of device and vector unit.",
                len(site.catalog.stubs), urls.STUBS),
        Section("Functions that the dispatcher calls, and what lies below", "Entries, kernels and library calls on some operator's way down.",
                len(functions), FUNCTIONS),
        Section("Device code", "Where the ways end: __global__ functions and Metal kernels, the functors and lambdas that they run, and those in the loops of the CPU.", len(device), DEVICE),
    )  # fmt: skip
    busiest = sorted(functions, key=lambda row: (-len(row.operators) - len(row.through), row.name))[:25]
    view = KernelsFront(tuple(s for s in sections if s.count), tuple(_row(site, row) for row in busiest))
    return _page(urls.KERNELS, "kernels.html.jinja2", "Kernels", "Every kernel function, stub and device kernel, with the operators that reach it.", view)


def count_of_sheets(stubs: int, functions: int, device: int) -> dict[str, int]:
    """The number of sheets of each list, by the list's address."""
    return {urls.STUBS: -(-stubs // STUBS_A_SHEET), FUNCTIONS: -(-functions // ROWS), DEVICE: -(-device // ROWS)}


def stub_sheet(site: Site, number: int) -> Page:
    """The page of one sheet of stubs; `number` counts from 1."""
    stubs = site.catalog.stubs
    names = [stub.name.rpartition("::")[2] for stub in stubs]
    users = site.stub_users
    part = slice((number - 1) * STUBS_A_SHEET, number * STUBS_A_SHEET)
    stub_rows = tuple(_stub(site, stub, anchor, users) for stub, anchor in zip(stubs[part], urls.distinct(names[part]), strict=True))
    view = KernelSheet(
        "Dispatch stubs",
        "A stub is declared in a header, defined once, and filled by REGISTER_DISPATCH lines in other files: that is why a search for the "
        "function's name ends at the stub.",
        number, _links(urls.STUBS, names, STUBS_A_SHEET), stub_rows, (), len(stubs),
    )  # fmt: skip
    return _page(urls.sheet(urls.STUBS, number), "kernel_sheet.html.jinja2", "Dispatch stubs", "All dispatch stubs with the kernels registered to them.", view)


def kernel_sheet(site: Site, address: str, number: int) -> Page:
    """The page of one sheet of functions or device kernels; `number` counts from 1."""
    rows = site.function_rows if address == FUNCTIONS else site.device_rows
    names = [row.name.rpartition("::")[2] for row in rows]
    title = "Kernel functions" if address == FUNCTIONS else "Device code"
    says = (
        "Functions on some operator's way from the dispatcher down, in the order of their last name."
        if address == FUNCTIONS
        else "Code in which ways down end. On an accelerator: functions marked __global__ and Metal kernels, with the functors and lambdas that they run. "
        "On the CPU: functors, functions and lambdas that its loops run. A kernel without operators is one that no chain of this atlas reaches: it lies on a "
        "way for which a chain had no room (the chain says so), or is launched through a template, by hand, or not at all."
    )
    part = rows[(number - 1) * ROWS : number * ROWS]
    view = KernelSheet(title, says, number, _links(address, names, ROWS), (), tuple(_row(site, row) for row in part), len(rows))
    return _page(urls.sheet(address, number), "kernel_sheet.html.jinja2", title, f"{title} with the operators that reach them.", view)


def _links(address: str, names: Sequence[str], size: int) -> tuple[Link, ...]:
    return tuple(Link(text, urls.sheet(address, number)) for number, text in enumerate(sheet_names(names, size), start=1))


def _stub(site: Site, stub: Stub, anchor: str, users: dict[str, tuple[str, ...]]) -> StubRow:
    last = stub.name.rpartition("::")[2]
    return StubRow(
        anchor=anchor,
        name=stub.name,
        declared=tuple(site.receipt(*place) for place in stub.declared),
        defined=tuple(site.receipt(*place) for place in stub.defined),
        slots=tuple(
            Slot(device, kernel, site.receipt(path, line), site.place(path, line)) for device, kernel, path, line in stub.registrations
        ),
        operators=tuple(link for link in map(site.operator, users.get(last, ())) if link),
    )


def _row(site: Site, row: Reached) -> KernelRow:
    return KernelRow(
        row.name, site.place(row.path, row.line), site.receipt(row.path, row.line), row.backends,
        tuple(link for link in map(site.operator, row.operators) if link), tuple(link for link in map(site.operator, row.through) if link),
    )  # fmt: skip


def _page(address: str, template: str, title: str, description: str, view: object) -> Page:
    crumbs = () if address == urls.KERNELS else (Link("Kernels", urls.KERNELS),)
    floors = (5, 8) if address.startswith("kernels/device") else (5,)
    return Page(address, template, title, description, urls.KERNELS, view, crumbs, floors, "Kernels are the fifth floor; device kernels run on the eighth.")
