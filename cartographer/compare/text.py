# SPDX-License-Identifier: BSD-3-Clause
"""Prints a comparison for people at a terminal: breaks first, one by one; harmless changes as counts."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from cartographer.compare.titles import PARTS, group_of, rank
from cartographer.model.change import Level, folded, is_public
from cartographer.model.kinds import Part, operators_by_part, part_of, title
from cartographer.model.marking import marked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cartographer.model.change import Change, ChangePlace, Comparison

    Paint = Callable[[str, str], str]

_FEW = 60  # changes that are listed one by one whatever their level
_NAMES = 5
_WIDTH = 120
_FOLDS = 10
_USERS = 4


def plain(text: str, style: str) -> str:  # noqa: ARG001 - the painter that paints nothing
    """The painter for output without colours: it returns the text as it is."""
    return text


_ANSI = {"bold": "1", "break": "1;31", "maybe": "33", "info": "36", "bookkeeping": "2", "dim": "2", "old": "31", "new": "32"}


def ansi(text: str, style: str) -> str:
    """The painter for terminals: it puts a text into the colour of a style."""
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if text else ""


def as_text(comparison: Comparison, paint: Paint = plain, *, everything: bool = False) -> Iterator[str]:
    """The comparison as lines. Many changes of one kind are summed up unless `everything` is true; breaks never are."""
    counts = operators_by_part(comparison)
    books = counts[Part.BOOKKEEPING]
    total = sum(counts.values()) - books
    more = f", {books:,} more in bookkeeping alone" if books else ""
    yield paint(f"PyTorch {comparison.old} → {comparison.new}", "bold") + f": {_n(total, 'operator')} changed{more}"
    for part, word, means in PARTS:
        if counts[part]:
            whom = _who(comparison) if part is Part.BREAK else means
            yield f"  {paint(f'{counts[part]:>6,}', str(part))} {word.lower():<12} {paint(whom, 'dim')}"
    for note in comparison.notes:
        yield f"  note: {note}"
    for part, word, means in PARTS:
        changes = [c for c in comparison.changes if part_of(c) is part]
        if changes:
            yield ""
            yield paint(f"{word} · {means}", str(part))
            yield from _part(part, changes, paint, everything=everything, asked=comparison.filtered)
    if not counts:
        yield "  no changes" + (" that pass" if comparison.filtered else "")


def _who(comparison: Comparison) -> str:
    """Who meets the breaks: operators that Python calls, that C++ alone calls, and the rest."""
    kinds = {c.op: _reach(c) for c in comparison.changes if c.level is Level.BREAK}
    counts = Counter(kinds.values())
    return ", ".join(f"{counts[reach]:,} {says}" for reach, says in enumerate(_REACHES) if counts[reach])


_REACHES = ("that Python calls", "for C++ alone", "internal, or made by torchgen")


def _reach(change: Change) -> int:
    if is_public(change):
        return 0
    return 1 if not change.bound and not change.generated and not change.op.partition("::")[2].startswith("_") else 2


def _n(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _part(part: Part, changes: Sequence[Change], paint: Paint, *, everything: bool, asked: bool) -> Iterator[str]:
    kept, folds = folded(changes)
    if asked and len(changes) <= _FEW:  # who asks for one operator wants to read all of it
        yield from _groups(changes, paint)
        return
    if part is Part.BOOKKEEPING and not everything:
        yield from _sums(changes, paint)
        return
    if everything or len(kept) <= _FEW:
        yield from _groups(kept, paint)
    elif part is Part.BREAK:
        yield from _groups([c for c in kept if is_public(c)], paint)
        for reach in (1, 2):
            yield from _briefly([c for c in kept if _reach(c) == reach], _REACHES[reach], paint)
    else:
        shared = [c for c in changes if c.fold and c.id == "kernel-code-changed"]  # which functions, nobody reads by the hundred
        yield from _sums([*kept, *shared], paint)
        folds = [fold for fold in folds if fold[0] != "kernel-code-changed"]
        yield paint(f"  (one by one: --level {changes[0].level} --all, or --kind, --op, --backend)", "dim")
    shown = folds if everything else folds[:_FOLDS]
    for id_, why, number in shown:
        yield f"  {paint(f'{number:>6,} {title(id_)}', 'dim')}, for one reason: {why}"
    if rest := folds[len(shown):]:
        yield paint(f"  {sum(number for _, _, number in rest):>6,} more, for {_n(len(rest), 'other reason')} (--all shows them)", "dim")


def _briefly(changes: list[Change], says: str, paint: Paint) -> Iterator[str]:
    """One line an operator; those of which the same is said stand together."""
    if not changes:
        return
    yield f"  {paint(f'{says} ({len({c.op for c in changes}):,})', 'bold')}"
    same: dict[str, list[str]] = {}
    for op, own in groupby(sorted(changes, key=rank), key=lambda c: c.op):
        same.setdefault(_says(list(own)), []).append(op.removeprefix("aten::"))
    for reason, names in same.items():
        if len(names) > 1:
            yield f"    {paint(f'{reason} ({len(names):,}):', 'dim')}"
            yield from wrap(", ".join(names), _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6, break_long_words=False)
        else:
            yield f"    {names[0]}  {paint(reason, 'dim')}"


def _says(changes: list[Change]) -> str:
    formulas = [c for c in changes if c.id == "derivative-formula-changed" and c.reason.startswith("the gradient of ") and c.reason.endswith("otherwise")]
    if len(formulas) > 1:
        changes = [c for c in changes if c not in formulas]
        arguments = ", ".join(dict.fromkeys(str(c.detail.get("arg")) for c in formulas))
        return "; ".join([f"the gradients of {arguments} are computed otherwise", *dict.fromkeys(c.reason for c in changes)])
    reasons = list(dict.fromkeys(c.reason for c in changes))
    tails = {reason.partition("; ")[2] for reason in reasons}
    if len(reasons) > 1 and len(tails) == 1 and (tail := tails.pop()):
        return "; ".join([*(reason.partition("; ")[0] for reason in reasons), tail])
    return "; ".join(reasons)


def _sums(changes: Sequence[Change], paint: Paint) -> Iterator[str]:
    """One line a kind: how many operators, and which keys or names, public ones first."""
    for group, members in groupby(sorted(changes, key=rank), key=group_of):
        rows = list(members)
        names = list(dict.fromkeys(c.op.removeprefix("aten::") for c in sorted(rows, key=lambda c: (_reach(c), c.op))))
        keys = Counter(key for c in rows if group.startswith(("dispatch", "effective", "kernel-changed", "served")) for key in _keys(c))
        shown = [f"{key} {number:,}" for key, number in sorted(keys.items(), key=lambda item: (-item[1], item[0]))] or names
        more = ", …" if len(shown) > _NAMES else ""
        yield f"  {len(names):>6,} {title(group)}: {paint(', '.join(shown[:_NAMES]) + more, 'dim')}"


def _keys(change: Change) -> list[str]:
    keys = change.detail.get("keys", [change.detail["key"]] if "key" in change.detail else [])
    return [str(key) for key in keys] if isinstance(keys, list) else []


def _groups(changes: Sequence[Change], paint: Paint) -> Iterator[str]:
    for (reach, _, group), members in groupby(sorted(changes, key=lambda c: (_reach(c), *rank(c))), key=lambda c: (_reach(c), *rank(c)[:2])):
        rows = list(members)
        internal = f", {_REACHES[reach]}" if reach else ""
        yield f"  {paint(f'{title(group)} ({len({c.op for c in rows}):,}){internal}', 'bold')}"
        for op, own in groupby(rows, key=lambda c: c.op):
            yield from _operator(op, list(own), paint)


def _operator(op: str, changes: list[Change], paint: Paint) -> Iterator[str]:
    first = changes[0]
    yield f"    {paint(op.removeprefix('aten::'), 'bold')}  {_says(changes)}"
    if touched := _touched(first):
        yield f"      {paint(touched, 'dim')}"
    if isinstance(schemas := first.detail.get("schema"), list):
        old, new = (_painted(pieces, paint, side) for pieces, side in zip(marked(*schemas), ("old", "new"), strict=True))
        yield from _sides(first, old, new, paint)
        return
    told: set[tuple[str | None, str | None]] = set()
    for change in changes:
        if (change.old, change.new) not in told:
            yield from _sides(change, paint(change.old or "", "old"), paint(change.new or "", "new"), paint)
            told.add((change.old, change.new))


def _sides(change: Change, old: str, new: str, paint: Paint) -> Iterator[str]:
    for sign, text, side in (("-", old, "old"), ("+", new, "new")):
        if text:
            yield f"      {sign} {text}  {paint(_place(change.places, side), 'dim')}".rstrip()


def _touched(change: Change) -> str:
    """Python names, backends and users of an operator whose old calls can fail."""
    if change.level is Level.INFO:
        return ""
    detail = change.detail
    callers = _few(detail.get("callers"), _USERS)
    parts = [
        _few(detail.get("python_names"), _USERS), _few(detail.get("backends"), _NAMES + 1),
        f"called by {callers}" if callers else "", f"gradients or structured forms of {_few(detail['named_by'], _USERS)} use it" if detail.get("named_by") else "",
    ]
    return " · ".join(part for part in parts if part)


def _few(names: object, most: int) -> str:
    if not isinstance(names, list):
        return ""
    shown = [str(name).removeprefix("aten::") for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _painted(pieces: Iterable[tuple[bool, str]], paint: Paint, side: str) -> str:
    return "".join(paint(text, side) if changed else text for changed, text in pieces)


def _place(places: Iterable[ChangePlace], side: str) -> str:
    """The file's name alone: the lists have one each, and `--format json`, `markdown` and `html` have the whole path as a link."""
    return next((f"{p.path.rpartition('/')[2]}:{p.line}" for p in places if p.side == side), "")
