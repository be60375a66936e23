# SPDX-License-Identifier: BSD-3-Clause
"""Finds which modules `import torch` imports, in which order, without evaluating those that register nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What registers something, when it runs at import.
_REGISTERS = tuple((word, re.compile(re.escape(word) + more)) for word, more in (  # each begins with a fixed word, which is found fast
    (b"register_", rb"(?:decomposition\(|meta\(|\w*prims?\(|\w*\(\))"), (b"_register_jit_decomposition", b""), (b"_make_", rb"\w*prim\w*\("),
    (b"custom_op(", b""), (b"Library(", rb"(?<=\bLibrary\()"), (b"torch.library.", rb"\w+\("), (b"activate_meta(", b""),
))  # fmt: skip
_NOT_RUN = re.compile(rb"(?:async\s+)?def\b|class\b|#|import\b|from\b|[)\]}]|[\"']|r?\"\"\"")
_IMPORT = re.compile(r"(?P<indent>[ \t]*)(?:from\s+(?P<source>\.*[\w.]*)\s+import\s+(?P<names>\([^)]*\)?|[^#\n]*)|import\s+(?P<modules>[^#\n]*))")
_BLOCK = re.compile(r"(?P<indent>[ \t]*)(?:async\s+)?(?P<word>def|class|if|elif|else|try|except|finally|with|for|while)\b(?P<rest>.*)")
_APART = re.compile(r"\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|#.*")
_TRIPLE = re.compile(r'"""|\'\'\'')


class Sources:
    """The Python files of a tree, found by module name."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._paths: dict[str, str] = {}
        for path in texts:
            if path.endswith(".py"):
                name = path.removesuffix(".py").replace("/", ".")
                self._paths[name.removesuffix(".__init__")] = path

    def path(self, module: str) -> str | None:
        """The path of a module's file; None when the tree has no such module."""
        return self._paths.get(module)

    def is_package(self, module: str) -> bool:
        """Whether a module is the `__init__` of a package."""
        return self._paths.get(module, "").endswith("__init__.py")

    def text(self, module: str) -> bytes:
        """The bytes of a module's file."""
        return self._texts[self._paths[module]]

    def registers(self, module: str) -> bool:
        """Whether importing a module registers something, outside of functions, classes and strings. What its functions
        register is seen when something calls them.
        """
        text = self.text(module)
        return any(_runs(text, found.start()) for word, sign in _REGISTERS if word in text for found in sign.finditer(text))

    def absolute(self, module: str, source: str) -> str:
        """The absolute module name of a relative import."""
        if not source.startswith("."):
            return source
        dots = len(source) - len(source.lstrip("."))
        parts = module.split(".")
        parts = parts[: len(parts) - dots + (1 if self.is_package(module) else 0)]
        rest = source.lstrip(".")
        return ".".join([*parts, rest] if rest else parts)

    def imports(self, module: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The imports that run when a module is imported: (module, names taken from it), in order. Bodies of functions and what is
        for type checkers only do not run.
        """
        text = self.text(module).decode("utf-8", "replace")
        for source, names in _statements(text):
            if source is None:
                for part in names:
                    yield part, ()
            else:
                yield self.absolute(module, source), names


def _runs(text: bytes, position: int) -> bool:
    """Whether a place is part of a statement at the outermost level, or of a block of such statements."""
    start = text.rfind(b"\n", 0, position) + 1
    while start and text[start : start + 1] in (b" ", b"\t", b"\n", b"\r", b"#"):
        start = text.rfind(b"\n", 0, start - 1) + 1
    return _NOT_RUN.match(text, start) is None


def _statements(text: str) -> Iterator[tuple[str | None, tuple[str, ...]]]:  # noqa: C901, PLR0912 - one walk over the lines
    """Import statements that run at import, as (source or None, names)."""
    lines = text.split("\n")
    skipped: int | None = None  # indentation of a block whose body does not run
    fence = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence or '"""' in line or "'''" in line:
            fence, inside = _fences(line, fence)
            if inside:
                continue
        if skipped is not None and line[: skipped + 1].isspace():
            continue  # it belongs to the block
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if skipped is not None:
            if indent > skipped or (number > 1 and lines[number - 2].endswith("\\")):
                continue
            skipped = None
        block = _BLOCK.match(line)
        if block is not None:
            opened = _opened(line)
            while opened > 0 and number < len(lines):  # a head over several lines ends at the indentation it began with
                opened += _opened(lines[number])
                number += 1
            if block.group("word") == "def" or (block.group("word") == "if" and re.match(r"\s*(?:typing\.|t\.)?TYPE_CHECKING\s*:", block.group("rest"))):
                skipped = indent
            continue
        if not stripped.startswith(("import ", "from ")):
            continue
        stripped = stripped.partition("#")[0].strip()
        while stripped.count("(") > stripped.count(")") and number < len(lines):
            stripped += " " + lines[number].partition("#")[0].strip()
            number += 1
        while stripped.endswith("\\") and number < len(lines):
            stripped = stripped[:-1] + " " + lines[number].strip()
            number += 1
        found = _IMPORT.match(stripped)
        if found is not None and found.group("modules") is not None:
            yield None, tuple(p.split(" as ")[0].strip() for p in found.group("modules").split(",") if p.strip())
        elif found is not None:
            names = found.group("names").strip("() \t")
            yield found.group("source"), tuple(n.split(" as ")[0].strip() for n in names.split(",") if n.strip())


def _opened(line: str) -> int:
    """Parentheses that a line leaves open, strings and comments aside."""
    plain = _APART.sub("", line) if '"' in line or "'" in line or "#" in line else line
    count = plain.count
    return count("(") + count("[") + count("{") - count(")") - count("]") - count("}")


def _fences(line: str, fence: str) -> tuple[str, bool]:
    """Follow triple quotes over a line: the fence that is open after it, and whether the line began inside one."""
    began = bool(fence)
    position = 0
    while True:
        if fence:
            at = line.find(fence, position)
            if at < 0:
                return fence, began
            position, fence = at + 3, ""
        else:
            found = _TRIPLE.search(line, position)
            if found is None or "#" in line[position : found.start()]:
                return "", began
            fence, position = found.group(), found.end()
