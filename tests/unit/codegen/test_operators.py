# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import os
import time
from pathlib import Path

import pytest

from cartographer.codegen.operators import derive
from cartographer.codegen.sources import matches
from cartographer.declare import declarations


def kernels(operator):
    return {r.key: r.kernel for r in operator.registrations}


def origins(operator):
    return {r.key: r.origin.value for r in operator.registrations}


def test_which_operators_there_are(operators):
    assert {n for n, o in operators.items() if o.origin.value == "generated"} == {
        "relu.out", "observe.out", "observe_functional", "view_copy.out"}
    assert operators["relu.out"].generated_from == "aten::relu_"
    assert operators["relu.out"].declared == operators["relu_"].declared
    assert list(operators) == sorted(operators)


@pytest.mark.parametrize(("name", "schema", "tags"), [
    ("relu.out", "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", ("generated", "pt2_compliant_tag")),
    ("observe.out", ("aten::observe.out(Tensor self, Tensor(a!) seen, SymInt[] size, *, Tensor(b!) out0, Tensor(c!) out1)"
                     " -> (Tensor(b!), Tensor(c!))"), ("generated", "pt2_compliant_tag")),
    ("observe_functional", ("aten::observe_functional(Tensor self, Tensor seen, SymInt[] size)"
                            " -> (Tensor output, Tensor mask, Tensor seen_out)"), ("generated", "pt2_compliant_tag")),
    ("view_copy.out", "aten::view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
     ("generated", "pt2_compliant_tag", "view_copy")),
])
def test_generated_schemas(operators, name, schema, tags):
    assert operators[name].schema == schema
    assert operators[name].tags == tags


def test_tags_that_a_schema_implies_where_the_release_knows_them(release, operators):
    later = dataclasses.replace(release.declared(), tags=(*release.declared().tags, *(
        dataclasses.replace(release.declared().tags[0], tag=tag) for tag in ("out", "inplace"))))
    implied = {o.name.removeprefix("aten::"): set(o.tags) & {"out", "inplace"} for o in derive(later, release.SOURCES)}
    assert implied["relu_"] == {"inplace"}
    assert implied["relu"] == implied["relu.out"] == set(), "torchgen tags no operator that it adds itself"
    assert any(tags == {"out"} for tags in implied.values())
    assert not any(set(o.tags) & {"out", "inplace"} for o in operators.values())


@pytest.mark.parametrize("said", ["dk in {'MPS', 'CUDA', 'CPU'}", "dk in {DispatchKey.MPS, DispatchKey.CUDA, DispatchKey.CPU}"])
@pytest.mark.parametrize("module", ["model", "gen"])
def test_structured_keys_that_a_function_names(release, operators, said, module):
    texts = dict(release.SOURCES)
    texts["torchgen/model.py"] = texts["torchgen/model.py"].replace(b"STRUCTURED_DISPATCH_KEYS = {DispatchKey.MPS, DispatchKey.CUDA, DispatchKey.CPU}\n", b"")
    texts[f"torchgen/{module}.py"] += f"\ndef is_structured_dispatch_key(dk):\n    return {said}\n".encode()
    found = {o.name.removeprefix("aten::"): o for o in derive(release.declared(), texts)}
    assert [r.kernel for r in found["add.out"].registrations] == [r.kernel for r in operators["add.out"].registrations]


def test_structured_kernels(operators):
    shared = {"CPU": "at::native::structured_ufunc_add_CPU", "CUDA": "at::native::structured_ufunc_add_CUDA",
              "MPS": "at::native::structured_add_out_mps", "Meta": "at::meta::structured_add_Tensor"}
    default = {"CompositeExplicitAutogradNonFunctional": "at::meta::structured_add_Tensor"}
    layers = ("Autograd", "ADInplaceOrView", "Functionalize", "Tracer")

    def own(name):
        return {k: v for k, v in kernels(operators[name]).items() if k not in layers}

    assert own("add.Tensor") == {**shared, **default, "SparseCPU": "at::native::add_sparse"}
    assert own("add_.Tensor") == {**shared, **default}
    assert own("add.out") == {**shared, "SparseCPU": "at::native::add_out_sparse"}
    assert {k: v for k, v in origins(operators["add.Tensor"]).items() if k in ("CPU", "Meta", "SparseCPU", "Autograd")} == {
        "CPU": "structured", "Meta": "structured", "SparseCPU": "yaml", "Autograd": "generated"}
    assert origins(operators["add.out"])["MPS"] == "yaml"


def test_plain_kernels(operators):
    assert kernels(operators["relu"])["MPS"] == "custom::native::relu_mps"
    assert kernels(operators["add.Scalar"])["CompositeImplicitAutograd"] == "at::native::add"
    assert kernels(operators["observe.out"])["CompositeExplicitAutograd"] == "at::native::observe_out_symint"
    assert kernels(operators["relu_"])["Meta"] is None  # only checks its argument
    assert "Meta" not in kernels(operators["relu"])
    assert kernels(operators["data"]) == {}  # registered by hand


def test_conditions_of_a_build(operators):
    assert {r.key: r.build for r in operators["relu"].registrations if r.build} == {"CUDA": ("cuda",), "MPS": ("mps",)}


def test_layers(operators):
    def with_key(key):
        return {n for n, o in operators.items() if key in kernels(o)}

    assert with_key("BackendSelect") == {"zeros"}
    assert with_key("ADInplaceOrView") == {"add_.Tensor", "add.out", "relu_", "relu.out", "observe.out", "view", "view_copy.out"}
    assert with_key("Functionalize") == with_key("ADInplaceOrView") | {"observe", "_foreach_add_.List"}
    assert with_key("Tracer") == set(operators) - {"data"}
    assert with_key("AutogradNestedTensor") == {"view", "view_copy"}
    assert "Autograd" not in kernels(operators["sum"])
    boxed = {n for n, o in operators.items() for r in o.registrations if r.boxed}
    assert boxed == {"index", "zeros", "relu.out", "observe.out", "view_copy.out"}


