# SPDX-License-Identifier: BSD-3-Clause
"""Knows which classes derive from which: which methods a call through a pointer or reference can enter, and which classes a
file can see at all.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from cartographer.link.index import CLASSES, FUNCTIONS, bare, segments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.link.index import Defined
    from cartographer.link.names import Names, Scope
    from cartographer.model.fact import FileFacts

CLASSES_IN = ("aten/src/ATen/native/", "aten/src/ATen/quantized/", "aten/src/TH", "torch/csrc/distributed/c10d/")
_ROOTS = ("", "aten/src", "aten/src/TH", "torch/csrc", "torch/csrc/api/include", "torch/lib")
_NAMES = re.compile(r"[A-Za-z_][\w:]*")
_UNTOLD = frozenset(("auto", "const", "typename", "std::shared_ptr", "std::unique_ptr", "c10::intrusive_ptr", "intrusive_ptr"))


def is_constructor(defined: Defined) -> bool:
    """Whether a definition is a constructor: a method that is called like its class."""
    return defined.fact.kind == "method" and defined.segments[-2:-1] == defined.segments[-1:]


def is_method(defined: Defined) -> bool:
    """Whether a definition is a method of a class of the kernels' code, judged by its qualified name: names of classes begin with a capital."""
    if len(defined.segments) < 2 or not defined.segments[-2][:1].isupper() or defined.fact.kind not in ("method", "function"):
        return False
    return defined.path.startswith(CLASSES_IN)


@lru_cache(maxsize=16384)
def _words(declared: str) -> tuple[str, ...]:
    """The names in a declared type that may be classes, the last one first."""
    return tuple(w for w in reversed(_NAMES.findall(declared)) if w not in _UNTOLD)


@dataclass
class Hierarchy:
    """The classes of kernels' code in one tree, and what derives from each."""

    files: Mapping[str, FileFacts]
    by_name: Mapping[str, list[Defined]]
    _seen: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _places: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict, repr=False)  # of classes
    _includes: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _below_roots: dict[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def derived(self) -> dict[tuple[str, ...], list[Defined]]:
        """For each class, the classes that derive directly from it."""
        table: dict[tuple[str, ...], list[Defined]] = {}
        for cls in self.classes:
            for base in self._bases(cls):
                table.setdefault(base.segments, []).append(cls)
        return table

    @cached_property
    def classes(self) -> tuple[Defined, ...]:
        """All classes of kernels' code, sorted by name."""
        return tuple(d for name in sorted(self.by_name) for d in self.by_name[name] if d.fact.kind in CLASSES and d.path.startswith(CLASSES_IN))

    def _bases(self, cls: Defined) -> list[Defined]:
        found = []
        for written in cls.fact.bases:
            wanted = segments(written.partition("<")[0].strip())
            known = [d for d in self.by_name.get(wanted[-1], ()) if d.fact.kind in CLASSES and d.path.startswith(CLASSES_IN)] if wanted else []
            around = cls.segments[:-1]
            for up in range(len(around) + 1):
                here = [d for d in known if d.segments == (*around[: len(around) - up], *wanted)]
                if here:
                    found.append(here[0])
                    break
        return found

    def of(self, declared: str, names: Names, scope: Scope) -> tuple[Defined, ...] | None:
        """The class that a declared type names, with all classes that derive from it; () when the type is not a class of kernels' code,
        None when nothing tells the type.
        """
        known = False
        for word in _words(declared):
            for cls in names.classes(word, scope):
                if cls.path.startswith(CLASSES_IN):
                    return self._with_derived(cls)
                known = True
        return () if known else None

    def _with_derived(self, cls: Defined) -> tuple[Defined, ...]:
        found = {cls.segments: cls}
        waiting = [cls]
        while waiting:
            for inner in self.derived.get(waiting.pop().segments, ()):
                if inner.segments not in found:
                    found[inner.segments] = inner
                    waiting.append(inner)
        return tuple(found.values())

    def methods(self, cls: Defined, member: str) -> tuple[Defined, ...]:
        """The definitions of a method of one class, in whatever files."""
        return tuple(d for d in self.by_name.get(member, ()) if d.segments[:-1] == cls.segments and d.fact.kind in FUNCTIONS)

    def inherited(self, cls: Defined, member: str) -> tuple[Defined, ...]:
        """The definitions of a method in the nearest base class that has one."""
        for base in self._bases(cls):
            found = self.methods(base, member) or self.inherited(base, member)
            if found:
                return found
        return ()

    def sees(self, path: str, method: Defined) -> bool:
        """Whether a file can name the class of a method: the class is defined in it, or in a file that it includes."""
        owner = method.segments[:-1]
        places = self._places.get(owner)
        if places is None:
            found = self.by_name.get(bare(owner[-1]), ())
            places = self._places[owner] = frozenset(d.path for d in found if d.fact.kind in CLASSES and d.segments == owner)
        return not places or not places.isdisjoint(self.visible(path))

    def visible(self, path: str) -> frozenset[str]:
        """The files that a file includes, directly or through other files."""
        known = self._seen.get(path)
        if known is None:
            found, waiting = {path}, [path]
            while waiting:
                for included in self._included(waiting.pop()):
                    if included not in found:
                        found.add(included)
                        waiting.append(included)
            known = self._seen[path] = frozenset(found)
        return known

    @cached_property
    def includers(self) -> dict[str, frozenset[str]]:
        """For each header, the files that include it themselves."""
        found: dict[str, set[str]] = {}
        for path in self.files:
            for included in self._included(path):
                found.setdefault(included, set()).add(path)
        return {path: frozenset(by) for path, by in found.items()}

    def _included(self, path: str) -> list[str]:
        known = self._includes.get(path)
        if known is None:
            facts, folder = self.files.get(path), posixpath.dirname(path)
            targets = [include.target for include in facts.includes] if facts is not None else []
            known = self._includes[path] = [found for target in targets if (found := self._beside(folder, target) or self._below_root(target))]
        return known

    def _beside(self, folder: str, target: str) -> str:
        """The file that a target names from a folder; "" when there is none."""
        path = f"{folder}/{target}" if folder else target
        if "./" in path or "//" in path:
            path = posixpath.normpath(posixpath.join(folder, target))
        return path if path in self.files else ""

    def _below_root(self, target: str) -> str:
        """The file that a target names from one of the folders that the build looks in."""
        known = self._below_roots.get(target)
        if known is None:
            known = self._below_roots[target] = next((found for root in _ROOTS if (found := self._beside(root, target))), "")
        return known
