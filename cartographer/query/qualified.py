# SPDX-License-Identifier: BSD-3-Clause
"""Compares C++ names by their qualifiers, tells a sentence from a symbol, and reads the names of the wrappers that the build writes."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from cartographer.store.search_words import without_brackets

if TYPE_CHECKING:
    from cartographer.store.lookup import Lookup

# As gcc, clang, nvcc and the scanner write a namespace without a name.
_NAMELESS = r"(?:\(anonymous(?: namespace)?\)|<unnamed>|\{anonymous\}|_GLOBAL__N_\w*)(?:::|\Z)"
_SIGN = r"\b(?P<word>operator)\s*(?P<sign>\(\)|\[\]|<=>|<<=?|>>=?|->\*?|&&|\|\||\+\+|--|[-+*/%^&|~!<>=]=?)"
# What may stand before the name in a declaration without being a word of a sentence.
_SPECIFIERS = frozenset(("void", "bool", "char", "int", "float", "double", "long", "short", "unsigned", "signed", "auto", "const", "static", "inline", "virtual", "extern",
                         "constexpr", "class", "struct", "enum", "namespace", "template", "typename", "def", "&", "*", "&&"))  # fmt: skip
_WRAPPER = r"\bwrapper_\w+"


def scope_of(text: str) -> str:
    """The name of a symbol with its namespaces, those without a name left out; without type, arguments and template arguments."""
    text = re.sub(_NAMELESS, "", text)
    sign = re.search(_SIGN, text)
    text = without_brackets(text[: sign.end("word")] if sign else text)
    name = text.partition("(")[0].strip().rpartition(" ")[2].lstrip("&*").removeprefix("::").removesuffix("::")
    return name + sign["sign"] if sign and name.rpartition("::")[2] == "operator" else name


def fits(scope: str, symbol: str) -> bool:
    """Whether a symbol is what `scope` names: its qualified name ends like that. A namespace that a macro names may have any name, or none (inline)."""
    return _ends_like(scope.split("::"), scope_of(symbol).split("::"))


def _ends_like(asked: list[str], known: list[str]) -> bool:
    if not asked:
        return True
    if not known:
        return False
    if asked[-1] == known[-1]:
        return _ends_like(asked[:-1], known[:-1])
    return known[-1].isupper() and "_" in known[-1] and (_ends_like(asked[:-1], known[:-1]) or _ends_like(asked, known[:-1]))


def is_sentence(text: str) -> bool:
    """Whether a text is several words and no C++ declaration: a type and a name, with arguments or namespaces, are one."""
    outside, inner = re.sub(_NAMELESS, "", text), ""
    while outside != inner:  # brackets in brackets
        outside, inner = re.sub(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}", "", outside), outside
    words = [word for word in outside.split() if word not in _SPECIFIERS and not (word.isupper() and "_" in word)]
    return len(words) > 2 or (len(words) == 2 and "::" not in text and "(" not in text)


def to_search(text: str) -> str:
    """The longest part of a message that holds neither number nor quoted name: so it stands in the code that puts the message together."""
    parts = re.split(r"^\w*(?:Error|Exception|Warning):|\d[\w.]*|['\"`\[\](){}<>%:;.]+|\s{2,}", text)
    return max((part.strip(" ,-") for part in parts), key=len)


def search_command(text: str) -> str:
    """The command that finds a text in a clone of the source."""
    return f"git grep -nF {shlex.quote(to_search(text))}"


def wrappers_in(text: str) -> tuple[str, ...]:
    """The names of wrappers in a sentence: `(when checking argument for argument mat1 in method wrapper_CUDA_addmm)`."""
    return tuple(dict.fromkeys(re.findall(_WRAPPER, text)))


def wrapped(lookup: Lookup, name: str) -> tuple[str, tuple[str, ...]]:
    """(key, operators) of a wrapper that the build writes around a kernel and registers: `wrapper_CUDA_add_Tensor`; ("", ()) for any other name.

    torchgen/dest/register_dispatch_key.py calls that of a structured operator by key, C++ name and overload, and that of another one by key, overload and C++ name.
    """
    rest = name.removeprefix("wrapper_")
    if rest == name:
        return "", ()
    for key in lookup.registered_keys():
        if rest.startswith(f"{key}_") and (found := lookup.by_wrapper(key, rest.removeprefix(f"{key}_"))):
            return key, found
    return "", ()
