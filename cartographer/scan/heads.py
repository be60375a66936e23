# SPDX-License-Identifier: BSD-3-Clause
"""Parses the text before a `{` or a `;` outside of function bodies: the head of a function, a class or a namespace."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import lru_cache

from cartographer.scan.preprocess import folded
from cartographer.scan.text import close_angle, items

Range = tuple[int, int]
Named = tuple[int, str, str, str]  # offset, last part, qualifiers, template arguments

_LEAD = re.compile(r"\s*+(?:(?:public|private|protected|signals|slots)\s*:(?!:)|\[\[[^\]]*\]\]|extern\s*\"\s*\"|(template)\s*(?=<)|[A-Z][A-Z0-9]*_[A-Z0-9_]+\s+(?=(?:template|namespace|inline|extern|class|struct|enum|using|static)\b))")
_LEADING = frozenset("[epst" + string.ascii_uppercase)  # how what _LEAD looks for begins
_WORD_SIGNS = string.ascii_letters + string.digits + "_"
_LONGEST_NAME = 200
_JOINED = ("", "~", ":")  # what before a name may belong to it; "" where all that was looked at is white space
_OPERATOR = re.compile(
    r"((?:[\w:]|<[\w:,\s]*>)*?)\boperator\s*(\(\s*\)|\[\s*\]|[^\w\s(]+|\"\s*\"\s*\w+|(?:new|delete)(?:\s*\[\s*\])?"
    r"|[\w:<>,\s]+?[\s&*]*)\s*$",
)
_ATTRIBUTE_WORDS = frozenset(
    ["noexcept", "__attribute__", "decltype", "alignas", "throw", "requires", "__launch_bounds__", "explicit", "__declspec", "_Pragma", "typeof", "__typeof__", "asm", "__asm__", "sizeof", "static_assert", "__pragma", "constexpr", "consteval", "if", "while", "for", "switch", "__align__", "host_name", "__cluster_dims__", "__maxnreg__", "_Alignas", "__nv_noinline__"],
)
_QUALIFIERS = frozenset(["const", "noexcept", "override", "final", "volatile", "mutable", "try", "requires", "throw", "and", "or"])
_SPECIFIERS = re.compile(
    r"\b(?:static|inline|extern|virtual|constexpr|consteval|constinit|explicit|friend|thread_local|register|typedef|template"
    r"|__global__|__device__|__host__|__forceinline__|__forceinline|__inline__|__inline|__noinline__|__restrict__"
    r"|__launch_bounds__|__cluster_dims__|__maxnreg__|__ubsan_ignore_\w+__|__extension__|__cdecl|__shared__|__constant__|__managed__|__maybe_unused"
    r"|[A-Z][A-Z0-9]*_[A-Z0-9_]*(?<!_T)(?<!_TYPE))\b(?:\s*\([^()]*\))?(?!\s*::)|\[\[[^\]]*\]\]|__attribute__\s*\(\(.*?\)\)",
)
_BLANK = re.compile(r"[ \t\n]*+")
_MACRO_WORD = re.compile(r"\s*(?:(?:static|inline|extern)\s+)*([A-Za-z_]\w*)")
_STATIC = re.compile(r"\bstatic\b")
_IDENTIFIER = re.compile(r"\s*([A-Za-z_]\w*)")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*\d*$")
_NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b((?:\s*[A-Z_]+\s*\([^()]*\))?(?:[\w:\s]|\[\[[^\]]*\]\])*)$")
_ENUM = re.compile(r"(?:typedef\s+)?enum\b(?:\s++(?:class|struct)\b)?(?:\s++[A-Z][A-Z0-9]*+_[A-Z0-9_]++(?=\s+[A-Za-z_]))?\s*+((?:\w++(?:::\w++)*)?)\s*+(?::[\s\w:]++)?$")
_CLASS = re.compile(r"(?:(?:typedef|static|const|constexpr|friend|[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s+)*(class|struct|union)\b")
_FINAL = re.compile(r"\s*\bfinal\b\s*$")
_LAMBDA = re.compile(r"=\s*\[[^\[\]]*\]")
_EQUALS = re.compile(r"=(?!=)(?<![=!<>+\-*/%&|^]=)")  # what begins with a letter is found fastest
_COLON = re.compile(r":(?!:)(?<!::)")


@dataclass(slots=True)
class Head:
    """The head that is being parsed: where its text starts after labels and template lists, and its groups of parentheses."""

    start: int
    end: int
    body_of_linkage: bool = False
    template: str = ""
    groups: list[Range] | None = None


@dataclass(slots=True)
class FunctionHead:
    """The parsed head of a function: name, parameters, return type, and what belongs to them."""

    name: str
    scope: str  # qualifiers written before the name: `A::B` of `A::B::f`
    name_at: int
    parameters: tuple[str, ...]
    returns: str
    specialization: str
    macro: tuple[str, ...]
    before: str  # all that stands before the name
    group: Range


def lead(code: str, start: int, end: int) -> Head:
    """Skip access labels, attributes, linkage and template lists at the beginning of a head."""
    head = Head(start, end)
    closed = True
    while True:
        blank = _BLANK.match(code, head.start, end)
        assert blank is not None
        at = head.start = blank.end()
        m = _LEAD.match(code, at, end) if closed and code[at : at + 1] in _LEADING else None
        if m is None:
            return head
        head.start = m.end()
        if m.group(1):
            close = close_angle(code, m.end(), end, header=True)
            closed = close >= 0
            if closed:
                head.template = head.template or folded(code[m.end() + 1 : close])
                head.start = close + 1
        elif code[m.end() - 1] == '"':
            head.body_of_linkage = True


def peelable(code: str, start: int, end: int, group: Range, class_name: str) -> re.Match[str] | None:
    """The word of a whole macro use, `NAME(...)`, with which the head begins and that something else follows."""
    m = _MACRO_WORD.match(code, start, end)
    if m is None or code[m.end() : group[0]].strip() or not _is_use(code, m, end, group, class_name):
        return None
    return m


def _is_use(code: str, m: re.Match[str], end: int, group: Range, class_name: str) -> bool:
    word = m.group(1)
    if m.start(1) > m.start() + len(m.group()) - len(m.group().lstrip()) and not _CAPITALS.match(word):
        return False
    follow = _IDENTIFIER.match(code, group[1] + 1, end)
    if follow is None:
        return word in ("__attribute__", "__declspec", "__launch_bounds__", "alignas") and bool(code[group[1] + 1 : end].strip())
    if follow.group(1) == "const" and _IDENTIFIER.match(code, follow.end(), end) is not None:
        return word not in ("decltype", "noexcept")  # `FOR_ALL(X) const Tensor& f(…)`: another function's return type
    if follow.group(1) in _QUALIFIERS or word in ("decltype", "requires", "noexcept", "typeof", "__typeof__", "explicit"):
        return False
    if class_name and word == class_name:
        return False
    return not (follow.group(1) == "operator" and not _CAPITALS.match(word))


def namespace_name(text: str) -> str | None:
    """The name in `namespace a::b`, "(anonymous)" without one; None when the head is not that of a namespace. What has no semicolon before it,
    as `static_assert(…)` where no build reads it, is no part of the head.
    """
    m = _NAMESPACE.match(text[text.rfind(")", 0, max(0, text.rfind("namespace"))) + 1 :].lstrip())
    if m is None:
        return None
    name = re.sub(r"\[\[[^\]]*\]\]|[A-Z_]+\s*\([^()]*\)|\binline\b|\s", "", m.group(1))
    return name or "(anonymous)"


def enum_name(text: str) -> str | None:
    """The name of an enum ("" when it has none); None when the head is not that of an enum."""
    m = _ENUM.match(text)
    return None if m is None else m.group(1)


@dataclass(slots=True)
class ClassHead:
    """The parsed head of a class: name, template arguments and base classes."""

    kind: str
    name: str
    specialization: str
    bases: tuple[str, ...]
    name_at: int


def class_head(code: str, plain: str, head: Head) -> ClassHead | None:
    """Parse `class EXPORT Name final : public Base<T>`; None when the head is not that of a class."""
    m = _CLASS.match(code, head.start, head.end)
    if m is None:
        return None
    at = m.end()
    end = head.end
    colon = None
    depth_at = at
    for c in _COLON.finditer(code, at, end):
        if _outside(code, depth_at, c.start()):
            colon = c.start()
            break
    stop = colon if colon is not None else end
    text = code[at:stop]
    if _EQUALS.search(text) and "<" not in text:
        return None
    text = re.sub(r"(?:\b(?:alignas|__attribute__|__declspec|__align__|[A-Z][A-Z0-9_]+)\s*\((?:[^()]|\([^()]*\))*\))", lambda x: " " * len(x[0]), text)
    text = re.sub(r"\[\[[^\]]*\]\]", lambda x: " " * len(x[0]), text)
    if "(" in text and "<" not in text:
        return None
    final = _FINAL.search(text)
    if final is not None:
        text = text[: final.start()]
    name_at, name, scope, specialization = name_before(text, 0, len(text))
    if "(" in text[:name_at] or (text[:name_at].strip() and not re.fullmatch(r"[\sA-Z0-9_a-z:]*", text[:name_at])):
        return None
    if any(not _CAPITALS.match(word) and not word.startswith("__") for word in re.split(r"[\s:]+", text[:name_at]) if word):
        return None
    bases: tuple[str, ...] = ()
    if colon is not None:
        bases = tuple(
            re.sub(r"^(?:(?:public|private|protected|virtual)\s+)+", "", b)
            for b in items(code, plain, colon + 1, end)
        )
    full = f"{scope}::{name}" if scope else name
    return ClassHead(m.group(1), full, specialization, bases, at + name_at)


def _outside(code: str, start: int, at: int) -> bool:
    """Whether `at` stands outside of brackets that open after `start`."""
    piece = code[start:at]
    return piece.count("<") <= piece.count(">") and piece.count("(") == piece.count(")")


def name_before(code: str, start: int, end: int) -> Named:
    """The name, qualified or not, that ends at the offset `end`."""
    if code.find("operator", max(start, end - 120), end) >= 0:
        operator = _OPERATOR.search(code, max(start, end - 120), end)
        if operator is not None:
            scope = re.sub(r"<[^<>]*>|\s", "", operator.group(1)).strip(":")
            return operator.start(), "operator" + _spelled(operator.group(2)), scope, ""
    return _plain_name(code, start, end) or _joined_name(code, start, end)


def _joined_name(code: str, start: int, end: int) -> Named:
    """The same for a name of several parts, or whose last part has template arguments."""
    parts: list[str] = []
    specialization = ""
    at = end
    first = end
    while True:
        at = _step_back(code, start, at)
        if at > start and code[at - 1] == ">":
            opening = _open_angle(code, start, at - 1)
            if opening < 0:
                break
            if not parts:
                specialization = folded(code[opening + 1 : at - 1])
            at = _step_back(code, start, opening)
        name_at, name = _last_name(code, max(start, at - _LONGEST_NAME), at)
        if not name:
            break
        parts.append(name)
        first = at = name_at
        before = _step_back(code, start, at)
        if before - 2 < start or code[before - 2 : before] != "::":
            break
        at = before - 2
    if not parts:
        return end, "", "", ""
    return first, parts[0], "::".join(reversed(parts[1:])), specialization


def _plain_name(code: str, start: int, end: int) -> Named | None:
    """The name that ends at `end` where it is one word of letters and neither `::` nor `~` can stand before it, as most are."""
    begin = max(start, end - _LONGEST_NAME)
    text = code[begin:end].rstrip(" \t\n")
    before = text.rstrip(_WORD_SIGNS)
    name = text[len(before) :]
    if not name or name[0] in string.digits or before.rstrip(" \t\n")[-1:] in _JOINED:
        return None
    return begin + len(before), name, "", ""


def _last_name(code: str, start: int, end: int) -> tuple[int, str]:
    """Where the name that ends at `end` begins, and the name, "" when there is none; a destructor's has its tilde."""
    before = code[start:end].rstrip(_WORD_SIGNS)
    name = code[start + len(before) : end].lstrip(string.digits)
    at = end - len(name)
    if name and code[start:at].rstrip(" \t").endswith("~"):
        return code.rindex("~", start, at), "~" + name
    return at, name


