# SPDX-License-Identifier: BSD-3-Clause
"""The whole site of a built atlas: every link and anchor, every permalink, the budgets, what programs read."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from cartographer.guide.anchors import PAGES
from cartographer.render import prose, urls

KB, MB = 1000, 1000_000
_LINK = re.compile(r"""<(?:a|link|script|img|form)\b[^>]*?\b(?:href|src|action)=(?:"([^"]*)"|([^\s>"]+))""")
_ID = re.compile(r"""\sid=(?:"([^"]*)"|([^\s>"]+))""")
_ID_OF_A_TAG = re.compile(r"""<[a-z][^<>]*?\sid=(?:"([^"]*)"|([^\s>"]+))""")
_UNESCAPE = (("&#34;", '"'), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def unescaped(text: str) -> str:
    for entity, char in _UNESCAPE:
        text = text.replace(entity, char)
    return text


class Site:
    """A site on disk, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {str(p.relative_to(folder)): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}
        self.pages = [address for address in self.files if address.endswith(".html")]
        self.head = json.loads((folder / "atlas.json").read_text())

    @cache  # noqa: B019 - one for the session
    def ids(self, address: str) -> frozenset[str]:
        return frozenset(unescaped(a or b) for a, b in _ID.findall((self.folder / address).read_text()))

    def links(self, address: str) -> set[str]:
        return {unescaped(a or b) for a, b in _LINK.findall((self.folder / address).read_text())}


def check_links(site: Site, paths: set[str] | None, lines) -> int:
    """Every internal link leads to a file and an anchor in it, every external one is a permalink into the pinned tree."""
    source = site.head
    pinned = f"https://github.com/pytorch/pytorch/blob/{source['commit'] or source['tag']}/"
    count, known = 0, set(site.files)
    for page in site.pages:
        here = page.rpartition("/")[0].split("/") if "/" in page else []
        for link in site.links(page):
            count += 1
            if link.startswith("https://"):
                if link.startswith(pinned):
                    path, _, span = link.removeprefix(pinned).partition("#L")
                    if paths is not None:
                        path = unquote(path)
                        assert path in paths, f"{page} -> {link}: no such path"
                        assert not span or int(span.split("-")[0]) <= lines(path), f"{page} -> {link}: no such line"
                else:
                    assert link.startswith("https://github.com/"), f"{page} -> {link}"
                    older = page == "releases/index.html" and "/blob/" in link  # the other side of a change
                    assert older or "/tree/" in link or "/commit/" in link, f"{page} -> {link} is no permalink"
                continue
            target, mark, anchor = link.partition("#")
            if (target.startswith("../../") and here == []) or link == "":
                raise AssertionError(f"{page} -> {link} leaves the folder")
            parts = list(here)
            for part in unquote(target).split("/") if target else ():
                if part == "..":
                    assert parts, f"{page} -> {link} leaves the folder"
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            address = "/".join(parts) if target else page
            assert address in known, f"{page} -> {link}: no such file"
            assert not mark or unquote(anchor) in site.ids(address), f"{page} -> {link}: no such anchor"
    return count


def check_ids(site: Site) -> None:
    """No page has an id twice: a link to it would lead to the first of them."""
    for page in site.pages:
        found = Counter(a or b for a, b in _ID_OF_A_TAG.findall((site.folder / page).read_text()))
        assert max(found.values(), default=1) == 1, f"{page} has twice: {[name for name, count in found.items() if count > 1]}"


