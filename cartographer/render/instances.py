# SPDX-License-Identifier: BSD-3-Clause
"""Metal kernels that are instances of one template: the host picks among them by type, and a chain shows one of them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from cartographer.model.atlas import INSTANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cartographer.model.atlas import Symbol

_INSTANCE = re.compile(re.escape(INSTANCE) + r"(?:\w+::)*(\w+)<(.*)>", re.DOTALL)
_TYPE = re.compile(r"(?:packed_)?(?:float|half|bfloat|bool|size_t|u?(?:char|short|int|long)|u?int\d+_t)\d*")


def siblings(symbols: Iterable[Symbol], reached: Callable[[Symbol], bool]) -> Iterator[tuple[Symbol, tuple[Symbol, ...]]]:
    """Each kernel of one file that no chain reaches itself, with those that are reached in its place: of an instance its template, or others
    for other types of elements; of a template its instances. What else is given to a template is what it computes, and has to be equal.
    """
    symbols = tuple(symbols)
    templates = {symbol.name: symbol for symbol in symbols if not symbol.signature.startswith(INSTANCE)}
    instances: dict[tuple[str, ...], list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        if found := _INSTANCE.fullmatch(symbol.signature):
            others = (word.strip() for word in found[2].split(","))
            instances[found[1], *(word for word in others if not _TYPE.fullmatch(word))].append(symbol)
    ends: dict[str, list[Symbol]] = defaultdict(list)
    for (name, *_), group in instances.items():
        if template := templates.get(name):
            itself = [symbol for symbol in group if reached(symbol)]
            ends[name] += itself
            if known := ([template] if reached(template) else []) + itself:
                yield from ((symbol, tuple(known)) for symbol in group if not reached(symbol))
    yield from ((templates[name], tuple(known)) for name, known in ends.items() if known and not reached(templates[name]))
