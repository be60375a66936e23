# SPDX-License-Identifier: BSD-3-Clause
"""Parses operator names and function schemas, and prints them again without loss.

The rules are those of torchgen/model.py (FunctionSchema, OperatorName) and of
torch/csrc/jit/frontend/function_schema_parser.cpp. Releases before 1.3 spell C++ types
(`IntList[2]`, `std::array<bool,3>`, `Generator*`) and may leave the returns out; both are kept as they are.
Normal form: one space after commas and around `->`, none around `=`, no `*` that nothing follows (0.4 to 1.0 have
six such rows, 1.1 to 1.6 one `->(`); the text as written is kept beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from cartographer.errors import DeclarationError


class SchemaError(DeclarationError):
    """Raised for a text that is not a function schema, with the part that cannot be parsed."""


class SchemaKind(Enum):
    """What a schema does to its arguments (torchgen/model.py, SchemaKind)."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"
    MUTABLE = "mutable"
    SCRATCH = "scratch"


# torchgen/model.py AUGMENTED_ASSIGNMENT_NAMES: `__iand__` is in place, `__invert__` would not be.
_AUGMENTED = frozenset(("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"))
_DUNDER = re.compile(r"__([^_]+)__")
_NAME = re.compile(r"(?:(?P<ns>[\w.]+(?:::[\w.]+)*)::)?(?P<base>\w+)(?:\.(?P<overload>[\w.]+))?")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# An alias set is one letter (or several, joined by |); other parentheses in a type belong to Dict(...), Future(...).
_ALIAS = re.compile(r"\(\s*((?:[a-z](?:\s*\|\s*[a-z])*|\*)\s*!?\s*(?:->\s*(?:\*|[a-z](?:\s*\|\s*[a-z])*))?)\s*\)")
_CONTAINERS = ("Dict", "Future", "Await", "RRef", "Tuple", "Optional", "Union", "List")
_SPACE = re.compile(r"\s+")
_STRUCTURE = re.compile(r"""->|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[()\[\]{}<>,]""")
_ELEMENT = re.compile(r"^(.*?)((?:\[\d*\]|\?)*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OperatorName:
    """An operator's name, `aten::add_.Tensor`: namespace (empty when not written), base with its underscore, overload."""

    base: str
    overload: str = ""
    namespace: str = ""

    @staticmethod
    def parse(text: str) -> OperatorName:
        """Parse an operator's name; raises SchemaError when `text` is not one."""
        found = _NAME.fullmatch(text.strip())
        if found is None:
            raise SchemaError(f"not an operator name: {text.strip()!r}")
        return OperatorName(found["base"], found["overload"] or "", found["ns"] or "")

    def __str__(self) -> str:
        name = f"{self.base}.{self.overload}" if self.overload else self.base
        return f"{self.namespace}::{name}" if self.namespace else name

    @property
    def full(self) -> str:
        """The name with its namespace, `aten` when none is written, as in native_functions.yaml."""
        return str(self) if self.namespace else f"aten::{self}"

    @property
    def local(self) -> str:
        """Base and overload, without the namespace: `add_.Tensor`."""
        return f"{self.base}.{self.overload}" if self.overload else self.base

    @property
    def unambiguous(self) -> str:
        """`add__Tensor`: how C++ spells base and overload (torchgen/model.py, unambiguous_name)."""
        return f"{self.base}_{self.overload}" if self.overload else self.base

    @property
    def dunder(self) -> bool:
        """Whether it is a double-underscore method, `__and__`."""
        return _DUNDER.fullmatch(self.base) is not None

    @property
    def inplace(self) -> bool:
        """Whether the name says that it works in place: `add_`, `__iand__`."""
        found = _DUNDER.fullmatch(self.base)
        if found is not None:
            return found[1][:1] == "i" and found[1][1:] in _AUGMENTED
        return self.base.endswith("_")

    @property
    def functional(self) -> str:
        """The base of the form that is not in place: `add` of `add_`, `__lshift__` of `__ilshift__`."""
        if not self.inplace:
            return self.base
        return f"__{self.root}__" if self.dunder else self.base.removesuffix("_")

    @property
    def root(self) -> str:
        """The base without in-place underscore, dunders and `_functional` (torchgen's BaseOperatorName.base)."""
        found = _DUNDER.fullmatch(self.base)
        if found is not None:
            return found[1][1:] if self.inplace else found[1]
        return self.base.removesuffix("_").removesuffix("_functional")


@dataclass(frozen=True, slots=True)
class AliasSet:
    """An alias annotation such as `a! -> *`: the alias sets before and after the call, and whether the argument is written to."""

    before: tuple[str, ...]
    write: bool = False
    after: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> AliasSet:
        """Parse an alias annotation; `text` is what is between the parentheses."""
        before, _, after = text.replace(" ", "").partition("->")
        sets = before.rstrip("!")
        return AliasSet(tuple(sets.split("|")), before.endswith("!"), tuple(after.split("|")) if after else ())

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"{text} -> {'|'.join(self.after)}" if self.after else text


@dataclass(frozen=True, slots=True)
class _Typed:
    """What arguments and returns share: a type, with alias sets at offsets into its text."""

    type: str
    name: str
    aliases: tuple[tuple[int, AliasSet], ...] = ()

    @property
    def annotation(self) -> AliasSet | None:
        """The alias set of the element, as in `Tensor(a!)[]`."""
        return self.aliases[0][1] if self.aliases else None

    @property
    def is_write(self) -> bool:
        """Whether the call writes to it."""
        return any(alias.write for _, alias in self.aliases)

    @property
    def element(self) -> str:
        """The innermost type: `Tensor` of `Tensor?[]`."""
        found = _ELEMENT.match(self.type)
        return found[1] if found else self.type

    @property
    def is_list(self) -> bool:
        """Whether it is a list, optional or not, sized or not."""
        return self.type.endswith(("]", "]?"))

    @property
    def size(self) -> int | None:
        """The size hint, 2 of `int[2]`."""
        found = re.search(r"\[(\d+)\]\??$", self.type)
        return int(found[1]) if found else None

    @property
    def nullable(self) -> bool:
        """Whether it, or an element of it, may be None (torchgen's is_nullable)."""
        return "?" in self.type

    @property
    def type_text(self) -> str:
        """The type with its alias sets, as written in a schema."""
        text = self.type
        for offset, alias in reversed(self.aliases):
            text = f"{text[:offset]}({alias}){text[offset:]}"
        return text


@dataclass(frozen=True, slots=True)
class Argument(_Typed):
    """One argument: `Scalar alpha=1`. `default` is the text after `=`, None when there is none."""

    default: str | None = None
    kwarg_only: bool = False

    def __str__(self) -> str:
        return f"{self.type_text} {self.name}" + ("" if self.default is None else f"={self.default}")

    @property
    def is_out(self) -> bool:
        """Whether results are written into it: it is keyword-only and mutable (torchgen, Note [is_out_fn])."""
        return self.kwarg_only and self.is_write


@dataclass(frozen=True, slots=True)
class Return(_Typed):
    """One return value of a schema; `name` is empty when the value has none."""

    def __str__(self) -> str:
        return f"{self.type_text} {self.name}" if self.name else self.type_text


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """A function schema, `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`. `text` is the schema as written."""

    name: OperatorName
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    vararg: bool = False  # (..., ...)
    varret: bool = False  # -> ...
    has_returns: bool = True  # False: no arrow at all, as in rows of 0.4 and old derivatives.yaml
    text: str = field(default="", compare=False, repr=False)

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        """Parse a function schema; raises SchemaError, with the part that cannot be parsed."""
        head, opening, rest = text.partition("(")
        if not opening:
            raise SchemaError(f"not a function schema, there is no '(': {text.strip()!r}")
        parts, end = _split(rest, text)
        positional = True
        vararg = False
        arguments = []
        for part in parts:
            if part == "*":
                positional = False
            elif part == "...":
                vararg = True
            else:
                arguments.append(_argument(part, not positional))
        tail = rest[end:].strip()
        if tail and not tail.startswith("->"):
            raise SchemaError(f"'->' expected before {tail[:40]!r} in {text.strip()!r}")
        returns = _returns(tail.removeprefix("->").strip(), text) if tail else []
        return FunctionSchema(
            OperatorName.parse(head), tuple(arguments), tuple(r for r in returns if r is not None),
            vararg=vararg, varret=None in returns, has_returns=bool(tail), text=text,
        )

    def __str__(self) -> str:
        arguments = [str(a) for a in self.arguments]
        first = next((i for i, a in enumerate(self.arguments) if a.kwarg_only), None)
        if first is not None:
            arguments.insert(first, "*")
        if self.vararg:
            arguments.append("...")
        call = f"{self.name}({', '.join(arguments)})"
        if not self.has_returns:
            return call
        returns = [str(r) for r in self.returns] + (["..."] if self.varret else [])
        single = len(returns) == 1 and not returns[0].startswith("(")
        return f"{call} -> {returns[0] if single else '(' + ', '.join(returns) + ')'}"

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The arguments before `*`, which may be given by position."""
        return tuple(a for a in self.arguments if not a.kwarg_only)

    @property
    def kwarg_only(self) -> tuple[Argument, ...]:
        """The keyword-only arguments (after `*`), without those that the operator writes to."""
        return tuple(a for a in self.arguments if a.kwarg_only and not a.is_write)

    @property
    def out(self) -> tuple[Argument, ...]:
        """The out arguments, into which the operator writes its results."""
        return tuple(a for a in self.arguments if a.is_out)

    @property
    def self_argument(self) -> Argument | None:
        """The positional argument called `self`."""
        return next((a for a in self.arguments if a.name == "self" and not a.kwarg_only), None)

    @property
    def kind(self) -> SchemaKind:
        """The kind of the schema: functional, in place, out, mutable or scratch (torchgen/model.py, FunctionSchema.kind)."""
        if self.name.inplace:
            return SchemaKind.INPLACE
        if out := self.out:
            scratch = any(a.name.startswith("_scratch_") for a in out)
            return SchemaKind.SCRATCH if scratch else SchemaKind.OUT
        seen_self = self.self_argument is None
        for argument in self.positional:
            if seen_self and argument.is_write:
                return SchemaKind.MUTABLE
            seen_self = seen_self or argument.name == "self"
        return SchemaKind.FUNCTIONAL


def _split(rest: str, whole: str) -> tuple[list[str], int]:
    """Parts of a parenthesised list, split at its commas, and the offset behind its closing parenthesis."""
    parts: list[str] = []
    depth = start = 0
    for token in _STRUCTURE.finditer(rest):
        mark = token[0]
        if mark in "([{<":
            depth += 1
        elif mark == ")" and depth == 0:
            if (part := rest[start:token.start()].strip()) or parts:
                parts.append(part)
            return parts, token.end()
        elif mark in ")]}>":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(rest[start:token.start()].strip())
            start = token.end()
    raise SchemaError(f"no ')' closes the list in {whole.strip()!r}")


@lru_cache(maxsize=1 << 16)
def _typed(text: str) -> tuple[str, tuple[tuple[int, AliasSet], ...]]:
    """The type without its alias sets, and where they stood."""
    aliases: list[tuple[int, AliasSet]] = []
    text = _SPACE.sub(" ", text.strip())
    position = 0
    while found := _ALIAS.search(text, position):
        if text[: found.start()].rpartition(" ")[2].rpartition("(")[2].endswith(_CONTAINERS):
            position = found.end()
            continue
        aliases.append((found.start(), AliasSet.parse(found[1])))
        text = text[: found.start()] + text[found.end() :]
        position = found.start()
    if not _is_whole(text):
        raise SchemaError(f"not a type: {text!r}")
    return text, tuple(aliases)


def _is_whole(text: str) -> bool:
    """Whether the brackets of a type match, and neither an arrow nor a default stands in it."""
    depth = 0
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if depth < 0:
            return False
    return depth == 0 and "=" not in text


@lru_cache(maxsize=1 << 16)
def _argument(text: str, kwarg_only: bool) -> Argument:
    declared, equals, default = text.partition("=")
    typed, _, name = declared.strip().rpartition(" ")
    if not typed or _IDENTIFIER.fullmatch(name) is None:
        raise SchemaError(f"not an argument: {text!r}")
    type_, aliases = _typed(typed)
    return Argument(type_, name, aliases, default.strip() if equals else None, kwarg_only)


@lru_cache(maxsize=1 << 12)
def _return(text: str) -> Return:
    typed, _, name = text.rpartition(" ")
    if not typed or _IDENTIFIER.fullmatch(name) is None or typed.count("(") != typed.count(")"):
        typed, name = text, ""
    if not typed:
        raise SchemaError("a return without a type")
    type_, aliases = _typed(typed)
    return Return(type_, name, aliases)


def _returns(text: str, whole: str) -> list[Return | None]:
    """The returns after the arrow; None stands for `...`."""
    if not text:
        raise SchemaError(f"nothing follows '->' in {whole.strip()!r}")
    parts = [text]
    if text.startswith("("):
        inner, end = _split(text[1:], whole)
        if end == len(text) - 1:
            parts = inner
    return [None if part == "..." else _return(part) for part in parts]


def made_up_overload(schema: FunctionSchema) -> str:
    """An overload's name for a schema whose name others have too, made of the types of its arguments: `Tensor_Scalar_out`."""
    types = [a.type for a in schema.arguments if not a.is_out] + ["out"] * bool(schema.out)
    return "_".join(filter(None, (schema.name.overload, *(re.sub(r"\W+", "", t) for t in types))))
