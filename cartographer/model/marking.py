# SPDX-License-Identifier: BSD-3-Clause
"""Marks the words that differ between two texts, for showing them side by side."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|\W")

Pieces = tuple[tuple[bool, str], ...]


def marked(old: str, new: str) -> tuple[Pieces, Pieces]:
    """Split both texts into pieces (differs, text), where `differs` is True for the words that the other text does not have."""
    left, right = _WORD.findall(old), _WORD.findall(new)
    pieces_old: list[tuple[bool, str]] = []
    pieces_new: list[tuple[bool, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if a < b:
            pieces_old.append((kind != "equal", "".join(left[a:b])))
        if c < d:
            pieces_new.append((kind != "equal", "".join(right[c:d])))
    return tuple(pieces_old), tuple(pieces_new)
