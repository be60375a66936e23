# SPDX-License-Identifier: BSD-3-Clause
"""Macro expansion as a preprocessor does it ([cpp.replace]), with every result token still knowing its line.

A token of an argument keeps the place where the argument is written, a token of a body the place in the body; what
`#` and `##` make stands where the argument stands. So an operator that is an item of a list macro is reported on
the very line of that list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.expand.tokens import NO_NAMES, Token, token_of, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.expand.macros import Macro, MacroTable

LIMIT = 400_000  # tokens that one expansion may make; more is a sign of a mistake, not of PyTorch


class ExpansionTooLargeError(Exception):
    """An expansion grew beyond all bounds; the caller reports it as unresolved."""


class Expander:
    """Expands tokens of one file. `line` is where tokens of other files are seen from; `wanted` limits which macros
    expand, `limit` how much.
    """

    def __init__(
        self,
        table: MacroTable,
        path: str,
        line: int,
        wanted: Callable[[str], bool] = lambda _name: True,
        limit: int = LIMIT,
    ) -> None:
        self._table, self._path, self._line = table, path, line
        self._wanted = wanted
        self._left = limit

    def expand(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with every wanted macro replaced. Raises ExpansionTooLargeError."""
        out: list[Token] = []
        todo = list(reversed(tokens))
        path, known = self._path, self._table.names()
        while todo:
            token = todo.pop()
            if not token.hidden and token.path == path:
                self._line = token.line  # what it expands to is seen from here, whatever line its body stands on
            macro = self._macro(token) if token.text in known else None
            if macro is None:
                out.append(token)
                continue
            hidden = token.hidden
            arguments: list[list[Token]] = []
            if macro.parameters is not None:
                if not todo or todo[-1].text != "(":
                    out.append(token)
                    continue
                taken = _arguments(todo)
                if taken is None or not _fits(macro, taken[0]):
                    out.append(token)
                    continue
                arguments, close = taken
                hidden = hidden & close.hidden if hidden else NO_NAMES
            made = self._substitute(macro, arguments, token, hidden | {macro.name})
            self._left -= len(made) + 1
            if self._left < 0:
                raise ExpansionTooLargeError(f"{macro.name} at {self._path}:{self._line}")
            todo.extend(reversed(made))
        return out

    def _macro(self, token: Token) -> Macro | None:
        """The macro that a token means whose text is a macro's name."""
        if token.kind != "name" or token.text in token.hidden or not self._wanted(token.text):
            return None
        return self._table.find(token.text, self._path, self._line)

    def _substitute(self, macro: Macro, arguments: list[list[Token]], use: Token, hidden: frozenset[str]) -> list[Token]:
        named = _named(macro, arguments)
        body = _without_va_opt(macro, named)
        out: list[Token] = []
        index = 0
        while index < len(body):
            token = body[index]
            following = body[index + 1] if index + 1 < len(body) else None
            if token.text == "#" and following is not None and following.text in named:
                out.append(_string(named[following.text], following, token))
                index += 2
            elif token.text == "##" and following is not None and out:
                right = named.get(following.text, [following]) if following.kind == "name" else [following]
                if out[-1].text == "," and following.text == macro.variadic:
                    out[-1:] = [out[-1], *right] if right else []
                else:
                    _paste(out, right, from_argument=following.text in named)
                index += 2
            elif token.kind == "name" and token.text in named:
                argument = named[token.text]
                if following is not None and following.text == "##":
                    out.extend(argument or [Token("placemarker", "", token.path, token.line)])
                else:
                    out.extend(_spaced_as(token, self._expanded_argument(argument)))
                index += 1
            else:
                out.append(token)
                index += 1
        return [
            token_of((kind, text, path, line, spaced, guards or use.guards, before | hidden if before else hidden))
            for kind, text, path, line, spaced, guards, before in out if kind != "placemarker"
        ]  # fmt: skip

    def _expanded_argument(self, argument: list[Token]) -> list[Token]:
        known = self._table.names()
        if not any(t.text in known for t in argument):
            return argument
        return self.expand(argument)


def _spaced_as(parameter: Token, argument: list[Token]) -> list[Token]:
    """An argument put in its place: white space before it is that before the parameter."""
    if not argument or argument[0].spaced == parameter.spaced:
        return argument
    return [argument[0]._replace(spaced=parameter.spaced), *argument[1:]]


