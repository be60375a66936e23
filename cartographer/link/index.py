# SPDX-License-Identifier: BSD-3-Clause
"""Indexes all definitions of a tree by name, with the file, the device that the file is for, and the macro that made them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import msgspec

from cartographer.link.platforms import DEVICE_OF_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.link.generic import Generics
    from cartographer.link.hierarchy import Hierarchy
    from cartographer.model.fact import Definition, FileFacts

# Namespaces that do not take part in a name: anonymous ones and those that a CPU capability or a macro puts in between.
_INVISIBLE = frozenset(("<anonymous>", "CPU_CAPABILITY", "DEFAULT", "AVX2", "AVX512", ""))
_ANONYMOUS = re.compile(r"\(anonymous[^)]*\)").fullmatch
_APPLE = ("mps", "metal")
_SOURCES = (".cpp", ".cc", ".cu", ".mm", ".c", ".cxx", ".m")
FUNCTIONS = frozenset(("function", "method", "kernel", "device", "macro-headed"))
CLASSES = frozenset(("class", "struct"))
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def device_of(path: str) -> str:
    """The device that a file's code is for, by its ending and the innermost folder that names one; "" when it is shared."""
    if "ROCm" in path.rpartition("/")[2]:
        return "hip"
    if path.endswith((".cu", ".cuh")):
        return "cuda"
    apple = path.endswith((".mm", ".metal"))
    for folder in reversed(path.split("/")[:-1]):
        if folder in DEVICE_OF_FOLDER and not (apple and folder not in _APPLE):
            return DEVICE_OF_FOLDER[folder]
    return "mps" if apple else ""


def is_source(path: str) -> bool:
    """Whether a file is compiled on its own, so that no other file can use its static and anonymous functions."""
    return path.endswith(_SOURCES)


@lru_cache(maxsize=262144)
def segments(qualname: str) -> tuple[str, ...]:
    """The namespaces that a caller has to write, and the name: `at::native::(anonymous)::f` -> ("at", "native", "f")."""
    return tuple([part for part in _split(qualname) if part not in _INVISIBLE and not (part[0] == "(" and _ANONYMOUS(part))])


def _split(qualname: str) -> list[str]:
    """Parts between `::` that stand outside angle brackets."""
    if "<" not in qualname:
        return qualname.split("::")
    parts, depth, start, at = [], 0, 0, 0
    while at < len(qualname):
        char = qualname[at]
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif depth == 0 and qualname.startswith("::", at):
            parts.append(qualname[start:at])
            start = at = at + 2
            continue
        at += 1
    return [*parts, qualname[start:]]


