# SPDX-License-Identifier: BSD-3-Clause
"""One stop of a descent: a function or place that a call passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.pages.ladder import Rung


class Stop(NamedTuple):
    """One function or place that the call passes."""

    name: str
    says: str
    receipts: tuple[Receipt, ...]
    how: str
    generated: bool = False
    common: bool = False  # the same for every operator
    address: str | None = None
    ladder: tuple[Rung, ...] = ()
    end: bool = False
