# SPDX-License-Identifier: BSD-3-Clause
"""What a release costs after one that is near it: two tags of a clone, lines dated, with one cache.

    python benchmarks/near.py REPO TAG TAG
"""

import sys
import tempfile

from build import run


def main() -> None:
    repo, *tags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        costs = [run(["build", tag, "--repo", repo, "--out", f"{folder}/{tag}"], f"{folder}/cache") for tag in tags]
        for tag, cost in zip(tags, costs, strict=True):
            print(f"{tag:<16} {cost.wall:6.1f} s wall {cost.cpu:6.1f} s CPU {cost.cpu / costs[0].cpu:5.0%} of the first  peak {cost.peak:.0f} MB")


if __name__ == "__main__":
    main()
