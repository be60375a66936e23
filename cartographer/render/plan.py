# SPDX-License-Identifier: BSD-3-Clause
"""The table of contents of a site: which pages an atlas has, in what order, and which module builds each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.render import machine, search, twins, urls
from cartographer.render.pages import (
    checks,
    front,
    generated,
    guide,
    kernels,
    nodes,
    operator,
    operators,
    releases,
    source,
    strata,
    territory,
)
from cartographer.render.prose import guide_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.render.outline import Outline
    from cartographer.render.pages.frame import Page
    from cartographer.render.site import Site


class Job(NamedTuple):
    """One unit of work for a process: a kind of page, and which page of that kind."""

    kind: str
    key: str
    number: int = 1


_PLATES: Mapping[str, Callable[[Site], Page]] = {
    urls.MAP: front.build,
    urls.TERRITORY: territory.build,
    urls.STRATA: strata.build,
    urls.CHECKS: checks.build,
    urls.KERNELS: kernels.front,
    urls.GENERATED: generated.build,
    urls.NODES: nodes.build,
    urls.RELEASES: releases.build,
}

_DATA: Mapping[str, tuple[str, ...]] = {"search": (), "programs": machine.FILES, "operators": (operators.DATA,), "territory": (territory.DATA,)}


def jobs(outline: Outline) -> list[Job]:
    """All jobs of a site, the heaviest kinds first."""
    found = [Job("data", name) for name in _DATA]
    found += [Job("plate", address) for address in _PLATES]
    found += [Job("operators", "", number + 1) for number in range(operators.count_of_sheets(outline.operators))]
    for address, count in kernels.count_of_sheets(outline.stubs, outline.functions, outline.device).items():
        found += [Job("kernels", address, number + 1) for number in range(count)]
    found += [Job("unresolved", "", number + 1) for number in range(checks.count_of_sheets(outline.unresolved))]
    found += [Job("guide", slug) for slug in outline.texts]
    found += [Job("lines", "")] if outline.texts else []
    found += [Job("operator", key) for key in outline.keys]
    found += [Job("folder", path) for path in outline.folders]
    found += [Job("file", path) for path in outline.files]
    return found


def addresses(outline: Outline, job: Job) -> Iterable[str]:  # noqa: C901 - one case a kind of page
    """The addresses of a job's pages and files. Only shards of the search are not known before they are made."""
    match job.kind:
        case "plate":
            return [job.key]
        case "operators":
            return [urls.sheet(urls.OPERATORS, job.number)]
        case "kernels":
            return [urls.sheet(job.key, job.number)]
        case "unresolved":
            return [urls.sheet(checks.UNRESOLVED, job.number)]
        case "guide":
            return [guide_address(job.key)]
        case "lines":
            return [urls.LINES]
        case "operator":
            page = outline.settle(f"{job.key}.html")
            return [page, twins.address(page)]
        case "folder":
            return [outline.settle(urls.folder(job.key))]
        case "file":
            return [outline.settle(urls.file(job.key, part + 1)) for part in range(outline.files[job.key])]
        case "data":
            return _DATA[job.key]
        case kind:
            raise ValueError(f"no such kind of page: {kind}")


def pages(site: Site, job: Job) -> Iterable[Page]:  # noqa: C901 - one case a kind of page
    """The pages of one job, built."""
    match job.kind:
        case "plate":
            return [_PLATES[job.key](site)]
        case "operators":
            return [operators.build(site, job.number)]
        case "kernels":
            return [kernels.stub_sheet(site, job.number) if job.key == urls.STUBS else kernels.kernel_sheet(site, job.key, job.number)]
        case "unresolved":
            return [checks.unresolved_sheet(site, job.number)]
        case "guide":
            return [guide.build(site, job.key)]
        case "lines":
            return [guide.lines(site)]
        case "operator":
            return [operator.build(site, job.key)]
        case "folder":
            return [source.build_folder(site, job.key)]
        case "file":
            return source.build_file(site, job.key)
        case "data":
            return ()
        case kind:
            raise ValueError(f"no such kind of page: {kind}")


def files(site: Site, job: Job) -> Iterable[tuple[str, bytes]]:
    """The other files of a job: the JSON twin of an operator, data for scripts and for programs."""
    match job.kind, job.key:
        case "operator", key:
            return [twins.operator_twin(site, key)]
        case "data", "search":
            return search.shards(site)
        case "data", "programs":
            return machine.files(site)
        case "data", "operators":
            return [(operators.DATA, operators.data_script(site))]
        case "data", "territory":
            return [(territory.DATA, territory.data_script(site))]
        case _:
            return ()
