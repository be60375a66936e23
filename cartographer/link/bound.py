# SPDX-License-Identifier: BSD-3-Clause
"""Template arguments that a registration gives: `TORCH_FN(QLinearInt8<true>::run)` runs the branch for `ReluFused`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.bodies import split_template

if TYPE_CHECKING:
    from collections.abc import Sequence

Bound = tuple[tuple[str, str], ...]  # a template's parameters with their values
_COMMENT = re.compile(r"/\*.*?\*/")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_EQUALS = re.compile(r"(\w+)\s*==\s*([\w:]+)")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def bound_by(lines: Sequence[str], name: str, template: str) -> Bound:
    """The values of a template's parameters where lines name it with arguments: `name<true>`."""
    match = re.search(rf"\b{re.escape(name)}\s*<([^<>;]*)>", _COMMENT.sub("", " ".join(lines)))
    if match is None or not template:
        return ()
    names = [words[-1] for p in split_template(template) if (words := _IDENTIFIER.findall(p.partition("=")[0]))]
    return tuple(zip(names, (a.strip() for a in match[1].split(",")), strict=False))


def contradicts(conditions: Sequence[str], bound: Bound) -> bool:
    """Whether a condition around a call cannot hold with these values."""
    values = dict(bound)
    return any(_holds(term.strip(), values) is False for condition in conditions for term in condition.split(" && "))


def _holds(term: str, values: dict[str, str]) -> bool | None:
    if term.startswith("!(") and term.endswith(")"):
        inner = _holds(term[2:-1], values)
        return None if inner is None else not inner
    if term.startswith("!"):
        inner = _holds(term[1:], values)
        return None if inner is None else not inner
    if term in values:
        return _TRUTH.get(values[term])
    match = _EQUALS.fullmatch(term)
    return values[match[1]] == match[2] if match is not None and match[1] in values else None
