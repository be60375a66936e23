# SPDX-License-Identifier: BSD-3-Clause
"""The scanner on a real PyTorch tree: what a plain text search finds, it finds too; little makes no sense to it."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from cartographer.model.fact import FileFacts
from cartographer.scan.cache import FactCache
from cartographer.scan.one import FAILED
from cartographer.scan.pool import FactBase, gather
from cartographer.scan.preprocess import prepare

pytestmark = pytest.mark.torch_tree
ROOTS = ("aten", "c10", "torch", "tools", "functorch", "caffe2", "torchgen")
ENDINGS = {".cpp", ".cc", ".h", ".hpp", ".cu", ".cuh", ".mm", ".c", ".metal"}
HEADS = re.compile(
    r"^[ \t]*(TORCH_IMPL_FUNC|TORCH_(?:PRECOMPUTE_)?META_FUNC2?|(?:STABLE_)?TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?|REGISTER_\w*DISPATCH"
    r"|DEFINE_DISPATCH|DECLARE_DISPATCH)\s*\(", re.MULTILINE)
FUNCTIONS = ("function", "method", "kernel", "device", "macro-headed", "metal-kernel")


def files() -> list[tuple[str, str, bytes]]:
    root = os.environ.get("CARTOGRAPHER_TORCH_TREE")
    if not root:
        pytest.skip("CARTOGRAPHER_TORCH_TREE is not set")
    paths = sorted(p for name in ROOTS for p in (Path(root) / name).rglob("*") if p.suffix in ENDINGS and p.is_file())
    return [(str(p.relative_to(root)), str(p), p.read_bytes()) for p in paths]


@pytest.fixture(scope="module")
def tree() -> tuple[list[tuple[str, str, bytes]], FactBase]:
    listed = files()
    return listed, gather(listed, FactCache(None), 2)


def heads_of(facts: FileFacts) -> set[tuple[str, int]]:
    return {(u.name, u.line) for u in facts.uses} | {(d.macro[0], d.line) for d in facts.definitions if d.macro}


def test_every_head_that_a_text_search_finds(tree: tuple[list[tuple[str, str, bytes]], FactBase]) -> None:
    listed, base = tree
    missed, total = [], Counter[str]()
    for path, _, data in listed:
        source = prepare(data)
        known = heads_of(base[path]) if HEADS.search(source.code) else set()
        for m in HEADS.finditer(source.code):
            total[m.group(1)] += 1
            if (m.group(1), source.line(m.start(1))) not in known:
                missed.append((path, source.line(m.start(1))))
    assert total["TORCH_IMPL_FUNC"] > 50
    assert missed == []


def test_little_makes_no_sense(tree: tuple[list[tuple[str, str, bytes]], FactBase]) -> None:
    listed, base = tree
    lost = sum(base[path].error_bytes for path, _, _ in listed)
    assert [path for path, _, _ in listed if any(n.startswith(FAILED) for n in base[path].notes)] == []
    assert lost < sum(len(data) for _, _, data in listed) / 500


def test_at_least_the_functions_that_ctags_finds(tree: tuple[list[tuple[str, str, bytes]], FactBase]) -> None:
    if shutil.which("ctags") is None or b"Universal" not in subprocess.run(["ctags", "--version"], capture_output=True, check=False).stdout:
        pytest.skip("no Universal Ctags here")
    listed, base = tree
    listed = [f for f in listed if not f[0].endswith(".metal")]
    run = subprocess.run(
        ["ctags", "--languages=C++,C,CUDA", "--langmap=C++:+.mm.cu.cuh", "--kinds-C++=f", "--kinds-C=f", "-x",
         "--_xformat=%N\t%F", "-L", "-"], input="\n".join(p for _, p, _ in listed), capture_output=True, text=True, check=True)
    theirs: Counter[str] = Counter()
    for line in run.stdout.splitlines():
        name, _, path = line.partition("\t")
        theirs[Path(path).suffix] += not name.startswith("__anon")
    ours: Counter[str] = Counter()
    for path, _, _ in listed:
        ours[Path(path).suffix] += sum(d.kind in FUNCTIONS for d in base[path].definitions)
    assert {s: (n, ours[s]) for s, n in theirs.items() if ours[s] < n} == {}
