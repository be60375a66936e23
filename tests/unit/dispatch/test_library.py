# SPDX-License-Identifier: BSD-3-Clause
"""Registration blocks: every form of statement, through macros and lists, on the line that names the operator."""

import pytest

from cartographer.dispatch.build import Build
from cartographer.dispatch.cmake import Project
from cartographer.dispatch.library import library_findings, makers_of, wanted
from cartographer.expand.macros import MacroTable
from cartographer.model.fact import FileFacts, MacroDefinition

PATH = "aten/src/ATen/x.cpp"


def findings(text, *macros, path=PATH, known=frozenset()):
    facts = {path: FileFacts("C++", 1, macros=macros)}
    return library_findings([(path, text)], MacroTable(facts, lambda _g: None), Build(Project(), ["MPS", "Vulkan"]), known)


def registered(text, *macros, **more):
    return [(r.name, r.key, r.kernel, r.place.line) for r in findings(text, *macros, **more).registered]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ('TORCH_LIBRARY_IMPL(aten, CPU, m) {\nm.impl("add.out", &add_out);\n}', ("aten::add.out", "CPU", "add_out", 2)),
        ('TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("x", TORCH_FN(at::native::x)); }', ("aten::x", "CPU", "at::native::x", 1)),
        ('TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl(TORCH_SELECTIVE_NAME("q::x"), TORCH_FN(f<1>::run)); }', ("q::x", "CPU", "f::run", 1)),
        ('TORCH_LIBRARY_IMPL(q, CPU, m) { m.impl("a" ".b", [](int x) { return x; }); }', ("q::a.b", "CPU", "lambda", 1)),
        ('TORCH_LIBRARY(q, m) { m.impl("a", torch::dispatch(c10::DispatchKey::CUDA, f)); }', ("q::a", "CUDA", "f", 1)),
        ('TORCH_LIBRARY(q, m) { m.impl("a", c10::DispatchKey::CUDA, f); }', ("q::a", "CUDA", "f", 1)),
        ('TORCH_LIBRARY(q, m) { m.impl("a", torch::dispatch(torch::kCPU, f)); }', ("q::a", "CPU", "f", 1)),
        ('TORCH_LIBRARY_FRAGMENT(q, m) { m.def("a(Tensor x) -> Tensor", &f); }', ("q::a", "CatchAll", "f", 1)),
        ('TORCH_LIBRARY_FRAGMENT_OLD_NAME(q, m) { m.def("a(Tensor x) -> Tensor", &f); }', ("q::a", "CatchAll", "f", 1)),
        ('STABLE_TORCH_LIBRARY_IMPL(q, CPU, m) { m.impl("a", TORCH_BOX(&f)); }', ("q::a", "CPU", "f", 1)),
        ('TORCH_LIBRARY_IMPL(q, CatchAll, m) { m.impl("a", f); }', ("q::a", "CatchAll", "f", 1)),
        ('static auto r = c10::RegisterOperators().op("q::a(int x) -> int", &f);', ("q::a", "CatchAll", "f", 1)),
        (
            'auto r = RegisterOperators().op("q::a(int x) -> int", c10::RegisterOperators::options().kernel<K>(DispatchKey::CPU));',
            ("q::a", "CPU", "K", 1),
        ),
        (
            'void all(torch::Library& lib, const char* name) { lib.impl(name, g); }\nTORCH_LIBRARY_IMPL(q, CPU, m) { all(m, "b"); }',
            ("q::b", "CPU", "g", 2),
        ),
    ],
)
def test_one_statement(block, expected):
    assert registered(block) == [expected]


def test_fallthroughs_boxed_kernels_and_fallbacks():
    found = findings(
        "TORCH_LIBRARY_IMPL(_, Named, m) {\n  m.fallback(torch::CppFunction::makeFallthrough());\n}\n"
        "TORCH_LIBRARY_IMPL(aten, Named, m) {\n"
        '  m.impl("a", torch::CppFunction::makeFallthrough());\n'
        '  m.impl("b", torch::CppFunction::makeFromBoxedFunction<&boxed>());\n'
        '  m.impl("c", torch::CppFunction::makeFromBoxedFunction<rule<1>>());\n'
        '  m.impl("d", torch::CppFunction::makeFromBoxedFunction< ::caffe2::call<::caffe2::schema, Op>>());\n}\n'
    )
    assert [(f.key, f.fallthrough, f.place.line) for f in found.fallbacks] == [("Named", True, 2)]
    assert [(r.name, r.fallthrough, r.boxed, r.kernel) for r in found.registered] == [
        ("aten::a", True, True, None),
        ("aten::b", False, True, "boxed"),
        ("aten::c", False, True, "rule"),
        ("aten::d", False, True, "caffe2::call"),
    ]


def test_loops_constants_and_chains():
    text = (
        'static const char* names[] = {"a",\n "b"};\nconstexpr char one[] = "c";\n'
        "TORCH_LIBRARY_IMPL(q, CPU, m) {\n  for (const auto& n : names) { m.impl(n, f); }\n"
        '  m.impl(one, g).impl("d", h);\n  for (auto n : {"e"}) m.impl(n, i);\n}'
    )
    assert registered(text) == [
        ("q::a", "CPU", "f", 1), ("q::b", "CPU", "f", 2), ("q::c", "CPU", "g", 3), ("q::d", "CPU", "h", 6), ("q::e", "CPU", "i", 7),
    ]  # fmt: skip


