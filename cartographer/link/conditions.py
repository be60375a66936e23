# SPDX-License-Identifier: BSD-3-Clause
"""Judges the conditions around a call: on which devices they hold, how usual they are, and the text in which a step shows them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.alternatives import simplified, split
from cartographer.link.device import atom_holds
from cartographer.model.backend import LAYOUTS
from cartographer.scan.conditions import holds_on_main_build, negated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cartographer.model.fact import Call, Exit

Conditions = tuple[str, ...]  # all of them hold; outermost first

AND = " && "
MOST = 9  # conditions kept; the outermost go first
UNLIKELY = "C10_UNLIKELY"
_LENGTH = 180  # of what a step shows
CASE = 1.5  # what a way costs more that a `switch` chooses
CHOSEN = 0.02  # the same where all ways are such
_SPECIAL, _UNUSUAL = 0.1, 0.2
_TYPED = 1.2  # the same of what runs for other types than the floating-point ones that most tensors have
_FEW = 2.5  # the same of what runs for tensors smaller than most
_RARE = 1.0  # from this on hardly anybody's tensors are meant, the sides of a `switch` apart
_OTHER_TYPE = re.compile(r"is(?:Integral|Complex|ReducedFloating|Bits|Quantized|QInt|Float8)\w*\(|\bis_(?:integral|complex)|(?:ScalarType::|\bk)(?:Bool|Half|BFloat16|Complex\w+|Byte|Char|Short|Int|Long|Bits\w*|Float8\w*)\b")
_FLOATS = re.compile(r"\bisFloatingType\(|== (?:(?:at|c10)::)?(?:ScalarType::|k)Float\b")
_MASK = re.compile(r"\w*mask[\w.()]* == (?:(?:at|c10)::)?(?:ScalarType::|k)Bool")
# What most people's tensors are: of floats (masks of booleans), in order in memory, all of one type, not too big for 32 bits, fit for vector instructions and
# fast kernels; the dimension that they ask for is the last one.
_USUAL = re.compile(r"\A(?!.*<\w+, int).*is_same(?:_v)?<\w+, float>|contiguous|is_?contig|can_?vec|<=? std::numeric_limits|vec_size|vectori[sz]|can_?use|should_use_small|fast_(?:path|route)|inner_size == 1|inner_?most|last_?dim|is_macos_\w+_or_newer\(|dim\w* == [\w.>-]*dim\w*\(\) - 1", re.IGNORECASE)
_LEAST_MANY, _MOST_FEW = 8, 512  # to have fewer elements than a number between these is unusual, to have more is usual
_SIZE = re.compile(r"(?:[\w.>*:()\s+-]|<\w+>)*?(?:size|numel|len|num|count|elem|\b[A-Z]\b|\bn\b)[\w.>*:()\s+-]*?(<=?|>=?) (\d+)", re.IGNORECASE)
_NO_SIZE = re.compile(r"dim(?:s|ension)?\(\)\s*[<>]|\bndim|bits|version", re.IGNORECASE)
_ONE_TYPE = re.compile(r"(?:dtype|scalar_type)\(?[^\s&|]* ([!=])= [^\s&|]*(?:dtype|scalar_type)\(")
_OTHER_LAYOUT = re.compile(r"channels_?last|!=", re.IGNORECASE)
_HAS_LIBRARY = re.compile(r"at::has(?:MKL|LAPACK|MAGMA)\w*\(\)")  # as a release has them (aten/src/ATen/Context.h)
_ASKED = re.compile(r"(\w+)(?:\.|->)(?:layout\(\)|is_)")  # what is asked for its layout
_BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}
_SOME = re.compile(r"[\w.>-]*(?:numel|_nnz)\(\)\s*(>|!=|==)\s*0")
_EMPTY = 3.0  # what a way costs more that only tensors without elements take
_VARIABLE = re.compile(r"(?<![\w.>:\"])[A-Za-z_]\w*(?![\w(]|::)")
_NO_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*|k[A-Z]\w*|true|false|nullptr|case|default|else")
_NOT_EMPTY = re.compile(r"!\(?[\w.>-]+(?:\.|->)empty\(\)\)?")
_NOT_IN_BRACKETS = re.compile(r"^!(\w+)$")
_NOT_KEPT_YET = re.compile(r"!\(?\w*cached?[A-Z_]?\w*\)?", re.IGNORECASE)  # what is made once: without it the rest could not run
_EMPTINESS = re.compile(r"numel|defined|empty|has_value|size\(|sizes\(|nullptr|\.dim\(\)|is_same|&&|\|\||[<>=]=|[<>]|_enabled|is_\w+\(")
_NOTHING_TO_DO = re.compile(r"numel\(|empty\(\)|nullptr|defined\(\)|\w*(?:elem|nnz|size|count)\w*(?:\(\w*\)|\[\w*\])?\s*(?:==|<=|<)\s*[01]\b")


def negation(condition: str) -> str:
    """The condition inside a negation: `c` of `!(c)`; "" for a condition that is none."""
    if not condition.startswith("!(") or condition[-1] != ")":
        return ""
    return condition[2:-1] if closing(condition, 1) == len(condition) - 1 else ""


def opposite(condition: str) -> str:
    """The negation of a condition: it holds where the condition does not."""
    return negation(condition) or negated(condition)


def whole(condition: str) -> str:
    """A condition as part of a larger one: in brackets, unless it is a single word."""
    return f"({condition})" if " " in condition else condition


@lru_cache(maxsize=65536)
def opposed(one: str, other: str) -> bool:
    """Whether two conditions are each other's negation: `c` and `!(c)`, `c` and `!c`."""
    return opposite(one) == other or _denied(one) == other or _denied(other) == one


