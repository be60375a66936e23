# SPDX-License-Identifier: BSD-3-Clause
"""Reads what calls name in their arguments, as far as their text tells. The same arguments are written often, so each is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.arguments import constructed, is_lambda, is_untold, named, split_template
from cartographer.link.holdings import TEXT
from cartographer.link.index import bare
from cartographer.link.sites import NOTHING_HANDED, Mentioned

if TYPE_CHECKING:
    from cartographer.link.names import Scope
    from cartographer.link.stubs import StubPlaces, Stubs
    from cartographer.model.fact import Call

_NO_ARGUMENTS = Mentioned(0)


class _Told(NamedTuple):
    """What one argument tells: each is "" where it tells nothing."""

    stub: str
    made: str  # the class that it constructs
    callback: str
    cast: str  # all of it, where it is a cast
    is_lambda: bool
    untold: bool  # it may stand for any number of arguments


_PLAIN = _Told("", "", "", "", is_lambda=False, untold=False)


class Mentions:
    """Reads the arguments of calls, given the stubs of the tree."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._arguments: dict[str, _Told] = {}

    def of(self, call: Call, scope: Scope) -> Mentioned:
        """The stubs, classes, functions and lambdas that the arguments and template arguments of one call name."""
        form, template = call.form, call.template
        if form in ("message", "macro") or not (call.arguments or template):
            return _NO_ARGUMENTS if form in ("call", "launch") else NOTHING_HANDED
        telling = [told for a in call.arguments if (told := self._arguments.get(a) or self._read(a)) is not _PLAIN]
        number = len(call.arguments) if form in ("call", "launch") else None
        if not telling and not template:
            return Mentioned(number)
        if any(t.untold for t in telling):
            number = None
        texts = [name for text in split_template(template) if len(name := named(text)) > 2] if template else []
        callbacks = (*texts, *(t.callback for t in telling if t.callback))
        casts = tuple(t.cast for t in telling if t.cast) if form not in ("launch", "method") else ()
        made = tuple(t.made for t in telling if t.made)
        return Mentioned(number, self._handed(telling, call, scope), made, callbacks, casts, any(t.is_lambda for t in telling))

    def _read(self, argument: str) -> _Told:
        name = self._stub(argument) if len(argument) < TEXT and "(" not in argument else ""
        made = constructed(argument)
        callback = named(argument) if argument[:1] == "&" or ("<" in argument and "(" not in argument) else ""
        told = _Told(
            name, "" if made.startswith("std::") else made, callback if len(callback) > 2 else "", argument if argument.startswith("static_cast<") else "",
            is_lambda(argument), is_untold(argument),
        )  # fmt: skip
        self._arguments[argument] = told = told if any(told) else _PLAIN
        return told

    def _stub(self, text: str) -> str:
        """The name that a text is, where it is a stub's."""
        name = named(text)
        return name if name and bare(name) in self._stubs else ""

    def _handed(self, telling: list[_Told], call: Call, scope: Scope) -> tuple[StubPlaces, ...]:
        if call.form == "launch":
            return ()
        names = [t.stub for t in telling if t.stub]
        if call.template:
            names += [name for text in call.template.split(",") if (name := self._stub(text))]
        return tuple(stub for name in names if (stub := self._stubs.find(name, scope.namespace)) is not None)
