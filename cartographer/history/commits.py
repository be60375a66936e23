# SPDX-License-Identifier: BSD-3-Clause
"""Lists the commits behind one revision, parents first."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.errors import HistoryError

if TYPE_CHECKING:
    from cartographer.history.plumbing import Git


@dataclass(frozen=True, slots=True)
class Commits:
    """All ancestors of a revision in topological order; a commit is referred to by its index in this order."""

    ids: tuple[str, ...]
    dates: tuple[str, ...]  # the committer's, as git prints them ("%cs")
    parents: tuple[tuple[int, ...], ...]
    index: dict[str, int] = field(repr=False)
    boundary: frozenset[int] = frozenset()  # a shallow clone ends here: these only look like roots

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def tip(self) -> int:
        """The index of the revision itself."""
        return len(self.ids) - 1

    def key(self, commit: int) -> bytes:
        """The key of a commit's patch: its id and that of its first parent, on which the patch depends (a shallow clone may hide the parent)."""
        first = self.parents[commit][:1]
        return _short(self.ids[commit]) + (_short(self.ids[first[0]]) if first else bytes(20))

    def line(self, commit: int) -> bytes:
        """The line that asks `git diff-tree --stdin` for the commit against its first parent alone."""
        return b" ".join(self.ids[one].encode("ascii") for one in (commit, *self.parents[commit][:1])) + b"\n"

    def first_parent_line(self) -> list[int]:
        """The commits of the main line, oldest first."""
        line, commit = [], self.tip
        while True:
            line.append(commit)
            if not self.parents[commit]:
                return line[::-1]
            commit = self.parents[commit][0]


def _short(name: str) -> bytes:
    raw = bytes.fromhex(name)
    return raw if len(raw) == 20 else hashlib.sha256(raw).digest()[:20]


def resolve(git: Git, rev: str) -> str:
    """The commit id of a revision; a tag wins over a branch of the same name. Raises HistoryError."""
    for name in (f"refs/tags/{rev}", *([] if rev.startswith("-") else [rev])):
        if commit := git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"):
            return commit
    raise HistoryError(f"no commit called {rev!r}", where=str(git.folder))


def read(git: Git, commit: str) -> Commits:
    """List the ancestors of a commit."""
    out = git.run("rev-list", "--topo-order", "--reverse", "--format=%H %cs %P", commit).decode("ascii", "replace")
    rows = [row.split() for row in out.splitlines() if not row.startswith("commit ")]
    shallow = _shallow(git)
    try:
        index = {row[0]: number for number, row in enumerate(rows)}
        return Commits(
            ids=tuple(row[0] for row in rows),
            dates=tuple(row[1] for row in rows),
            parents=tuple(tuple(index[parent] for parent in row[2:]) for row in rows),
            index=index,
            boundary=frozenset(index[row[0]] for row in rows if row[0] in shallow),
        )
    except LookupError as error:
        raise HistoryError("git lists commits in a form that we cannot read", where=str(git.folder), hint="try `git fsck`") from error


def _shallow(git: Git) -> frozenset[str]:
    listed = git.folder / "shallow"
    common = git.folder / "commondir"
    if common.is_file():  # a linked work tree keeps it with the repository proper
        listed = (git.folder / common.read_text(encoding="utf-8").strip()).resolve() / "shallow"
    return frozenset(listed.read_text(encoding="ascii").split()) if listed.is_file() else frozenset()
