# SPDX-License-Identifier: BSD-3-Clause
"""Scans a Python file into facts: definitions with their decorators, imports, calls that register, module-level statements."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.model.fact import Definition, FileFacts, Include, PythonAssignment, PythonCall
from cartographer.scan import parsing
from cartographer.scan.abridge import abridged, calling

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# Calls worth keeping wherever they stand: their last name speaks of making or registering an operator.
_NAME = re.compile(
    r"\w*register\w*|impl(_\w+)?|define|fallthrough|fallback|Library|custom_op|triton_op|py_impl|\w*_make_prim"
    r"|py_functionalize_impl|_\w+_impl|infer_schema|opaque_type",
)
_COMPOUND = frozenset((
    "if_statement", "for_statement", "while_statement", "with_statement", "try_statement", "else_clause",
    "elif_clause", "except_clause", "finally_clause", "block", "match_statement", "case_clause",
))
_SPACE = re.compile(r"\s+")
_VALUE_CUT = 20_000
_ARGUMENT_CUT = 20_000


@dataclass(slots=True)
class _Scope:
    """A function or class by its bytes."""

    start: int
    end: int
    name: str
    qualname: str
    kind: str
    line: int
    outer: _Scope | None


@dataclass(slots=True)
class _Around:
    """What stands around a statement at module level."""

    loops: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    scope: str = ""


@dataclass(slots=True)
class _Reader:
    """Collects the facts of one file."""

    data: bytes
    scopes: list[_Scope] = field(default_factory=list)  # in the order of the text
    starts: list[int] = field(default_factory=list)  # where each of them begins
    calls: dict[tuple[int, int], PythonCall] = field(default_factory=dict)
    assignments: list[PythonAssignment] = field(default_factory=list)

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def folded(self, node: Node | None) -> str:
        text = self.text(node)
        return text if text.isidentifier() else _SPACE.sub(" ", text)

    def function_at(self, byte: int) -> str:
        """The qualified name of the innermost function around a byte."""
        index = bisect_right(self.starts, byte) - 1
        scope = self.scopes[index] if index >= 0 else None
        while scope is not None:  # what holds the byte is the last scope that begins before it, or around that
            if scope.end > byte and scope.kind != "class":
                return scope.qualname
            scope = scope.outer
        return ""


def scan_python(data: bytes) -> FileFacts:
    """The facts of one Python file."""
    text, tree = _parsed(data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    if tree is None:
        return FileFacts("Python", lines, 1, len(data), notes=("too hard to parse",))
    root = tree.root_node
    found = parsing.statements(tree, text)
    reader = _Reader(text)
    definitions = _definitions(reader, found.get("function", []), found.get("class", []))
    includes = [_import(reader, n) for n in found.get("import", [])]
    includes.extend([_from(reader, n)] for n in found.get("from", []))
    _module_statements(reader, root)
    _registering_calls(reader, root)
    errors, size = parsing.health(tree)
    return FileFacts(
        language="Python",
        lines=lines,
        error_nodes=errors,
        error_bytes=size,
        definitions=tuple(definitions),
        includes=tuple(sorted((i for part in includes for i in part), key=lambda i: i.line)),
        python_calls=tuple(c for _, c in sorted(reader.calls.items())),
        python_assignments=tuple(reader.assignments),
    )


def _parsed(data: bytes) -> tuple[bytes, Tree | None]:
    """The text that is read and its tree: abridged, or whole where an abridged one makes no sense."""
    text = abridged(data)
    tree = parsing.parse(text, "python")
    if text is not data and (tree is None or tree.root_node.has_error):
        return data, parsing.parse(data, "python")
    return text, tree


def _definitions(reader: _Reader, functions: list[Node], classes: list[Node]) -> list[Definition]:
    """Functions and classes in the order of the file, with their qualified names."""
    nodes = sorted([*((n.start_byte, -n.end_byte, n, False) for n in functions),
                    *((n.start_byte, -n.end_byte, n, True) for n in classes)], key=lambda x: x[:2])
    out: list[Definition] = []
    stack: list[_Scope] = []
    for start, negative_end, node, is_class in nodes:
        while stack and stack[-1].end <= start:
            stack.pop()
        outer = stack[-1] if stack else None
        name_node = node.child_by_field_name("name")
        name = reader.text(name_node)
        kind = "class" if is_class else "method" if outer is not None and outer.kind == "class" else "function"
        line = name_node.start_point[0] + 1 if name_node is not None else node.start_point[0] + 1
        scope = _Scope(start, -negative_end, name, f"{outer.qualname}.{name}" if outer else name, kind, line, outer)
        stack.append(scope)
        reader.scopes.append(scope)
        reader.starts.append(start)
        out.append(_definition(reader, node, scope))
    return out


def _definition(reader: _Reader, node: Node, scope: _Scope) -> Definition:
    parent = node.parent
    decorators: list[str] = []
    first = node.start_point[0] + 1
    if parent is not None and parent.type == "decorated_definition":
        first = parent.start_point[0] + 1
        for child in parent.children:
            if child.type == "decorator":
                decorators.append(reader.folded(child)[1:].strip())
                _decorator(reader, child, scope)
    if scope.kind == "class":
        listed = node.child_by_field_name("superclasses")
        bases = tuple(reader.folded(c) for c in listed.named_children) if listed is not None else ()
        return Definition(scope.name, scope.qualname, "class", scope.line, first, node.end_point[0] + 1,
                          bases=bases, decorators=tuple(decorators))
    listed = node.child_by_field_name("parameters")
    parameters = tuple(
        reader.folded(c)[:400] for c in listed.named_children if c.type != "comment"
    ) if listed is not None else ()
    return Definition(
        scope.name, scope.qualname, scope.kind, scope.line, first, node.end_point[0] + 1, parameters=parameters,
        returns=reader.folded(node.child_by_field_name("return_type")), decorators=tuple(decorators),
    )


def _decorator(reader: _Reader, node: Node, scope: _Scope) -> None:
    inner = next((c for c in node.named_children if c.type != "comment"), None)
    if inner is None:
        return
    if inner.type == "call":
        _call(reader, inner, decorated=scope)
    else:
        reader.calls[inner.start_byte, -inner.end_byte] = PythonCall(
            reader.folded(inner), (), (), inner.start_point[0] + 1, inner.end_point[0] + 1,
            reader.function_at(node.start_byte), scope.qualname, scope.line, bare=True,
        )


def _call(
    reader: _Reader, node: Node, *, decorated: _Scope | None = None, around: _Around | None = None, target: str = "",
) -> None:
    """Record one call."""
    key = (node.start_byte, -node.end_byte)
    if key in reader.calls:
        return
    callee = node.child_by_field_name("function")
    listed = node.child_by_field_name("arguments")
    arguments: list[str] = []
    keywords: list[tuple[str, str]] = []
    if listed is not None:
        for child in listed.named_children if listed.type == "argument_list" else [listed]:
            if child.type == "keyword_argument":
                value = reader.text(child.child_by_field_name("value"))[:_ARGUMENT_CUT]
                keywords.append((reader.text(child.child_by_field_name("name")), value))
            elif child.type != "comment":
                arguments.append(reader.text(child)[:_ARGUMENT_CUT])
    around = around or _Around()
    reader.calls[key] = PythonCall(
        reader.folded(callee), tuple(arguments), tuple(keywords), node.start_point[0] + 1, node.end_point[0] + 1,
        reader.function_at(node.start_byte), decorated.qualname if decorated else "", decorated.line if decorated else 0,
        around.loops, around.conditions, around.within, target,
    )


def _import(reader: _Reader, node: Node) -> list[Include]:
    return [
        Include(reader.text(c.child_by_field_name("name") or c), node.start_point[0] + 1)
        for c in node.named_children if c.type in ("dotted_name", "aliased_import")
    ]


def _from(reader: _Reader, node: Node) -> Include:
    module = reader.text(node.child_by_field_name("module_name"))
    names = [reader.folded(n) for n in node.children_by_field_name("name")]
    if any(c.type == "wildcard_import" for c in node.named_children):
        names.append("*")
    return Include(module, node.start_point[0] + 1, tuple(names))


def _module_statements(reader: _Reader, root: Node) -> None:
    """Calls and assignments outside of functions, inside if, for, with and class bodies too."""
    work: list[tuple[Node, _Around]] = [(root, _Around())]
    while work:
        node, around = work.pop()
        for child in node.named_children:
            kind = child.type
            if kind == "expression_statement":
                _expression(reader, child, around)
            elif kind in _COMPOUND or kind == "ERROR":
                work.append((child, _inside(reader, child, around)))
            elif kind == "class_definition" or (kind == "decorated_definition" and child.named_children[-1].type == "class_definition"):
                owner = child if kind == "class_definition" else child.named_children[-1]
                body = owner.child_by_field_name("body")
                if body is not None:
                    name = reader.text(owner.child_by_field_name("name"))
                    scope = f"{around.scope}.{name}" if around.scope else name
                    work.append((body, _Around(around.loops, around.conditions, around.within, scope)))


def _inside(reader: _Reader, node: Node, around: _Around) -> _Around:
    if node.type == "for_statement":
        head = f"{reader.folded(node.child_by_field_name('left'))} in {reader.folded(node.child_by_field_name('right'))}"
        return _Around((*around.loops, head[:_VALUE_CUT]), around.conditions, around.within, around.scope)
    if node.type in ("if_statement", "elif_clause", "while_statement"):
        condition = reader.folded(node.child_by_field_name("condition"))
        return _Around(around.loops, (*around.conditions, condition), around.within, around.scope)
    if node.type == "with_statement":
        items = tuple(reader.folded(c) for c in node.named_children if c.type == "with_clause")
        return _Around(around.loops, around.conditions, (*around.within, *items), around.scope)
    return around


def _expression(reader: _Reader, statement: Node, around: _Around) -> None:
    for node in statement.named_children:
        if node.type == "call":
            _call(reader, node, around=around)
            inner = node.child_by_field_name("function")
            while inner is not None and inner.type == "call":  # decorator(...)(function)
                _call(reader, inner, around=around)
                inner = inner.child_by_field_name("function")
        elif node.type in ("assignment", "augmented_assignment"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None:
                continue
            target = reader.folded(left)
            reader.assignments.append(
                PythonAssignment(target, reader.text(right)[:_VALUE_CUT], node.start_point[0] + 1, around.scope),
            )
            if right.type == "call":
                _call(reader, right, around=around, target=target)


def _registering_calls(reader: _Reader, root: Node) -> None:
    """Calls inside functions whose names speak of registering."""
    for at in calling(reader.data):
        node: Node | None = root.descendant_for_byte_range(at, at + 1)
        if node is None or node.type != "identifier" or _NAME.fullmatch(reader.text(node)) is None:
            continue
        steps = 0
        while node is not None and node.type in ("identifier", "attribute") and steps < 4:
            node = node.parent
            steps += 1
        if node is not None and node.type == "call":
            _call(reader, node)
