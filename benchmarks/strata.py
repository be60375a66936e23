# SPDX-License-Identifier: BSD-3-Clause
"""Dating all lines of a tag, against the bare patch stream that it is made from.

    python benchmarks/strata.py REPO TAG
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cartographer.history.strata import date_tree
from cartographer.progress import SilentProgress


def bare_stream(repo: str, rev: str) -> tuple[float, float]:
    """(wall, CPU) of `git diff-tree --stdin -p -U0 -M` over all commits, in one process, thrown away."""
    log = subprocess.run(["git", "-C", repo, "rev-list", "--parents", "--topo-order", "--reverse", rev], capture_output=True, check=True, text=True)
    wanted = "".join(" ".join(line.split()[:2]) + "\n" for line in log.stdout.splitlines())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        ["git", "-C", repo, "diff-tree", "--stdin", "-r", "--root", "-p", "-U0", "-M", "--full-index"], input=wanted, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, text=True, check=False,
    )
    if done.returncode:
        print("!! git gave up before the end (a missing blob?): the bare figure is worth nothing in this repository")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    repo, tag = sys.argv[1:3]
    wall, cpu = bare_stream(repo, f"refs/tags/{tag}")
    print(f"bare patch stream: {wall:.1f} s wall, {cpu:.1f} s CPU")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("all lines dated", "nothing changed"):
            start = time.perf_counter()
            strata = date_tree(Path(repo), f"refs/tags/{tag}", level="lines", cache_dir=Path(cache), progress=SilentProgress())
            took = time.perf_counter() - start
            print(f"{name}: {took:.1f} s wall, {took / wall:.2f} x the bare stream; {len(strata.files):,} files, {len(strata.commits):,} commits")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, of git {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
