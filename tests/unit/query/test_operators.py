# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import ClassVar

import pytest

from cartographer.model.atlas import Symbol
from cartographer.query import operators

ADD = ("aten::add.Tensor", "aten::add.out")


@pytest.mark.parametrize(
    ("text", "names", "exact"),
    [
        ("aten::add.Tensor", ADD[:1], True),
        ("add.Tensor", ADD[:1], True),
        ("add", ADD, False),
        ("aten::add", ADD, False),
        ("aten::add_.Tensor", ("aten::add_.Tensor",), True),
        ("add_", ("aten::add_.Tensor",), False),
        ("quantized::add", ("quantized::add",), True),
        ("torch.ops.aten.add.Tensor", ADD[:1], True),
        ("torch.ops.aten.add", ADD, False),
        ("aten.add.Tensor", ADD[:1], True),
        ("torch.ops.quantized.add.default", ("quantized::add",), True),
        ("torch.add", ADD[:1], False),
        ("torch.add()", ADD[:1], False),
        ("torch.add(...)", ADD[:1], False),
        ("torch.add(x, y.t()[0], alpha=2)", ADD[:1], False),
        ("`torch.add`", ADD[:1], False),
        ("torch.Tensor.add_", ("aten::add_.Tensor",), False),
        ("Tensor.add_", ("aten::add_.Tensor",), False),
        ("F.softmax", ("aten::softmax.int",), False),
        ("torch.nn.functional.softmax", ("aten::softmax.int",), False),
        ("THPVariable_add", ADD[:1], False),
        ("torch::autograd::THPVariable_add", ADD[:1], False),
        ("AddBackward0", ADD[:1], False),
        ("AddBackward", ADD[:1], False),
        ("<AddBackward0 object at 0x7f01>", ADD[:1], False),
        ("grad_fn=<AddBackward0>", ADD[:1], False),
        ("at::add", ADD[:1], False),
        ("at::_ops::add_Tensor::call", ADD[:1], True),
        ("at::_ops::add_Tensor", ADD[:1], True),
        ("_ops::add_Tensor::redispatch", ADD[:1], True),
        ("at::Tensor::add_", ("aten::add_.Tensor",), False),
        ("Tensor::add_", ("aten::add_.Tensor",), False),
        ("at::cuda::add_out", ("aten::add.out",), False),
        ("at::redispatch::add", ADD[:1], False),
        ("at::native::softmax", ("aten::softmax.int",), False),
        ("native::softmax", ("aten::softmax.int",), False),
        ("at::native::add_out", ADD, False),  # structured_add_out is the class that the source calls add_out
    ],
)
def test_spellings(reader, text, names, exact):
    found = operators.resolve(reader.lookup, text)
    assert found is not None
    assert (found.names, found.exact) == (names, exact)
    assert found.said


@pytest.mark.parametrize(
    "text",
    ["sub", "torch.sub", "aten::sub", "F.relu", "torch.nowhere.add", "torch.foo.softmax", "SubBackward0", "AddBackwar", "add_kernel", "",
     "aten::add.nothing", "add.nothing", "x.add", "at::native::nothing", "BinaryOps.cpp", "torch.", ".", "::", "a::b::c", "at::nowhere::add", "aten::", "aten."],
)  # fmt: skip
def test_what_is_no_operator(reader, text):
    assert operators.resolve(reader.lookup, text) is None


def test_python_code_in_between(reader):
    found = operators.resolve(reader.lookup, "F.softmax")
    assert [(t.path, t.line) for t in found.through] == [("torch/nn/functional.py", 60)]
    assert "Python code" in found.said


def test_default_overload_first_out_last(folder, tmp_path):
    import dataclasses

    import sample_atlas

    from cartographer.store import writer
    from cartographer.store.reader import Reader

    add = sample_atlas.operators()[0]
    names = ("aten::sum.IntList_out", "aten::sum.dim_IntList", "aten::sum", "aten::sum.out")
    atlas = dataclasses.replace(sample_atlas.atlas(), operators=tuple(dataclasses.replace(add, name=name) for name in names))
    writer.write(atlas, tmp_path)
    with Reader(tmp_path) as reader:
        for text in ("sum", "aten::sum"):
            found = operators.resolve(reader.lookup, text)
            assert found.names == ("aten::sum", "aten::sum.dim_IntList", "aten::sum.IntList_out", "aten::sum.out")
            assert not found.exact


def test_error_message(reader):
    text = "Could not run 'aten::add.out' with arguments from the 'QuantizedCPU' backend"
    assert operators.resolve(reader.lookup, text) is None
    assert operators.in_sentence(reader.lookup, text).names == ("aten::add.out",)
    assert operators.in_sentence(reader.lookup, "nothing of std::string in here") is None


@pytest.mark.parametrize(
    ("text", "first"),
    [("sofmax", "aten::softmax"), ("soft_max", "aten::softmax"), ("THPVariable_softmx", "THPVariable_softmax"), ("AddBackwardO", "AddBackward0"),
     ("torch.sofmax", "aten::softmax"), ("add_stob", "add_stub"), ("vectorised_kernel", "vectorized_kernel")],
)  # fmt: skip
def test_near_misses(reader, text, first):
    assert operators.near_misses(reader.lookup, text)[0] == first


def test_no_near_miss_for_nonsense(reader):
    assert operators.near_misses(reader.lookup, "qqqqzzzz") == ()


class Torch:
    """A torch of a few files: what they define, what they import, what is bound."""

    DEFINED: ClassVar = {
        "vmap": ("torch/_functorch/apis.py", "torch/_vmap_internals.py"), "div": ("torch/_inductor/lowering.py",), "norm": ("torch/functional.py",),
        "twice": ("torch/a.py", "torch/b.py"), "far": ("torch/nowhere.py",),
    }  # fmt: skip
    IMPORTS: ClassVar = {
        "torch/__init__.py": ("torch/func/__init__.py", "torch/autograd/__init__.py", "torch/a.py", "torch/b.py", "torch/_inductor/lowering.py", "sys"),
        "torch/func/__init__.py": ("torch/_functorch/apis.py",), "torch/autograd/__init__.py": ("torch/autograd/gradcheck.py", "torch/__init__.py"),
        "torch/autograd/gradcheck.py": ("torch/_vmap_internals.py",),
    }  # fmt: skip

    def symbols_called(self, name):
        return tuple(Symbol(name, name, "function", path, 1, 2, "()", ()) for path in self.DEFINED.get(name, ()))

    def by_python(self, name):
        return ("aten::x",) if name in {"torch.div", "torch.norm"} else ()

    def includes_of(self, paths):
        return tuple(target for path in paths for target in self.IMPORTS.get(path, ()))


@pytest.mark.parametrize(("name", "path"), [
    ("vmap", "torch/_functorch/apis.py"),  # imported sooner than its namesake
    ("norm", "torch/functional.py"),  # put over the binding
    ("div", None),  # bound; the lowering of that name is another thing
    ("twice", None),  # who can tell which
    ("far", None),  # nobody imports it
])
def test_a_python_name_is_what_its_module_imports_soonest(name, path):
    assert [t.path for t in operators.python_symbols(Torch(), "torch", name)] == ([path] if path else [])
