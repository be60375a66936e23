# SPDX-License-Identifier: BSD-3-Clause
"""Chooses among several ways to the device, by cost and by names: the order of ways, and which of them are shown beside the first."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.conditions import is_rare, negation, of_few_types, on_other_side, rarity
from cartographer.link.costs import ALONE, FORMER, LATER, is_former
from cartographer.link.defaults import asked_for, by_default, parameter_names
from cartographer.link.index import is_source
from cartographer.link.outputs import by_output
from cartographer.link.signatures import parameter_type
from cartographer.link.sites import PLAIN
from cartographer.link.usual import UNUSUAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cartographer.link.index import Defined
    from cartographer.link.sites import Site
    from cartographer.link.ways import OperatorCall, Way
    from cartographer.model.operator import Operator

BRANCHES = 4  # further ways shown beside the main one
MORE = 2  # the same where they are no rare case
NODES = 12  # the same of a graph, whose nodes are parts of one computation
GRAPH = "MPSGraph"
COPIES = "CUDA runtime"  # the library that moves memory
PLAINLY = 2  # loops that functions write themselves, among them
BESIDE = 3.0  # how much more they may cost
DEEPER = 1.0  # and this much beyond that, where both call libraries: what serves them lies as deep as each of them asks
DEFAULT = 1.0  # what runs for the default of an argument comes first
SPARE = 1.0  # what only some calls add comes after what all do
STRANGE = 2.5  # a stub that shares no word with the operator is likelier a step than the work
_TELLING = 3  # letters of a word that tells something inside another name
_TO_USE = re.compile(r"\buse_\w+(?=\()")
_WORD = re.compile(r"[a-z0-9]+")
_DIMENSIONS = re.compile(r"[1-9]d$")
_NO_WORDS = frozenset(("native", "backward", "forward", "out", "linalg", "special", "from", "with", "tensor", "impl"))
_LITTLE = frozenset(("out", "ex", "from", "with", "to", "backward", "forward", "tensor", "native", "cuda", "cpu"))


def ordered(ways: Iterable[Way], operator: Operator, start: Defined, stem: str = "", names: tuple[str, ...] = ()) -> list[Way]:
    """Sort ways, likeliest first, by cost corrected by what names tell; `stem` is the part of the operator's name that it shares with another one,
    `names` are those of the operator's arguments in the function where they start, if it is not the entry.
    """
    ways = list(ways)
    if len(ways) < 2:
        return ways
    libraries = any(w.site.kind == "library" for w in ways)  # which of them serves is no matter of names
    words = words_of(operator.base, "" if libraries else stem)
    backward = "backward" in operator.base
    own = name_words(operator.base) | name_words(start.symbol.rpartition("(")[2].rstrip(")"))
    named_as = names or parameter_names(start)
    named = any(w.hops and name_words(w.hops[0].name) & own for w in ways if w.registration is None)
    usual = asked_for((w.site.conditions for w in ways), operator.schema)

    def likely(way: Way) -> float:
        names = _affinity(way, words, backward=backward) + _same_types(way, start) + _same_words(way, own, named=named)
        former = any(is_former(h.name) for h in way.hops)  # its names are those of the work all the same
        default = -DEFAULT if way.site.conditions in usual else by_default(way.site.conditions, operator.schema, named_as)
        default += LATER if way.site.unusual else 0.0
        default += by_output(way, operator.base) if way.site.conditions else 0.0
        return way.cost - names + (FORMER if former else 0.0) + default + (SPARE if way.site.optional else 0.0)

    return _joined(_with_library(_of_most_types(_by(likely, ways), operator)))


def _by(likely: Callable[[Way], float], ways: list[Way]) -> list[Way]:
    """Ways with the likeliest first: a library's call is as likely as the stub for those whom that library does not serve."""
    found = {id(way): likely(way) for way in ways}
    for way in ways:
        if way.site.unusual and way.registration is not None and (served := _in_library(way, ways)) is not None and not served.site.unusual:
            found[id(served)] = min(found[id(served)], found[id(way)] - LATER - UNUSUAL)
    return sorted(ways, key=lambda way: found[id(way)])


def _of_most_types(ways: list[Way], operator: Operator) -> list[Way]:
    """What runs for most people's types before what its name puts first, where that stands on the other side of an `if` that asks for
    other types: `if (self.is_complex()) { sgn_stub(…); } else { sign_stub(…); }`.
    """
    main = ways[0]
    if main.site.kind in ("dispatch", PLAIN) or by_output(main, operator.base) < 0:
        return ways
    if not any(map(of_few_types, main.site.conditions)):
        return ways
    near = (w for w in ways if w.cost <= main.cost + BESIDE and w.site.kind not in ("dispatch", PLAIN))
    other = next((w for w in near if other_types(main, w)), None)
    return [other, *(w for w in ways if w is not other)] if other is not None else ways