@lru_cache(maxsize=262144)
def bare(name: str) -> str:
    """The last part of a name, without namespaces and template arguments: `at::f<T>` -> `f`."""
    if "<" not in name:
        return name.rpartition("::")[2].strip()
    return _split(name)[-1].partition("<")[0].strip()


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a macro that made a definition, and where the macro itself is defined."""

    macro: str
    line: int
    end_line: int
    macro_path: str = ""
    macro_line: int = 0


@dataclass(eq=False, slots=True)
class Defined:
    """A definition with the file that it is in. `use` is set when a macro made it: its lines are then those of the use."""

    path: str
    fact: Definition
    name: str
    segments: tuple[str, ...]
    device: str
    use: Use | None = None
    bounds: tuple[int, int] | None = None  # fewest and most arguments, counted when first asked for
    unread: Callable[[Definition], Definition] | None = None  # gives `fact` with what its body uses, where a scan left that out

    @property
    def whole(self) -> Definition:
        """The definition with what its body uses. All that asks for calls, exits or signs asks here: of files without kernels `fact` has none."""
        if self.unread is not None:
            self.fact, self.unread = self.unread(self.fact), None
        return self.fact

    @property
    def hidden(self) -> bool:
        """Whether no other file can call it: it is static or anonymous in a source file."""
        return is_source(self.path) and (
            "(anonymous" in self.fact.qualname or "static" in self.fact.returns.split()
        )

    @property
    def specialised(self) -> bool:
        """Whether it is a full specialisation of a template: `template <> …`."""
        return bool(self.fact.specialization)

    @property
    def line(self) -> int:
        """The line that holds the name of the definition."""
        return self.fact.line

    @property
    def symbol(self) -> str:
        """The name in which a person would look for it: `TORCH_IMPL_FUNC(mul_out)`, `at::native::add_kernel`, `at::cuda::blas::gemm<float>`."""
        if self.fact.macro:
            return f"{self.fact.macro[0]}({', '.join(self.fact.macro[1:])})"
        special = f"<{self.fact.specialization}>" if self.fact.specialization else ""
        return "::".join(self.segments) + special


@dataclass(frozen=True)
class Index:
    """The definitions and macros of a whole tree, found by name, file or class."""

    files: Mapping[str, FileFacts]
    made: Mapping[str, tuple[Defined, ...]] = field(default_factory=dict)  # by path: what macros made there
    head: Callable[[str, Definition], str] | None = None  # what a macro-headed body defines: `structured_mul_out::impl`
    whole: Callable[[str], FileFacts] | None = None  # the facts of a file with what its functions call, where `files` leave that out

    @cached_property
    def by_name(self) -> dict[str, list[Defined]]:
        """All definitions by bare name, in the order of paths; declarations are left out."""
        table: dict[str, list[Defined]] = {}
        for path in sorted(self.files):
            for defined in self.of_file(path):
                if defined.fact.kind != "declaration":
                    table.setdefault(defined.name, []).append(defined)
        return table

    @cached_property
    def declarations(self) -> dict[str, list[Defined]]:
        """Declared functions by name: default arguments are often only in the declaration."""
        table: dict[str, list[Defined]] = {}
        for path in sorted(self.files):
            for defined in self.of_file(path):
                if defined.fact.kind == "declaration":
                    table.setdefault(defined.name, []).append(defined)
        return table

    @cached_property
    def structured(self) -> dict[tuple[str, ...], list[Defined]]:
        """The bodies of structured kernels and shape functions, by class and method."""
        table: dict[tuple[str, ...], list[Defined]] = {}
        for method in ("impl", "meta"):
            for defined in self.named(method):
                table.setdefault(defined.segments[-2:], []).append(defined)
        return table

    @cached_property
    def stringified(self) -> dict[str, list[Defined]]:
        """Variables that hold device code as text (`jiterator_stringify`, aten/src/ATen/jit_macros.h), by name."""
        table: dict[str, list[Defined]] = {}
        for path in sorted(self.files):
            inner = {d.segments[:-1] for d in self.of_file(path) if d.fact.kind == "device"} if path.endswith((".cu", ".cuh", ".h")) else set()
            for defined in self.of_file(path):
                if defined.fact.kind == "variable" and (
                    any(c.name.endswith("stringify") for c in defined.whole.calls) or (defined.segments in inner and not defined.fact.returns)
                ):
                    table.setdefault(defined.name, []).append(defined)
        return table

    @cached_property
    def also_stringified(self) -> dict[str, tuple[str, int]]:
        """Names that a macro gives to code that it keeps as text as well (`jiterator_also_stringify_as(code, name)`), by place."""
        return {
            use.arguments[-1].strip(): (path, use.end_line) for path in sorted(self.files) for use in self.files[path].uses
            if use.name.endswith("also_stringify_as") and len(use.arguments) > 1
        }  # fmt: skip

    @cached_property
    def methods(self) -> dict[tuple[str, tuple[str, ...]], list[Defined]]:
        """The methods of each class, by its file and qualified name."""
        table: dict[tuple[str, tuple[str, ...]], list[Defined]] = {}
        for path in sorted(self.files):
            for defined in self.of_file(path):
                if defined.fact.kind != "declaration" and len(defined.segments) > 1:
                    table.setdefault((path, defined.segments[:-1]), []).append(defined)
        return table

    @cached_property
    def _of_file(self) -> dict[str, tuple[Defined, ...]]:
        return {}

    def of_file(self, path: str) -> tuple[Defined, ...]:
        """The definitions of one file, those made by macros included."""
        known = self._of_file.get(path)
        if known is None:
            device = device_of(path)
            facts = self.files[path]
            written = [_defined(path, fact, device) for fact in facts.definitions]
            if facts.outlined and self.whole is not None:
                unread = partial(_whole, self.whole, path)
                for defined in written:
                    if defined.fact.kind != "variable":
                        defined.unread = unread
            if self.head is not None:
                for defined in written:
                    if defined.fact.macro:
                        _name_head(defined, self.head(path, defined.fact))
            known = self._of_file[path] = (*written, *self.made.get(path, ()))
        return known

    @cached_property
    def constants(self) -> dict[str, tuple[tuple[bool, tuple[str, ...]], ...]]:
        """Macros that every definition in the tree gives a truth value, with the conditions of each: AT_USE_JITERATOR() is true,
        AT_USE_HIPSPARSE_TRIANGULAR_SOLVE() where CUDA's or ROCm's headers are.
        """
        values: dict[str, list[tuple[bool | None, tuple[str, ...]]]] = {}
        for facts in self.files.values():
            for macro in facts.macros:
                if not macro.parameters:
                    values.setdefault(macro.name, []).append((_TRUTH.get(macro.body.strip()), macro.guards))
        return {name: tuple((truth, guards) for truth, guards in told if truth is not None) for name, told in values.items() if all(truth is not None for truth, _ in told)}

    @cached_property
    def generic(self) -> Generics:
        """The functions of generic TH code, each compiled once for each type."""
        from cartographer.link.generic import Generics

        return Generics(self.files, self.by_name)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Which classes of the tree derive from which."""
        from cartographer.link.hierarchy import Hierarchy

        return Hierarchy(self.files, self.by_name)

    def named(self, name: str) -> list[Defined]:
        """The definitions of a bare name, in the order of paths."""
        return self.by_name.get(name, [])


def _defined(path: str, fact: Definition, device: str) -> Defined:
    return Defined(path, fact, bare(fact.name), segments(fact.qualname), device)


def _whole(read: Callable[[str], FileFacts], path: str, fact: Definition) -> Definition:
    """A definition of a file that was scanned without bodies, with what its body uses."""
    near = (d for d in read(path).definitions if (d.line, d.qualname) == (fact.line, fact.qualname))
    return next((d for d in near if msgspec.structs.replace(d, calls=(), exits=(), signs=()) == fact), fact)


def _name_head(defined: Defined, made: str) -> None:
    """Call a macro-headed body by what the macro's expansion names."""
    if made:
        own = segments(made)
        defined.name = own[-1]
        defined.segments = (*defined.segments[:-1], *own)


def defined_by_macro(path: str, facts: Iterable[Definition], use: Use) -> tuple[Defined, ...]:
    """The definitions that one use of a macro makes, with the lines of the use."""
    device = device_of(path)
    return tuple(Defined(path, fact, bare(fact.name), segments(fact.qualname), device, use) for fact in facts)
