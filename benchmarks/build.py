# SPDX-License-Identifier: BSD-3-Clause
"""Builds and look-ups of one tree, as multiples of a bare tree-sitter parse of the same files.

    python benchmarks/build.py TREE [NEIGHBOUR]

NEIGHBOUR is a tree of a near release; without one, a copy of TREE with a line put on top of every twentieth file stands for it.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from cartographer.checkout.cache import Cache
from cartographer.checkout.directory import DirectoryTree
from cartographer.checkout.manifest import manifest
from cartographer.model.location import Language
from cartographer.scan import parsing
from cartographer.store.reader import Reader

CHANGED = 20  # one file in so many is changed in a neighbour that we make
ASKED = (
    ("where", "index_select", "--backend", "CUDA"),
    ("show", "addmm"),
    ("search", "caching", "allocator"),
)


class Cost(NamedTuple):
    wall: float
    cpu: float  # of the command and its children
    peak: float  # MB of the largest process


def scanned(tree: str) -> dict[str, tuple[Language, bytes]]:
    """Every file that a build scans."""
    with tempfile.TemporaryDirectory() as cache:
        source = DirectoryTree(Path(tree), Cache(Path(cache)))
        languages = {scoped.file.path: scoped.language for scoped in manifest(source.files()).files}
        return {path: (languages[path], data) for path, data in source.read_many(languages)}


def bare_parse(files: dict[str, tuple[Language, bytes]]) -> float:
    """CPU seconds of one process that parses all files and throws the trees away."""
    start = time.process_time()
    for language, data in files.values():
        parsing.parse(data, "python" if language is Language.PYTHON else "cpp")
    return time.process_time() - start


def neighbour(tree: str, folder: str, files: dict[str, tuple[Language, bytes]]) -> str:
    """A copy of a tree in which some files have one line more."""
    copy = Path(folder) / "neighbour"
    subprocess.run(["cp", "-a", tree, str(copy)], check=True)
    for path in sorted(files)[::CHANGED]:
        language, data = files[path]
        (copy / path).write_bytes((b"# changed\n" if language is Language.PYTHON else b"// changed\n") + data)
    return str(copy)


def run(words: list[str], cache: str) -> Cost:
    """What one command costs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "cartographer", *words], env={**os.environ, "CARTOGRAPHER_CACHE": cache}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)  # of this command alone: what children of ours used before does not count
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"cartographer {' '.join(words)} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    tree = sys.argv[1]
    files = scanned(tree)
    parse = bare_parse(files)
    size = sum(len(data) for _, data in files.values())
    print(f"bare parse: {parse:.1f} s CPU, {len(files):,} files, {size / 1e6:.1f} MB")

    def told(name: str, cost: Cost, cold: Cost | None = None) -> Cost:
        part = f"  {cost.cpu / cold.cpu:5.0%} of cold" if cold else ""
        print(f"{name:<28} {cost.wall:7.2f} s wall {cost.cpu:7.2f} s CPU  {cost.cpu / parse:5.2f} x bare parse  peak {cost.peak:5.0f} MB{part}")
        return cost

    with tempfile.TemporaryDirectory() as folder:
        cache, atlas = f"{folder}/cache", f"{folder}/atlas"
        near = sys.argv[2] if len(sys.argv) > 2 else neighbour(tree, folder, files)
        cold = told("cold build", run(["build", "--source", tree, "--out", atlas], cache))
        told("nothing changed", run(["build", "--source", tree, "--out", atlas], cache), cold)
        told("facts cached, all else anew", run(["build", "--source", tree, "--out", f"{folder}/again"], cache), cold)
        told("a neighbouring release", run(["build", "--source", near, "--out", f"{folder}/near"], cache), cold)
        told("no pages", run(["build", "--source", tree, "--no-html", "--out", f"{folder}/bare"], cache), cold)
        for words in ASKED:
            told(" ".join(words[:2]), min((run([*words, "--atlas", atlas], cache) for _ in range(5)), key=lambda cost: cost.wall))
        start = run(["--version"], cache)
        told("the command alone", start)
        with Reader(Path(atlas)) as reader:
            print("where the cold build's time goes (wall):")
            stages = dict(reader.info().seconds)
        read = stages.pop("read")
        for stage, seconds in {**stages, "atlas.db and pages": cold.wall - read}.items():
            print(f"  {stage:<34} {seconds:6.2f} s  {seconds / cold.wall:4.0%}")
        pages = [path for path in Path(atlas).rglob("*") if path.is_file()]
        print(f"atlas: {sum(p.stat().st_size for p in pages) / 1e6:.0f} MB in {len(pages):,} files, atlas.db {(Path(atlas) / 'atlas.db').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
