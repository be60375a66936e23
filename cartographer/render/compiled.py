# SPDX-License-Identifier: BSD-3-Clause
"""Keeps compiled templates between builds: compiling them takes longer than drawing a few hundred pages."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jinja2 import BytecodeCache

from cartographer import resources

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

KIND = "templates"  # the folder in the cache


class Keeper(Protocol):
    """The interface of a store that keeps bytes between builds."""

    def read(self, *parts: str) -> bytes | None:
        """The bytes under a name, if this user wrote them; else None, since what is read here will be executed."""

    def write(self, data: bytes, *parts: str) -> None:
        """Keep bytes under a name; failing to keep them is no error."""


class Compiled(BytecodeCache):
    """Jinja's cache of compiled templates. A template includes others when it is compiled, so one that changes makes all of them new."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its compiled code, if that is kept."""
        kept = self._keeper.read(KIND, _makers(), bucket.key)
        if kept is not None:
            bucket.bytecode_from_string(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the compiled code of a template."""
        self._keeper.write(bucket.bytecode_to_string(), KIND, _makers(), bucket.key)


@cache
def _makers() -> str:
    """A hash over all that code is made of: every template, what compiles them, and the Python that runs them. Jinja itself asks for no
    more than its first two numbers, which another implementation of the language has too.
    """
    digest = hashlib.sha256(version("jinja2").encode() + MAGIC_NUMBER + (sys.implementation.cache_tag or sys.version).encode())
    folder = resources.folder("templates")
    for path in (*sorted(path for path in folder.rglob("*.jinja2")), Path(__file__).with_name("environment.py")):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
