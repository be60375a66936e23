# SPDX-License-Identifier: BSD-3-Clause
"""Runs work beside this process in a copy of it, and keeps Python's garbage collector out of the way."""

from __future__ import annotations

import copyreg
import gc
import io
import multiprocessing
import os
import pickle
import warnings
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from multiprocessing import connection
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cartographer.progress import interrupts_held

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    Begun = list["Beside[Any]"]
    Reducer = Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]

T = TypeVar("T")
_TURN = 8  # bytes that tell one
_TURNS = 500  # so many, at most: they fit into the smallest pipe
_PATIENCE = 1.0  # seconds after which it is seen whether Ctrl-C was pressed
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
        found: T = _unpacked(sent)
        return found

    def end(self) -> None:
        """Give up the work: a process that has not sent its result is ended."""
        if self._process is None or self._answer is None or self._answer.closed:
            return
        with interrupts_held():
            _end(self._answer, self._process)


def _unpacked(sent: bytes) -> Any:
    """What a copy of this process sent."""
    with collector_at_rest():
        return pickle.loads(sent)  # noqa: S301 - from our own copy, through a pipe that no other process holds


def _end(answer: Connection, process: BaseProcess) -> None:
    """End a copy, whatever it still does."""
    answer.close()
    process.kill()
    process.join()


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
    with interrupts_held():
        answer, process = _copy(_send, work)
        made = Beside(work, process, answer)
        if (begun := _begun.get()) is not None:
            begun.append(made)
    return made


class ProcessEndedError(Exception):
    """Raised when a copy of this process ended before its time: the system kills one when memory is short."""


def in_turns(work: Callable[[int], T], count: int, copies: int, *, here: bool = False) -> Generator[T, None, None]:
    """The results of `work` for each number below `count`, in no certain order. Copies of this process take one number after the other,
    and this process too when `here` is set; without copies on this platform, it alone. What `work` raises there is raised here;
    raises ProcessEndedError. No thread and no lock has a part in it: whatever ends when, nothing is waited for that does not come.
    """
    if copies < 1 or count < 2 or not can_fork() or multiprocessing.current_process().daemon:
        yield from map(work, range(count))
        return
    with interrupts_held() as answer, _numbers(count) as turns:
        begun: list[tuple[Connection, BaseProcess]] = []
        try:
            begun.extend(_copy(_take_turns, work, turns) for _ in range(min(copies, count)))
            left = [told for told, _ in begun]
            while left:
                answer()
                mine = _next(turns) if here else ()
                here = bool(mine)
                yield from map(work, mine)
                for told in connection.wait(left, 0 if here else _PATIENCE):
                    if (result := _received(told)) is None:
                        left.remove(told)  # type: ignore[arg-type]
                    else:
                        yield result[0]
        finally:
            for told, process in begun:
                _end(told, process)


@contextmanager
def _numbers(count: int) -> Iterator[int]:
    """The end of a pipe from which processes read the numbers below `count`, each once, and at last nothing."""
    turns, end = os.pipe()
    try:
        step = -(-count // _TURNS)
        os.write(end, b"".join(first.to_bytes(4) + min(first + step, count).to_bytes(4) for first in range(0, count, step)))
        os.close(end)
        yield turns
    finally:
        os.close(turns)


def _next(turns: int) -> range:
    """The next numbers; none when all are taken."""
    told = os.read(turns, _TURN)
    return range(int.from_bytes(told[:4]), int.from_bytes(told[4:]))


def _received(told: Any) -> tuple[Any] | None:
    """What a copy sends: the result for a number, or that there are no numbers left (None)."""
    try:
        sent = told.recv_bytes()
    except (EOFError, OSError) as error:
        raise ProcessEndedError from error
    if not sent:
        return None
    failed, value = _unpacked(sent)
    if failed:
        raise value
    return (value,)


def _take_turns(work: Callable[[int], object], turns: int, end: Connection) -> None:
    """In a copy: the result for each number that it gets, and at last that there are none."""
    while mine := _next(turns):
        for number in mine:
            try:
                sent = packed((False, work(number)))
            except Exception as error:  # noqa: BLE001 - it is raised where the result is wanted
                sent = _failure(error)
            end.send_bytes(sent)
    end.send_bytes(b"")


def _failure(error: Exception) -> bytes:
    """An error to raise elsewhere; its words, where it cannot be sent as it is."""
    try:
        sent = pickle.dumps((True, error))
        pickle.loads(sent)  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - any class may fail in its own way
        return pickle.dumps((True, RuntimeError(f"{type(error).__name__}: {error}")))
    return sent


def _copy(target: Callable[..., object], *arguments: object) -> tuple[Connection, BaseProcess]:
    """A copy of this process that runs a function, and the end of the pipe at which what it sends is received."""
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a progress bar's thread runs; the copy does not use it
        answer, end = context.Pipe(duplex=False)
        process = context.Process(target=_as_copy, args=(target, arguments, answer, end), daemon=True)
        process.start()
    end.close()
    return answer, process


def _as_copy(target: Callable[..., object], arguments: tuple[object, ...], answer: Connection, end: Connection) -> None:
    answer.close()  # else a result that nobody waits for any more would be waited with for ever
    gc.disable()
    with suppress(OSError):  # nobody waits for it any more
        target(*arguments, end)


def _send(work: Callable[[], object], end: Connection) -> None:
    """In the copy: the result, pickled; nothing at all when the work fails."""
    try:
        sent = packed(work())
    except BaseException:  # noqa: BLE001 - whatever it is, it is met again where the result is wanted
        sent = b""
    end.send_bytes(sent)
