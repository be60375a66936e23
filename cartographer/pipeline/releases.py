# SPDX-License-Identifier: BSD-3-Clause
"""Compares PyTorches, two or more: tags, atlases, unpacked trees and wheels, in any mixture."""

from __future__ import annotations

import difflib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout import refs
from cartographer.checkout.cache import Cache
from cartographer.checkout.clone import own_clone
from cartographer.checkout.git import Git, find_git_dir
from cartographer.checkout.git_tree import repository_refs
from cartographer.checkout.open import SourceRequest
from cartographer.compare.atlases import with_atlases
from cartographer.compare.operators import compare
from cartographer.compare.selection import Selection, check, not_compared, select, spelled_out
from cartographer.compare.timeline import Timeline, timelines
from cartographer.errors import CartographerError, CompareError, NotFound, UsageError
from cartographer.model.source import HistoryLevel
from cartographer.pipeline.keys import listed_with_keys
from cartographer.pipeline.lists import operators_of
from cartographer.processes import beside, none_left
from cartographer.progress import SilentProgress
from cartographer.query import atlases, spelling
from cartographer.store import database
from cartographer.store.doubt import doubting
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cartographer.model.change import Comparison
    from cartographer.model.oplist import OperatorList
    from cartographer.progress import Progress

CORE = "core"  # the tag of aten/src/ATen/native/tags.yaml


