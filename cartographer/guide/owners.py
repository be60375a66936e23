# SPDX-License-Identifier: BSD-3-Clause
"""Who is asked about a file, by the rules of CODEOWNERS as GitHub reads them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.atlas import Landmark

_PIECE = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|[^*?]+?")
_MEANS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def owner_of(path: str, rules: Iterable[Landmark]) -> Landmark | None:
    """The rule that decides: the last one that matches."""
    ordered = sorted(rules, key=lambda r: r.line)
    return next((rule for rule in reversed(ordered) if _pattern(rule.subject).fullmatch(path)), None)


@lru_cache(maxsize=1024)
def _pattern(rule: str) -> re.Pattern[str]:
    """As in .gitignore: a slash before the end ties a pattern to the root, and a folder means all that is in it; but `docs/*` goes no deeper."""
    bare = rule.strip("/")
    tied = "/" in rule.rstrip("/")
    body = "".join(_MEANS.get(piece, re.escape(piece)) for piece in _PIECE.findall(bare))
    flat = bare.endswith("/*") and not bare.endswith("**/*")
    end = "" if flat else "/.+" if rule.endswith("/") else "(?:/.+)?"
    return re.compile(f"{'' if tied else '(?:.*/)?'}{body}{end}")
