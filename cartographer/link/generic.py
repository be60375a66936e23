# SPDX-License-Identifier: BSD-3-Clause
"""Finds functions of TH and THC (releases up to 1.10): one body in a file of `generic/` that is included once for each type.

`THTensor_(NAME)` pastes TH, Real, Tensor_ and NAME together (aten/src/TH/THTensor.h), and Real is another word at each
inclusion (aten/src/TH/THGenerateFloatType.h): `THFloatTensor_renorm` and `THDoubleTensor_renorm` are one definition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cartographer.link.index import Defined
    from cartographer.model.fact import FileFacts, MacroDefinition

_PASTES = re.compile(r"\w*CONCAT_\d\s*\((.*)\)\s*$", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]\w*")


def is_generic(defined: Defined) -> bool:
    """Whether a definition is in generic code, and so is compiled once for each type."""
    return bool(defined.fact.macro) and "/generic/" in defined.path


@dataclass
class Generics:
    """The generic functions of a tree, by the names under which they are called."""

    files: Mapping[str, FileFacts]
    by_name: Mapping[str, list[Defined]]

    def find(self, name: str, arguments: Sequence[str]) -> tuple[Defined, ...]:
        """The definitions that a call means: `THFloatTensor_mode(…)`, or `THTensor_(mode)(…)` among generic code."""
        if name in self._patterns:
            return tuple(self._bodies.get((name, arguments[0].strip()), ())) if arguments else ()
        for macro, pattern in self._patterns.items():
            match = pattern.fullmatch(name)
            if match is not None and (macro, match[1]) in self._bodies:
                return tuple(self._bodies[macro, match[1]])
        return ()

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        """Macros that paste a type's word into a name, each with what the names look like."""
        found: dict[str, re.Pattern[str]] = {}
        for path in sorted(self.files):
            for macro in self.files[path].macros:
                if macro.parameters is not None and len(macro.parameters) == 1 and (pattern := self._pattern(macro)):
                    found.setdefault(macro.name, re.compile(pattern))
        return found

    def _pattern(self, macro: MacroDefinition) -> str:
        match = _PASTES.match(macro.body.strip())
        parts = [p.strip() for p in match[1].split(",")] if match else []
        if len(parts) < 3 or parts[-1] != (macro.parameters or ("",))[0]:
            return ""
        words = {p: "|".join(sorted(self._words[p])) for p in parts[:-1] if len(self._words.get(p, ())) > 1}
        return "".join(f"(?:{words[p]})" if p in words else re.escape(p) for p in parts[:-1]) + r"(\w+)" if words else ""

    @cached_property
    def _words(self) -> dict[str, set[str]]:
        """What macros without parameters stand for in the files that define them."""
        values: dict[str, set[str]] = {}
        for facts in self.files.values():
            for macro in facts.macros:
                if macro.parameters is None and _WORD.fullmatch(macro.body.strip()):
                    values.setdefault(macro.name, set()).add(macro.body.strip())
        return values

    @cached_property
    def _bodies(self) -> dict[tuple[str, str], list[Defined]]:
        table: dict[tuple[str, str], list[Defined]] = {}
        for name in sorted(self.by_name):
            for defined in self.by_name[name]:
                if is_generic(defined) and len(defined.fact.macro) > 1:
                    table.setdefault((defined.fact.macro[0], defined.fact.macro[1]), []).append(defined)
        return table
