# SPDX-License-Identifier: BSD-3-Clause
"""What two atlases tell: each kind of change once, and what is no change."""

from dataclasses import replace

import pytest

from cartographer.compare.atlases import atlas_changes, with_atlases
from cartographer.compare.bodies import statements
from cartographer.compare.kernels import plain
from cartographer.model.change import Change, Comparison, Level
from cartographer.model.compared import ComparedAtlas, ComparedOperator
from cartographer.model.operator import Chain, Status, Step


def chain(*steps, status=Status.RESOLVED):
    return Chain(status, None, tuple(Step(*step) for step in steps))


def atlas(bodies=None, name="aten::f", **fields):
    return ComparedAtlas({name: ComparedOperator(name, **fields)}, bodies or {})


def changes(old, new, told=()):
    return {(c.id, c.op): c for c in atlas_changes(old, new, told)}


def ids(old, new, told=()):
    return sorted(id_ for id_, _ in changes(old, new, told))


ENTRY = ("entry", "at::native::structured_f_out::impl", "a.cpp", 3)
KERNEL = ("kernel", "at::native::f_kernel", "cpu/K.cpp", 9)


def test_bindings():
    old, new = (atlas(bindings={name: where}) for name, where in (("torch.f", ("THPVariable_f", "x_0.cpp")), ("torch.g", ("THPVariable_f", "x_0.cpp"))))
    assert ids(old, new) == ["binding-gained", "binding-lost"]
    assert changes(old, new)["binding-lost", "aten::f"].level is Level.BREAK
    assert ids(old, atlas(bindings={"torch.f": ("THPVariable_f", "x_2.cpp")})) == []
    assert ids(old, atlas(bindings={"torch.f": ("THPVariable_f", "y_0.cpp")})) == ["binding-moved"]


def test_served():
    old = atlas(dispatch={"CPU": "kernel", "CUDA": "kernel", "MPS": "missing"}, chains={"CPU": chain(ENTRY), "CUDA": chain(ENTRY)})
    new = atlas(dispatch={"CPU": "math kernel", "CUDA": "math kernel", "MPS": "missing"})
    found = changes(old, new)["served-changed", "aten::f"]
    assert (found.detail["keys"], found.old, found.new, found.fold) == (["CPU", "CUDA"], "kernel", "math kernel", "")
    told = [Change("dispatch-lost", Level.INFO, "aten::f", "", detail={"key": "CPU"})]
    assert changes(old, new, told)["served-changed", "aten::f"].detail["keys"] == ["CUDA"]
    gone = changes(old, atlas(dispatch={"CPU": "missing"}))["served-changed", "aten::f"]
    assert gone.level is Level.MAYBE
    fallback = changes(atlas(dispatch={"MPS": "missing"}), atlas(dispatch={"MPS": "backend fallback"}))["served-changed", "aten::f"]
    assert fallback.fold


BY_HAND = {"torch.f": ("THPVariable_f", "torch/csrc/autograd/f.cpp"), "torch.g": ("THPVariable_g", "x_0.cpp")}


def wheel(**fields):
    return replace(atlas(**fields), wheel=True)


def test_what_a_wheel_cannot_show_is_no_change():
    tree = atlas(bindings=BY_HAND, dispatch={"CPU": "kernel", "AutogradCPU": "autograd kernel"}, chains={"CPU": chain(ENTRY, KERNEL)})
    none = wheel(bindings={"torch.g": BY_HAND["torch.g"]}, dispatch={"CPU": "default backend kernel", "AutogradCPU": "not in a wheel"},
                 chains={"CPU": chain(("entry", "at::f_out", "torchgen/gen.py", 3))})
    assert ids(tree, none) == []
    assert ids(none, tree) == []
    assert ids(tree, wheel(bindings={"torch.f": BY_HAND["torch.f"]})) == ["binding-lost"]  # the build writes the other one: a wheel tells
    assert ids(wheel(dispatch={"CPU": "kernel", "MPS": "kernel"}), wheel(dispatch={"CPU": "not in a wheel", "MPS": "math kernel"})) == ["served-changed"]


@pytest.mark.parametrize(("old", "new", "says"), [
    (atlas(), wheel(), ["2.0 was read from a wheel, which holds no C++ code"]),
    (wheel(), wheel(), ["1.0 and 2.0 were read from wheels, which hold no C++ code"]),
    (atlas(), atlas(), []),
])
def test_a_comparison_with_a_wheel_says_what_it_leaves_out(old, new, says):
    found = with_atlases(Comparison("1.0", "2.0", ()), old, new)
    assert [note.partition(":")[0] for note in found.notes if "wheel" in note] == says


def test_nodes():
    def found(old, new):
        return ids(atlas(nodes=old), atlas(nodes=new))

    assert found(("FBackward0",), ("FBackward0",)) == []
    assert found(("FBackward0",), ("FBackward1",)) == ["node-renamed"]
    assert found(("FBackward0",), ("FBackward0", "FBackwardAutogradNestedTensor0")) == ["node-gained"]
    assert found((), ("FBackward0",)) == []  # derivative-entry-added says it
    assert "another number" in changes(atlas(nodes=("FBackward0",)), atlas(nodes=("FBackward1",)))["node-renamed", "aten::f"].reason
    assert "another name" in changes(atlas(nodes=("FBackward0",)), atlas(nodes=("GBackward0",)))["node-renamed", "aten::f"].reason