def check_budgets(site: Site) -> None:
    """The bytes that a reader and a disk are asked for."""
    operators = sorted(size for address, size in site.files.items() if re.fullmatch(r"op/.*\.html", address))
    large = [size for size in operators if size > 60 * KB]
    assert max(operators) <= 200 * KB
    assert len(large) <= len(operators) / 100, f"{len(large)} of {len(operators)} operator pages are over 60 KB: {large[::-1]}"
    assert site.files["index.html"] <= 120 * KB
    assert site.files["search/0.js"] <= 400 * KB
    assert max(size for address, size in site.files.items() if address.startswith("search/")) <= 400 * KB
    assert max(site.files[address] for address in site.pages) <= 320 * KB
    assert sum(size for address, size in site.files.items() if address.startswith("source/")) <= 8 * KB * max(40, sum(a.startswith("source/") for a in site.pages))
    assert sum(site.files.values()) <= 150 * MB
    assert len(site.files) <= 25_000
    assert max(map(len, site.files)) < 200
    assert len({address.lower() for address in site.files}) == len(site.files)


def check_operators(site: Site, names: list[str]) -> None:
    """Every operator of the atlas has its anchor on a page and its row on a sheet."""
    anchors: set[str] = set()
    for sheet in (address for address in site.pages if address.startswith("operators/")):
        anchors |= {unquote(link) for link in site.links(sheet) if "op/" in link and "#" in link}
    for name in names:
        namespace, _, rest = name.partition("::")
        folder = "op/" if namespace == "aten" else f"op/{namespace}/"
        assert any(a.endswith(f"#{rest}") and a.removeprefix("../").startswith(folder) for a in anchors), name


@pytest.fixture(scope="module")
def demo_site(demo):
    return Site(demo.out)


def test_links_of_the_demo(demo_site, demo):
    paths = set(demo_text_paths(demo))
    assert check_links(demo_site, paths, lambda path: demo.text(path).count("\n") + 1) > 500


def test_ids_of_the_demo(demo_site):
    check_ids(demo_site)


def test_every_address_that_has_a_name_is_drawn(demo_site):
    """A page is known by its address in urls.py and drawn by its line in plan.py; a guide text names it by a word that leads there."""
    named = {value for name, value in vars(urls).items() if name.isupper() and isinstance(value, str) and value.endswith(".html")}
    assert named <= set(demo_site.pages)
    assert set(prose.PLATES) == set(PAGES)
    assert set(prose.PLATES.values()) <= named


def demo_text_paths(demo):
    import subprocess

    from cartographer.checkout.demo import DEMO_TAG

    listed = subprocess.run(["git", "-C", str(demo.repo), "ls-tree", "-r", "--name-only", DEMO_TAG], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_operators_and_budgets_of_the_demo(demo_site, demo):
    check_budgets(demo_site)
    check_operators(demo_site, list(demo.ops))


def test_the_demo_shows_the_chain_that_the_export_tells(demo_site, demo):
    name, op = next((n, o) for n, o in demo.ops.items() if n == "aten::mul.Tensor")
    page = (demo_site.folder / "op/mul.html").read_text()
    for step in op["kernels"]["CUDA"]["steps"]:
        assert f"{step['path']}#L{step['line']}" in page, (name, step)


def test_the_demo_dates_its_ground(demo_site):
    page = (demo_site.folder / "strata/index.html").read_text()
    assert "The ground by year" in page
    assert "Boreholes" in page


@pytest.fixture(scope="module")
def real():
    named, tree = os.environ.get("CARTOGRAPHER_ATLAS"), os.environ.get("CARTOGRAPHER_TORCH_TREE")
    if not named or not tree:
        pytest.skip("CARTOGRAPHER_ATLAS and CARTOGRAPHER_TORCH_TREE are not set")
    return Site(Path(named)), Path(tree)


@pytest.mark.torch_tree
def test_links_of_a_real_atlas(real):
    site, tree = real

    class Lazy(set):
        def __contains__(self, path):
            return (tree / path).is_file()

    @cache
    def lines(path):
        return (tree / path).read_bytes().count(b"\n") + 1

    assert check_links(site, Lazy(), lines) > 200_000


@pytest.mark.torch_tree
def test_budgets_of_a_real_atlas(real):
    check_budgets(real[0])


@pytest.mark.torch_tree
def test_ids_of_a_real_atlas(real):
    check_ids(real[0])
