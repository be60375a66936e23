# SPDX-License-Identifier: BSD-3-Clause
"""Which pages an atlas has, in what order, and who builds each: the table of contents of the site."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.render.pages.frame import Page
    from cartographer.render.site import Site


class Job(NamedTuple):
    """One unit of work for a process: a kind of page, and which one."""

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


def jobs(site: Site) -> list[Job]:
    """All jobs, the heaviest kinds first."""
    catalog = site.catalog
    found = [Job("data", name) for name in ("search", "programs", "operators", "territory")]
    found += [Job("plate", address) for address in _PLATES]
    found += [Job("operators", "", number + 1) for number in range(operators.count_of_sheets(site))]
    for address, count in kernels.count_of_sheets(site).items():
        found += [Job("kernels", address, number + 1) for number in range(count)]
    found += [Job("unresolved", "", number + 1) for number in range(checks.count_of_sheets(site))]
    found += [Job("guide", text.slug) for text in site.book.texts]
    found += [Job("lines", "")] if site.book.texts else []
    found += [Job("operator", key) for key in catalog.bases]
    found += [Job("folder", path) for path in catalog.folders]
    found += [Job("file", entry.path) for entry in catalog.files]
    return found


def pages(site: Site, job: Job) -> Iterable[Page]:  # noqa: C901 - one case a kind of page
    """The pages of one job."""
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
    """What else belongs to a job: the JSON twin of an operator, data for scripts and for programs."""
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
