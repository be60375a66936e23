# SPDX-License-Identifier: BSD-3-Clause
"""Finds what PyTorch's own Python says to call instead of an operator: deprecation notes, warnings, messages of removed functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from cartographer.model.oplist import Advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WANTED = re.compile(r"torch/[^/]+\.py")
_NEAR = 400  # characters between what went and what is named instead: two sentences
# "torch.x is deprecated in favor of torch.y", "x(a) was removed, use torch.y", "torch.x(A) should be replaced with: torch.y(A)".
# What stands between the words of a sentence: quotes, line ends and the backslashes of a text in Python.
_GONE = re.compile(
    r"(?:torch\.|Tensor\.)(?P<name>\w+)`?(?:\([^()]{0,120}\))?(?:[\w.\[\]:, ]{0,30})?(?:[\s`\"'\\]|\\n)+(?:is|was|should be|has been)(?:[\s\"'\\]|\\n)+(?:now )?"
    r"(?:deprecated|removed|replaced)\b")
# A function that is left only to say what to call: its first statement raises.
_STUB = re.compile(r"\ndef _?(?P<name>\w+)\([^{}()]{0,600}(?:\([^()]{0,80}\)[^{}()]{0,300}){0,6}\)[^:\n]{0,120}:\n\s+raise \w+\((?=[^)]{0,200}(?:removed|deprecated))")
_DEFINED = re.compile(r"(    )?def (\w+)\(")
_WORD = re.compile(r"\b(?:deprecated|removed|replaced)\b")
_BEFORE = 240  # characters that may stand between a name and such a word
_WAY = re.compile(r"\b(?:in favor of|use[ds]?|using|with|by|see|calling|consider)\b")
_REFERENCE = re.compile(r"\btorch\.(?P<path>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


def advice_in(files: Mapping[str, bytes]) -> dict[str, tuple[Advice, ...]]:
    """What to call instead, by the name of an operator and in the order written. A name is for all its overloads."""
    found: dict[str, list[Advice]] = {}
    for path in sorted(files):
        if b"deprecated" in files[path] or b"replaced" in files[path] or b"removed" in files[path]:
            for name, advice in _in_file(path, files[path].decode("utf-8", "replace")):
                if advice not in found.setdefault(name, []):
                    found[name].append(advice)
    return {name: tuple(advices) for name, advices in found.items()}


def written_in(files: Mapping[str, bytes]) -> dict[str, tuple[str, int]]:
    """The Python names that Python itself defines, with their places: methods of the class Tensor, functions of torch/functional.py."""
    found: dict[str, tuple[str, int]] = {}
    for path in sorted(files):
        if path.endswith("/functional.py") or b"\nclass Tensor(" in files[path]:
            owner = "torch" if path.endswith("/functional.py") else ""
            for number, line in enumerate(files[path].decode("utf-8", "replace").split("\n"), 1):
                if line.startswith("class "):
                    owner = "torch.Tensor" if line.startswith("class Tensor(") else ""
                elif owner and (head := _DEFINED.match(line)) and bool(head[1]) == (owner == "torch.Tensor"):
                    found.setdefault(f"{owner}.{head[2]}", (path, number))
    return found


def _in_file(path: str, text: str) -> Iterator[tuple[str, Advice]]:
    starts: list[int] = []
    for gone in _mentions(text):
        starts = starts or [m.end() for m in re.finditer("\n", text)]
        end = min(gone.end() + _NEAR, *(at for mark in ('"""', "\ndef ", "\n\n\n") if (at := text.find(mark, gone.end())) > 0), len(text))
        way = _WAY.search(text, gone.end(), end)
        if way is None:
            continue
        line = bisect_right(starts, gone.start("name")) + 1
        for reference in _REFERENCE.finditer(text, way.end(), end):
            if reference["path"] != gone["name"]:
                yield gone["name"], Advice(reference["path"], path, line)


def _mentions(text: str) -> Iterator[re.Match[str]]:
    """Where a name is said to be gone: functions that only raise, then sentences."""
    if "removed" in text or "deprecated" in text:
        yield from _STUB.finditer(text)
    for word in _WORD.finditer(text):
        yield from _GONE.finditer(text, max(0, word.start() - _BEFORE), word.end())
