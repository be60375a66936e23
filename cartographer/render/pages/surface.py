# SPDX-License-Identifier: BSD-3-Clause
"""The upper three floors of a descent: the line that a person writes, where its name comes from, and the border to C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.render.landmarks import landmark
from cartographer.render.pages.frame import Receipt
from cartographer.render.pages.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.model.atlas import Landmark, Symbol
    from cartographer.model.location import Location
    from cartographer.model.operator import Binding, Operator
    from cartographer.render.site import Site

_METHOD, _HIDDEN, _PACKAGE = "torch.Tensor.", "torch._C.", "torch."
_CLASS = ("torch/_tensor.py", "torch/tensor.py")  # of torch.Tensor; the latter to 1.8
_OVER = ("torch/functional.py",)  # whose functions torch/__init__.py imports over the names of the extension module


def your_line(site: Site, op: Operator) -> Stop:
    """Floor 1: the call as a person writes it, by its most public name."""
    names = [*dict.fromkeys(b.python for b in op.bindings), *dict.fromkeys(mark.text for mark in published(site, op))]
    if names:
        name = min(names, key=_reach)
        others = sorted({*names} - {name})
        says = "Your line." + (f" Also reached as {', '.join(others)}." if others else "")
        if name.startswith(_HIDDEN):
            says = "The operator's only name in Python that is known here: one of the extension module, for torch's own code." + says.removeprefix("Your line.")
    else:
        name, says = f"torch.ops.{op.name.replace('::', '.')}", "Your line. The operator has no Python name of its own."
    arguments, method = _arguments(op.schema), name.startswith(_METHOD)
    call = f"{arguments[0]}.{name.rpartition('.')[2]}({', '.join(arguments[1:])})" if method and arguments else f"{name}({', '.join(arguments)})"
    return Stop(call, says, (), "")


def _reach(name: str) -> int:
    """Functions first, then methods, then what is hidden in the extension module."""
    return 2 if name.startswith(_HIDDEN) else int(name.startswith(_METHOD))


def published(site: Site, op: Operator) -> list[Landmark]:
    """The places where Python gives the operator a public name."""
    return [mark for mark in site.catalog.landmarks_of.get(f"{op.namespace}::{op.base}", ()) if mark.kind == "public"]


def _arguments(schema: str) -> list[str]:
    """The names of the arguments that have no default."""
    inside, depth, parts, current = schema.partition("(")[2].rpartition(") ->")[0], 0, [], ""
    for char in inside:
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            parts.append(current)
            current = ""
        else:
            current += char
    parts.append(current)
    words = [part.strip().rpartition(" ")[2] for part in parts if part.strip()]
    return [word for word in words if "=" not in word and word.isidentifier()]


def python_stops(site: Site, op: Operator) -> list[Stop]:
    """Floor 2: where each Python name comes from. Names that Python code defines are told apart from those of the extension module."""
    names = list(dict.fromkeys(b.python for b in op.bindings))
    if not names:
        entry = landmark(site, "torch.ops")
        return [Stop(entry.symbol, entry.says, (entry.receipt,), "python", common=True, address=entry.address)] if entry else []
    found = [*_published(site, op), *_written(site, names)]
    plain = [name for name in names if not any(name in stop.name.split(", ") for stop in found)]
    for members, says, path in (
        ([n for n in plain if n.count(".") == 1], "No Python body: copied out of the extension module when torch is imported.", "torch/__init__.py"),
        ([n for n in plain if n.startswith(_METHOD)], "No Python body: inherited from a class of the extension module.", _first(site, _CLASS)),
        ([n for n in plain if n.count(".") > 1 and not n.startswith(_METHOD)], "No Python body: a function of the extension module.", ""),
    ):
        if members:
            known = path in site.catalog.by_path
            found.append(Stop(", ".join(members), says, (_receipt(site, path),) if known else (), "python", common=known))
    return found


def _receipt(site: Site, path: str) -> Receipt:
    """A file; of that with the class Tensor, the line of the class."""
    classes = [s for s in _symbols(site, path) if s.qualname == "Tensor" and s.kind == "class"] if path in _CLASS else []
    return site.receipt(path, classes[0].line if classes else 0)


def _first(site: Site, paths: Sequence[str]) -> str:
    return next((path for path in paths if path in site.catalog.by_path), "")


def _symbols(site: Site, path: str) -> Sequence[Symbol]:
    return site.catalog.symbols.get(path, ())


def _published(site: Site, op: Operator) -> Iterator[Stop]:
    """Names that Python binds to a function of the extension module by an assignment."""
    for mark in published(site, op):
        yield Stop(mark.text, "No Python body: this line binds the name to the function of the extension module.", (site.receipt(mark.path, mark.line),), "python")


def _written(site: Site, names: Sequence[str]) -> Iterator[Stop]:
    """Names that Python code defines itself: methods of the class Tensor, and functions of torch/functional.py."""
    for name in names:
        method = name.startswith(_METHOD)
        if name.startswith(_HIDDEN):
            continue
        wanted = f"Tensor.{name.removeprefix(_METHOD)}" if method else name.removeprefix(_PACKAGE)
        for path in _CLASS if method else _OVER:
            symbol = next((s for s in _symbols(site, path) if s.qualname == wanted and s.kind in ("function", "method")), None)
            if symbol:
                yield Stop(name, "Python code stands over the name of the extension module, and decides what it calls.", (site.receipt(path, symbol.line),), "python",
                           address=site.place(path, symbol.line))  # fmt: skip
                break


def border_stops(site: Site, op: Operator) -> list[Stop]:
    """Floor 3: the C functions behind the Python names, and the struct by which C++ calls the operator."""
    found = [*_functions(site, op)]
    if op.cpp:
        entry = landmark(site, "operators template")
        receipts = (entry.receipt,) if entry else ()
        found.append(Stop(f"{op.cpp.op}::call", "One struct for each overload; it looks the operator up once.", receipts, "generated", generated=True))
    return found


def _functions(site: Site, op: Operator) -> Iterator[Stop]:
    """Functions that the generators write; rows of tables written by hand that lead to one of these, or to one that is by hand too."""
    made: dict[tuple[str, Location | None], list[str]] = {}
    rows: dict[str, list[Binding]] = {}
    for b in op.bindings:
        if b.place:
            rows.setdefault(b.function, []).append(b)
        else:
            made.setdefault((b.function, b.generator), []).append(b.file)
    for (function, generator), written in made.items():
        says = "Parses and unpacks the arguments, lets go of the GIL. In no checked-in file; the generator is named beside it."
        if len(names := dict.fromkeys(written)) > 1:
            says = "One in each of the generated files: p" + says[1:]
        receipt = site.receipt_of(generator)
        yield Stop(function, says, (*(Receipt(file, None) for file in names), *((receipt,) if receipt else ())), "generated", generated=True)
    for function, bindings in rows.items():
        if any(function == name for name, _ in made):
            called = ", ".join(dict.fromkeys(b.python.rpartition(".")[2] for b in bindings))
            says = f"The same function by further names: rows of a table that is written by hand lead to {function}."
            yield Stop(called, says, _places(site, bindings), "")
        else:
            yield _by_hand(site, function, bindings)


def _by_hand(site: Site, function: str, bindings: Sequence[Binding]) -> Stop:
    """A function that no generator writes: where it is defined, when that is found, and the rows that name it."""
    defined = [
        site.receipt(b.place.path, s.line)
        for b in bindings[:1] if b.place for s in _symbols(site, b.place.path) if s.name == function and s.end_line > s.line and s.line != b.place.line
    ][:1]  # fmt: skip
    says = "Written by hand: parses and unpacks the arguments. The table's row names it." if defined else "A row of a table that is written by hand names it."
    return Stop(function, says, (*defined, *_places(site, bindings)), "")


def _places(site: Site, bindings: Sequence[Binding]) -> tuple[Receipt, ...]:
    return tuple(dict.fromkeys(site.receipt(b.place.path, b.place.line) for b in bindings if b.place))
