# SPDX-License-Identifier: BSD-3-Clause
"""Small questions to the syntax trees of Python files, which several finders ask."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from cartographer.scan.abridge import abridged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def outline(text: str, *called: str) -> ast.Module | None:
    """The syntax tree of a file without the bodies of its functions, but for the statements in them that call a function with one of
    the words `called` in its name; None when this Python cannot read it.
    """
    data = text.encode("utf-8", "surrogatepass")
    return parsed(abridged(data, tuple(word.encode() for word in called))) or parsed(data)


def parsed(text: str | bytes) -> ast.Module | None:
    """The syntax tree of a file; None when this Python cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.AST | None) -> str:
    """`torch.ops.aten` of that expression; "" when it is anything else than names with dots between."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last(node: ast.AST | None) -> str:
    """The last name of a dotted expression: `ops` of common_device_type.ops."""
    return dotted(node).rpartition(".")[2]


def outermost(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, those below `if`, `try` and `with` too, but not the bodies of functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from outermost(statement.body)
        if isinstance(statement, ast.If | ast.Try):
            yield from outermost(statement.orelse)
        if isinstance(statement, ast.Try):
            for handler in statement.handlers:
                yield from outermost(handler.body)
            yield from outermost(statement.finalbody)
