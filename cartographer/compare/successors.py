# SPDX-License-Identifier: BSD-3-Clause
"""A removed operator's likely successor, with the evidence. An equal schema alone makes no successor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.oplist import OperatorList, OperatorRow

_CLOSE = 0.8  # of the letters of two names, when argument names agree as well


@dataclass(frozen=True, slots=True)
class Successor:
    """The name, and why we think so."""

    name: str
    evidence: str

    @property
    def says(self) -> str:
        return f"likely successor: {self.name} ({self.evidence})"


def find_successor(gone: OperatorRow, old: OperatorList, new: OperatorList) -> Successor | None:
    """The best candidate, or None when nothing speaks for one."""
    for rule in (_kernel_moved, _other_overload, _moved_into_module, _nearly_the_name):
        for found in rule(gone, old, new):
            return found
    return None


def _words(row: OperatorRow) -> tuple[str, ...]:
    try:
        return tuple(a.name for a in FunctionSchema.parse(row.schema).arguments)
    except SchemaError:
        return ()


def _fits(gone: OperatorRow, candidate: OperatorRow) -> bool:
    """Whether the candidate takes at least the arguments of the one that is gone, by name."""
    return set(_words(gone)) <= set(_words(candidate)) and bool(_words(gone))


def _kernel_moved(gone: OperatorRow, old: OperatorList, new: OperatorList) -> Iterator[Successor]:
    """An operator that is new and names the kernels of the one that is gone."""
    kernels = set(gone.dispatch.values()) if not gone.implied else set()
    shared = {k for row in old.rows.values() if row.name != gone.name for k in row.dispatch.values()}
    for name, row in new.rows.items():
        if name not in old.rows and (same := (kernels - shared) & set(row.dispatch.values())):
            yield Successor(name, f"it is new and has the kernel {min(same)} that {gone.name} had")


def _other_overload(gone: OperatorRow, _old: OperatorList, new: OperatorList) -> Iterator[Successor]:
    """Another overload of the same base name that takes the same arguments."""
    base = gone.name.partition(".")[0]
    candidates = [row for name, row in new.rows.items() if name.partition(".")[0] == base and _fits(gone, row)]
    candidates.sort(key=lambda row: (len(_words(row)), row.name))
    for row in candidates:
        yield Successor(row.name, "another overload takes arguments of all these names")


def _moved_into_module(gone: OperatorRow, _old: OperatorList, new: OperatorList) -> Iterator[Successor]:
    """`rfft` became `fft_rfft`, `cholesky` became `linalg_cholesky`: a module's prefix before the old name."""
    base = gone.name.partition("::")[2].partition(".")[0]
    core = base.strip("_")
    for name, row in sorted(new.rows.items()):
        tail = name.partition("::")[2].partition(".")[0]
        if row.python_module and tail == f"{row.python_module}_{core}":
            note = "the signatures differ" if _words(row) != _words(gone) else "with the same arguments"
            yield Successor(name, f"the same name in the module {row.python_module}; {note}")


def _nearly_the_name(gone: OperatorRow, old: OperatorList, new: OperatorList) -> Iterator[Successor]:
    """An operator that is new, called nearly the same, that takes the same arguments by name."""
    base = re.sub(r"^_+|_+$", "", gone.name.partition("::")[2].partition(".")[0])
    best: tuple[float, str] | None = None
    for name, row in new.rows.items():
        tail = re.sub(r"^_+|_+$", "", name.partition("::")[2].partition(".")[0])
        if name in old.rows or not (_fits(gone, row) or base in tail):
            continue
        ratio = 1.0 if base == tail else SequenceMatcher(None, base, tail).ratio()
        if _fits(gone, row) and ratio >= _CLOSE and (best is None or ratio > best[0]):
            best = (ratio, name)
    if best is not None:
        yield Successor(best[1], f"new in this release, its name agrees to {best[0]:.0%}, it takes the same arguments")
