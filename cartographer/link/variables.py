# SPDX-License-Identifier: BSD-3-Clause
"""What the local variables of a function are, as far as its text tells: lambdas, functors, aliases of classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TYPED = re.compile(r"\b([A-Z][\w:]*|[a-z]\w*::[\w:]+)[ \t]*(?:<[^;{}<>\n]*(?:<[^;{}<>\n]*>[^;{}<>\n]*)*>)?[ \t]*[&*]?[ \t]+[&*]?([a-z_]\w*)\s*[;({=]")
_LAMBDA = re.compile(r"\b([A-Za-z_]\w*)\s*=\s*(?=\[[^\[\]]*\]\s*((?:(?:[A-Z][A-Z0-9_]*|__\w+__)\s*)*)(?:\(|\{|mutable\b|->))")
_TO_BRACKET = re.compile(r"=\s*\[")  # without one there is no lambda to look for
_ALIAS = re.compile(r"\busing\s+([A-Za-z_]\w*)\s*=\s*(?:typename\s+)?((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?=[<;])")
_OF_ALIAS = re.compile(r"(?<![\w:.>])([a-z]\w*_t|[a-z]\w*)[ \t]+([a-z_]\w*)\s*[({]")
_RESULT = re.compile(r"\bauto\s*[&*]?\s*([A-Za-z_]\w*)\s*=\s*((?:(?:\w+::)*|\w+(?:->|\.))\w+)\s*\([^;{}]*\)\s*;")
_ASSIGNED = re.compile(r"\bauto\s*[*&]?\s*([a-z]\w*)\s*=\s*([^;(){}=\[\]]*);")
_KEYWORDS = frozenset(("return", "else", "new", "delete", "throw", "case", "goto", "typename", "auto", "const"))


@dataclass(frozen=True, slots=True)
class Variables:
    """Names that a function's body declares: variables by their class, aliases by what they stand for, lambdas by their line
    and by whether they are marked for a device (`GPU_LAMBDA`, `__device__`).
    """

    classes: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    lambdas: dict[str, tuple[int, bool]] = field(default_factory=dict)
    assigned: dict[str, str] = field(default_factory=dict)  # variables by what they are set to, when it calls nothing
    results: dict[str, str] = field(default_factory=dict)  # variables by the function whose result they hold

    def behind(self, name: str) -> str:
        """The class of a variable, its alias resolved: `Gemm gemm_op;` -> `cutlass::gemm::device::GemmUniversalBase`."""
        return self.meant(self.classes.get(name, ""))

    def meant(self, name: str) -> str:
        """The class that a name stands for, through one alias."""
        return self.aliases.get(name, name)

    def __contains__(self, name: str) -> bool:
        return name in self.classes or name in self.lambdas or name in self.assigned


def variables_of(text: str, first: int) -> Variables:
    """The variables of a body; `first` is the line of the file with which the text begins."""
    aliases = {m[1]: m[2] for m in _ALIAS.finditer(text)} if "using" in text else {}
    classes = {m[2]: m[1] for m in _TYPED.finditer(text)}
    if aliases:
        classes.update((m[2], aliases[m[1]]) for m in _OF_ALIAS.finditer(text) if m[1] in aliases and m[1] not in _KEYWORDS)
    lambdas = {m[1]: (first + text.count("\n", 0, m.end()), bool(m[2])) for m in _LAMBDA.finditer(text)} if _TO_BRACKET.search(text) else {}
    results, assigned = ({m[1]: m[2] for m in sign.finditer(text)} if "auto" in text else {} for sign in (_RESULT, _ASSIGNED))
    return Variables(classes, aliases, lambdas, assigned, results)
