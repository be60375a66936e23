# SPDX-License-Identifier: BSD-3-Clause
"""The operator list of a PyTorch alone: for comparing releases without building atlases."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.checkout.open import open_tree
from cartographer.codegen import operators as codegen
from cartographer.codegen import sources as generators
from cartographer.compare.rows import operator_list
from cartographer.declare import declarations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.checkout.open import SourceRequest
    from cartographer.model.oplist import OperatorList
    from cartographer.model.source import Tree
    from cartographer.progress import Progress


def operators_of(request: SourceRequest, progress: Progress) -> OperatorList:
    """The list that a request means; only the yaml files and the generators are read."""
    tree = open_tree(request, progress, only=lambda path: path in declarations.WANTED or generators.matches(path))
    declared = declarations.load(dict(tree.read_many(declarations.WANTED)))
    return operator_list(tree.info, declared, codegen.added(declared, matching(tree, generators.WANTED)))


def matching(tree: Tree, globs: Iterable[str]) -> dict[str, bytes]:
    """The bytes of the files that one of the globs names."""
    patterns = tuple(globs)
    exact = {p for p in patterns if not any(c in p for c in "*?[")}
    wild = [p for p in patterns if p not in exact]
    paths = [f.path for f in tree.files() if f.path in exact or any(fnmatchcase(f.path, p) for p in wild)]
    return dict(tree.read_many(paths))
