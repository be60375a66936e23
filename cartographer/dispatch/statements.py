# SPDX-License-Identifier: BSD-3-Clause
"""Reads the statements of a registration block: m.def, m.impl, m.fallback, and what their arguments mean (torch/library.h)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.dispatch.blocks import arguments, matching
from cartographer.expand.tokens import spelled, string_value

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from cartographer.dispatch.blocks import Block, FileBlocks
    from cartographer.expand.tokens import Token

VERBS = frozenset({"def", "impl", "fallback", "impl_UNBOXED", "def_", "impl_"})
# Known members of Library that register no operator and no kernel.
OTHER_MEMBERS = frozenset({"class_", "set_python_module", "impl_abstract_pystub", "reset", "define"})
_NAME_ONLY = re.compile(r"(?:[\w:]+::)?\w+(?:\.\w+)?\Z")


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the function argument of a registration says about the kernel."""

    symbol: str | None
    key: str | None = None  # of a dispatch(key, f) wrapper
    fallthrough: bool = False
    boxed: bool = False
    functor: bool = False  # the symbol may be a class, whose operator() is the kernel


@dataclass(frozen=True, slots=True)
class Statement:
    """One call on a Library: it defines an operator, or registers a kernel or a fallback."""

    verb: str  # def | impl | fallback
    text: str  # schema or name as given; "" for a fallback
    key: str | None
    kernel: Kernel | None
    token: Token  # the one that names the operator
    tags: tuple[str, ...] = ()
    function: str | None = None  # of a definition whose kernel is registered by a statement of its own


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A statement whose operator could not be told, with the reason."""

    reason: str
    token: Token


def statements(block: Block, file: FileBlocks) -> Iterator[Statement | Unreadable]:
    """All statements of a block, in order; macros in its body must have been expanded."""
    yield from _walk(block.body, block.variable, file, {}, 0)


def _walk(
    body: Sequence[Token], variable: str, file: FileBlocks, values: dict[str, list[Token]], depth: int
) -> Iterator[Statement | Unreadable]:
    index = 0
    while index < len(body):
        token = body[index]
        if token.kind != "name":
            index += 1
            continue
        following = body[index + 1].text if index + 1 < len(body) else ""
        if token.text == variable and following in (".", "->"):
            index = yield from _members(body, index + 1, file, values)
        elif token.text == "for" and following == "(" and (loop := _range_loop(body, index, file)) is not None:
            name, items, inner, index = loop
            for item in items:
                yield from _walk(inner, variable, file, {**values, name: item}, depth)
        elif token.text in file.functions and following == "(" and depth < 8:
            function = file.functions[token.text]
            close = matching(body, index + 1)
            given = arguments(body[index + 2 : close])
            bound = {n: _bound(v, values) for n, v in zip(function.parameters, given, strict=False)}
            yield from _walk(function.body, function.variable, file, bound, depth + 1)
            index = close + 1
        else:
            index += 1


def _bound(argument: list[Token], values: dict[str, list[Token]]) -> list[Token]:
    return [v for t in argument for v in (values.get(t.text, [t]) if t.kind == "name" else [t])]


def _range_loop(
    body: Sequence[Token], index: int, file: FileBlocks
) -> tuple[str, list[list[Token]], Sequence[Token], int] | None:
    """`for (auto x : {...}) statement`: the variable, the items, the statement's tokens and where to go on."""
    close = matching(body, index + 1)
    inside = body[index + 2 : close]
    colon = next((i for i, t in enumerate(inside) if t.text == ":"), None)
    if colon is None or colon == 0:
        return None
    source: Sequence[Token] = inside[colon + 1 :]
    if len(source) == 1 and source[0].text in file.constants:
        source = file.constants[source[0].text]
    brace = next((i for i, t in enumerate(source) if t.text == "{"), None)
    if brace is None:
        return None
    items = arguments(source[brace + 1 : matching(source, brace)])
    start = close + 1
    if start < len(body) and body[start].text == "{":
        end = matching(body, start)
        return inside[colon - 1].text, items, body[start + 1 : end], end + 1
    end = start
    while end < len(body) and body[end].text != ";":
        end = matching(body, end) + 1 if body[end].text in "([{" else end + 1
    return inside[colon - 1].text, items, body[start:end], end + 1


