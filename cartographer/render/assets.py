# SPDX-License-Identifier: BSD-3-Clause
"""Copies the hand-written front end (site/) into an atlas, with a digest of the content in each file name."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from cartographer import resources
from cartographer.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "assets"
_ENDINGS = (".css", ".js", ".svg", ".png", ".woff2")


def is_asset(name: str) -> bool:
    """Whether a file has a name as `collect` gives it, of this front end or an earlier one."""
    return re.fullmatch(rf"[\w-]+\.[0-9a-f]{{10}}(?:{'|'.join(map(re.escape, _ENDINGS))})", name) is not None


def collect() -> tuple[Mapping[str, str], Mapping[str, bytes]]:
    """The files of the front end: (name in site/ -> address in the atlas, address -> bytes)."""
    source = resources.folder("site")
    if not source.is_dir():
        raise RenderError("the front end's files are missing", where=str(source), hint="install cartographer again")
    addresses, contents = {}, {}
    for path in sorted(source.iterdir()):
        if path.suffix not in _ENDINGS or not path.is_file():
            continue
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:10]
        address = f"{FOLDER}/{path.stem}.{digest}{path.suffix}"
        addresses[path.name] = address
        contents[address] = data
    return addresses, contents
