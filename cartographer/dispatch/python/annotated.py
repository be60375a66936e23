# SPDX-License-Identifier: BSD-3-Clause
"""Infers the schema of a Python function from its annotations, as torch.library does (torch/_library/infer_schema.py)."""

from __future__ import annotations

import ast

_PLAIN = {
    "Tensor": "Tensor", "int": "SymInt", "SymInt": "SymInt", "float": "float", "bool": "bool", "str": "str", "Number": "Scalar",
    "number": "Scalar", "dtype": "ScalarType", "device": "Device", "_dtype": "ScalarType", "_device": "Device", "ScalarType": "ScalarType",
}  # fmt: skip
_LISTS = frozenset({"Sequence", "List", "list"})


def schema_of(node: ast.FunctionDef | ast.AsyncFunctionDef, mutated: frozenset[str] | None) -> str | None:
    """`(Tensor x, *, SymInt n=3) -> Tensor`; None when an annotation is missing or of an unknown type. `mutated`: the
    arguments that are written to, None for "unknown", which marks every tensor.
    """
    given = node.args
    if given.posonlyargs or given.vararg or given.kwarg:
        return None
    parts: list[str] = []
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    for argument, default in [*zip(given.args, defaults, strict=True), (None, None), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]:
        if argument is None:
            parts.extend(["*"] if given.kwonlyargs else [])
            continue
        typed = schema_type(argument.annotation)
        if typed is None:
            return None
        if typed.startswith("Tensor") and (mutated is None or argument.arg in mutated):
            typed = f"Tensor(a{len(parts) - ('*' in parts)}!)" + typed.removeprefix("Tensor")
        value = "" if default is None else _default(default)
        if value is None:
            return None
        parts.append(f"{typed} {argument.arg}{value}")
    returns = _returns(node.returns)
    return None if returns is None else f"({', '.join(parts)}) -> {returns}"


def _default(node: ast.expr) -> str | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return f'="{value}"' if isinstance(value, str) else f"={value}"


def schema_type(node: ast.expr | None) -> str | None:
    """The schema's spelling of a Python annotation."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return schema_type(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _PLAIN.get(name)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner) if name in _LISTS or name == "Optional":
            element = schema_type(inner)
            return None if element is None else element + ("?" if name == "Optional" else "[]")
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            element = schema_type(left)
            return None if element is None else f"{element}?"
    return None


def _returns(node: ast.expr | None) -> str | None:
    match node:
        case None:
            return None
        case ast.Constant(value=None):
            return "()"
        case ast.Subscript(value=ast.Name(id="Tuple" | "tuple") | ast.Attribute(attr="Tuple"), slice=ast.Tuple(elts=items)):
            parts = [schema_type(i) for i in items]
            return None if None in parts else f"({', '.join(p for p in parts if p)})"
    return schema_type(node)
