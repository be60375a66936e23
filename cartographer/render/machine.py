# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files for programs: atlas.json (what this is and where things are) and a Sphinx inventory, so that other pages can link in."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.site import anchor_of, short_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.render.site import Site


FILES = ("atlas.json", "objects.inv")


def files(site: Site) -> Iterator[tuple[str, bytes]]:
    """The files for programs, as (address, bytes)."""
    yield from zip(FILES, (atlas_json(site), inventory(site)), strict=True)


def atlas_json(site: Site) -> bytes:
    """The content of atlas.json: the first line of the export, and where things are."""
    info = site.catalog.info
    source = info.source
    value = {
        "kind": "atlas",
        "format": 1,
        "pytorch": source.version,
        "tag": source.tag,
        "commit": source.commit,
        "source": source.kind.value,
        "counts": {count.name: count.value for count in info.counts},
        "tool": info.tool_version,
        "where": {
            "plates": {link.text.lower(): link.address for link in site.plates},
            "operator": "op/{base}.html, op/{namespace}/{base}.html outside aten; #{overload name}; the same as .json",
            "file": "source/{path}.html#L{line}",
            "folder": "source/{path}/index.html",
            "moved": dict(sorted(site.settle.moved.items())),
            "search": "search/0.js",
            "inventory": "objects.inv",
            "database": "atlas.db",
        },
    }
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def inventory(site: Site) -> bytes:
    """A Sphinx inventory, version 2: operators as `std:label`, functions of kernels as `cpp:function`."""
    source = site.catalog.source
    head = f"# Sphinx inventory version 2\n# Project: PyTorch atlas\n# Version: {source.version}\n# The remainder of this file is compressed using zlib.\n"
    rows = []
    for key, operators in site.catalog.bases.items():
        page = urls.href(site.settle(f"{key}.html"))
        for op in operators:
            if not op.name.isprintable() or " " in op.name:
                continue
            rows.append(f"{op.name} std:label -1 {page}#{anchor_of(op.name)} {short_name(op.name)}")
            rows += [f"{binding.python} py:function 1 {page}#{anchor_of(op.name)} -" for binding in op.bindings if " " not in binding.python and binding.python.isprintable()]
    seen: set[str] = set()
    unique = [row for row in rows if not (row.partition(" ")[0] in seen or seen.add(row.partition(" ")[0]))]  # type: ignore[func-returns-value]
    return head.encode() + zlib.compress("".join(f"{row}\n" for row in sorted(unique)).encode(), 9)
