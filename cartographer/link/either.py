# SPDX-License-Identifier: BSD-3-Clause
"""Joins the conditions of what is reached in several ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.link.alternatives import simplified, split
from cartographer.link.conditions import AND, opposed, text, unbracketed, without_negations
from cartographer.scan.uses import cut

if TYPE_CHECKING:
    from cartographer.link.conditions import Conditions

_CUT = 100
_OR_MORE = " || …"  # or under other conditions, for which there is no room


def either(one: Conditions, other: Conditions) -> Conditions:
    """The conditions of what is reached in two ways: those that both lists have, and the rest joined by `||`, unless the two rests together
    always hold. Where that would be too long, the first way's conditions are shown as one case of several.
    """
    if one == other or not one or not other:
        return one and other
    both = tuple(c for c in one if c in other)
    rest, others = [c for c in one if c not in both], [c for c in other if c not in both]
    if not rest or not others or (len(rest) == len(others) == 1 and _cover(rest[0], others[0])) or opposed(AND.join(rest), AND.join(others)):
        return both
    joined = simplified(f"{_all(rest)} || {_all(others)}", without_negations)
    if not joined:
        return both
    if len(joined) > _CUT:
        joined = cut(_all(rest).removesuffix(_OR_MORE), _CUT) + _OR_MORE
    return (*both, joined)


def _all(conditions: list[str]) -> str:
    """Conditions of which all hold, as one of several alternatives: those that are alternatives themselves in brackets."""
    return AND.join(f"({c})" if len(conditions) > 1 and len(split(c, "||")) > 1 else c for c in conditions)


def is_cut(conditions: Conditions) -> bool:
    """Whether conditions are shown as one case of several, for which there was no room."""
    return any(condition.endswith(_OR_MORE) for condition in conditions)


def _cover(one: str, other: str) -> bool:
    """Whether one of two conditions, or of those that they join, holds where another does not: together they always hold."""
    return any(opposed(a, b) for a in one.split(" || ") for b in other.split(" || "))


def either_text(one: str, other: str) -> str:
    """Like `either`, for conditions as steps show them."""
    return text(either(_as_shown(one), _as_shown(other))) if one and other else ""


def _as_shown(shown: str) -> Conditions:
    """The conditions in a text that a step shows, each as it was before it got brackets there."""
    parts = (shown,) if len(split(shown, "||")) > 1 else split(shown, "&&")
    return tuple(map(unbracketed, parts))
