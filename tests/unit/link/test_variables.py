# SPDX-License-Identifier: BSD-3-Clause
from cartographer.link.variables import Variables

TEXT = """\
void run(const Tensor& self, Vec<int>& out) {
  using Gemm = cutlass::gemm::device::Gemm<float>;
  using op_t = at::native::AddFunctor<float>;
  Gemm gemm;
  op_t op(1);
  at::OptionalScalar scale = 2;
  Plain<Inner<int>> & nested = make();
  auto f = [=] GPU_LAMBDA (int a) { return a; };
  auto g = [&](int a) {
    return a;
  };
  auto result = other::make(self);
  auto* pointer = flag ? first : second;
  int reusing = 1;
  Late scale(3);
}
"""


def test_classes_are_those_of_the_last_declaration() -> None:
    known = Variables(TEXT, 10)
    found = {name: known.written_class(name) for name in ("scale", "nested", "gemm", "op", "self", "result", "using")}
    assert found == {
        "scale": "Late", "nested": "Plain", "gemm": "Gemm", "op": "at::native::AddFunctor", "self": "", "result": "", "using": "",
    }  # fmt: skip
    assert known.class_of("gemm") == "cutlass::gemm::device::Gemm"


def test_a_name_inside_another_declares_nothing() -> None:
    known = Variables("Foo upscale = 1;\nFoo scaled = 2;\nx.scale = 3;\n", 1)
    assert known.written_class("scale") == ""
    assert "scale" not in known
    assert "upscale" in known


def test_lambdas_tell_their_line_and_their_mark() -> None:
    assert Variables(TEXT, 10).lambdas == {"f": (17, True), "g": (18, False)}


def test_results_and_what_calls_nothing() -> None:
    known = Variables(TEXT, 10)
    assert known.results == {"result": "other::make"}
    assert known.assigned == {"pointer": "flag ? first : second"}
    assert known.aliases == {"Gemm": "cutlass::gemm::device::Gemm", "op_t": "at::native::AddFunctor"}


def test_flags_that_hold_whether_an_optional_has_a_value():
    text = ("void f(const std::optional<Tensor>& grad_opt, const std::optional<Tensor>& bias_opt, std::optional<int64_t> size) {\n"
            "  const Tensor& grad = *(at::borrow_from_optional_tensor(grad_opt));\n  auto owned = borrow_from_optional_tensor(bias_opt);\n"
            "  const bool backward = grad.defined();\n  bool sized = size.has_value();\n  bool other = self.defined();\n  const bool cpu = self.device() == kCPU;\n}\n")
    assert Variables(text, 1).flags == {"backward": "grad_opt.has_value()", "sized": "size.has_value()", "cpu": "self.device() == kCPU"}
