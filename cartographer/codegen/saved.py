# SPDX-License-Identifier: BSD-3-Clause
"""Works out what a backward Node keeps from the forward call: the inputs, outputs and sizes that its formula needs.

The rules are those of tools/autograd/load_derivatives.py (saved_variables); its table of expressions that are saved
instead of a whole tensor (`self.sym_sizes()` as `self_sym_sizes`) is read from the pinned tree.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.codegen.sources import Sources

LOADER = "load_derivatives.py"
_IDENTIFIER = r"(^|\W){}($|\W)"  # IDENT_REGEX of torchgen/utils.py


def mentions(formula: str, name: str) -> bool:
    """Whether a formula uses a name as a whole word, tested as the generators test it."""
    return name in formula and re.search(_IDENTIFIER.format(re.escape(name)), formula) is not None


def replace_name(formula: str, name: str, by: str) -> str:
    """The formula with a name replaced where it is a whole word, as the generators replace it."""
    return re.sub(_IDENTIFIER.format(re.escape(name)), lambda m: f"{m[1]}{by}{m[2]}", formula)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One row of the table of replacements: the expression to look for, the suffix of what is saved, what the formula then says."""

    pattern: str  # "{}.sym_sizes\\(\\)"
    suffix: str  # "_sym_sizes"; with a "{}" for the number asked for
    dashes: tuple[str, str] | None = None  # how "-1" is spelled in it
    result: str = ""  # "_info.zeros()" when the formula needs more than the saved name
    word: str = ""  # the longest word of the pattern: a formula without it cannot match


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved value: its name in the Node, the expression that makes it, the variable that it comes from."""

    name: str
    expression: str
    variable: str


def replacements(sources: Sources) -> tuple[Replacement, ...]:
    """The table of replacements of the pinned tree."""
    function = sources.function(LOADER, "saved_variables")
    rows: list[Replacement] = []
    for node in ast.walk(function.node) if function else ():
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, ast.List):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.unparse(target) == "REPLACEMENTS":
            rows.extend(row for item in node.value.elts if (row := _replacement(item)))
    return tuple(rows)


def _replacement(node: ast.expr) -> Replacement | None:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str(pattern)), ast.Dict(keys=keys, values=values)]):
            named = {k.value: v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)}
            suffix, dashes = _suffix(named.get("suffix"))
            word = max(re.findall(r"[a-zA-Z_]+", pattern), key=len, default="")
            return Replacement(pattern, suffix, dashes, _appended(named.get("res")), word)
    return None


def _suffix(node: ast.expr | None) -> tuple[str, tuple[str, str] | None]:
    """A text, or a lambda that puts the number of the match into one."""
    if isinstance(node, ast.Constant):
        return str(node.value), None
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)] if node else []
    dashes = ("-", texts[texts.index("-") + 1]) if "-" in texts[:-1] else None
    prefix = next((t for t in texts if t.startswith("_")), "")
    return prefix if "{}" in prefix else prefix + "{}", dashes


def _appended(node: ast.expr | None) -> str:
    """`lambda name: name + "_info.zeros()"`."""
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)] if node else []
    return str(found[0]) if found else ""


def saved_variables(
    formula: str, names: Iterable[tuple[str, bool]], table: tuple[Replacement, ...],
) -> tuple[str, list[Saved]]:
    """The formula after replacement, and what it saves of the variables in `names`: pairs (name, whether it is an
    optional text: those are unwrapped in the formula).
    """
    saved: list[Saved] = []
    for name, optional_text in names:
        if name not in formula:
            continue
        for row in table:
            if row.word in formula:
                formula = _apply(row, name, formula, saved)
        if optional_text:
            unwrapped = f"{name}.has_value() ? std::optional<std::string_view>({name}.value()) : std::nullopt"
            formula = re.sub(rf"\b{name}\b", unwrapped, formula)
        if mentions(formula, name):
            saved.append(Saved(name, name, name))
    return formula, saved


def _apply(row: Replacement, name: str, formula: str, saved: list[Saved]) -> str:
    def replace(match: re.Match[str]) -> str:
        number = match[1] if match.groups() else ""
        if row.dashes:
            number = number.replace(*row.dashes)
        made = name + row.suffix.format(number)
        saved.append(Saved(made, match[0], name))
        return name + row.result if row.result else made

    return re.sub(row.pattern.format(re.escape(name)), replace, formula)
