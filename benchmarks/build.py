# SPDX-License-Identifier: BSD-3-Clause
"""Cold build, unchanged build and look-ups of one tree, as multiples of a bare tree-sitter parse of the same files.

    python benchmarks/build.py TREE
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cartographer.checkout.cache import Cache
from cartographer.checkout.directory import DirectoryTree
from cartographer.checkout.manifest import manifest
from cartographer.model.location import Language
from cartographer.scan import parsing


def bare_parse(tree: str) -> tuple[float, int, int]:
    """(CPU seconds of one process, files, bytes): every file that a build scans, parsed and thrown away."""
    with tempfile.TemporaryDirectory() as cache:
        source = DirectoryTree(Path(tree), Cache(Path(cache)))
        scope = manifest(source.files())
        languages = {scoped.file.path: scoped.language for scoped in scope.files}
        texts = [(languages[path], data) for path, data in source.read_many(languages)]
    start = time.process_time()
    for language, data in texts:
        parsing.parse(data, "python" if language is Language.PYTHON else "cpp")
    return time.process_time() - start, len(texts), sum(len(data) for _, data in texts)


def run(words: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """(wall, CPU of the command and its children, peak MB) of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cartographer", *words], check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu, after.ru_maxrss / 1024


def main() -> None:
    tree = sys.argv[1]
    parse, files, size = bare_parse(tree)
    print(f"bare parse: {parse:.1f} s CPU, {files:,} files, {size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CARTOGRAPHER_CACHE": f"{folder}/cache"}
        atlas = f"{folder}/atlas"
        for name, words in (
            ("cold build", ["build", "--source", tree, "--out", atlas]),
            ("nothing changed", ["build", "--source", tree, "--out", atlas]),
            ("facts cached, all else anew", ["build", "--source", tree, "--out", f"{folder}/again"]),
            ("where index_select", ["where", "index_select", "--backend", "CUDA", "--atlas", atlas]),
            ("show addmm", ["show", "addmm", "--atlas", atlas]),
            ("search", ["search", "caching", "allocator", "--atlas", atlas]),
        ):
            wall, cpu, peak = run(words, environment)
            print(f"{name:<28} {wall:7.2f} s wall {cpu:7.2f} s CPU  {cpu / parse:5.2f} x bare parse  peak {peak:5.0f} MB")
        pages = [path for path in Path(atlas).rglob("*") if path.is_file()]
        print(f"atlas: {sum(p.stat().st_size for p in pages) / 1e6:.0f} MB in {len(pages):,} files, atlas.db {(Path(atlas) / 'atlas.db').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
