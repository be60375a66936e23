# SPDX-License-Identifier: BSD-3-Clause
"""The page of generated code: the files that only a build has, with the generator and the template of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.pages.frame import Link, Page, Receipt

if TYPE_CHECKING:
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class GeneratedRow:
    """One generated file as the page lists it."""

    anchor: str
    name: str
    holds: str
    each: str  # for what there is one such file: "name", "name and namespace"; "" = it is one file
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

    @property
    def files(self) -> int:
        """The rows that are one file, or the shards of one."""
        return sum(not row.each for row in self.rows)

    @property
    def families(self) -> int:
        """The rows that stand for a file each of many names or keys."""
        return len(self.rows) - self.files


_HOLE = re.compile(r"\{(\w+)[^{}]*\}")


def _plain(name: str) -> str:
    """A name with holes as a reader would write it: `c_shim_<key>.cpp` for `c_shim_{dispatch_key.lower()}.cpp`."""
    return _HOLE.sub(lambda hole: f"<{_word(hole[1])}>", name)


def _word(variable: str) -> str:
    return variable.rpartition("_")[2] or variable


def build(site: Site) -> Page:
    """The page of generated code."""
    bound: dict[str, set[str]] = {}
    for op in site.catalog.operators:
        for binding in op.bindings:
            bound.setdefault(site.unsharded(binding.file), set()).add(op.name)
    names = [_plain(entry.name) for entry in site.catalog.generated]
    rows = tuple(
        GeneratedRow(
            anchor=anchor,
            name=name,
            holds=entry.holds,
            each=" and ".join(dict.fromkeys(map(_word, _HOLE.findall(entry.name)))),
            shards=entry.shards,
            generator=site.receipt(entry.generator, entry.generator_line) if entry.generator else None,
            template=site.receipt(entry.template) if entry.template else None,
            operators=len(bound.get(site.unsharded(entry.name), ())),
        )
        for entry, name, anchor in zip(site.catalog.generated, names, urls.distinct(names), strict=True)
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
