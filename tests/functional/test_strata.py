# SPDX-License-Identifier: BSD-3-Clause
"""From a repository to what `cartographer strata` prints; and the real history, when there is one at hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.history.strata import date_tree
from cartographer.store import writer

_ENTRY = re.compile(rb"^([0-9a-f]{40}) \d+ (\d+) (\d+)$", re.MULTILINE)


def blame(repository: Path, rev: str, path: str) -> list[str]:
    out = subprocess.run(
        ["git", f"--git-dir={repository}", "blame", "--incremental", rev, "--", path], capture_output=True, check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"GIT_NO_REPLACE_OBJECTS": "1"},
    ).stdout  # fmt: skip
    owners: dict[int, str] = {}
    for commit, first, count in _ENTRY.findall(out):
        owners |= dict.fromkeys(range(int(first), int(first) + int(count)), commit.decode())
    return [owners[line] for line in sorted(owners)]


def expanded(record: dict) -> list[str]:
    return [commit for lines, commit in record["runs"] for _ in range(lines)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_demo_repository(tmp_path_factory.mktemp("demo") / "mini_torch.git")


@pytest.fixture(scope="module")
def dated(demo):
    return date_tree(demo, DEMO_TAG)


@pytest.fixture(scope="module")
def run(dated, tmp_path_factory):
    """`cartographer strata` on an atlas that holds the dates of mini torch."""
    import sample_atlas

    made = tmp_path_factory.mktemp("atlas")
    writer.write(replace(sample_atlas.atlas(), strata=dated), made)

    def call(*words, code=0):
        command = [sys.executable, "-m", "cartographer", "strata", *words, "--atlas", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    return call


def test_mini_torch_has_all_eras(dated) -> None:
    assert [era.name for era in dated.eras] == [
        "Torch7 and TH", "PyTorch begins", "ATen", "Caffe2 joins", "c10 and TorchScript", "codegen and structured kernels",
        "functorch and the compiler",
    ]  # fmt: skip
    assert all(era.evidence for era in dated.eras)


def test_lines_equal_blame(run, demo) -> None:
    records = [json.loads(line) for line in run("--lines").splitlines()]
    assert len(records) > 20
    for record in records:
        assert expanded(record) == blame(demo, DEMO_TAG, record["path"]), record["path"]


def test_lines_of_one_path(run) -> None:
    (record,) = [json.loads(line) for line in run("--lines", "torch/__init__.py").splitlines()]
    assert set(record) == {"path", "runs"}


def test_forms(run) -> None:
    told = json.loads(run("aten", "--json"))
    assert told["level"] == "lines"
    assert sum(told["eras"].values()) == told["lines"]
    assert run("aten", "--csv").splitlines()[-1].startswith("total,")
    assert "by era" in run("aten")


def test_one_line(run, demo) -> None:
    owners = blame(demo, DEMO_TAG, "caffe2/core/blob.cc")
    told = json.loads(run("caffe2/core/blob.cc:2", "--json"))
    assert (told["line"], told["commit"]) == (2, owners[1])
    assert f"came in on {told['date']} by {owners[-1]}" in run(f"./caffe2/core/blob.cc:{len(owners)}")
    assert f"has no line {len(owners) + 1}, it ends with {len(owners)}" in run(f"caffe2/core/blob.cc:{len(owners) + 1}", code=1)
    assert "no dated file" in run("caffe2/core/blob.cc:0", code=1)
    assert "no dated file" in run("caffe2:1", code=1)


def test_errors(run) -> None:
    assert "no dated file or folder is called 'atne'" in run("atne", code=1)
    assert "three forms" in run("--json", "--csv", code=2)
    assert "one PATH" in run("aten", "torch", code=2)


@pytest.mark.torch_repo
@pytest.mark.skipif("CARTOGRAPHER_TORCH_REPO" not in os.environ, reason="CARTOGRAPHER_TORCH_REPO is not set")
def test_real_history_equals_blame(tmp_path) -> None:
    repository = Path(os.environ["CARTOGRAPHER_TORCH_REPO"])
    tag = os.environ.get("CARTOGRAPHER_TORCH_TAG", "v1.7.0")
    strata = date_tree(repository, tag, cache_dir=tmp_path)
    sources = [path for path in sorted(strata.files) if re.search(r"\.(py|cpp|h|cu|cuh|c|cc)$", path)]
    wrong = lines = 0
    for path in sources[:: max(1, len(sources) // 60)]:
        runs = [(number, strata.commits[commit][0] if commit >= 0 else "") for number, commit in strata.files[path].runs]
        ours, theirs = expanded({"runs": runs}), blame(repository, f"refs/tags/{tag}", path)
        assert len(ours) == len(theirs), path
        lines += len(ours)
        wrong += sum(one != other for one, other in zip(ours, theirs, strict=True))
    assert wrong <= lines / 10_000