def _step_back(code: str, start: int, at: int) -> int:
    """The end of what stands before the white space before `at`."""
    while at > start and code[at - 1] in " \t\n":
        at -= 1
    return at


def _spelled(symbol: str) -> str:
    return "".join(symbol.split()) if not symbol[:1].isalpha() else " " + folded(symbol)


def _open_angle(code: str, start: int, closing: int) -> int:
    """The `<` that the `>` at `closing` closes, searched backwards within 3000 characters."""
    depth = 0
    at = closing
    floor = max(start, closing - 3000)
    while at >= floor:
        c = code[at]
        if c in "<>" and code[at - 1] == " " and code[at + 1 : at + 2] in (" ", "="):
            pass  # a comparison
        elif c == ">":
            depth += 1
        elif c == "<":
            depth -= 1
            if depth == 0:
                return at
        elif c in ";{}":
            return -1
        at -= 1
    return -1


def initializer_at(code: str, head: Head) -> int:
    """The offset of the `=` that begins an initializer, -1 when the head has none (`operator=` is none)."""
    if code.find("=", head.start, head.end) < 0:
        return -1
    groups = head.groups or []
    for m in _EQUALS.finditer(code, head.start, head.end):
        at = m.start()
        if any(a < at < b for a, b in groups) or not _outside_angle(code, head.start, at):
            continue
        if code[head.start : at].rstrip().endswith("operator"):
            return -1
        return at
    return -1


