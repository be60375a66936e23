# SPDX-License-Identifier: BSD-3-Clause
"""Finds the likely successor of a removed operator, with the evidence: an equal schema alone is none, and a similar name neither."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from cartographer.compare.schemas import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.model.oplist import Advice, OperatorList, OperatorRow
    from cartographer.model.schema import Argument

K = TypeVar("K")
V = TypeVar("V")
_CALLED = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\(")  # functions, not methods


@dataclass(frozen=True, slots=True)
class Successor:
    """The likely successor of a removed operator: its name, the evidence, and the place where PyTorch's own text names it, if one does."""

    name: str
    evidence: str
    path: str = ""
    line: int = 0
    side: str = ""

    @property
    def says(self) -> str:
        """The successor and the evidence as a sentence."""
        return f"likely successor: {self.name.removeprefix('aten::')} ({self.evidence})"


class Successors:
    """Finds successors of removed operators between two lists; what the rules look up is gathered once."""

    def __init__(self, old: OperatorList, new: OperatorList) -> None:
        self._old = old
        self._new = new
        self._rules = (self._advised, self._kernel_moved, self._other_overload, self._public_twin, self._gradient_says, self._module_moved, self._word_more_or_less)

    def find(self, gone: OperatorRow) -> Successor | None:
        """The successor that the strongest applicable rule gives; None when there is no evidence for one."""
        return next((found for rule in self._rules for found in rule(gone)), None)

    @cached_property
    def _added(self) -> list[OperatorRow]:
        return [row for name, row in self._new.rows.items() if name not in self._old.rows]

    @cached_property
    def _by_base(self) -> dict[str, list[OperatorRow]]:
        return _grouped((_base(row), row) for row in self._new.rows.values())

    @cached_property
    def _added_by_words(self) -> dict[int, list[tuple[tuple[str, ...], OperatorRow]]]:
        return _grouped((len(words), (words, row)) for row in self._added for words in (_name_words(row),))

    @cached_property
    def _new_kernels(self) -> dict[str, list[OperatorRow]]:
        return _grouped((kernel, row) for row in self._added for kernel in row.dispatch.values())

    @cached_property
    def _kernel_uses(self) -> dict[str, int]:
        uses: dict[str, int] = {}
        for row in self._old.rows.values():
            for kernel in set(row.dispatch.values()):
                uses[kernel] = uses.get(kernel, 0) + 1
        return uses

    @cached_property
    def _formulas_calling(self) -> dict[str, list[tuple[str, str]]]:
        """Function -> the formulas of the old list that are a call of it: (operator, key)."""
        return _grouped(
            (_first_call(text), (name, key)) for name, row in self._old.rows.items() if row.derivative is not None
            for key, text in row.derivative.formulas.items()
        )

    def _advised(self, gone: OperatorRow) -> Iterator[Successor]:
        """A text of the new release, or of the old one before the operator went, names what to use instead."""
        for side, listed in (("new", self._new), ("old", self._old)):
            found = [(row, advice) for advice in listed.advice.get(_base(gone), ()) if (row := self._meant(advice, gone)) is not None]
            if found:
                row, advice = found[0]
                others = sorted({_short(other) for other, _ in found} - {_short(row)})
                names = "names it" + (f", and {', '.join(others)}" if others else "")
                yield Successor(row.name, f"{advice.path}:{advice.line} of {listed.version} {names}", advice.path, advice.line, side)

    def _meant(self, advice: Advice, gone: OperatorRow) -> OperatorRow | None:
        rows = self._by_base.get(advice.instead.replace(".", "_"), [])
        return min(rows, key=lambda row: (_kind(row) != _kind(gone), len(_arguments(row.schema)), row.name), default=None)

    def _kernel_moved(self, gone: OperatorRow) -> Iterator[Successor]:
        """An operator that is new and names a kernel that only the one that is gone had."""
        if gone.implied or gone.generated:
            return
        for key, kernel in gone.dispatch.items():
            for row in self._new_kernels.get(kernel, ()):
                if self._kernel_uses[kernel] == 1 and not row.generated:
                    yield Successor(row.name, f"it is new and has the kernel {kernel} for {key} that {_short(gone)} had")

    def _other_overload(self, gone: OperatorRow) -> Iterator[Successor]:
        """Another overload of the same base name that takes the same arguments."""
        rows = [row for row in self._by_base.get(_base(gone), ()) if _accepts(row, gone) and _kind(row) == _kind(gone)]
        for row in sorted(rows, key=lambda row: (len(_arguments(row.schema)), row.name)):
            types = {a.name: a.type for a in _arguments(row.schema)}
            other = [f"{a.name} is {types[a.name]} there, {a.type} here" for a in _arguments(gone.schema) if types[a.name] != a.type]
            yield Successor(row.name, "another overload, arguments of the same names" + (f"; {', '.join(other)}" if other else ""))

    def _public_twin(self, gone: OperatorRow) -> Iterator[Successor]:
        """`_cat` went, `cat` stays: the public operator whose private form it was."""
        base = _base(gone)
        if not base.startswith("_") or base.startswith("__"):
            return
        rows = [row for row in self._by_base.get(base.lstrip("_"), ()) if _accepts(row, gone) and _kind(row) == _kind(gone)]
        for row in sorted(rows, key=lambda row: (row.name.partition(".")[2] != gone.name.partition(".")[2], row.name)):
            yield Successor(row.name, "the public operator of this name takes the same arguments")

    def _gradient_says(self, gone: OperatorRow) -> Iterator[Successor]:
        """The formulas that were a call of it are a call of one other operator."""
        instead: set[str] = set()
        callers = self._formulas_calling.get(_base(gone), [])
        for name, key in callers:
            row = self._new.rows.get(name)
            now = _first_call(row.derivative.formulas.get(key, "")) if row is not None and row.derivative is not None else ""
            instead.add(now)
        if len(instead) == 1 and (base := instead.pop()) in self._by_base:
            rows = sorted(self._by_base[base], key=lambda row: (_kind(row) != _kind(gone), row.name))
            yield Successor(rows[0].name, f"the gradient of {callers[0][0].partition('::')[2]} called {_base(gone)}, it calls {base} now")

    def _module_moved(self, gone: OperatorRow) -> Iterator[Successor]:
        """`rfft` became `fft_rfft`; read backwards, `fft_rfft` became `rfft`."""
        base, module = _base(gone), gone.python_module
        modules = sorted({row.python_module for row in self._new.rows.values() if row.python_module})
        wanted = [(f"{m}_{base}", m) for m in modules] + ([(base.removeprefix(f"{module}_"), "")] if module and base.startswith(f"{module}_") else [])
        for name, to in wanted:
            for row in sorted(self._by_base.get(name, ()), key=lambda row: (_kind(row) != _kind(gone), row.name)):
                if row.python_module == to:
                    same = _names(row) == _names(gone)
                    where = f"in the module {to}" if to else "outside the module"
                    yield Successor(row.name, f"the same name {where}; " + ("with the same arguments" if same else "the signatures differ"))

    def _word_more_or_less(self, gone: OperatorRow) -> Iterator[Successor]:
        """An operator that is new, whose name has one word more or less, that takes the same arguments."""
        words = _name_words(gone)
        near = [pair for n in (len(words) - 1, len(words), len(words) + 1) for pair in self._added_by_words.get(n, ())]
        fitting = [row for other, row in near if _one_apart(words, other) and _accepts(row, gone) and _kind(row) == _kind(gone)]
        if len({_base(row) for row in fitting}) == 1:
            row = min(fitting, key=lambda row: (len(_arguments(row.schema)), row.name))
            yield Successor(row.name, "it is new, its name is this one but for a word, and it takes the same arguments")


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _short(row: OperatorRow) -> str:
    return row.name.partition("::")[2]


