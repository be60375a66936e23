# SPDX-License-Identifier: BSD-3-Clause
"""The errors of cartographer, by cause.

    CartographerError
    ├── UsageError          the request itself makes no sense (exit code 2)
    ├── UnknownVersion      no such tag or release; near misses stand in the hint
    ├── CheckoutError       a source cannot be read: no network, not a PyTorch tree, a broken repository
    ├── DeclarationError    a yaml file of PyTorch's cannot be understood
    ├── ScanError           a file of facts or of the cache cannot be used
    ├── HistoryError        git history cannot be dated
    ├── StoreError          an atlas is missing, damaged or of another schema version
    ├── RenderError         the site cannot be written
    ├── NotFound            the question has no answer in this atlas
    └── CompareError        two releases cannot be compared

Each error says what happened, where (a printed location), and what to do next.
"""

from __future__ import annotations


class CartographerError(Exception):
    """An error to show to the user: what went wrong in one sentence (`message`), where, and what to do about it (`hint`)."""

    exit_code = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n{self.hint}" if self.hint else text


class UsageError(CartographerError):
    """Raised when the request itself makes no sense."""

    exit_code = 2


class UnknownVersion(CartographerError):  # noqa: N818 - a name of its own says more than "...Error"
    """Raised for a tag or release that does not exist; the hint has near misses."""


class CheckoutError(CartographerError):
    """Raised when a source of PyTorch cannot be read."""


class DeclarationError(CartographerError):
    """Raised for a yaml file of PyTorch's that cannot be understood."""


class ScanError(CartographerError):
    """Raised when facts, or the cache of facts, cannot be used."""


class HistoryError(CartographerError):
    """Raised when git history cannot be dated."""


class StoreError(CartographerError):
    """Raised for an atlas that is missing, damaged or of another schema version."""


class RenderError(CartographerError):
    """Raised when the site cannot be written."""


class NotFound(CartographerError):  # noqa: N818 - as above
    """Raised when the question has no answer in this atlas."""


class CompareError(CartographerError):
    """Raised when two releases cannot be compared."""

    exit_code = 2