def _outside_angle(code: str, start: int, at: int) -> bool:
    piece = code[start:at]
    return piece.count("<") - piece.count("<<") * 2 <= piece.count(">") - piece.count("->")


def is_lambda(code: str, equals: int, end: int) -> bool:
    """Whether the initializer at the offset `equals` is a lambda expression."""
    return _LAMBDA.match(code, equals, end) is not None


def constructor_colon(code: str, head: Head) -> int:
    """The offset of the `:` before a constructor's initializers, -1 when there is none."""
    groups = head.groups or []
    if not groups or code.find(":", groups[0][1], head.end) < 0:
        return -1
    for m in _COLON.finditer(code, groups[0][1], head.end):
        at = m.start()
        if not any(a < at < b for a, b in groups):
            return at
    return -1


def ends_with_qualifier(code: str, head: Head) -> bool:
    """Whether what follows the last parenthesis is a function's: `const`, `noexcept`, `-> type`."""
    tail = code[(head.groups or [(0, head.start)])[-1][1] + 1 : head.end]
    return "->" in tail or any(word in _QUALIFIERS for word in tail.split())


def function_head(code: str, plain: str, head: Head, class_name: str) -> FunctionHead | None:
    """Parse a function's head; None when no group of parentheses can be its parameters."""
    groups = head.groups or []
    colon = constructor_colon(code, head)
    if colon >= 0:
        groups = [g for g in groups if g[0] < colon]
    for index, group in enumerate(groups):
        following = groups[index + 1] if index + 1 < len(groups) else None
        named = name_before(code, head.start, group[0])
        if _names_function(code, head, named, group, following):
            chained = following if _chained(code, group, following) else None
            return _function(code, plain, head, class_name, named, group, chained, colon if colon >= 0 else head.end)
    return None