def _base(row: OperatorRow) -> str:
    return row.name.partition("::")[2].partition(".")[0]


def _first_call(formula: str) -> str:
    """The function that a formula calls first, whatever it asks before; `_symint` is a spelling."""
    found = _CALLED.search(formula)
    return found[1].removesuffix("_symint") if found else ""


def _name_words(row: OperatorRow) -> tuple[str, ...]:
    return tuple(word for word in _base(row).split("_") if word)


def _one_apart(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names are equal but for underscores at their ends, or but for one word that only the longer has."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) + 1 == len(long) > 2 and any(long[:i] + long[i + 1 :] == short for i in range(len(long))))


def _arguments(schema: str) -> tuple[Argument, ...]:
    whole = parsed(schema)
    return whole.arguments if whole is not None else ()


def _names(row: OperatorRow) -> tuple[str, ...]:
    return tuple(a.name for a in _arguments(row.schema))


def _kind(row: OperatorRow) -> object:
    """Functional, in place, out."""
    whole = parsed(row.schema)
    return whole.kind if whole is not None else None


def _accepts(candidate: OperatorRow, gone: OperatorRow) -> bool:
    """Whether a call with all the arguments of the one that is gone, given by name, gives the candidate what it needs."""
    given = set(_names(gone))
    taken = _arguments(candidate.schema)
    return bool(given) and given <= {a.name for a in taken} and all(a.name in given or a.default is not None for a in taken)