def on_other_side(one: Iterable[str], other: Conditions) -> bool:
    """Whether what stands under some conditions is on the other side of an `if` from what stands under others."""
    return any(opposed(c, d) for c in one for d in other)


def around(call: Call, exits: Iterable[Exit], alternatives: frozenset[str]) -> Conditions:
    """The conditions around a call: those of `#if`, the negated ones under which the function was left before, and those of its own blocks.
    Early exits count only where something else runs under them: not where there is nothing to do, nor on other
    platforms.
    """
    own = call.conditions
    before = past(call, exits, alternatives) if alternatives else ()
    if not (before or call.guards or own):
        return ()
    return tuple(dict.fromkeys((*call.guards, *before, *(c for c in own if _of_elements(c) is not True))))[-MOST:]


def past(call: Call, exits: Iterable[Exit], alternatives: frozenset[str]) -> Conditions:
    """The negations of the conditions under which a function was left before a call."""
    return tuple(
        opposite(way_out.condition) for way_out in exits
        if way_out.line < call.line <= way_out.end and way_out.condition in alternatives and way_out.condition not in call.conditions
        and all(map(holds_on_main_build, way_out.guards))
    )


def alternatives(calls: Iterable[Call], exits: Iterable[Exit]) -> frozenset[str]:
    """The conditions of early exits in whose blocks something is called: each is an alternative to what follows."""
    left = {way_out.condition for way_out in exits if not _NOTHING_TO_DO.search(way_out.condition) or _NOT_EMPTY.fullmatch(way_out.condition)}
    return frozenset(left.intersection(c for call in calls for c in call.conditions)) if left else frozenset()


def together(outer: Conditions, inner: Conditions) -> Conditions:
    """The conditions of a call and, inside what it enters, of another one: both lists must hold."""
    return tuple(dict.fromkeys((*outer, *inner)))[-MOST:] if outer and inner else outer or inner


@lru_cache(maxsize=65536)
def text(conditions: Conditions) -> str:
    """The text in which a step shows conditions; when they are too long, negated ones are left out first, then the outermost."""
    if not conditions:
        return ""
    shown = [_denied(negation(c)) or c for c in (simplified(" ".join(c.split()), without_negations) for c in conditions) if c]
    shown = list({_NOT_IN_BRACKETS.sub(r"!(\1)", c): c for c in shown}.values())
    while len(shown) > 1 and sum(map(len, shown)) > _LENGTH:
        del shown[next((n for n, c in enumerate(shown[:-1]) if c.startswith("!")), 0)]
    return AND.join(f"({c})" if "||" in c and len(shown) > 1 and not negation(c) else c for c in shown)


@lru_cache(maxsize=65536)
def weight(conditions: Conditions) -> float:
    """What conditions add to the cost of a way: special cases cost more than the general one, `else` and `default`. Conditions that most
    tensors meet, such as memory in order and room for vector instructions, cost nothing.
    """
    return sum(map(_weight, conditions))


@lru_cache(maxsize=65536)
def rarity(conditions: Conditions) -> float:
    """What conditions that only small tensors meet add to the cost of a way. This decides the order of ways, not which ones are shown."""
    return sum(_FEW for condition in conditions if (said := without_negations(condition)) and not said[1] and few(said[0]))


@lru_cache(maxsize=65536)
def is_rare(conditions: Conditions) -> bool:
    """Whether conditions hold for few tensors only: those without elements, with few of them, or of other types than floating point."""
    return any(_weight(c) >= _RARE for c in conditions if not c.startswith("case "))


