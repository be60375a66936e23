# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.codegen.differentiability import node_prefix
from cartographer.codegen.saved import mentions, replace_name, replacements, saved_variables
from cartographer.codegen.sources import Sources


@pytest.fixture(scope="module")
def table(release):
    return replacements(Sources(release.SOURCES))


def test_the_table_is_read_from_the_tree(table):
    assert [(r.suffix, r.result, r.dashes) for r in table] == [
        ("_sym_sizes", "", None), ("_info", "_info.zeros()", None), ("_sym_argsize_{}", "", ("-", "minus_")),
        ("_scalar_type", "", None)]
    assert replacements(Sources({})) == ()


@pytest.mark.parametrize(("formula", "rewritten", "saved"), [
    ("grad.expand(self.sym_sizes())", "grad.expand(self_sym_sizes)", ["self_sym_sizes"]),
    ("f(self.sym_size(-1), self.sym_size(dim))", "f(self_sym_argsize_minus_1, self_sym_argsize_dim)",
     ["self_sym_argsize_minus_1", "self_sym_argsize_dim"]),
    ("zeros_like(self)", "self_info.zeros()", ["self_info"]),
    ("f(grad, self, self.sym_sizes())", "f(grad, self, self_sym_sizes)", ["self_sym_sizes", "self"]),
    ("f(selfish, my_self)", "f(selfish, my_self)", []),
    ("self.item() ? grad : grad", "self.item() ? grad : grad", ["self"]),
])
def test_sizes_are_saved_instead_of_tensors(table, formula, rewritten, saved):
    text, found = saved_variables(formula, [("self", False)], table)
    assert text == rewritten
    assert [s.name for s in found] == saved


def test_optional_texts_are_unwrapped(table):
    text, found = saved_variables("f(mode)", [("mode", True)], table)
    assert text.startswith("f(mode.has_value() ?")
    assert [s.name for s in found] == ["mode"]


def test_words():
    assert mentions("f(grad, x)", "grad")
    assert not mentions("f(grads, my_grad)", "grad")
    assert replace_name("grad * self + self", "self", "self_p") == "grad * self_p + self_p"


@pytest.mark.parametrize(("name", "prefix"), [
    ("add", "AddBackward"), ("max_pool2d", "MaxPool2DBackward"), ("_fft_r2c", "FftR2CBackward"),
    ("foo_forward", "FooBackward"), ("add_", "AddBackward"),
])
def test_node_names(name, prefix):
    assert node_prefix(name) == prefix
