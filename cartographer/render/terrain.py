# SPDX-License-Identifier: BSD-3-Clause
"""Tells in which territory and on which floor a path is, in the words of the atlas (README, "How to read a plate")."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

FLOORS = ("your code", "Python", "the border", "dispatcher", "kernels", "memory", "the queue", "silicon")
ALL = tuple(range(1, len(FLOORS) + 1))  # the floors of a page that is not about one part of the way

FLOOR_SAYS = (
    "A call leaves your script. Nothing of PyTorch has run yet.",
    "The front of the house: modules, optimizers, the compiler. Most operators are names copied out of the extension module.",
    "Arguments are parsed and unpacked by C functions that stand in no checked-in file: generators write them during the build.",
    "Features are layers with switches: autograd, autocast, functionalization, vmap. Each may act, pass the call on, or sleep.",
    "The arithmetic, once for each backend. Many kernels are named only in the operator list and reached through stubs and macros.",
    "A tensor is a small header over a storage; allocators keep freed blocks for the next request.",
    "Work for an accelerator is put in line, not done at once. A stream is that line.",
    "Where the numbers move: cores, grids of threads, vector units. In no repository, so drawn only as bedrock.",
)


@dataclass(frozen=True, slots=True)
class Territory:
    """A part of PyTorch's source with a language and a purpose of its own."""

    key: str  # the class in the style sheet
    name: str
    says: str
    roots: tuple[str, ...]


TERRITORIES = (
    Territory("torch", "torch/", "Python, the front of the house", ("torch",)),
    Territory("csrc", "torch/csrc/", "the bridge between two languages", ("torch/csrc",)),
    Territory("aten", "aten/", "operators and their kernels", ("aten",)),
    Territory("c10", "c10/", "the core: tensors, keys, allocators", ("c10",)),
    Territory("gen", "torchgen/, tools/autograd/", "programs that write code during the build", ("torchgen", "tools")),
    Territory("other", "elsewhere", "older and outer ground", ()),
)

_BY_KEY = {territory.key: territory for territory in TERRITORIES}

# The longest fitting beginning of a path decides. The order is that of a call: see FLOORS.
_FLOOR_OF = {
    "torch": 2, "functorch": 2,
    "torch/csrc": 3, "torchgen": 3, "tools": 3, "torch/lib": 3,
    "torch/csrc/autograd": 4, "torch/csrc/autograd/python": 3, "aten/src/ATen/core": 4, "aten/src/ATen/functorch": 4,
    "torch/csrc/functorch": 4, "torch/csrc/jit": 4, "torch/csrc/lazy": 4, "c10/core/DispatchKey": 4, "c10/core/impl/LocalDispatchKeySet": 4,
    "aten/src/ATen/autocast_mode": 4, "aten/src/ATen/Functional": 4, "aten/src/ATen/LegacyBatch": 4, "aten/src/ATen/LegacyVmap": 4,
    "aten": 5, "caffe2": 5,
    "c10": 6, "aten/src/ATen/cuda/Caching": 6, "aten/src/ATen/mps/MPSAllocator": 6,
    "c10/cuda/CUDAStream": 7, "c10/cuda/CUDAGuard": 7, "c10/core/Stream": 7, "c10/core/Event": 7, "c10/xpu/XPUStream": 7, "c10/cuda/CUDAGraph": 7,
    "aten/src/ATen/cuda/CUDAEvent": 7, "aten/src/ATen/cuda/CUDAGraph": 7, "aten/src/ATen/mps/MPSStream": 7, "aten/src/ATen/mps/MPSEvent": 7,
    "torch/csrc/cuda/Stream": 7, "torch/csrc/cuda/Event": 7,
}  # fmt: skip
_LENGTHS = sorted({len(start) for start in _FLOOR_OF}, reverse=True)


def territory_of(path: str) -> Territory:
    """The territory that a file or folder belongs to."""
    if path == "torch/csrc" or path.startswith("torch/csrc/"):
        return _BY_KEY["csrc"]
    match path.partition("/")[0]:
        case "torch":
            return _BY_KEY["torch"]
        case "aten":
            return _BY_KEY["aten"]
        case "c10":
            return _BY_KEY["c10"]
        case "torchgen" | "tools":
            return _BY_KEY["gen"]
        case _:
            return _BY_KEY["other"]


@lru_cache(maxsize=1 << 14)
def floor_of(path: str) -> int:
    """The floor that a file or folder is on; 0 when it is on none."""
    return next((_FLOOR_OF[path[:length]] for length in _LENGTHS if path[:length] in _FLOOR_OF), 0)


def say_floors(floors: tuple[int, ...]) -> str:
    """A sentence part for some floors: `floors 3 to 5`, `floors 2 and 6`, `floor 5`."""
    if not floors:
        return "no floor"
    if len(floors) == 1:
        return f"floor {floors[0]}"
    if floors == tuple(range(floors[0], floors[-1] + 1)) and len(floors) > 2:
        return f"floors {floors[0]} to {floors[-1]}"
    return "floors " + ", ".join(map(str, floors[:-1])) + f" and {floors[-1]}"