def _members(
    body: Sequence[Token], index: int, file: FileBlocks, values: dict[str, list[Token]]
) -> Generator[Statement | Unreadable, None, int]:
    """`.def(...).impl(...)`: read the chain; returns the index behind it."""
    while index + 1 < len(body) and body[index].text in (".", "->"):
        member = body[index + 1]
        at = index + 2
        if at < len(body) and body[at].text == "<":
            while at < len(body) and body[at].text not in ("(", ";"):
                at += 1
        if at >= len(body) or body[at].text != "(":
            return at
        close = matching(body, at)
        if member.text not in VERBS:
            if member.text not in OTHER_MEMBERS:
                yield Unreadable(f"Library has no member {member.text} that we know", member)
            return close + 1
        yield _statement(member, body[at + 1 : close], file, values)
        index = close + 1
    return index


def _statement(member: Token, inside: Sequence[Token], file: FileBlocks, values: dict[str, list[Token]]) -> Statement | Unreadable:
    parts = arguments(inside)
    verb = member.text.removesuffix("_UNBOXED").removesuffix("_")
    if verb == "fallback":
        fallback = read_kernel(parts[0] if parts else [])
        return Statement(verb, "", fallback.key, fallback, member)
    named = text_of(parts[0], file, values) if parts else None
    if named is None:
        return Unreadable(f"the operator of {member.text}({spelled(inside)[:80]}) is no literal", member)
    text, token = named
    rest = parts[1:]
    key = None
    if verb == "impl" and len(rest) > 1 and (key := key_of(rest[0])) is not None:
        rest = rest[1:]
    tags: tuple[str, ...] = ()
    if rest and rest[-1] and rest[-1][0].text == "{":
        tags = tuple(t.text for t in rest[-1] if t.kind == "name" and t.text not in ("at", "Tag", "c10", "torch"))
        rest = rest[:-1]
    kernel_tokens = rest[0] if rest else []
    for more in rest[1:]:  # a comma of a template argument list that we took for one of the call
        kernel_tokens = [*kernel_tokens, *more]
    if verb == "def" and kernel_tokens and "Tag" in {t.text for t in kernel_tokens} and "(" not in {t.text for t in kernel_tokens}:
        kernel_tokens = []
    kernel = read_kernel(kernel_tokens) if kernel_tokens else None
    return Statement(verb, text, key or (kernel.key if kernel else None), kernel, token, tags)


def text_of(
    tokens: Sequence[Token], file: FileBlocks, values: dict[str, list[Token]]
) -> tuple[str, Token] | None:
    """The string that an argument evaluates to, and the token in it that names the operator."""
    strings: list[Token] = []
    for token in tokens:
        if token.kind == "string":
            strings.append(token)
        elif token.kind == "name" and token.text in values:
            strings.extend(t for t in values[token.text] if t.kind == "string")
        elif token.kind == "name" and token.text in file.constants:
            strings.extend(t for t in file.constants[token.text] if t.kind == "string")
        elif token.text == "[":  # a lambda or a subscript: nothing that we can evaluate
            return None
    if not strings:
        return None
    text = "".join(string_value(t) for t in strings)
    naming = next((t for t in strings if not string_value(t).rstrip().endswith("::")), strings[0])
    return text, naming


def key_of(tokens: Sequence[Token]) -> str | None:
    """The dispatch key that an argument names: `c10::DispatchKey::CPU`, `DispatchKey::CPU`, `kCPU`, `c10::DeviceType::CUDA`; None for anything else."""
    words = [t.text for t in tokens if t.kind == "name"]
    if not words or any(t.text in "([{&<" for t in tokens if t.kind == "punctuator"):
        return None
    if "DispatchKey" in words[:-1] or "DeviceType" in words[:-1] or "DispatchKey" in words[:1]:
        return words[-1]
    device = re.match(r"k([A-Z]\w*)\Z", words[-1])
    return device.group(1) if device and len(words) <= 2 else None


_WRAPPERS = frozenset({
    "TORCH_FN", "TORCH_FN_TYPE", "static_cast", "std", "move", "TORCH_BOX", "makeFromUnboxedFunction",
    "makeFromUnboxedRuntimeFunction", "makeUnboxedOnly", "makeFromBoxedFunction", "CppFunction", "torch", "c10",
    "KernelFunction", "makeFromUnboxedFunctor", "makeFromUnboxedLambda",
})  # fmt: skip


def read_kernel(tokens: Sequence[Token]) -> Kernel:
    """Read the function argument of a registration."""
    words = [t.text for t in tokens if t.kind == "name"]
    if "makeFallthrough" in words or "FallthroughKernel" in words or "fallthrough_kernel" in words:
        return Kernel(None, _dispatch_key(tokens), fallthrough=True, boxed=True)
    boxed = any(w.startswith("makeFromBoxed") or w in ("makeNamedNotSupported", "TORCH_BOX", "makeFromBoxedFunctor") for w in words)
    if words[:1] == ["dispatch"] or "dispatch" in words[:2]:
        at = next((i for i, t in enumerate(tokens) if t.text == "("), None)
        if at is not None:
            parts = arguments(tokens[at + 1 : matching(tokens, at)])
            if len(parts) > 1 and (key := key_of(parts[0])) is not None:
                inner = read_kernel([t for part in parts[1:] for t in part])
                return Kernel(inner.symbol, key, inner.fallthrough, inner.boxed)
    return Kernel(_symbol(tokens), None, fallthrough=False, boxed=boxed)