def test_a_list_macro_reports_the_line_of_the_item():
    forall = MacroDefinition("FORALL", ("_",), 1, "\n_(eq)\n_(ne, Tensor)")
    kernel = MacroDefinition("KERNEL", ("op", "..."), 5, 'm.impl("aten::" #op, &wrap<decltype(&op), &op>::call);')
    text = "\n" * 9 + "TORCH_LIBRARY_IMPL(aten, Autocast, m) {\n FORALL(KERNEL)\n}"
    assert registered(text, forall, kernel) == [("aten::eq", "Autocast", "eq", 2), ("aten::ne", "Autocast", "ne", 3)]


def test_a_macro_may_make_the_whole_block():
    made = MacroDefinition("REGISTER", ("f", "K"), 1, "TORCH_LIBRARY_IMPL(c10d, K, m) { m.impl(#f, f##K); }")
    assert registered("\n\nREGISTER(send, CPU)\nREGISTER(send, CUDA)\n", made) == [
        ("c10d::send", "CPU", "sendCPU", 3), ("c10d::send", "CUDA", "sendCUDA", 4),
    ]  # fmt: skip


def test_guards_and_places_become_conditions():
    text = '#ifdef __SPECIAL__\nTORCH_LIBRARY(q, m) {\n m.def("a() -> ()");\n}\n#endif\nTORCH_LIBRARY(r, m) { m.def("b() -> ()"); }'
    assert [(d.name, d.build) for d in findings(text).defined] == [("q::a", ("special",)), ("r::b", ())]
    assert findings(text, path="aten/src/ATen/native/vulkan/ops/x.cpp").defined[1].build == ("vulkan",)
    assert findings(text, path="aten/src/ATen/test/x_test.cpp").defined[1].build == ("tests",)


def test_definitions_with_tags_raw_strings_and_names_alone():
    text = 'TORCH_LIBRARY(q, m) {\n m.def(R"(a(Tensor x) -> Tensor)", {at::Tag::core, at::Tag::pointwise});\n m.def("b", &f);\n m.set_python_module("x");\n}'
    a, b = findings(text).defined
    assert (a.name, a.schema, a.tags) == ("q::a", "q::a(Tensor x) -> Tensor", ("core", "pointwise"))
    assert (b.name, b.schema, b.function) == ("q::b", None, "f")


def test_what_is_no_literal_is_said_and_not_guessed():
    found = findings("TORCH_LIBRARY_IMPL(q, CPU, m) {\n m.impl(table[i].name, f);\n m.enter();\n}")
    assert not found.registered
    assert [(u.line, "literal" in u.reason or "enter" in u.reason) for u in found.unresolved] == [(2, True), (3, True)]


def test_template_holes_are_the_generators_business():
    text = 'TORCH_LIBRARY(aten, m) {\n  ${schema_registrations};\n  m.def("g(int x) -> int");\n}'
    assert [d.name for d in findings(text, path="aten/src/ATen/templates/RegisterSchema.cpp").defined] == ["aten::g"]


def test_torchscript_operators_are_a_kind_of_their_own():
    macro = MacroDefinition("STRING_OP", ("op",), 1, 'OperatorGeneratorArgs(TORCH_SELECTIVE_SCHEMA("aten::" #op "(str x) -> str"), f),')
    text = 'RegisterOperators reg({\n Operator("aten::a(int x) -> int", f),\n STRING_OP(upper)\n});'
    found = findings(text, macro, path="torch/csrc/jit/runtime/register_x.cpp")
    assert [(s.name, s.place.line) for s in found.script] == [("aten::a", 2), ("aten::upper", 3)]
    assert not found.defined


def test_kernels_are_named_as_cpp_looks_them_up():
    text = 'namespace at::functorch { namespace {\nTORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("a", native::a); m.impl("b", b); }\n} }'
    known = frozenset({"at", "at::native", "at::functorch"})
    assert [r[2] for r in registered(text, known=known)] == ["at::native::a", "at::functorch::b"]


def test_a_new_macro_over_a_known_one_needs_nothing():
    thing = MacroDefinition("TORCH_LIBRARY_THING", ("ns", "k", "m"), 1, "TORCH_LIBRARY_IMPL(ns, k, m)")
    assert registered('\nTORCH_LIBRARY_THING(aten, CPU, m) {\nm.impl("add.out", &f);\n}', thing) == [("aten::add.out", "CPU", "f", 3)]


def test_a_new_macro_that_is_all_its_own_is_noted():
    found = findings('\nTORCH_LIBRARY_THING(aten, CPU, m) { m.impl("add.out", &f); }\nTORCH_LIBRARY_init_aten(m);')
    assert [(u.subject, u.line) for u in found.unresolved] == [("TORCH_LIBRARY_THING", 2)]
    assert found.registered == ()


HEAD = MacroDefinition("MY_LIBRARY_BLOCK", ("ns", "m"), 1, "\nvoid init_##ns(mine::Library&);\nstatic Init at_start(&init_##ns);\nvoid init_##ns(mine::Library& m)")


def test_a_head_of_another_name_is_noted_where_it_is_given_a_library():
    text = '\nMY_LIBRARY_BLOCK(q, m) {\n m.impl("a", &f);\n}\nMY_LIBRARY_BLOCK(q, m);\n'
    assert [(u.subject, u.line) for u in findings(text, HEAD).unresolved] == [("MY_LIBRARY_BLOCK", 2)]
    assert findings(text).unresolved == ()  # nothing tells what it is


def test_files_are_read_for_such_a_head_alone():
    facts = {PATH: FileFacts("C++", 1, macros=(HEAD, MacroDefinition("OTHER", ("m",), 1, "void take(Library& m);")))}
    makers = makers_of(MacroTable(facts, lambda _g: None))
    assert makers.heads == {"MY_LIBRARY_BLOCK"}
    assert wanted(b"MY_LIBRARY_BLOCK(q, m) {}", makers)
    assert not wanted(b"OTHER(m)", makers)
