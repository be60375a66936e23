# SPDX-License-Identifier: BSD-3-Clause
"""The other registries in which an operator is known: documentation, tests, Python references, decompositions; and the owners of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.guide.suites import suites, with_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.model.atlas import Landmark
    from cartographer.model.operator import Operator
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


class RegistryRow(NamedTuple):
    """One entry of an operator in another registry."""

    registry: str
    text: str
    receipt: Receipt
    rank: int  # of the registry


_NAMES = {
    "docs": "Documentation", "index": "Index of the docs", "opinfo": "Test description", "tests": "Tests",
    "named": "Tests by name", "reference": "Python reference", "decomposition": "Decomposition", "decompositions": "Lists of decompositions",
    "lowering": "Lowering of inductor", "meta": "Meta function", "override": "Override", "compatibility": "Schema may change", "owner": "Owners",
}  # fmt: skip
_FEW = 2  # files of tests that are named
_LISTED = {"named": _FEW, "decompositions": 1}  # of which a page names so many and counts the rest
_LEFT_OUT = ("public", "sharding")  # the same place as its documentation, which the descent has; a line for each overload, in `guide --places`
_OWN = ("entry", "kernel", "registration")


def registries_of(site: Site, operators: Sequence[Operator]) -> tuple[tuple[str, tuple[RegistryRow, ...]], ...]:
    """The entries under the base names of these operators, by registry, each place once; and the owners of their files."""
    rows: dict[tuple[str, str, int], RegistryRow] = {}
    order = list(_NAMES)
    for mark, text in _marks(site, operators):
        row = RegistryRow(_NAMES.get(mark.kind, mark.kind), text, site.receipt(mark.path, mark.line), order.index(mark.kind) if mark.kind in order else len(order))
        rows.setdefault((mark.kind, mark.path, mark.line), row)
    groups: dict[tuple[int, str], list[RegistryRow]] = {}
    for row in rows.values():
        groups.setdefault((row.rank, row.registry), []).append(row)
    return tuple((registry, tuple(found)) for (_rank, registry), found in sorted(groups.items()))


def _marks(site: Site, operators: Sequence[Operator]) -> Iterator[tuple[Landmark, str]]:
    known = site.catalog.landmarks_of
    marks = (mark for subject in dict.fromkeys(f"{op.namespace}::{op.base}" for op in operators) for mark in known.get(subject, ()))
    own = [mark for mark in marks if mark.kind not in _LEFT_OUT]
    yield from ((mark, mark.text) for mark in own if mark.kind not in _LISTED)
    for kind, most in _LISTED.items():
        yield from _first([mark for mark in own if mark.kind == kind], most)
    yield from _first(suites(lambda kind: known.get(kind, ()), own)[0], _FEW)
    for path in _files(operators):
        if rule := site.owner(path):
            yield rule, f"{rule.text}, for {rule.subject}"


def _first(marks: Sequence[Landmark], count: int) -> Iterator[tuple[Landmark, str]]:
    """The first of several files; the last of them says how many there are more."""
    for number, mark in enumerate(marks[:count], 1):
        rest = f" (and {len(marks) - count} more files)" if number == count < len(marks) else ""
        yield mark, with_folder(mark.text, mark.path) + rest


def _files(operators: Sequence[Operator]) -> Iterator[str]:
    """The files that hold the operators' own rows and kernels."""
    found = dict.fromkeys(op.declared.path for op in operators)
    for op in operators:
        for chain in op.kernels.values():
            for step in chain.steps:
                if step.role == "calls":
                    break
                if step.role in _OWN:
                    found[step.path] = None
    yield from found
