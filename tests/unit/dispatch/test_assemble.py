# SPDX-License-Identifier: BSD-3-Clause
"""From files and torchgen's operators to whole operators."""

import pytest

from cartographer.dispatch import assemble, collect
from cartographer.dispatch.inference import custom_classes, inferred_schema, schema_type
from cartographer.dispatch.keys import KEYS
from cartographer.model.fact import Definition, FileFacts
from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin, Registration

YAML = Location("aten/src/ATen/native/native_functions.yaml", 3)


def operator(name, *registrations, schema=None):
    return Operator(name, schema or f"{name}(Tensor self) -> Tensor", Origin.YAML, YAML, registrations=registrations)


@pytest.fixture
def build(key_texts, key_macros):
    def run(operators, **files):
        sources = {path: text.encode() for path, text in key_texts.items()}
        sources |= {name.replace("__", "/") + ".cpp": text.encode() for name, text in files.items()}
        facts = {path: FileFacts("C++", 1) for path in sources} | {KEYS: FileFacts("C++", 1, macros=key_macros)}
        made, notes = assemble.assemble(operators, collect.registrations(facts, operators, sources))
        return {o.name: o for o in made}, notes

    return run


def test_registrations_by_hand_join_the_generated_ones(build):
    add = operator("aten::add", Registration("CPU", "at::native::add", Origin.YAML), Registration("CUDA", "g", Origin.YAML, build=("cuda",)))
    text = 'TORCH_LIBRARY_IMPL(aten, Autocast, m) {\n m.impl("add", &wrap);\n}\nTORCH_LIBRARY_IMPL(_, Functionalize, m) { m.fallback(f); }'
    made, notes = build([add], aten__a=text)
    found = {r.key: r for r in made["aten::add"].registrations}
    assert found["AutocastCUDA"].place == Location("aten/a.cpp", 2)
    assert found["CUDA"].build == ()
    dispatch = made["aten::add"].dispatch
    assert (dispatch["AutocastCUDA"], dispatch["CUDA"], dispatch["Functionalize"]) == ("kernel", "kernel", "backend fallback")
    assert [(layer.key, layer.acts) for layer in made["aten::add"].layers] == [("AutocastCUDA", True), ("Functionalize", True)]
    assert [n.path for n in notes] == [""], "only that there is no torch/__init__.py"


def test_operators_of_libraries_come_into_being(build):
    text = 'TORCH_LIBRARY(q, m) {\n m.def("a(Tensor x, int n=3) -> Tensor");\n m.def("b(Dimname x) -> ()", &f);\n m.impl("gone", g);\n}'
    made, notes = build([], aten__a=text)
    assert made["q::a"].schema == "q::a(Tensor x, int n=3) -> Tensor"
    assert (made["q::a"].origin, made["q::a"].declared) == (Origin.LIBRARY, Location("aten/a.cpp", 2))
    assert [(r.key, r.kernel) for r in made["q::b"].registrations] == [("CompositeImplicitAutograd", "f")]
    assert made["q::b"].schema == "q::b(str x) -> ()"
    assert [(n.subject, n.line) for n in notes if n.path] == [("q::gone", 4)]


def test_the_newest_kernel_of_a_key_is_the_active_one(build):
    add = operator("aten::add", Registration("Meta", "generated", Origin.STRUCTURED))
    made, _ = build([add], aten__a='TORCH_LIBRARY_IMPL(aten, Meta, m) { m.impl("add", by_hand); }')
    assert [(r.kernel, r.active) for r in made["aten::add"].registrations] == [("generated", False), ("by_hand", True)]


def test_a_kernel_for_another_platform_overrides_nothing(build):
    add = operator("aten::add", Registration("CPU", "generated", Origin.YAML))
    made, _ = build([add], aten__native__mps__a='TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("add", by_hand); }')
    assert [(r.build, r.active) for r in made["aten::add"].registrations] == [((), True), (("mps",), True)]
    assert made["aten::add"].dispatch["CPU"] == "kernel"


def test_without_keys_registrations_are_still_joined():
    facts = {"a.cpp": FileFacts("C++", 1)}
    collected = collect.registrations(facts, [], {"aten/a.cpp": b'TORCH_LIBRARY(q, m) { m.def("a() -> ()", &f); }'})
    (made,), notes = assemble.assemble([], collected)
    assert (made.name, dict(made.dispatch), made.registrations[0].key) == ("q::a", {}, "CatchAll")
    assert any(n.subject == "dispatch keys" for n in notes)


def test_a_wheel_says_that_blocks_are_not_shown(key_texts):
    collected = collect.registrations({}, [], {KEYS: key_texts[KEYS].encode(), "aten/src/ATen/templates/R.cpp": b""})
    assert not collected.complete
    assert any("not in a wheel" in u.reason for u in collected.findings.unresolved)


