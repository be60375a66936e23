# SPDX-License-Identifier: BSD-3-Clause
"""Two cores and one Python: a copy of this process that works while we go on, and a collector that stays out of the way."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from cartographer.progress import interrupts_are_ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

T = TypeVar("T")


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Facts, tokens and operators come by the million and hold no cycles worth finding: the collector only costs time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def can_fork() -> bool:
    """Whether this platform copies a running process, memory and all."""
    return "fork" in multiprocessing.get_all_start_methods()


class Beside(Generic[T]):
    """Work that was begun beside; `result` waits for it."""

    def __init__(self, work: Callable[[], T], process: BaseProcess | None = None, answer: Connection | None = None) -> None:
        """Without a process the work is done here, when its result is asked for."""
        self._work, self._process, self._answer = work, process, answer

    def result(self) -> T:
        """What the work returned. Work that failed there, or whose process ended, is done here: errors are raised as ever."""
        if self._process is None or self._answer is None:
            return self._work()
        try:
            sent = self._answer.recv_bytes()
        except (EOFError, OSError):
            sent = b""
        self._answer.close()
        self._process.join()
        if not sent:
            return self._work()
        with collector_at_rest():
            found: T = pickle.loads(sent)  # noqa: S301 - from our own copy, through a pipe that no other process holds
        return found


def beside(work: Callable[[], T], *, workers: int = 2) -> Beside[T]:
    """Begin `work` in a copy of this process. Its result must not depend on what happens here in the meantime; it travels
    back as a value. With one worker, or on a platform without such copies, nothing is begun before it is asked for.
    """
    if workers < 2 or not can_fork():
        return Beside(work)
    context = multiprocessing.get_context("fork")
    answer, end = context.Pipe(duplex=False)
    with warnings.catch_warnings(), interrupts_are_ours():
        warnings.simplefilter("ignore", DeprecationWarning)  # a progress bar's thread runs; the copy does not use it
        process = context.Process(target=_send, args=(work, end), daemon=True)
        process.start()
    end.close()
    return Beside(work, process, answer)


def _send(work: Callable[[], object], end: Connection) -> None:
    """In the copy: the result, pickled; nothing at all when the work fails."""
    gc.disable()
    try:
        sent = pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
    except BaseException:  # noqa: BLE001 - whatever it is, it is met again where the result is wanted
        sent = b""
    end.send_bytes(sent)
    end.close()
    os._exit(0)  # nothing of ours is to be torn down here: it all belongs to the process that we copy
