# SPDX-License-Identifier: BSD-3-Clause
"""Reads Python bindings that are written by hand: the tables of methods in the templates of tools/autograd/templates, in
torch/csrc/autograd/python_torch_functions_manual.cpp, and the properties of torch/csrc/autograd/python_variable.cpp.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.codegen.bindings import METHODS, TEMPLATES, TORCH, Bindings
from cartographer.model.location import Location
from cartographer.model.operator import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.codegen.function import Function
    from cartographer.codegen.sources import Sources

_AUTOGRAD = "torch/csrc/autograd/"
_ENTRY = re.compile(r'\{\s*"(\w+)"\s*,([^{}"]*?)(?:METH_|nullptr|NULL|\})')
_FUNCTION = re.compile(r"\b((?:THP|Property)\w+)")
_ALIAS = re.compile(r'\{"(\w+)",\s*"(\w+)"\}')
_CALL = re.compile(r"\b(?:self_?|t|THPVariable_Unpack\(self\))\.(\w+)\(|\bat::(\w+)\(|\b((?:THPVariable_|dispatch_)\w+)\(")
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a hand-written table of methods or properties."""

    python: str
    function: str
    place: Location


def bind(sources: Sources, owners: Mapping[str, str], generated: Bindings, functions: list[Function]) -> Bindings:
    """Hand-written bindings by operator. An entry belongs to the operators whose generated function it reuses, to
    those of the name of its function, or to the one operator that its function calls; to none when that is not plain.
    """
    of_function: dict[tuple[str, str], list[str]] = defaultdict(list)
    for operator, found in generated.items():
        for binding in found:
            of_function[binding.python.rpartition(".")[0], binding.function].append(operator)
    of_all = _by_base(f for f in functions if not f.generated)
    of_methods = _by_base(f for f in functions if not f.generated and not f.is_out)
    made: Bindings = defaultdict(list)
    for path, owner in _files(owners):
        text = sources.text(path)
        if not text:
            continue
        reused = {f: operators for (o, f), operators in of_function.items() if o == owner}
        bases = of_methods if owner == "torch.Tensor" else of_all
        for entry in entries(path, owner, text):
            for operator in dict.fromkeys(_operators(entry.function, text, bases, reused)):
                binding = Binding(entry.python, entry.function, path, deprecated=False, place=entry.place)
                if binding not in made[operator]:
                    made[operator].append(binding)
    return made


def _by_base(functions: Iterable[Function]) -> dict[str, list[str]]:
    """The names of functions by their base names."""
    found: dict[str, list[str]] = {}
    for function in functions:
        found.setdefault(function.base, []).append(function.name)
    return found


def _files(owners: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files that hold tables, with the Python object that they fill."""
    yield TEMPLATES + METHODS, "torch.Tensor"
    yield TEMPLATES + TORCH, "torch"
    yield _AUTOGRAD + "python_torch_functions_manual.cpp", "torch"
    yield _AUTOGRAD + "python_variable.cpp", "torch.Tensor"
    for module, owner in sorted(owners.items()):
        yield f"{TEMPLATES}python_{module}_functions.cpp", owner
        yield f"{_AUTOGRAD}python_{module}_functions_manual.cpp", owner


def entries(path: str, owner: str, text: str) -> list[Entry]:
    """The rows of the tables in one file, and the aliases that the file adds to a module."""
    found = []
    for match in _ENTRY.finditer(text):
        function = _FUNCTION.search(match[2])
        if function is not None:
            line = text.count("\n", 0, match.start(1)) + 1
            found.append(Entry(f"{owner}.{match[1]}", function[1], Location(path, line)))
    for match in _ALIAS.finditer(text) if owner == "torch" else ():
        line = text.count("\n", 0, match.start()) + 1
        found.append(Entry(f"{owner}.{match[2]}", f"THPVariable_{match[1]}", Location(path, line)))
    return found


def _operators(
    function: str, text: str, bases: Mapping[str, list[str]], reused: Mapping[str, list[str]],
) -> Iterable[str]:
    if function in reused:
        return reused[function]
    name = function.removeprefix("THPVariable_")
    for candidate in (name, name.removeprefix("get_")):
        if candidate in bases and function != candidate:
            return bases[candidate]
    called = {c for body in _bodies(function, text) for c in _calls(body, text)}
    generated = [reused[c] for c in called if c in reused]
    single = [bases[c] for c in called if len(bases.get(c, ())) == 1]
    others = [c for c in called if c in bases and len(bases[c]) > 1]
    candidates = generated or ([] if others else single)
    return candidates[0] if len(candidates) == 1 else ()


def _calls(body: str, text: str) -> Iterator[str]:
    """Names called in the statements that return, generated functions with their prefix; helpers called
    `dispatch_…` are looked into.
    """
    for match in _returned(body):
        name = match[1] or match[2] or match[3]
        helpers = _bodies(name, text) if name.startswith("dispatch_") else []
        yield from (m[1] or m[2] for helper in helpers for m in _returned(helper) if m[1] or m[2])
        if not helpers:
            yield name


def _returned(body: str) -> Iterator[re.Match[str]]:
    for statement in body.split(";"):
        if (start := statement.find("return ")) >= 0:
            yield from _CALL.finditer(statement, start)


def _bodies(name: str, text: str) -> list[str]:
    """What stands in braces after each definition of a function or struct of that name."""
    found = []
    written = re.escape(name)
    for match in re.finditer(rf"{written}(?<!\w{written})\b[^;{{}}]*\{{", text):  # begins with fixed text, which is found fast
        depth = 0
        for brace in _BRACE.finditer(text, match.end() - 1):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                found.append(text[match.end() : brace.start()])
                break
    return found
