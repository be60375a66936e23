# SPDX-License-Identifier: BSD-3-Clause
"""Computes what a way costs more, or less, by the names of the functions on it and by where it begins in a body."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.conditions import weight

if TYPE_CHECKING:
    from cartographer.link.index import Defined
    from cartographer.link.sites import Site

ALONE = 3.0  # a launch of one thread keeps books
_CHECKING = 6.0  # what only checks arguments leads nowhere
_CHECKS = re.compile(r"(^|_)(validate|verify|checks?|assert)(_|$)|^check[A-Z]")
LATER = 3.0  # what most people's calls do not get to comes after what they do, however near
FORMER = 3.0  # a way kept for older libraries
_FORMERLY = re.compile(r"_(v[0-7]|legacy|fallback|deprecated)(_|$)")
_OF_ELEMENTS = re.compile(r"(?:at::opmath_type<)?(?:(?:c10|std)::complex<\w+>|\b(?:float|double|(?:(?:at|c10)::)?(?:Half|BFloat16)|u?int\d*(?:_t)?)\b)>?")
_GOES_ON = 0.5
_OPTIONAL = 2.0  # a step that some calls add
_DELEGATES = 3.0
_OUTS = ("_out", "_", "_out_")
_PARTS = ("_", "_impl", "_internal", "_template", "_helper", "_common")


def of_all_types(target: Defined) -> tuple[str, ...]:
    """A key that is equal for all specialisations of a template, or all overloads for one element type each; () for other templates."""
    if target.specialised:
        return target.segments
    return () if target.fact.template else (*target.segments, *_typeless(target.fact.parameters))


@lru_cache(maxsize=4096)
def _typeless(parameters: tuple[str, ...]) -> tuple[str, ...]:
    """A parameter list with one word for the types of all elements."""
    return tuple(_OF_ELEMENTS.sub("T", p) for p in parameters)


@lru_cache(maxsize=16384)
def detour(name: str, *, checking: bool = False) -> float:
    """What a function's name adds to the cost of a way through it; names of checks add nothing when checking is the work itself."""
    return (_CHECKING if is_check(name) and not checking else 0.0) + (FORMER if is_former(name) else 0.0)


@lru_cache(maxsize=16384)
def is_check(name: str) -> bool:
    """Whether the name of a function says that it checks something."""
    return _CHECKS.search(name) is not None


def is_former(name: str) -> bool:
    """Whether the name of a function says that it is kept for older libraries, or for what nothing else handles."""
    return _FORMERLY.search(name) is not None


def continued(start: Defined, target: Defined) -> float:
    """How much less a way costs because the function that it enters continues the caller's work, judged by their names: `f` continues in
    `f_impl`, and `f_out` in `f`; other calls come before or after the work.
    """
    name, inner = start.name, target.name
    if inner.startswith(name) and inner[len(name) :] in _PARTS:
        return _GOES_ON
    return _DELEGATES if name.startswith(inner) and name[len(inner) :] in _OUTS else 0.0


def order(site: Site) -> float:
    """The cost of a site's place in its body: of two equal ways the first in the text is cheaper, and the general case (no condition, `else`,
    `default`) is cheaper than special ones (`if`, `case`).
    """
    branch = weight(site.conditions) + (_OPTIONAL if site.optional else 0.0) if site.conditions else 0.0
    return min(site.order, 900) * 1e-4 + branch + site.without
