# SPDX-License-Identifier: BSD-3-Clause
"""What one more release costs: CPU seconds and megabytes of each atlas, beside how much of the source had not been read before.

    python benchmarks/releases.py REPO TAG... [--no-html]

All tags are built with one cache, oldest first, without line dates (strata.py measures those). A straight line through
the points gives the price of a release as such and of each changed megabyte, and from it that of thirty releases.
"""

import sys
import tempfile
from pathlib import Path

from build import run

from cartographer.checkout.git import Git, find_git_dir
from cartographer.checkout.git_tree import GitTree, resolve
from cartographer.checkout.manifest import manifest


def scanned(repo: str, tag: str) -> dict[str, int]:
    """Blob -> size of every file that a build of this tag scans."""
    git_dir = find_git_dir(Path(repo))
    assert git_dir is not None, f"{repo} is no git repository"
    tree = GitTree(git_dir, resolve(Git(git_dir), tag, repo), repo)
    return {scoped.file.blob: scoped.file.size for scoped in manifest(tree.files()).files}


def line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """(value at 0, slope) of the straight line nearest to the points."""
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    return mean_y - slope * mean_x, slope


def main() -> None:
    repo, *tags = (word for word in sys.argv[1:] if not word.startswith("--"))
    more = [word for word in sys.argv[1:] if word.startswith("--")]
    seen: dict[str, int] = {}
    costs: list[tuple[float, float]] = []
    sizes: list[float] = []
    print(f"{'tag':<8} {'scanned':>10} {'new':>10} {'share':>6} {'CPU':>8} {'wall':>8} {'peak':>8} {'atlas.db':>10} {'all files':>10} {'files':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for tag in tags:
            blobs = scanned(repo, tag)
            total, new = (sum(found.values()) / 1e6 for found in (blobs, {b: s for b, s in blobs.items() if b not in seen}))
            seen |= blobs
            words = ["build", tag, "--repo", repo, "--history", "none", "--out", f"{folder}/atlas/{tag}", *more]
            wall, cpu, peak = run(words, f"{folder}/cache")
            pages = [p.stat().st_size for p in (Path(folder) / "atlas" / tag).rglob("*") if p.is_file()]
            costs.append((new, cpu))
            sizes.append(sum(pages) / 1e6)
            db = (Path(folder) / "atlas" / tag / "atlas.db").stat().st_size / 1e6
            print(f"{tag:<8} {total:>7.1f} MB {new:>7.1f} MB {new / total:>6.0%} {cpu:>6.1f} s {wall:>6.1f} s {peak:>5.0f} MB {db:>7.1f} MB {sizes[-1]:>7.1f} MB {len(pages):>7,}",
                  flush=True)  # fmt: skip
        cache = sum(p.stat().st_size for p in Path(folder, "cache").rglob("*") if p.is_file()) / 1e6
    base, slope = line(costs[1:]) if len(costs) > 2 else (costs[-1][1], 0.0)
    mean = sum(new for new, _ in costs[1:]) / max(1, len(costs) - 1)
    print(f"a further release: {base:.1f} s CPU and {slope:.2f} s for each new MB; the cache holds {cache:.0f} MB")
    print(f"thirty releases like the last one: {30 * sizes[-1]:,.0f} MB, {costs[0][1] + 29 * (base + slope * mean):,.0f} s CPU")


if __name__ == "__main__":
    main()
