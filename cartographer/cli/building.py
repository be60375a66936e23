# SPDX-License-Identifier: BSD-3-Clause
"""The command `build`: from a PyTorch to its atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.checkout.open import SourceRequest
    from cartographer.pipeline.collection import Failed

_A_CORE = 8  # processes: more only take memory, and starting thousands takes minutes


@click.command("build", short_help="Build the atlas of a PyTorch.")
@click.argument("versions", nargs=-1, metavar="[VERSION]...")
@click.option("--repo", metavar="PATH-OR-URL", help="An existing clone (bare, worktree, shallow, partial); it is only read.")
@click.option("--source", "sources", metavar="PATH", multiple=True, help="An unpacked tree, a checkout, a .whl file, or the word `installed` (may be given again).")
@click.option("--from", "origin", type=click.Choice(["wheel"]), help="Read the release's wheel instead of cloning.")
@click.option("--history", type=click.Choice(["lines", "files", "none"]), default="lines", show_default=True,
              help="How much history to bring: for the date of each line, of each file, or none.")  # fmt: skip
@click.option("--all-releases", is_flag=True, help="Every release tag of the repository, or every wheel that --source names or holds.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The folder to write; of several releases each gets <tag> in it. Default: atlas/<tag>.")
@click.option("--demo", is_flag=True, help="Build the small PyTorch-like repository that comes with cartographer.")
@click.option("--python", "interpreter", type=click.Path(path_type=Path), help="With --source installed: the Python whose torch is meant.")
@click.option("--offline", is_flag=True, help="Use what the cache holds; reach no network.")
@click.option("--jobs", "-j", type=click.IntRange(1), help="Processes that parse and draw, at most 8 a core. Default: one a core.")
@click.option("--no-html", is_flag=True, help="Write atlas.db alone.")
@click.option("--pages", type=click.IntRange(0), metavar="N", help="Of several releases, draw the pages of the N newest alone; `serve` draws the others as they are read. Default: all of up to 8; of more, the newest alone.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
def build_command(
    versions: tuple[str, ...], repo: str | None, sources: tuple[str, ...], origin: str | None, history: str, all_releases: bool, out: Path | None,
    demo: bool, interpreter: Path | None, offline: bool, jobs: int | None, no_html: bool, pages: int | None, quiet: bool,
) -> int:  # fmt: skip
    """Build the atlas of one PyTorch, or of several: `build v2.11.0`, `build v2.10.0 v2.11.0`.

    Without --repo, --source or --from, PyTorch's public repository is cloned into the cache; where it cannot be
    reached, the release's wheel is read, and what is missing is said.

    Atlases stand side by side in one folder: its page lists them, each page leads to the same page of another release,
    and each release has a plate that says what changed since the one before.
    """
    import os
    from contextlib import closing
    from dataclasses import replace

    from cartographer import progress
    from cartographer.checkout.cache import Cache
    from cartographer.checkout.open import SourceRequest
    from cartographer.errors import UsageError
    from cartographer.model.source import HistoryLevel
    from cartographer.pipeline import building, collection
    from cartographer.processes import short_lived

    if demo and (versions or repo or sources or origin or all_releases):
        raise UsageError("--demo builds its own repository", hint="give no version and no source with it")
    if all_releases and (versions or origin):
        raise UsageError("--all-releases names the versions itself", hint="leave them out, or leave it out")
    if len(sources) > 1 and versions:
        raise UsageError("several sources state their versions themselves", hint="leave the versions out")
    teller = progress.for_terminal(quiet=quiet)
    with short_lived(), closing(teller), Cache().in_use(teller):
        if demo:
            requests: tuple[SourceRequest, ...] = (_demo(),)
        elif all_releases:
            requests = collection.every_release(repo, sources, teller, offline=offline)
        else:
            requests = tuple(SourceRequest(v, repo, s, origin == "wheel") for v in versions or (None,) for s in sources or (None,))
        if not demo:
            requests = tuple(replace(r, history=HistoryLevel(history), offline=offline, python=interpreter) for r in requests)
        cores = os.cpu_count() or 1
        workers = min(jobs or cores, _A_CORE * cores)
        one = len(requests) == 1 and not all_releases
        if one and (demo or (out is not None and not collection.is_shelf(out))):
            _say(building.build(building.BuildRequest(requests[0], out or Path("atlas") / "demo", workers, not no_html), teller))
            return 0
        failed = collection.build_all(requests, out or Path("atlas"), teller, workers=workers, pages=0 if no_html else pages, built=_say)
    return _tell_failed(failed, one)


def _say(built: Path) -> None:
    """The page of an atlas, on standard output; commands find the atlas from now on."""
    from cartographer.query import atlases

    atlases.remember(built)
    page = built / "index.html"
    click.echo(str(page if page.is_file() else built))


def _tell_failed(failed: Sequence[Failed], one: bool) -> int:
    """One error for each release that could not be built."""
    from cartographer.cli import tell

    if one and failed:
        raise failed[0].error
    for lost in failed:
        tell(lost.error, lost.name)
    return int(bool(failed))


def _demo() -> SourceRequest:
    """The small repository, made anew: the same commits each time."""
    from cartographer.checkout.cache import Cache
    from cartographer.checkout.demo import DEMO_TAG, kept_demo_repository
    from cartographer.checkout.open import SourceRequest

    cache = Cache()
    return SourceRequest(version=DEMO_TAG, repo=str(kept_demo_repository((cache if cache.writable else Cache.passing()).folder("demo"))))
