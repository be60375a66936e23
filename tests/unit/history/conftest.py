# SPDX-License-Identifier: BSD-3-Clause
"""Small repositories made by git itself, and `git blame` as the referee."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from cartographer.history.strata import date_tree

if TYPE_CHECKING:
    from pathlib import Path

_ENTRY = re.compile(rb"^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$", re.MULTILINE)


class Repo:
    """A repository under construction; each commit is one day younger than the one before."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir()
        self.git("init", "-q", "--initial-branch=main", *flags)
        for setting in ("user.name=A", "user.email=a@b.c", "commit.gpgsign=false", "gc.auto=0", "merge.renames=true"):
            self.git("config", *setting.split("="))

    def git(self, *arguments: str, data: bytes = b"", check: bool = True) -> str:
        date = f"{1_500_000_000 + self.day * 86_400} +0000"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        environment = kept | {
            "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C",
        }  # fmt: skip
        done = subprocess.run(["git", *arguments], cwd=self.folder, input=data, capture_output=True, env=environment, check=False)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").removesuffix("\n")

    def write(self, **files: str | bytes) -> None:
        """`a__b_c` is the file a/b_c."""
        for name, text in files.items():
            self.put(name.replace("__", "/"), text)

    def put(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, message: str = "change", **files: str | bytes) -> str:
        self.write(**files)
        self.day += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def merge(self, *branches: str, resolve: dict[str, str] | None = None, **options: bool) -> str:
        self.day += 1
        flags = ["--allow-unrelated-histories"] if options.get("unrelated") else []
        self.git("merge", "-q", "--no-ff", "--no-commit", *flags, *branches, check=resolve is None)
        for name, text in (resolve or {}).items():
            self.put(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "merge")
        return self.git("rev-parse", "HEAD")

    def blame(self, path: str, rev: str = "HEAD", *flags: str) -> list[str]:
        out = subprocess.run(
            ["git", "blame", "--incremental", *flags, rev, "--", path], cwd=self.folder, capture_output=True, check=True,
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"GIT_NO_REPLACE_OBJECTS": "1"},
        ).stdout  # fmt: skip
        owners: dict[int, str] = {}
        for commit, first, count in _ENTRY.findall(out):
            owners |= dict.fromkeys(range(int(first), int(first) + int(count)), commit.decode())
        return [owners[line] for line in sorted(owners)]

    def check(self, rev: str = "HEAD", flags: tuple[str, ...] = (), **options: object):
        """Date the tree and compare every file with blame; gives the strata."""
        strata = date_tree(self.folder, rev, **options)
        assert strata.level == "lines"
        tree = self.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "-z", rev).split("\0")
        assert sorted(strata.files) == sorted(filter(None, tree))
        for path, dates in strata.files.items():
            if not dates.runs and (self.folder / path).is_file() and b"\0" in (self.folder / path).read_bytes():
                continue
            assert owners(strata, path) == self.blame(path, rev, *flags), path
        return strata


def owners(strata, path: str) -> list[str | None]:
    """The commit of each line."""
    return [strata.commits[commit][0] if commit >= 0 else None for lines, commit in strata.files[path].runs for _ in range(lines)]


def text(*numbers: int | str) -> str:
    """Lines that differ enough for renames to be found."""
    return "".join(f"line {number} of some length, {number}\n" for number in numbers)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")
