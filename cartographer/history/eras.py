# SPDX-License-Identifier: BSD-3-Clause
"""The eras of PyTorch: named spans of its history, each proved by commits of the repository at hand.

| era | begins with |
| --- | --- |
| Torch7 and TH | the oldest root of the history that another repository brought in |
| PyTorch begins | the first commit of the main line that holds `torch/` |
| ATen | the first one that holds ATen (`torch/lib/ATen/`, later `aten/`) |
| Caffe2 joins | the first one that holds `caffe2/`: the merge of its whole history |
| c10 and TorchScript | the first one that holds `c10/` |
| codegen and structured kernels | the first one that holds `tools/codegen/` (since 2022 `torchgen/`) |
| functorch and the compiler | the first one that holds `functorch/`, `torch/_dynamo/` or `torch/_inductor/` |

An era ends the day before the next begins. A line belongs to the era of the day it was committed, wherever that was:
a line of Caffe2 of 2016 is as old as PyTorch itself, though it joined in 2018. The merges by which other repositories
joined are evidence of the era they fall into.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from cartographer.model.atlas import Era

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.history.commits import Commits


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    folders: tuple[str, ...]  # the first of them to appear begins the era
    since: str  # used only where a shallow clone hides the beginning
    further: tuple[str, ...] = ()  # more evidence


_FOREIGN = "Torch7 and TH"
RULES = (
    _Rule(_FOREIGN, (), "2012-01-01"),
    _Rule("PyTorch begins", ("torch/",), "2016-05-01", ("torch/csrc/autograd/", "torch/autograd/")),
    _Rule("ATen", ("torch/lib/ATen/", "aten/"), "2017-07-01", ("aten/src/ATen/native/native_functions.yaml", "torch/csrc/jit/")),
    _Rule("Caffe2 joins", ("caffe2/",), "2018-03-01"),
    _Rule("c10 and TorchScript", ("c10/",), "2018-06-01", ("torch/csrc/jit/script/", "torch/jit/", "c10/core/")),
    _Rule("codegen and structured kernels", ("tools/codegen/", "torchgen/"), "2020-08-01", ("aten/src/ATen/TensorMeta.h",)),
    _Rule("functorch and the compiler", ("functorch/", "torch/_dynamo/", "torch/_inductor/"), "2022-06-01",
          ("torch/_functorch/", "torch/_dynamo/", "torch/_inductor/")),
)  # fmt: skip

WATCHED = tuple(dict.fromkeys(prefix for rule in RULES for prefix in (*rule.folders, *rule.further)))


def joins(commits: Commits) -> list[tuple[int, tuple[int, ...]]]:
    """The commits of the main line that bring in roots of other histories, with these roots; oldest first."""
    roots = [commit for commit, parents in enumerate(commits.parents) if not parents and commit not in commits.boundary]
    bits = {root: 1 << number for number, root in enumerate(roots)}
    holds = [0] * len(commits)
    for commit, parents in enumerate(commits.parents):
        held = bits.get(commit, 0)
        for parent in parents:
            held |= holds[parent]
        holds[commit] = held
    line = commits.first_parent_line()
    found, seen = [], holds[line[0]]
    for commit in line:
        if new := holds[commit] & ~seen:
            found.append((commit, tuple(root for root in roots if bits[root] & new)))
            seen |= new
    return found


def of(commits: Commits, firsts: Mapping[str, int], where: Mapping[int, str]) -> tuple[Era, ...]:
    """The eras that this history holds. `firsts`: path -> first commit; `where`: merge -> folder it filled."""
    foreign = joins(commits)
    firsts = {path: commit for path, commit in firsts.items() if commit not in commits.boundary}  # older there, who knows how much
    begun = [(rule, start) for rule in RULES if (start := _start(rule, commits, firsts, foreign))]
    begun.sort(key=lambda item: item[1][0])
    eras = []
    for number, (rule, (first, proof)) in enumerate(begun):
        last = _day_before(begun[number + 1][1][0]) if number + 1 < len(begun) else max(commits.dates[commits.tip], first)
        further = [_evidence(f"first commit of {path}", firsts[path], commits) for path in rule.further if path in firsts]
        joined = [
            _evidence(f"joins with its history: {where.get(merge) or 'the whole tree'}", merge, commits)
            for merge, _ in foreign
            if first <= commits.dates[merge] <= last
        ]
        evidence = dict.fromkeys((*proof, *sorted((*further, *joined), key=lambda e: (e[2], e[0]))))
        eras.append(Era(rule.name, first, last, tuple(evidence)))
    return tuple(era for era in eras if era.first <= era.last)


Evidence = tuple[str, str, str]


def _start(
    rule: _Rule, commits: Commits, firsts: Mapping[str, int], foreign: list[tuple[int, tuple[int, ...]]]
) -> tuple[str, tuple[Evidence, ...]] | None:
    """The first day of an era and what proves it; None when this history does not hold it."""
    if rule.name == _FOREIGN:
        roots = sorted((commits.dates[root], root) for _, roots in foreign for root in roots)
        own = commits.dates[commits.first_parent_line()[0]]
        if roots and roots[0][0] < own:
            return roots[0][0], (_evidence("oldest root of the history", roots[0][1], commits),)
    known = [(firsts[path], path) for path in rule.folders if path in firsts]
    if known:
        commit, path = min(known)
        return commits.dates[commit], (_evidence(f"first commit of {path}", commit, commits),)
    if commits.boundary and rule.since <= commits.dates[commits.tip]:
        return rule.since, ()
    return None


def _evidence(what: str, commit: int, commits: Commits) -> Evidence:
    return what, commits.ids[commit], commits.dates[commit]


def _day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
