# SPDX-License-Identifier: BSD-3-Clause
"""Packs the lineage of operators into one value of the database, and unpacks it."""

from __future__ import annotations

import json
import zlib

from cartographer.model.lineage import Lineage
from cartographer.store.ledger import as_json


def packed(found: Lineage) -> bytes:
    """A lineage as compressed JSON; the same lineage gives the same bytes."""
    told = {
        "releases": list(found.releases), "first": sorted(found.first), "unread": list(found.unread),
        "events": {name: [list(event) for event in events] for name, events in sorted(found.events.items())},
    }  # fmt: skip
    return zlib.compress(as_json(told).encode(), 9)


def unpacked(data: bytes | None) -> Lineage:
    """The lineage that `packed` compressed; without one, that of a release that was read alone."""
    if not data:
        return Lineage()
    told = json.loads(zlib.decompress(data))
    events = {name: tuple((number, word) for number, word in found) for name, found in told["events"].items()}
    return Lineage(tuple(told["releases"]), frozenset(told["first"]), events, tuple(told["unread"]))
