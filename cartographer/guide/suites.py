# SPDX-License-Identifier: BSD-3-Clause
"""Tells which files of tests run over an operator, given its OpInfo records: over every record of their class, or over some, of which it may be one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cartographer.model.atlas import Landmark

_SAID = re.compile(r"(\d+) tests? over (every|some) \w+(?:, (\d+) over some)?")
_ANY = "OpInfo"  # the class of all records of the main list


class Suites(NamedTuple):
    """Files of tests, those with the most tests first."""

    every: tuple[Landmark, ...]  # that run over the operator for certain
    some: tuple[Landmark, ...]  # that run over some records, chosen by what only a running PyTorch tells


def suites(of: Callable[[str], Iterable[Landmark]], marks: Iterable[Landmark]) -> Suites:
    """The files over the records among an operator's landmarks; its own class comes before the class of all. `of` gives the landmarks of a class."""
    classes = [kind for kind in dict.fromkeys(m.text.partition("(")[0] for m in marks if m.kind == "opinfo") if kind != _ANY]
    described = any(m.kind == "opinfo" and any(k.kind == "listed" for k in of(m.text.partition("(")[0])) for m in marks)
    every: dict[tuple[str, int], Landmark] = {}
    some: dict[str, Landmark] = {}
    for kind in (*classes, *([_ANY] if described else [])):
        for mark in sorted((m for m in of(kind) if m.kind == "tests"), key=_most):
            if _numbers(mark.text)[0]:
                every.setdefault((mark.path, mark.line), mark)
            else:
                some.setdefault(mark.path, mark)
    sure = {mark.path for mark in every.values()}
    return Suites(tuple(every.values()), tuple(mark for path, mark in some.items() if path not in sure))


def with_folder(text: str, path: str) -> str:
    """What is said of a file of tests, with its folder where it has one, for places where paths are short: there are several test_ops.py."""
    folder = path.removeprefix("test/").rpartition("/")[0] if path.startswith("test/") else ""
    return f"{text}, in {folder}" if folder else text


def _most(mark: Landmark) -> tuple[int, int, str]:
    whole, part = _numbers(mark.text)
    return -whole, -part, mark.path


def _numbers(text: str) -> tuple[int, int]:
    """The tests over every record, and those over some."""
    said = _SAID.match(text)
    if said is None:
        return 0, 0
    return (int(said[1]), int(said[3] or 0)) if said[2] == "every" else (0, int(said[1]))
