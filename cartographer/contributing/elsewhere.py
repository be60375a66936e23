# SPDX-License-Identifier: BSD-3-Clause
"""Finds backends whose kernels another repository has, which PyTorch's build fetches: for XPU, caffe2/CMakeLists.txt clones it, at the commit
that a file of the tree names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.model.atlas import ELSEWHERE, Landmark
from cartographer.model.backend import device_of_key
from cartographer.scan.cmake import commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cartographer.model.operator import Operator

CMAKE = ("CMakeLists.txt", "caffe2/CMakeLists.txt", "aten/CMakeLists.txt", "aten/src/ATen/CMakeLists.txt", "cmake/*.cmake")
WANTED = (*CMAKE, "third_party/*.txt")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SWITCH = re.compile(r"USE_(\w+)")
_COMMIT = re.compile(r"[\w./-]{4,100}")


@dataclass(frozen=True, slots=True)
class _Clone:
    """A repository that the build clones: its address, the folder, and the conditions around."""

    url: str
    offset: int  # of the address in the file
    folder: str
    conditions: tuple[str, ...]


@dataclass(slots=True)
class _File:
    """What one CMake file has told so far."""

    values: dict[str, tuple[str, int]] = field(default_factory=dict)  # variable -> its value, and where that stands
    read: dict[str, str] = field(default_factory=dict)  # variable -> the file that it is read from
    conditions: list[str] = field(default_factory=list)
    clones: list[_Clone] = field(default_factory=list)
    checked_out: dict[str, str] = field(default_factory=dict)  # folder -> variable of the commit
    added: set[str] = field(default_factory=set)  # folders that are part of the build


def elsewhere(operators: Iterable[Operator], texts: Mapping[str, str]) -> Iterator[Landmark]:
    """The backends whose kernels the build fetches, each by its dispatch key, at the line that names the repository."""
    found = [(path, clone, file) for path, text in texts.items() if "clone" in text and path.endswith((".txt", ".cmake")) for file in (_read(text),) for clone in file.clones]
    keys = {key.upper(): key for op in operators for key in op.dispatch if device_of_key(key) == key.lower()} if found else {}
    for path, clone, file in found:
        if not {clone.folder, _value(file, clone.folder)} & file.added:
            continue
        pinned = file.read.get(file.checked_out.get(clone.folder, ""), "")
        commit = texts.get(pinned, "").strip()
        at = f" at {commit} ({pinned})" if _COMMIT.fullmatch(commit) else ""
        for condition in clone.conditions:
            if (switch := _SWITCH.fullmatch(condition)) and switch[1] in keys:
                yield Landmark(keys[switch[1]], ELSEWHERE, path, texts[path].count("\n", 0, clone.offset) + 1, clone.url + at)


def _value(file: _File, word: str) -> str:
    variable = _VARIABLE.fullmatch(word)
    return file.values.get(variable[1], ("", 0))[0] if variable else word


def _read(text: str) -> _File:
    file = _File()
    for name, words, offsets in commands(text):
        if name == "if":
            file.conditions.append(" ".join(words))
        elif name in ("else", "elseif") and file.conditions:
            file.conditions[-1] = " ".join(words) if name == "elseif" else ""
        elif name == "endif" and file.conditions:
            file.conditions.pop()
        elif name == "set" and len(words) > 1:
            file.values[words[0]] = words[1], offsets[1]
        elif name == "file" and words[:1] == ["READ"] and len(words) > 2:
            file.read[words[2]] = re.sub(r"^\$\{\w+\}/", "", words[1])
        elif name == "add_subdirectory":
            file.added.update(words[:1])
        elif name == "execute_process":
            _execute(file, words, offsets)
    return file


def _execute(file: _File, words: Sequence[str], offsets: Sequence[int]) -> None:
    """Take `git clone URL FOLDER` and, with the folder as the working directory, `git checkout COMMIT`."""
    verb = next((verb for verb in ("clone", "checkout") if verb in words), "")
    if not verb or not re.search(r"\bgit\b", words[words.index(verb) - 1], re.IGNORECASE):
        return
    given = [(word, at) for word, at in list(zip(words, offsets, strict=True))[words.index(verb) + 1 :] if not word.startswith("-")]
    if verb == "clone" and len(given) > 1:
        url, offset = given[0]
        if variable := _VARIABLE.fullmatch(url):
            url, offset = file.values.get(variable[1], ("", 0))
        if "://" in url and not re.search(r"\s", url):
            file.clones.append(_Clone(url, offset, given[1][0], tuple(file.conditions)))
    elif given and "WORKING_DIRECTORY" in words[:-1] and (variable := _VARIABLE.fullmatch(given[0][0])):
        file.checked_out[words[words.index("WORKING_DIRECTORY") + 1]] = variable[1]
