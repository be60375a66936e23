# SPDX-License-Identifier: BSD-3-Clause
"""Finds values that are known when a function is entered: template arguments of a registration, as in
`TORCH_FN(QLinearInt8<true>::run)` (there `ReluFused`), and what a call passes for parameters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from cartographer.link.arguments import constructed, parameter_name, split_template
from cartographer.link.composed import FIELD, composed, is_told, unnamed
from cartographer.link.conditions import value
from cartographer.link.device import METAL_REQUESTS
from cartographer.link.index import CLASSES, bare
from cartographer.link.signatures import type_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.link.bodies import Bodies, Body
    from cartographer.link.index import Defined
    from cartographer.link.overloads import Overloads
    from cartographer.model.fact import Call

Bound = tuple[tuple[str, str], ...]  # a template's parameters with their values
_COMMENT = re.compile(r"/\*.*?\*/")
_COMPARES = re.compile(r"\*?(\w+)\s*([!=])=\s*(\"[^\"]*\"|[\w:]+)")
_LABEL = re.compile(r"case (?:\w+::)*(\w+)::(\w+)")
_ENUMERATOR = re.compile(r"(?:\w+::)*(\w+)::([A-Z]\w*)")
_CONSTANT = re.compile(r"[A-Z]\w+[a-z]\w*|[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_NAMES_CLASS = re.compile(r"(?:^|,)\s*[A-Z]")
_OF_ALIAS = re.compile(r"<([^<>]*)>$")
_CASE, _CLASS = "case ", "class "  # of the sides of a choice; of the parameters of a template that are classes
_HAS_VALUE, _DEFINED = ".has_value()", ".defined()"
_TERM = re.compile(r"[A-Za-z_]\w*(?:\.(?:has_value|defined)\(\))?(?![\w(.:<]|->)")
_CHOOSES = re.compile(r"(?<![\w.>])([A-Za-z_]\w*(?:\.has_value\(\))?)\s*\?")
_MAY_BE_UNDEFINED = re.compile(r"(?:at::)?Tensor\b(?! const)")  # a tensor by its value, or to be written to
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'")
_NO_TENSOR = re.compile(r"(?:at::)?Tensor(?:\(\)|\{\})|\{\}")
_DECIDING = re.compile(r"\b(?:bool|int|int\w*_t|size_t|string|string_view|char)\b|optional|(?:^|const |::)(?!Tensor|Scalar\b|Generator|Stream)[A-Z]\w* \w+$")
_HANDED_ON = re.compile(r"(?:const\s+)?bool\b|(?:const )?(?:\w+::)*[A-Z]\w* \w+$")
_PLAIN = re.compile(r"true|false|\d+|\"[^\"]*\"|(?:\w+::)+[A-Z]\w*")
_NOTHING = re.compile(r"(?:(?:std|c10)::)?nullopt|\{\}")
_IS_SET = re.compile(r"\s*=(?!=)")  # after a name
_IN_WORD = re.compile(r"\w")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def bound_by(lines: Sequence[str], name: str, template: str) -> Bound:
    """The values of a template's parameters, where one of the lines names the template with arguments: `name<true>`."""
    match = re.search(rf"\b{re.escape(name)}\s*<([^<>;]*)>", _COMMENT.sub("", " ".join(lines)))
    if match is None or not template:
        return ()
    return tuple(zip(template_names(template), (a.strip() for a in match[1].split(",")), strict=False))


def left(conditions: Sequence[str], bound: Bound) -> tuple[str, ...] | None:
    """The conditions that these values leave undecided; None when they make one of them false."""
    values = dict(bound)
    found = [value(condition, lambda term: _holds(term.strip(), values)) for condition in conditions]
    return None if False in found else tuple(c for c, holds in zip(conditions, found, strict=True) if holds is None)


def _holds(term: str, values: dict[str, str]) -> bool | None:
    if term in values:
        return _TRUTH.get(values[term])
    if term.startswith(_CASE) and "::" not in term:
        return _is_class(term.removeprefix(_CASE), values)
    if (label := _LABEL.fullmatch(term)) is not None:
        chosen = next((m[2] for text in values.values() if (m := _ENUMERATOR.fullmatch(text)) is not None and m[1] == label[1]), None)
        return None if chosen is None else chosen == label[2]
    match = _COMPARES.fullmatch(term)
    if match is None or match[1] not in values or not (_PLAIN.fullmatch(match[3]) or _both_constants(values[match[1]], match[3])):
        return None
    return (_last(values[match[1]]) == _last(match[3])) == (match[2] == "=")


