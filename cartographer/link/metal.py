# SPDX-License-Identifier: BSD-3-Clause
"""Metal kernels by name: functions of .metal files, kernels in Metal strings, host names that macros make.

Their names are put together at run time (`name + "_kernel"`, `"cross_" + type`), so a name is matched by its literal parts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.sites import Given

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.fact import FileFacts

_FORMAT = re.compile(r"_?\{\}.*$")
# Of elements and of indices, at the end of a name.
_TYPES = re.compile(r"(?:(?:(?:float|half|bfloat|u?(?:char|short|int|long)|bool)\d*|\d+bit|idx\d+)(?:_|$))+")


class MetalKernels:
    """All Metal kernels of a tree."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._places: dict[str, Given] = {}
        for path in sorted(files):
            for fact in files[path].definitions if "/mps/" in path else ():
                if fact.kind == "metal-kernel":
                    line = fact.start if fact.macro[:1] == ("host_name",) else fact.line  # the name begins what it names
                    self._places.setdefault(fact.name, Given(fact.name, path, line))

    def find(self, asked: Iterable[str], given: Iterable[str]) -> list[Given]:
        """The kernels that a request can mean: its own literals, or literals of callers put before or after them."""
        asked, given = list(asked), list(given)
        patterns = [t for t in (*asked, *given) if "{}" in t]
        filled = [p.replace("{}", g, 1) for p in patterns for g in given if "{}" not in g]
        names = [*filled, *asked, *(g + a for g in given for a in asked), *(a + g for g in given for a in asked), *given]
        found: dict[str, Given] = {}
        for name in names:
            stem = _FORMAT.sub("", name).rstrip("_")
            for tried in (name, stem, name + "_float", stem + "_float", *self._begun(name)):
                if tried in self._places:
                    found.setdefault(tried, self._places[tried])
                    break
        return list(found.values())

    def _begun(self, name: str) -> Iterable[str]:
        """The kernel of which a literal is the beginning, when nothing but types of elements follows: `"fused_adamw_" + type`."""
        if name.endswith("_"):
            yield from (known for known in self._places if known.startswith(name) and _TYPES.fullmatch(known, len(name)))