@lru_cache(maxsize=65536)
def converts(conditions: Conditions) -> bool:
    """Whether conditions hold only for tensors of different types: `!(dtype == iter.dtype(1))`."""
    told = ((_ONE_TYPE.search(said), denied) for said, denied in map(without_negations, conditions))
    return any(match is not None and (match[1] == "!") is not denied for match, denied in told)


@lru_cache(maxsize=65536)
def of_few_types(condition: str) -> bool:
    """Whether a condition cannot hold for the floating-point types that most tensors have."""
    return _for_floats(condition) is False


def _for_floats(condition: str) -> bool | None:
    """Whether a condition holds for the floating-point types that most tensors have; None when types do not decide it."""
    return value(condition, lambda term: True if _MASK.fullmatch(term) else False if _other_type(term) else True if _FLOATS.search(term) else None)


def _other_type(said: str) -> bool:
    """Whether a text asks for other types than the floating-point ones that most tensors have."""
    return _OTHER_TYPE.search(said) is not None and "!=" not in said


@lru_cache(maxsize=65536)
def _weight(condition: str) -> float:
    said, denied = without_negations(condition)
    if _of_elements(condition) is False:
        return _EMPTY
    if (match := _ONE_TYPE.search(said)) is not None:
        return _TYPED if (match[1] == "!") is not denied else 0.0
    if _HAS_LIBRARY.match(said) or (_USUAL.search(said) and not _OTHER_LAYOUT.search(said)):
        return _UNUSUAL if denied else 0.0
    if condition.startswith("case "):
        return CASE
    if (known := few(said)) is not None:
        return (_UNUSUAL if denied else 0.0) if not known else 0.0 if denied else _FEW
    if (floats := _for_floats(condition)) is not None:
        return 0.0 if floats else _TYPED
    if not denied and _other_type(said):
        return _TYPED
    return 0.0 if denied or condition == "default" else _SPECIAL


def without_negations(condition: str) -> tuple[str, bool]:
    """The condition inside all negations, and whether their number is odd, so that it is denied."""
    denied = False
    while (inner := negation(condition) or _denied(condition)):
        condition, denied = inner, not denied
    return condition, denied


@lru_cache(maxsize=65536)
def _of_elements(condition: str) -> bool | None:
    """Whether a condition holds for tensors that have elements, where that is all it asks; None for any other."""
    said, denied = without_negations(condition)
    match = _SOME.fullmatch(said)
    return None if match is None else (match[1] == "==") is denied


def few(condition: str) -> bool | None:
    """True when a condition asks for fewer elements than most tensors have, False when it asks for more, None when it does neither."""
    found = [_of_size(part) for part in condition.split(AND)]
    return None if (True in found) is (False in found) else True in found


def _of_size(condition: str) -> bool | None:
    match = _SIZE.fullmatch(condition)
    if match is None or _NO_SIZE.search(condition) or not _LEAST_MANY <= int(match[2]) <= _MOST_FEW:
        return None
    return match[1].startswith("<")


def _denied(condition: str) -> str:
    """`c` of `!c`, where that is all; "" for any other condition."""
    return condition[1:] if condition.startswith("!") and "&&" not in condition and "||" not in condition else ""


def optional(conditions: Conditions, every: set[str], left: frozenset[str]) -> bool:
    """Whether the innermost condition only adds a step, instead of choosing a side: there is no other side, the function goes on
    after it, and the condition does not ask whether something is empty.
    """
    if not conditions or conditions[-1].startswith(("case ", "default")) or negation(conditions[-1]) or _NOT_KEPT_YET.fullmatch(conditions[-1]):
        return False
    return opposite(conditions[-1]) not in every and conditions[-1] not in left and _EMPTINESS.search(conditions[-1]) is None


def is_switched(conditions: Conditions) -> bool:
    """Whether one of the conditions is a `case` of a `switch`."""
    return any(c.startswith("case ") for c in conditions)


def has_rivals(conditions: Conditions, others: Iterable[Conditions]) -> bool:
    """Whether a way under a `case` has rivals: one under the `default` of the same `switch`, or one that runs in any case."""
    before = conditions[: next(n for n, c in enumerate(conditions) if c.startswith("case "))]
    return any(before[: len(other)] == other or other[: len(before) + 1] == (*before, "default") for other in others)


