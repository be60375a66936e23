# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Answers the small questions behind `where`, `show` and `search`: which operators have this name, what is in this place, who reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cartographer.store import database
from cartographer.store.search_words import plain

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

    from cartographer.model.atlas import Symbol
    from cartographer.store.values import Reach

_REACH = (
    "SELECT DISTINCT o.name, w.text, s.role, s.symbol, p.path, s.line, b.text, cs.direct FROM step s JOIN path p ON p.id = s.path"
    " JOIN word b ON b.id = s.branch_word JOIN chain_step cs ON cs.step = s.id JOIN operator_chain oc ON oc.chain = cs.chain"
    " JOIN operator o ON o.id = oc.operator JOIN word w ON w.id = oc.backend_word WHERE"
)

_WRITTEN = "w.text LIKE '%/dest/register_dispatch_key.py:%'"  # the rule of a registration whose wrapper the build writes
_DECLARED = "o.namespace <> 'aten', o.origin = 'generated', o.namespace, o.path, o.line, o.id"


class Lookup:
    """Answers that are lists of names, from one atlas."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _names(self, statement: str, *values: Any) -> tuple[str, ...]:
        return tuple(name for (name,) in self._all(statement, *values))

    # Operators by what people call them; all give full names in the order in which PyTorch declares them: aten first,
    # what torchgen adds last. That order puts the overload that people mean before its rarer siblings.

    def by_name(self, name: str) -> tuple[str, ...]:
        """The overload with this full name, as a tuple of at most one name."""
        return self._names("SELECT name FROM operator WHERE name = ?", name)

    def by_base(self, base: str, namespace: str | None = None) -> tuple[str, ...]:
        """All overloads of a base name, in one namespace or in all."""
        if namespace is None:
            return self._names(f"SELECT name FROM operator o WHERE base = ? ORDER BY {_DECLARED}", base)
        return self._names(f"SELECT name FROM operator o WHERE base = ? AND namespace = ? ORDER BY {_DECLARED}", base, namespace)

    def by_python(self, name: str) -> tuple[str, ...]:
        """The operators with this Python name, `torch.Tensor.add`."""
        return self._names(
            f"SELECT o.name FROM binding b JOIN operator o ON o.id = b.operator WHERE b.python = ? GROUP BY o.id ORDER BY {_DECLARED}",
            name,
        )

    def by_binding(self, function: str) -> tuple[str, ...]:
        """The operators behind this C function (`THPVariable_add`)."""
        return self._names(
            f"SELECT o.name FROM binding b JOIN operator o ON o.id = b.operator WHERE b.function = ? GROUP BY o.id ORDER BY {_DECLARED}",
            function,
        )

    def binding_places(self, function: str) -> tuple[tuple[str, str | None, int | None, str | None, int | None], ...]:
        """The places of a C function: (file, path and line when it is written by hand, path and line of what writes it in the build)."""
        found = self._all(
            "SELECT DISTINCT b.file, p.path, b.line, g.path, b.generator_line FROM binding b LEFT JOIN path p ON p.id = b.path"
            " LEFT JOIN path g ON g.id = b.generator_path WHERE b.function = ? ORDER BY b.file, p.path, b.line", function)  # fmt: skip
        return tuple(tuple(row) for row in found)

    def by_node(self, node: str) -> tuple[str, ...]:
        """The operators that record this autograd Node."""
        return self._names(
            f"SELECT o.name FROM node n JOIN operator o ON o.id = n.operator WHERE n.name = ? GROUP BY o.id ORDER BY {_DECLARED}",
            node,
        )

    def nodes_beginning(self, text: str) -> tuple[str, ...]:
        """The autograd Nodes whose name is `text` and a number."""
        names = self._names("SELECT DISTINCT name FROM node WHERE name BETWEEN ? || '0' AND ? || '9999' ORDER BY name", text, text)
        return tuple(name for name in names if name.removeprefix(text).isdigit())

    def by_cpp(self, name: str) -> tuple[str, ...]:
        """The operators with this C++ name: `at::add`, `at::Tensor::add`, `at::_ops::add_Tensor`."""
        return self._names(
            f"SELECT name FROM operator o WHERE cpp_op = ? OR cpp_function = ? OR cpp_method = ? ORDER BY {_DECLARED}", name, name, name
        )

    def by_kernel(self, symbol: str) -> tuple[str, ...]:
        """The operators with a registration of this kernel, given by its whole symbol."""
        return self._names(f"SELECT o.name FROM kernel k JOIN registration r ON r.kernel = k.id JOIN operator o ON o.id = r.operator"
                           f" WHERE k.plain = ? AND k.symbol = ? GROUP BY o.id ORDER BY {_DECLARED}", plain(symbol), symbol)  # fmt: skip

    def kernels_called(self, plain: str) -> tuple[str, ...]:
        """The symbols of registered kernels with this last name."""
        return self._names("SELECT symbol FROM kernel WHERE plain = ? ORDER BY id", plain)

    def registered_keys(self) -> tuple[str, ...]:
        """The keys for which the build writes wrappers around kernels, those of composites too, sorted by name."""
        return self._names(f"SELECT DISTINCT k.text FROM registration r JOIN word k ON k.id = r.key_word JOIN word w ON w.id = r.rule_word WHERE {_WRITTEN} ORDER BY k.text")

    def wrapper_writer(self) -> str:
        """The file of the generator that writes these wrappers in this release; "" where none is known."""
        found = self._names(f"SELECT w.text FROM registration r JOIN word w ON w.id = r.rule_word WHERE {_WRITTEN} LIMIT 1")
        return found[0].rpartition(", ")[2].rpartition(":")[0] if found else ""

    def by_wrapper(self, key: str, name: str) -> tuple[str, ...]:
        """The operators whose wrapper for this key is called so: C++ name and overload where the rule is that of structured ones, else overload and C++ name."""
        rules = self._names("SELECT DISTINCT w.text FROM registration r JOIN word w ON w.id = r.rule_word WHERE r.origin = 'structured' AND w.text <> ''")
        rows = self._all("SELECT DISTINCT o.name, o.overload, coalesce(o.cpp_function, o.cpp_method, ''), w.text FROM registration r JOIN operator o ON o.id = r.operator"
                         " JOIN word w ON w.id = r.rule_word JOIN word k ON k.id = r.key_word"
                         f" WHERE k.text = ? AND {_WRITTEN} ORDER BY {_DECLARED}", key)  # fmt: skip
        found = []
        for operator, overload, cpp, rule in rows:
            last = cpp.rpartition("::")[2]
            if name == (f"{last}_{overload}".removesuffix("_" * (not overload)) if rule.endswith(rules) else f"{overload}_{last}"):
                found.append(operator)
        return tuple(dict.fromkeys(found))

    def backends(self) -> tuple[str, ...]:
        """The backends for which some operator has a chain, sorted by name."""
        return self._names("SELECT text FROM word WHERE id IN (SELECT DISTINCT backend_word FROM operator_chain) ORDER BY text")

    def dispatch_keys(self) -> tuple[str, ...]:
        """The runtime keys of the computed dispatch tables, sorted by name."""
        return self._names(
            "SELECT DISTINCT j.value FROM (SELECT DISTINCT keys_word FROM dispatch_table) t JOIN word w ON w.id = t.keys_word, json_each(w.text) j ORDER BY 1"
        )

    def declared_at(self, path: str, line: int) -> tuple[str, ...]:
        """The operator whose declaration or derivative contains this line of a yaml file: the last one that begins at or before it."""
        for table, column in (("operator", "id"), ("autograd", "operator")):
            begins = self._all(f"SELECT max(t.line) FROM {table} t JOIN path p ON p.id = t.path WHERE p.path = ? AND t.line <= ?", path, line)
            if begins[0][0] is not None:
                return self._names(f"SELECT o.name FROM {table} t JOIN operator o ON o.id = t.{column} JOIN path p ON p.id = t.path"
                                   " WHERE p.path = ? AND t.line = ? ORDER BY o.id", path, begins[0][0])  # fmt: skip
        return ()

    def completions(self, text: str, most: int = 100) -> tuple[str, ...]:
        """Operators whose name begins like this: full names when a namespace is written, base names otherwise."""
        column = "name" if "::" in text else "base"
        return self._names(f"SELECT DISTINCT {column} FROM operator WHERE substr({column}, 1, length(?)) = ? ORDER BY {column} LIMIT ?", text, text, most)

    def all_names(self) -> Iterable[tuple[str, str]]:
        """(kind, name) of everything that can be asked for by name: near misses are taken from these."""
        yield from (
            ("operator", f"{namespace}::{base}")
            for namespace, base in self._all("SELECT DISTINCT namespace, base FROM operator ORDER BY namespace <> 'aten', namespace, base")
        )
        yield from (
            ("operator", name) for (name,) in self._all("SELECT name FROM operator WHERE overload <> '' ORDER BY id")
        )
        yield from (("python", name) for (name,) in self._all("SELECT DISTINCT python FROM binding ORDER BY python"))
        yield from (
            ("binding", name) for (name,) in self._all("SELECT DISTINCT function FROM binding ORDER BY function")
        )
        yield from (("node", name) for (name,) in self._all("SELECT DISTINCT name FROM node ORDER BY name"))
        yield from (("stub", name) for (name,) in self._all("SELECT DISTINCT plain FROM stub ORDER BY plain"))
        yield from (("kernel", name) for (name,) in self._all("SELECT DISTINCT plain FROM step ORDER BY plain"))

    # The way back

    def reaching_symbol(self, plain: str) -> tuple[Reach, ...]:
        """The operators whose chains have a step with this last name, or whose derivatives have such a helper."""
        steps = self._all(f"{_REACH} s.plain = ? ORDER BY o.id, oc.position, cs.position", plain)
        helpers = self._all("SELECT o.name, '', 'helper', h.symbol, p.path, h.line, '', 1 FROM helper h JOIN path p ON p.id = h.path"
                            " JOIN operator o ON o.id = h.operator WHERE h.plain = ? ORDER BY o.id", plain)  # fmt: skip
        return _reaches(steps, helpers)

    def reaching_lines(self, path: str, first: int, last: int) -> tuple[Reach, ...]:
        """The operators whose chains have a step between two lines of a file, or whose derivatives have a helper there."""
        steps = self._all(
            f"{_REACH} p.path = ? AND s.line BETWEEN ? AND ? ORDER BY o.id, oc.position, cs.position", path, first, last
        )
        helpers = self._all("SELECT o.name, '', 'helper', h.symbol, p.path, h.line, '', 1 FROM helper h JOIN path p ON p.id = h.path"
                            " JOIN operator o ON o.id = h.operator WHERE p.path = ? AND h.line BETWEEN ? AND ? ORDER BY o.id", path, first, last)  # fmt: skip
        return _reaches(steps, helpers)

    # Files and symbols

    def files_called(self, name: str) -> tuple[str, ...]:
        """Files of the tree whose path is `name` or ends with /`name`: scanned ones, else any that contains a step or a symbol.

        A file that is only included does not count: the build writes ATen/Functions.h.
        """
        exact = self._names("SELECT path FROM path p WHERE path = ? AND (id IN (SELECT path FROM file) OR NOT EXISTS (SELECT 1 FROM include WHERE target = p.id))", name)
        scanned = "SELECT p.path FROM path p JOIN file f ON p.id = f.path WHERE substr(p.path, -length(?)) = ? ORDER BY p.path"
        others = ("SELECT p.path FROM path p WHERE substr(p.path, -length(?)) = ? AND (p.id IN (SELECT path FROM operator)"
                  " OR p.id IN (SELECT path FROM formula) OR p.id IN (SELECT path FROM step) OR p.id IN (SELECT path FROM symbol_run)) ORDER BY p.path")  # fmt: skip
        return exact or self._names(scanned, "/" + name, "/" + name) or self._names(others, "/" + name, "/" + name)

    def is_folder(self, path: str) -> bool:
        """Whether `path` is a folder of the tree that contains files."""
        return bool(self._all("SELECT 1 FROM path WHERE path > ? AND path < ? LIMIT 1", f"{path}/", f"{path}0"))  # 0 follows / in ASCII

    def symbols_called(self, name: str) -> tuple[Symbol, ...]:
        """The symbols with this last name, sorted by place."""
        return self._symbols("WHERE s.name = ? ORDER BY p.path, s.line", name)

    def includes_of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """What these files include or import, each once; what is not in the tree by the name that is written."""
        found: dict[str, None] = {}
        for path in paths:
            found |= dict.fromkeys(self._names(
                "SELECT p.path FROM include i JOIN path p ON p.id = i.target WHERE i.file = (SELECT id FROM path WHERE path = ?)", path))
        return tuple(found)

    def length_of(self, path: str) -> int:
        """The number of lines of a scanned file; 0 for any other file."""
        return next((lines for (lines,) in self._all("SELECT f.lines FROM file f JOIN path p ON p.id = f.path WHERE p.path = ?", path)), 0)

    def symbol_at(self, path: str, line: int) -> Symbol | None:
        """The innermost symbol whose lines contain this line."""
        from cartographer.store.symbol_rows import IN_FILE

        found = self._symbols(f"{IN_FILE} WHERE s.line <= ? AND s.end_line >= ? ORDER BY s.line DESC, s.end_line LIMIT 1", path, line, line)
        return found[0] if found else None

    def _symbols(self, condition: str, *values: Any) -> tuple[Symbol, ...]:
        from cartographer.store.symbol_rows import Symbols

        with database.explained(self.path):
            return Symbols(self._connection).select(condition, *values)

    def stub_origins(self, plain: str) -> tuple[tuple[str, str, int], ...]:
        """(stub, path, line) of the declarations and definitions of stubs with this last name."""
        import json

        found: list[tuple[str, str, int]] = []
        for name, declared, defined in self._all("SELECT name, declared, defined FROM stub WHERE plain = ? ORDER BY id", plain):
            for path, line in (*json.loads(defined), *json.loads(declared)):
                found.extend((name, text, line) for text in self._names("SELECT path FROM path WHERE id = ?", path))
        return tuple(found)

    def stub_places(self, plain: str) -> tuple[tuple[str, str, str, str, int], ...]:
        """(stub, device, kernel, path, line) of the registrations of stubs with this last name."""
        return tuple(self._all("SELECT s.name, r.device, r.kernel, p.path, r.line FROM stub s JOIN stub_registration r ON r.stub = s.id"
                               " JOIN path p ON p.id = r.path WHERE s.plain = ? ORDER BY s.id, r.position", plain))  # fmt: skip


def _reaches(*groups: list[tuple[Any, ...]]) -> tuple[Reach, ...]:
    from cartographer.store.values import Reach

    return tuple(Reach(name, backend, role, symbol, path, line, branch, bool(direct))
                 for rows in groups for name, backend, role, symbol, path, line, branch, direct in rows)  # fmt: skip
