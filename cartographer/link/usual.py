# SPDX-License-Identifier: BSD-3-Clause
"""Judges conditions by what most people's calls answer, where only the tree can tell: conditions that call a function, whose body says
which tensors it is true of (`use_mkldnn_matmul(a, b, c)` of aten/src/ATen/native/mkldnn/Matmul.cpp wants other types than float), and
those that ask for a setting. Tensors are in order in memory, of float, neither small nor huge; one holds one matrix, a batch several.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.conditions import closing, few, of_few_types, value, weight, without_negations
from cartographer.link.names import scope_of
from cartographer.link.settings import Settings
from cartographer.scan.preprocess import prepare
from cartographer.scan.text import split_commas

if TYPE_CHECKING:
    from cartographer.link.bodies import Bodies
    from cartographer.link.conditions import Conditions
    from cartographer.link.guards import World
    from cartographer.link.index import Defined
    from cartographer.link.names import Names

UNUSUAL = 1.2  # what a way costs more that runs where most people's calls answer otherwise
_CUT = "…"  # ends a condition for which there was no room
_DEPTH = 3  # functions that ask each other
_ASKING = re.compile(
    r"case .*::|[cC](?:tx|ontext)\b|[!=]= (?:\w+::)+\w|[=<>]=? (?:std::max<\w+>\()?\d|(?<![\w.>])[a-z_][\w:]*\(|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+|::value|is_same|\btrue\b|\bfalse\b|INT_MAX|ld\w >=|globalContext"
    r"|ScalarType|\bk[A-Z]|[!=]= \w*(?:scalar_type|dtype)|is[A-Z]\w*\(|is_[a-z]\w*\(|MemoryFormat"
)  # what the answers below begin from
_CALL = re.compile(r"((?:\w+::)*[a-z_]\w*)\(")
_RETURN = re.compile(r"\breturn\b\s*([^;]*);")
_ANSWERS = re.compile(r"\b(?:bool|int)\b")
_OTHER_ORDER = re.compile(r"MemoryFormat::ChannelsLast")
_SAME = re.compile(r"std::is_same(?:_v<(?:scalar_t|T), ([\w:]+)>|<(?:scalar_t|T), ([\w:]+)>::value)")
_TYPES = re.compile(r"(?:(?:at|c10)::)?(?:float|double|Half|BFloat16|u?int\d+_t|bool)")
_TRAIT = re.compile(r"(\w+)<(?:scalar_t|T)>::value")
_OF_TRAIT = re.compile(r"std::integral_constant<bool,\s*(.*)>", re.DOTALL)
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\(\))?")
# Sizes fit 32 bits, and rows of a matrix for BLAS are no shorter than what is read of them.
_FITS = re.compile(r"\w+ <= INT_MAX|ld\w >= std::max\b.*")
_ONE_OF_BATCH = re.compile(r"(?:num_?|n_?)?batch(?:es|_?size)? == 1")
# How many matrices there are in one tensor (aten/src/ATen/native/LinearAlgebraUtils.h): one.
_MATRICES = re.compile(r"(batchCount\([\w.]+\)|\w+) (==|>|>=|<=|<) (?:std::max<\w+>\()?(\d+)\b.*")
_ONE = {"==": int.__eq__, ">": int.__gt__, ">=": int.__ge__, "<=": int.__le__, "<": int.__lt__}


class Usual:
    """Answers to conditions for the tensors and settings that most people have, in the build for one device."""

    def __init__(self, bodies: Bodies, names: Names, world: World) -> None:
        self._bodies = bodies
        self._names = names
        self._world = world
        self.settings = Settings(bodies, world)
        self._functions: dict[int, bool | None] = {}

    def cost(self, conditions: Conditions, inside: Defined) -> tuple[float, bool]:
        """What conditions in a function add to, or take off, the cost of a way, beyond what their texts alone say; and whether most
        people's calls do not meet them.
        """
        answers = [self.answer(condition, inside) for condition in conditions]
        told = [(weight((c,)), a) for c, a in zip(conditions, answers, strict=True) if a is not None]
        unusual = max((max(0.0, UNUSUAL - said) for said, answer in told if not answer), default=0.0)
        return unusual - sum(said for said, answer in told if answer), False in answers

    def answer(self, condition: str, inside: Defined, depth: int = 0) -> bool | None:
        """Whether a condition holds for most people's calls, as far as functions and settings tell; None when they do not."""
        if not _asks(condition):
            return None
        if condition.startswith("case "):
            return self.settings.holds(condition)
        said, denied = without_negations(condition) if not depth else ("", False)
        if said and (some := few(said)) is not None and (some or "&&" not in said):
            return some is denied
        return value(condition, lambda term: self._of_term(term, inside, depth))

    def _of_term(self, term: str, inside: Defined, depth: int) -> bool | None:
        if (set_to := self.settings.holds(term)) is not None:
            return set_to
        if (one := self._of_one(term, inside)) is not None:
            return one
        if _MACRO.fullmatch(term):
            return self._world.evaluate(term)
        if (match := _TRAIT.fullmatch(term)) is not None:
            return self._of_trait(match[1])
        if (known := _of_types(term)) is not None or (depth and (known := _of_tensors(term)) is not None):
            return known
        match = _CALL.match(term)
        if match is None or depth >= _DEPTH or closing(term, match.end() - 1) != len(term) - 1:
            return None
        arguments = [a for a in split_commas(term[match.end() : -1], "([{<", ")]}>") if a.strip()]
        found = self._names.functions(match[1], scope_of(inside), len(arguments))
        return self._of_function(found[0], depth + 1) if len(found) == 1 else None

    def _of_function(self, defined: Defined, depth: int) -> bool | None:
        """What a function gives back on each of its ways out; None when they differ, or one cannot be told."""
        if id(defined) not in self._functions:
            self._functions[id(defined)] = None  # functions that ask each other in a circle
            told = {self.answer(text, defined, depth) for text in self._returned(defined)}
            self._functions[id(defined)] = told.pop() if len(told) == 1 else None
        return self._functions[id(defined)]

    def _returned(self, defined: Defined) -> list[str]:
        """The expressions that a function gives back in the build."""
        if defined.use is not None or not _ANSWERS.search(defined.fact.returns) or not self._bodies.follows(defined):
            return []
        source = prepare(self._bodies.text(defined).encode())
        found = (m for m in _RETURN.finditer(source.plain) if self._world.allows(source.guards(m.start())) is not False)
        return [" ".join(m[1].split()) for m in found]

    def _of_trait(self, name: str) -> bool | None:
        """Whether a trait that is an alias holds for float: `using is_blas_type = std::integral_constant<bool, std::is_same_v<…> || …>;`."""
        aliases = (d.fact.returns for d in self._bodies.index.named(name) if d.fact.kind == "alias")
        told = {value(match[1], _of_types) for text in aliases if (match := _OF_TRAIT.fullmatch(text)) is not None}
        return told.pop() if len(told) == 1 else None

    def _of_one(self, term: str, inside: Defined) -> bool | None:
        """Whether a term on the number of matrices holds for a single one."""
        match = _MATRICES.fullmatch(term)
        if match is None:
            return None
        if not (match[1].startswith("batchCount(") or self._counts(match[1], inside)):
            return False if _ONE_OF_BATCH.fullmatch(term) else None
        return bool(_ONE[match[2]](1, int(match[3])))

    def _counts(self, name: str, inside: Defined) -> bool:
        """Whether a variable of a function holds the number of matrices."""
        text = self._bodies.text(inside) if inside.use is None and name.isidentifier() else ""
        return "batchCount(" in text and re.search(rf"\b{name} = (?:\w+\()?batchCount\(", text) is not None


@lru_cache(maxsize=65536)
def _asks(condition: str) -> bool:
    """Whether anything here may answer a condition; what is not there of one that is cut short may decide it."""
    return _CUT not in condition and _ASKING.search(condition) is not None


def _of_types(term: str) -> bool | None:
    """Whether a term that compares types holds for float, or for a machine with several cores."""
    if (match := _SAME.fullmatch(term)) is not None and _TYPES.fullmatch(held := match[1] or match[2]):
        return held == "float"
    return False if term.endswith("get_num_threads() == 1") else None


@lru_cache(maxsize=65536)
def _of_tensors(term: str) -> bool | None:
    """Whether a term holds for most people's tensors."""
    if term in ("true", "false"):
        return term == "true"
    if of_few_types(term) or ("!=" not in term and _OTHER_ORDER.search(term)):
        return False
    if _FITS.fullmatch(term):
        return True
    return None if (some := few(term)) is None else not some
