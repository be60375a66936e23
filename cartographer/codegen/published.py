# SPDX-License-Identifier: BSD-3-Clause
"""Finds the public names that Python gives to functions of the extension module: `gelu = _add_docstr(torch._C._nn.gelu, ...)` in
torch/nn/functional.py makes torch.nn.functional.gelu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.model.fact import FileFacts
    from cartographer.model.operator import Operator

PUBLIC = "public"  # the kind of these landmarks; their text is the public name
_ADDS_DOCS = "add_docstr"  # torch._C._add_docstr gives back the very function that it is given (torch/csrc/Module.cpp)


def published(operators: Iterable[Operator], facts: Mapping[str, FileFacts]) -> tuple[Landmark, ...]:
    """The public names as landmarks of their operators, in the order of the names."""
    bound: dict[str, set[str]] = {}
    for op in operators:
        for binding in op.bindings:
            bound.setdefault(binding.python, set()).add(f"{op.namespace}::{op.base}")
    ends: dict[str, set[str]] = {}
    for name, subjects in bound.items():  # torch/linalg writes `_linalg.linalg_svd`, which it imports from torch._C
        module, _, last = name.rpartition(".")
        ends.setdefault(f"{module.rpartition('.')[2]}.{last}", set()).update(subjects)
    return tuple(sorted(_marks(facts, bound, ends), key=lambda mark: (mark.text, mark.subject)))


def _marks(facts: Mapping[str, FileFacts], bound: Mapping[str, set[str]], ends: Mapping[str, set[str]]) -> Iterator[Landmark]:
    for path, found in facts.items():
        module = _module(path)
        if not module or found.language != "Python":
            continue
        for call in found.python_calls:
            if call.name.rpartition(".")[2].lstrip("_") == _ADDS_DOCS and not call.function and call.target.isidentifier() and call.arguments:
                given = call.arguments[0]
                for subject in bound.get(given) or ends.get(given) or set[str]():
                    yield Landmark(subject, PUBLIC, path, call.line, f"{module}.{call.target}")


def _module(path: str) -> str:
    """The dotted name of a public module of torch; "" for any other file."""
    if not path.startswith("torch/") or not path.endswith(".py"):
        return ""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return "" if any(part.startswith("_") for part in parts) else ".".join(parts)
