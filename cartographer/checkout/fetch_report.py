# SPDX-License-Identifier: BSD-3-Clause
"""Shows git's progress as progress of the build."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.checkout.git import FetchStep
    from cartographer.progress import Progress


class FetchReport:
    """Turns git's reports into a stage, with a total as soon as git knows one.

    With `total` given (many fetches make one stage) the received objects of each fetch count towards it.
    """

    def __init__(self, progress: Progress, label: str, total: int | None = None) -> None:
        self._progress = progress
        self._label = label
        self._fixed = total is not None
        self._done = 0
        self._phase = ""
        progress.stage(label, total)

    def __call__(self, step: FetchStep) -> None:
        """Take one line of git's."""
        if step.what not in {"receiving", "resolving"} or (self._fixed and step.what == "resolving"):
            return
        if step.what != self._phase:
            self._phase = step.what
            if not self._fixed:
                self._done = 0
                suffix = ", joining deltas" if step.what == "resolving" else ""
                self._progress.stage(f"{self._label}{suffix}", step.total or None)
        if step.done > self._done:
            self._progress.step(step.done - self._done)
            self._done = step.done

    def finish(self, count: int) -> None:
        """End one fetch of several: count what git did not report, and begin the next at zero."""
        if count > self._done:
            self._progress.step(count - self._done)
        self._done = 0
        self._phase = ""
