# SPDX-License-Identifier: BSD-3-Clause
"""build: from a PyTorch to its atlas."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cartographer.checkout.open import SourceRequest


@click.command("build", short_help="Build the atlas of a PyTorch.")
@click.argument("versions", nargs=-1, metavar="[VERSION]...")
@click.option("--repo", metavar="PATH-OR-URL", help="An existing clone (bare, worktree, shallow, partial); it is only read.")
@click.option("--source", metavar="PATH", help="An unpacked tree, a checkout, a .whl file, or the word `installed`.")
@click.option("--from", "origin", type=click.Choice(["wheel"]), help="Read the release's wheel instead of cloning.")
@click.option("--history", type=click.Choice(["lines", "files", "none"]), default="lines", show_default=True,
              help="How much history to bring: for the date of each line, of each file, or none.")  # fmt: skip
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The folder to write. Default: atlas/<tag>.")
@click.option("--demo", is_flag=True, help="Build the small PyTorch-like repository that comes with cartographer.")
@click.option("--python", "interpreter", type=click.Path(path_type=Path), help="With --source installed: the Python whose torch is meant.")
@click.option("--offline", is_flag=True, help="Use what the cache holds; reach no network.")
@click.option("--jobs", "-j", type=click.IntRange(1), help="Processes that parse. Default: one a core.")
@click.option("--no-html", is_flag=True, help="Write atlas.db alone.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
def build_command(
    versions: tuple[str, ...], repo: str | None, source: str | None, origin: str | None, history: str, out: Path | None, demo: bool,
    interpreter: Path | None, offline: bool, jobs: int | None, no_html: bool, quiet: bool,
) -> None:  # fmt: skip
    """Build the atlas of one PyTorch, or of several: `build v2.11.0`.

    Without --repo, --source or --from, PyTorch's public repository is cloned into the cache; where it cannot be
    reached, the release's wheel is read, and what is missing is said.
    """
    import os

    from cartographer import progress
    from cartographer.checkout.open import SourceRequest
    from cartographer.errors import UsageError
    from cartographer.model.source import HistoryLevel
    from cartographer.pipeline import building as pipeline
    from cartographer.query import atlases

    if demo and (versions or repo or source or origin):
        raise UsageError("--demo builds its own repository", hint="give no version and no source with it")
    if out is not None and len(versions) > 1:
        raise UsageError("--out names one folder, but there are several versions", hint="build them one by one, or without --out")
    teller = progress.for_terminal(quiet=quiet)
    try:
        for version in versions or (None,):
            request = _demo() if demo else SourceRequest(
                version=version, repo=repo, source=source, from_wheel=origin == "wheel", history=HistoryLevel(history),
                offline=offline, python=interpreter,
            )  # fmt: skip
            built = pipeline.build(pipeline.BuildRequest(request, out, workers=jobs or os.cpu_count() or 1, html=not no_html), teller)
            atlases.remember(built)
            page = built / "index.html"
            click.echo(str(page if page.is_file() else built))
    finally:
        teller.close()


def _demo() -> SourceRequest:
    """The small repository, made anew: the same commits each time."""
    import shutil

    from cartographer.checkout.cache import Cache
    from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
    from cartographer.checkout.open import SourceRequest

    cache = Cache()
    target = (cache.folder("demo") if cache.writable else Path(tempfile.mkdtemp())) / "mini_torch.git"
    shutil.rmtree(target, ignore_errors=True)
    return SourceRequest(version=DEMO_TAG, repo=str(make_demo_repository(target)))