def rule_out(conditions: Conditions, answers: frozenset[str]) -> bool:
    """Whether conditions cannot all hold for tensors of a device and layout. When they ask for that layout of one tensor, others may be
    dense: `mat1.layout() == kSparseCsr` and `mat2.layout() == kStrided`.
    """
    refused = [condition for condition in conditions if holds(condition, answers) is False]
    if not refused or answers.isdisjoint(LAYOUTS):
        return bool(refused)
    dense = answers.difference(LAYOUTS)
    having = {t for c in conditions if not negation(c) and holds(c, answers) is not False and holds(c, dense) is False for t in _ASKED.findall(c)}
    return not having or not all(holds(c, dense) is True and having.isdisjoint(_ASKED.findall(c)) for c in refused)


@lru_cache(maxsize=65536)
def on_device(condition: str, device: str) -> bool:
    """Whether a condition holds for all tensors of a device, whatever their layout."""
    return holds(condition, frozenset((device,))) is True and holds(condition, frozenset((device, *LAYOUTS))) is True


@lru_cache(maxsize=65536)
def holds(condition: str, answers: frozenset[str]) -> bool | None:
    """Whether a condition holds for tensors of a device and layout; None when device and layout do not decide it."""
    return value(condition, lambda term: atom_holds(term, answers))


@lru_cache(maxsize=65536)
def never(condition: str, answers: frozenset[str], first: str) -> bool:
    """Whether a condition cannot hold when the first tensor has this device and layout. Other tensors may be dense, so what
    their layout alone would decide stays open. `first` is the first tensor's name.
    """
    dense = answers.difference(LAYOUTS)

    def of_term(term: str) -> bool | None:
        held = atom_holds(term, answers)
        return held if held is atom_holds(term, dense) or re.search(rf"\b{first}(?:\.|->)is_", term) else None

    return value(condition, of_term) is False


def value(condition: str, of_term: Callable[[str], bool | None]) -> bool | None:
    """Evaluate a condition from the values of its terms (the parts between `!`, `&&` and `||`); None when they do not decide it."""
    return _value(_read(condition), of_term)


_Read = tuple[str, tuple["_Read", ...] | str]  # "||", "&&" or "!" with what they join, or "" with a term


@lru_cache(maxsize=65536)
def settled(conditions: Conditions) -> dict[str, bool]:
    """The terms whose value is known where all of some conditions hold: of `!(a || b)` both are false."""
    known: dict[str, bool] = {}
    waiting = [(_read(condition), True) for condition in conditions if "…" not in condition]
    while waiting:
        (sign, inner), truth = waiting.pop()
        if isinstance(inner, str):
            known.setdefault(inner, truth)
        elif sign == "!":
            waiting.append((inner[0], not truth))
        elif truth is (sign == "&&"):
            waiting.extend((part, truth) for part in inner)
    return known


@lru_cache(maxsize=65536)
def terms(condition: str) -> frozenset[str]:
    """The terms of a condition, between `!`, `&&` and `||`."""
    found: set[str] = set()
    value(condition, found.add)  # which decides none of them, so all are asked
    return frozenset(found)


@lru_cache(maxsize=65536)
def variables_in(condition: str) -> frozenset[str]:
    """The names in a condition that may be those of variables: of no functions, members, scopes, macros and constants."""
    return frozenset(name for name in _VARIABLE.findall(condition) if _NO_VARIABLE.fullmatch(name) is None)


def _value(read: _Read, of_term: Callable[[str], bool | None]) -> bool | None:
    sign, inner = read
    if isinstance(inner, str):
        return of_term(inner)
    if sign == "!":
        known = _value(inner[0], of_term)
        return None if known is None else not known
    found = [_value(part, of_term) for part in inner]
    if sign == "||":
        return True if True in found else False if all(known is False for known in found) else None
    return False if False in found else True if all(found) else None


@lru_cache(maxsize=65536)
def _read(condition: str) -> _Read:
    """A condition taken apart: the same ones are asked again and again."""
    condition = condition.strip()
    for sign in ("||", "&&"):
        terms = split(condition, sign)
        if len(terms) > 1:
            return sign, tuple(map(_read, terms))
    if condition.startswith("!") and not condition.startswith("!="):
        return "!", (_read(condition[1:]),)
    inner = unbracketed(condition)
    return ("", condition) if inner == condition else _read(inner)


def unbracketed(text: str) -> str:
    """A text without one pair of brackets around all of it."""
    return text[1:-1] if text.startswith("(") and closing(text, 0) == len(text) - 1 else text


def closing(text: str, opening: int) -> int:
    """The index of the parenthesis or brace that closes the one at `opening`; -1 when there is none."""
    depth, bracket = 0, text[opening]
    for match in _BRACKETS[bracket].finditer(text, opening):
        depth += 1 if match[0] == bracket else -1
        if depth == 0:
            return match.start()
    return -1
