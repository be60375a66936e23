# SPDX-License-Identifier: BSD-3-Clause
"""Reads all yaml files of one PyTorch into one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.declare import deprecated, derivatives, native_functions, tags
from cartographer.errors import DeclarationError
from cartographer.model.declaration import Declarations

if TYPE_CHECKING:
    from collections.abc import Mapping

WANTED = (native_functions.PATH, derivatives.PATH, tags.PATH, deprecated.PATH)


def load(files: Mapping[str, bytes]) -> Declarations:
    """The declarations in the files of `WANTED`; all but native_functions.yaml may be absent."""
    if native_functions.PATH not in files:
        raise DeclarationError(
            "there is no list of operators", where=native_functions.PATH,
            hint="this does not look like PyTorch 1.0 or later",
        )
    return Declarations(
        functions=native_functions.load(files[native_functions.PATH]),
        derivatives=derivatives.load(files.get(derivatives.PATH, b"")),
        tags=tags.load(files.get(tags.PATH, b"")),
        deprecated=deprecated.load(files.get(deprecated.PATH, b"")),
    )
