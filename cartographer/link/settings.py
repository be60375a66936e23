# SPDX-License-Identifier: BSD-3-Clause
"""Reads the defaults of the global context, which hold as long as nobody sets anything (aten/src/ATen/Context.h)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.scan.preprocess import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.link.bodies import Bodies
    from cartographer.link.conditions import Conditions
    from cartographer.link.guards import World

_HEADER = "aten/src/ATen/Context.h"
_LAST = 10**9  # a line beyond all files
# `bool deterministic = false;`, `LinalgBackend preferred = c10::utils::check_env("…") == true ? LinalgBackend::A : LinalgBackend::B;`
_MEMBER = re.compile(r"\n[ \t]++((?:\w++::)*\w++) (\w++)\s*+=\s*+(?:[^;={}]*check_env\([^;{}]*?:\s(?!:))?\s*+((?:\w++::)*\w++)\s*+;")
# `std::array<at::Backend, at::num_backends> order = {at::Backend::quick, at::Backend::plain};`
_IN_ORDER = re.compile(r"std::array<(?:\w+::)*([A-Z]\w*), [^<>;]*>\s+\w+\s*=\s*\{([^{}]*)\}")
_GETTER = re.compile(r"(?:\w*[cC](?:tx|ontext)|(?:at::)?globalContext\(\))\.(\w+)\(\)(?: ([!=])= (?:\w+::)*(\w+))?")
_COMPARED = re.compile(r"(?:case (?:\w+::)*(\w+)::(\w+)|\w+ ([!=])= (?:\w+::)*(\w+)::(\w+))")
_GIVES = re.compile(r"return\s+(\w+)\s*;\s*\}\s*\Z")


class Settings:
    """The default values of the context's members in the build for one device."""

    def __init__(self, bodies: Bodies, world: World) -> None:
        self._bodies = bodies
        self._world = world
        self._members: dict[str, str] = {}

    def holds(self, term: str) -> bool | None:
        """Whether a term, or the label of a `case`, is true with default settings; None when it does not depend on a setting."""
        if "::" not in term and "." not in term:
            return None
        if (match := _COMPARED.fullmatch(term)) is not None:
            kind, constant = (match[1], match[2]) if match[1] else (match[4], match[5])
            held = self._of_kind.get(kind)
            return None if held is None else (held == constant) is (match[3] != "!")
        match = _GETTER.fullmatch(term)
        held = self._given(match[1]) if match is not None else ""
        if match is None or not held:
            return None
        if match[3]:
            return (held == match[3]) is (match[2] != "!")
        return held == "true" if held in ("true", "false") else None

    def rank(self, conditions: Conditions) -> int | None:
        """The index of a `case` among conditions in the list of choices, in the order of the context; None when the context has no list
        of its kind.
        """
        for label in conditions if self._orders else ():
            match = _COMPARED.fullmatch(label) if label.startswith("case ") else None
            if match is not None and match[1] in self._orders:
                order = self._orders[match[1]]
                return order.index(match[2]) if match[2] in order else len(order)
        return None

    @cached_property
    def _orders(self) -> dict[str, list[str]]:
        """The enumerators of each enumeration that a member lists."""
        return {m[1]: [name.strip().rpartition("::")[2] for name in m[2].split(",")] for m in _IN_ORDER.finditer(self._text)}

    @cached_property
    def _held(self) -> dict[str, tuple[str, str]]:
        """Members by type and value."""
        return dict(self._read()) if self._text else {}

    @cached_property
    def _text(self) -> str:
        """The header of the context; "" when the tree has none."""
        return "\n".join(self._bodies.lines(_HEADER, 1, _LAST))

    def _read(self) -> Iterator[tuple[str, tuple[str, str]]]:
        source = prepare(self._text.encode())
        for match in _MEMBER.finditer(source.plain):
            if self._world.allows(source.guards(match.start(2))) is not False:
                yield match[2], (match[1].rpartition("::")[2], match[3].rpartition("::")[2])

    @cached_property
    def _of_kind(self) -> dict[str, str]:
        """What is held of each enumeration that one member alone has."""
        kinds = [kind for kind, _ in self._held.values()]
        return {kind: constant for kind, constant in self._held.values() if kinds.count(kind) == 1 and kind[:1].isupper()}

    def _given(self, getter: str) -> str:
        """What a function of the context gives, which is to give a member; "" for other functions."""
        if getter not in self._members:
            found = self._bodies.index.named(getter) if self._held else ()
            match = _GIVES.search(self._bodies.text(found[0])) if found and all(d.segments[-2:-1] == ("Context",) for d in found) else None
            self._members[getter] = self._held.get(match[1], ("", ""))[1] if match is not None else ""
        return self._members[getter]
