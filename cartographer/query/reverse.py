# SPDX-License-Identifier: BSD-3-Clause
"""Finds the way back: from a profiler's symbol, a stub, a place, a file or a generated file to the operators that reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.errors import NotFound
from cartographer.query import qualified, spelling
from cartographer.query.operators import namesake, other_overloads, python_symbols
from cartographer.store.search_words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cartographer.model.atlas import GeneratedFile
    from cartographer.store.reader import Reader
    from cartographer.store.values import Reach

_VAGUE = frozenset(("at", "native", "c10", "std", "cuda", "void", "float", "double", "int", "bool", "long", "char", "unsigned", "short", "operator", "call", "impl", "lambda", "kernel", "anonymous"))
# torchgen/dest/ufunc.py, UfunctorSignature: functors of the operators whose inner loop alone is written by hand.
_UFUNCTOR = r"CUDAFunctor(?:OnSelf|OnOther)?_(\w+)"

_SHORTEST = 4  # shorter names (T, x, sum) are template parameters more often than functions
_OF_STUBS = frozenset(("stub", "registration"))
_HINTED = 3  # things of the same last name that a hint names
_TWINS = 5  # definitions of one name that are looked into
_MAIN_WAYS = "chains show the main ways and say where they leave out more, so an operator may still reach it"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, and the name of what is there."""

    what: str
    symbol: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Backwards:
    """The answer for something that is not an operator: what it is, where it is, and which operators reach it."""

    asked: str
    said: str
    places: tuple[Place, ...]
    reaches: tuple[Reach, ...]
    shared: int = 0  # operators that reach the outer function, when a template argument told them apart
    note: str = ""

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that reach it themselves, each once; when none does, those that reach it through others."""
        direct = tuple(dict.fromkeys(reach.operator for reach in self.reaches if reach.direct))
        return direct or self.through_others

    @property
    def through_others(self) -> tuple[str, ...]:
        """The operators that reach it only by calling another operator."""
        direct = {reach.operator for reach in self.reaches if reach.direct}
        return tuple(dict.fromkeys(reach.operator for reach in self.reaches if reach.operator not in direct))


def backwards(reader: Reader, text: str, backend: str | None = None) -> Backwards | None:
    """Answer for `text` as a place, a file, a mangled or demangled symbol; None when it is none of these."""
    text = spelling.trimmed(text)
    for reading in (_place, _generated, _python, _method, _symbol):
        if reading is _symbol and (qualified.is_sentence(text) or other_overloads(reader.lookup, text) or namesake(reader.lookup, text)):  # none is a symbol of the last name
            return None
        found = reading(reader, text)
        if found is not None:
            return found if backend is None else _only(found, backend)
    return None


def _only(found: Backwards, backend: str) -> Backwards:
    reaches = tuple(r for r in found.reaches if r.backend.lower() in {backend.lower(), ""})
    note = f"no chain of {backend} passes here" if found.reaches and not reaches else found.note
    return replace(found, reaches=reaches, note=note)


def _place(reader: Reader, text: str) -> Backwards | None:
    """aten/src/x.cpp:120, x.cu, a permalink"""
    asked = spelling.place(text)
    if asked is None:
        return None
    path, line = asked
    files = reader.lookup.files_called(path)
    if files != (path,) and (others := unread(reader, path)) and (not files or others == (path,)):
        return _unread(text, others, line or 1)
    if not files:
        return None
    called = f"{len(files)} files are called {path}"
    if line is None and len(files) == 1:
        return _file(reader, text, files[0])
    if line is not None and len(files) > 1:
        files, called = _with_line(reader, files, line, called)
    if line is None or len(files) > 1:
        places = tuple(Place("file", file, file, 1 if line is None or "none of them" in called else line) for file in files)
        return Backwards(text, f"{called}; give more of the path", places, ())
    found = _line(reader, text, files[0], line)
    return replace(found, said=f"{found.said}; {called}") if "one of them" in called else found


def _with_line(reader: Reader, files: tuple[str, ...], line: int, called: str) -> tuple[tuple[str, ...], str]:
    """Those files of one name that have so many lines, and what to say of it; all of them when none has."""
    long = tuple(file for file in files if not 0 < reader.lookup.length_of(file) < line)
    if not long:
        return files, f"{called}, none of them with {line} lines"
    if len(long) == len(files):
        return files, called
    return long, f"{called}, {'one' if len(long) == 1 else len(long)} of them with {line} lines"


def unread(reader: Reader, name: str) -> tuple[str, ...]:
    """The files of the tree that are called so and whose code is not read: tests, documents, files of the build."""
    wanted = name.strip().strip("/").removeprefix("./")
    paths = reader.paths()
    return (wanted,) if wanted in paths else tuple(sorted(path for path in paths if path.endswith(f"/{wanted}"))) if wanted else ()


def _unread(text: str, files: tuple[str, ...], line: int = 1) -> Backwards | None:
    if not files:
        return None
    said = "a file of the tree that the atlas does not read" if len(files) == 1 else f"{len(files)} files of the tree are called so, and the atlas reads none of them"
    return Backwards(text, f"{said}: no operator is looked for there", tuple(Place("file", path, path, line) for path in files), ())


def _file(reader: Reader, text: str, path: str) -> Backwards | None:
    from cartographer.store.values import Reach

    residents = reader.residents(path)
    reaches = tuple(Reach(r.operator, r.backend, r.relation, r.symbol, path, r.line, direct=r.direct) for r in residents)
    if not reaches and not reader.lookup.length_of(path):
        return _unread(text, (path,))
    said = "a file; these operators have something in it" if reaches else "a file; no operator has something in it that the atlas knows of"
    return Backwards(text, said, (Place("file", path, path, 1),), reaches)


def _line(reader: Reader, text: str, path: str, line: int) -> Backwards:
    from cartographer.store.values import Reach

    symbol = reader.lookup.symbol_at(path, line)
    declared = reader.lookup.declared_at(path, line) if path.endswith((".yaml", ".yml")) else ()
    if declared:
        reaches = tuple(Reach(name, "", "declared", name, path, line) for name in declared)
        return Backwards(text, "a row of a yaml file", (Place("row", declared[0], path, line),), reaches)
    first, last = (symbol.line, symbol.end_line) if symbol else (line, line)
    here = [r for r in reader.residents(path) if first <= r.line <= last]
    exact = [r for r in here if r.line == line]
    found = [Reach(r.operator, r.backend, r.relation, r.symbol, path, r.line, direct=r.direct) for r in exact or here]
    place = Place(symbol.kind, symbol.qualname, path, symbol.line) if symbol else Place("line", "", path, line)
    if not found and symbol:  # a function that chains pass by another of its places, or that only shares its name
        found = list(reader.lookup.reaching_symbol(plain(symbol.name)))
        found = [r for r in found if r.path == path]
    long = reader.lookup.length_of(path)
    said = f"inside {symbol.qualname}" if symbol else f"the file has {long} lines" if 0 < long < line else "outside every definition that was found"
    return Backwards(text, said, (place,), tuple(found), note="" if found else f"no operator's chain passes here; {_MAIN_WAYS}")


def _generated(reader: Reader, text: str) -> Backwards | None:
    """RegisterCPU_2.cpp:2484: written by the build, so its lines are in no repository."""
    asked = spelling.place(text)
    if asked is None:
        return None
    name = asked[0].rpartition("/")[2]
    wanted = {name, spelling.generated_stem(name)}
    found = [g for g in reader.generated() if g.name.rpartition("/")[2] in wanted or spelling.generated_stem(g.name) in wanted]
    if not found:
        return None
    folders = set(asked[0].split("/"))  # ATen/Functions.h is made in aten/src/ATen/templates, the other one in tools/autograd
    near = [len(folders.intersection(f"{g.name}/{g.template or g.generator}".split("/"))) for g in found]
    found = [g for g, number in zip(found, near, strict=True) if number == max(near)]
    places = tuple(place for g in found for place in _generators(g))
    note = "its lines cannot be told without a build" if asked[1] else ""
    return Backwards(text, f"written by the build: {found[0].holds}" if not found[0].holds.startswith("Written by") else "written by the build", places, (), note=note)


def _generators(file: GeneratedFile) -> Iterable[Place]:
    yield Place("generator", file.name, file.generator, file.generator_line)
    if file.template:
        yield Place("template", file.name, file.template, 1)


def _python(reader: Reader, text: str) -> Backwards | None:
    """torch.Tensor.backward, torch.Tensor.cuda: Python code, or a binding written by hand, without an operator behind it."""
    for name in spelling.python_names(text):
        module, _, last = name.rpartition(".")
        places = [Place("Python", t.name, t.path, t.line) for t in python_symbols(reader.lookup, module, last)]
        if not places and module in {"torch", "torch.Tensor"}:
            places = [Place("binding written by hand", s.qualname, s.path, s.line) for s in reader.lookup.symbols_called(f"THPVariable_{last}")]
        if places:
            return Backwards(text, f"{name} has no operator of its own", tuple(places), ())
    return None


def _method(reader: Reader, text: str) -> Backwards | None:
    """Module.cuda, torch.storage.UntypedStorage.cuda: a method in Python; which of its bases a class has it from is not known."""
    *module, owner, last = ["", *text.split(".")]
    if not owner.isidentifier() or not last.isidentifier():
        return None
    called = [s for s in reader.lookup.symbols_called(last) if s.path.endswith(".py") and "." in s.qualname]
    own = [s for s in called if f".{s.qualname}".endswith(f".{owner}.{last}")]
    folder = "/".join(filter(None, module))
    own = [s for s in own if s.path in (f"{folder}.py", f"{folder}/__init__.py")] or own
    classes = {s.path for s in reader.lookup.symbols_called(owner) if s.kind == "class"}
    found = own or [s for s in called if s.path in classes]
    said = f"{owner}.{last} is a method in Python" if own else f"{owner} has no {last} of its own; methods of that name beside it, which it may inherit"
    return Backwards(text, said, tuple(Place(s.kind, s.qualname, s.path, s.line) for s in found), ()) if found else None


def _symbol(reader: Reader, text: str) -> Backwards | None:
    """A stub, a kernel function, a profiler's or stack trace's symbol."""
    mangled = text.lstrip("_").startswith("Z") and text.startswith("_")
    names = spelling.demangled_names(text) if mangled else spelling.identifiers(text)
    written = names[0] if mangled and names else text
    outer = plain(written)
    scope = qualified.scope_of(written)
    if (last := scope.rpartition("::")[2]).startswith(("~", "operator")):
        outer = last
    places, reaches = _fitting(reader, outer, scope)
    in_header = all(place.path.endswith((".h", ".cuh", ".hpp")) for place in places)
    narrower = _narrower(reader, names, outer, {r.operator for r in reaches}, launcher=in_header)
    if narrower is not None:
        name, chosen, shared = narrower
        said = f"{outer} with {name}, which tells the operator" if shared else f"{name}, named in the symbol"
        return Backwards(text, said, places + _fitting(reader, plain(name), name)[0], chosen, shared)
    if not places and not reaches:
        if others := tuple(_places(reader, outer)) or _steps(r for r in reader.lookup.reaching_symbol(outer) if r.role != "calls") if "::" in scope else ():
            raise _none_so(scope, outer, others)
        return None
    places = places or _steps(reaches)
    said = f"{outer} is no operator, but stands in the source"
    if spelling.python_names(text):
        said = f"no Python name {text} is known in this release; these are called {outer}"
    return Backwards(text, said, places, reaches, note="" if reaches else f"no operator's chain passes it; {_MAIN_WAYS}")


def _steps(reaches: Iterable[Reach]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(Place(r.role, r.symbol, r.path, r.line) for r in reaches))


def _none_so(scope: str, outer: str, others: Sequence[Place]) -> NotFound:
    """What says that a qualified name is unknown. What shares its last name is a hint, for it may have nothing to do with it."""
    told = [f"{place.symbol} ({place.path}:{place.line})" for place in others[:_HINTED]]
    more = f" and {len(others) - _HINTED} more" if len(others) > _HINTED else ""
    return NotFound(f"nothing in this atlas has the qualified name {scope}", hint=f"called {outer} are {', '.join(told)}{more}: cartographer where {outer}")


def _fitting(reader: Reader, last: str, scope: str) -> tuple[tuple[Place, ...], tuple[Reach, ...]]:
    """Where something of a last name is defined and who reaches it, as far as its qualified name ends like the one that is given.

    Stubs are kept by their last name alone, and so is a step without a namespace, where it stands in what fits.
    """
    reaches = reader.lookup.reaching_symbol(last)
    if "::" not in scope:
        return tuple(_places(reader, last)), reaches
    symbols = [s for s in reader.lookup.symbols_called(last) if qualified.fits(scope, s.qualname)]
    stubs = tuple(_stubs(reader, last))
    inside = {(s.path, line) for s in symbols for line in range(s.line, s.end_line + 1)}
    kept = tuple(r for r in reaches if qualified.fits(scope, r.symbol) or (r.path, r.line) in inside or (stubs and r.role in _OF_STUBS))
    return (*stubs, *(Place(s.kind, s.qualname, s.path, s.line) for s in symbols)), kept


def _narrower(
    reader: Reader, names: Iterable[str], outer: str, shared: set[str], *, launcher: bool
) -> tuple[str, tuple[Reach, ...], int] | None:
    """The template argument or enclosing function that the fewest operators reach: it names the one that was running.

    It must lie within what the outer function is known to serve, unless that is a launcher, which stands in a header.
    """
    best: tuple[str, tuple[Reach, ...], int] | None = None
    for name in names:
        for part in dict.fromkeys((plain(name), *name.split("::"))):
            if part == outer or part.lower() in _VAGUE or len(part) < _SHORTEST:
                continue
            reaches = _reaching(reader, part, f"{name.partition(part)[0]}{part}")
            direct = {r.operator for r in reaches if r.direct} or {r.operator for r in reaches}
            chosen = direct if launcher or not shared else direct & shared
            if chosen and (launcher or not shared or len(chosen) < len(shared)) and (best is None or len(chosen) < len({r.operator for r in best[1]})):
                best = (name, tuple(r for r in reaches if r.operator in chosen), len(shared))
    return best


def _reaching(reader: Reader, name: str, written: str) -> tuple[Reach, ...]:
    """Who reaches a name; or a lambda inside the function of that name; or the functor that the build writes."""
    scope = qualified.scope_of(written)
    found = _fitting(reader, name, scope)[1]
    if found:
        return found
    functor = re.fullmatch(_UFUNCTOR, name)
    if functor:
        wanted = set(reader.lookup.by_base(functor[1], "aten"))
        made = (r for r in reader.lookup.reaching_symbol(f"{functor[1]}_kernel") if r.operator in wanted and r.backend == "CUDA")
        return tuple(made)
    functions = [s for s in reader.lookup.symbols_called(name) if not s.path.endswith(".py") and qualified.fits(scope, s.qualname)]
    return tuple(r for s in functions[:_TWINS] for r in reader.lookup.reaching_lines(s.path, s.line, s.end_line))


def _stubs(reader: Reader, last: str) -> Iterable[Place]:
    """Registrations of the stub of that name, its declarations and definitions."""
    for name, device, kernel, path, line in reader.lookup.stub_places(last):
        yield Place(f"{device} registration of the stub {name}", kernel, path, line)
    for name, path, line in reader.lookup.stub_origins(last):
        yield Place("dispatch stub", name, path, line)


def _places(reader: Reader, last: str) -> Iterable[Place]:
    """Where a name is defined: symbols, and registrations of the stub of that name."""
    yield from _stubs(reader, last)
    for symbol in reader.lookup.symbols_called(last):
        yield Place(symbol.kind, symbol.qualname, symbol.path, symbol.line)
