# SPDX-License-Identifier: BSD-3-Clause
"""Mini torch as a whole: its history, its old releases, its site, and that the same input gives the same bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import pytest

from cartographer.checkout.demo import DEMO_TAG
from cartographer.checkout.open import SourceRequest
from cartographer.pipeline.building import BuildRequest, build
from cartographer.query import export
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

N = "aten/src/ATen/native/"


def run(*words: str) -> str:
    """The command's output."""
    return subprocess.run([sys.executable, "-m", "cartographer", *words], capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.fixture(scope="module")
def commits(mini_repo):
    """Date of each commit, by id."""
    out = subprocess.run(["git", "-C", str(mini_repo), "log", "--all", "--format=%H %as"], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in out.splitlines())


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("aten/src/TH/THMath.c", [(12, "2012-01-25")]),  # merged below a folder, moved afterwards
        ("caffe2/core/blob.cc", [(9, "2015-06-25")]),  # from a merged history
        ("torchgen/gen.py", [(32, "2020-11-20")]),  # renamed with its folder
        ("torch/nn/functional.py", [(2, "2016-05-02"), (1, "2020-11-20"), (1, "2016-05-02"), (6, "2020-11-20")]),
        ("torch/_dynamo/__init__.py", [(6, "2022-06-10")]),
        ("version.txt", [(1, "2022-06-10")]),
    ],
)
def test_lines_have_the_date_of_their_commit(demo, commits, path, runs):
    told = json.loads(run("strata", "--lines", path, "--atlas", str(demo.out)))
    assert [(lines, commits[commit]) for lines, commit in told["runs"]] == runs


def test_every_line_is_dated(demo):
    with Reader(demo.out) as reader:
        strata = reader.strata()
    assert (strata.level, strata.reason) == ("lines", "")
    assert [release for release in strata.releases if release == DEMO_TAG] == [DEMO_TAG]
    told = [json.loads(line) for line in run("strata", "--lines", "--atlas", str(demo.out)).splitlines()]
    assert [f["path"] for f in told] == sorted(strata.files)
    assert [f["path"] for f in told if sum(lines for lines, _ in f["runs"]) != len(demo.text(f["path"]).splitlines())] == []


@pytest.mark.parametrize("tag", ["v0.1.0", "v0.2.0"])
def test_old_forms_of_the_list(mini_repo, tmp_path, tag):
    """Overloads without names, no keys of torchgen, no table of dispatch keys."""
    out = build(BuildRequest(SourceRequest(version=tag, repo=str(mini_repo), cache=tmp_path / "cache"), tmp_path / "out", workers=1, html=False))
    with Reader(out) as reader:
        head, *ops = (json.loads(line) for line in export.lines(reader))
    known = {op["name"]: op for op in ops}
    assert (head["tag"], head["pytorch"]) == (tag, tag[1:])
    mul = known["aten::mul" if tag == "v0.1.0" else "aten::mul.Tensor"]
    assert {r["key"]: r["kernel"] for r in mul["registrations"]} == {"CPU": "at::native::mul_cpu", "CUDA": "at::native::mul_cuda"}
    step = mul["kernels"]["CPU"]["steps"][0]
    assert (step["symbol"], step["path"], step["line"]) == ("at::native::mul_cpu", N + "BinaryOps.cpp", 5)
    assert mul["kernels"]["CUDA"]["status"] == "unresolved"
    assert mul["autograd"]["nodes"] == ["MulBackward0"]
    assert [b["python"] for b in known["aten::relu"]["bindings"]] == ["torch.Tensor.relu", "torch.relu"]
    assert known["aten::relu"]["kernels"]["CPU"]["steps"][0]["symbol"] == "at::native::relu"
    assert set(known) == {"aten::relu", mul["name"], "aten::potrf" if tag == "v0.1.0" else "aten::cholesky"}


# --- the site


class Links(HTMLParser):
    """Where a page points to, and what can be pointed to."""

    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.names.add(value)
            elif key in {"href", "src"} and tag in {"a", "link", "script", "img"} and value:
                self.targets.append(value)


