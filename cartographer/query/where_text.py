# SPDX-License-Identifier: BSD-3-Clause
"""Prints the answers of `where` for people: a place that can be pasted into an editor, and the way beneath it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.atlas import said_elsewhere
from cartographer.model.backend import MAIN
from cartographer.model.operator import Status
from cartographer.query.elsewhere import line
from cartographer.query.ink import short
from cartographer.query.where import Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cartographer.model.operator import Step
    from cartographer.query.ink import Ink
    from cartographer.query.reverse import Backwards
    from cartographer.query.where import Descent

    Deep = Callable[[Descent], Iterable[str]]

_NAMES = 6  # operators named in a heading before "and n more"
_WHOLE = 3  # chains shown with their steps when not all are asked for
_LINES = 12  # further chains, a line each


def text(answer: Where | Backwards, ink: Ink, *, everything: bool = False, deep: Deep | None = None) -> Iterator[str]:
    """An answer as lines for people. With `everything`, nothing is left out for brevity; `deep` gives the lines below a chain."""
    if isinstance(answer, Where):
        yield from _down(answer, ink, everything=everything, deep=deep)
    else:
        yield from _back(answer, ink, everything=everything)


def _down(answer: Where, ink: Ink, *, everything: bool, deep: Deep | None) -> Iterator[str]:
    for through in answer.named.through:
        yield f"{ink.place(f'{through.path}:{through.line}')}  {through.name}"
    if answer.named.through or answer.named.key or not answer.named.exact:
        yield ink.faint(f"# {answer.named.said}")
    if not answer.descents:
        yield ink.faint(f"# {short(answer.named.names, _NAMES)}: no backend of this atlas has a chain for it")
    whole = answer.descents if everything else _main_ones(answer)
    for descent in whole:
        yield from _descent(descent, ink, everything=everything)
        if deep:
            yield from deep(descent)
    rest = [d for d in answer.descents if d not in whole]
    if rest:
        yield ink.faint(f"# {len(rest)} more (--all shows them whole; or ask for one overload, or one backend)")
        for descent in rest[:_LINES]:
            yield _line(descent, ink)
        if len(rest) > _LINES:
            yield ink.faint(f"# and {len(rest) - _LINES} more")
    if answer.elsewhere and not any(said_elsewhere(answer.elsewhere) in (d.chain.reason or "") for d in answer.descents):
        yield ink.faint("# ") + line(answer.elsewhere, ink)


def _main_ones(answer: Where) -> tuple[Descent, ...]:
    """The chains of the first overload on the backends that most people mean; of one backend, all that there is room for."""
    if answer.backend is not None or len(answer.descents) <= 2:
        return answer.descents[:_WHOLE]
    first = [d for d in answer.descents if answer.named.names[0] in d.names]
    return tuple(d for d in first if set(d.backends).intersection(MAIN))[:_WHOLE] or answer.descents[:1]


def _descent(descent: Descent, ink: Ink, *, everything: bool) -> Iterator[str]:
    main = descent.main
    if descent.chain.status is Status.RESOLVED and main is not None:
        yield f"{ink.place(f'{main.path}:{main.line}')}  {ink.strong(main.symbol)}"
    names = short(descent.names, 1000 if everything else _NAMES)
    yield f"  {ink.faint('#')} {names} on {short(descent.backends, 1000 if everything else _NAMES)}: {status(descent, ink)}"
    steps = descent.chain.steps
    if len(steps) > 1 or (steps and (descent.chain.status is not Status.RESOLVED or descent.chain.only_raises)):
        yield from (step(found, ink) for found in steps)


def status(descent: Descent, ink: Ink) -> str:
    """Whether a chain leads to a kernel, and if not, the reason."""
    chain = descent.chain
    ways: dict[str, list[str]] = {}
    for backend, words in descent.served:
        ways.setdefault(words, []).append(backend)
    served = "; ".join(f"{words} on {', '.join(keys)}" if len(ways) > 1 else words for words, keys in ways.items())
    told = f"{chain.reason}" if chain.reason else served
    match chain.status:
        case Status.RESOLVED:
            return ink.good("resolved") + (f" ({told})" if told else "")
        case Status.NONE:
            return "no kernel of its own" + (f": {told}" if told else "")
        case Status.UNRESOLVED:
            return ink.doubt("unresolved") + (f": {told}" if told else "")


def step(found: Step, ink: Ink) -> str:
    """One step as a line: role, place, symbol, and the condition under which it is taken."""
    notes = [note for note in (f"if {found.branch}" if found.branch else "", found.note) if note]
    told = f"  {ink.faint('; '.join(notes))}" if notes else ""
    return f"    {found.role:<12} {ink.place(f'{found.path}:{found.line}')}  {found.symbol}{told}"


def _line(descent: Descent, ink: Ink) -> str:
    main = descent.main
    where = f"{short(descent.backends, 4)}: {short(descent.names, 3)}"
    if main is None or descent.chain.status is not Status.RESOLVED:
        return f"  {ink.faint('#')} {where}: {status(descent, ink)}"
    return f"{ink.place(f'{main.path}:{main.line}')}  {main.symbol}  {ink.faint(f'# {where}')}"


def _back(answer: Backwards, ink: Ink, *, everything: bool) -> Iterator[str]:
    most = None if everything else 12
    for place in answer.places[:most]:
        name = place.symbol if place.symbol and place.symbol != place.path else ""
        yield f"{ink.place(f'{place.path}:{place.line}')}  {ink.strong(name)}".rstrip() + (
            ink.faint(f"  # {place.what}") if place.what not in {"file", "line"} else ""
        )
    if most and len(answer.places) > most:
        yield ink.faint(f"# and {len(answer.places) - most} more places (--all)")
    yield ink.faint(f"# {answer.said}")
    if answer.shared:
        yield ink.faint(f"# the outer function alone is reached by {answer.shared} operators")
    if answer.note:
        yield ink.faint(f"# {answer.note}")
    operators = answer.operators
    if operators:
        others = "" if any(r.direct for r in answer.reaches) else ", through operators that they call"
        yield f"reached by {len(operators)} operator{'s' * (len(operators) > 1)}{others}:"
    shown = operators if everything else operators[:40]
    for name in shown:
        yield f"  {name}  {ink.faint(short(_ways(answer, name), 1000 if everything else _NAMES))}"
    if len(shown) < len(operators):
        yield ink.faint(f"  and {len(operators) - len(shown)} more (--all)")
    if operators != answer.through_others and answer.through_others:
        yield ink.faint(f"and by {len(answer.through_others)} more through operators that they call" + ("" if everything else " (--all)"))
        if everything:
            yield from (f"  {name}" for name in answer.through_others)


def _ways(answer: Backwards, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{r.backend} {r.role}".strip() for r in answer.reaches if r.operator == name))
