# SPDX-License-Identifier: BSD-3-Clause
"""Shows how far long work has come; the only home of rich."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Progress(Protocol):
    """The interface by which a stage reports how far it is."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps (None: unknown)."""

    def step(self, done: int = 1) -> None:
        """Report that `done` more steps are finished."""

    def note(self, text: str) -> None:
        """Tell the user one plain fact, such as what is missing or was skipped."""

    def close(self) -> None:
        """End the last stage, and whatever shows it."""


class SilentProgress:
    """Shows nothing, but remembers notes and the seconds that each stage took."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.seconds: dict[str, float] = {}
        self._name: str | None = None
        self._start = 0.0

    def stage(self, name: str, total: int | None = None) -> None:  # noqa: ARG002
        self.close()
        self._name, self._start = name, time.perf_counter()

    def step(self, done: int = 1) -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)

    def close(self) -> None:
        if self._name is not None:
            self.seconds[self._name] = self.seconds.get(self._name, 0.0) + time.perf_counter() - self._start
            self._name = None


class PlainProgress(SilentProgress):
    """Prints one line to standard error for each stage: for logs and pipes."""

    def stage(self, name: str, total: int | None = None) -> None:
        super().stage(name, total)
        print(f"cartographer: {name}", file=sys.stderr, flush=True)  # noqa: T201

    def note(self, text: str) -> None:
        super().note(text)
        print(f"cartographer: note: {text}", file=sys.stderr, flush=True)  # noqa: T201


class TerminalProgress(SilentProgress):
    """Shows a moving bar with an estimate, for people at a terminal."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=self._console, transient=True,
        )
        self._bar.start()
        self._task: int | None = None

    def stage(self, name: str, total: int | None = None) -> None:
        super().stage(name, total)
        if self._task is not None:
            self._bar.remove_task(self._task)  # type: ignore[arg-type]
        self._task = self._bar.add_task(name, total=total)

    def step(self, done: int = 1) -> None:
        if self._task is not None:
            self._bar.advance(self._task, done)  # type: ignore[arg-type]

    def note(self, text: str) -> None:
        super().note(text)
        self._console.print(f"note: {text}", style="yellow", markup=False, highlight=False)

    def close(self) -> None:
        super().close()
        self._bar.stop()


def for_terminal(*, quiet: bool = False) -> Progress:
    """The progress that suits standard error: a bar on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return SilentProgress()
    return TerminalProgress() if sys.stderr.isatty() else PlainProgress()


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Ctrl-C is answered at the end of the block, or inside it where the given function is called: KeyboardInterrupt, which else comes
    between any two instructions, may leave a lock of a pool held for ever, or a process that nobody knows. Processes copied
    inside the block never answer it; the terminal sends it to them too, but it is this process that ends them.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None  # no signal comes here, or none is to be answered
        return
    met: list[int] = []

    def answer() -> None:
        if met:
            met.clear()
            before(signal.SIGINT, None)

    signal.signal(signal.SIGINT, lambda number, _: met.append(number))
    try:
        yield answer
    finally:
        signal.signal(signal.SIGINT, before)
        answer()