def _is_class(name: str, values: dict[str, str]) -> bool | None:
    """Whether a class among those that a template may be filled with, one's name in all the others', is the one that fills it."""
    filled = [cls for of, cls in values.items() if of.startswith(_CLASS) and (cls in name or name in cls)]
    return name in filled if filled and name else None


def _both_constants(one: str, other: str) -> bool:
    """Whether two texts are enumerators of C or Objective-C, which need no name of their enumeration: `MPSGraphResizeNearest`, `ADDBMM_OP_TYPE`."""
    return _CONSTANT.fullmatch(_last(one)) is not None and _CONSTANT.fullmatch(_last(other)) is not None


def _last(text: str) -> str:
    """An enumerator without its enumeration, which may be written or not."""
    return text if text.startswith('"') else text.rpartition("::")[2]


class Binder:
    """Works out the values that calls pass for the parameters of functions, for those parameters that conditions depend on."""

    def __init__(self, bodies: Bodies, overloads: Overloads) -> None:
        self._bodies = bodies
        self._overloads = overloads
        self._aliases: dict[str, dict[str, str]] = {}  # the template arguments that they stand for, by file

    def of(self, call: Call, inside: Defined, target: Defined, outer: Bound = ()) -> Bound:
        """The values that a call in `inside` gives to parameters of `target` and of its templates, for those parameters that conditions in it
        ask for; `outer` are the values that are known in `inside`.
        """
        asked, classes = self._asked_of(target), tuple(self._classes(call, inside, target))
        if not asked:
            return classes
        given = dict((*self._of_templates(call, inside, target), *self._of_parameters(call, inside, target, asked)))
        known = dict(outer)
        values = {name: known.get(text, text) for name, text in given.items()}
        found = [(name, text) for name, text in sorted(values.items()) if name in asked and _PLAIN.fullmatch(text)]
        held = [h for pair in found if pair[1].startswith('"') for h in self._bodies.variables(target).by_string.get(pair, {}).items()]
        denied = {name for name, text in found if text == "false" and name.endswith(")")}  # only these: what is given may be undefined itself
        of_tensors = self._bodies.variables(target).of_tensors.items() if denied else ()
        return (*classes, *found, *held, *((term, "false") for term, question in of_tensors if question in denied))

    def _classes(self, call: Call, inside: Defined, target: Defined) -> Iterator[tuple[str, str]]:
        """The classes that a call gives for parameters of a template, where these are the types of parameters of the function:
        `GRUCell<CellParams>{}(input, hx, CellParams{…})`.
        """
        template = call.template or self._of_alias(call, inside)
        if not template or "<" in template or _NAMES_CLASS.search(template) is None:
            return
        types = {bare(type_text(p).removeprefix("const ").rstrip("& ")) for p in target.fact.parameters}
        names = template_names(self._class_template(target) if target.name == "operator()" else target.fact.template)
        for name, text in zip(names, split_template(template), strict=False):
            if name in types and text[:1].isupper():
                yield _CLASS + name, text

    def _of_alias(self, call: Call, inside: Defined) -> str:
        """The template arguments of a class that the file names otherwise: `using cell_type = GRUCell<QuantizedCellParams>;`."""
        known = self._aliases.get(inside.path)
        if known is None:
            found = ((d.name, _OF_ALIAS.search(d.returns)) for d in self._bodies.index.files[inside.path].definitions if d.kind == "alias")
            known = self._aliases[inside.path] = {name: match[1] for name, match in found if match is not None}
        return known.get(call.name, "") if known else ""

    def _asked_of(self, target: Defined) -> frozenset[str]:
        """The terms of conditions in a function that its parameters, or those of its templates, decide; and what it hands on."""
        body = self._bodies.of(target)
        if body.asked is None:
            deciding = {name for name, written in body.parameters.items() if _DECIDING.search(written)}
            names = {*deciding, *template_names(target.fact.template), *template_names(self._class_template(target))}
            terms = (*self._terms(body, names, target), *self._strings(target, body), *self._of_shaders(target, body, names)) if names else ()
            body.asked = frozenset(t for t in (*terms, *self._of_tensors(body, target)) if not self.changes(_subject(t), target))
        return body.asked

    def _terms(self, body: Body, names: set[str], target: Defined) -> Iterator[str]:
        for condition in {c for spot in body.spots for c in spot.conditions}:
            yield from (t for t in _terms_of(condition) if not t.endswith(_DEFINED) and t.removesuffix(_HAS_VALUE) in names)
            if (label := _LABEL.match(condition)) is not None:
                yield from (name for name in names if re.search(rf"\b{label[1]}\s+\w+$", body.parameters.get(name, "")))
        of_template = template_names(target.fact.template)
        yield from {t for spot in body.spots if spot.call.template for t in split_template(spot.call.template)}.intersection(of_template)
        made = (spot.call for spot in body.spots if spot.call.form == "construct" and not spot.call.arguments)  # and called at once
        for argument in {*(a for spot in body.spots for a in spot.call.arguments), *(a for call in made for a in self._bodies.called_with(call, target))}:
            if argument in names and _HANDED_ON.match(body.parameters.get(argument, "")):
                yield argument
            elif "?" in argument:  # what is handed on is chosen
                yield from _terms_of(argument.partition("?")[0]) & names

    def _of_tensors(self, body: Body, target: Defined) -> Iterator[str]:
        """Whether tensors among the parameters are defined, as far as conditions ask for it, themselves or through variables."""
        may_be = {name for name, written in body.parameters.items() if "Tensor" in written}
        if not may_be:
            return
        asked = _terms_in(body)
        through = self._bodies.variables(target).of_tensors if asked else {}
        yield from (t for t in (*asked, *(through[t] for t in asked if t in through)) if t.endswith(")") and _subject(t) in may_be)
        handed_on = {name for name in may_be if _MAY_BE_UNDEFINED.match(body.parameters[name])}
        yield from (f"{a}{_DEFINED}" for spot in body.spots for a in spot.call.arguments if a in handed_on)

    def _strings(self, target: Defined, body: Body) -> Iterator[str]:
        """The parameters by whose text variables are set that conditions ask for."""
        sides = self._bodies.variables(target).by_string if any("string" in written for written in body.parameters.values()) else {}
        asked = _terms_in(body) if sides else set()
        yield from (name for (name, _), held in sides.items() if name in body.parameters and not asked.isdisjoint(held))

    def _of_shaders(self, target: Defined, body: Body, names: set[str]) -> Iterator[str]:
        """In code for Metal, the strings that are part of a kernel's name, or are handed on, and what chooses a part of it."""
        if "/mps/" not in target.path:
            return
        asks = any(spot.last in METAL_REQUESTS for spot in body.spots)
        arguments = {a for spot in body.spots for a in spot.call.arguments}
        yield from (name for name, written in body.parameters.items() if "string" in written and (asks or name in arguments))
        if asks:
            yield from (t for m in _CHOOSES.finditer(self._bodies.variables(target).text) if (t := m[1]).removesuffix(_HAS_VALUE) in names)

    def changes(self, name: str, function: Defined) -> bool:
        """Whether a function gives a parameter, or a variable that it declares with a value, another one."""
        declared = name not in self._bodies.of(function).parameters
        return next(islice(self._settings(name, function), declared, None), None) is not None

    def _settings(self, name: str, function: Defined) -> Iterator[int]:
        """The places in the body of a function at which it sets a variable."""
        text = self._bodies.variables(function).text
        start = text.find("{")
        at = text.find(name, start) if start >= 0 else -1
        while at >= 0:
            if _IS_SET.match(text, at + len(name)) and _IN_WORD.match(text, at - 1) is None and not _is_prose(text, at):
                yield at
            at = text.find(name, at + 1)

    def _class_template(self, method: Defined) -> str:
        """The template of the class of a method."""
        owner = method.segments[-2:-1]
        classes = self._bodies.index.named(owner[0]) if owner else []
        return next((d.fact.template for d in classes if d.path == method.path and d.fact.kind in CLASSES and not d.specialised), "")

    def _of_templates(self, call: Call, inside: Defined, target: Defined) -> Iterator[tuple[str, str]]:
        """The values of template arguments, those of the class of a method too: `vec_softmax<scalar_t, true>::apply(…)`."""
        if not call.template:
            pass
        elif target.fact.template and bare(call.name) == target.name:
            yield from zip(template_names(target.fact.template), split_template(call.template), strict=False)
        elif target.segments[-2:-1] == (bare(call.name),):
            yield from zip(template_names(self._class_template(target)), split_template(call.template), strict=False)
        if "::" in call.name and (template := self._class_template(target)):
            yield from bound_by(self._bodies.lines(inside.path, call.line, max(call.line, call.end_line)), target.segments[-2], template)

    def _of_parameters(self, call: Call, inside: Defined, target: Defined, asked: frozenset[str]) -> Iterator[tuple[str, str]]:
        """The values of parameters that are asked for: literals, and defaults of what is not given; whether an optional has one."""
        arguments = call.arguments
        if not arguments and target.name == "operator()" and call.form in ("call", "construct"):
            arguments = self._bodies.called_with(call, inside)
        if call.form not in ("call", "method", "construct") or not arguments:
            return
        for number, parameter in enumerate(target.fact.parameters):
            name = parameter_name(parameter)
            text = arguments[number].strip() if number < len(arguments) else parameter.partition("=")[2].strip() or self._default(target, number)
            if not name or not text:
                continue
            if name in asked:
                yield name, self._string(text, inside) if "/mps/" in target.path and "string" in parameter else text
            if (has_value := name + _HAS_VALUE) in asked:
                yield has_value, self._has_value(text, inside) if "optional" in parameter else ""
            if (is_defined := name + _DEFINED) in asked:
                nothing = _NO_TENSOR.fullmatch(text) is not None or (text.isidentifier() and self._bodies.variables(inside).is_undefined(text))
                yield is_defined, "false" if nothing else text + _DEFINED

    def _string(self, text: str, inside: Defined) -> str:
        """What a text of which a shader's name is made is, as a literal with fields for what cannot be told; as it is written where it may be
        several, or one that the function was given.
        """
        def look(name: str) -> list[tuple[str, tuple[str, ...]]]:
            settings = self._bodies.variables(inside).settings(name)  # one that declares nothing may be under a condition
            return [(setting.text, ()) for setting in settings] if all(setting.declares for setting in settings) else []

        found = composed(text, look, self._bodies.of(inside).parameters) if inside.use is None else []
        told = found[0][0] if len(found) == 1 else FIELD
        return f'"{told}"' if told == unnamed(told) and is_told(told) else text

    def _default(self, target: Defined, number: int) -> str:
        """The default of a parameter as the declaration of the function gives it, which mostly stands in a header: of those with the same
        parameters the only one.
        """
        names = [parameter_name(p) for p in target.fact.parameters]
        declared = [d.fact.parameters for d in self._bodies.index.declarations.get(target.name, ()) if [parameter_name(p) for p in d.fact.parameters] == names]
        found = {text for parameters in declared if (text := parameters[number].partition("=")[2].strip())}
        return found.pop() if len(found) == 1 else ""

    def _has_value(self, text: str, inside: Defined) -> str:
        """Whether what is given for an optional is a value; "" when it cannot be told."""
        if _NOTHING.fullmatch(text):
            return "false"
        if (made := constructed(text))[:1].isupper() and made != "Tensor" and not made.startswith("Optional"):
            return "true"  # `Scalar(2)`
        given = self._overloads.type_of(text, inside)
        return "true" if given is not None and given.name not in ("", "auto") and "?" not in given.kind and given.name != "optional" else ""


def _terms_in(body: Body) -> set[str]:
    """The terms of all conditions of a body that are names or ask one thing of a name."""
    return {t for spot in body.spots for c in spot.conditions for t in _terms_of(c)}


def _is_prose(text: str, at: int) -> bool:
    """Whether a place in a function is in a comment or a string that began on the same line."""
    before = _LITERAL.sub("", text[text.rfind("\n", 0, at) + 1 : at])
    return "//" in before or before.count('"') % 2 == 1


def _subject(term: str) -> str:
    """What a term asks about: `out` of `out.defined()`."""
    return term.removesuffix(_HAS_VALUE).removesuffix(_DEFINED)


@lru_cache(maxsize=65536)
def _terms_of(condition: str) -> frozenset[str]:
    return frozenset(m[0] for m in _TERM.finditer(condition))


@lru_cache(maxsize=16384)
def template_names(template: str) -> tuple[str, ...]:
    """The names of the parameters of a template."""
    return tuple(name for p in split_template(template) if (name := parameter_name(p)))
