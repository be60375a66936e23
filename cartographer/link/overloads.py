# SPDX-License-Identifier: BSD-3-Clause
"""Chooses, among several functions of one name, the one that a call means: the one whose parameters have the arguments' types, as far as the
text tells these. What is not told decides nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.arguments import split_template
from cartographer.link.composites import argument_class, compatible
from cartographer.link.conditions import value
from cartographer.link.index import CLASSES, bare
from cartographer.link.signatures import ANY, parameter_type, type_text
from cartographer.link.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.link.bodies import Bodies
    from cartographer.link.index import Defined
    from cartographer.link.sites import Spot

# How well a parameter takes an argument: an overload for just its type comes before a template, that before a conversion.
_EXACT, _SAME, _GENERIC, _CONVERTED, _UNTOLD, _NOT = 4, 3, 2, 1, 0, -6
_LONGEST = 110  # the scanner cuts longer arguments
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|static|constexpr|inline|struct|class|typename|thread_local|C10_RESTRICT|__restrict__|__restrict)\b|&")
_NAMESPACES = re.compile(r"(?:::)?\b(?:at|c10|std|torch|native|vec|detail|caffe2)::")
_TYPE = re.compile(r"([A-Za-z_][\w:]*)(<.*>)?(\**)", re.DOTALL)
_CAST = re.compile(r"(?:static|reinterpret|const)_cast<(.*)>\s*\(.*\)", re.DOTALL)
_MOVED = re.compile(r"std::(?:move|forward<[^()]*>)\(\s*(\w+)\s*\)")
_MADE = re.compile(r"((?:::)?(?:\w+::)*[A-Z]\w*(?:<[^()]*>)?)\s*[({].*[)}]", re.DOTALL)
_DATA = re.compile(r"(?:\.|->)(?:mutable_|const_)?data_ptr<([^()]*)>\(\)$")
_WIDER = re.compile(r"(const\s+)?(double|(c10|std)::complex<)\b")
_TYPE_PARAMETER = re.compile(r"(?:typename|class)\s+(\w+)")
_LISTS = {"TensorList": "Tensor", "ITensorListRef": "Tensor", "IntArrayRef": "int64_t", "SymIntArrayRef": "SymInt", "DimnameList": "Dimname"}
_SEQUENCES = frozenset(("ArrayRef", "vector", "SmallVector", "IListRef", "List", "array", "initializer_list"))
_NUMBERS = frozenset(("int", "float", "bool"))
_OF_LANGUAGE = frozenset((
    "int", "long", "short", "char", "bool", "float", "double", "unsigned", "size_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
    "int64_t", "uint64_t", "string", "tuple", "pair", "optional", "function", "complex", "Half", "BFloat16", *_SEQUENCES,
))  # fmt: skip


class Type(NamedTuple):
    """A C++ type without qualifiers and namespaces: `const c10::complex<float>*` is (complex, (float,), 1)."""

    name: str
    inner: tuple[str, ...] = ()
    pointers: int = 0
    kind: str = ANY  # the class of types that schemas tell


@lru_cache(maxsize=16384)
def typed(text: str) -> Type | None:
    """Parse the text of a C++ type; None for a type that cannot be compared."""
    plain = _NAMESPACES.sub("", _QUALIFIERS.sub(" ", text)).replace(" ", "")
    match = _TYPE.fullmatch(plain)
    if match is None:
        return None
    kind = parameter_type(text)
    if match[1] in _LISTS:
        return Type("ArrayRef", (_LISTS[match[1]],), len(match[3]), kind)
    return Type(match[1], tuple(split_template(match[2][1:-1])) if match[2] else (), len(match[3]), ANY if kind == "pointer" else kind)


@lru_cache(maxsize=16384)
def _type_of(parameter: str) -> Type | None:
    """The type of a parameter; `float* a[]` is a pointer to pointers."""
    return typed(type_text(parameter) + ("*" if parameter.endswith("[]") else ""))


@lru_cache(maxsize=4096)
def _type_parameters(template: str) -> frozenset[str]:
    """The names of a template's types."""
    return frozenset(_TYPE_PARAMETER.findall(template))


