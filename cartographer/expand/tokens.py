# SPDX-License-Identifier: BSD-3-Clause
"""Splits C++ into tokens that know where they were written.

The phases of translation that matter for reading registrations ([lex.phases]): line splices, comments, tokens,
directives. Directives are not executed: each token carries the `#if` conditions around it instead.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cartographer.patterns import possessive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NO_NAMES: frozenset[str] = frozenset()


class Token(NamedTuple):
    """One token. `kind` is "name", "number", "string", "char" or "punctuator"; `path` and `line` say where its text
    stands, through all expansions; `hidden` names the macros that made it (they do not expand again in it).
    """

    kind: str
    text: str
    path: str
    line: int
    spaced: bool = False  # white space before it, which `#` turns into one blank
    guards: tuple[str, ...] = ()
    hidden: frozenset[str] = NO_NAMES


# How tokens are made where they come by the million: without a call of a Python function for each.
token_of: Callable[[tuple[str, str, str, int, bool, tuple[str, ...], frozenset[str]]], Token] = partial(tuple.__new__, Token)

# Two texts for each token: the gap before it, and itself. What is met most stands first: names that open no literal, and
# signs that begin no longer one.
_LEXEME = possessive(
    r"""
    ((?:[ \t\r\f\v\n]++|\\\r?\n|//(?:[^\n\\]|\\\r?\n|\\.)*+|/\*.*?(?:\*/|\Z))*)
    (
      (?!(?:u8|[uUL])?R?["'])[A-Za-z_$][\w$]*+                        # a name
    | [](){};,?~[@]
    | (?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\((?:.*?)\)(?P=fence)"  # a raw string
    | (?:u8|[uUL])?"(?:[^"\\\n]|\\\r?\n|\\.)*"?                      # a string
    | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'                             # a character
    | [A-Za-z_$][\w$]*                                              # a name
    | \.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*                           # a number
    | \.\.\.|<<=|>>=|<=>|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|\.\*|.
    )?
    """,
    re.VERBOSE | re.DOTALL,
)
_LITERAL = re.compile(r"(?:u8|[uUL])?R?([\"'])")
# Kinds by the first character, where that tells it: names that may be a literal's prefix, and dots, are looked at.
_KINDS = dict.fromkeys("!#%&()*+,-/:;<=>?@[\\]^`{|}~", "punctuator") | dict.fromkeys("0123456789", "number") | {'"': "string"}
_KINDS |= dict.fromkeys("abcdefghijklmnopqrstvwxyzABCDEFGHIJKMNOPQSTVWXYZ_$", "name")
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?P<word>\w*)(?P<rest>(?:[^\n\\/]|\\\r?\n|\\.|/(?![*/])|/\*.*?\*/|//[^\n]*)*)", re.DOTALL)
_SPAN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""", re.DOTALL
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def tokenize(text: str, path: str = "", line: int = 1, guards: tuple[str, ...] = ()) -> list[Token]:
    """The tokens of a piece of C++ that holds no directives, such as the body of a macro."""
    return _lex(text, 0, len(text), path, line, guards)


def _lex(text: str, start: int, end: int, path: str, line: int, guards: tuple[str, ...]) -> list[Token]:
    tokens: list[Token] = []
    append = tokens.append
    for gap, word, _ in _LEXEME.findall(text, start, end):
        if not word:
            break
        kind = _KINDS.get(word[0]) or _kind(word)
        if "\n" in gap:
            line += gap.count("\n")
        append(token_of((kind, word, path, line, gap != "", guards, NO_NAMES)))
        if kind == "string" and "\n" in word:
            line += word.count("\n")
    return tokens


def _kind(word: str) -> str:
    """The kind of a token whose first character does not tell it."""
    literal = _LITERAL.match(word)
    if literal is not None:
        return "string" if literal[1] == '"' else "char" if len(word) > 1 else "punctuator"
    if word[0] in "uULR":
        return "name"
    return "number" if word.removeprefix(".")[:1].isdecimal() else "punctuator"


def read_tokens(text: str, path: str) -> list[Token]:
    """The tokens of a whole file, each with the conditions (`#if`, `#elif`, `#else`) around it."""
    tokens: list[Token] = []
    conditions = Conditions()
    line, position, length = 1, 0, len(text)
    piece_start, piece_line = 0, 1
    in_comment_until = 0
    while position < length:
        end = text.find("\n", position)
        end = length if end < 0 else end
        head = text[position:end]
        stripped = head.lstrip()
        if stripped.startswith("#") and position >= in_comment_until:
            tokens.extend(_lex(text, piece_start, position, path, piece_line, conditions.current))
            found = _DIRECTIVE.match(text, position)
            if found is not None:
                conditions.take(found.group("word"), folded(found.group("rest")))
                end = max(found.end(), end if not found.group("rest") else found.end())
                next_line = text.find("\n", end)
                end = length if next_line < 0 else next_line
            line += text.count("\n", position, end) + 1
            position = end + 1
            piece_start, piece_line = position, line
            continue
        if "/*" in head or 'R"' in head:
            in_comment_until = max(in_comment_until, _long_token_end(text, position, end))
        position = end + 1
        line += 1
    tokens.extend(_lex(text, piece_start, length, path, piece_line, conditions.current))
    return tokens


def _long_token_end(text: str, start: int, end: int) -> int:
    """Where the last comment or raw string that begins on this line ends: `#` inside it is no directive."""
    reached = position = start
    while (found := _SPAN.search(text, position)) is not None and found.start() < end:
        position = reached = found.end()
    return reached


def folded(text: str) -> str:
    """A directive's text as one line, without comments and line splices."""
    return " ".join(_COMMENT.sub(" ", text.replace("\\\r\n", " ").replace("\\\n", " ")).split())


_MOST = 64  # conditions within one another, and branches of one: more than any source has


class Conditions:
    """The stack of `#if` conditions at a point of a file; an `#else` is "!(condition)"."""

    def __init__(self) -> None:
        self._stack: list[tuple[list[str], str]] = []
        self.current: tuple[str, ...] = ()

    def take(self, word: str, rest: str) -> None:
        """Follow one preprocessor directive; only those of conditions (`#if`, `#else`, …) change anything."""
        if word in ("if", "ifdef", "ifndef"):
            condition = {"if": rest, "ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}[word]
            self._stack.append(([], condition))
        elif word in ("elif", "else") and self._stack:
            earlier, last = self._stack.pop()
            self._stack.append(([*earlier[-_MOST:], f"!({last})"], rest if word == "elif" else ""))
        elif word == "endif" and self._stack:
            self._stack.pop()
        else:
            return
        self.current = tuple(c for earlier, last in self._stack[-_MOST:] for c in (*earlier, last) if c)


def spelled(tokens: Sequence[Token]) -> str:
    """The text of tokens, with one blank wherever there was white space."""
    return "".join((" " if t.spaced and i else "") + t.text for i, t in enumerate(tokens))


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|\r?\n|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def string_value(token: Token) -> str:
    """The value of a string literal, with its escapes resolved."""
    text = token.text
    raw = re.match(r'(?:u8|[uUL])?R"([^(]*)\((.*)\)\1"\Z', text, re.DOTALL)
    if raw is not None:
        return raw.group(2)
    body = text[text.index('"') + 1 :].removesuffix('"')

    def plain(found: re.Match[str]) -> str:
        if found.group(1):
            return chr(int(found.group(1), 16))
        if found.group(2):
            return chr(int(found.group(2), 8))
        return _SIMPLE.get(found.group(3), found.group(3)) if found.group(3) else ""

    return _ESCAPE.sub(plain, body) if "\\" in body else body
