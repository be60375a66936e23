# SPDX-License-Identifier: BSD-3-Clause
"""Prints a schema as a running torch does: types folded, defaults evaluated.

The rules are those of operator<< in aten/src/ATen/core/function_schema.h and function_schema.cpp, of the parser's table
of types (torch/csrc/jit/frontend/schema_type_parser.cpp) and of how IValues print (aten/src/ATen/core/ivalue.cpp).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.model.schema import AliasSet, Argument, FunctionSchema, Return

# Types that the parser folds into another one.
_FOLDED = {"Dimname": "str", "DeviceIndex": "int", "ConstQuantizerPtr": "int"}
# Words that parseSingleConstant turns into numbers: the enumerators of ScalarType, Layout, Reduction, MemoryFormat.
CONSTANTS = {"float": "6", "complex": "9", "long": "4", "strided": "0", "Mean": "1", "contiguous_format": "0"}
_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b",
            "\f": "\\f", "\v": "\\v"}
_WHOLE = 1e10  # doubles below it print as "1." when they are whole


def printed(schema: FunctionSchema) -> str:
    """The schema as torch prints it, with its namespace."""
    name = schema.name if schema.name.namespace else replace(schema.name, namespace="aten")
    return str(replace(
        schema,
        name=name,
        arguments=tuple(_argument(a) for a in schema.arguments),
        returns=tuple(_return(r) for r in schema.returns),
        has_returns=True,
    ))


def _argument(argument: Argument) -> Argument:
    default = None if argument.default is None else _default(argument, argument.default)
    kind, aliases = _type(argument), _aliases(argument)
    if (kind, default, aliases) == (argument.type, argument.default, argument.aliases):
        return argument
    return replace(argument, type=kind, default=default, aliases=aliases)


def _return(returned: Return) -> Return:
    kind, aliases = _type(returned), _aliases(returned)
    return returned if (kind, aliases) == (returned.type, returned.aliases) else replace(returned, type=kind, aliases=aliases)


def _type(typed: Argument | Return) -> str:
    element = typed.element
    folded = _FOLDED.get(element)
    return typed.type if folded is None else folded + typed.type[len(element) :]


def _aliases(typed: Argument | Return) -> tuple[tuple[int, AliasSet], ...]:
    """An alias set whose sets after the call equal those before prints only these."""
    return tuple(
        (offset, replace(alias, after=()) if set(alias.after) == set(alias.before) else alias)
        for offset, alias in typed.aliases
    )


def _default(argument: Argument, text: str) -> str:
    if text == "None":
        return text
    element = _FOLDED.get(argument.element, argument.element)
    if argument.type.endswith("]"):
        return _list(text, element, argument.size)
    return _constant(text, element, optional=argument.type.endswith("?"))


def _list(text: str, element: str, size: int | None) -> str:
    """`[1, 1]` for an `int[2]` prints as `1`, as native_functions.yaml writes it; for other elements in full."""
    if text.startswith("["):
        items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
    else:
        items = [text] * (size or 1)
    values = [_constant(item, element, optional=False) for item in items]
    if element == "int" and len(values) > 1 and len(set(values)) == 1:
        return values[0]
    return f"[{', '.join(values)}]"


def _constant(text: str, element: str, *, optional: bool) -> str:
    if text[:1] in {'"', "'"}:
        return _quoted(text)
    if text in CONSTANTS:
        return CONSTANTS[text]
    if (element == "float" and not optional) or "." in text or ("e" in text and text[-1].isdigit()):
        return _double(text)
    return text


def _double(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    if abs(value) < _WHOLE and value == int(value):
        return f"{int(value)}."
    return f"{value:.17g}"


def _quoted(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return '"' + "".join(_ESCAPES.get(c, c) for c in str(value)) + '"'
