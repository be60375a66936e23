# SPDX-License-Identifier: BSD-3-Clause
"""Says of a backend whose kernels another repository has where that repository is named, so that nobody reads their absence here as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.atlas import elsewhere, said_elsewhere
from cartographer.model.backend import layout_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.atlas import Landmark
    from cartographer.query.ink import Ink
    from cartographer.store.reader import Reader


def of_keys(reader: Reader, keys: Iterable[str]) -> dict[str, Landmark]:
    """The landmarks of the backends among these dispatch keys whose kernels are elsewhere, by their devices."""
    subjects = dict.fromkeys(key.removeprefix(layout_prefix(key)) for key in keys)
    return elsewhere(mark for subject in subjects for mark in reader.landmarks(subject))


def line(mark: Landmark, ink: Ink) -> str:
    """The sentence about one backend, with the line of the tree that says so."""
    return f"{said_elsewhere(mark)}: {ink.place(f'{mark.path}:{mark.line}')}"
