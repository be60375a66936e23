# SPDX-License-Identifier: BSD-3-Clause
"""Grammars, parsers and queries: the only home of tree_sitter, whose Python interface changed in 0.25 and 0.26."""

from __future__ import annotations

import time
import warnings
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import tree_sitter

from cartographer.errors import ScanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

_SECONDS = 2.0  # CPU time for one file that looks hostile; PyTorch's biggest takes 0.4


@cache
def _language(name: str) -> tree_sitter.Language:
    if name == "python":
        import tree_sitter_python as grammar
    else:
        import tree_sitter_cpp as grammar  # type: ignore[no-redef]
    return tree_sitter.Language(grammar.language())


@cache
def _parser(name: str) -> tree_sitter.Parser:
    try:
        return tree_sitter.Parser(_language(name))
    except (ValueError, TypeError) as error:  # another version of the interface between the two
        raise ScanError(
            f"the package tree-sitter-{name} does not fit the tree-sitter that is installed: {error}",
            hint=f"bring both up to date: pip install -U tree-sitter tree-sitter-{name}",
        ) from error


@cache
def _cursor(language: str, query: str) -> Any:
    text = (files("cartographer.scan") / "queries" / f"{query}.scm").read_text("utf-8")
    return tree_sitter.QueryCursor(tree_sitter.Query(_language(language), text))


def parse(data: bytes, language: str) -> Tree | None:
    """The syntax tree of a text; `language` is "cpp" or "python". None when it takes unreasonably long."""
    parser = _parser(language)
    if not _suspicious(data):
        return parser.parse(data)
    try:
        if hasattr(tree_sitter.Parser, "timeout_micros"):  # 0.25, which crashes when a callback stops it
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                setattr(parser, "timeout_micros", int(_SECONDS * 1e6))  # noqa: B010 - 0.26 has no such attribute
            return parser.parse(data)
        end = time.process_time() + _SECONDS
        return parser.parse(
            lambda at, _: data[at : at + 65536], progress_callback=lambda *_: time.process_time() > end,
        )
    except ValueError:
        parser.reset()
        return None


def _suspicious(data: bytes) -> bool:
    """Whether a text is one that error recovery could take very long for: huge lines, hundreds of open brackets."""
    if len(data) <= 20_000:
        return False
    opened = sum(data.count(c) for c in (b"(", b"[", b"{"))
    closed = sum(data.count(c) for c in (b")", b"]", b"}"))
    return opened - closed > 200 or data.count(b"\n") * 400 < len(data)


def captures(tree: Tree, language: str, query: str) -> dict[str, list[Node]]:
    """All captures of the query `queries/<query>.scm` in a tree, by capture name."""
    found: dict[str, list[Node]] = _cursor(language, query).captures(tree.root_node)
    return found


# Of what `queries/python.scm` looks for: its name there, the word with which it begins, its kind of node.
_FIRST_WORDS = (
    ("function", "def", "function_definition"), ("class", "class", "class_definition"),
    ("import", "import", "import_statement"), ("from", "from", "import_from_statement"),
)


def statements(tree: Tree, data: bytes) -> dict[str, list[Node]]:
    """The functions, classes and imports of a Python text, each in the order of the text. They are looked up by their first
    words: a query visits every node. Where a tree has errors a word may be missing or stray, and the query is asked.
    """
    root = tree.root_node
    if root.has_error:
        return {name: sorted(nodes, key=lambda n: n.start_byte) for name, nodes in captures(tree, "python", "python").items()}
    return {name: list(_beginning(root, data, word, kind)) for name, word, kind in _FIRST_WORDS}


def _beginning(root: Node, data: bytes, word: str, kind: str) -> Iterator[Node]:
    """The nodes of a kind that begin with a word, or with another word before it, as `async def`."""
    sought, size = word.encode(), len(word)
    at = data.find(sought)
    while at >= 0:
        if not data[at + size : at + size + 1].isalnum():
            token = root.descendant_for_byte_range(at, at + size)
            if token is not None and token.type == word and (node := token.parent) is not None and node.type == kind:
                yield node
        at = data.find(sought, at + size)


def health(tree: Tree) -> tuple[int, int]:
    """The number of ERROR and missing nodes in a tree, and of the bytes that the ERROR nodes cover."""
    root = tree.root_node
    if not root.has_error:
        return 0, 0
    count = size = 0
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        descend = False
        if node.is_missing:
            count += 1
        elif node.is_error:
            count += 1
            size += node.end_byte - node.start_byte
        else:
            descend = node.has_error
        if descend and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return count, size


def definitions_in(code: str, start: int, end: int) -> list[tuple[int, int]]:
    """The outermost functions and classes that the C++ grammar finds in a piece of code, as offsets into the code."""
    tree = parse(code[start:end].encode("latin-1", "replace"), "cpp")
    if tree is None:
        return []
    found = captures(tree, "cpp", "definitions")
    ranges = sorted((n.start_byte + start, n.end_byte + start) for nodes in found.values() for n in nodes)
    kept: list[tuple[int, int]] = []
    for first, last in ranges:
        if not kept or first >= kept[-1][1]:
            kept.append((first, last))
    return kept
