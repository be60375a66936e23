# SPDX-License-Identifier: BSD-3-Clause
"""All that a contributor meets beside the code, as landmarks: what `link.landmarks` finds in facts, and what is read here from texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.contributing.commands import GUIDE, README, commands
from cartographer.contributing.elsewhere import WANTED as OF_THE_BUILD
from cartographer.contributing.elsewhere import elsewhere
from cartographer.contributing.registries import OVERRIDES, SHARDED, registries
from cartographer.contributing.suites import suites
from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.operator import Operator

WANTED = (GUIDE, README, OVERRIDES, "test/*.py", "torch/testing/_internal/*.py", "torch/_inductor/*.py", "torch/_decomp/*.py", *SHARDED, *OF_THE_BUILD)


def read(operators: Iterable[Operator], texts: Mapping[str, bytes]) -> tuple[Landmark, ...]:
    """The landmarks in texts of a tree; of operators only those that exist."""
    operators = tuple(operators)
    decoded = {path: data.decode("utf-8", "replace") for path, data in texts.items()}
    found = {*suites(decoded), *registries(operators, decoded), *commands(decoded), *elsewhere(operators, decoded)}
    tests = {mark.path for mark in found if mark.path.startswith("test/")}
    return *found, *(Landmark(path, "length", path, decoded[path].count("\n") + (not decoded[path].endswith("\n"))) for path in tests)


def joined(linked: Iterable[Landmark], found: Iterable[Landmark]) -> tuple[Landmark, ...]:
    """The landmarks of both, sorted."""
    return tuple(sorted({*linked, *found}, key=lambda m: (m.subject, m.kind, m.path, m.line, m.text)))
