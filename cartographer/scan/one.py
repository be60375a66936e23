# SPDX-License-Identifier: BSD-3-Clause
"""One file's bytes to its facts, whatever its language."""

from __future__ import annotations

from cartographer.model.fact import FileFacts
from cartographer.model.location import Language, language_of
from cartographer.scan.cpp import scan_cpp
from cartographer.scan.python import scan_python

_C_FAMILY = (Language.CPP, Language.C, Language.CUDA, Language.OBJCXX, Language.METAL)


def scan_file(path: str, data: bytes) -> FileFacts:
    """The facts of one file; its language follows from its name."""
    language = language_of(path)
    if language in _C_FAMILY:
        return scan_cpp(data, language)
    if language is Language.PYTHON:
        return scan_python(data)
    return FileFacts(language=language.value, lines=data.count(b"\n"))
