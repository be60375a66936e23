# SPDX-License-Identifier: BSD-3-Clause
"""Finds the first release that contains each commit, in one pass over the history for all tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.checkout import refs

if TYPE_CHECKING:
    from cartographer.history.commits import Commits
    from cartographer.history.plumbing import Git

Tags = tuple[tuple[str, str], ...]

_NONE, _UNSEEN = -1, -2


def tags(git: Git) -> Tags:
    """(tag, commit) of all releases, in the order of their versions."""
    out = git.text("for-each-ref", "--format=%(refname:strip=2) %(objecttype) %(objectname) %(*objecttype) %(*objectname)", "refs/tags")
    found = []
    for row in out.splitlines():
        name, *objects = row.split(" ")
        commits = [ident for kind, ident in zip(objects[::2], objects[1::2], strict=True) if kind == "commit"]
        if commits and refs.is_release(name):
            found.append((name, commits[-1]))
    return tuple(sorted(found, key=lambda tag: refs.release_order(tag[0])))


def firsts(git: Git, commits: Commits, releases: Tags) -> list[int]:
    """For each commit the index of the first release that holds it, -1 when none does or an earlier one may be missing here."""
    beside = _beside(git, commits, [commit for _, commit in releases if commit not in commits.index])
    first = [_UNSEEN] * len(commits)
    passed: set[str] = set()
    known = {_minor(name) for name, _ in releases}
    for number, (release, tip) in enumerate(releases):
        told = number if _follows(_minor(release), known) else _NONE
        todo: list[int] = []
        names = [tip]
        while names:  # the release branch, down to the history that is dated
            name = names.pop()
            if name in commits.index:
                todo.append(commits.index[name])
            elif name not in passed:
                passed.add(name)
                names += beside.get(name, ())
        while todo:
            commit = todo.pop()
            if first[commit] == _UNSEEN:
                first[commit] = told
                todo += commits.parents[commit]
    return [max(number, -1) for number in first]


def _minor(release: str) -> tuple[int, int]:
    major, minor = refs.numbers(release)[:2]
    return major, minor


def _follows(minor: tuple[int, int], known: set[tuple[int, int]]) -> bool:
    """Whether the series before is here too. Releases lie beside the main line: a clone of one branch has few of them."""
    major, number = minor
    if number:
        return (major, number - 1) in known or minor == (0, 1)
    return not major or any(other == major - 1 for other, _ in known)


def _beside(git: Git, commits: Commits, tips: list[str]) -> dict[str, list[str]]:
    if not tips:
        return {}
    lines = "".join(f"{tip}\n" for tip in tips) + f"^{commits.ids[commits.tip]}\n"
    out = git.attempt("rev-list", "--parents", "--ignore-missing", "--stdin", stdin=lines.encode("ascii")) or b""
    return {row[0]: row[1:] for row in (line.split() for line in out.decode("ascii").splitlines())}