def other_types(way: Way, usual: Way | OperatorCall) -> bool:
    """Whether a way is for types that few tensors have, and `usual` is on the other side of the same `if`."""
    return on_other_side(filter(of_few_types, way.site.conditions), usual.site.conditions)


def _with_library(ways: list[Way]) -> list[Way]:
    """The call of a library before the stub that its function calls where that library is not to be used:
    `if (use_blas_gemm(…)) { sgemm_(…); return; } gemm_stub(…);`.
    """
    if not ways or ways[0].registration is None:
        return ways
    chosen = _in_library(ways[0], ways)
    return [chosen, *(w for w in ways if w is not chosen)] if chosen is not None else ways


def _in_library(stub: Way, ways: list[Way]) -> Way | None:
    """The call of a library where the function that calls a stub may use that instead."""
    denied = {name for c in stub.site.conditions for name in _TO_USE.findall(negation(c))}
    asked = (w for w in ways if w.site.kind == "library" and w.at is stub.at and w.hops == stub.hops)
    return next((w for w in asked if any(denied.intersection(_TO_USE.findall(c)) for c in w.site.conditions if not negation(c))), None)


def _joined(ways: list[Way]) -> list[Way]:
    """Ways on which the same runs stand under the conditions of either: both sides of an `if` may launch one kernel."""
    joined: dict[tuple[object, ...], Site] = {}
    for way in ways:
        what = _what(way)
        joined[what] = joined[what].reached_as(way.site) if what in joined else way.site
    return [w._replace(site=w.site.reached(one.conditions, one.all_conditions)) if (one := joined[_what(w)]) is not w.site else w for w in ways]


def _same_words(way: Way, own: frozenset[str], *, named: bool) -> float:
    """Of several stubs that one call hands over, the one whose words are those of the entry; a stub of quite another name
    is a step beside the function that bears the entry's (`named`).
    """
    if way.registration is None:
        return 0.0
    words = name_words(way.site.name.removesuffix("_stub").removesuffix("_kernel"))
    plain = way.site.name.lower().replace("_", "")
    if words & own:
        return 0.3 * len(words & own) / len(words | own)
    strange = named and not way.hops and not any(w in plain for w in own if len(w) >= _TELLING)
    return -STRANGE if strange else 0.0


def _same_types(way: Way, start: Defined) -> float:
    """Of overloaded call operators the one that takes what the start takes is meant."""
    functor = next((h for h in way.hops if h.name == "operator()"), None)
    if functor is None or not functor.fact.parameters:
        return 0.0
    given = [parameter_type(p) for p in start.fact.parameters]
    wanted = [parameter_type(p) for p in functor.fact.parameters]
    return 0.8 * sum(w in given for w in wanted) / len(wanted)


def beside(ways: list[Way]) -> tuple[list[Way], bool]:
    """The ways worth showing beside the first, and whether there are more for which there is no room; loops beside a stub come last, and
    after them the loops that functions contain themselves.
    """
    main = ways[0]
    near = (w for w in ways[1:] if w.cost <= main.cost + _allowance(w, main) and w.site.kind != "dispatch" and (w.site.library != COPIES or _instead(w, main)))
    libraries = {id(w.at) for w in ways if w.site.kind == "library"}
    shown, substitutes = {_what(main)}, {w.site.name for w in ways if w.registration is not None and id(w.at) in libraries}
    found: list[list[Way]] = [[], [], []]
    for way in near:
        if _fits(way, main, inner=way.site.name not in substitutes) and _what(way) not in shown and not _plumbing(way, main):
            shown.add(_what(way))
            looped = main.registration is not None and way.site.kind not in ("stub", "library")
            found[2 if way.site.kind == PLAIN else looped].append(way)
    found[0].sort(key=lambda w: w.site.library != COPIES)
    every = [*found[0], *found[1], *found[2][:PLAINLY]]
    usual = [w for w in every if not is_rare(w.site.conditions)]
    most = NODES if main.site.library == GRAPH else max(BRANCHES, min(len(usual), BRANCHES + MORE))
    chosen = (usual if len(usual) > BRANCHES and main.site.library != GRAPH else every)[:most]
    return chosen, len(chosen) < sum(map(len, found))


