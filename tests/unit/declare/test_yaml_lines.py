# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.declare.yaml_lines import Scalar, YamlFile, as_written, gathered
from cartographer.errors import DeclarationError

TEXT = b"""# comment

- name: first
  flag: True
  list: [a, b]   # inline
  map:
    CPU, CUDA: f
    MPS: g

- name: "second"
  text: one
    two
  none:
"""


def rows(data):
    return list(YamlFile("x.yaml", data).rows())


def test_every_key_has_its_line():
    first, second = rows(TEXT)
    assert (first.line, first.end_line) == (3, 8)
    assert {k: e.line for k, e in first.entries.items()} == {"name": 3, "flag": 4, "list": 5, "map": 6}
    assert {k: e.line for k, e in first.entries["map"].value.entries.items()} == {"CPU, CUDA": 7, "MPS": 8}
    assert second.entries["text"].value == Scalar("one two", 11, 9, 12)
    assert second.entries["none"].value.is_null
    assert not second.entries["name"].value.plain


def test_values():
    file = YamlFile("x.yaml", TEXT)
    first, second = file.rows()
    assert file.flag(first.entries["flag"]) is True
    assert file.words(first.entries["list"]) == ("a", "b")
    assert file.words(second.entries["text"]) == ("one two",)
    assert as_written(first.entries["list"].value) == "[a, b]"
    with pytest.raises(DeclarationError) as caught:
        file.flag(first.entries["name"])
    assert caught.value.where == "x.yaml:3:9"
    with pytest.raises(DeclarationError, match="must be a text"):
        file.text(first.entries["map"])


@pytest.mark.parametrize(("data", "where"), [
    (b"- a: [1\n- b: 2\n", "x.yaml:2:4"),
    (b"- a: &x [*x]\n", "x.yaml:1:6"),
    (b"- a: 1\n   b: 2\n", "x.yaml:2:5"),
    (b"- a: 1\n  a: 2\n", "x.yaml:2:3"),
    (b"- a: 1\n\tb: 2\n", "x.yaml:2:1"),
    (b"a: 1\n", "x.yaml:1:1"),
    (b"- 1\n", "x.yaml:1:3"),
    (b"- a: 1\n- b: \xff\n", "x.yaml:2"),
    (b"- ? [x]\n  : 1\n", "x.yaml:1:5"),
    (b"- a: *nowhere\n", "x.yaml:1:6"),
    (b"- a: \x01\n", "x.yaml"),
])
def test_bad_yaml_names_its_place(data, where):
    with pytest.raises(DeclarationError) as caught:
        rows(data)
    assert caught.value.where == where
    assert caught.value.message


def test_a_key_that_says_the_same_twice_is_let_pass():
    (row,) = rows(b"- variants: method, function\n  variants: function, method\n")
    assert as_written(row.entries["variants"].value) == "function, method"


def test_an_empty_file_has_no_rows():
    assert rows(b"# nothing\n") == []


def test_many_errors_become_one():
    errors = [DeclarationError(f"bad {n}", where=f"x.yaml:{n}") for n in range(9)]
    error = gathered(errors, "x.yaml")
    assert error.where == "x.yaml:0"
    assert "x.yaml:5" in error.hint
    assert "3 more" in error.hint
