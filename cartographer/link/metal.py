# SPDX-License-Identifier: BSD-3-Clause
"""Metal kernels by name: functions of .metal files, kernels in Metal strings, and `host_name` attributes.

Their names are put together at run time (`name + "_kernel"`, `"cross_" + type`), so a name is matched by its literal parts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.sites import Given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_KERNEL = re.compile(r"\bkernel\s+void\s+(?:\\\s*\n\s*)?(\w+)")
_HOST = re.compile(r"host_name\(\s*\"(\w+)\"")
LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")


class MetalKernels:
    """All Metal kernels of a tree."""

    def __init__(self, paths: Iterable[str], source: Callable[[str], str | None] | None) -> None:
        self._places: dict[str, tuple[str, int]] = {}
        for path in sorted(paths):
            if "/mps/" not in path or source is None:
                continue
            text = source(path)
            if text is None or "kernel" not in text:
                continue
            for pattern in (_KERNEL, _HOST):
                for match in pattern.finditer(text):
                    self._places.setdefault(match[1], (path, text.count("\n", 0, match.start(1)) + 1))

    def find(self, asked: Iterable[str], given: Iterable[str]) -> list[Given]:
        """The kernels that a request can mean: its own literals, or literals of callers put before or after them."""
        asked = [a.strip("_{}") and a for a in asked]
        given = list(given)
        names = [*asked, *(g + a for g in given for a in asked), *(a + g for g in given for a in asked), *given]
        found: dict[str, Given] = {}
        for name in names:
            for tried in (name, re.sub(r"_?\{\}.*$", "", name).strip("_")):
                if tried in self._places and tried not in found:
                    path, line = self._places[tried]
                    found[tried] = Given(tried, path, line)
        return list(found.values())
