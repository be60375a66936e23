# SPDX-License-Identifier: BSD-3-Clause
"""Which pages an atlas has, in what order, and who builds each: the table of contents of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.render.pages import operator, operators, source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.render.pages.frame import Page
    from cartographer.render.site import Site


class Job(NamedTuple):
    """One unit of work for a process: a kind of page, and which one."""

    kind: str
    key: str


def jobs(site: Site) -> list[Job]:
    """All jobs, the heaviest kinds first."""
    catalog = site.catalog
    found = [Job("operators", str(number + 1)) for number in range(operators.count_of_sheets(site))]
    found += [Job("operator", key) for key in catalog.bases]
    found += [Job("folder", path) for path in catalog.folders]
    found += [Job("file", entry.path) for entry in catalog.files]
    return found


def pages(site: Site, job: Job) -> Iterable[Page]:
    """The pages of one job."""
    match job.kind:
        case "operators":
            return [operators.build(site, int(job.key))]
        case "operator":
            return [operator.build(site, job.key)]
        case "folder":
            return [source.build_folder(site, job.key)]
        case "file":
            return source.build_file(site, job.key)
        case kind:
            raise ValueError(f"no such kind of page: {kind}")


def twins(site: Site, job: Job) -> Iterable[tuple[str, bytes]]:
    """The files for programs that stand beside the pages of a job."""
    return ()


def data(site: Site) -> Iterable[tuple[str, bytes]]:
    """Data that scripts of single pages load."""
    return ((operators.DATA, operators.data_script(site)),)
