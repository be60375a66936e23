# SPDX-License-Identifier: BSD-3-Clause
"""What a reader of one docstring, or of one error, is told: a sentence that can be understood by itself, and hints of one form."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cartographer

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(cartographer.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
WORDS = 4  # the fewest that say something
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
HINTS = ("hint", "_AT_HAND", "_BUILD", "_BUILD_AGAIN")  # names of arguments and variables that hold hints
CAPITAL = re.compile(r"(?!PyTorch\b|Python\b|CUDA\b)[A-Z](?:[a-z]|\s)")  # but for proper nouns; names all in capitals are code


def public(tree: ast.Module) -> Iterator[tuple[int, str, str | None]]:
    """Line, name and docstring of what is public in a module; what carries out a protocol of the module, or overrides a method, is described there."""
    yield 1, "the module", ast.get_docstring(tree)
    found = [each for node in tree.body for each in _public(node)]
    described = {node.name for node, of in found if of is not None and ast.get_docstring(node)}
    for node, of in found:
        text = ast.get_docstring(node)
        if text is not None or of is None or not (of.bases or node.name in described):
            yield node.lineno, node.name, text


def _public(node: ast.stmt, of: ast.ClassDef | None = None) -> Iterator[tuple[Definition, ast.ClassDef | None]]:
    """Public definitions with the class that they are in."""
    if isinstance(node, ast.If | ast.Try):
        yield from (found for inner in node.body for found in _public(inner, of))
    if isinstance(node, Definition) and not node.name.startswith("_"):
        yield node, of
        if isinstance(node, ast.ClassDef):
            yield from (found for inner in node.body for found in _public(inner, node))


def says_enough(docstring: str) -> bool:
    return len(docstring.split()) >= WORDS or "`" in docstring


def hints(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the hints that a module writes out; of one that is put together, its text with `{}` for what is put in."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="hint", value=value):
                yield from _texts(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in HINTS:
                yield from _texts(value)


def _texts(node: ast.expr) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case ast.JoinedStr(values=values):
            yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body), *_texts(orelse))
        case ast.BoolOp(values=values):
            yield from (found for value in values for found in _texts(value))
        case ast.BinOp(left=left):
            yield from _texts(left)


def is_well_formed(hint: str) -> bool:
    """It goes on from the error's own line: a small letter, an option or code at its beginning, no full stop after its only sentence."""
    return not CAPITAL.match(hint) and not (hint.endswith(".") and ". " not in hint)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_public_docstring_can_be_understood_by_itself(path: Path) -> None:
    found = public(ast.parse(path.read_text(encoding="utf-8")))
    assert [f"{line}: {name}: {text}" for line, name, text in found if not says_enough(text or "")] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_hints_have_one_form(path: Path) -> None:
    assert [f"{line}: {hint}" for line, hint in hints(ast.parse(path.read_text(encoding="utf-8"))) if not is_well_formed(hint)] == []


@pytest.mark.parametrize("hint", ["did you mean v2.11.0?", "--repo takes a path", "`git tag` lists them", "PyTorch has it since v1.7.0", "{} has others", ""])
def test_a_hint_may_begin_with_a_small_letter_an_option_or_code(hint: str) -> None:
    assert is_well_formed(hint)


@pytest.mark.parametrize("hint", ["Try again", "Give one of them.", "try again.", "A clone lacks it"])
def test_a_hint_is_no_sentence_with_a_capital_or_a_full_stop(hint: str) -> None:
    assert not is_well_formed(hint)


def test_hints_are_found_in_every_form_that_the_sources_use() -> None:
    source = 'E("x", hint="One." if a else f"Two {b}")\nhint = "Three" + c\nE("y", hint=e.hint or "Four")'
    assert {text for _, text in hints(ast.parse(source))} == {"One.", "Two {}", "Three", "Four"}


def test_a_method_may_go_without_where_its_protocol_or_its_base_describes_it() -> None:
    source = '"""A module of four words."""\nclass P:\n  "P"\n  def m(self):\n    "Does it."\nclass Q:\n  def m(self): ...\n  def n(self): ...\nclass R(Q):\n  def n(self): ...'
    assert [(name, text) for _, name, text in public(ast.parse(source))][1:] == [("P", "P"), ("m", "Does it."), ("Q", None), ("n", None), ("R", None)]


@pytest.mark.parametrize(("docstring", "enough"), [("The plate.", False), ("For a sentence.", False), ("`pip install`", True), ("The page of one operator.", True)])
def test_few_words_say_nothing_unless_they_are_code(docstring: str, enough: bool) -> None:
    assert says_enough(docstring) is enough