def _dispatch_key(tokens: Sequence[Token]) -> str | None:
    for index, token in enumerate(tokens):
        if token.text == "dispatch" and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            parts = arguments(tokens[index + 2 : matching(tokens, index + 1)])
            return key_of(parts[0]) if parts else None
    return None


def _symbol(tokens: Sequence[Token]) -> str | None:
    """The function that is meant: behind wrappers, casts and address signs; "lambda" for an anonymous one."""
    if not tokens:
        return None
    candidates = [name for name in _qualified_names(tokens) if name.rpartition("::")[2] not in _WRAPPERS]
    if any(t.text == "[" and (not i or tokens[i - 1].kind != "name") for i, t in enumerate(tokens)):
        first = next(i for i, t in enumerate(tokens) if t.text == "[")
        if not any(t.text in ("&", "TORCH_FN") for t in tokens[:first]):
            return "lambda"
    referred = [n for n in _referred_names(tokens) if "_ops::" not in n]
    inner = referred[1:] if len(referred) > 1 and referred[0].rpartition("::")[2] in ("apply", "call") else []
    named = [*inner, *referred, *_boxed_templates(tokens), *candidates[-1:]]
    return named[0] if named else None


def _boxed_templates(tokens: Sequence[Token]) -> Iterator[str]:
    """The f of `makeFromBoxedFunction<f<...>>()`, where no `&` stands before it."""
    for index, token in enumerate(tokens[:-2]):
        if token.text.startswith("makeFromBoxed") and tokens[index + 1].text == "<":
            at = index + 2 + (tokens[index + 2].text == "::")
            if at < len(tokens) and tokens[at].kind == "name":
                yield _name_at(tokens, at)[0]


def _qualified_names(tokens: Sequence[Token]) -> Iterator[str]:
    index = 0
    while index < len(tokens):
        if tokens[index].kind == "name" and tokens[index].text not in ("decltype", "const", "void"):
            name, index = _name_at(tokens, index)
            yield name
        else:
            index += 1


def _referred_names(tokens: Sequence[Token]) -> Iterator[str]:
    """Names behind `&` outside decltype, and arguments of TORCH_FN."""
    for index, token in enumerate(tokens[:-1]):
        following = tokens[index + 1]
        start = index + 1 + (following.text == "::")
        if token.text == "&" and (index < 2 or tokens[index - 2].text != "decltype"):
            if start < len(tokens) and tokens[start].kind == "name":
                yield _name_at(tokens, start)[0]
        elif token.text in ("TORCH_FN", "TORCH_BOX") and following.text == "(":
            at = index + 2
            while at < len(tokens) and tokens[at].kind != "name":
                at += 1
            if at < len(tokens):
                yield _name_at(tokens, at)[0]


def function_name(tokens: Sequence[Token]) -> str | None:
    """The name in an argument that is a function's name and nothing else: `&f`, `a::f<int>`; "lambda" for an anonymous one."""
    at = 0
    while at < len(tokens) and tokens[at].text in ("&", "::"):
        at += 1
    if at == len(tokens) or tokens[at].kind != "name":
        return "lambda" if tokens and tokens[0].text == "[" else None
    name, end = _name_at(tokens, at)
    return name if end == len(tokens) else None


def _name_at(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """`a::b<T>::c` from its first name on, template arguments left out, and the index behind it."""
    parts = [tokens[index].text]
    index += 1
    while index < len(tokens):
        if tokens[index].text == "<":
            depth = 0
            while index < len(tokens):
                text = tokens[index].text
                depth += (text == "<") - (text == ">") - 2 * (text == ">>")
                index += 1
                if depth <= 0:
                    break
        elif tokens[index].text == "::" and index + 1 < len(tokens) and tokens[index + 1].kind == "name":
            parts.append(tokens[index + 1].text)
            index += 2
        else:
            break
    return "::".join(parts), index


def schema_name(text: str) -> str:
    """The operator's name in a schema, or a bare name itself: `quantized::add.out`."""
    return text.partition("(")[0].strip()


def is_name(text: str) -> bool:
    """Whether an `m.def` has only a name, so that PyTorch infers the schema."""
    return _NAME_ONLY.match(text.strip()) is not None