def _arguments(todo: list[Token]) -> tuple[list[list[Token]], Token] | None:
    """Take `( a , b )` off the reversed stack: the arguments and the closing parenthesis; None if it never closes."""
    depth = 0
    arguments: list[list[Token]] = [[]]
    position = len(todo) - 1
    while position >= 0:
        token = todo[position]
        if token.text in ("(", "[", "{") and token.kind == "punctuator":
            depth += token.text == "("
            if depth > 1 or token.text != "(":
                arguments[-1].append(token)
        elif token.text == ")" and token.kind == "punctuator":
            depth -= 1
            if depth == 0:
                del todo[position:]
                return arguments, token
            arguments[-1].append(token)
        elif token.text == "," and depth == 1 and token.kind == "punctuator":
            arguments.append([])
        else:
            arguments[-1].append(token)
        position -= 1
    return None


def _fits(macro: Macro, arguments: list[list[Token]]) -> bool:
    wanted = len(macro.parameters or ())
    if macro.variadic is not None:
        return len(arguments) >= wanted
    return len(arguments) == wanted or (wanted == 0 and len(arguments) == 1 and not arguments[0])


def _named(macro: Macro, arguments: list[list[Token]]) -> dict[str, list[Token]]:
    parameters = macro.parameters or ()
    named = dict(zip(parameters, arguments, strict=False))
    if macro.variadic is not None:
        rest: list[Token] = []
        for number, argument in enumerate(arguments[len(parameters) :]):
            if number:
                first = argument[0] if argument else None
                rest.append(Token("punctuator", ",", first.path if first else macro.path, first.line if first else macro.line))
            rest.extend(argument)
        named[macro.variadic] = rest
    return named


def _without_va_opt(macro: Macro, named: dict[str, list[Token]]) -> Sequence[Token]:
    """The body with `__VA_OPT__(x)` replaced by x, or by nothing when no further arguments are given."""
    if macro.variadic is None or not any(t.text == "__VA_OPT__" for t in macro.body):
        return macro.body
    out: list[Token] = []
    todo = list(reversed(macro.body))
    while todo:
        token = todo.pop()
        if token.text == "__VA_OPT__" and todo and todo[-1].text == "(":
            depth = 0
            inside: list[Token] = []
            while todo:
                part = todo.pop()
                depth += (part.text == "(") - (part.text == ")")
                if depth == 0:
                    break
                inside.append(part)
            if named[macro.variadic]:
                out.extend(inside[1:])
        else:
            out.append(token)
    return out


LONGEST = 100_000  # characters of a string that `#` makes
_LONGEST_NAME = 5_000  # characters of a token that `##` makes, which is read again with each one


def _string(argument: list[Token], parameter: Token, sign: Token) -> Token:
    """What `#parameter` makes. Raises ExpansionTooLargeError."""
    if sum(len(t.text) for t in argument) > LONGEST:
        raise ExpansionTooLargeError(f"a string at {sign.path}:{sign.line}")
    parts: list[str] = []
    for number, token in enumerate(argument):
        text = token.text
        if token.kind in ("string", "char"):
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        parts.append((" " if token.spaced and number else "") + text)
    place = argument[0] if argument else parameter
    return Token("string", '"' + "".join(parts) + '"', place.path, place.line, sign.spaced, place.guards)


def _paste(out: list[Token], right: list[Token], *, from_argument: bool) -> None:
    """`left ## right`: the last token so far and the first of the right side become one. An argument's part names the
    thing, a fixed part of the body only dresses it, so the result stands where the argument stands.
    """
    if not right:
        return
    left = out.pop()
    if left.kind == "placemarker":
        out.extend(right)
        return
    if len(left.text) + len(right[0].text) > _LONGEST_NAME:
        raise ExpansionTooLargeError(f"a token at {left.path}:{left.line}")
    place = right[0] if from_argument else left
    made = tokenize(left.text + right[0].text)
    kind = made[0].kind if len(made) == 1 else "name"
    out.append(Token(kind, left.text + right[0].text, place.path, place.line, left.spaced, left.guards or right[0].guards))
    out.extend(right[1:])
