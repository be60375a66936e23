# SPDX-License-Identifier: BSD-3-Clause
"""Finds the classes of types of a function's local variables, by which overloads of an operator are chosen:
`Storage storage(…); result.set_(storage, 0, {0}, {});`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.signatures import ANY, parameter_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.link.variables import Variables
    from cartographer.model.fact import Call

_MEMBER = re.compile(r"\.|->")
_OF_OPERATOR = re.compile(r"at::\w+|\w+(?:\.|->)\w+|\.\w+")  # what may be called without a namespace is C's `pow`, too


def kinds_of(names: Iterable[str], around: Mapping[str, str], variables: Variables, is_tensor: Callable[[str], bool]) -> dict[str, str]:
    """The classes of the types of names that are local variables, as declared or as the value that they are set to tells."""
    found = {}
    for name in names:
        if name.isidentifier() and name not in around and (kind := _kind_of(name, variables, is_tensor)):
            found[name] = kind
    return found


def _kind_of(name: str, variables: Variables, is_tensor: Callable[[str], bool]) -> str:
    written = variables.all_declared(name)
    if written:
        kinds = {parameter_type(f"{text} {name}") for text in written}
        return kinds.pop() if len(kinds) == 1 and ANY not in kinds else ""
    given = variables.results.get(name) or variables.last_member(name)
    return "Tensor" if given and _OF_OPERATOR.fullmatch(given) and is_tensor(name) else ""


def on_tensor(call: Call, around: Mapping[str, str], path: str) -> bool:
    """Whether a member is called on a tensor: in native/cpu most receivers of unknown type are vectors (Vectorized<T>)."""
    if "/native/cpu/" not in path:
        return True
    receiver = _MEMBER.split(call.name)[0]
    return around.get(receiver, "").rstrip("?") == "Tensor"
