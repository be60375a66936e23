# SPDX-License-Identifier: BSD-3-Clause
"""What most people run, told by conditions: sides of an `if` chain, layouts, sizes, types, defaults of arguments, what a call gives."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.link.bound import left
from cartographer.link.conditions import holds, is_rare, text, weight
from cartographer.link.defaults import by_default

STUBS = "DEFINE_DISPATCH(a_stub);\nDEFINE_DISPATCH(b_stub);\nDEFINE_DISPATCH(c_stub);\n"
KERNELS = "".join(f"void {x}_kernel() {{\n  cpu_kernel(iter, [](float v) {{ return v; }});\n}}\nREGISTER_DISPATCH({x}_stub, &{x}_kernel)\n" for x in "abc")
LOOPS = "template <typename f_t> void cpu_kernel(TensorIteratorBase& iter, f_t&& f) { iter.for_each([&](char** d, int64_t n) { f(d); }); }\n"


def chain(body, schema="f(Tensor self) -> Tensor", parameters="const Tensor& self", key="CPU", more=()):
    files = {N + "cpu/Loops.h": f"namespace at::native {{\n{LOOPS}}}\n", N + "cpu/K.cpp": f"namespace at::native {{\n{KERNELS}}}\n",
             N + "F.cpp": f"namespace at::native {{\n{STUBS}{body}}}\n" if "f_entry" in body else f"namespace at::native {{\n{STUBS}Tensor f_entry({parameters}) {{\n{body}}}\n}}\n"}
    f = operator(schema, key, "at::native::f_entry")
    maker, _ = made(files, f, *more)
    return maker.chain(f, key).steps


def stubs(*arguments, **more):
    return [s.symbol for s in chain(*arguments, **more) if s.role == "stub"]


def test_in_the_last_side_of_an_if_chain_none_of_those_before_holds():
    body = "  if (self.is_cuda()) {\n    a_stub(kCUDA);\n  } else if (n == 1) {\n    b_stub(kCPU);\n  } else {\n    c_stub(kCPU);\n  }\n"
    found = {s.symbol: s.branch for s in chain(body) if s.role == "stub"}
    assert found == {"c_stub": "!(n == 1)", "b_stub": "n == 1"}  # not on the CPU, which is settled
    body = body.replace("self.is_cuda()", "self.is_cpu()").replace("kCUDA", "kCPU")
    assert stubs(body) == ["a_stub"]  # on it always


@pytest.mark.parametrize(("condition", "held"), [
    ("self.layout() == kSparseCsr", False), ("self.layout() == kStrided", True), ("self.layout() != c10::kStrided", False), ("layout == Layout::Mkldnn", False),
    ("self.is_cuda() || self.is_xpu() || self.is_privateuseone()", False), ("at::sparse_csr::is_sparse_compressed(self)", False), ("!at::sparse_csr::is_sparse_compressed(self)", True), ("kSparse", None)])  # fmt: skip
def test_layouts_by_their_constants(condition, held):
    assert holds(condition, frozenset(("cpu",))) is held


def test_what_only_empty_tensors_do_is_no_way():
    other = operator("clone(Tensor self) -> Tensor", "CPU", "at::native::clone_entry"), operator("cat(Tensor self) -> Tensor", "CPU", "at::native::cat_entry")
    body = ("Tensor clone_entry(const Tensor& self) { a_stub(kCPU); }\nTensor cat_entry(const Tensor& self) { b_stub(kCPU); }\n"
            "Tensor f_entry(const Tensor& self) {\n  if (self.numel() == 0) {\n    return self.clone();\n  }\n  return at::cat(self);\n}\n")
    assert [s.symbol.rpartition("::")[2] for s in chain(body, more=other) if s.role == "entry"] == ["f_entry", "cat_entry"]
    body = body.replace("== 0", "> 0")  # now it is the other way round
    assert [s.symbol.rpartition("::")[2] for s in chain(body, more=other) if s.role == "entry"] == ["f_entry", "clone_entry"]


@pytest.mark.parametrize(("condition", "rare"), [
    ("x.numel() == 0", True), ("!(x.numel() == 0)", False), ("m * n * k < 400", True), ("!(sizes < 400)", False), ("size >= 16", False), ("size <= 1024", False),
    ("self.dim() < 16", False), ("size >= 32 && size <= 512", False), ("isQIntType(dtype)", True), ("!(dtype == iter.dtype(1))", True), ("dtype == iter.dtype(1)", False)])  # fmt: skip
def test_what_hardly_anybody_has(condition, rare):
    assert is_rare((condition,)) is rare


def test_a_rare_place_of_a_call_gives_way_to_the_usual_one():
    other = operator("cat(Tensor self) -> Tensor", "CPU", "at::native::cat_entry")
    body = "Tensor cat_entry(const Tensor& self) { b_stub(kCPU); }\nTensor f_entry(const Tensor& self) {\n  if (self.numel() == 0) {\n    return at::cat(self);\n  }\n  return at::cat(self);\n}\n"
    assert [s.line for s in chain(body, more=(other,)) if s.role == "calls"] == [10]


def test_defaults_of_arguments_decide():
    schema = "f(Tensor self, int reduction=1, bool keepdim=False, int[]? dim=None, Tensor? weight=None) -> Tensor"
    assert by_default(("reduction == Reduction::Mean",), schema) == -weight(("reduction == Reduction::Mean",))
    assert by_default(("reduction != at::Reduction::None",), schema) == -weight(("reduction != at::Reduction::None",))
    assert by_default(("reduction == Reduction::Sum",), schema) > 0
    assert by_default(("keepdim",), schema) > 0
    assert by_default(("dim.has_value()",), schema) > 0
    assert by_default(("weight.has_value()", "other == 1"), schema) == 0
    assert by_default(("keepdim",), "no schema") == 0
    assert by_default(("k >= 0",), "f(Tensor self, int diagonal=0) -> Tensor", ("self", "k")) < 0
    assert by_default(("k >= 0",), "f(Tensor self, int diagonal=0) -> Tensor", ("self",)) == 0


def test_the_side_that_the_default_takes_comes_first():
    body = "  if (!flag) {\n    a_stub(kCPU);\n  } else {\n    b_stub(kCPU);\n  }\n"
    parameters = "const Tensor& self, bool flag"
    assert stubs(body, "f(Tensor self, bool flag=True) -> Tensor", parameters) == ["b_stub", "a_stub"]
    assert stubs(body, "f(Tensor self, bool flag=False) -> Tensor", parameters) == ["a_stub", "b_stub"]


def test_strings_and_enumerators_that_a_call_gives():
    assert left(('mode == "a"', "x"), (("mode", '"a"'),)) == ("x",)
    assert left(('*mode != "a"',), (("mode", '"a"'),)) is None
    assert left(("kind == Kind::SUM",), (("kind", "Kind::SUM"),)) == ()
    assert left(("case Kind::PROD", "x"), (("kind", "Kind::SUM"),)) is None
    assert left(("case Other::PROD",), (("kind", "Kind::SUM"),)) == ("case Other::PROD",)
    assert left(("kind == other_kind",), (("kind", "Kind::SUM"),)) == ("kind == other_kind",)
    body = ("enum Kind { SUM, PROD };\nstatic void impl(const Tensor& self, Kind kind, const std::string name) {\n  switch (kind) {\n    case Kind::SUM:\n      a_stub(kCPU);\n      break;\n"
            '    case Kind::PROD:\n      b_stub(kCPU);\n      break;\n  }\n  if (name == "more") {\n    c_stub(kCPU);\n  }\n}\n'
            'Tensor f_entry(const Tensor& self) {\n  impl(self, Kind::PROD, "plain");\n}\n')
    assert stubs(body) == ["b_stub"]
    assert set(stubs(body.replace('"plain"', '"more"'))) == {"b_stub", "c_stub"}


def test_a_variable_that_holds_a_devices_question_is_spelled_out():
    body = "  const auto cpu = self.device() == kCPU;\n  if (!cpu) {\n    a_stub(kCPU);\n  } else {\n    b_stub(kCPU);\n  }\n"
    assert stubs(body) == ["b_stub"]
    assert set(stubs(body.replace("== kCPU", "== other"))) == {"b_stub", "a_stub"}


def test_ways_out_on_other_platforms_do_not_count():
    body = "#ifdef {}\n  if (use_it()) {{\n    a_stub(kCPU);\n    return;\n  }}\n#endif\n  b_stub(kCPU);\n"
    assert [s.branch for s in chain(body.format("C10_MOBILE")) if s.symbol == "b_stub" and s.role == "stub"] == [""]
    assert [s.branch for s in chain(body.format("USE_FBGEMM")) if s.symbol == "b_stub" and s.role == "stub"] == ["!(use_it())"]


def test_where_there_is_no_room_what_does_not_hold_goes_first():
    assert text(("a" * 80, "!(" + "b" * 80 + ")", "c" * 60)) == "a" * 80 + " && " + "c" * 60
    assert text(("a" * 100, "c" * 100)) == "c" * 100


def test_another_road_by_which_the_body_is_left():
    other = operator("scatter_add(Tensor self) -> Tensor", "CPU", "at::native::other_entry")
    body = ("Tensor other_entry(const Tensor& self) { b_stub(kCPU); }\nTensor f_entry(const Tensor& self) {\n  if (quick(self)) {\n    at::scatter_add(self);\n    return self;\n  }\n  a_stub(kCPU);\n}\n")
    assert [(s.role, s.symbol) for s in chain(body, more=(other,)) if s.role in ("stub", "calls")] == [("stub", "a_stub"), ("calls", "at::scatter_add")]
    assert "calls" not in {s.role for s in chain(body.replace("    return self;\n", ""), more=(other,))}


def test_what_a_function_of_the_file_does_in_any_case():
    other = operator("mean(Tensor self) -> Tensor", "CPU", "at::native::other_entry")
    body = ("Tensor other_entry(const Tensor& self) { b_stub(kCPU); }\nstatic Tensor reduced(const Tensor& self, int64_t reduction) {\n  if (reduction == at::Reduction::Mean) {\n    return self.mean();\n  }\n}\n"
            "Tensor f_entry(const Tensor& self, int64_t reduction) {\n  a_stub(kCPU);\n  return reduced(self, reduction);\n}\n")
    found = [(s.role, s.symbol.rpartition("::")[2]) for s in chain(body, "f(Tensor self, int reduction=1) -> Tensor", more=(other,))]
    assert found[-2:] == [("kernel", "reduced"), ("calls", "mean")]
    assert ("calls", "mean") not in [(s.role, s.symbol.rpartition("::")[2]) for s in chain(body, "f(Tensor self, int reduction=0) -> Tensor", more=(other,))]


def test_a_variable_is_no_function_of_its_name():
    other = operator("mean(Tensor self) -> Tensor", "CPU", "at::native::other_entry")
    body = "Tensor max(const Tensor& x) {\n  return x.mean();\n}\nTensor other_entry(const Tensor& self) { b_stub(kCPU); }\nTensor f_entry(const Tensor& self, const Scalar& max) {\n  a_stub(kCPU, max);\n}\n"
    assert "calls" not in {s.role for s in chain(body, more=(other,))}
    assert "calls" not in {s.role for s in chain(body.replace(", const Scalar& max) {", ") {\n  auto max = g();"), more=(other,))}
    assert "calls" in {s.role for s in chain(body.replace("max)", "&max)").replace(", const Scalar& &max)", ")"), more=(other,))}


def test_functions_that_bear_the_name_where_nothing_else_is_known():
    files = {"aten/src/ATen/Empty.cpp": "namespace at::detail {\nTensor empty_generic(int n) { return x; }\nTensor empty_cpu(int n) {\n  check(n);\n  return empty_generic(n);\n}\n}\n",
             N + "F.cpp": "namespace at::native {\nTensor empty_cpu(int n) {\n  return at::detail::empty_cpu(n);\n}\n}\n"}
    assert steps(files, operator("empty(int n) -> Tensor", "CPU", "at::native::empty_cpu"), key="CPU") == [
        ("entry", "empty_cpu", 2), ("kernel", "empty_cpu", 3), ("kernel", "empty_generic", 2)]
    assert len(steps(files, operator("other(int n) -> Tensor", "CPU", "at::native::empty_cpu"), key="CPU")) == 1


def test_classes_that_a_template_may_be_filled_with_are_cases_unless_one_is_named():
    linear = operator("linear(Tensor self) -> Tensor", "CPU", "at::native::linear_entry"), operator("quick(Tensor self) -> Tensor", "CPU", "at::native::quick_entry")
    body = ("Tensor linear_entry(const Tensor& self) { a_stub(kCPU); }\nTensor quick_entry(const Tensor& self) { b_stub(kCPU); }\n"
            "struct QuantizedParams : public Base {\n  Tensor work_ih(const Tensor& x) const override { return at::quick(x); }\n};\n"
            "struct Params : public Base {\n  Tensor work_ih(const Tensor& x) const override { return at::linear(x); }\n};\n"
            "template <typename params_t> struct Cell {\n  Tensor operator()(const Tensor& x, const params_t& params) const { return params.work_ih(x); }\n};\n"
            "template <typename params_t> Tensor apply(const Tensor& x, const params_t& params) { return Cell<params_t>{}(x, params); }\n"
            "using cell_type = Cell<QuantizedParams>;\nTensor f_entry(const Tensor& self) {\n  return apply(self, p);\n}\n")

    def called(body):
        return {s.symbol: s.branch for s in chain(body, "f(Tensor self) -> Tensor", key="CPU", more=linear) if s.role == "calls"}

    assert called(body) == {"at::linear": "case Params", "at::quick": "case QuantizedParams"}
    assert called(body.replace("apply(self, p)", "Cell<Params>{}(self, Params{w})")) == {"at::linear": ""}  # it is told which
    assert called(body.replace("apply(self, p)", "cell_type{}(self, p)")) == {"at::quick": ""}


@pytest.mark.parametrize(("types", "base", "first"), [("iter.common_dtype()", "f", 9), ("iter.common_dtype()", "f_", 12), ("iter.dtype()", "f", 12)])
def test_the_loop_for_booleans_comes_first_where_the_operator_gives_them_for_whatever_it_is_given(types, base, first):
    kernel = (f'void f_kernel(TensorIteratorBase& iter) {{\n  if (iter.dtype() == kBool) {{\n    AT_DISPATCH_ALL_TYPES({types}, "f", [&] {{\n'
        '      cpu_kernel(iter, [](scalar_t a) -> bool { return a > 0; });\n    });\n  } else { AT_DISPATCH_ALL_TYPES(iter.common_dtype(), "f", [&] {\n'
        "    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return a > 0; }); }); }\n}\n")  # fmt: skip
    body = f"DEFINE_DISPATCH(f_stub);\n{kernel}REGISTER_DISPATCH(f_stub, &f_kernel)\nvoid f_entry(const Tensor& self) {{ f_stub(kCPU, iter); }}\n"
    steps = chain(body, f"{base}(Tensor self) -> Tensor")
    assert [s.line for s in steps if s.role == "device"] == [first, 21 - first]


def test_what_runs_for_most_types_comes_before_the_side_of_an_if_for_others_whatever_their_names():
    kernels = "void {0}_kernel() {{}}\nREGISTER_DISPATCH({0}_stub, &{0}_kernel)\n"
    body = f"DEFINE_DISPATCH(f_stub);\n{kernels.format('f')}Tensor f_entry(const Tensor& self) {{\n  if (self.is_complex()) {{ f_stub(kCPU, self); }} else {{ a_stub(kCPU, self); }}\n}}\n"
    assert stubs(body) == ["a_stub", "f_stub"]
    assert stubs(body.replace("self.is_complex()", "can_use() || !self.is_complex()")) == ["f_stub", "a_stub"]  # holds for most


def test_an_operator_that_is_called_for_most_types_comes_before_the_way_for_others():
    more = (operator("real_f(Tensor self) -> Tensor", "CPU", "at::native::real_f"),)
    body = "Tensor real_f(const Tensor& self) { a_stub(kCPU, self); }\nTensor f_entry(const Tensor& self) {\n  if (!self.is_complex()) { return at::real_f(self); }\n  b_stub(kCPU, self);\n}\n"
    assert [s.symbol for s in chain(body, more=more) if s.role in ("stub", "calls")] == ["at::real_f", "a_stub", "b_stub"]


@pytest.mark.parametrize(("mode", "first"), [("smooth", ["b_stub"]), ("plain", ["a_stub"]), ("exact", ["a_stub"]), ("other", ["b_stub", "a_stub"])])
def test_a_string_decides_what_variables_are_set_to(mode, first):
    body = ("static void impl(const Tensor& self, const std::string_view mode) {\n  Kind kind = KindPlain;\n  bool centered = false;\n"
            '  if (mode == "plain") {\n    kind = KindPlain;\n  } else if (mode == "smooth") {\n    kind = KindSmooth;\n  } else if (mode == "exact") {\n    centered = true;\n  }\n'
            "  if (kind == KindPlain) {\n    a_stub(kCPU);\n  } else {\n    b_stub(kCPU);\n  }\n}\n"
            f'Tensor f_entry(const Tensor& self) {{\n  impl(self, "{mode}");\n}}\n')
    assert stubs(body) == first
    assert set(stubs(body.replace("  if (kind", "  kind = chosen();\n  if (kind"))) == {"a_stub", "b_stub"}  # set elsewhere
