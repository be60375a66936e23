# SPDX-License-Identifier: BSD-3-Clause
"""Packs chains for sending them between processes: most steps are in many chains, so each is sent once, as a plain row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.operator import Chain, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.operator import Status

_Row = tuple[str, str, str, int, str, str]


class Packed(NamedTuple):
    """Chains ready to be sent: the steps, then for each operator its chains by key, with the numbers of their steps."""

    steps: list[_Row]
    chains: list[dict[str, tuple[Status, str | None, list[int]]]]


def packed(chains: Iterable[dict[str, Chain]]) -> Packed:
    """Pack the chains of operators for sending."""
    numbers: dict[_Row, int] = {}
    found = [
        {
            key: (chain.status, chain.reason, [numbers.setdefault((s.role, s.symbol, s.path, s.line, s.note, s.branch), len(numbers)) for s in chain.steps])
            for key, chain in of_operator.items()
        }
        for of_operator in chains
    ]  # fmt: skip
    return Packed(list(numbers), found)


def unpacked(sent: Packed) -> list[dict[str, Chain]]:
    """The chains of operators, unpacked again in the order in which they were packed."""
    steps = [Step(*row) for row in sent.steps]
    return [
        {key: Chain(status, reason, tuple([steps[n] for n in numbers])) for key, (status, reason, numbers) in of_operator.items()}
        for of_operator in sent.chains
    ]  # fmt: skip
