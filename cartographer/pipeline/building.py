# SPDX-License-Identifier: BSD-3-Clause
"""From a request to an atlas: the stages in order. The only place where they meet."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cartographer import __version__, resources
from cartographer.checkout.cache import Cache, write_whole
from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.checkout.manifest import manifest
from cartographer.checkout.open import SourceRequest, history_repository, open_tree
from cartographer.codegen import operators as codegen
from cartographer.codegen import sources as generators
from cartographer.codegen.files import generated_files
from cartographer.compare.rows import operator_list
from cartographer.declare import declarations
from cartographer.dispatch import assemble, collect
from cartographer.history.ages import of_operator
from cartographer.link import inventory, landmarks
from cartographer.link import operators as link
from cartographer.model.age import Ages
from cartographer.model.atlas import Atlas, Strata
from cartographer.model.source import HistoryLevel
from cartographer.pipeline.lists import matching
from cartographer.progress import SilentProgress
from cartographer.scan.cache import FactCache
from cartographer.scan.pool import FactBase, gather_from
from cartographer.store import writer
from cartographer.store.reader import inputs_of

if TYPE_CHECKING:
    from cartographer.checkout.manifest import Manifest
    from cartographer.model.operator import Operator
    from cartographer.model.source import Tree
    from cartographer.progress import Progress

PAGES = ".drawn-from"  # beside the pages: the digest of what all of them were drawn from


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and where to."""

    source: SourceRequest
    out: Path | None = None  # default: atlas/<tag>
    workers: int = 2
    html: bool = True


def build(request: BuildRequest, progress: Progress | None = None) -> Path:
    """Build one atlas; returns the folder that holds atlas.db and index.html.

    Whatever stood there stays whole until the new one is complete. Raises CartographerError.
    """
    progress = progress or SilentProgress()
    started = time.perf_counter()
    cache = Cache(request.source.cache)
    tree = open_tree(request.source, progress)
    out = request.out or Path("atlas") / tree.info.tag
    writer.check_writable(out)
    inputs = inputs_digest(tree)
    if inputs_of(out) == inputs and (not request.html or _pages_of(out) == inputs):
        progress.note(f"nothing has changed since {out} was built")
        progress.close()
        return out
    atlas = replace(read_atlas(tree, cache, progress, workers=request.workers), inputs=inputs)
    seconds = {**getattr(progress, "seconds", {}), "read": time.perf_counter() - started}
    with cache.lock(f"atlas-{hashlib.sha256(str(out.absolute()).encode()).hexdigest()[:16]}", progress):
        progress.stage("writing atlas.db")
        with writer.beside(replace(atlas, seconds=seconds), out) as fresh:
            if request.html:
                render(fresh, out, progress)
                write_whole(out / PAGES, inputs.encode())
            else:
                writer.settle(fresh)
    progress.close()
    return out


def _pages_of(out: Path) -> str:
    """What the pages in `out` were drawn from; "" when that was never finished."""
    try:
        return (out / PAGES).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def inputs_digest(tree: Tree) -> str:
    """What an atlas is made from, as one digest: every blob of the tree, its commit and history, and this program."""
    access = history_repository(tree)
    told = msgspec.json.encode([tree.info, access, __version__])
    digest = hashlib.sha256(told)
    for file in tree.files():
        digest.update(f"{file.path}\0{file.blob}\n".encode("utf-8", "surrogateescape"))
    package = Path(__file__).resolve().parent.parent
    for folder in (package, *(resources.folder(name) for name in ("templates", "site"))):
        for source in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def read_atlas(tree: Tree, cache: Cache, progress: Progress, *, workers: int = 2) -> Atlas:
    """All stages that read: from a tree to the values of an atlas."""
    listed = tree.files()
    scope = manifest(listed)
    progress.stage("reading the operator lists")
    declared = declarations.load(dict(tree.read_many(declarations.WANTED)))
    sources = matching(tree, generators.WANTED)
    derived = codegen.derive(declared, sources)
    generated = generated_files(sources, {file.path for file in listed})
    facts = scan(tree, scope, cache, progress, workers=workers)
    progress.stage("registrations and dispatch tables")
    written = matching(tree, collect.WANTED)
    findings = collect.registrations(facts, derived, written)
    operators, unresolved = assemble.assemble(derived, findings)
    progress.stage("kernels")
    written |= matching(tree, link.WANTED)
    linked = link.link(operators, facts, lambda path: written[path].decode("utf-8", "replace") if path in written else None)
    progress.stage("files and symbols")
    files = tuple(scoped.file for scoped in scope.files)
    marks = landmarks.landmarks(linked.operators, facts, matching(tree, landmarks.WANTED))
    strata = date(tree, cache, progress)
    return Atlas(
        source=tree.info,
        tool_version=__version__,
        operators=with_ages(linked.operators, strata, facts),
        files=inventory.file_entries(files, facts),
        symbols=tuple(inventory.symbols(facts)),
        stubs=linked.stubs,
        generated=generated,
        unresolved=(*unresolved, *linked.unresolved),
        strata=strata,
        landmarks=marks,
        paths=tuple(file.path for file in listed),
        rows=operator_list(tree.info, declared, codegen.added(declared, sources)),
    )


def scan(tree: Tree, scope: Manifest, cache: Cache, progress: Progress, *, workers: int = 2) -> FactBase:
    """The facts of every file in scope; files that an earlier build has seen come from the cache, by blob id."""
    blobs = {scoped.file.path: scoped.file.blob for scoped in scope.files}
    kept = FactCache(cache.folder("facts") / "facts.db" if cache.writable else None)
    try:
        return gather_from(blobs, tree.read_many, kept, workers, progress)
    finally:
        kept.close()


def date(tree: Tree, cache: Cache, progress: Progress) -> Strata:
    """When each line was laid down, as far as the source has its history."""
    from cartographer.history.strata import date_tree

    access = history_repository(tree)
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


def build_demo(out: Path | None, progress: Progress, *, html: bool = True) -> Path:
    """The atlas of mini torch, the repository of our own that comes along: no network, a few seconds."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="mini-torch-") as folder:
        repository = make_demo_repository(Path(folder) / "mini_torch.git")
        source = SourceRequest(version=DEMO_TAG, repo=str(repository))
        return build(BuildRequest(source, out or Path("atlas") / "demo", html=html), progress)


def render(fresh: Path, out: Path, progress: Progress) -> None:
    """The site of a database that stands beside its place; when all is drawn, both take their places together."""
    from cartographer.render.write import write_site
    from cartographer.store.reader import Reader

    def settle() -> None:
        (out / PAGES).unlink(missing_ok=True)
        writer.settle(fresh)

    with Reader(fresh) as reader:
        write_site(reader, out, progress, when_drawn=settle)
