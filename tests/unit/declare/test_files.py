# SPDX-License-Identifier: BSD-3-Clause
import os
import time
from pathlib import Path

import pytest

from cartographer.declare import declarations, deprecated, derivatives, native_functions, tags
from cartographer.errors import DeclarationError
from cartographer.model.declaration import DispatchEntry
from cartographer.model.location import Location

NATIVE = b"""
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
  structured_delegate: add.out
  device_check: NoCheck   # TensorIterator
  tags: [core, pointwise]

- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  ufunc_inner_loop:
    Generic: add (AllAndComplex, BFloat16)
    ScalarOnly: add (Bool)
  dispatch:
    SparseCPU, SparseCUDA: add_out_sparse
    MPS: custom::add_out_mps

- func: empty_block(Tensor self) -> Tensor
  dispatch: {}
  autogen: empty_block.out, empty_block.x_out
  tags: core
  device_guard: False
  future_key: [1, 2]
  precomputed:
    - dim -> int dim, int size
"""


def test_rows_of_operators():
    add, out, empty = native_functions.load(NATIVE)
    assert (add.place, add.place.end_line) == (Location(native_functions.PATH, 2, 6), 6)
    assert (add.variants, add.structured_delegate, add.tags) == (("function", "method"), "add.out", ("core", "pointwise"))
    assert (add.device_check, add.dispatch, add.in_structured_group) == ("NoCheck", None, True)
    assert out.dispatch == (
        DispatchEntry("SparseCPU", "add_out_sparse", Location(native_functions.PATH, 15), group="SparseCPU, SparseCUDA"),
        DispatchEntry("SparseCUDA", "add_out_sparse", Location(native_functions.PATH, 15), group="SparseCPU, SparseCUDA"),
        DispatchEntry("MPS", "custom::add_out_mps", Location(native_functions.PATH, 16), group="MPS"),
    )
    assert out.kernel("MPS") == "custom::add_out_mps"
    assert [(u.key, u.name, u.dtypes, u.place.line) for u in out.ufunc_inner_loop] == [
        ("Generic", "add", ("AllAndComplex", "BFloat16"), 12), ("ScalarOnly", "add", ("Bool",), 13)]
    assert empty.dispatch == ()
    assert [str(n) for n in empty.autogen] == ["empty_block.out", "empty_block.x_out"]
    assert (empty.tags, empty.device_guard, empty.precomputed) == (("core",), False, ("dim -> int dim, int size",))
    assert (empty.other, empty.lines["future_key"]) == ({"future_key": "[1, 2]"}, 23)


def test_a_bare_dispatch_of_old():
    (row,) = native_functions.load(b"- func: f(Tensor x)\n  return:\n    - type: Tensor\n  dispatch: g\n")
    assert (row.dispatch[0].key, row.dispatch[0].kernel) == ("CatchAll", "g")
    assert row.other == {"return": "- type: Tensor"}


def test_bad_rows_are_reported_together():
    data = b"- func: f(Tensor x -> Tensor\n- variants: function\n- func: g(Tensor x) -> Tensor\n  dispatch: [a]\n"
    with pytest.raises(DeclarationError) as caught:
        native_functions.load(data)
    assert caught.value.where == f"{native_functions.PATH}:1:9"
    assert "no ')'" in caught.value.message
    assert f"{native_functions.PATH}:2" in caught.value.hint
    assert f"{native_functions.PATH}:4" in caught.value.hint


@pytest.mark.parametrize("row", [
    b"- func: f(Tensor x) -> Tensor\n  structured: maybe\n",
    b"- func: f(Tensor x) -> Tensor\n  autogen: ':x'\n",
    b"- func: f(Tensor x) -> Tensor\n  ufunc_inner_loop: add\n",
    b"- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n    CPU, CUDA: g\n",
])
def test_bad_values_name_their_line(row):
    with pytest.raises(DeclarationError) as caught:
        native_functions.load(row)
    assert caught.value.where.startswith(f"{native_functions.PATH}:")
    assert int(caught.value.where.split(":")[1]) > 1


DERIVATIVES = b"""
- name: f(Tensor self, Tensor other) -> (Tensor a, Tensor b)
  self, other: "f_backward(grad,
    self)"
  a: auto_linear
  output_differentiability: [True, False]

- name: g(Tensor self) -> Tensor
  output_differentiability: ["x > 0"]
  dispatch:
    Default:
      self: grad
      result: self_t
    AutogradNestedTensor:
      self: nested(grad)
"""


def test_rows_of_derivatives():
    f, g = derivatives.load(DERIVATIVES)
    assert (f.output_differentiability, g.output_differentiability) == ((True, False), ("x > 0",))
    (default,) = f.sets
    back, forward = default.formulas
    assert (back.names, back.text, back.place.line, back.forward) == (("self", "other"), "f_backward(grad, self)", 3, False)
    assert (forward.names, forward.forward) == (("a",), True)
    assert [(s.key, s.place.line, len(s.formulas)) for s in g.sets] == [("Default", 11, 2), ("AutogradNestedTensor", 14, 1)]
    with pytest.raises(DeclarationError, match="must be a list"):
        derivatives.load(b"- name: f(Tensor x) -> Tensor\n  output_differentiability: True\n")
    with pytest.raises(DeclarationError, match="has no 'name'"):
        derivatives.load(b"- x: grad\n")


def test_tags_and_deprecated():
    (tag,) = tags.load(b"- tag: core\n  desc: |\n    Two\n    lines.\n")
    assert (tag.tag, tag.description, tag.place.line) == ("core", "Two lines.", 1)
    (row,) = deprecated.load(
        b"- name: add(Tensor self, Scalar alpha, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
        b"  aten: add_out(out, self, other, 1)\n")
    assert (row.function, row.call, row.place.end_line) == ("add_out", ("out", "self", "other", "1"), 2)
    for loader, data in ((tags.load, b"- desc: x\n"), (deprecated.load, b"- name: f(Tensor x)\n")):
        with pytest.raises(DeclarationError, match="the row has no"):
            loader(data)


def test_all_files_at_once():
    files = {native_functions.PATH: NATIVE}
    loaded = declarations.load(files)
    assert (len(loaded.functions), loaded.derivatives, loaded.tags) == (3, (), ())
    with pytest.raises(DeclarationError, match="no list of operators"):
        declarations.load({})


@pytest.mark.torch_tree
@pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set")
def test_the_whole_tree_loads_quickly():
    root = Path(os.environ["CARTOGRAPHER_TORCH_TREE"])
    files = {path: (root / path).read_bytes() for path in declarations.WANTED if (root / path).exists()}
    start = time.process_time()
    loaded = declarations.load(files)
    assert time.process_time() - start < 2
    assert len(loaded.functions) == files[native_functions.PATH].count(b"\n- func:")
    assert len(loaded.derivatives) == files[derivatives.PATH].count(b"\n- name:")
