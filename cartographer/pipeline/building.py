# SPDX-License-Identifier: BSD-3-Clause
"""From a request to an atlas: the stages in order. The only place where they meet."""

from __future__ import annotations

import hashlib
import os
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
from cartographer.checkout.versions import require_whole_list
from cartographer.codegen import operators as codegen
from cartographer.codegen import sources as generators
from cartographer.codegen.files import generated_files
from cartographer.compare import advice, bodies
from cartographer.compare.rows import operator_list
from cartographer.declare import declarations
from cartographer.dispatch import assemble, collect
from cartographer.history.ages import of_operator
from cartographer.link import inventory, landmarks
from cartographer.link import operators as link
from cartographer.model.age import Ages
from cartographer.model.atlas import Atlas, Strata
from cartographer.model.source import HistoryLevel
from cartographer.pipeline import lineage
from cartographer.pipeline.lists import advice_texts, is_wanted, matching
from cartographer.processes import beside, collector_at_rest
from cartographer.progress import SilentProgress
from cartographer.scan.cache import FactCache
from cartographer.scan.pool import FactBase, gather_from
from cartographer.store import writer
from cartographer.store.reader import inputs_of, lineage_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.checkout.manifest import Manifest
    from cartographer.model.lineage import Lineage
    from cartographer.model.operator import Operator
    from cartographer.model.source import Tree
    from cartographer.pipeline.lineage import Release
    from cartographer.progress import Progress

PAGES = ".drawn-from"  # beside the pages: the digest of what all of them were drawn from


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build and where to."""

    source: SourceRequest
    out: Path | None = None  # default: a folder with the tag's name on the shelf
    workers: int = 2
    html: bool = True
    shelf: Path = Path("atlas")  # where atlases stand side by side; the folder lists them
    beside: tuple[Release, ...] = ()  # further releases that the operators are followed over


def build(request: BuildRequest, progress: Progress | None = None) -> Path:
    """Build one atlas; returns the folder that holds atlas.db and index.html.

    Whatever stood there stays whole until the new one is complete. Raises CartographerError.
    """
    progress = progress or SilentProgress()
    started = time.perf_counter()
    cache = Cache(request.source.cache)
    tree = open_tree(request.source, progress, of_releases=is_wanted)
    require_whole_list(frozenset(file.path for file in tree.files()).__contains__, tree.info.described)
    out = request.out or request.shelf / folder_of(tree.info.tag)
    collected = request.out is None and not (request.shelf / "atlas.db").exists()
    writer.check_writable(out)
    releases = releases_of(tree, request.beside)
    followed = lineage.lineage(releases, cache, progress)
    inputs, pages = inputs_digest(tree), pages_digest(followed, collected=collected)
    read_before = inputs_of(out) == inputs
    current = _pages_of(out) == f"{inputs} {pages}" or not (request.html or has_pages(out))
    if read_before and current and lineage_of(out) == followed:
        progress.note(f"nothing has changed since {out} was built")
        progress.close()
        return out
    with collector_at_rest():
        atlas = None if read_before else read_atlas(tree, cache, progress, workers=request.workers)
    seconds = {**getattr(progress, "seconds", {}), "read": time.perf_counter() - started}
    with cache.lock(f"atlas-{hashlib.sha256(os.fsencode(out.absolute())).hexdigest()[:16]}", progress):
        progress.stage("writing atlas.db")
        made = writer.with_lineage(out, followed) if atlas is None else writer.beside(
            replace(atlas, inputs=inputs, seconds=seconds, lineage=followed), out)
        with made as fresh:
            if request.html:
                render(fresh, out, progress, collected=collected, before=lineage.before(tree.info.tag, releases))
                write_whole(out / PAGES, f"{inputs} {pages}".encode())
            else:
                writer.settle(fresh)
                remove_pages(out, progress)
    progress.close()
    return out


def folder_of(tag: str) -> str:
    """A tag as the name of one folder: `ciflow/trunk/1` is none."""
    return tag.replace("/", "-").replace("\\", "-").lstrip(".") or "untagged"


def has_pages(out: Path) -> bool:
    """Whether a site of ours stands in a folder."""
    from cartographer.render.known import STATUS

    return (out / STATUS).is_file()


def remove_pages(out: Path, progress: Progress) -> None:
    """What stands beside a database that has no pages of its own was drawn from another one: it goes."""
    if has_pages(out):
        from cartographer.render.write import remove_site

        removed = remove_site(out)
        progress.note(f"{removed:,} pages and files of the former site in {out} are removed: they were drawn from another atlas")
    (out / PAGES).unlink(missing_ok=True)


def releases_of(tree: Tree, beside: Sequence[Release]) -> tuple[Release, ...]:
    """The releases that a tree's operators are followed over: itself, those of its repository, and those that are given."""
    access = history_repository(tree)
    of_clone = lineage.of_repository(Path(access.git_dir)) if access is not None else ()
    return lineage.together((lineage.of_tree(tree),), of_clone, beside)


def pages_digest(followed: Lineage, *, collected: bool) -> str:
    """What the pages of an atlas are drawn from beside its database's inputs."""
    return hashlib.sha256(msgspec.json.encode([followed, collected], order="deterministic")).hexdigest()[:20]


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
    """All stages that read: from a tree to the values of an atlas. What needs nothing of each other is done side by side."""
    listed = tree.files()
    scope = manifest(listed)
    progress.stage("reading the operator lists")
    declared = declarations.load(dict(tree.read_many(declarations.WANTED)))
    sources = matching(tree, generators.WANTED)
    derive = beside(lambda: (codegen.derive(declared, sources), generated_files(sources, {file.path for file in listed})), workers=workers)
    facts = scan(tree, scope, cache, progress, workers=workers)
    progress.stage("registrations and dispatch tables")
    written = matching(tree, collect.WANTED)
    in_cpp = collect.in_cpp(facts, written)
    derived, generated = derive.result()
    findings = beside(lambda: collect.with_python(in_cpp, derived, written), workers=workers)
    texts = written | matching(tree, link.WANTED)
    prepared = link.prepare(facts, lambda path: texts[path].decode("utf-8", "replace") if path in texts else None)
    operators, unresolved = assemble.assemble(derived, findings.result())
    progress.stage("kernels")
    linked = link.link(operators, prepared, workers)
    progress.stage("files and symbols")
    files = tuple(scoped.file for scoped in scope.files)
    marks = landmarks.landmarks(linked.operators, facts, matching(tree, landmarks.WANTED))
    strata = date(tree, cache, progress)
    texts = advice_texts(tree)
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
        rows=operator_list(tree.info, declared, *codegen.listed(declared, sources), advice.advice_in(texts), advice.written_in(texts)),
        bodies=bodies.of_steps(linked.operators, facts, tree.read_many),
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


def render(fresh: Path, out: Path, progress: Progress, *, collected: bool = False, before: Release | None = None) -> None:
    """The site of a database that stands beside its place; when all is drawn, both take their places together.

    `before`: the release that it is compared with on its plate of releases.
    """
    from cartographer.render.write import write_site
    from cartographer.store.reader import Reader

    def settle() -> None:
        (out / PAGES).unlink(missing_ok=True)
        writer.settle(fresh)

    with Reader(fresh) as reader:
        write_site(reader, out, progress, collected=collected, found=lineage.step_to(reader.oplist(), before), when_drawn=settle)
