# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the last few results of costly work in memory, so that asking again is fast and memory stays bounded."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class _Place(Generic[T]):
    """Where one result is put; whoever makes it holds the lock."""

    __slots__ = ("lock", "made")

    def __init__(self) -> None:
        self.lock = Lock()
        self.made: list[T] = []


class Recent(Generic[T]):
    """A cache of at most `size` results by key; the least recently used one is dropped."""

    def __init__(self, size: int) -> None:
        """Keep at most `size` results."""
        self._size = size
        self._lock = Lock()
        self._places: OrderedDict[Hashable, _Place[T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for `key`, computed by `make` when it is not kept; a second thread that asks meanwhile waits. Errors of `make` are not kept."""
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            while len(self._places) > self._size:
                self._places.popitem(last=False)
        with place.lock:
            if not place.made:
                place.made.append(make())
            return place.made[0]
