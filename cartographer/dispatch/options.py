# SPDX-License-Identifier: BSD-3-Clause
"""Reads the old way of registering, to 1.7: `RegisterOperators().op(schema, options().kernel<F>(key))` and the forms that it had
in between (aten/src/ATen/core/op_registration/op_registration.h, and kernel_functor.h beside it in 1.1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.dispatch.blocks import arguments, matching
from cartographer.dispatch.keys import named_today
from cartographer.dispatch.statements import (
    Kernel,
    Statement,
    Unreadable,
    function_name,
    key_of,
    read_kernel,
    schema_name,
    text_of,
)
from cartographer.expand.tokens import spelled, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.dispatch.blocks import Block, FileBlocks
    from cartographer.expand.tokens import Token

# `kernel`, `catchAllKernel`, `impl_unboxedOnlyKernel`, `impl_unboxedOnlyCatchAllKernel`: all releases' names of one thing.
_KERNEL = re.compile(r"(?:\w*K|k)ernel\Z")
_TYPES = {"Bool": "bool", "Int": "int", "Float": "float", "Number": "Scalar", "String": "str", "Tensor": "Tensor"}  # BoolType::get()


def chain_of_operators(block: Block, file: FileBlocks) -> Iterator[Statement | Unreadable]:
    """The operators and kernels of one chain of `.op(...)`, in order."""
    body = block.body
    for index, token in enumerate(body[:-1]):
        if token.text != "op" or not index or body[index - 1].text != "." or body[index + 1].text != "(":
            continue
        parts = arguments(body[index + 2 : matching(body, index + 1)])
        named = _named(parts, file)
        if named is None:
            yield Unreadable("the operator of .op(...) is no literal", token)
            continue
        text, naming = named
        found = list(_kernels(parts, naming))
        kernels = [k for k in found if not isinstance(k, Unreadable)]
        yield Statement("def", text, None, None, naming, function=next((k.symbol for _, k in kernels), None))
        yield from (k for k in found if isinstance(k, Unreadable))
        yield from (Statement("impl", schema_name(text), key, kernel, naming) for key, kernel in kernels)


def _named(parts: list[list[Token]], file: FileBlocks) -> tuple[str, Token] | None:
    """The schema or name of an operator: the first argument of `op`, or what `.schema(...)` of its options is given."""
    for part in parts:
        for at, open_at in _calls(part):
            if part[at].text == "schema":
                return _schema(part[open_at + 1 : matching(part, open_at)], file)
    return _schema(parts[0], file) if parts else None


def _schema(tokens: Sequence[Token], file: FileBlocks) -> tuple[str, Token] | None:
    for at, open_at in _calls(tokens):
        if tokens[at].text == "FunctionSchema":
            return _schema_of_values(arguments(tokens[open_at + 1 : matching(tokens, open_at)]), file)
    return text_of(tokens, file, {})


def _schema_of_values(parts: list[list[Token]], file: FileBlocks) -> tuple[str, Token] | None:
    """`FunctionSchema("ns::name", "overload", {Argument("x"), ...}, {...})`; its name alone where a type is not known."""
    texts = [text_of(part, file, {}) for part in parts[:2]]
    if len(texts) < 2 or texts[0] is None:
        return None
    name, token = texts[0]
    if texts[1] is not None and texts[1][0]:
        name = f"{name}.{texts[1][0]}"
    taken, returned = (_values(part) for part in (*parts[2:4], [], [])[:2])
    if len(parts) < 4 or taken is None or returned is None:
        return name, token
    returns = returned[0].split()[0] if len(returned) == 1 else f"({', '.join(returned)})"
    return f"{name}({', '.join(taken)}) -> {returns}", token


def _values(tokens: Sequence[Token]) -> list[str] | None:
    """The arguments in a list of `Argument("name", type)`; without a type it is a tensor. None for anything else."""
    found = []
    for index, token in enumerate(tokens[:-1]):
        if token.text != "Argument" or tokens[index + 1].text != "(":
            continue
        given = arguments(tokens[index + 2 : matching(tokens, index + 1)])
        typed = _type(given[1]) if len(given) == 2 else "Tensor" if len(given) == 1 else None
        if typed is None or [t.kind for t in given[0]] != ["string"]:
            return None
        found.append(f"{typed} {string_value(given[0][0])}")
    return found


def _type(tokens: Sequence[Token]) -> str | None:
    text = spelled(tokens).replace(" ", "")
    found = re.fullmatch(r"(?:\w+::)*(?:(\w+)Type::get|ListType::of(\w+)s)\(\)", text)
    if found is None:
        return None
    element = _TYPES.get(found.group(1) or found.group(2))
    return f"{element}[]" if element and found.group(2) else element


def _kernels(parts: list[list[Token]], naming: Token) -> Iterator[tuple[str | None, Kernel] | Unreadable]:
    """What an operator is given: (key, or None for a catch-all, and the kernel)."""
    found: list[tuple[str | None, Kernel] | Unreadable] = []
    common: str | None = None  # 1.1: `.op(schema, c10::kernel<F>(), c10::dispatchKey(CPUTensorId()))`
    for number, part in enumerate(parts):
        calls = list(_calls(part))
        options = False
        for at, open_at in calls:
            name = part[at]
            given = arguments(part[open_at + 1 : matching(part, open_at)])
            if name.text == "dispatchKey":
                common = _key(given[0]) if given else None
            elif _KERNEL.match(name.text):
                template = _template(part, at + 1, open_at)
                free = not any(part[n].text == "options" for n, _ in calls)
                found.append(_kernel(name, template, given, free=free))
            elif name.text != "options":
                continue
            options = True
        if number and not options:  # a function or a lambda: a catch-all
            symbol = function_name(part)
            found.append((None, read_kernel(part) if symbol is None and _wrapped(part) else Kernel(symbol)))
    for kernel in found:
        if isinstance(kernel, Unreadable):
            yield Unreadable(f"{kernel.reason}: {string_value(naming).partition('(')[0]}", kernel.token)
        else:
            yield kernel[0] or common, kernel[1]


def _kernel(name: Token, template: list[list[Token]], given: list[list[Token]], *, free: bool) -> tuple[str | None, Kernel] | Unreadable:
    """One `.kernel<...>(...)`. A function is the last of two template arguments, or behind its type the last argument; a
    functor is the only template argument, and what follows the key is for its constructor.
    """
    key = None
    if not free and "CatchAll" not in name.text and not name.text.startswith("catchAll"):
        key = _key(given[0]) if given else None
        if key is None:
            return Unreadable(f"the dispatch key of {name.text}({spelled(given[0])[:60] if given else ''}) cannot be told", name)
        given = given[1:]
    is_type = len(template) == 1 and any(t.text in ("(", "decltype") for t in template[0])
    if template and not (is_type and given):
        function = template[-1]
    elif given:
        function = given[0]
    else:
        function = []
    if not function:
        return key, Kernel(None)
    symbol = function_name(function)
    if symbol is None and _wrapped(function):
        made = read_kernel(function)
        return key, Kernel(made.symbol, None, made.fallthrough, made.boxed)
    alone = len(template) == 1 and not is_type
    return key, Kernel(symbol, boxed=alone and function[0].text == "&", functor=alone and function[0].text != "&")


def _wrapped(tokens: Sequence[Token]) -> bool:
    """Whether a function is written as a call that we know: a cast, or what makes a KernelFunction of it."""
    words = [t.text for t in tokens if t.kind == "name"]
    return "[" not in {t.text for t in tokens} and any(w.startswith(("make", "static_cast", "TORCH_FN")) for w in words[:4])


def _key(tokens: Sequence[Token]) -> str | None:
    """A key by its name of today: `DispatchKey::CPU`, `TensorTypeId::CPUTensorId` to 1.4, `CPUTensorId()` to 1.2."""
    if [t.text for t in tokens[-2:]] == ["(", ")"]:
        tokens = tokens[:-2]
    key = key_of(tokens)
    if key is None and len(tokens) and all(t.kind == "name" or t.text == "::" for t in tokens):
        words = [t.text for t in tokens if t.kind == "name"]
        key = words[-1] if "TensorTypeId" in words[:-1] or words[-1].endswith("TensorId") else None
    return None if key is None else named_today(key)


def _calls(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The calls that stand in no bracket: the index of each name and that of its parenthesis, behind template arguments."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "name":
            behind = _behind_template(tokens, at + 1)
            if behind < len(tokens) and tokens[behind].text == "(":
                yield at, behind
                at = behind
                continue
        at = matching(tokens, at) + 1 if token.text in ("(", "[", "{") else at + 1


def _behind_template(tokens: Sequence[Token], at: int) -> int:
    """The index behind `<...>` that begins at `at`; `at` itself where none does."""
    if at >= len(tokens) or tokens[at].text != "<":
        return at
    depth = 0
    while at < len(tokens):
        text = tokens[at].text
        if text in ("(", "[", "{"):
            at = matching(tokens, at)
        depth += (text == "<") - (text == ">") - 2 * (text == ">>")
        at += 1
        if depth <= 0:
            break
    return at


def _template(tokens: Sequence[Token], start: int, open_at: int) -> list[list[Token]]:
    """The template arguments between a name and its parenthesis."""
    inside = list(tokens[start + 1 : open_at])
    if not inside:
        return []
    end = inside.pop()
    if end.text == ">>":  # it closes the last argument's own list as well
        inside.append(end._replace(text=">"))
    return arguments(inside)
