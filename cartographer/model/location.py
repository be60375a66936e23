# SPDX-License-Identifier: BSD-3-Clause
"""Locations in PyTorch's repository, and the languages of its files."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """`path` relative to PyTorch's root, `line` counted from 1; `end_line` when the thing has an extent."""

    path: str
    line: int
    end_line: int | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Language(Enum):
    """The language that a scanned file is written in."""

    CPP = "C++"
    C = "C"
    CUDA = "CUDA"
    OBJCXX = "Objective-C++"
    METAL = "Metal"
    PYTHON = "Python"
    YAML = "YAML"
    OTHER = "other"


_BY_SUFFIX = {
    ".cpp": Language.CPP, ".cc": Language.CPP, ".cxx": Language.CPP, ".h": Language.CPP, ".hpp": Language.CPP,
    ".hh": Language.CPP, ".inl": Language.CPP, ".inc": Language.CPP, ".c": Language.C,
    ".cu": Language.CUDA, ".cuh": Language.CUDA, ".hip": Language.CUDA,
    ".mm": Language.OBJCXX, ".m": Language.OBJCXX, ".metal": Language.METAL,
    ".py": Language.PYTHON, ".pyi": Language.PYTHON, ".yaml": Language.YAML, ".yml": Language.YAML,
}


def language_of(path: str) -> Language:
    """The language of a file, by its file name: `python_variable_methods.cpp.in` is C++, `x.pyi.in` is Python."""
    name = path.removesuffix(".in").removesuffix("/.").rstrip("/")  # the folder's, of a file that is called `.in`
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    return _BY_SUFFIX.get(dot + ending.lower(), Language.OTHER) if stem else Language.OTHER
