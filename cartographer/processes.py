# SPDX-License-Identifier: BSD-3-Clause
"""Runs work beside this process in a copy of it, and keeps Python's garbage collector out of the way."""

from __future__ import annotations

import copyreg
import gc
import io
import multiprocessing
import pickle
import warnings
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Generic, TypeVar

from cartographer.progress import interrupts_held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from typing import Any

    Begun = list["Beside[Any]"]
    Reducer = Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]

T = TypeVar("T")
_FAREWELL = 5.0  # seconds in which a copy that has told its result puts away what it made for itself


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Switch the garbage collector off inside the block: facts, tokens and operators come by the million and hold no cycles worth finding."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def short_lived() -> Iterator[None]:
    """The one thing that this process does before it ends. Its memory goes back as a whole: nothing searches it for cycles, neither
    meanwhile nor, as Python does even with its collector disabled, at the end.
    """
    with collector_at_rest():
        try:
            yield
        finally:
            gc.freeze()


def can_fork() -> bool:
    """Whether this platform can copy a running process, memory and all."""
    return "fork" in multiprocessing.get_all_start_methods()


def packed(value: object) -> bytes:
    """A value to send, pickled. Frozen dataclasses, of which there are hundreds of thousands, go as tuples of their fields:
    what dataclasses themselves do for it costs twice as much on either side.
    """
    parcel = io.BytesIO()
    pickler = pickle.Pickler(parcel, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _REDUCERS
    pickler.dump(value)
    return parcel.getvalue()


class _Reducers(dict[type, "Reducer"]):
    """How the instances of a class are pickled, for those that dataclasses made frozen and gave slots."""

    def __missing__(self, kind: type) -> Reducer:
        state = kind.__dict__.get("__getstate__")
        names = [field.name for field in fields(kind)] if is_dataclass(kind) and getattr(state, "__module__", "") == "dataclasses" else []
        if len(names) < 2 or not all(isinstance(getattr(kind, name, None), MemberDescriptorType) for name in names):
            return copyreg.dispatch_table[kind]  # type: ignore[return-value]  # as ever: KeyError where nothing is registered
        values = attrgetter(*names)
        reduce = self[kind] = lambda made: (_restored, (kind, values(made)))
        return reduce


class _Setters(dict[type, "list[Callable[[object, object], None]]"]):
    """What sets the fields of a class, in their order."""

    def __missing__(self, kind: type) -> list[Callable[[object, object], None]]:
        setters = self[kind] = [getattr(kind, field.name).__set__ for field in fields(kind)]
        return setters


_REDUCERS, _SETTERS = _Reducers(), _Setters()


def _restored(kind: type[T], values: tuple[object, ...]) -> T:
    """An instance with these fields, as it was."""
    made = object.__new__(kind)
    for put, value in zip(_SETTERS[kind], values, strict=True):
        put(made, value)
    return made


class Beside(Generic[T]):
    """Work that was begun in a copy of this process; `result` waits for it."""

    def __init__(self, work: Callable[[], T], process: BaseProcess | None = None, answer: Connection | None = None) -> None:
        """Without a process the work is done here, when its result is asked for."""
        self._work, self._process, self._answer = work, process, answer

    def result(self) -> T:
        """The result of the work. Work that failed there, or whose process ended, is done again here, so errors are raised as usual."""
        if self._process is None or self._answer is None:
            return self._work()
        try:
            sent = self._answer.recv_bytes()
        except (EOFError, OSError):
            sent = b""
        self._process.join(_FAREWELL)
        self.end()
        if not sent:
            return self._work()
        with collector_at_rest():
            found: T = pickle.loads(sent)  # noqa: S301 - from our own copy, through a pipe that no other process holds
        return found

    def end(self) -> None:
        """Give up the work: a process that has not sent its result is ended."""
        if self._process is None or self._answer is None or self._answer.closed:
            return
        with interrupts_held():
            self._answer.close()
            self._process.kill()
            self._process.join()


_begun: ContextVar[Begun | None] = ContextVar("_begun", default=None)


@contextmanager
def none_left() -> Iterator[None]:
    """End, with the block, all work that was begun in it, also when the block fails before it asks for the results."""
    begun: Begun = []
    around = _begun.set(begun)
    try:
        yield
    finally:
        _begun.reset(around)
        with interrupts_held():
            for made in begun:
                made.end()


def beside(work: Callable[[], T], *, workers: int = 2) -> Beside[T]:
    """Begin `work` in a copy of this process. Its result must not depend on what happens here in the meantime; it travels
    back as a value. With one worker, in such a copy, or on a platform without them, nothing is begun before it is asked for.
    """
    if workers < 2 or not can_fork() or multiprocessing.current_process().daemon:
        return Beside(work)
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings(), interrupts_held():
        warnings.simplefilter("ignore", DeprecationWarning)  # a progress bar's thread runs; the copy does not use it
        answer, end = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(work, answer, end), daemon=True)
        process.start()
        end.close()
        made = Beside(work, process, answer)
        if (begun := _begun.get()) is not None:
            begun.append(made)
    return made


def _send(work: Callable[[], object], answer: Connection, end: Connection) -> None:
    """In the copy: the result, pickled; nothing at all when the work fails."""
    answer.close()  # else a result that nobody waits for any more would be waited with for ever
    gc.disable()
    try:
        sent = packed(work())
    except BaseException:  # noqa: BLE001 - whatever it is, it is met again where the result is wanted
        sent = b""
    with suppress(OSError):  # nobody waits for it any more
        end.send_bytes(sent)
