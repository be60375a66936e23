# SPDX-License-Identifier: BSD-3-Clause
"""A small seeded set of mutated inputs for every parser; `run.py` beside this file takes as many as one likes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import run
from mutate import Mutator
from targets import TARGETS, Target

HEAVY = {"generators": 8, "link": 6, "keys": 15, "question": 30, "operators": 40, "guide": 60, "atlas": 60, "evaluator": 60, "registrations": 60}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_clear_errors(name: str) -> None:
    count, longest, found = run.fuzz(TARGETS[name], HEAVY.get(name, 150), seed=3, more=[], keep=None)
    assert found == {}
    assert count >= 6
    assert longest < 10


def test_the_fuzzer_finds_crashes_and_hangs() -> None:
    """A fuzzer that finds nothing must be able to."""

    def fragile(data: bytes) -> None:
        if b"(" not in data:
            raise KeyError(data)
        while b"))" in data:
            pass

    target = Target("fragile", fragile, lambda: [b"f(a)"], seconds=0.05)
    _, _, found = run.fuzz(target, 300, seed=1, more=[], keep=None)
    assert {key.partition(" at ")[0] for key in found} == {"KeyError", "Hang"}


def test_the_same_seed_gives_the_same_inputs() -> None:
    import random

    one, other = (Mutator(random.Random(5), [b"a b(c)\n"], [b"word"]) for _ in range(2))
    made = [one.make() for _ in range(200)]
    assert made == [other.make() for _ in range(200)]
    assert len(set(made)) > 150
    assert max(map(len, made)) <= 60_000