@none_left()
def compare_releases(
    old: str, new: str, *, repo: str | None = None, wheel: bool = False, selection: Selection | None = None, core: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """All changes from `old` to `new`; of two atlases also those of kernels, bindings and Nodes. Raises CartographerError."""
    progress = progress or SilentProgress()
    both_at_hand = all(Path(text).exists() for text in (old, new))  # else both may bring something into one cache
    later = beside(lambda: _named(new, repo, wheel, SilentProgress()), workers=2 if both_at_hand else 1)
    sides = [_named(old, repo, wheel, progress), later.result()]
    wanted = selection or Selection()
    notes = check(wanted, *(listed for listed, _ in sides))
    found = compare(*(listed for listed, _ in sides))
    wanted = spelled_out(wanted, *(listed for listed, _ in sides))
    tables = None
    if all(db is not None for _, db in sides):
        readers = [Reader(db) for _, db in sides if db is not None]
        with closing(readers[0]), closing(readers[1]), doubting(readers[1].path), doubting(readers[0].path):
            atlases_of = readers[0].compared(), readers[1].compared()
        found = with_atlases(found, *atlases_of)
        tables = {key for side in atlases_of for operator in side.operators.values() for key in operator.dispatch}
    notes += not_compared(wanted, (row for listed, _ in sides for row in listed.rows.values()), tables)
    found = replace(found, notes=(*found.notes, *_backwards(found), *notes))
    if core:
        wanted = replace(wanted, core=frozenset(name for listed, _ in sides for name, row in listed.rows.items() if CORE in row.tags))
    return select(found, wanted)


def _backwards(found: Comparison) -> Iterator[str]:
    """Whoever names the later release first reads what it brought as lost."""
    if refs.numbers(found.old) > refs.numbers(found.new):
        yield f"{found.old} is the later release: what it brought reads as lost here; name the older one first to see what changed"


def page(found: Comparison) -> str:
    """A comparison as one HTML file that looks like the atlas."""
    from cartographer.render.pages.releases import standalone

    return standalone(found)


def _named(text: str, repo: str | None, wheel: bool, progress: Progress) -> tuple[OperatorList, Path | None]:
    """The same, an error naming which of the two could not be read."""
    try:
        return _side(text, repo, wheel, progress)
    except CartographerError as error:
        if text in f"{error.where} {error.message}":
            raise
        raise CompareError(error.message, where=f"{text}: {error.where}" if error.where else text, hint=error.hint) from error


def _side(text: str, repo: str | None, wheel: bool, progress: Progress) -> tuple[OperatorList, Path | None]:
    """The operator list that one argument means, and the database when it is an atlas."""
    path = Path(text)
    if not path.exists() and (text.startswith(("/", ".", "~")) or path.suffix in (".whl", ".db")):
        raise CompareError("there is no such file or folder", where=text, hint="name an atlas, a tree, a wheel, or a tag such as v2.11.0")
    db = path if path.suffix == ".db" else path / database.FILE_NAME if (path / database.FILE_NAME).is_file() else None
    if db is None and not path.exists() and repo is None and not wheel:
        db = _known(text)
    if db is not None:
        with doubting(db), Reader(db) as reader:
            listed = reader.oplist()
        if listed is None:
            raise CompareError("this atlas holds no operator list", where=str(db), hint="build it again with `cartographer build`")
        return listed, db
    if path.is_dir() and (held := database.held_by(path)):
        raise CompareError("a folder of several atlases", where=text, hint=f"name one of them: {', '.join(held)}")
    if path.exists():
        return listed_with_keys(SourceRequest(source=text), progress), None
    return listed_with_keys(SourceRequest(version=text, repo=repo, from_wheel=wheel, history=HistoryLevel.NONE), progress), None


def _known(tag: str) -> Path | None:
    """The atlas of this machine that was built for a tag."""
    for path in atlases.found():
        try:
            with doubting(path), Reader(path) as reader:
                if tag.removeprefix("v") == reader.info().source.version.removeprefix("v"):
                    return path
        except CartographerError:
            continue
    return None


def operator_history(
    names: Sequence[str], *, repo: str | None = None, wheels: Iterable[Path] = (), sources: Iterable[Path] = (), since: str | None = None,
    progress: Progress | None = None,
) -> tuple[tuple[Timeline, ...], tuple[str, ...]]:
    """The timelines of operators over several releases, and the releases that were looked at: those that are given, else the tags
    of our own clone in the cache and every atlas.

    A release whose list cannot be read is left out with a note. Raises NotFound when no release has such an operator.
    """
    progress = progress or SilentProgress()
    if since is not None and not refs.numbers(since):
        raise CompareError(f"--since takes a release, and {since!r} is none", hint="for example: --since v1.7.0")
    if not all(name.strip() for name in names):
        raise UsageError("an empty name", hint="for example: cartographer history gelu")
    wheels, sources = tuple(wheels), tuple(sources)
    given = repo is not None or wheels or sources
    with Cache().in_use(progress):
        clone = _clone(repo) if repo is not None else None if given else own_clone()
        tags = _tags(clone, since) if clone is not None else ()
        lists, lost = _read([*tags, *(SourceRequest(source=str(path)) for path in (*_wheels(wheels), *sources))], progress)
    if not given:
        lists = {listed.tag: listed for listed in _atlas_lists(demos=not lists)} | lists
    least = refs.numbers(since) if since else ()
    ordered = sorted((listed for listed in lists.values() if _numbers(listed) >= least), key=_numbers)
    if not ordered and given and lost and not lists:
        raise lost[0]
    if not ordered:
        raise NotFound(f"there is no release{f' from {since} on' if since else ''} to look at", hint="give --repo, --wheel or --source, or build atlases")
    meant = {name: operators_named(name, ordered) for name in names}
    unknown = [name for name, found in meant.items() if not found]
    if unknown:
        missed = f"no release from {ordered[0].tag} to {ordered[-1].tag} has an operator {' or '.join(unknown)}"
        near = [close for name in unknown for close in _near(name, ordered)]
        hint = f"did you mean {', '.join(near)}?" if near else f"in an atlas, `cartographer search {unknown[0]}` looks through the names of everything"
        if len(unknown) == len(meant):
            raise NotFound(missed, hint=hint)
        progress.note(f"{missed}; {hint}" if near else missed)
    return timelines(ordered, [name for found in meant.values() for name in found]), tuple(side.tag for side in ordered)


def _numbers(listed: OperatorList) -> tuple[int, ...]:
    return refs.numbers(listed.version.partition("+")[0])


def _read(requests: Sequence[SourceRequest], progress: Progress) -> tuple[dict[str, OperatorList], list[CartographerError]]:
    """The lists of some releases, by tag, and the errors of those that cannot be read, which are told."""
    progress.stage("reading operator lists", len(requests))
    lists: dict[str, OperatorList] = {}
    without: list[str] = []
    lost: list[CartographerError] = []
    for request in requests:
        try:
            listed = operators_of(request, SilentProgress())
        except CartographerError as error:
            without.append(f"{request.version or request.source} ({error.message})")
            lost.append(error)
        else:
            lists.setdefault(listed.tag, listed)
        progress.step()
    if without:
        progress.note(f"{len(without)} releases have no operator list that can be read, among them {without[-1]}")
    return lists, lost


def operators_named(text: str, lists: Sequence[OperatorList]) -> tuple[str, ...]:
    """The full names of the operators, in any of the lists, that a name as people write it stands for; without overload where all are meant.

    `add_`, `add.Tensor`, `aten::add`, `torch.ops.aten.add`, `torch.Tensor.add_`, `torch.linalg.svd`, `F.gelu`.
    """
    known = {name for side in lists for name in side.rows}
    bases = {name.partition(".")[0] for name in known}
    plain = spelling.trimmed(text)
    for full in (spelling.torch_ops(plain), plain if "::" in plain else f"aten::{plain}"):
        if full in known or full in bases:
            return (str(full),)
    for dotted in spelling.python_names(plain):
        *modules, last = dotted.removeprefix("torch.").split(".")
        module = next((part for part in reversed(modules) if part != "functional"), "")
        within = {name.partition(".")[0] for side in lists for name, row in side.rows.items()
                  if module and row.python_module == module and name.partition(".")[0] in (f"aten::{last}", f"aten::{module}_{last}")}  # fmt: skip
        if within or f"aten::{last}" in bases:
            return tuple(sorted(within)) or (f"aten::{last}",)
    return ()


def _near(text: str, lists: Sequence[OperatorList]) -> list[str]:
    """Names that are spelled nearly like one that nothing has."""
    bases = {name.partition(".")[0].partition("::")[2] for side in lists for name in side.rows}
    return difflib.get_close_matches(spelling.trimmed(text).rpartition("::")[2].rpartition(".")[2], sorted(bases), 3, 0.7)


def _clone(repo: str) -> Path:
    git_dir = find_git_dir(Path(repo))
    if git_dir is None:
        raise CompareError("not a git repository", where=repo, hint="--repo takes the path of a clone of PyTorch")
    return git_dir


def _tags(git_dir: Path, since: str | None) -> Iterator[SourceRequest]:
    """A request for each release tag of a clone, oldest first. Only what it holds is read, never its remote."""
    known = (ref.removeprefix("refs/tags/") for ref in repository_refs(Git(git_dir)) if ref.startswith("refs/tags/"))
    least = refs.numbers(since) if since else ()
    tags = sorted((tag for tag in known if refs.is_release(tag) and refs.numbers(tag) >= least), key=refs.release_order)
    for tag in tags:
        yield SourceRequest(version=tag, repo=str(git_dir), history=HistoryLevel.NONE)


def _wheels(given: Iterable[Path]) -> Iterator[Path]:
    for path in given:
        found = sorted(path.glob("torch-*.whl")) if path.is_dir() else [path]
        if not found:
            raise NotFound("there is no torch-*.whl in this folder", where=str(path), hint="--wheel takes a wheel, or a folder of wheels; unpacked trees go to --source")
        yield from found


def _atlas_lists(*, demos: bool) -> Iterator[OperatorList]:
    """The lists of the atlases on this machine. The demo is no release of PyTorch, whatever its tag says: it counts, if `demos` are
    wanted, when it is alone.
    """
    played = []
    real = not demos
    for path in atlases.found():
        try:
            with doubting(path), Reader(path) as reader:
                if (listed := reader.oplist()) is None:
                    continue
                if reader.info().source.is_demo:
                    played.append(listed)
                    continue
        except CartographerError:
            continue
        real = True
        yield listed
    if not real:
        yield from played
