# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a kept result is made by is part of the digest that it stands under."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from cartographer import makers
from cartographer.makers import files_of, sources_digest
from cartographer.pipeline import building, lineage, lists
from cartographer.scan import cache as facts

ROOT = Path(makers.__file__).parents[1]
# What brings bytes, keeps them or tells of the work has no say in what is made of them.
BESIDE = ("cartographer", "cartographer.checkout", "cartographer.store", "cartographer.errors", "cartographer.progress", "cartographer.makers")
KEPT = {
    "facts": ("cartographer.scan.one", facts.MAKERS, facts.PARSERS),
    "lists": ("cartographer.pipeline.lists", lists.MAKERS, lists.READERS),
    "lineage": ("cartographer.pipeline.lineage", lineage.MAKERS, lists.READERS),
}


def source(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def imports(node: ast.AST) -> set[str]:
    """The modules that a source imports anywhere, but for its types."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            found |= {alias.name for alias in child.names}
        elif isinstance(child, ast.ImportFrom):
            found |= {str(child.module), *(f"{child.module}.{alias.name}" for alias in child.names)}
        found |= imports(child)
    return found


def made_by(module: str) -> tuple[set[Path], set[str]]:
    """The sources of ours that a module is made of, and the packages of others."""
    ours: dict[str, Path] = {}
    others: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        path = source(name)
        if name in ours or name in BESIDE or name.startswith(tuple(f"{part}." for part in BESIDE[1:])):
            continue
        if path is not None:
            read = ast.parse(path.read_text(encoding="utf-8"))
            if ast.get_docstring(read) is None or len(read.body) > 1:  # else it says nothing
                ours[name] = path
            todo += imports(read)
        elif not name.startswith("cartographer."):
            others.add(name.partition(".")[0])
    return set(ours.values()), others - sys.stdlib_module_names - {"msgspec"}  # which only carries what is kept


@pytest.mark.parametrize("kind", KEPT)
def test_the_digest_covers_what_the_result_is_made_by(kind):
    module, globs, packages = KEPT[kind]
    ours, others = made_by(module)
    covered = [{path for _, path in files_of(glob)} for glob in globs]
    assert all(covered), "a glob that names nothing"
    assert {path.relative_to(ROOT).as_posix() for path in ours - set().union(*covered)} == set()
    installed = packages_distributions()
    assert {name.lower().replace("_", "-") for package in others for name in installed[package]} <= set(packages)


def test_an_atlas_is_made_by_all_that_there_is():
    named = {path for glob in ("**/*", "templates/**/*", "site/**/*") for _, path in files_of(glob)}
    assert set((ROOT / "cartographer").rglob("*.py")) <= named
    assert {path.suffix for path in named} >= {".py", ".scm", ".sql", ".jinja2", ".js", ".css"}
    assert {".pyc", ""}.isdisjoint(path.suffix for path in named)
    assert set(building.LIBRARIES) >= {*facts.PARSERS, *lists.READERS, "jinja2", "markdown-it-py"}


@pytest.mark.parametrize("package", facts.PARSERS)
def test_another_parser_meets_no_facts_of_before(package, monkeypatch):
    before = facts.scanner_version()
    version = makers._version
    monkeypatch.setattr(makers, "_version", lambda name: "99" if name == package else version(name))
    for remembered in (facts.scanner_version, sources_digest):
        remembered.cache_clear()
    assert facts.scanner_version() != before
    monkeypatch.undo()
    for remembered in (facts.scanner_version, sources_digest):
        remembered.cache_clear()
    assert facts.scanner_version() == before


def test_a_package_that_leaves_no_word_is_no_error():
    assert sources_digest(packages=("no-such-package",)) == sources_digest(packages=("no-such-package",))


def test_the_digest_tells_files_apart_by_name_and_content(tmp_path, monkeypatch):
    monkeypatch.setattr(makers, "_PACKAGE", tmp_path)
    found = set()
    for name, text in (("a.py", "x"), ("b.py", "x"), ("b.py", "y")):
        (tmp_path / name).write_text(text)
        sources_digest.cache_clear()
        found.add(sources_digest("b.py"))
    sources_digest.cache_clear()
    assert len(found) == 3
