# SPDX-License-Identifier: BSD-3-Clause
"""Decides under which conditions a registration is part of a build, from PyTorch's own CMake files and `#if` guards.

The view is the stock Linux build with CUDA: one accelerator, every other switch as CMake sets it by default, and the
libraries that the defaults ask for are found. What that view does not hold gets a word for the condition: "mps",
"vulkan", "xpu", "rocm", "tests", ...
"""

from __future__ import annotations

import fnmatch
import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.expand.conditions import NEWEST, combined, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.dispatch.cmake import Project, Setting, Source

# What makes the view: its system, and CUDA as its one accelerator (a build has only one of them).
VIEW: dict[str, str] = {
    "LINUX": "1", "UNIX": "1", "CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": "x86_64", "BLAS": "MKL",
    "APPLE": "0", "WIN32": "0", "MSVC": "0", "ANDROID": "0", "IOS": "0", "EMSCRIPTEN": "0", "MINGW": "0",
    "USE_CUDA": "1", "USE_ROCM": "0", "USE_XPU": "0", "USE_MPS": "0", "MPS_FOUND": "0",
    "CMAKE_SIZEOF_VOID_P": "8", "CMAKE_VERSION": "99", "INTERN_BUILD_MOBILE": "0", "INTERN_BUILD_ATEN_OPS": "1", "BUILD_LITE_INTERPRETER": "0",
}  # fmt: skip
COMPILER: dict[str, int] = {
    "__linux__": 1, "__GNUC__": 13, "__x86_64__": 1, "__APPLE__": 0, "_WIN32": 0, "_MSC_VER": 0, "__ANDROID__": 0,
    "C10_MOBILE": 0, "C10_IOS": 0, "TARGET_OS_IPHONE": 0, "__HIP_PLATFORM_AMD__": 0, "__HIP_PLATFORM_HCC__": 0, "__HIPCC__": 0,
    "__aarch64__": 0, "__s390x__": 0, "__powerpc__": 0, "FBCODE_CAFFE2": 0,
}  # fmt: skip
_FALSE = frozenset({"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"})
_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_CMAKE_WORD = re.compile(r'"[^"]*"|[()]|[^\s()"]+')
_OF_ONE = frozenset({"DEFINED", "TARGET", "EXISTS", "COMMAND", "POLICY", "TEST", "IS_DIRECTORY", "IS_SYMLINK", "IS_ABSOLUTE", "IS_READABLE", "IS_WRITABLE", "IS_EXECUTABLE"})
_ORDERS: dict[str, Callable[[list[int], list[int]], bool]] = {
    "LESS": operator.lt, "LESS_EQUAL": operator.le, "EQUAL": operator.eq, "GREATER_EQUAL": operator.ge, "GREATER": operator.gt,
}  # fmt: skip
_GRAMMAR = frozenset({"AND", "OR", "NOT", "STREQUAL", "MATCHES", "IN_LIST", *_OF_ONE, *_ORDERS, *(f"VERSION_{order}" for order in _ORDERS)})
# What CMake's regular expressions lack, and groups that are repeated: those may take for ever.
_NOT_OURS = re.compile(r"\)[*+{]|[*+?][*+?]|\(\?|\[\[|--|&&|~~|\|\|")
_CHOICES, _MOST_CHOICES = re.compile(r"[|*+?]"), 16
_TESTS = re.compile(r"(?:\A|/)(?:tests?|benchmarks?|examples?)/|_tests?\.\w+\Z|(?:\A|/)test_[^/]*\Z")


DEVICE_TYPES = ("c10/core/DeviceType.h", "torch/headeronly/core/DeviceType.h")  # the second in later releases
_DEVICE_TYPE = re.compile(r"\benum class DeviceType\b[^{;]*\{([^}]*)\}")
# Devices that the view has code for, and those for which every build has some.
_IN_VIEW = frozenset({"cpu", "cuda", "mkldnn", "meta", "lazy", "xla"})
VIEW_TERMS = frozenset({"cuda"})  # torchgen's word for keys that a build without the accelerator lacks