def _chained(code: str, group: Range, following: Range | None) -> bool:
    """Whether one group follows another directly: `NAME(a)(b)`."""
    return following is not None and not code[group[1] + 1 : following[0]].strip()


def _names_function(code: str, head: Head, named: Named, group: Range, following: Range | None) -> bool:
    """Whether the name before a group of parentheses can be the function's."""
    _, name, scope, _ = named
    if name in _ATTRIBUTE_WORDS:
        return False
    chained = _chained(code, group, following)
    if following is not None and not name.startswith("operator") and not _outside_angle(code, head.start, group[0]):
        return False  # in the template arguments of the return type: `unique_ptr<T, void (*)(T*)> f()`
    if chained and name == "operator":
        return False
    if not chained and name in ("", "const", "return", "auto", "void", "int"):
        return False
    if following is None or chained or scope or _CAPITALS.match(name) is None:
        return True
    follow = _IDENTIFIER.match(code, group[1] + 1, head.end)
    return follow is None or follow.group(1) in _QUALIFIERS  # else an annotation, as C10_LAUNCH_BOUNDS_1(512)


def _function(
    code: str, plain: str, head: Head, class_name: str, named: Named, group: Range, chained: Range | None, end: int,
) -> FunctionHead | None:
    name_at, name, scope, specialization = named
    macro: tuple[str, ...] = ()
    parameters = group
    if chained is not None:
        if code[group[0] + 1 : group[1]].lstrip()[:1] in ("*", "&", "^"):
            return None  # a pointer to a function
        if not name.startswith("operator"):
            macro = (f"{scope}::{name}" if scope else name, *items(code, plain, group[0] + 1, group[1]))
            parameters = chained
            name, scope = folded(plain[name_at : group[1] + 1]), ""
    before = code[head.start : name_at]
    tail = code[parameters[1] + 1 : end]
    returns = _returns(before, tail)
    texts = items(code, plain, parameters[0] + 1, parameters[1])
    if texts == ("void",):
        texts = ()
    typed = returns or scope or name.startswith(("operator", "~")) or (class_name and name == class_name)
    if not typed and not macro:
        macro = (name, *items(code, plain, group[0] + 1, group[1]))
        texts = ()
        name = folded(plain[name_at : group[1] + 1])
    return FunctionHead(name, scope, name_at, texts, returns, specialization, macro, before, parameters)


@lru_cache(maxsize=4096)
def _returns(before: str, tail: str) -> str:
    """The return type, with `static` when the function is."""
    arrow = tail.find("->")
    returns = folded(tail[arrow + 2 :] if arrow >= 0 else _SPECIFIERS.sub(" ", before))
    return f"static {returns}" if returns and _STATIC.search(before) is not None else returns
