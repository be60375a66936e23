# SPDX-License-Identifier: BSD-3-Clause
"""Maps the dispatch keys of backends to devices, and sorts them in the order in which people ask for them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAIN = ("CUDA", "CPU", "MPS")  # whose kernels are all in the tree: for these a missing one is an answer of its own
DENSE = (*MAIN, "XPU")
FIRST = (*DENSE, "Meta")
# A backend outside the tree registers to this key, and to it alone: what it finds is what any new backend finds.
OUT_OF_TREE = "PrivateUse1"
LAYOUTS = ("quantized", "sparse", "nested", "mkldnn")  # how conditions ask for what a key has before its device: `self.is_sparse()`
_LAYOUT = re.compile(r"(?:SparseCsr|Sparse|Quantized|NestedTensor|Mkldnn)(?=[A-Z])")


@lru_cache(maxsize=1024)
def device_of_key(key: str) -> str:
    """`SparseCUDA` -> `cuda`: keys of backends are called by a layout and a backend (c10/core/DispatchKey.h,
    C10_FORALL_FUNCTIONALITY_KEYS and C10_FORALL_BACKEND_COMPONENTS).
    """
    return dense_key(key).lower()


def dense_key(key: str) -> str:
    """`SparseCUDA` -> `CUDA`: the key of dense tensors on the same device."""
    return _LAYOUT.sub("", key)


def layout_of_key(key: str) -> str:
    """`SparseCsrCUDA` -> `sparse`; "" for a key of dense tensors."""
    return next((layout for layout in LAYOUTS if layout in key.lower()), "")


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which they are shown: those that most people mean, then the others by name."""
    return sorted(keys, key=lambda key: (FIRST.index(key) if key in FIRST else len(FIRST), key))


def layout_prefix(key: str) -> str:
    """What a key has before its backend: `SparseCsr` of SparseCsrCUDA, which is another layout than `Sparse`; "" for dense tensors."""
    found = _LAYOUT.match(key)
    return found[0] if found else ""