class Overloads:
    """Chooses among functions of one name that take the same number of arguments."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies

    def meant(self, targets: Sequence[Defined], arguments: Sequence[str], spot: Spot) -> tuple[Defined, ...]:
        """The functions whose parameters take the arguments best; all where the types do not tell them apart. Template arguments, where
        the call has any, are for templates alone.
        """
        if spot.call.template and spot.call.form == "call":
            targets = [d for d in targets if d.name != bare(spot.call.name) or self._is_template(d)] or targets
        lists = {d.fact.parameters for d in targets}
        if len(lists) < 2 or not arguments or any("..." in p or p.isupper() for parameters in lists for p in parameters):
            return tuple(targets)
        if any("enable_if" in d.fact.template or "enable_if" in d.fact.returns for d in targets):
            return tuple(targets)  # conditions on the template's own arguments choose
        types = [self.type_of(a, spot.inside) for a in arguments]
        rows = [self._scores(types, d) for d in targets]
        told = [column for column in zip(*rows, strict=True) if len(set(column)) > 1]
        scores = [sum(row) for row in zip(*told, strict=True)] if told else [_NOT]
        best = max(scores)
        return tuple(targets) if best < 0 else tuple(d for d, score in zip(targets, scores, strict=True) if score == best)

    def _is_template(self, defined: Defined) -> bool:
        """Whether a function is a template, or a specialisation of one: `template <> float dot_impl(…)`."""
        return bool(defined.fact.template or defined.specialised) or "".join(self._bodies.lines(defined.path, defined.fact.start, defined.fact.start)).lstrip().startswith("template")

    def _scores(self, types: Sequence[Type | None], defined: Defined) -> list[int]:
        """How well each parameter takes its argument."""
        generic, parameters = _type_parameters(defined.fact.template), defined.fact.parameters
        wanted = (*map(_type_of, parameters), *(None,) * len(types))
        return [_UNTOLD if t is None else self._fits(t, w, generic) for t, w in zip(types, wanted, strict=False)]

    # --- what an argument is ----------------------------------------------------------------------------------------

    def type_of(self, argument: str, inside: Defined) -> Type | None:
        """The type of an argument in the body of a function; None when the text does not tell it."""
        types = self._bodies.of(inside).types
        if argument not in types:
            types[argument] = self._type_of(argument.strip(), inside)
        return types[argument]

    def _type_of(self, text: str, inside: Defined) -> Type | None:
        if not text or len(text) > _LONGEST:
            return None
        if match := _CAST.fullmatch(text):
            return typed(match[1])
        if match := _MOVED.fullmatch(text):
            text = match[1]
        if _IDENTIFIER.fullmatch(text) and text not in ("true", "false"):
            return typed(self._declared(text, inside))
        if (match := _MADE.fullmatch(text)) and self._is_class(bare(match[1])):
            return typed(match[1])
        if match := _DATA.search(text):
            return typed(f"{match[1]}*")
        kind = argument_class(text, {})
        return Type("", kind=kind) if kind != ANY else None

    def _declared(self, name: str, inside: Defined) -> str:
        """The type, as written, of a parameter, a local variable, or a variable of the file."""
        parameter = self._bodies.of(inside).parameters.get(name)
        if parameter is not None:
            return type_text(parameter)
        local = self._local(inside)
        if name in local.results:
            return self._bodies.result(local.results[name])
        return local.declared(name) or self._bodies.of_file(name, inside.path)

    def _local(self, inside: Defined) -> Variables:
        """The local variables of a function; where a macro made it, those that the macro's body declares."""
        if inside.use is None:
            return self._bodies.variables(inside)
        use = inside.use
        macros = self._bodies.index.files[use.macro_path].macros if use.macro_path else ()
        return Variables(next((m.body for m in macros if m.name == use.macro and m.line == use.macro_line), ""), use.line)

    # --- whether a parameter takes it -------------------------------------------------------------------------------

    def _fits(self, given: Type, wanted: Type | None, generic: frozenset[str]) -> int:
        if wanted is None:
            return _UNTOLD
        if given.name and not self._is_known(given):
            any_type = wanted.name in generic and not wanted.pointers
            return _UNTOLD if any_type or wanted.pointers == given.pointers else _NOT
        if wanted.name in generic:
            return _GENERIC if wanted.pointers <= given.pointers else _NOT
        if given.kind == "list":
            return _CONVERTED if wanted.name in _SEQUENCES or wanted.kind in ("Tensor", "Scalar") else _UNTOLD
        if wanted.name == "optional" and given.name != "optional" and wanted.inner:
            inner = self._fits(given, typed(wanted.inner[0]), generic)
            return max(inner - 1, _UNTOLD) if inner >= 0 or given.kind == "none" else inner
        if given.name == wanted.name or (given.name in _SEQUENCES and wanted.name in _SEQUENCES):
            return self._inside(given, wanted, generic) if given.pointers == wanted.pointers else _NOT
        if not self._is_known(wanted):
            return _UNTOLD
        return self._converted(given, wanted)

    def _inside(self, given: Type, wanted: Type, generic: frozenset[str]) -> int:
        """Of two instances of one template: by their arguments."""
        for one, other in zip(map(typed, given.inner), map(typed, wanted.inner), strict=False):
            if one is None or other is None or other.name in generic or not (self._is_known(one) and self._is_known(other)):
                continue
            if (one.name, one.pointers) != (other.name, other.pointers) and not one.kind == other.kind != ANY:
                return _NOT
        return _EXACT if given.name == wanted.name else _SAME

    @staticmethod
    def _converted(given: Type, wanted: Type) -> int:
        if given.pointers != wanted.pointers and ANY in (given.kind, wanted.kind):
            return _NOT
        if given.kind in _NUMBERS and wanted.kind in _NUMBERS:
            literal = given == Type("", kind="int") and wanted.name != "int"  # `1` becomes an int64_t no sooner than a float
            return _SAME if given.kind == wanted.kind and not literal else _CONVERTED
        if ANY in (given.kind, wanted.kind):
            return _NOT if given.name else _UNTOLD
        return (_NOT, _UNTOLD, _CONVERTED, _CONVERTED, _SAME)[compatible(given.kind, wanted.kind) + 1]

    def _is_known(self, type_: Type) -> bool:
        return type_.kind != ANY or type_.name in _OF_LANGUAGE or self._is_class(type_.name.rpartition("::")[2])

    def _is_class(self, name: str) -> bool:
        return any(d.fact.kind in CLASSES for d in self._bodies.index.named(name))


