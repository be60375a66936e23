# SPDX-License-Identifier: BSD-3-Clause
"""The page of generated code: the files that only a build has, with the generator and the template of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.pages.frame import Link, Page, Receipt

if TYPE_CHECKING:
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class GeneratedRow:
    """One generated file as the page lists it."""

    name: str
    holds: str
    shards: int
    generator: Receipt | None
    template: Receipt | None
    operators: int  # bound there


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """The content of the page of generated code."""

    rows: tuple[GeneratedRow, ...]
    added: tuple[Link, ...]  # operators that stand in no list
    generators: int


def build(site: Site) -> Page:
    """The page of generated code."""
    bound: dict[str, set[str]] = {}
    for op in site.catalog.operators:
        for binding in op.bindings:
            bound.setdefault(site.unsharded(binding.file), set()).add(op.name)
    rows = tuple(
        GeneratedRow(
            name=entry.name,
            holds=entry.holds,
            shards=entry.shards,
            generator=site.receipt(entry.generator, entry.generator_line) if entry.generator else None,
            template=site.receipt(entry.template) if entry.template else None,
            operators=len(bound.get(site.unsharded(entry.name), ())),
        )
        for entry in site.catalog.generated
    )
    added = tuple(link for link in (site.operator(op.name) for op in site.catalog.operators if op.origin.value == "generated") if link)
    return Page(
        address=urls.GENERATED,
        template="generated.html.jinja2",
        title="Generated code",
        description="The files that PyTorch's build writes: generator, template, shards, and what is in them.",
        plate=urls.GENERATED,
        view=GeneratedPage(rows, added, len({entry.generator for entry in site.catalog.generated})),
        floors=(3, 4, 5),
        says="Generated code lies between the border and the kernels.",
    )
