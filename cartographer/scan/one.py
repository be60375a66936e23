# SPDX-License-Identifier: BSD-3-Clause
"""Scans one file into facts, whatever its language."""

from __future__ import annotations

from cartographer.errors import ScanError
from cartographer.model.fact import FileFacts
from cartographer.model.location import Language, language_of
from cartographer.scan.cpp import scan_cpp
from cartographer.scan.python import scan_python

_C_FAMILY = (Language.CPP, Language.C, Language.CUDA, Language.OBJCXX, Language.METAL)


FAILED = "nothing of this file is known, our scanner failed"  # the notes of such a file begin like this


def scan_file(path: str, data: bytes, *, bodies: bool = True) -> FileFacts:
    """The facts of one file; the language is that of its name. Without `bodies` what C++ functions call is left out."""
    language = language_of(path)
    try:
        if language in _C_FAMILY:
            return scan_cpp(data, language, bodies=bodies)
        if language is Language.PYTHON:
            return scan_python(data)
    except ScanError:  # no file's fault: all would be lost
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours in one file must not lose the other thousands
        note = f"{FAILED}: {type(error).__name__}: {error}"
        return FileFacts(language=language.value, lines=data.count(b"\n"), error_nodes=1, error_bytes=len(data), notes=(note,))
    return FileFacts(language=language.value, lines=data.count(b"\n"))
