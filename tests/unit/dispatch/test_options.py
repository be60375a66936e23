# SPDX-License-Identifier: BSD-3-Clause
"""RegisterOperators of the releases to 1.7: where the kernel, the key and the schema stand in each of its forms."""

import pytest

from cartographer.dispatch.build import Build
from cartographer.dispatch.cmake import Project
from cartographer.dispatch.library import library_findings, scopes
from cartographer.expand.macros import MacroTable
from cartographer.model.fact import FileFacts
from cartographer.scan.one import scan_file

PATH = "aten/src/ATen/x.cpp"
CALLED = "namespace at { namespace native { namespace {\ntemplate <bool Wide>\nclass Twice {\n public:\n  Twice(int n);\n  Tensor operator()(Tensor x) { return x; }\n};\n"


def findings(text):
    facts = {PATH: scan_file(PATH, text.encode())}
    table = MacroTable({PATH: FileFacts("C++", 1)}, lambda _g: None)
    return library_findings([(PATH, text)], table, Build(Project(), []), scopes(facts))


def registered(chain):
    return [(r.name, r.key, r.kernel) for r in findings(f"static auto r = c10::RegisterOperators(){chain};").registered]


@pytest.mark.parametrize(
    ("given", "key", "kernel"),
    [
        (".kernel<decltype(f), &f>(DispatchKey::CPU)", "CPU", "f"),
        (".kernel<decltype(f), f>(DispatchKey::CUDATensorId)", "CUDA", "f"),
        (".kernel<Tensor (const Tensor&, int)>(DispatchKey::VariableTensorId, &V::f)", "Autograd", "V::f"),
        (".kernel<Tensor (const Tensor&), &V::f>(DispatchKey::CPU)", "CPU", "V::f"),
        (".kernel(c10::TensorTypeId::CPUTensorId, &f<float, 2>)", "CPU", "f"),
        (".kernel<decltype(f<float, X>), &f<float, X>>(TensorTypeId::SparseCPUTensorId)", "SparseCPU", "f"),
        (".kernel<f>(QuantizedCPUTensorId())", "QuantizedCPU", "f"),
        (".kernel < &f>(CPUTensorId())", "CPU", "f"),
        (".catchAllKernel<decltype(f), &f>()", "CatchAll", "f"),
        (".catchAllKernel<f<int64_t>>()", "CatchAll", "f"),
        (".impl_unboxedOnlyCatchAllKernel<decltype(f), &f>()", "CatchAll", "f"),
        (".impl_unboxedOnlyKernel<decltype(f), &f>(DispatchKey::CPU)", "CPU", "f"),
        (".catchAllKernel([](Tensor self, int dim) { return at::sum(self, dim); })", "CatchAll", "lambda"),
        (".kernel(TensorTypeId::CPUTensorId, [](OperatorKernel* kernel, Stack* stack) { auto x = a & b; pack(*stack, at::t(x)); })", "CPU", "lambda"),
    ],
)
@pytest.mark.parametrize("form", ['.op("q::a(Tensor x) -> Tensor", options(){})', '.op(torch::RegisterOperators::options().schema("q::a(Tensor x) -> Tensor"){})'])
def test_each_form_of_a_kernel(form, given, key, kernel):
    assert registered(form.format(given + ".aliasAnalysis(K::PURE)")) == [("q::a", key, kernel)]


def test_a_functor_runs_its_call_operator_whatever_its_constructor_is_given():
    text = CALLED + (
        'static auto r = RegisterOperators()\n  .op("q::a(Tensor x) -> Tensor",\n     options().kernel<Twice</*Wide=*/true>>(TensorTypeId::QuantizedCPUTensorId, limit))\n'
        '  .op("q::b", options().kernel<Twice<false>>(DispatchKey::CPU))\n  .op("q::c(Tensor x) -> Tensor", options().kernel<Elsewhere>(DispatchKey::CPU));\n}}}'
    )
    found = findings(text)
    assert [(r.name, r.key, r.kernel, r.place.line) for r in found.registered] == [
        ("q::a", "QuantizedCPU", "at::native::Twice::operator()", 9),
        ("q::b", "CPU", "at::native::Twice::operator()", 11),
        ("q::c", "CPU", "at::native::Elsewhere", 12),
    ]
    assert [d.function for d in found.defined] == ["", "at::native::Twice::operator()", ""]


def test_a_function_is_no_functor():
    assert findings(CALLED + 'auto r = RegisterOperators().op("q::a(Tensor x) -> Tensor", &Twice);\n}}}').registered[0].kernel == "at::native::Twice"


def test_the_keys_of_two_kernels_on_one_line_are_told_apart():
    text = '.op(options().schema("aten::a(Tensor x) -> ()").kernel<decltype(f), &f>(DispatchKey::Autograd).catchAllKernel<decltype(f), &f>().kernel<decltype(f), &g>(DispatchKey::CPU))'
    assert registered(text) == [("aten::a", "Autograd", "f"), ("aten::a", "CatchAll", "f"), ("aten::a", "CPU", "g")]


def test_functions_and_lambdas_without_options():
    assert registered('.op("q::a(int x) -> int", &f).op("q::b(int x) -> int", [](int x) { return g(x); }).op("q::c(int x) -> int", &h, options())') == [
        ("q::a", "CatchAll", "f"), ("q::b", "CatchAll", "lambda"), ("q::c", "CatchAll", "h"),
    ]  # fmt: skip


def test_what_a_lambda_does_registers_nothing():
    assert registered('.op("q::a(int x) -> int", options().catchAllKernel([](int x) { make().kernel<K>(DispatchKey::CPU); return x; }))') == [
        ("q::a", "CatchAll", "lambda")
    ]


def test_kernel_and_key_of_1_1_with_a_schema_of_values():
    text = (
        'static auto r = c10::RegisterOperators().op(\n FunctionSchema(\n  "exp::Sum",\n  "wide",\n'
        '  (std::vector<c10::Argument>{c10::Argument("xs", ListType::ofTensors()), c10::Argument("y"), c10::Argument("n", IntType::get())}),\n'
        "  (std::vector<c10::Argument>{})),\n c10::kernel<decltype(f<float>), &f<float>>(),\n c10::dispatchKey(CPUTensorId()));"
    )
    found = findings(text)
    assert [(r.name, r.key, r.kernel, r.place.line) for r in found.registered] == [("exp::Sum.wide", "CPU", "f", 3)]
    assert [(d.name, d.schema) for d in found.defined] == [("exp::Sum.wide", "exp::Sum.wide(Tensor[] xs, Tensor y, int n) -> ()")]


@pytest.mark.parametrize("argument", ['Argument("n", OptionalType::ofTensor())', 'Argument("n", IntType::get(), 3)', "Argument(name)"])
def test_a_schema_of_values_that_is_not_understood_leaves_the_name(argument):
    found = findings(f'auto r = RegisterOperators().op(FunctionSchema("exp::f", "", {{{argument}}}, {{Argument("out")}}), kernel<K>(), dispatchKey(CPUTensorId()));')
    assert [(d.name, d.schema) for d in found.defined] == [("exp::f", None)]


def test_a_key_that_cannot_be_told_is_said():
    found = findings('auto r = RegisterOperators().op("q::a(int x) -> int", options().kernel<K>(choose(1)));')
    assert not found.registered
    assert [d.name for d in found.defined] == ["q::a"]
    assert ["dispatch key" in u.reason and "q::a" in u.reason for u in found.unresolved] == [True]
