# SPDX-License-Identifier: BSD-3-Clause
"""Random histories with renames, copies and merges, each line compared with `git blame`."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from cartographer.history import waypoints
from cartographer.history.strata import date_tree
from cartographer.history.waypoints import Waypoints

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Repo

Files = dict[str, list[str]]
SEEDS = range(int(os.environ.get("CARTOGRAPHER_SEEDS", "3")))


def grown(chance: random.Random, files: Files, fresh: list[int]) -> Files:
    """One commit's worth of random changes."""
    out = {name: list(lines) for name, lines in files.items()}
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(sorted(out)) if out else ""
        match chance.randint(0, 9) if out else 0:
            case 0 | 1:
                out[f"d{chance.randint(0, 2)}/f{chance.randint(0, 9)}"] = [new(fresh) for _ in range(chance.randint(1, 12))]
            case 2 | 3:
                out[f"d{chance.randint(0, 2)}/{chance.choice([name[-2:], f'g{chance.randint(0, 9)}'])}"] = out.pop(name)
            case 4:
                del out[name]
            case 5:
                out[f"d{chance.randint(0, 2)}/c{chance.randint(0, 9)}"] = list(out[name])
            case _:
                lines = out[name]
                at = chance.randint(0, len(lines))
                lines[at : at + chance.randint(0, 3)] = [new(fresh) for _ in range(chance.randint(0, 3))]
    return out


def new(fresh: list[int]) -> str:
    fresh[0] += 1
    return f"line {fresh[0]} of a random history" if fresh[0] % 5 else "}"


def mixed(chance: random.Random, ours: Files, theirs: Files, fresh: list[int]) -> Files:
    """A merge: each file from one side, or lines of both."""
    out: Files = {}
    for name in sorted({*ours, *theirs}):
        one, two = ours.get(name), theirs.get(name)
        match chance.randint(0, 4):
            case 0 if one and two:
                half = chance.randint(0, min(len(one), len(two)))
                out[name] = [*one[:half], *two[half:], *([new(fresh)] if chance.random() < 0.3 else [])]
            case 1 if two:
                out[name] = two
            case 2 if one and two is None and chance.random() < 0.3:
                continue
            case _:
                out[name] = one or two or []
    return out


def stream(chance: random.Random, commits: int) -> bytes:
    """The history for `git fast-import`."""
    fresh = [0]
    made: list[Files] = []
    text: list[str] = []
    open_: list[int] = []
    for number in range(1, commits + 1):
        parents: list[int] = []
        if not made or (number < 6 and chance.random() < 0.1):
            files = grown(chance, {}, fresh)
        else:
            parents = [chance.choice(open_) if chance.random() < 0.8 else chance.randint(1, number - 1)]
            others = [one for one in open_ if one not in parents]
            if others and (chance.random() < 0.25 or number == commits):
                parents += chance.sample(others, min(len(others), 2 if chance.random() < 0.2 else 1))
            files = made[parents[0] - 1]
            for other in parents[1:]:
                files = mixed(chance, files, made[other - 1], fresh)
            if len(parents) == 1 or chance.random() < 0.3:
                files = grown(chance, files, fresh)
        made.append(files)
        open_ = [one for one in open_ if one not in parents or chance.random() < 0.2] + [number]
        text.append(f"commit refs/heads/b{number}\nmark :{number}\ncommitter A <a> {1_500_000_000 + number * 86_400} +0000\ndata 1\nx\n")
        text += [f"{'merge' if at else 'from'} :{parent}\n" for at, parent in enumerate(parents)]
        text.append("deleteall\n")
        for name, lines in files.items():
            body = "".join(f"{line}\n" for line in lines)
            text.append(f"M 100644 inline {name}\ndata {len(body)}\n{body}\n")
    text.append(f"reset refs/heads/main\nfrom :{commits}\n\n")
    return "".join(text).encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_history(repo: Repo, seed: int, tmp_path: Path) -> None:
    repo.git("fast-import", "--quiet", "--force", data=stream(random.Random(seed), 40))
    repo.git("reset", "-q", "--hard", "main")
    strata = repo.check()
    assert strata == repo.check(rev="main", cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("seed", SEEDS)
def test_waypoints_change_nothing(repo: Repo, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was dated before from the same cache, and wherever its walks have left waypoints."""
    chance = random.Random(seed)
    repo.git("fast-import", "--quiet", "--force", data=stream(chance, 60))
    monkeypatch.setattr(waypoints, "APART", 1)
    taken = 0
    for number in (*chance.sample(range(20, 60), 8), 60, 60):
        for answer in (tmp_path / "cache").glob("*.strata"):
            answer.unlink()
        monkeypatch.setattr(waypoints, "BACK", chance.randint(0, 30))
        taken += bool(_spared(monkeypatch, lambda rev=f"b{number}": date_tree(repo.folder, rev, cache_dir=tmp_path / "cache") == date_tree(repo.folder, rev)))
    assert taken


def _spared(monkeypatch: pytest.MonkeyPatch, agrees: Callable[[], bool]) -> int:
    """How many commits a comparison that holds was spared."""
    spared: list[int] = []
    take_up = Waypoints.take_up
    with monkeypatch.context() as patch:
        patch.setattr(Waypoints, "take_up", lambda self, walk: (spared.append(take_up(self, walk)), spared[-1])[1])
        assert agrees()
    return sum(spared)