@pytest.fixture(scope="module")
def pages(demo):
    read = {}
    for path in demo.out.rglob("*.html"):
        links = Links()
        links.feed(path.read_text(encoding="utf-8"))
        read[path] = links
    return read


def test_every_link_inside_the_site_leads_somewhere(demo, pages):
    lost = []
    for page, links in pages.items():
        for target in links.targets:
            if re.match(r"[a-z]+:", target):
                continue
            address, anchor = urldefrag(target)
            file = (page.parent / unquote(address.partition("?")[0])).resolve() if address else page
            if file.is_dir():
                file /= "index.html"
            inside = file.is_file() and file.is_relative_to(demo.out)
            named = not anchor or file not in pages or unquote(anchor) in pages[file].names or re.fullmatch(r"L?\d+(-L?\d+)?", anchor)
            if not inside or not named:
                lost.append((page.relative_to(demo.out).as_posix(), target))
    assert lost == []


def test_every_operator_and_file_has_a_page(demo, pages):
    written = {page.relative_to(demo.out).as_posix() for page in pages}
    for kind in ("index.html", "operators/index.html", "kernels/index.html", "strata/index.html", "checks/index.html", "generated/index.html", "territory/index.html"):
        assert kind in written, kind
    sheets = {name for page, links in pages.items() if page.relative_to(demo.out).parts[0] == "op" for name in links.names}
    assert [name for name in demo.ops if name.partition("::")[2] not in sheets] == []
    with Reader(demo.out) as reader:
        paths = [entry.path for entry in reader.file_entries()]
    assert [path for path in paths if not any(page.startswith(f"source/{path}") for page in written)] == []


def test_permalinks_name_the_commit_and_the_line(demo, pages):
    away = {target for links in pages.values() for target in links.targets if target.startswith("https://github.com/") and "/blob/" in target}
    line = demo.line(N + "BinaryOps.cpp", "TORCH_IMPL_FUNC(mul_out)")
    assert any(re.fullmatch(rf"https://github\.com/[\w./-]+/blob/({DEMO_TAG}|{demo.head['commit']})/{N}BinaryOps\.cpp#L{line}(-L\d+)?", target) for target in away)
    for target in away:
        path, _, anchor = target.partition("/blob/")[2].partition("/")[2].partition("#")
        assert not anchor or int(anchor.partition("-")[0][1:]) <= len(demo.text(path).splitlines())


# --- the same input, the same bytes


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "atlas.db"}


def test_two_builds_give_the_same_bytes(demo, tmp_path):
    """Another process, other hashes, another folder, an empty cache, two workers."""
    out = tmp_path / "elsewhere" / "atlas"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "CARTOGRAPHER_CACHE": str(tmp_path / "cache"), "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-m", "cartographer", "build", DEMO_TAG, "--repo", str(demo.repo), "--out", str(out), "-q", "-j", "2"]
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=120)
    with Reader(demo.out) as one, Reader(out) as other:
        assert list(export.lines(one)) == list(export.lines(other))
    ours, theirs = files_of(demo.out), files_of(out)
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_nothing_changed_nothing_written(demo, tmp_path, monkeypatch):
    """A second build parses no file again and leaves every page alone."""
    from cartographer.scan import pool

    before = {path: path.stat().st_mtime_ns for path in demo.out.rglob("*") if path.is_file() and path.suffix == ".html"}
    parsed = []
    monkeypatch.setattr(pool, "_scan_batch", parsed.append)
    build(BuildRequest(SourceRequest(version=DEMO_TAG, repo=str(demo.repo), cache=demo.cache), demo.out, workers=1))
    assert parsed == []
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("level", ["none", "files"])
def test_no_more_history_than_asked_for(mini_repo, tmp_path, level):
    from cartographer.model.source import HistoryLevel

    request = SourceRequest(version="v0.2.0", repo=str(mini_repo), history=HistoryLevel(level), cache=tmp_path / "cache")
    out = build(BuildRequest(request, tmp_path / "out", workers=1, html=False))
    with Reader(out) as reader:
        strata = reader.strata()
    assert strata.level == level
    assert not any(dated.runs for dated in strata.files.values())
