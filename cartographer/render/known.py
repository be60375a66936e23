# SPDX-License-Identifier: BSD-3-Clause
"""A site that stands: which pages it has, and at which of them an operator is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.site import anchor_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATUS = ".pages.json"  # address -> digest of every file of a site


@dataclass(frozen=True, slots=True)
class KnownPages:
    """The pages of one site in a folder."""

    digests: Mapping[str, str]
    moved: Mapping[str, str]  # addresses that differed from another in case alone

    @classmethod
    def of(cls, folder: Path) -> KnownPages:
        """Those that the folder's own lists name; none where there is no site."""
        moved = _read(folder / "atlas.json").get("where", {})
        return cls(_texts(_read(folder / STATUS).get("pages", {})), _texts(moved.get("moved", {}) if isinstance(moved, dict) else {}))

    def operator(self, name: str) -> str | None:
        """The address of an overload; `add_` stands with `add` where both are."""
        namespace, _, rest = name.partition("::")
        base = rest.partition(".")[0]
        plain = base[:-1] if base.endswith("_") and not base.endswith("__") else base
        for candidate in (plain, base):
            address = f"{urls.operator_key(namespace, candidate)}.html"
            address = self.moved.get(address, address)
            if address in self.digests:
                return f"{address}#{anchor_of(name)}"
        return None


def _read(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(found: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
