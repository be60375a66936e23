# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the coverage matrix: which backend answers an operator and how, as one letter.

Where a kernel only raises, or waits for that of another form, that is said instead of what the dispatcher's table has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.dispatch import COMPOSITE, DEFAULT, FALLBACK, NOTHING, OWN
from cartographer.model.operator import Origin
from cartographer.model.serving import RAISES, REFUSES, WAITS, served

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from cartographer.model.operator import Operator


@dataclass(frozen=True, slots=True)
class Sign:
    """One letter of the coverage matrix, with its style and its meaning."""

    letter: str
    css: str
    says: str


SIGNS = (
    Sign("K", "k", "own kernel"),
    Sign("S", "s", "own kernel, structured: shape and arithmetic are written apart"),
    Sign("D", "d", "default kernel for any backend"),
    Sign("C", "c", "composed of other operators"),
    Sign("f", "f", "a fallback answers, or lets the call fall through"),
    Sign("w", "w", "waits: the build writes it around another form (mostly out=), which has no kernel there"),
    Sign("e", "e", "a kernel that only raises an error"),
)
CHOICES = (  # of the filter, beside an own kernel: the letter, and what it says before the name of a backend
    ("D", "with a default kernel for"), ("C", "composed for"), ("f", "with a fallback on"), ("w", "waiting for another form on"),
    ("e", "with an error alone for"), ("?", "not known for"),
)  # fmt: skip
NONE = Sign("", "", "none: the call raises an error")
_BY_LETTER = {sign.letter: sign for sign in SIGNS} | {"": NONE}

_LETTER = {OWN: "K", DEFAULT: "D", COMPOSITE: "C", FALLBACK: "f", WAITS: "w", RAISES: "e", REFUSES: "e", NOTHING: ""}

_GROUPS = (
    ("CPU", "CUDA", "MPS", "XPU", "Meta"),
    ("SparseCPU", "SparseCUDA", "SparseMPS", "SparseCsrCPU", "SparseCsrCUDA"),
    ("QuantizedCPU", "QuantizedCUDA", "NestedTensorCPU", "NestedTensorCUDA", "MkldnnCPU"),
    ("AutogradCPU", "FuncTorchBatched", "AutocastCUDA", "ZeroTensor", "Functionalize"),
)
_SHOWN_AS = {
    "AutogradCPU": "Autograd", "FuncTorchBatched": "vmap", "AutocastCUDA": "Autocast", "SparseCPU": "Sparse CPU", "SparseCUDA": "Sparse CUDA",
    "SparseMPS": "Sparse MPS", "SparseCsrCPU": "Sparse CSR CPU", "SparseCsrCUDA": "Sparse CSR CUDA", "QuantizedCPU": "Quantized CPU",
    "QuantizedCUDA": "Quantized CUDA", "NestedTensorCPU": "Nested CPU", "NestedTensorCUDA": "Nested CUDA", "MkldnnCPU": "oneDNN CPU",
    "ZeroTensor": "Zero tensor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One dispatch key as a column of the coverage matrix."""

    key: str
    label: str
    starts_group: bool
    backend: bool  # a place where numbers are computed, not a layer


def columns(operators: Iterable[Operator]) -> tuple[Column, ...]:
    """The columns that this atlas can fill: the keys that appear in at least one computed dispatch table."""
    known: set[str] = set()
    for operator in operators:
        known.update(operator.dispatch)
    found = []
    for number, group in enumerate(_GROUPS):
        present = [key for key in group if key in known]
        for place, key in enumerate(present):
            found.append(Column(key, _SHOWN_AS.get(key, key), place == 0 and number > 0, number < len(_GROUPS) - 1))
    return tuple(found)


def letters(operator: Operator, keys: Sequence[str], operators: Mapping[str, Operator], elsewhere: Collection[str] = ()) -> tuple[str, ...]:
    """The letter for each key: `K`, `S`, `D`, `C`, `f`, `w`, `e`, or nothing; `?` when the dispatcher's answer is not known. `operators`: all
    of the release by name, for the forms that are made of one another; `elsewhere`: devices whose kernels another repository has.
    """
    structured = {r.key for r in operator.registrations if r.active and r.origin is Origin.STRUCTURED}
    found = [_LETTER.get(served(operator, key, operators, elsewhere).how, "?") for key in keys]
    return tuple(["S" if letter == "K" and key in structured else letter for letter, key in zip(found, keys, strict=True)])


def sign(which: str) -> Sign:
    """The meaning of a letter of the coverage matrix."""
    return _BY_LETTER.get(which) or Sign(which, "u", "not known")