def test_every_registration_has_a_receipt(operators):
    for operator in operators.values():
        for registration in operator.registrations:
            assert "torchgen/" in registration.rule or "tools/autograd/" in registration.rule
            assert registration.rule[-1].isdigit()
    (cpu,) = (r for r in operators["argmax"].registrations if r.key == "CPU")
    assert cpu.rule.startswith("aten/src/ATen/native/native_functions.yaml:")


def bound(operator, **wanted):
    return [(b.python, b.function, b.file) for b in operator.bindings
            if all(getattr(b, k) == v for k, v in wanted.items())]


def test_bindings(operators):
    add = operators["add.Tensor"]
    generated = [("torch.Tensor.add", "THPVariable_add", "python_variable_methods.cpp"),
                 ("torch.add", "THPVariable_add", "python_torch_functions_2.cpp")]
    assert bound(add, deprecated=False, place=None) == generated
    assert bound(add, deprecated=True) == generated
    assert bound(operators["add.out"], deprecated=True) == generated[1:]
    assert bound(operators["gelu"]) == [("torch._C._nn.gelu", "THPVariable_gelu", "python_nn_functions.cpp")]
    assert bound(operators["add.Scalar"]) == []  # its signature is skipped
    assert bound(operators["linear_backward"]) == []
    assert bound(operators["relu.out"]) == []  # torchgen's own
    assert bound(operators["view_copy.out"]) == [("torch.view_copy", "THPVariable_view_copy", "python_torch_functions_0.cpp")]


def test_hand_written_bindings(operators):
    by_hand = {(b.python, n): b.place.line for n, o in operators.items() for b in o.bindings if b.place}
    assert by_hand == {
        ("torch.Tensor.__add__", "add.Tensor"): 14, ("torch.Tensor.index", "index"): 15,
        ("torch.Tensor.data_ptr", "data"): 17, ("torch.Tensor.__invert__", "relu"): 18, ("torch.Tensor.T", "numpy_T"): 6,
    }


def test_cpp_names(operators):
    cpp = operators["add.out"].cpp
    assert (cpp.op, cpp.function, cpp.method) == ("at::_ops::add_out", "at::add_out", None)
    cpp = operators["add_.Tensor"].cpp
    assert (cpp.op, cpp.function, cpp.method) == ("at::_ops::add__Tensor", None, "at::Tensor::add_")


@pytest.mark.parametrize(("name", "nodes", "kind"), [
    ("add.Tensor", ("AddBackward0",), "formula"),
    ("add_.Tensor", ("AddBackward0",), "formula"),
    ("add.out", (), "not differentiable"),
    ("view", ("ViewBackward0", "ViewBackwardAutogradNestedTensor0"), "formula"),
    ("view_copy", ("ViewBackward0_copy", "ViewBackwardAutogradNestedTensor0_copy"), "formula"),
    ("observe_functional", ("ObserveBackward0",), "formula"),
    ("_foreach_add.List", ("ForeachAddBackward0List",), "formula"),
    ("_foreach_add_.List", ("AddBackward0",), "formula"),
    ("argmax", (), "not differentiable"),
    ("index", (), "not implemented"),
    ("scales", (), "not implemented"),  # its wrapper sets NotImplemented itself
    ("sum", (), "through the operators it calls"),
    ("data", (), "by hand"),
])
def test_autograd(operators, name, nodes, kind):
    autograd = operators[name].autograd
    assert (autograd.nodes, autograd.kind) == (nodes, kind)


def test_what_is_saved(operators):
    assert operators["add.Tensor"].autograd.saved == ("other_scalar_type", "alpha", "self_scalar_type")
    assert operators["relu"].autograd.saved == ("result",)
    assert operators["view"].autograd.saved == ("self_sym_sizes", "self")
    assert operators["observe"].autograd.saved == ("size", "mask")
    assert operators["observe"].autograd.output_differentiability == ("True", "False")


def test_formulas_have_lines(operators):
    formulas = operators["view"].autograd.formulas
    assert [(f.names, f.key, f.forward, f.place.line) for f in formulas] == [
        (("self",), "Default", False, 12), (("result",), "Default", True, 13), (("self",), "AutogradNestedTensor", False, 15)]
    assert operators["view"].autograd.formula.line == 9


def test_without_generators_little_is_claimed(release):
    operators = derive(release.declared(), {})
    relu = next(o for o in operators if o.name == "aten::relu")
    assert {r.key for r in relu.registrations} == {"CPU", "CUDA", "MPS"}
    assert not any(o.origin.value == "generated" for o in operators)


@pytest.mark.torch_tree
@pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set")
def test_a_whole_release_in_a_few_seconds():
    root = Path(os.environ["CARTOGRAPHER_TORCH_TREE"])
    folders = ("torchgen", "tools/autograd", "tools/codegen", "torch/csrc/autograd")
    paths = [p.relative_to(root).as_posix() for folder in folders for p in (root / folder).rglob("*") if p.is_file()]
    sources = {p: (root / p).read_bytes() for p in paths if matches(p)}
    start = time.process_time()
    declared = declarations.load({p: (root / p).read_bytes() for p in declarations.WANTED if (root / p).exists()})
    operators = derive(declared, sources)
    assert time.process_time() - start < 10
    names = [o.name for o in operators]
    assert len(names) == len(set(names)) > len(declared.functions)
    assert sum(bool(o.autograd.nodes) for o in operators) > 400
    assert sum(any(not b.place for b in o.bindings) for o in operators) > 1300
