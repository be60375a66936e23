# SPDX-License-Identifier: BSD-3-Clause
"""Several atlases in one folder: pages that are known, and the lists that the switcher reads."""

import json

from cartographer.render.collection import Shelved, draw_list, part_of
from cartographer.render.known import STATUS, KnownPages


def site(folder, *addresses, moved=None):
    folder.mkdir(parents=True)
    (folder / STATUS).write_text(json.dumps({"format": 1, "pages": dict.fromkeys(addresses, "x")}))
    (folder / "atlas.json").write_text(json.dumps({"where": {"moved": moved or {}}}))
    return folder


def test_an_operator_is_found_where_its_page_is(tmp_path):
    known = KnownPages.of(site(tmp_path / "a", "op/add.html", "op/set_.html", "op/mini/triple.html", "op/t~case2.html", moved={"op/t.html": "op/t~case2.html"}))
    assert known.operator("aten::add_.Tensor") == "op/add.html#add_.Tensor"
    assert known.operator("aten::set_.source") == "op/set_.html#set_.source"
    assert known.operator("mini::triple") == "op/mini/triple.html#triple"
    assert known.operator("aten::t") == "op/t~case2.html#t"
    assert known.operator("aten::gone") is None


def test_a_folder_without_a_site_has_no_pages(tmp_path):
    assert KnownPages.of(tmp_path).digests == {}
    (tmp_path / STATUS).write_text("[]")
    (tmp_path / "atlas.json").write_text("{ not json")
    assert KnownPages.of(tmp_path).operator("aten::add") is None


def test_the_list_and_the_parts_of_the_switcher(tmp_path):
    site(tmp_path / "v2", "index.html", "op/add.html", "op/new.html", "source/aten/src/A.cpp.html", "source/index.html", "search/0.js")
    site(tmp_path / "v1", "index.html", "op/add.html", "source/aten/src/A.cpp.html")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/gone.js").write_text('ATLAS_PAGES["gone"]=[];\n')  # of a part that is no more
    (tmp_path / "pages/mine.js").write_text("of somebody else")
    draw_list(tmp_path, [Shelved("v2", "git", "a" * 40, 2, 1, True, "v1", 1, 2, 3), Shelved("v1", "git", "", 1, 1, True), Shelved("v0", "git", "", 1, 1, False)])
    assert 'ATLAS_RELEASES=["v2","v1"]' in (tmp_path / "releases.js").read_text()
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["mine.js", "op.js", "rest.js", "source-aten.js"]
    assert (tmp_path / "pages/op.js").read_text() == 'ATLAS_PAGES["op"]=[[[0],{"op":"new"}],[[0,1],{"op":"add"}]];\n'
    listed = (tmp_path / "index.html").read_text()
    assert "v0 <span class=note>not drawn" in listed
    assert listed.count("cartographer serve") == 1
    assert 'href="v2/releases/index.html">v1 to v2' in listed


def test_names_of_a_hostile_tag_stay_text(tmp_path):
    tag = "v1<script>alert(1)</script>"
    draw_list(tmp_path, [Shelved(tag, "git", "", 1, 1, False)])
    assert "<script>alert" not in (tmp_path / "index.html").read_text()
    assert "</script>" not in (tmp_path / "releases.js").read_text()


def test_parts():
    assert [part_of(a) for a in ("op/add.html", "source/third_party/x.html", "source/index.html", "index.html", "kernels/2.html")] == [
        "op", "source-third-party", "rest", "rest", "rest"]  # fmt: skip
