# SPDX-License-Identifier: BSD-3-Clause
"""Makes the search index, in shards that a page loads when its reader first types.

A shard is a script that fills `window.ATLAS_SHARDS` (`fetch` fails on file://). Inside are lists of names as one text
each, a name a line, tab before what it leads to: half the size of JSON, and split faster than it is parsed.

    0        plates, operators, Python names, bindings, Nodes, stubs; and which other shards there are
    files    paths of files and folders
    kernels  functions that operators' kernel chains pass, so that these are found by any part of their names
    s-XY     symbols by the first letters of their last part: `name TAB kind file:line ...`, file as its number in `files`;
             kind K is a function that some operator's kernel chain passes
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.prose import guide_address, slug_of
from cartographer.render.site import short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cartographer.model.operator import Operator
    from cartographer.render.site import Site

FOLDER = "search"
FIRST_LIMIT = 400_000
LIMIT = 400_000
_KIND = {"function": "f", "method": "m", "kernel": "k", "device": "d", "class": "c", "struct": "c", "enum": "c", "macro": "x"}


def shards(site: Site) -> list[tuple[str, bytes]]:
    """All shards of the search index, as (address, bytes)."""
    names, passed = _symbols(site)
    symbols = dict(_symbol_shards(names))
    first = {
        "plates": _lines(_plates(site)),
        "guide": _lines(_guide(site)),
        "operators": _lines(_operators(site)),
        "python": _lines(_python(site)),
        "bindings": _lines(_bindings(site)),
        "nodes": _lines(_nodes(site)),
        "stubs": _lines(f"{_word(stub.name)}\t{urls.href(stub_address(site, stub.name))}" for stub in site.catalog.stubs),
        "mains": str(len(site.catalog.bases)),
        "shards": " ".join(symbols),
    }
    found = [_script("0", first), _script("files", _files(site)), _script("kernels", {"symbols": _kernels(passed)})]
    found += [_script(f"s-{key}", {"symbols": text}) for key, text in symbols.items()]
    return found


_WORD = re.compile(r"[a-z0-9_]{3,}")
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
_ANCHORED = re.compile(r"\{[a-z]+:([^{}]*)\}")


def _guide(site: Site) -> Iterator[str]:
    """Texts with the words that people ask with and the words that stand in them; sections with a heading of their own likewise."""
    headings = Counter(heading for text in site.book.texts for heading in _SECTION.findall(text.body))
    for text in site.book.texts:
        whole = " ".join((text.body, *(part for stop in text.stops for part in (stop.title, stop.at, stop.body))))
        yield f"{text.title}\t{urls.href(guide_address(text.slug))}\t{'|'.join(text.words).lower()}\t{_bag(whole)}"
        parts = _SECTION.split(text.body)
        for heading, body in zip(parts[1::2], parts[2::2], strict=True):
            if headings[heading] == 1:
                plain = _ANCHORED.sub(r"\1", heading)
                name = f"{text.title}: {plain}" if text.slug == "pages/glossary" else plain
                yield f"{name}\t{urls.href(guide_address(text.slug))}#{slug_of(plain)}\t\t{_bag(body)}"


def _bag(told: str) -> str:
    return " ".join(dict.fromkeys(_WORD.findall(told.lower())))


def stub_address(site: Site, name: str) -> str:
    """The address at which a dispatch stub is described; the last part of its name is the anchor."""
    return f"{site.stub_sheet(name)}#{name.rpartition('::')[2]}"


def _script(name: str, value: Mapping[str, str]) -> tuple[str, bytes]:
    body = json.dumps(value, separators=(",", ":"), sort_keys=True).replace("</", "<\\/")
    text = f'(window.ATLAS_SHARDS=window.ATLAS_SHARDS||{{}})["{name}"]={body};\n'
    return f"{FOLDER}/{name}.js", text.encode()


_BREAKS = re.compile(r"[\t\n\r\x00\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def _word(name: str) -> str:
    """A name as it stands in a list of lines with tabs."""
    return name if name.isprintable() else _BREAKS.sub("\ufffd", name)


def _lines(found: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(found))


def _plates(site: Site) -> Iterator[str]:
    for link in site.plates:
        yield f"{link.text}\t{urls.href(link.address)}"


def _operators(site: Site) -> Iterator[str]:
    """`add.Tensor`, and `add_.Tensor TAB add` where the page has another name than the operator's own base.

    The main overload of each page comes first, so that of equally fitting rows it is shown first.
    """
    for op in _mains_first(site):
        key = site.catalog.key_of[op.name]
        own = f"op/{op.base}" if op.namespace == "aten" else f"op/{op.namespace}/{op.base}"
        page = site.settle(f"{key}.html").removesuffix(".html")
        name = _word(short_name(op.name))
        yield name if page == own else f"{name}\t{page.removeprefix('op/')}"


def _mains_first(site: Site) -> Iterator[Operator]:
    mains = list(site.catalog.mains.values())
    names = {op.name for op in mains}
    yield from mains
    yield from (op for op in site.catalog.operators if op.name not in names)


def _python(site: Site) -> Iterator[str]:
    seen = set()
    for op in _mains_first(site):
        for binding in op.bindings:
            if binding.python not in seen:
                seen.add(binding.python)
                yield f"{_word(binding.python)}\t{_word(short_name(op.name))}"


def _bindings(site: Site) -> Iterator[str]:
    seen = set()
    for op in _mains_first(site):
        for binding in op.bindings:
            if binding.function not in seen:
                seen.add(binding.function)
                yield f"{_word(binding.function)}\t{_word(short_name(op.name))}"


def _nodes(site: Site) -> Iterator[str]:
    for node, names in site.catalog.nodes.items():
        yield f"{_word(node)}\t{_word(short_name(min(names, key=lambda name: (len(name), name))))}"


def _files(site: Site) -> Mapping[str, str]:
    """Files in catalog order, so that a file's number is its line; an address is given where the rule does not yield it."""
    files = []
    for entry in site.catalog.files:
        address = site.file(entry.path)
        files.append(entry.path if address == f"source/{entry.path}.html" else f"{_word(entry.path)}\t{urls.href(address)}")
    folders = []
    for path in site.catalog.folders:
        address = site.folder(path)
        if path:
            folders.append(path if address == f"source/{path}/index.html" else f"{_word(path)}\t{urls.href(address)}")
    return {"files": "\n".join(files), "folders": "\n".join(folders)}


