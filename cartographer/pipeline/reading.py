# SPDX-License-Identifier: BSD-3-Clause
"""Runs the reading stages in order, from a tree to the values of an atlas. The only place where these stages meet.

What two stages do not need of each other they do side by side, one of them in a copy of this process.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer import __version__
from cartographer.checkout.manifest import manifest
from cartographer.checkout.open import history_repository
from cartographer.codegen import operators as codegen
from cartographer.codegen import sources as generators
from cartographer.codegen.files import files_of
from cartographer.codegen.published import published
from cartographer.compare import bodies
from cartographer.contributing import landmarks as contributing
from cartographer.declare import declarations
from cartographer.dispatch import assemble, collect
from cartographer.history.ages import of_operator
from cartographer.link import inventory, landmarks
from cartographer.link import operators as link
from cartographer.model.age import Ages
from cartographer.model.atlas import Atlas, Strata
from cartographer.model.source import HistoryLevel
from cartographer.pipeline.keys import named_keys
from cartographer.pipeline.lists import list_of_tree
from cartographer.pipeline.wanted import matching
from cartographer.processes import beside
from cartographer.scan.cache import FactCache
from cartographer.scan.pool import FactBase, gather_from

if TYPE_CHECKING:
    from cartographer.checkout.cache import Cache
    from cartographer.checkout.manifest import Manifest
    from cartographer.model.atlas import GeneratedFile
    from cartographer.model.operator import Operator
    from cartographer.model.oplist import OperatorList
    from cartographer.model.source import Tree
    from cartographer.progress import Progress


def read_atlas(tree: Tree, cache: Cache, progress: Progress, *, workers: int = 2) -> Atlas:
    """Run all reading stages on a tree, and put the results together as an atlas."""
    listed = tree.files()
    scope = manifest(listed)
    progress.stage("reading the operator lists")
    derive = beside(lambda: derived(tree, cache), workers=workers)
    facts = scan(tree, scope, cache, progress, workers=workers)
    progress.stage("registrations and dispatch tables")
    written = matching(tree, (*collect.WANTED, *link.WANTED))
    in_cpp = collect.in_cpp(facts, written, workers)
    declared, generated, rows = derive.result()
    findings = beside(lambda: collect.with_python(in_cpp, declared, written), workers=workers)
    prepared = link.prepare(facts, lambda path: written[path].decode("utf-8", "replace") if path in written else None, facts.whole)
    scanned = tuple(scoped.file for scoped in scope.files)
    files, symbols = inventory.file_entries(scanned, facts), tuple(inventory.symbols(facts))
    collected = findings.result()
    operators, unresolved = assemble.assemble(declared, collected)
    beheld = beside(lambda: contributing.read(operators, matching(tree, contributing.WANTED)), workers=workers)
    progress.stage("kernels")
    linked = link.link(operators, prepared, workers, assemble.fallbacks(collected))
    progress.stage("files and symbols")
    marks = contributing.joined(landmarks.landmarks(linked.operators, facts, matching(tree, landmarks.WANTED)), beheld.result())
    strata = date(tree, cache, progress)
    return Atlas(
        source=tree.info,
        tool_version=__version__,
        operators=with_ages(linked.operators, strata, facts),
        files=files,
        symbols=symbols,
        stubs=linked.stubs,
        generated=generated,
        unresolved=(*unresolved, *linked.unresolved),
        strata=strata,
        landmarks=(*marks, *published(linked.operators, facts)),
        paths=tuple(file.path for file in listed),
        rows=replace(rows, keys=named_keys(in_cpp.rules)),
        bodies=bodies.of_steps(linked.operators, facts, tree.read_many),
    )


def derived(tree: Tree, cache: Cache) -> tuple[tuple[Operator, ...], tuple[GeneratedFile, ...], OperatorList]:
    """The operators and generated files that the declarations and the generators lead to, and the operator list for comparisons."""
    sources = matching(tree, generators.WANTED)
    declared = declarations.load(dict(tree.read_many(declarations.WANTED)))
    functions = codegen.Functions(declared, sources)
    paths = {file.path for file in tree.files()}
    return codegen.operators_of(functions), files_of(functions.sources, paths), list_of_tree(tree, cache, functions)


def scan(tree: Tree, scope: Manifest, cache: Cache, progress: Progress, *, workers: int = 2) -> FactBase:
    """The facts of every file in scope; files that an earlier build has seen come from the cache, by blob id."""
    blobs = {scoped.file.path: scoped.file.blob for scoped in scope.files}
    kept = FactCache(cache.folder("facts") / "facts.db" if cache.writable else None)
    try:
        return gather_from(blobs, tree.read_many, kept, workers, progress)
    finally:
        kept.close()


def date(tree: Tree, cache: Cache, progress: Progress) -> Strata:
    """The commit of each line, as far as the source has its history."""
    from cartographer.history.strata import date_tree

    access = history_repository(tree, cache)
    if access is None:
        return Strata("none", "this source has no git history; build from a clone to date its lines")
    return date_tree(
        Path(access.git_dir), access.commit, level=access.level.value, cache_dir=cache.folder("history") if cache.writable else None, progress=progress,
    )


def with_ages(operators: tuple[Operator, ...], strata: Strata, facts: FactBase) -> tuple[Operator, ...]:
    """Each operator with the age of its declaration, kernels and derivative, where lines are dated."""
    if strata.level != HistoryLevel.LINES.value:
        return operators
    ages, extent = Ages(strata), inventory.extents(facts)
    return tuple(replace(operator, age=of_operator(ages, operator, extent)) for operator in operators)