def in_view(build: Iterable[str]) -> bool:
    """Whether the stock Linux build with CUDA contains what has these conditions."""
    return set(build) <= VIEW_TERMS


def device_types(sources: Mapping[str, bytes]) -> tuple[str, ...]:
    """The devices that a PyTorch has names for, whether or not the view has code for them."""
    bodies = [_DEVICE_TYPE.search(sources[path].decode("utf-8", "replace")) for path in DEVICE_TYPES if path in sources]
    return tuple(name for body in bodies if body is not None for name in re.findall(r"^\s*(\w+)\s*=\s*\d+", body[1], re.MULTILINE))


class Build:
    """Tells, for one PyTorch, whether the stock build contains a file, or a guarded piece of one."""

    def __init__(self, project: Project, devices: Iterable[str] = ()) -> None:
        self._project = project
        self._others = {device.lower() for device in devices} - _IN_VIEW
        self._files: dict[str, list[Source]] = {}
        self._globs: list[Source] = []
        for source in project.sources:
            if "*" in source.pattern:
                self._globs.append(source)
            else:
                self._files.setdefault(source.pattern, []).append(source)
        self._folders = {source.pattern.rpartition("/")[0] for source in project.sources}
        self._pending: set[str] = set()
        self.conditions_of = lru_cache(maxsize=None)(self._conditions_of)
        self.switch = lru_cache(maxsize=None)(self._switch)
        self.holds = lru_cache(maxsize=None)(self._holds)

    def terms(self, path: str, guards: tuple[str, ...]) -> tuple[str, ...]:
        """The conditions of a place as words, such as "mps"; () when the stock build contains the place."""
        words = list(self._file_terms(path))
        for guard in guards:
            if self.holds((guard,)) is not True:
                words.extend(self._words(guard))
        if "tests" in words:
            return ("tests",)
        return tuple(sorted({w for w in words if not any(w.startswith(f"{v}_") for v in words)}))

    def needs(self, path: str, guards: tuple[str, ...]) -> tuple[str, ...]:
        """The switches of the stock build that a place depends on: a build without them lacks it."""
        ways = self.conditions_of(path)
        holding = [way for way in ways if combined([self._cmake(c) for c in way]) is True]
        conditions = [*(min(holding, key=len) if holding else ()), *(g for g in guards if self.holds((g,)) is True)]
        words: list[str] = []
        for condition in conditions:
            found = re.search(r"\A(?:!\(!)?\s*(?:defined\s*\(?\s*)?(?:USE_|AT_|CAFFE2_USE_)(\w+?)(?:_ENABLED)?\b", condition)
            if found is not None:
                words.append(found.group(1).lower())
        return tuple(sorted(dict.fromkeys(words)))

    def _file_terms(self, path: str) -> Iterable[str]:
        if _TESTS.search(path):
            return ("tests",)
        if not self._project.sources or path.endswith((".h", ".cuh", ".hpp", ".inl")):
            return self._place_terms(path)
        ways = self.conditions_of(path)
        if any(combined([self._cmake(c) for c in way]) is True for way in ways):
            return ()
        if not ways:
            return self._place_terms(path) or (("not in the build",) if self._lists_neighbours(path) else ())
        failing = min(([c for c in way if self._cmake(c) is not True] for way in ways), key=len)
        return self._place_terms(path) or [w for c in failing for w in self._words(c)]

    def _lists_neighbours(self, path: str) -> bool:
        """Whether the build takes other files of the folder: then this one is left out on purpose."""
        return path.rpartition("/")[0] in self._folders

    def _place_terms(self, path: str) -> tuple[str, ...]:
        """A folder with the name of a device says what its files are for; the view's own do not count."""
        named = [p for p in path.split("/")[:-1] if p in self._others or p == "miopen"]
        words = {"hip": "rocm", "miopen": "rocm"}
        return tuple(words.get(p, p) for p in named[-1:])

    def _conditions_of(self, path: str) -> tuple[tuple[str, ...], ...]:
        """The ways by which a file comes into the build, each the conditions of one way."""
        ways = [s.conditions for s in self._files.get(path, ())]
        folder = path.rpartition("/")[0]
        for source in self._globs:
            at, _, name = source.pattern.rpartition("/")
            inside = folder == at or (source.recursive and folder.startswith(at + "/"))
            if inside and fnmatch.fnmatchcase(path.rpartition("/")[2], name):
                ways.append(source.conditions)
        return tuple(dict.fromkeys(ways))

    # --- preprocessor conditions

    def _holds(self, guards: tuple[str, ...]) -> bool | None:
        """Whether `#if` conditions hold in the view."""
        return combined([evaluate(g, self._value, self._defined) for g in guards])

    def _value(self, name: str) -> int | None:
        if name in COMPILER:
            return COMPILER[name]
        if re.search(r"_VERSION\Z|\ACUDA_VERSION|_VERSION_(?:MAJOR|MINOR)\Z", name):
            return 0 if re.match(r"(?:ROCM|HIP|TORCH_HIP|MIOPEN)", name) else NEWEST
        if (enabled := re.match(r"AT_(\w+)_ENABLED\Z", name)) is not None:
            answer = self.switch(name)
            answer = answer if answer is not None or name in self._project.settings else self.switch(f"USE_{enabled.group(1)}")
            return None if answer is None else int(answer)
        return self._defined(name)

    def _defined(self, name: str) -> int | None:
        if name in COMPILER:
            return COMPILER[name] and 1
        if name in self._project.definitions or name in self._project.settings or name in VIEW:
            answers = [combined([self._cmake(c) for c in way]) for way in self._project.definitions.get(name, ())]
            if any(a is True for a in answers):
                return 1
            switch = self.switch(name)
            return None if switch is None and any(a is None for a in answers) else int(bool(switch))
        if name.startswith(("__", "_")):
            return None  # the compiler's
        if re.search(r"_VERSION\Z", name):
            return int(bool(self._value(name)))
        return 0 if self._project.sources else None  # nothing in the build defines it

    # --- CMake conditions and switches

    def _switch(self, name: str) -> bool | None:
        """Whether a CMake variable is on in the view; unset variables are off, what is looked for is found."""
        if name in VIEW:
            return VIEW[name] not in _FALSE
        settings = self._project.settings.get(name)
        if settings is None:
            return True if name.endswith("_FOUND") else self._by_other_name(name)
        if name in self._pending:
            return None
        self._pending.add(name)
        try:
            value: bool | None = False
            for setting in settings:
                if combined([self._cmake(c) for c in setting.conditions]) is True:
                    value = self._setting(setting)
            return value
        finally:
            self._pending.discard(name)

    def _by_other_name(self, name: str) -> bool | None:
        other = re.match(r"(?:CAFFE2_|TORCH_)(USE_\w+)\Z", name)
        if other is not None:
            return self.switch(other.group(1))
        enabled = re.match(r"AT_(\w+)_ENABLED\Z", name)
        return self.switch(f"USE_{enabled.group(1)}") if enabled is not None else False

    def _setting(self, setting: Setting) -> bool | None:
        value = setting.value
        if setting.depends:
            depends = combined([self._cmake(part) for part in setting.depends.split(";") if part.strip()])
            if depends is None:
                return None
            value = setting.value if depends else setting.otherwise
        if value.upper() in _FALSE:
            return False
        if value.startswith("${"):
            return self.switch(value[2:-1])
        return True if value.upper() in _TRUE or value[:1].isalnum() else None

    def _cmake(self, condition: str) -> bool | None:
        try:
            return _CMakeCondition(_CMAKE_WORD.findall(condition), self).value()
        except RecursionError:
            return None

    def _words(self, condition: str) -> list[str]:
        """The switches of a condition that keep it from holding, in our words."""
        names = re.findall(r"(!\s*\(?\s*(?:defined\s*\(?\s*)?|NOT\s+\(?\s*)?\b([A-Z_][A-Z0-9_]{2,})\b", condition)
        words = []
        for negated, name in names:
            if name in _GRAMMAR:
                continue
            word = re.sub(r"\A(?:CAFFE2_)?(?:USE_|AT_|BUILD_|C10_|TORCH_)+|_ENABLED\Z|\A_+|_+\Z", "", name).lower()
            on = bool(self._value(name)) if name not in VIEW else VIEW[name] not in _FALSE
            if negated and on:
                words.append(f"not {word}")
            elif not negated and not on:
                words.append(word)
        return words or [re.sub(r"\s+", " ", condition)]


