# SPDX-License-Identifier: BSD-3-Clause
"""Finds Metal kernels by name: functions of .metal files, kernels in Metal source in strings, host names that macros make.

Their names are put together at run time (`name + "_kernel"`, `"cross_" + type`, `fmt::format("{}_{}_{}", name, …)`), so a
name is matched by its literal parts.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from cartographer.link.index import CLASSES
from cartographer.link.sites import Given
from cartographer.scan.metal import host_kernels, pasted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.expand.macros import MacroTable
    from cartographer.model.fact import Definition, FileFacts

_NAME = re.compile(r"[A-Za-z_]\w*")
_MADE_CLASS = re.compile(r"\b(?:struct|class) ((?:\w+ ## )*\w+(?: ## \w+)*) [{:]")
_FORMAT = re.compile(r"_?\{\}.*$")
_FIELD = re.compile(r"(?:\{\})+")
_WORD = re.compile(r"[^\W_]+")
_DIGITS = "0123456789"  # which fill a field: `bm{}` is `bm64`
_MOST = 10_000  # names that are tried for one request
# Of elements and of indices, at the end of a name.
_TYPES = re.compile(r"(?:(?:(?:float|half|bfloat|u?(?:char|short|int|long)|bool)\d*|\d+bit|idx\d+)(?:_|$))+")


class MetalKernels:
    """All Metal kernels of a tree, found by the names that the host asks for."""

    def __init__(self, files: Mapping[str, FileFacts], macros: MacroTable) -> None:
        self._places: dict[str, Given] = {}
        self._arguments: dict[str, str] = {}  # template arguments of kernels that macros make
        self._files = files
        self._macros = macros
        self._known: dict[str, dict[str, int]] = {}
        for path in sorted(files):
            for fact in (*files[path].definitions, *self._of_headers(path)) if "/mps/" in path else ():
                if fact.kind == "metal-kernel" and fact.name not in self._places:
                    self._places[fact.name] = Given(fact.name, path, fact.line)
                    self._arguments[fact.name] = fact.specialization

    def find(self, asked: Iterable[str], given: Iterable[str], held: Iterable[str] = ()) -> list[Given]:
        """The kernels that a request can mean: by its own literals, or with literals of callers before or after them; what variables
        hold may be further on in a name.
        """
        asked, given = list(asked), list(given)
        near = [*given, *held]
        patterns = sorted((t for t in (*asked, *given) if "{}" in t), key=lambda text: len(_WORD.findall(text)))  # the plainest first
        filled = (p.replace("{}", g, 1) for p in patterns for g in given if "{}" not in g)
        names = chain(filled, asked, (g + a for g in given for a in asked), (a + g for g in given for a in asked), given)
        found: dict[str, Given] = {}
        for name in islice(names, _MOST):
            stem = _FORMAT.sub("", name).rstrip("_")
            for tried in (name, stem, name + "_float", stem + "_float", *self._begun(name), *self._formatted(name, near)):
                if tried in self._places:
                    found.setdefault(tried, self._places[tried])
                    break
        return list({(kernel.path, kernel.line): kernel for kernel in reversed(found.values())}.values())[::-1]

    def functors(self, kernel: Given) -> Iterator[Given]:
        """The classes of the kernel's file among its template arguments: what it computes for each element."""
        words = _NAME.findall(self._arguments.get(kernel.symbol, ""))
        if words:
            classes = self._classes(kernel.path)
            yield from (Given(word, kernel.path, classes[word], kernel.symbol) for word in words if word in classes)

    def _classes(self, path: str) -> dict[str, int]:
        """The classes of a file by name, those included that a macro makes of a name, with their lines."""
        known = self._known.get(path)
        if known is None:
            found = {d.name: d.line for d in self._files[path].definitions if d.kind in CLASSES}
            for use in self._files[path].uses:
                macro = self._macros.find(use.name, path, use.line)
                if macro is None or not macro.parameters:
                    continue
                given = dict(zip(macro.parameters, use.arguments, strict=False))
                for made in _MADE_CLASS.findall(" ".join(token.text for token in macro.body)):
                    found.setdefault(pasted(made, given), use.line)
            known = self._known[path] = found
        return known

    def _of_headers(self, path: str) -> Iterable[Definition]:
        """The kernels that a file makes by macros of the headers that it includes (c10/metal/indexing.h)."""
        if not path.endswith(".metal"):
            return ()
        headers = [self._files[header].macros for header in sorted(self._macros.reachable(path)) if header in self._files]
        if not any("host_name" in macro.body for found in headers for macro in found):
            return ()
        return host_kernels([macro for found in (*headers, self._files[path].macros) for macro in found], self._files[path].uses)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._places)}

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._places)

    def _beginning(self, begin: str) -> list[str]:
        """The kernels whose names begin so."""
        first = bisect_left(self._sorted, begin)
        return self._sorted[first : bisect_left(self._sorted, begin + chr(sys.maxunicode), first)]

    def _begun(self, name: str) -> Iterable[str]:
        """The kernel of which a literal is the beginning, when nothing but types of elements follows: `"fused_adamw_" + type`."""
        if name.endswith("_"):
            found = (known for known in self._beginning(name) if _TYPES.fullmatch(known, len(name)))
            yield from sorted(found, key=self._order.__getitem__)[:1]

    def _formatted(self, name: str, near: list[str]) -> Iterator[str]:
        """The kernel of a format whose other fields are types or literals that stand near it, those met first, of floats:
        `fmax_{}_{}_{}{}` is `fmax_dense_float_float`.
        """
        if "{}" not in name or name.startswith("{}"):
            return
        begin, *between, end = map(re.escape, _FIELD.split(name))
        # A field takes as little as it can, and that is final: with a dozen of them, trying all lengths would take for ever.
        matches = re.compile(begin + "".join(rf"(?>\w*?{part})" for part in between) + r"\w*" + end).fullmatch
        words = _WORD.findall(name)
        rest = {known: [w for w in _WORD.findall(known) if w not in words] for known in self._beginning(name.partition("{}")[0]) if matches(known)}
        told = {known: ws for known, ws in rest.items() if all(w in near or _TYPES.fullmatch(w) or w.rstrip(_DIGITS) in words for w in ws)}
        yield from sorted(told, key=lambda known: (_nearness(told[known], near), len(known), known))[:1]


def _nearness(words: list[str], near: list[str]) -> tuple[list[int], int, bool]:
    """How near literals stand that fill a format, and how many of its types are no floats."""
    types = [w for w in words if _TYPES.fullmatch(w)]
    return [near.index(w) for w in words if w in near and w not in types], sum(t != "float" for t in types), "float" not in types