@pytest.mark.parametrize(("before", "after", "expected"), [
    ((ENTRY, KERNEL), (("entry", "at::native::structured_f_out::impl", "a.cpp", 8), KERNEL), []),  # only lines
    ((ENTRY, KERNEL), (("entry", "TORCH_IMPL_FUNC(f_out)", "a.cpp", 3), KERNEL), []),  # only spelling
    ((KERNEL,), (("kernel", "at::native::f_kernel_symint", "cpu/K.cpp", 9),), []),
    ((ENTRY, KERNEL), (ENTRY, ("kernel", "at::native::f_kernel", "cpu/Other.cpp", 9)), ["kernel-moved"]),
    ((ENTRY, KERNEL), (ENTRY, ("kernel", "at::native::g_kernel", "cpu/K.cpp", 9)), ["chain-changed"]),
    ((ENTRY, KERNEL), (ENTRY, ("stub", "f_stub", "a.h", 2), KERNEL), ["chain-changed"]),
    ((ENTRY, KERNEL, ("device", "lambda", "cpu/K.cpp", 11)), (ENTRY, KERNEL), []),
    ((ENTRY,), (("entry", "at::f_out", "torchgen/gen.py", 3),), ["kernel-moved"]),
    ((("entry", "at::f_out", "torchgen/gen.py", 3),), (("entry", "at::f_out", "torchgen/gen.py", 30),), []),
])  # fmt: skip
def test_ways(before, after, expected):
    assert ids(atlas(chains={"CPU": chain(*before)}), atlas(chains={"CPU": chain(*after)})) == expected


def test_what_is_not_resolved_is_not_compared():
    assert ids(atlas(chains={"CPU": chain(ENTRY)}), atlas(chains={"CPU": chain(status=Status.UNRESOLVED)})) == []
    assert ids(atlas(chains={"CPU": chain(ENTRY)}), atlas(chains={"CUDA": chain(KERNEL)})) == []


def test_code():
    def side(code):
        same = chain(ENTRY, KERNEL)
        return atlas({"cpu/K.cpp": {9: statements(code)}}, chains={"CPU": same, "CUDA": same})

    found = changes(side(b"a; b;"), side(b"a; c; d;"))["kernel-code-changed", "aten::f"]
    assert (found.detail["removed"], found.detail["added"], found.detail["keys"]) == (1, 2, ["CPU", "CUDA"])
    assert [(p.side, p.path, p.line) for p in found.places] == [("old", "cpu/K.cpp", 9), ("new", "cpu/K.cpp", 9)]
    assert ids(side(b"a;\nb;"), side(b"a; /* x */\n\nb;")) == []
    assert ids(side(b"a;"), atlas(chains={"CPU": chain(ENTRY, KERNEL)})) == []  # no code on one side: not told


def test_callers_and_notes():
    broken = Change("op-removed", Level.BREAK, "aten::f", "gone")
    found = with_atlases(Comparison("1", "2", (broken,)), atlas(callers=("aten::g", "aten::f")), ComparedAtlas({}))
    assert found.changes[0].detail["callers"] == ["aten::g"]
    assert "no code" in found.notes[0]


@pytest.mark.parametrize(("symbol", "name"), [
    ("at::native::structured_add_out::impl", "add_out"), ("at::meta::structured_add_Tensor::meta", "add_Tensor"), ("TORCH_IMPL_FUNC(x)", "x"),
    ("at::native::f<int, a::b>", "f"), ("f_symint", "f"), ("f_symint_out", "f_out"), ("TORCH_META_FUNC2(f, Tensor)", "f_Tensor"),
])  # fmt: skip
def test_plain(symbol, name):
    assert plain(symbol) == name


def test_only_functions_of_one_kind_are_paired():
    meta, metal = ("entry", "at::meta::structured_f::meta", "a.cpp", 3), ("device", "f", "f.metal", 5)
    assert ids(atlas(chains={"MPS": chain(meta)}), atlas(chains={"MPS": chain(("entry", "at::native::f", "b.mm", 3), metal)})) == []  # the same way by name
    first, second = ("device", "A::operator()", "a.cu", 3), ("device", "B::operator()", "b.cu", 3)
    assert "kernel-moved" not in ids(atlas(chains={"CUDA": chain(ENTRY, first)}), atlas(chains={"CUDA": chain(ENTRY, second)}))
    moved = ("kernel", "at::native::x::f_kernel", "cpu/Other.cpp", 9)
    assert "kernel-moved" in ids(atlas(chains={"CPU": chain(ENTRY, KERNEL)}), atlas(chains={"CPU": chain(ENTRY, moved)}))


def test_changes_of_one_operator_come_in_the_order_of_its_chains_and_places():
    """Not in that of a set, which is another one in each process: a plate that is drawn again has the same bytes."""
    names = [f"k{number}" for number in range(12)]

    def side(code):
        chains = {f"B{n}": chain(("entry", f"at::native::{name}_entry", "a.cpp", 100 + n), ("kernel", f"at::native::{name}", "b.cpp", n)) for n, name in enumerate(names)}
        chains["ALL"] = chain(*(("kernel", f"at::native::{name}", "b.cpp", n) for n, name in enumerate(names)))
        return atlas({"b.cpp": {n: statements(b"void f() { %s; }" % code) for n in range(len(names))}}, chains=chains)

    found = [c.detail["function"] for c in atlas_changes(side(b"a()"), side(b"b()")) if c.id == "kernel-code-changed"]
    assert found == names
