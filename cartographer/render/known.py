# SPDX-License-Identifier: BSD-3-Clause
"""Reads what an existing site contains: which pages, and which of them shows an operator."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.atomic import write_whole
from cartographer.errors import UsageError
from cartographer.render import urls
from cartographer.render.site import anchor_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATUS = ".pages.json"  # address -> digest of every file of a site
PAGES = ".drawn-from"  # what the pages of a site were drawn from, once all are there
LIST = "releases.js"  # marks a folder of atlases
_OURS = (STATUS, LIST)  # a page beside one of these is ours, even one that was cut short
_SIGN = b"drawn by cartographer"  # in the head of every page (templates/shared/masthead.html.jinja2, collection.html.jinja2)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """The pages of an existing site in a folder."""

    digests: Mapping[str, str]
    moved: Mapping[str, str]  # addresses that differed from another in case alone

    @classmethod
    def of(cls, folder: Path) -> KnownPages:
        """The pages that the lists in a folder name; none where there is no site."""
        moved = _read(folder / "atlas.json").get("where", {})
        return cls(read_status(folder), _texts(moved.get("moved", {}) if isinstance(moved, dict) else {}))

    def operator(self, name: str) -> str | None:
        """The address of an overload; `add_` is on the page of `add` when both exist."""
        namespace, _, rest = name.partition("::")
        base = rest.partition(".")[0]
        plain = base[:-1] if base.endswith("_") and not base.endswith("__") else base
        for candidate in (plain, base):
            address = f"{urls.operator_key(namespace, candidate)}.html"
            address = self.moved.get(address, address)
            if address in self.digests:
                return f"{address}#{anchor_of(name)}"
        return None


def check_front(folder: Path) -> None:
    """Raise UsageError when the front page of a folder is somebody else's, which ours would overwrite."""
    page = folder / urls.MAP
    if any((folder / name).is_file() for name in _OURS):
        return
    with suppress(OSError):  # none is there, or none that can be read, which whoever writes will tell
        if _SIGN not in page.read_bytes():
            raise UsageError(f"{page} is no page of an atlas, and would be overwritten", hint="name a new or an empty folder with --out")


def digest_of(data: bytes) -> str:
    """The digest of a file, as a site's list of files has it."""
    return hashlib.sha256(data).hexdigest()[:20]


def read_status(out: Path) -> dict[str, str]:
    """Address -> digest of every file of the site in a folder; empty when there is no site, or none that can be read."""
    return _texts(_read(out / STATUS).get("pages", {}))


def write_status(out: Path, pages: Mapping[str, str]) -> None:
    """Write the site's own list of its files, with the digest of each."""
    write_whole(out / STATUS, (json.dumps({"format": 1, "pages": dict(sorted(pages.items()))}, indent=0) + "\n").encode())


def _read(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(found: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
