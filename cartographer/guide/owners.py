# SPDX-License-Identifier: BSD-3-Clause
"""Finds who is asked to review a file, by the rules of CODEOWNERS as GitHub reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.atlas import Landmark

_PIECE = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|[^*?]+?")
_MEANS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Owners:
    """All rules of one CODEOWNERS file, as one pattern that tries the last rule first."""

    def __init__(self, rules: Iterable[Landmark]) -> None:
        self._rules = sorted(rules, key=lambda rule: -rule.line)
        self._pattern = re.compile("|".join(f"({_pattern(rule.subject)})" for rule in self._rules))

    def of(self, path: str) -> Landmark | None:
        """The rule that decides for a path: the last one that matches."""
        found = self._pattern.fullmatch(path) if self._rules else None
        return self._rules[found.lastindex - 1] if found and found.lastindex else None


def _pattern(rule: str) -> str:
    """As in .gitignore: a slash before the end ties a pattern to the root, and a folder means all that is in it; but `docs/*` goes no deeper."""
    bare = rule.strip("/")
    tied = "/" in rule.rstrip("/")
    body = "".join(_MEANS.get(piece, re.escape(piece)) for piece in _PIECE.findall(bare))
    flat = bare.endswith("/*") and not bare.endswith("**/*")
    end = "" if flat else "/.+" if rule.endswith("/") else "(?:/.+)?"
    return f"{'' if tied else '(?:.*/)?'}{body}{end}"