_ENABLE_IF = re.compile(r"\benable_if(?:_t)?<")
_TRAIT = re.compile(r"is_(reduced_floating_point|floating_point|complex|integral)(?:_v)?<.*>(?:::value)?", re.DOTALL)
_EQUAL = re.compile(r"is_same(?:_v)?<(.*)>(?:::value)?", re.DOTALL)
_ELEMENT = re.compile(r"float|double|Half|BFloat16|bool|u?int\d*(?:_t)?|complex<.*>")
_OPMATH = re.compile(r"opmath_t|opmath_type<(\w+)>")


def by_type(defined: Defined) -> int:
    """Sort specialisations and overloads for one type each so that the one for float, which most people run, comes first."""
    special = defined.fact.specialization
    if special:
        return special.split(",")[0].strip() != "float"
    return 2 * not_for_float(defined) + any(_WIDER.match(p) for p in defined.fact.parameters)


def not_for_float(defined: Defined) -> bool:
    """Whether an overload of a template does not exist for float: its result, or a parameter of the template, exists for other types only,
    as `std::enable_if_t<std::is_same_v<T, at::Half> || …, void>`.
    """
    if "enable_if" not in defined.fact.returns and "enable_if" not in defined.fact.template:
        return False
    return _for_float(defined.fact.returns) is False or _for_float(defined.fact.template) is False


@lru_cache(maxsize=4096)
def _for_float(text: str) -> bool | None:
    """Whether the conditions in a type hold for float; None when one cannot be told."""
    told = [value(_first_within(text, match.end()), _of_float) for match in _ENABLE_IF.finditer(text)]
    return False if False in told else True if told and all(told) else None


def _first_within(text: str, begin: int) -> str:
    """The first of the template arguments that begin at a place in a text."""
    depth = 0
    for end in range(begin, len(text)):
        if text[end] in "<(":
            depth += 1
        elif text[end] in ">)":
            depth -= 1
        if depth < 0 or (depth == 0 and text[end] == ","):
            return text[begin:end]
    return text[begin:]


def _of_float(term: str) -> bool | None:
    """Whether a trait holds for float, whose opmath type is itself (aten/src/ATen/OpMathType.h)."""
    plain = _NAMESPACES.sub("", term).strip()
    if (match := _TRAIT.fullmatch(plain)) is not None:
        return match[1] == "floating_point"
    names = [part.strip() for part in split_template(match[1])] if (match := _EQUAL.fullmatch(plain)) is not None else []
    if len(names) != 2:
        return None
    for one, other in (names, reversed(names)):
        if one.isidentifier() and not _ELEMENT.fullmatch(one):
            if _ELEMENT.fullmatch(other):
                return other == "float"
            if (math := _OPMATH.fullmatch(other)) is not None and math[1] in (None, one):
                return True
    return None
