# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from cartographer.model.age import Age, Ages
from cartographer.model.atlas import Era, FileDates, Import, Strata


@pytest.fixture
def ages() -> Ages:
    commits = (("a" * 40, "2012-03-01"), ("b" * 40, "2017-05-05"), ("c" * 40, "2017-06-06"), ("d" * 40, "2020-01-01"))
    return Ages(Strata(
        "lines", "", commits,
        {
            "x.cpp": FileDates("x.cpp", "2012-03-01", "2020-01-01", (), ((2, 0), (3, 1), (1, -1), (4, 3))),
            "y.cpp": FileDates("y.cpp", "2017-06-06", "2017-06-06", (), ((5, 2),)),
            "b.png": FileDates("b.png", "2017-06-06", "2017-06-06"),
        },
        (Era("old", "2012-01-01", "2016-12-31"), Era("new", "2017-01-01", "2020-01-01")),
        (0,), ("v1.0", "v2.0"), (0, 0, 1, -1), (Import("c" * 40, "2017-06-06", "tree", "", 1, 5, 5, "", ""),),
    ))  # fmt: skip


@pytest.mark.parametrize(("span", "expected"), [
    ((1, 1), Age(1, 1, "2012-03-01", "2012-03-01", "2012-03-01", (("old", 1),), (("2012", 1),), "v1.0", before=True)),
    ((2, 3), Age(2, 2, "2012-03-01", "2012-03-01", "2017-05-05", (("old", 1), ("new", 1)), (("2012", 1), ("2017", 1)), "v1.0", before=True)),
    ((5, 8), Age(4, 3, "2017-05-05", "2020-01-01", "2020-01-01", (("new", 3),), (("2017", 1), ("2020", 2)), "v1.0")),
    ((7, 10), Age(4, 4, "2020-01-01", "2020-01-01", "2020-01-01", (("new", 4),), (("2020", 4),), None)),
    ((6, 6), Age(1, 0)),
    ((9, 99), Age(2, 2, "2020-01-01", "2020-01-01", "2020-01-01", (("new", 2),), (("2020", 2),), None)),
    ((11, 12), Age(0, 0)),
])  # fmt: skip
def test_spans(ages: Ages, span: tuple[int, int], expected: Age) -> None:
    assert ages.of("x.cpp", *span) == expected


def test_the_oldest_day_alone_is_that_of_the_whole_age(ages: Ages) -> None:
    for path in ("x.cpp", "y.cpp", "b.png", "nowhere"):
        for first in range(1, 12):
            for last in range(first, 14):
                age = ages.of(path, first, last)
                assert ages.oldest(path, first, last) == (age.oldest if age else None), (path, first, last)


def test_files_together(ages: Ages) -> None:
    age = ages.of_files(["x.cpp", "y.cpp", "b.png", "nowhere"])
    assert (age.lines, age.dated, age.median, age.imported) == (15, 14, "2017-06-06", 5)
    assert age.eras == (("old", 2), ("new", 12))
    assert age.share("old") == 2 / 14
    assert age.share("none") == 0


def test_nothing_to_tell(ages: Ages) -> None:
    assert ages.of("nowhere", 1, 2) is None
    assert ages.of("b.png", 1, 2) is None
    assert ages.of_files([]) == Age(0, 0)
    assert Age(0, 0).share("old") == 0


def test_era_of_a_day(ages: Ages) -> None:
    assert [ages.era(day) for day in ("2010-01-01", "2016-12-31", "2017-01-01", "2030-01-01")] == ["old", "old", "new", "new"]
    assert Ages(Strata("none")).era("2020-01-01") is None
