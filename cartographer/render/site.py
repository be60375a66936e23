# SPDX-License-Identifier: BSD-3-Clause
"""What page builders share: the catalog, the final addresses, and the ways to make links and receipts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide.book import Book
from cartographer.guide.owners import Owners
from cartographer.model.lineage import Lineage
from cartographer.render import urls
from cartographer.render.catalog import PART
from cartographer.render.instances import siblings
from cartographer.render.pages.frame import Link, Receipt, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cartographer.model.atlas import Landmark as Rule
    from cartographer.model.change import Comparison
    from cartographer.model.location import Location
    from cartographer.render.catalog import Catalog
    from cartographer.render.landmarks import Landmark
    from cartographer.store.verified import Verified


STUBS_A_SHEET = 200
FUNCTION_ROLES = ("entry", "kernel")  # of the steps that the list of functions holds
DEVICE_ROLES = ("device",)
DEVICE_KINDS = ("kernel", "metal-kernel")  # of symbols that are device kernels, whether a chain reaches them or not

_RULE = re.compile(r"(?P<path>[\w./+-]+\.(?:py|yaml|cpp|h|cu|cuh|mm|in)):(?P<line>\d+)")
@dataclass(frozen=True, slots=True)
class Reached:
    """A step of kernel chains, with the operators and backends whose chains pass it."""

    name: str
    path: str
    line: int
    backends: tuple[str, ...]
    operators: tuple[str, ...]  # that reach it themselves
    through: tuple[str, ...] = ()  # that reach it through another operator they call

    def joined(self, rows: Sequence[Reached]) -> Reached:
        """This place with all that reaches it or those of `rows`."""
        rows = (self, *rows)
        operators = {name for row in rows for name in row.operators}
        return Reached(
            self.name, self.path, self.line, tuple(sorted({key for row in rows for key in row.backends})), tuple(sorted(operators)),
            tuple(sorted({name for row in rows for name in row.through} - operators)),
        )  # fmt: skip


_LANGUAGE = {"Python": "p", "C++": "c", "C": "c", "CUDA": "u", "Objective-C++": "m", "Metal": "m"}
_MANY = 10  # folders that have a file of a name
_SHARD = re.compile(r"_\d+(?=\.)")


class Site:
    """A site that is being built: an atlas with everything that its pages share."""

    def __init__(
        self, catalog: Catalog, book: Book | None = None, *, lineage: Lineage | None = None, found: Comparison | None = None, collected: bool = False,
        verified: Verified | None = None,
    ) -> None:
        """`book` is the guide; `lineage` follows the operators over the releases, `found` is what changed since the last one;
        `collected`: the site is one of several in a folder that lists them; `verified`: what a running torch said.
        """
        self.catalog = catalog
        self.book = book or Book()
        self.lineage = lineage or Lineage()
        self.found = found
        self.collected = collected
        self.verified = verified
        self.links = urls.Permalinks(catalog.source)
        self._owners = Owners(catalog.owners)
        self._owner_of: dict[str, Rule | None] = {}
        self.landmarks: dict[str, Landmark | None] = {}  # found once, asked for on every operator's page
        self._rules: dict[str, Receipt | None] = {}
        self._receipts: dict[tuple[str, int, int | None], Receipt] = {}  # pages share many

    @cached_property
    def changed(self) -> frozenset[str]:
        """The operators that have an entry on the page of what changed in this release."""
        from cartographer.render.pages.releases import anchors

        return anchors(self.found)

    @cached_property
    def settle(self) -> urls.CaseSafe:
        """The case-safe form of every page that depends on a name of PyTorch's."""
        return settled(self.catalog.bases, self.catalog.folders, {entry.path: self.parts(entry.path) for entry in self.catalog.files})

    def parts(self, path: str) -> int:
        """The number of pages that the symbols of a file take."""
        return -(-len(self.catalog.symbols.get(path, ())) // PART) or 1

    @cached_property
    def generated(self) -> frozenset[str]:
        """The names of generated files, without shard numbers."""
        return frozenset(entry.name for entry in self.catalog.generated)

    @cached_property
    def languages(self) -> dict[str, str]:
        """The style sheet's letter of the language that most lines in each folder are written in."""
        counts: dict[str, dict[str, int]] = {}
        for entry in self.catalog.files:
            path = entry.path
            letter = language_letter(entry.language)
            while path:
                path = path.rpartition("/")[0]
                of_folder = counts.setdefault(path, {})
                of_folder[letter] = of_folder.get(letter, 0) + entry.lines
        return {path: max(sorted(found), key=lambda letter: found[letter]) for path, found in counts.items()}

    @property
    def plates(self) -> tuple[Link, ...]:
        """The main pages of this atlas that exist, in the order of the navigation."""
        return plates(lines=bool(self.book.texts))

    @cached_property
    def _stub_sheets(self) -> dict[str, str]:
        names = [stub.name for stub in self.catalog.stubs]
        return {name: urls.sheet(urls.STUBS, 1 + number // STUBS_A_SHEET) for number, name in enumerate(names)}

    def stub_sheet(self, name: str) -> str:
        """The address of the sheet that describes a dispatch stub."""
        return self._stub_sheets.get(name, urls.STUBS)

    def reached_by_role(self, roles: tuple[str, ...]) -> list[Reached]:
        """The steps with these roles on all kernel chains, with the operators that reach them, by last name."""
        found: dict[tuple[str, str, int], tuple[set[str], set[str], set[str]]] = {}
        for op in self.catalog.operators:
            for backend, chain in op.kernels.items():
                itself = True
                for step in chain.steps:
                    itself = itself and step.role != "calls"
                    if step.role in roles:
                        backends, names, through = found.setdefault((step.symbol, step.path, step.line), (set(), set(), set()))
                        backends.add(backend)
                        (names if itself else through).add(op.name)
        rows = [
            Reached(*place, tuple(sorted(backends)), tuple(sorted(names)), tuple(sorted(through - names)))
            for place, (backends, names, through) in found.items()
        ]
        return sorted(rows, key=lambda row: (row.name.rpartition("::")[2].lower(), row.name, row.path, row.line))

    @cached_property
    def function_rows(self) -> list[Reached]:
        """All functions on kernel chains, without device code and stubs."""
        return self.reached_by_role(FUNCTION_ROLES)

    @cached_property
    def device_rows(self) -> list[Reached]:
        """All device kernels of the tree, also those that no chain reaches, and the device steps of chains."""
        reached = {(row.path, row.line): row for row in self.reached_by_role(DEVICE_ROLES)}
        found = dict(reached)
        for symbols in self.catalog.symbols.values():
            kernels = [symbol for symbol in symbols if symbol.kind in DEVICE_KINDS]
            for symbol in kernels:
                found.setdefault((symbol.path, symbol.line), Reached(symbol.qualname or symbol.name, symbol.path, symbol.line, (), ()))
            for symbol, known in siblings(kernels, lambda symbol: (symbol.path, symbol.line) in reached):
                row = found[symbol.path, symbol.line]
                if row.name == (symbol.qualname or symbol.name):  # a macro may make several on one line
                    found[symbol.path, symbol.line] = row.joined([reached[other.path, other.line] for other in known])
        return sorted(found.values(), key=lambda row: (row.name.rpartition("::")[2].lower(), row.name, row.path, row.line))

    @cached_property
    def reached_places(self) -> tuple[tuple[str, str, int], ...]:
        """The (symbol, path, line) of every entry, kernel and device step, for the search."""
        return tuple(sorted({(row.name, row.path, row.line) for rows in (self.function_rows, self.device_rows) for row in rows if row.operators or row.through}))

    @cached_property
    def stub_users(self) -> dict[str, tuple[str, ...]]:
        """The operators whose chains pass a stub, by the stub's last name."""
        users: dict[str, set[str]] = {}
        for row in self.reached_by_role(("stub",)):
            users.setdefault(row.name.rpartition("::")[2], set()).update(row.operators, row.through)
        return {name: tuple(sorted(names)) for name, names in users.items()}

    @staticmethod
    def unsharded(name: str) -> str:
        """The name of a generated file without its shard number: `python_torch_functions.cpp` for `python_torch_functions_2.cpp`."""
        return _SHARD.sub("", name)

    # Receipts ----------------------------------------------------------------------------------

    def is_generated(self, path: str) -> bool:
        """Whether a path names a file that only the build writes."""
        if path in self.catalog.by_path or path in self.catalog.tree:
            return False
        return path.startswith("build/") or "/" not in path or _SHARD.sub("", path) in self.generated

    def receipt(self, path: str, line: int = 0, end: int | None = None) -> Receipt:
        """The receipt of a place: a pinned line on the web, plain text for a generated file."""
        place = (path, line, end)
        found = self._receipts.get(place)
        if found is None:
            found = self._receipts[place] = self._receipt(*place)
        return found

    def _receipt(self, path: str, line: int, end: int | None) -> Receipt:
        if self.is_generated(path) or (self.catalog.tree and path not in self.catalog.tree and path not in self.catalog.by_path):
            return Receipt(path.rpartition("/")[2], None)
        return Receipt(at(path, line, self.common), self.links.line(path, line, end))

    @cached_property
    def common(self) -> frozenset[str]:
        """The names of files that so many folders of the tree have that a name alone does not tell which is meant: `CMakeLists.txt`."""
        counts = Counter(path.rpartition("/")[2] for path in self.catalog.tree)
        return frozenset(name for name, count in counts.items() if count >= _MANY)

    def receipt_of(self, location: Location | None) -> Receipt | None:
        """The receipt of a location; None for None."""
        return self.receipt(location.path, location.line, location.end_line) if location else None

    def rule(self, text: str) -> Receipt | None:
        """The receipt of a rule that is given by its place (`torchgen/gen.py:120`)."""
        if text not in self._rules:
            found = _RULE.search(text)
            self._rules[text] = self.receipt(found["path"], int(found["line"])) if found else None
        return self._rules[text]

    def owner(self, path: str) -> Rule | None:
        """The rule of CODEOWNERS that decides for a path; for a folder, the rule for everything in it."""
        if path not in self._owner_of:
            self._owner_of[path] = self._owners.of(path)
        return self._owner_of[path]

    # Addresses ---------------------------------------------------------------------------------

    def operator(self, name: str) -> Link | None:
        """The link to an operator's page; None when the atlas has no such operator."""
        return self.operator_links.get(name)

    @cached_property
    def operator_links(self) -> dict[str, Link]:
        """The links to the pages of all operators, by full name."""
        return {name: Link(short_name(name), f"{self.settle(f'{key}.html')}#{anchor_of(name)}") for name, key in self.catalog.key_of.items()}

    def place(self, path: str, line: int = 0) -> str | None:
        """The address in this site of a line of a scanned file: that of the symbol that starts there or contains it, else of the file."""
        if path not in self.catalog.by_path:
            return None
        anchor = self.catalog.anchor(path, line)
        return f"{self.file(path, self.catalog.part_of[path][anchor])}#{urls.line(anchor)}" if anchor else self.file(path)

    def file(self, path: str, part: int = 1) -> str:
        """The address of one page of a file: of its first page, or of another part of its symbols."""
        return self.first_pages.get(path) or self.settle(urls.file(path)) if part == 1 else self.settle(urls.file(path, part))

    def folder(self, path: str) -> str:
        """The address of the page of a folder."""
        return self.folder_pages.get(path) or self.settle(urls.folder(path))

    @cached_property
    def first_pages(self) -> dict[str, str]:
        """The address of the first page of each file, by path."""
        return {entry.path: self.settle(urls.file(entry.path)) for entry in self.catalog.files}

    @cached_property
    def folder_pages(self) -> dict[str, str]:
        """The address of the page of each folder, by path."""
        return {path: self.settle(urls.folder(path)) for path in self.catalog.folders}

    def crumbs(self, path: str) -> tuple[Link, ...]:
        """The links to the folders above a path, for the top of its page."""
        parts = path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        return (
            Link("Territory", urls.TERRITORY),
            *(Link(folder.rpartition("/")[2], self.folder(folder)) for folder in above),
        )


def settled(keys: Iterable[str], folders: Iterable[str], files: Mapping[str, int]) -> urls.CaseSafe:
    """The addresses of operators, folders and files (with the number of their pages), so that no two differ only in case."""
    wanted = [f"{key}.html" for key in keys]
    wanted += [urls.folder(path) for path in folders]
    wanted += [urls.file(path, part + 1) for path, parts in files.items() for part in range(parts)]
    return urls.CaseSafe(wanted)


def plates(*, lines: bool) -> tuple[Link, ...]:
    """The main pages of a site, in the order of the navigation, with or without reading lines."""
    always = (
        Link("Map", urls.MAP), Link("Operators", urls.OPERATORS), Link("Kernels", urls.KERNELS), Link("Territory", urls.TERRITORY),
        Link("Strata", urls.STRATA), Link("Generated", urls.GENERATED),
    )  # fmt: skip
    routes = (Link("Lines", urls.LINES),) if lines else ()
    return (*always, *routes, Link("Releases", urls.RELEASES), Link("Checks", urls.CHECKS))


def language_letter(language: str) -> str:
    """The style sheet's letter for a language: the same for C and C++, and for Objective-C++ and Metal."""
    return _LANGUAGE.get(language, "o")


def short_name(name: str) -> str:
    """A name without the namespace `aten`: `add.Tensor` for `aten::add.Tensor`; other namespaces are kept."""
    return name.removeprefix("aten::")


def anchor_of(name: str) -> str:
    """The anchor of an overload on its page: its name without namespace."""
    return name.partition("::")[2]
