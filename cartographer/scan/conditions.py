# SPDX-License-Identifier: BSD-3-Clause
"""Preprocessor conditions as texts: negates them, and guesses whether they hold in the build most readers have in mind
(Linux, CUDA, everything optional switched on, neither ROCm nor Windows nor a phone).
"""

from __future__ import annotations

import re

from cartographer.model.fact import ALTERNATIVES

_TOKEN = re.compile(r"\|\||&&|!(?!=)|[()]|[^\s()|&!]+(?:\s*[<>=!]=?\s*[^\s()|&!]+)*|[|&]|!=")
_ELSEWHERE = re.compile(
    r"ROCM|HIP|MSC_VER|WIN32|_WIN|ANDROID|MOBILE|XPLAT|FBCODE|__APPLE__|TARGET_OS|EMSCRIPTEN|(?i:aarch64)|ARM|__arm|NEON|SVE|KLEIDIAI|MKLDNN_ACL"
    r"|VSX|ZVECTOR|POWERPC|__powerpc|__PPC|S390|__s390|__riscv|__loongarch|MINGW|CYGWIN|^0$",
)

_WORD = re.compile(rf"\b(?:{'|'.join(ALTERNATIVES)})\b")


def negated(condition: str) -> str:
    """The text of the opposite condition: `!(c)`, or `c` when it was `!(c)` already."""
    if condition.startswith("!defined(") and condition.count("(") == 1 and condition.endswith(")"):
        return condition[1:]
    return f"!({condition})"


def holds_on_main_build(condition: str) -> bool:
    """Guess whether a condition holds, the same for equal texts: names of other platforms are false, all other tests true."""
    tokens = _TOKEN.findall(_WORD.sub(lambda m: ALTERNATIVES[m[0]], condition[:500]))
    value, _ = _either(tokens, 0, 0)
    return value


def _either(tokens: list[str], at: int, depth: int) -> tuple[bool, int]:
    value, at = _both(tokens, at, depth)
    while at < len(tokens) and tokens[at] == "||":
        other, at = _both(tokens, at + 1, depth)
        value = value or other
    return value, at


def _both(tokens: list[str], at: int, depth: int) -> tuple[bool, int]:
    value, at = _one(tokens, at, depth)
    while at < len(tokens) and tokens[at] == "&&":
        other, at = _one(tokens, at + 1, depth)
        value = value and other
    return value, at


def _one(tokens: list[str], at: int, depth: int) -> tuple[bool, int]:
    if at >= len(tokens) or depth > 30:
        return True, len(tokens)
    sign = tokens[at]
    if sign == "!":
        value, at = _one(tokens, at + 1, depth + 1)
        return not value, at
    if sign == "(":
        value, at = _either(tokens, at + 1, depth + 1)
        return value, at + 1
    value = _ELSEWHERE.search(sign) is None
    at += 1
    if at < len(tokens) and tokens[at] == "(":  # defined(X), AT_CUDNN_ENABLED(), __has_include(<x>)
        close = at
        inside = []
        while close < len(tokens) and tokens[close] != ")":
            inside.append(tokens[close])
            close += 1
        value = value and not any(_ELSEWHERE.search(t) for t in inside)
        at = close + 1
    while at < len(tokens) and tokens[at] not in ("&&", "||", ")"):  # a comparison's other half
        at += 1
    return value, at
