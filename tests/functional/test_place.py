# SPDX-License-Identifier: BSD-3-Clause
"""The folder that a build writes to: what it must not take the place of, and what a build that ends early leaves there."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cartographer.errors import UsageError
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.pipeline.place import check_place, check_replaced, left_as_found
from cartographer.progress import SilentProgress

DEMO = SourceInfo(SourceKind.GIT, "0.3.0", "v0.3.0", None, "/home/x/demo/mini_torch-0123abcd.git")
OTHER = SourceInfo(SourceKind.DIRECTORY, "2.7.0", "v2.7.0", None, "/tmp/pytorch")


def test_the_atlas_of_another_release_is_not_lost_without_a_word(folder):
    progress = SilentProgress()
    with pytest.raises(UsageError, match=r"holds the atlas of v2\.6\.0, which the demo would replace"):
        check_replaced(folder, DEMO, progress)
    check_replaced(folder, replace(OTHER, tag="v2.6.0"), progress)
    assert progress.notes == []
    check_replaced(folder, OTHER, progress)
    assert progress.notes == [f"{folder} holds the atlas of v2.6.0: that of v2.7.0 replaces it"]


def test_the_list_of_several_is_not_replaced_by_one(tmp_path):
    (tmp_path / "releases.js").write_text("x")
    with pytest.raises(UsageError, match="lists several atlases"):
        check_replaced(tmp_path, DEMO, SilentProgress())


def test_a_root_is_refused_at_once():
    for out in (Path("/"), Path("//"), Path("/tmp/..")):
        with pytest.raises(UsageError, match="root of a file system"):
            check_place(out)


@pytest.mark.parametrize("out", [".", "./", "../here"])
def test_the_folder_that_we_stand_in_can_be_named(tmp_path, quiet_cache, out):
    here = tmp_path / "here"
    here.mkdir()
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "cartographer", "build", "--demo", "-q", "--out", out], cwd=here, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert (here / "atlas.db").is_file()
    assert (here / "index.html").is_file()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def ended(out, made=None):
    """A build that Ctrl-C ends when it has made a folder."""
    with left_as_found(out):
        (made or out).mkdir(parents=True, exist_ok=True)
        raise KeyboardInterrupt


def test_a_build_that_ends_early_leaves_no_empty_folder(tmp_path):
    out = tmp_path / "a" / "b"
    with pytest.raises(KeyboardInterrupt):
        ended(out)
    assert [*tmp_path.iterdir()] == []
    out.mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        ended(out)
    assert out.is_dir(), "it was there before"
    with pytest.raises(KeyboardInterrupt):
        ended(out / "c", out / "c" / "kept")
    assert (out / "c" / "kept").is_dir()
