# SPDX-License-Identifier: BSD-3-Clause
"""What one more release costs: CPU seconds and megabytes of each atlas, beside how much of the source had not been read before.

    python benchmarks/releases.py REPO RELEASE... [--pages N]

A RELEASE is a tag of REPO, an unpacked tree or a wheel. All are built with one cache, oldest first, without line dates
(strata.py measures those: they add a sixth); pages are drawn of the newest N, by default of as many as `build` draws of many
releases. A straight line through the points gives the price of a release as such and of each changed megabyte. Thirty releases
are estimated from those that were measured: minor releases between them lie on a straight line between their sizes.
"""

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from build import run

from cartographer.checkout.git import Git, find_git_dir
from cartographer.checkout.git_tree import GitTree, resolve
from cartographer.checkout.manifest import manifest
from cartographer.checkout.open import SourceRequest, open_tree
from cartographer.checkout.refs import numbers
from cartographer.pipeline.collection import NEWEST
from cartographer.progress import SilentProgress
from cartographer.store.reader import Reader

MANY, LIMIT = 30, 1_000  # releases, and the MB that they are to stay under


class Built(NamedTuple):
    """One release."""

    version: str
    new: float  # MB of source that no release before had
    cpu: float
    database: float  # MB
    pages: float  # MB; 0 when they were not drawn


def scanned(repo: str, release: str, cache: Path) -> dict[str, int]:
    """Blob -> size of every file that a build of this release scans."""
    if Path(release).exists():
        tree = open_tree(SourceRequest(source=release, cache=cache), SilentProgress())
    else:
        git_dir = find_git_dir(Path(repo))
        assert git_dir is not None, f"{repo} is no git repository"
        tree = GitTree(git_dir, resolve(Git(git_dir), release, repo), repo)
    return {scoped.file.blob: scoped.file.size for scoped in manifest(tree.files()).files}


def line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """(value at 0, slope) of the straight line nearest to the points."""
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    return mean_y - slope * mean_x, slope


def measure(repo: str, releases: list[str], drawn: int, folder: Path) -> list[Built]:
    """Build them all and print a row for each."""
    print(f"{'release':<20} {'scanned':>10} {'new':>10} {'share':>6} {'CPU':>8} {'wall':>8} {'peak':>8} {'atlas.db':>10} {'pages':>10} {'files':>7}")
    seen: dict[str, int] = {}
    built = []
    for number, release in enumerate(releases):
        blobs = scanned(repo, release, folder / "blobs")
        total, new = (sum(found.values()) / 1e6 for found in (blobs, {b: s for b, s in blobs.items() if b not in seen}))
        seen |= blobs
        out = folder / "atlas" / str(number)
        source = ["--source", release] if Path(release).exists() else [release, "--repo", repo, "--history", "none"]
        wall, cpu, peak = run(["build", *source, "--out", str(out), *([] if number >= len(releases) - drawn else ["--no-html"])], str(folder / "cache"))
        sizes = {p.relative_to(out).as_posix(): p.stat().st_size / 1e6 for p in out.rglob("*") if p.is_file()}
        database = sizes.pop("atlas.db")
        with Reader(out) as reader:
            version = reader.info().source.version
        built.append(Built(version, new, cpu, database, sum(sizes.values())))
        print(f"{Path(release).name[:20]:<20} {total:>7.1f} MB {new:>7.1f} MB {new / total:>6.0%} {cpu:>6.1f} s {wall:>6.1f} s {peak:>5.0f} MB {database:>7.1f} MB"
              f" {sum(sizes.values()):>7.1f} MB {len(sizes) + 1:>7,}", flush=True)  # fmt: skip
    return built


def minor(version: str) -> int:
    """Which minor release it is, counted from 1.0: 1.13 was followed by 2.0."""
    major, number = numbers(version)[:2]
    return number + 14 * (major - 1)


def between(built: list[Built]) -> float:
    """The mean size of a database over all minor releases from the first to the last, those between the measured ones interpolated."""
    sizes = sorted({minor(one.version): one.database for one in built}.items())
    found = [sizes[0][1]]
    for (start, size), (end, size_then) in pairwise(sizes):
        found += [size + (size_then - size) * step / (end - start) for step in range(1, end - start + 1)]
    return sum(found) / len(found)


def tell(built: list[Built], cache: float) -> None:
    """The price of a further release, and what thirty come to."""
    alike = [(one.new, one.cpu) for one in built[1:] if not one.pages] or [(one.new, one.cpu) for one in built]
    base, slope = line(alike)
    mean = sum(new for new, _ in alike) / len(alike)
    print(f"a further release: {base:.1f} s CPU and {slope:.2f} s for each new MB; the cache holds {cache:.0f} MB")
    databases, pages = [one.database for one in built], sum(one.pages for one in built)
    drawn = sum(one.pages > 0 for one in built)
    print(f"{MANY} releases: {built[0].cpu + (MANY - 1) * (base + slope * mean):,.0f} s CPU without pages")
    for which, each in (("those from the first to the last", between(built)), ("the largest", max(databases))):
        whole = MANY * each + pages
        print(f"{MANY} releases like {which}: {MANY * each:,.0f} MB of databases of {each:.1f} MB, {pages:,.0f} MB of pages of {drawn}:"
              f" {whole:,.0f} MB, {'under' if whole < LIMIT else 'NOT under'} {LIMIT:,} MB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repo")
    parser.add_argument("releases", nargs="+")
    parser.add_argument("--pages", type=int, default=NEWEST)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = measure(asked.repo, asked.releases, asked.pages, Path(folder))
        cache = sum(p.stat().st_size for p in Path(folder, "cache").rglob("*") if p.is_file()) / 1e6
    tell(built, cache)


if __name__ == "__main__":
    main()
