# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the guide, counted in the atlas at hand, each with the way in which it was counted."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide.places import LayerCount
from cartographer.model.operator import Origin
from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.guide.places import Touch
    from cartographer.model.operator import Operator
    from cartographer.store.reader import Reader

_WRITTEN = (Origin.YAML, Origin.STRUCTURED, Origin.GENERATED)


class Counts:
    """Counts for the guide in one atlas. All operators are read at most once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._layers_seen = LayerCount()

    @cached_property
    def _operators(self) -> tuple[Operator, ...]:
        return tuple(self._reader.operators())

    @property
    def layers(self) -> tuple[Touch, ...]:
        """The layers above the backends, with the number of operators that each acts on."""
        return self._layers_seen.touches() if self._sums else ()

    def count(self, name: str) -> tuple[int | None, str]:
        """A count by its name, as (the value, how it was counted); (None, "") for a name that is not known.

        `registrations_KEY` and `tag_NAME` count operators by a dispatch key's registration and by a tag, `layers_OP` and
        `acting_OP` the layers of one operator.
        """
        for known in self._reader.info().counts:
            if known.name == name:
                return known.value, f"{known.says}: {known.receipt}"
        if name in _RULES:
            value, receipt = _RULES[name](self)
            return value, receipt
        kind, _, argument = name.partition("_")
        match kind:
            case "registrations" if argument:
                return sum(any(r.key == argument and r.active for r in op.registrations) for op in self._operators), f"operators of all namespaces with a registration for {argument} (coverage counts those of aten alone)"
            case "tag" if argument:
                return sum(argument in op.tags for op in self._operators), f"operators tagged {argument}"
            case "layers" | "acting" if argument:
                return self._layers_of(argument, acting=kind == "acting")
        return None, ""

    def _layers_of(self, name: str, *, acting: bool) -> tuple[int | None, str]:
        base = name.partition(".")[0]
        for op in self._reader.group(base):
            if op.name == f"aten::{name}":
                found = [layer for layer in op.layers if layer.acts or not acting]
                return len(found), f"layers of aten::{name}" + (" whose registration is no fallthrough" if acting else " above the backends, in the order of DispatchKey.h")
        return None, ""

    @cached_property
    def _aliasing(self) -> list[FunctionSchema]:
        """The schemas that may hold an alias: it stands in brackets besides those of arguments and results."""
        out = []
        for op in self._operators:
            if op.schema.count("(") > 1 + ("-> (" in op.schema):
                with suppress(SchemaError):  # one that cannot be parsed is counted nowhere; it stands among the unresolved
                    out.append(FunctionSchema.parse(op.schema))
        return out

    @cached_property
    def _sums(self) -> Mapping[str, int]:
        """What takes a look at every operator whole."""
        saving = from_python = written = 0
        functions, nodes = set(), set()
        for op in self._operators:
            self._layers_seen.look(op)
            saving += bool(op.autograd and op.autograd.saved)
            from_python += any(r.origin is Origin.PYTHON for r in op.registrations)
            written += sum(r.origin in _WRITTEN and r.kernel is not None for r in op.registrations)
            written += 2 * (op.origin in (Origin.YAML, Origin.GENERATED))
            functions |= {(b.file, b.function) for b in op.bindings if b.generator and not b.place}
            nodes |= set(op.autograd.nodes) if op.autograd and op.autograd.kind == "formula" else set()
        return {"saving": saving, "python": from_python, "written": written + len(functions) + len(nodes)}

    def aliasing(self) -> tuple[int, str]:
        """The number of operators that return a view of an argument."""
        number = sum(any(r.aliases and not r.is_write for r in schema.returns) for schema in self._aliasing)
        return number, "operators whose schema returns an alias of an argument that it does not write to"

    def mutating(self) -> tuple[int, str]:
        """The number of operators that write to an argument."""
        return sum(any(a.is_write for a in schema.arguments) for schema in self._aliasing), "operators whose schema writes to an argument, out= included"

    def saving(self) -> tuple[int, str]:
        """The number of operators that save something for backward."""
        return self._sums["saving"], "operators whose derivative saves an argument or a result"

    def from_python(self) -> tuple[int, str]:
        """The number of operators with a kernel that Python registers."""
        return self._sums["python"], "operators with a kernel that Python registers"

    def written(self) -> tuple[int, str]:
        """The number of functions and classes that the build writes, as far as this atlas knows them one by one."""
        return self._sums["written"], (
            "call and redispatch of each operator of the list, the C functions of bindings, a wrapper for each registration that the list implies, "
            "the Nodes of formulas"
        )

    def derivatives(self) -> tuple[int, str]:
        """The number of rows of derivatives.yaml that belong to an operator."""
        listed = self._reader.oplist()
        rows = {(r.derivative.path, r.derivative.line) for r in listed.rows.values() if r.derivative} if listed else set()
        return len(rows), "rows of derivatives.yaml that belong to an operator of the list"

    def lines_yaml(self) -> tuple[int, str]:
        """The length of native_functions.yaml in lines, up to its last operator."""
        listed = self._reader.oplist()
        last = max((row.line for row in listed.rows.values()), default=0) if listed else 0
        return last, "the line of the last operator in native_functions.yaml"

    def files_python(self) -> tuple[int, str]:
        """The number of Python files that were read."""
        return sum(entry.language == "Python" for entry in self._reader.file_entries()), "Python files read"

    def with_node(self) -> tuple[int, str]:
        """The number of operators with an autograd Node."""
        return self._reader.info().count("with_node"), "operators with an autograd Node"


_RULES = {
    "ops_aliasing": Counts.aliasing, "ops_mutating": Counts.mutating, "ops_saving": Counts.saving, "derivative_rows": Counts.derivatives,
    "lines_yaml": Counts.lines_yaml, "files_python": Counts.files_python, "ops_with_node": Counts.with_node,
    "registrations_python": Counts.from_python, "written": Counts.written,
}  # fmt: skip