def test_schemas_inferred_from_cpp_types():
    def facts(*parameters, returns):
        return {"a.cpp": FileFacts("C++", 1, definitions=(Definition("f", "n::(anonymous)::f", "function", 1, 1, 2, parameters, returns),))}

    given = facts("const at::Tensor& x", "c10::optional<int64_t> n", "const std::vector<at::Tensor> & l", "std::string s = {}", returns="std::tuple<at::Tensor, double>")
    assert inferred_schema("q::f", "n::f", "a.cpp", given) == "q::f(Tensor _0, int? _1, Tensor[] _2, str _3) -> (Tensor _0, float _1)"
    assert inferred_schema("q::f", "n::f", "a.cpp", facts(returns="void")) == "q::f() -> ()"
    assert inferred_schema("q::f", "n::f", "a.cpp", facts("Own x", returns="void")) is None
    assert inferred_schema("q::f", "n::g", "a.cpp", given) is None
    assert schema_type("const c10::List<c10::List<std::string>>& strings", named=True) == "str[][]"


def test_custom_classes_have_torchscript_names():
    text = 'TORCH_LIBRARY_FRAGMENT(profiler, m) {\n m.class_<PythonRecord>("_Record");\n}\nauto c = torch::class_<::c10d::Group>("c10d", "ProcessGroup");'
    known = custom_classes([text])
    assert known == {"PythonRecord": "__torch__.torch.classes.profiler._Record", "Group": "__torch__.torch.classes.c10d.ProcessGroup"}
    assert schema_type("const c10::intrusive_ptr<PythonRecord>& r", named=True, classes=known) == known["PythonRecord"]
    assert schema_type("const c10::intrusive_ptr<Other>& r", named=True, classes=known) is None


def test_a_generated_registration_without_a_key_becomes_what_the_release_makes_of_it(build):
    """CatchAll is a second name of Undefined in DispatchKey.h, and no key of the table: as torchgen registered up to 1.7."""
    made, _ = build([operator("aten::square", Registration("CatchAll", "at::native::square", Origin.YAML))])
    assert [r.key for r in made["aten::square"].registrations] == ["CompositeImplicitAutograd"]


def test_a_definition_that_only_shares_its_name_with_a_row_is_an_operator_of_its_own(build):
    row = operator("aten::index", Registration("CPU", "at::native::index", Origin.YAML), schema="aten::index(Tensor self, Tensor?[] indices) -> Tensor")
    text = 'auto r = RegisterOperators()\n .op("aten::index(str self, str part, int at=0) -> int", options().catchAllKernel<decltype(find), &find>());'
    made, _ = build([row], torch__csrc__s=text)
    assert [r.kernel for r in made["aten::index"].registrations] == ["at::native::index"]
    other = made["aten::index.str_str_int"]
    assert (other.schema, other.declared.line) == ("aten::index(str self, str part, int at=0) -> int", 2)
    assert [r.kernel for r in other.registrations] == ["find"]
    assert "made up" in other.extra["overload"]


@pytest.mark.parametrize("schema", ["aten::copy_(Tensor(a!) self, int[] n=1) -> Tensor(a!)", "aten::copy_(Tensor self, int[2] many) -> Tensor"])
def test_a_definition_by_hand_of_a_row_of_the_list_is_that_row(build, schema):
    row = operator("aten::copy_", schema="aten::copy_(Tensor(a!) self, int[] n) -> Tensor(a!)")
    made, _ = build([row], aten__c=f'auto r = RegisterOperators().op(options().schema("{schema}").impl_unboxedOnlyCatchAllKernel<decltype(c), &c>());')
    assert list(made) == ["aten::copy_"]
    assert [r.kernel for r in made["aten::copy_"].registrations] == ["c"]


def test_how_many_rows_share_a_name_is_said(build):
    told = [Operator(f"aten::a.{n}", "aten::a(Tensor x) -> Tensor", Origin.YAML, YAML, extra={"overload": "made up"}) for n in ("int", "out")]
    _, notes = build([operator("aten::a"), *told])
    assert [n.reason.partition(":")[0] for n in notes if n.subject == "names of overloads"] == ["the list gives none to 3 rows that share 1 names"]
    assert not [n for n in build([operator("aten::a")])[1] if n.subject == "names of overloads"]


def test_what_is_registered_for_all_operators_is_handed_on_in_the_order_of_the_source(key_texts, key_macros):
    text = (
        "namespace at {\nTORCH_LIBRARY_IMPL(_, MPS, m) {\n  if (a) {\n    m.fallback(torch::CppFunction::makeFromBoxedFunction<&first>());\n  } else {\n"
        "    m.fallback(torch::CppFunction::makeFromBoxedFunction<&second>());\n  }\n}\n"
        "TORCH_LIBRARY_IMPL(_, Named, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n}\n"
    )
    sources = {path: data.encode() for path, data in {**key_texts, "aten/f.cpp": text}.items()}
    facts = {path: FileFacts("C++", 1) for path in sources} | {KEYS: FileFacts("C++", 1, macros=key_macros)}
    found = assemble.fallbacks(collect.registrations(facts, [], sources))
    assert {key: [(r.kernel, r.place) for r in ones] for key, ones in found.items()} == {
        "MPS": [("at::first", Location("aten/f.cpp", 4)), ("at::second", Location("aten/f.cpp", 6))],
    }
