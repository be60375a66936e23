# SPDX-License-Identifier: BSD-3-Clause
"""Overloads that take the same number of arguments: the types of the arguments choose, as far as the text tells them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

F = N + "cuda/F.cu"


def entered(body):
    """The line of the function that `f_cuda`, which ends the file, goes on in; all of them when several are left."""
    found = steps({F: f"namespace at::native {{\n__global__ void a(int* p) {{}}\n__global__ void b(int* p) {{}}\n{body}}}\n"},
                  operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))
    return [s for role, s, _ in found if role == "device"]


TWO = ("template <typename T> void run(const Tensor& t, T& w) { a<<<8, 8>>>(t); }\nvoid run(const Tensor& t, const Special& w) { b<<<8, 8>>>(t); }\n")
HEAD = "struct Special {};\nstruct Other {};\n"


@pytest.mark.parametrize(("before", "argument", "kernels"), [
    ("static Special special;\n", "special", ["b"]),
    ("static Other other;\n", "other", ["a"]),
    ("", "Special()", ["b"]),
    ("", "std::move(self)", ["a"]),
    ("", "static_cast<const Special&>(x)", ["b"]),
    ("", "x.y()", ["a", "b"]),
])
def test_an_exact_type_comes_before_a_template_and_what_is_not_told_decides_nothing(before, argument, kernels):
    assert entered(f"{HEAD}{before}{TWO}void f_cuda(const Tensor& self) {{\n  run(self, {argument});\n}}\n") == kernels


@pytest.mark.parametrize(("declared", "argument", "kernels"), [
    ("double p = 1;", "p", ["a"]),
    ("float* p = q;", "p", ["b"]),
    ("auto p = made(self);", "p", ["b"]),
    ("", "self.data_ptr<float>()", ["b"]),
    ("", "s.toDouble()", ["a"]),
    ("auto p = unknown(self);", "p", ["b", "a"]),
])
def test_types_of_local_variables_and_of_results(declared, argument, kernels):
    two = "float* made(const Tensor& t);\nvoid run(int64_t n, double x) { a<<<8, 8>>>(n); }\nvoid run(int64_t n, float* x) { b<<<8, 8>>>(n); }\n"
    assert entered(f"{two}void f_cuda(const Tensor& self) {{\n  {declared}\n  run(self, {argument});\n}}\n") == kernels


def test_a_nullopt_under_a_cast_and_lists_of_one_kind():
    two = ("void run(const Tensor& t, std::optional<Generator> g) { a<<<8, 8>>>(t); }\nvoid run(const Tensor& t, std::optional<DimnameList> n) { b<<<8, 8>>>(t); }\n"
           "void each(TensorList t, const Scalar& s) { b<<<8, 8>>>(t); }\nvoid each(TensorList t, at::ArrayRef<Scalar> s) { a<<<8, 8>>>(t); }\n")
    for call in ("run(self, static_cast<std::optional<Generator>>(std::nullopt))", "std::vector<c10::Scalar> l = g();\n  each({self}, l)"):
        assert entered(f"{two}void f_cuda(const Tensor& self) {{\n  {call};\n}}\n") == ["a"]


def test_the_call_operator_of_a_functor_that_is_made_and_called_in_one():
    functor = ("struct Add {};\nstruct Assign {};\nstatic Assign assign;\ntemplate <bool Cast>\nstruct run {\n  void operator()(const Tensor& t, const Add& f) { a<<<8, 8>>>(t); }\n"
               "  void operator()(const Tensor& t, const Assign& f) { b<<<8, 8>>>(t); }\n};\n")
    assert entered(functor + "void f_cuda(const Tensor& self) {\n  run</*Cast=*/false>()(\n    self, assign);\n}\n") == ["b"]
    assert entered(functor + "void f_cuda(const Tensor& self) {\n  run<false>()(self, unknown);\n}\n") == ["a", "b"]


def test_a_condition_on_the_templates_own_arguments_is_no_matter_of_the_calls():
    two = ("template <typename T, std::enable_if_t<!is_reduced<T>, int> = 0>\nvoid run(const Tensor& t, T x) { a<<<8, 8>>>(t); }\n"
           "template <typename T, std::enable_if_t<is_reduced<T>, int> = 0>\nvoid run(const Tensor& t, float x) { b<<<8, 8>>>(t); }\n")
    assert entered(f"{two}void f_cuda(const Tensor& self) {{\n  float x = 1;\n  run<scalar_t>(self, x);\n}}\n")[0] == "a"


def test_a_macros_body_tells_the_types_in_what_it_makes():
    macro = ("#define MAKE(NAME) void NAME##_cuda(const Tensor& self) { \\\n  auto s = made(self); \\\n  run(self, s); \\\n}\n"
             "double made(const Tensor& t);\nvoid run(const Tensor& t, const Tensor& x) { a<<<8, 8>>>(t); }\nvoid run(const Tensor& t, double x) { b<<<8, 8>>>(t); }\n")
    assert entered(f"{macro}MAKE(f)\n") == ["b"]


def test_the_call_operator_of_a_functor_that_is_handed_over_as_a_template_argument():
    text = ("template <typename G>\nstruct Each {\n  void operator()(const Tensor& t, const Tensor& p) { a<<<8, 8>>>(t); }\n  void operator()(const Tensor& t, double p) { b<<<8, 8>>>(t); }\n};\n"
            "template <template <typename> class one, typename G>\nvoid inner(const Tensor& t, const Tensor& p) {\n  one<G>()(t, p);\n}\n"
            "template <template <typename> class two, typename G>\nvoid inner(const Tensor& t, double p) {\n  two<G>()(t, p);\n}\n"
            "template <template <typename> class three, typename G>\nvoid outer(const Tensor& t) {\n  inner<three, G>(t, t);\n}\n")
    assert entered(text + "void f_cuda(const Tensor& self) {\n  double p = 1;\n  inner<Each, Generator>(self, p);\n}\n") == ["b"]
    assert entered(text + "void f_cuda(const Tensor& self) {\n  outer<Each, Generator>(self);\n}\n") == ["a"]


def test_a_literal_becomes_one_kind_of_number_no_sooner_than_another():
    two = "void run(const Tensor& t, int64_t n) { a<<<8, 8>>>(t); }\nvoid run(const Tensor& t, float x) { b<<<8, 8>>>(t); }\n"
    assert entered(f"{two}void f_cuda(const Tensor& self) {{\n  run(self, 1);\n}}\n") == ["a", "b"]
    assert entered(f"{two}void f_cuda(const Tensor& self) {{\n  run(self, 1.5f);\n}}\n") == ["b"]


@pytest.mark.parametrize(("call", "kernels"), [("run<float>(self, 1)", ["a"]), ("run(self, 1)", ["b"])])
def test_template_arguments_are_for_templates_alone(call, kernels):
    both = "template <typename T> void run(const Tensor& t, T w) { a<<<8, 8>>>(t); }\nvoid run(const Tensor& t, int w) { b<<<8, 8>>>(t); }\n"
    assert entered(f"{both}void f_cuda(const Tensor& self) {{\n  {call};\n}}\n") == kernels


def test_a_specialisation_without_its_arguments_is_a_template_too():
    both = "template <typename T> void run(T* w) { a<<<8, 8>>>(w); }\ntemplate <>\nvoid run(float* w) { b<<<8, 8>>>(w); }\n"
    assert "b" in entered(f"{both}void f_cuda(const Tensor& self) {{\n  run<float>(x);\n}}\n")
