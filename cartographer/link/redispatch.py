# SPDX-License-Identifier: BSD-3-Clause
"""Finds kernels for any operator that send it on to another dispatch key: `op.redispatchBoxed(c10::DispatchKeySet(key), stack)`.

A backend registers such a fallback for operators that it leaves to the CPU (aten/src/ATen/native/CPUFallback.cpp): what it does for
one of them is what that operator does on the other key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.arguments import parameter_name
from cartographer.link.names import scope_of

if TYPE_CHECKING:
    from cartographer.link.index import Defined
    from cartographer.link.names import Names
    from cartographer.link.tree import Tree
    from cartographer.model.fact import Call

_HANDLE = "OperatorHandle"
_SENDS = "redispatchBoxed"
_KEY_SET = re.compile(r"(?:c10::|at::)?DispatchKeySet\(\s*([\w:]+)\s*\)")
_KEY = re.compile(r"(?:\w+::)*DispatchKey::(\w+)")
_DEPTH = 3  # functions through which the handle is followed


class Sent(NamedTuple):
    """How a kernel sends an operator on: the functions passed, the one that holds the call, and the dispatch key that it goes to."""

    passed: tuple[Defined, ...]
    inside: Defined
    call: Call
    key: str


def sent_on(tree: Tree, entry: Defined, device: str) -> Sent | None:
    """Where a kernel sends its operator on in any case, itself or through the functions that it hands it to; None when it does not."""
    return _sent_on(tree, tree.names(device), entry, ())


def _sent_on(tree: Tree, names: Names, body: Defined, passed: tuple[Defined, ...]) -> Sent | None:
    handle = next((parameter_name(p) for p in body.fact.parameters if _HANDLE in p), "")
    if not handle:
        return None
    for call in body.whole.calls:
        if call.conditions or call.guards:
            continue
        if call.form == "method" and call.name == f"{handle}.{_SENDS}" and (key := _key(tree, call, body)):
            return Sent(passed, body, call, key)
        if call.form == "call" and call.arguments[:1] == (handle,) and len(passed) < _DEPTH:
            target = next(iter(names.functions(call.name, scope_of(body))), None)
            found = _sent_on(tree, names, target, (*passed, target)) if target is not None and target not in passed else None
            if found is not None:
                return found
    return None


def _key(tree: Tree, call: Call, body: Defined) -> str:
    """The one key to which a call sends; "" when it is a matter of more than a parameter's default."""
    asked = _KEY_SET.fullmatch(call.arguments[0].strip()) if call.arguments else None
    if asked is None:
        return ""
    defaults = (p.partition("=") for d in (body, *tree.index.declarations.get(body.name, ())) for p in d.fact.parameters)
    texts = (asked[1], *(text.strip() for name, _, text in defaults if parameter_name(name) == asked[1]))
    return next((match[1] for text in texts if (match := _KEY.fullmatch(text)) is not None), "")
