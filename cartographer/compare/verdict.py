# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether a caller of the old schema can go on with the new one, by PyTorch's own rules.

The rules are those of FunctionSchema::isBackwardCompatibleWith and Argument::isBackwardCompatibleWith
(aten/src/ATen/core/function_schema.cpp), with subtyping as in aten/src/ATen/core/type.cpp (isSubtypeOfExt) on the types
that torch/csrc/jit/frontend/schema_type_parser.cpp gives: ScalarType, Layout, MemoryFormat and SymInt are ints there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.model.schema import Argument, FunctionSchema, Return

_AS_INT = {"ScalarType", "Layout", "MemoryFormat", "SymInt", "DeviceIndex", "ConstQuantizerPtr"}
_AS_STR = {"Dimname"}
_NUMBERS = {"int", "float", "complex"}  # NumberType; bool is none


def why_not(new: FunctionSchema, old: FunctionSchema) -> str | None:
    """The reason why calls written for `old` can fail on `new`; None when they cannot."""
    if (new.vararg, new.varret) != (old.vararg, old.varret):
        return "takes or returns another number of values"
    if len(new.returns) != len(old.returns):
        return f"returns {len(new.returns)} values instead of {len(old.returns)}"
    if len(new.arguments) < len(old.arguments):
        gone = {a.name for a in old.arguments} - {a.name for a in new.arguments}
        return f"argument {', '.join(sorted(gone)) or 'count'} is gone"
    for was, now in zip(old.returns, new.returns, strict=True):
        if (reason := _why_value_not(was, now)) is not None:
            return f"return value: {reason}"
    return _why_arguments_not(new, old)


def _why_arguments_not(new: FunctionSchema, old: FunctionSchema) -> str | None:
    outs_old, outs_new = _first_out(old), _first_out(new)
    for now, was in zip(new.arguments, old.arguments[:outs_old], strict=False):
        if (reason := _why_value_not(now, was) or _why_default_not(now, was)) is not None:
            return reason
    for added in new.arguments[outs_old:outs_new]:
        if added.default is None:
            return f"the new argument {added.name} has no default"
    for index, was in enumerate(old.arguments[outs_old:], outs_new):
        if index >= len(new.arguments):
            return f"the output {was.name} is gone"
        if (reason := _why_value_not(new.arguments[index], was)) is not None:
            return reason
    return None


def _first_out(schema: FunctionSchema) -> int:
    return next((i for i, a in enumerate(schema.arguments) if a.is_out), len(schema.arguments))


def _why_value_not(wider: Argument | Return, narrower: Argument | Return) -> str | None:
    """Why a value of the one place does not fit the other: name, alias set, size or type differ."""
    if wider.name != narrower.name:
        return f"{narrower.name or 'the unnamed one'} is called {wider.name or 'nothing'}"
    if wider.size != narrower.size:
        return f"{wider.name or 'it'} has another list size"
    if wider.aliases != narrower.aliases and _aliases(wider) != _aliases(narrower):
        return f"{wider.name or 'it'} aliases otherwise"
    if getattr(wider, "kwarg_only", False) and not getattr(narrower, "kwarg_only", False):
        return f"{wider.name} can no longer be given by position"
    if not is_subtype(narrower.type, wider.type):
        return f"{narrower.name or 'a value'}: {narrower.type} is no {wider.type}"
    return None


def _aliases(value: Argument | Return) -> tuple[str, ...]:
    return tuple(str(alias) for _, alias in value.aliases)


def _why_default_not(now: Argument, was: Argument) -> str | None:
    if was.default is None or (now.default is not None and same_default(now, was)):
        return None
    return f"the default of {was.name} is {now.default if now.default is not None else 'gone'}, it was {was.default}"


def same_default(now: Argument, was: Argument) -> bool:
    """Whether two defaults mean the same value: `1` and `1.0` of a float, `0` and `[0, 0]` of an int[2]."""
    if now.default is None or was.default is None:
        return now.default is was.default
    return now.default == was.default or _value(now) == _value(was)


def _value(argument: Argument) -> tuple[str, ...]:
    text = (argument.default or "").replace(" ", "")
    element = _plain(argument.element)
    if argument.size and not text.startswith("[") and text != "None":
        text = "[" + ",".join([text] * argument.size) + "]"
    if text.startswith("["):
        return ("list", *(_scalar(element, part) for part in text.strip("[]").split(",") if part))
    return (_scalar(element, text),)


def _scalar(element: str, text: str) -> str:
    if element == "float":
        try:
            return repr(float(text))
        except ValueError:
            return text
    return text.strip("\"'")


@lru_cache(maxsize=1 << 12)
def is_subtype(narrow: str, wide: str) -> bool:
    """Whether each value of type `narrow` is one of type `wide` (aten/src/ATen/core/type.cpp, isSubtypeOfExt)."""
    narrow, wide = _normal(narrow), _normal(wide)
    if wide in ("Any", narrow):
        return True
    if wide.endswith("?"):
        return is_subtype(narrow.removesuffix("?"), wide[:-1])
    return wide == "Scalar" and narrow in _NUMBERS


@lru_cache(maxsize=1 << 12)
def _normal(text: str) -> str:
    """The type with list sizes dropped and aliases of int and str read as these."""
    if text.endswith("?"):
        return _normal(text[:-1]) + "?"
    if text.endswith("]"):
        return _normal(text[: text.rindex("[")]) + "[]"
    return _plain(text)


def _plain(text: str) -> str:
    return "int" if text in _AS_INT else "str" if text in _AS_STR else text