_Places = dict[str, list[str]]  # name -> kind and place of each symbol that is called so


def _kernels(passed: _Places) -> str:
    """Names that a chain passes, with the places where it does."""
    return "\n".join(sorted([f"{name}\t{' '.join(places)}" for name, places in passed.items()]))


def _symbols(site: Site) -> tuple[_Places, _Places]:
    """All symbols, and those that some chain passes."""
    names: _Places = defaultdict(list)
    kernels: _Places = defaultdict(list)
    parts = site.catalog.part_of
    reached: dict[str, set[int]] = defaultdict(set)
    for _symbol, path, line in site.reached_places:
        reached[path].add(line)
    for number, entry in enumerate(site.catalog.files):
        of_file, passed = parts.get(entry.path, {}), reached.get(entry.path, ())
        for symbol in site.catalog.symbols.get(entry.path, ()):
            line, name = symbol.line, _word(symbol.qualname or symbol.name)
            part = of_file.get(line, 1)
            kind = "K" if line in passed else _KIND.get(symbol.kind, "o")
            place = f"{kind}{number}:{line}" if part == 1 else f"{kind}{number}~{part}:{line}"
            names[name].append(place)
            if kind == "K":
                kernels[name].append(place)
    return names, kernels


def _symbol_shards(names: _Places) -> Iterator[tuple[str, str]]:
    buckets: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        buckets[shard_of(name)].append(f"{name}\t{' '.join(names[name])}")
    for key in sorted(buckets):
        rows = buckets[key]
        if sum(map(len, rows)) <= LIMIT:
            yield key, "\n".join(rows)
            continue
        finer: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            finer[shard_of(row.partition("\t")[0], letters=3)].append(row)
        yield from ((fine, "\n".join(finer[fine])) for fine in sorted(finer))


_NOT_A_LETTER = re.compile(r"[^a-z0-9]")


def shard_of(name: str, letters: int = 2) -> str:
    """The shard that contains a symbol: the first letters of its last part, leading underscores ignored."""
    last = name.rstrip(".:").rpartition("::")[2].rpartition(".")[2].strip("_ ~").lower()
    return (_NOT_A_LETTER.sub("", last)[:letters] or "_").ljust(letters, "_")
