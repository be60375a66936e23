# SPDX-License-Identifier: BSD-3-Clause
"""Scans a file of the C family into facts: outline, bodies, macros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as replaced

from cartographer.model.fact import Definition, FileFacts, MacroUse
from cartographer.model.location import Language
from cartographer.scan.body_facts import Uses
from cartographer.scan.calls import BodyReader
from cartographer.scan.inside import outline, use_arguments
from cartographer.scan.metal import host_kernels, is_metal, unformatted
from cartographer.scan.objc import take_out
from cartographer.scan.preprocess import prepare, real_text

if TYPE_CHECKING:
    from cartographer.scan.objc import Method
    from cartographer.scan.outline import Found, Outline
    from cartographer.scan.preprocess import Source

_REFERRED = frozenset(("function", "kernel", "device", "declaration", "class", "struct", "lambda-variable", "macro-headed"))


def _in_strings(source: Source) -> list[Definition]:
    """Kernels and functions of the Metal source in a file's raw strings, at the lines where they stand."""
    found: list[Definition] = []
    for start, end in source.raw_strings:
        text = source.plain[start:end]
        if is_metal(text):
            lines = "\n" * (source.line(start) - 1)
            inner = scan_cpp((lines + unformatted(text)).encode("latin-1", "replace"), Language.METAL)
            found.extend(replaced(d, kind="device") if d.kind == "function" else d for d in inner.definitions
                         if d.kind in ("metal-kernel", "function", "struct"))
    return found


def scan_cpp(data: bytes, language: Language, *, bodies: bool = True) -> FileFacts:
    """The facts of one file of C, C++, CUDA or Objective-C++; without `bodies` its functions come without what they call."""
    source = prepare(data)
    whole = source
    methods: list[tuple[str, Method]] = []
    if language is Language.OBJCXX:
        code, methods = take_out(source.code)
        source = replace(source, code=code)
    found = outline(source, metal=language is Language.METAL)
    names = frozenset(f.name for f in found.found if f.kind in _REFERRED)
    reader = BodyReader(source, names, messages=language is Language.OBJCXX)
    uses = _uses(source, found)
    return FileFacts(
        language=language.value,
        lines=len(source.line_ends) + (not data.endswith(b"\n") and bool(data)),
        error_nodes=len(found.unread),
        error_bytes=sum(end - start for start, end, _ in found.unread),
        definitions=(
            *(_definition(source, f, reader if bodies or f.kind == "variable" else None) for f in found.found), *_methods(whole, methods, names if bodies else None),
            *(host_kernels(source.macros, uses) if found.metal else _in_strings(source)),
        ),
        macros=source.macros,
        uses=uses,
        includes=source.includes,
        using=tuple(dict.fromkeys(found.using)),
        notes=source.notes,
        outlined=not bodies,
    )


def _definition(source: Source, f: Found, bodies: BodyReader | None) -> Definition:
    uses = bodies.read(f.body[0] + 1, f.body[1], f.parameters) if bodies is not None and f.body is not None else Uses()
    return Definition(
        name=f.name, qualname=f.qualname, kind=f.kind, line=source.line(f.at), start=source.line(f.start),
        end=source.line(f.end), parameters=f.parameters, returns=f.returns, template=f.template,
        guards=source.guards(f.at), macro=f.macro, bases=f.bases, calls=uses.calls,
        text=source.text(f.start, f.end + 1) if f.keep_text else "", specialization=f.specialization, exits=uses.exits, signs=uses.signs,
    )


def _methods(source: Source, methods: list[tuple[str, Method]], names: frozenset[str] | None) -> list[Definition]:
    """The methods of Objective-C's classes, from the text with its @-blocks; without names their bodies are not read."""
    bodies = BodyReader(source, names, messages=True) if methods and names is not None else None
    return [_method(source, owner, method, bodies) for owner, method in methods]


def _method(source: Source, owner: str, method: Method, bodies: BodyReader | None) -> Definition:
    selector, start, name_at, brace, closing, parameters = method
    uses = bodies.read(brace + 1, closing) if bodies is not None else Uses()
    return Definition(
        name=selector, qualname=f"{owner}::{selector}", kind="method", line=source.line(name_at), start=source.line(start),
        end=source.line(closing), parameters=parameters, guards=source.guards(name_at), calls=uses.calls, exits=uses.exits,
    )


def _uses(source: Source, found: Outline) -> tuple[MacroUse, ...]:
    return tuple(
        MacroUse(
            u.name, use_arguments(source, u), source.line(u.start), source.line(u.end),
            real_text(source.plain[u.start : u.end + 1]), u.namespace, source.guards(u.start),
        )
        for u in found.uses
    )
