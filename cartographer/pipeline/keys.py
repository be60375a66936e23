# SPDX-License-Identifier: BSD-3-Clause
"""Brings the names of a release's dispatch keys beside its operator list: what a filter on a key may name, registered to or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.checkout.cache import Cache
from cartographer.checkout.open import open_tree
from cartographer.dispatch.keys import KEYS, read_rules
from cartographer.expand.macros import MacroTable
from cartographer.pipeline.lists import is_wanted, list_of_tree
from cartographer.scan.one import scan_file

if TYPE_CHECKING:
    from cartographer.checkout.open import SourceRequest
    from cartographer.model.dispatch import KeyRules
    from cartographer.model.oplist import OperatorList
    from cartographer.model.source import Tree
    from cartographer.progress import Progress


def named_keys(rules: KeyRules | None) -> dict[str, str]:
    """Every name in the list of dispatch keys, also those that stand for several or are second names -> the name that tables have."""
    return {} if rules is None else {name: rules.key(name) for name in (*rules.runtime, *rules.functionality, *rules.alias, *rules.same)}


def listed_with_keys(request: SourceRequest, progress: Progress) -> OperatorList:
    """The operator list of the PyTorch that a request names, with its dispatch keys; only the files that declare these are read."""
    cache = Cache(request.cache)
    with cache.in_use(progress):
        tree = open_tree(request, progress, only=lambda path: path == KEYS or is_wanted(path))
        return replace(list_of_tree(tree, cache), keys=_keys_of(tree))


def _keys_of(tree: Tree) -> dict[str, str]:
    """Read from DispatchKey.h alone, whose macros stand in it; empty before there was one (1.2)."""
    found = dict(tree.read_many([KEYS] if any(file.path == KEYS for file in tree.files()) else []))
    facts = {path: scan_file(path, data) for path, data in found.items()}
    return named_keys(read_rules({path: data.decode("utf-8", "replace") for path, data in found.items()}, MacroTable(facts, lambda _: None))[0])
