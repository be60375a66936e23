# SPDX-License-Identifier: BSD-3-Clause
"""Reads arguments of calls and templates from their text: where each one ends, and what it names or constructs."""

from __future__ import annotations

import re
from functools import lru_cache

from cartographer.scan.text import split_commas

_NAME = re.compile(r"&?\s*((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?$", re.DOTALL)
_CONSTRUCTED = re.compile(r"((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?\s*[({].*[)}]$", re.DOTALL)
_WRAPS = re.compile(r"[a-z]\w*(?<!_cast)<[^()]*>\s*\(\s*([A-Z]\w*(?:<[^()]*>)?\s*[({].*[)}])\s*\)", re.DOTALL)
_WRAPS_LAMBDA = re.compile(r"\s*[a-z]\w*\s*<[^()]*>\s*\(\s*\[")
_LAMBDA = ("[", "^")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_OF_WORD = re.compile(r"\w").fullmatch
_MEMBER = re.compile(r"\.|->|::")


@lru_cache(maxsize=65536)
def member(name: str) -> str:
    """The last name of a chain of members: `c` of `a.b->c`."""
    return _MEMBER.split(name)[-1].strip()


def first_member(name: str) -> str:
    """The first name of a chain of members: `a` of `a.b->c`."""
    return _MEMBER.split(name)[0].strip()


@lru_cache(maxsize=65536)
def constructed(argument: str) -> str:
    """The class that an argument constructs: `MulFunctor` of `MulFunctor<T>(a)`, also where a function template wraps it as in
    `func_wrapper<out_t>(MulFunctor<T>(a))`; "" when it constructs none.
    """
    text = argument.strip()
    if (wrapped := _WRAPS.fullmatch(text)) is not None:
        return constructed(wrapped[1])
    match = _CONSTRUCTED.match(text) if text.endswith((")", "}")) else None
    return match[1] if match is not None else ""


@lru_cache(maxsize=65536)
def parameter_name(parameter: str) -> str:
    """The name of a parameter, of a function or a template: `dim` of `int64_t dim = -1`; "" when it has none."""
    words = _IDENTIFIER.findall(parameter.partition("=")[0])
    return words[-1] if words else ""


def is_lambda(argument: str) -> bool:
    """Whether an argument is a lambda, or one that a function template wraps: `func_wrapper<out_t>([] GPU_LAMBDA …)`."""
    return ("[" in argument or "^" in argument) and (argument.lstrip().startswith(_LAMBDA) or _WRAPS_LAMBDA.match(argument) is not None)


def split_template(text: str) -> list[str]:
    """Template arguments, split at the commas outside brackets."""
    if "," not in text:
        return [part] if (part := text.strip()) else []
    return [part for part in split_commas(text, "<(", ">)") if part]


def has_word(text: str, word: str) -> bool:
    """Whether a text contains a name as a whole word."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_OF_WORD(text[at - 1 : at]) or _OF_WORD(text[end : end + 1])):
            return True
        at = text.find(word, at + 1)
    return False


def arguments_at(text: str, opening: int) -> tuple[str, ...]:
    """The arguments between the parenthesis at `opening` and the one that closes it."""
    depth, start, found = 0, opening + 1, []
    for at in range(opening, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[start:at].strip())
            start = at + 1
        if depth == 0:
            break
    return tuple(found)


def is_untold(argument: str) -> bool:
    """Whether an argument may stand for any number of arguments: a parameter pack or a macro."""
    return argument.endswith("...") or argument.isupper() or (argument[:1] == "[" and "]" not in argument)


@lru_cache(maxsize=65536)
def named(argument: str) -> str:
    """The name that an argument is, with or without `&` and template arguments: `&add_stub`; "" when it is an expression."""
    match = _NAME.match(argument.strip())
    return match[1] if match is not None else ""
