# SPDX-License-Identifier: BSD-3-Clause
"""Understands the spellings in which people bring a name: what is cut off, what is expanded, what a mangled name says."""

from __future__ import annotations

import re

# Patterns are texts: `re` compiles the few that a question needs, and keeps them.
_CALL = r"([\w.:~<>]+?)\(\s*(?:\.\.\.)?\s*\)?;?"
_PYTHON_CALL = r"((?:torch|nn|F|[Tt]ensor)(?:\.\w+)+)\(.*\);?"  # as it stands in somebody's code, arguments and all
# A line of PyTorch's own stack traces, of a debugger's, and of Python's.
_FRAME = r"(?:frame )?#\d+:?\s+(?:0x[0-9a-f]+ in )?(?P<symbol>.+?)(?: \+ 0x[0-9a-f]+.*| (?:from|at) \S+)?"
_PYTHON_FRAME = r'File "(?:.*/(?:site|dist)-packages/)?(?P<path>[^"]+)", line (?P<line>\d+).*'
_GRAD_FN = r"(?:grad_fn\s*=\s*)?<(\w+)(?: object)?(?: at 0x[0-9a-f]+)?>"
_QUALIFIED = (
    r"(?:[A-Za-z_]\w*|\(anonymous(?: namespace)?\))(?:::(?:~?[A-Za-z_]\w*|\(anonymous(?: namespace)?\)|\{lambda[^}]*\}[^:<>,]*))*"
)
_OPERATOR_IN_TEXT = r"\b([a-z_]\w*::\w+(?:\.\w+)?)"
_PLACE = r"(?P<path>[\w./+@ -]+\.\w+(?:\.in)?)(?::(?P<line>\d+))?(?::\d+)?:?"
_MANGLED = r"(?P<length>\d{1,4})|S[\dA-Z]*_|[ST][tabsiod]|T\d*_|L[a-z]n?\d+E"
_NUMBERED = r"(?P<stem>.+?)(?:_(?P<shard>\d+|\$\{?\w+\}?|[A-Za-z]+\d+))?(?P<suffix>\.\w+)"

# The import names that PyTorch's own documentation and tests use.
_SHORT = (("torch.nn.functional.", ("F.", "nn.functional.")), ("torch.nn.", ("nn.",)), ("torch.Tensor.", ("Tensor.", "tensor.")))


def trimmed(text: str) -> str:
    """The name in a text: `torch.add(x, 1)` -> `torch.add`, `<AddBackward0 object at 0x7f>` -> `AddBackward0`, a line of a stack trace
    -> its symbol or place; quotes and spaces go.
    """
    text = text.strip()
    if text.startswith('File "') and (frame := re.fullmatch(_PYTHON_FRAME, text, re.DOTALL)):
        return f"{frame['path']}:{frame['line']}"
    if "#" in text and (frame := re.fullmatch(_FRAME, text)):
        text = frame["symbol"].removesuffix(" ()")
    text = text.strip("`'\"").strip()
    if "<" in text and (found := re.fullmatch(_GRAD_FN, text)):
        return found[1]
    if "(" in text and (call := re.fullmatch(_CALL, text) or re.fullmatch(_PYTHON_CALL, text, re.DOTALL)) and not call[1].endswith("::operator"):
        return call[1]
    return text.removesuffix(";")


def python_names(text: str) -> tuple[str, ...]:
    """The full dotted names that a Python spelling may stand for."""
    for whole, shorts in _SHORT:
        for short in shorts:
            if text.startswith(short):
                return (whole + text.removeprefix(short),)
    return (text,) if text.startswith("torch.") else ()


def torch_ops(text: str) -> str | None:
    """`torch.ops.aten.add.Tensor` and `aten.add.default` (as FX graphs print) -> `aten::add.Tensor`, `aten::add`."""
    dotted = text.removeprefix("torch.ops.")
    parts = dotted.split(".")
    if len(parts) not in (2, 3) or (dotted == text and len(parts) == 2) or not all(parts):
        return None
    name = f"{parts[0]}::{parts[1]}"
    return name if len(parts) == 2 or parts[2] == "default" else f"{name}.{parts[2]}"


def generated_stem(name: str) -> str | None:
    """`RegisterCPU_2.cpp` -> `RegisterCPU.cpp`: the name of a generated file without its shard."""
    found = re.fullmatch(_NUMBERED, name)
    return found["stem"] + found["suffix"] if found else None


def place(text: str) -> tuple[str, int | None] | None:
    """(path, line) of `aten/x.cpp:12`, `x.cu`, or a permalink; None when the text is not a place."""
    link = "://" in text and re.search(r"/(?:blob|blame|tree|raw)/[^/]+/([^#?\s]+)(?:#L(\d+))?", text)
    if link:
        return link[1], _number(link[2])
    found = re.fullmatch(_PLACE, text)
    if found is None or "::" in text:
        return None
    return found["path"].removeprefix("./"), _number(found["line"])


def _number(digits: str | None) -> int | None:
    """A line, not beyond what any file has (and SQLite takes)."""
    return min(int(digits[:10]), 2**31) if digits else None


def operators_in(text: str) -> tuple[str, ...]:
    """The operator names inside a sentence: `Could not run 'aten::index.Tensor' with arguments from ...`."""
    return tuple(dict.fromkeys(re.findall(_OPERATOR_IN_TEXT, text)))


def identifiers(symbol: str) -> tuple[str, ...]:
    """All qualified names in a demangled symbol, in order: the function, then what its template arguments name."""
    return tuple(dict.fromkeys(name for name in re.findall(_QUALIFIED, symbol) if name))


def demangled_names(symbol: str) -> tuple[str, ...]:
    """The qualified names in an Itanium-mangled symbol (`_ZN2at6native10add_kernelE...`), in order.

    Reads nested names and template arguments only as far as they hold names: enough to find a function and its functors.
    """
    text = re.sub(r"^_*Z", "", symbol, count=1)
    found: list[str] = []
    scope: list[str] = []
    begins: list[int] = []  # where the scopes of open N..E, I..E begin
    position = 0
    while position < len(text):
        token = re.compile(_MANGLED).match(text, position)
        length = int(token["length"]) if token and token["length"] else 0
        if token and not token["length"]:  # a substitution (S0_, St) or a literal (Lb1E)
            position = token.end()
        elif token and 0 < length <= len(text) - token.end():
            part = text[token.end() : token.end() + length]
            position = token.end() + length
            if not part.startswith("_GLOBAL__N"):
                scope.append(part)
                found.append("::".join(scope[begins[-1] if begins else -1 :]))
        else:
            if text[position] in "NIJXF":
                begins.append(len(scope))
            elif text[position] == "E" and begins:
                del scope[begins.pop() :]
            position += 1
    whole = [name for name in found if not any(other != name and other.startswith(name + "::") for other in found)]
    return tuple(dict.fromkeys(whole))
