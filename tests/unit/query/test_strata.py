# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest

from cartographer.errors import NotFound
from cartographer.model.atlas import Era, FileDates, Import, Strata
from cartographer.query import strata, strata_text
from cartographer.query.ink import Ink

A, B = "a" * 40, "b" * 40


@pytest.fixture
def dated() -> Strata:
    return Strata(
        "lines", "", ((A, "2016-01-01"), (B, "2020-02-02")),
        {
            "aten/x.cpp": FileDates("aten/x.cpp", "2016-01-01", "2020-02-02", ("th/x.c",), ((12, 0), (3, 1), (1, -1))),
            "aten/src/y.h": FileDates("aten/src/y.h", "2020-02-02", "2020-02-02", (), ((4, 1),)),
            "setup.py": FileDates("setup.py", "2016-01-01", "2016-01-01", (), ((2, 0),)),
            "x.png": FileDates("x.png", "2016-01-01", "2016-01-01"),
        },
        (Era("old", "2016-01-01", "2019-12-31", (("first commit of aten/", A, "2016-01-01"),)), Era("new", "2020-01-01", "2020-02-02")),
        imports=(Import(B, "2020-02-02", "tree", "aten/src", 1, 4, 7, "Fork Y", "says so", vendored=True),
                 Import("c" * 40, "2020-02-02", "tree", "gone", 1, 4, 0, "Fork Z", "says so")),
    )  # fmt: skip


def test_lines_are_runs_from_first_to_last(dated: Strata) -> None:
    assert list(strata.lines(dated)) == [
        f'{{"path":"aten/src/y.h","runs":[[4,"{B}"]]}}',
        f'{{"path":"aten/x.cpp","runs":[[12,"{A}"],[3,"{B}"],[1,null]]}}',
        f'{{"path":"setup.py","runs":[[2,"{A}"]]}}',
    ]


@pytest.mark.parametrize(("paths", "found"), [
    (["aten/x.cpp"], ["aten/x.cpp"]), (["aten/"], ["aten/src/y.h", "aten/x.cpp"]), (["setup.py", "./aten/src"], ["aten/src/y.h", "setup.py"]),
    (["./aten/src/"], ["aten/src/y.h"]), (["aten//src/../x.cpp"], ["aten/x.cpp"]), (["."], ["aten/src/y.h", "aten/x.cpp", "setup.py"]),
])  # fmt: skip
def test_lines_of_paths(dated: Strata, paths: list[str], found: list[str]) -> None:
    assert [json.loads(line)["path"] for line in strata.lines(dated, paths)] == found


@pytest.mark.parametrize("path", [".", "./", "", "/", "././"])
def test_the_whole_tree_has_many_names(dated: Strata, path: str) -> None:
    assert strata.section(dated, path) == strata.section(dated)


@pytest.mark.parametrize("text", ["aten/x.cpp:13", "./aten/x.cpp:13", "/aten/x.cpp:13", "./aten//./x.cpp:13"])
def test_a_line_is_found_however_its_path_is_written(dated: Strata, text: str) -> None:
    assert strata.line_asked(dated, text) == ("aten/x.cpp", 13)


def test_boundary_is_said(dated: Strata) -> None:
    shallow = Strata("lines", "shallow", dated.commits, dated.files, boundary=(0,))
    assert json.loads(next(strata.lines(shallow, ["setup.py"]))) == {"path": "setup.py", "runs": [[2, A]], "before": [A]}


def test_what_is_not_there(dated: Strata) -> None:
    with pytest.raises(NotFound, match=r"aten/z\.cpp") as error:
        list(strata.lines(dated, ["aten/z.cpp"]))
    assert str(error.value.hint).startswith("did you mean aten/x.cpp")
    with pytest.raises(NotFound, match="has no dates"):
        strata.section(Strata("none", "no git"))
    with pytest.raises(NotFound, match="files and not lines"):
        list(strata.lines(Strata("files", "blobless", (), dated.files)))


def test_section_of_a_folder(dated: Strata) -> None:
    found = strata.section(dated, "aten/")
    assert (found.files, found.age.lines, found.age.dated) == (2, 20, 19)
    assert [(name, age.lines) for name, age in found.parts] == [("src/", 4), ("x.cpp", 16)]
    assert [file.path for file in found.oldest] == ["aten/x.cpp", "aten/src/y.h"]
    assert [file.path for file in found.newest] == ["aten/src/y.h", "aten/x.cpp"]
    assert [i.subject for i in found.imports] == ["Fork Y"]


def test_record_and_table_tell_the_same(dated: Strata) -> None:
    found = strata.section(dated)
    told = strata.record(found, dated)
    assert told["eras"] == {"old": 14, "new": 7}
    assert told["evidence"][0]["evidence"] == [{"what": "first commit of aten/", "commit": A, "date": "2016-01-01"}]
    assert list(strata.table(found)) == [
        "name,2016,2020,unknown,lines", "aten/,12,7,1,20", "setup.py,2,0,0,2", "x.png,0,0,0,0", "total,14,7,1,22",
    ]  # fmt: skip


def test_text(dated: Strata) -> None:
    shown = list(strata_text.text(strata.section(dated), dated, Ink()))
    assert shown[0] == "the whole tree: 4 files, 22 lines"
    assert "half of them by 2016-01-01" in shown[1]
    assert "1 lines have no date" in shown[1]
    at = shown.index("by era")
    assert [line.split()[0] for line in shown[at + 1 : at + 3]] == ["new", "old"]  # the youngest on top
    assert any("third-party" in line for line in shown)


def test_files_alone(dated: Strata) -> None:
    files = Strata("files", "This clone is partial", (), {path: FileDates(path, f.born, f.changed) for path, f in dated.files.items()})
    found = strata.section(files)
    assert [file.day for file in found.oldest] == ["2016-01-01", "2016-01-01", "2016-01-01", "2020-02-02"]
    assert "This clone is partial" in strata_text.text(found, files, Ink())