def _instead(way: Way, main: Way) -> bool:
    """Whether a way stands on the other side of an `if` around the main one: memory that is in order is copied as a whole."""
    return on_other_side(way.site.conditions, main.site.conditions)


def _allowance(way: Way, main: Way) -> float:
    """How much more a way may cost than the main one to be shown beside it."""
    deeper = DEEPER if way.site.kind == "library" == main.site.kind else 0.0
    return BESIDE + rarity(way.site.conditions) + (ALONE if way.site.alone else 0.0) + (LATER if way.site.unusual and way.site.kind != PLAIN else 0.0) + deeper


def _fits(way: Way, main: Way, *, inner: bool) -> bool:
    """Whether a way is another side of what the main one does. Beside a stub's call these are calls of libraries and of other
    stubs, and what the same function runs under some condition instead. Beside a loop a stub may lie deeper by one function, which
    the loop calls, where it is no mere substitute for a library (`inner`).
    """
    if way.registration is not None:
        return len(way.hops) <= len(main.hops) + (inner and main.site.kind == "loop" and way.hops[: len(main.hops)] == main.hops)
    if main.registration is None or (way.site.kind == "library" and way.hops[:1] == main.hops[:1]):
        return True
    return way.hops[: len(main.hops)] == main.hops and not set(way.site.conditions) <= set(main.site.conditions)


def _plumbing(way: Way, main: Way) -> bool:
    """Whether a way ends in what a launcher's own header gives to its kernels, while the main one hands over the work."""
    return any(
        g.path != m.path and not is_source(g.path) and any(t.path == g.path for t in way.launch.site.targets)
        for g in way.site.given[:1] for m in main.site.given[:1]
    )  # fmt: skip


def _what(way: Way) -> tuple[object, ...]:
    """What runs at a way's end, wherever it is asked for: two launches of one kernel are one, and two calls of a library's function.
    The nodes of a graph stay what they are: each computes something else.
    """
    site = way.launch.site if way.launched is not None else way.site
    if way.site.kind == "launch" and site.targets and not way.site.given:
        return ("launch", *(id(t) for t in site.targets))
    if way.site.kind == "stub":
        return ("stub", way.site.name, way.site.host)
    if way.site.kind == "library" and way.site.library != GRAPH:
        return ("library", way.site.name.removeprefix("::"))
    if way.site.kind == PLAIN and not way.site.given:
        return (PLAIN, id(way.site.targets[0]))
    return (way.site.kind, way.site.path, way.site.line, way.site.texts)


def _affinity(way: Way, words: tuple[str, ...], *, backward: bool) -> float:
    given = () if way.site.kind == "jit" else way.site.given  # a string's name says no more than its kernel's
    ends = [way.site.name, *(g.symbol for g in given), *(t.name for t in way.site.targets)]
    passed = [h.name for h in way.hops]
    last = _likeness(passed[-1], words) if passed else 0.0
    likeness = max(_likeness(e, words) for e in ends) + 0.5 * last + 0.3 * max((_likeness(p, words) for p in passed), default=0.0)
    named = " ".join((*ends, *passed)).lower()
    if not backward and "backward" in named:
        likeness -= 3.0
    elif backward and "forward" in named and "backward" not in named:
        likeness -= 1.5
    return likeness


def _likeness(name: str, words: tuple[str, ...]) -> float:
    """How much a function's name speaks of an operator."""
    plain = name.lower().replace("_", "")
    for whole in words[:2]:
        if whole and whole in plain:
            return 1.2 + 0.3 * len(whole) / len(plain)  # the closer, the more
    return 0.75 if any(w in plain for w in words[2:]) else 0.0


def words_of(base: str, stem: str = "") -> tuple[str, ...]:
    """The name without underscores, then the part of it that another operator's name has, then the words that tell operators apart."""
    words = [_DIMENSIONS.sub("", w) for w in _WORD.findall(base.lower()) if len(w) > 3 and w not in _NO_WORDS]
    whole, part = ("".join(_WORD.findall(name.lower().replace("native", "").replace("linalg", ""))) for name in (base, stem))
    return (whole or base, part, *words)


@lru_cache(maxsize=16384)
def name_words(base: str) -> frozenset[str]:
    """The words between the underscores of an operator's name that tell operators apart (not `native`, `backward`, `out`)."""
    return frozenset(w for w in base.strip("_").split("_") if w) - _LITTLE


def base_of(name: str) -> str:
    """The base name of an operator without outer underscores: `aten::sort.stable` -> `sort`."""
    return name.partition("::")[2].partition(".")[0].strip("_")
