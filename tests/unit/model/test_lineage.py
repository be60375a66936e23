# SPDX-License-Identifier: BSD-3-Clause
"""What became of operators over the releases, in a line."""

from cartographer.model.lineage import Lineage, joined, word_of

TAGS = ("v1.0.0", "v1.1.0", "v1.2.0", "v1.10.0")


def made(*steps: dict[str, tuple[str, ...]], first: frozenset[str] = frozenset()) -> Lineage:
    return joined(TAGS, first, steps)


def test_an_operator_that_comes_changes_and_goes() -> None:
    found = made({"aten::f": ("came",)}, {"aten::f": ("backends", "schema")}, {"aten::f": ("gone",)})
    assert found.says("aten::f") == (("since", ("v1.1.0",)), ("backends changed", ("v1.2.0",)), ("schema changed", ("v1.2.0",)), ("gone", ("v1.10.0",)))
    assert found.says("aten::g") == ()


def test_before_the_first_release_nothing_is_known() -> None:
    found = made({}, {"aten::f": ("schema",)}, {"aten::f": ("schema",)}, first=frozenset({"aten::f"}))
    assert found.says("aten::f") == (("unknown before", ("v1.0.0",)), ("schema changed", ("v1.2.0", "v1.10.0")))


def test_what_came_back_and_what_only_has_a_new_overload() -> None:
    found = made({"aten::f": ("gone",), "aten::f.x": ("named",)}, {"aten::f": ("came",)}, {}, first=frozenset({"aten::f"}))
    assert found.says("aten::f")[1:] == (("gone", ("v1.1.0",)), ("came back", ("v1.2.0",)))
    assert found.says("aten::f.x") == (("this overload since", ("v1.1.0",)),)
    assert found.since("aten::f") == "v1.0.0"
    assert found.since("aten::g") == ""


def test_words_of_changes() -> None:
    assert word_of("op-added", "") == "came"
    assert word_of("overload-removed", "") == "gone"
    assert word_of("arg-retyped", "") == "schema"
    assert word_of("arg-retyped", "int respelled as SymInt") == "respelled"
    assert word_of("dispatch-gained", "CPU: another served it before") == ""
    assert word_of("flag-changed", "") == ""