def _compared(left: str, sign: str, right: str) -> bool | None:
    """A comparison of CMake's; None for one that we do not know, or that cannot be told."""
    if sign in ("STREQUAL", "MATCHES"):
        return None if "${" in right else left == right if sign == "STREQUAL" else _matches(left, right)
    holds = _ORDERS.get(sign.removeprefix("VERSION_"))
    if holds is None:
        return None
    if not all(re.fullmatch(r"[0-9.]{1,99}", side) for side in (left, right)):
        # The newest CMake: whatever version is asked for, it is there.
        return "GREATER" in sign if left == VIEW["CMAKE_VERSION"] else None
    return holds(_version(left), _version(right))


def _version(text: str) -> list[int]:
    """2.0 is 2, as CMake has it."""
    parts = [int(part) for part in text.split(".") if part]
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _matches(text: str, pattern: str) -> bool | None:
    """Whether a regular expression of CMake's is found in a text. The pattern is the tree's: None for one that is none, or that may
    take for ever.
    """
    if _NOT_OURS.search(pattern) or len(_CHOICES.findall(pattern)) > _MOST_CHOICES:
        return None
    try:
        return re.search(pattern, text) is not None
    except (re.error, OverflowError, RecursionError):
        return None


class _CMakeCondition:
    """`NOT`, `AND`, `OR`, comparisons and parentheses of a CMake if()."""

    def __init__(self, words: list[str], build: Build) -> None:
        self._words = words
        self._build = build
        self._at = 0

    def value(self) -> bool | None:
        """The answer, None when it cannot be told."""
        left = self._conjunction()
        while self._take("OR"):
            right = self._conjunction()
            left = True if left or right else (None if left is None or right is None else False)
        return left

    def _conjunction(self) -> bool | None:
        left = self._negation()
        while self._take("AND"):
            left = combined([left, self._negation()])
        return left

    def _negation(self) -> bool | None:
        if self._take("NOT"):
            inner = self._negation()
            return None if inner is None else not inner
        if self._take("("):
            inner = self.value()
            self._take(")")
            return inner
        return self._test()

    def _test(self) -> bool | None:
        if self._at >= len(self._words):
            return None
        word = self._words[self._at]
        self._at += 1
        if word in _OF_ONE:
            self._at += 1
            return False if word == "DEFINED" and "".join(self._words[self._at - 1 : self._at]).startswith("ENV") else None
        sign = self._words[self._at] if self._at < len(self._words) else ""
        if sign not in ("", "AND", "OR", "(", ")"):
            right = self._words[self._at + 1].strip('"') if self._at + 1 < len(self._words) else ""
            self._at += 2
            left = VIEW.get(word.strip('"').removeprefix("${").removesuffix("}"))
            return None if left is None else _compared(left, sign, right)
        name = word.strip('"').removeprefix("${").removesuffix("}")
        if name.upper() in _TRUE | _FALSE:
            return name.upper() in _TRUE
        return self._build.switch(name)

    def _take(self, word: str) -> bool:
        if self._at < len(self._words) and self._words[self._at] == word:
            self._at += 1
            return True
        return False
