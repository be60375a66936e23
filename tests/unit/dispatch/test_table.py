# SPDX-License-Identifier: BSD-3-Clause
"""Keys read from C++, key sets evaluated, tables computed: by a small DispatchKey.h of our own."""

import pytest

from cartographer.dispatch.findings import Fallback
from cartographer.dispatch.keys import ENTRY, KEYS, SETS_H, read_rules
from cartographer.dispatch.layers import Layers
from cartographer.dispatch.table import NOT_TOLD, Tables, shown_keys
from cartographer.expand.macros import MacroTable
from cartographer.model.dispatch import CATCH_ALL, DIRECT, FALLBACK
from cartographer.model.fact import FileFacts
from cartographer.model.location import Location
from cartographer.model.operator import Origin, Registration

HERE = Location("x.cpp", 7)


def rules_of(texts, macros=()):
    return read_rules(texts, MacroTable({KEYS: FileFacts("C++", 1, macros=macros)}, lambda _g: True))


@pytest.fixture(scope="module")
def rules(key_texts, key_macros):
    found, notes = rules_of(key_texts, key_macros)
    assert notes == ()
    return found


def test_keys_and_their_kinds(rules):
    assert rules.backends == ("CPU", "CUDA", "MPS", "Meta")
    assert rules.per_backend == {"Dense": "", "Sparse": "Sparse", "NestedTensor": "NestedTensor", "AutogradFunctionality": "Autograd"}
    assert rules.runtime[:5] == ("CPU", "CUDA", "MPS", "Meta", "Vulkan")
    assert rules.key("Autocast") == "AutocastCUDA"
    assert rules.catch_all == "CompositeImplicitAutograd"
    assert rules.included_by_default == ("BackendSelect",)
    assert rules.is_backend("Vulkan")
    assert not rules.is_backend("Functionalize")


def test_keys_of_1_5_go_by_the_names_that_native_functions_has():
    texts = {KEYS: "enum class DispatchKey : uint8_t { Undefined = 0, CPUTensorId, PrivateUse1_TensorId, BackendSelect, VariableTensorId, NumDispatchKeys };"}
    found, _ = rules_of(texts)
    assert found.runtime == ("CPU", "PrivateUse1", "BackendSelect", "Autograd")
    assert [found.key(name) for name in ("CPUTensorId", "VariableTensorId", "CPU")] == ["CPU", "Autograd", "CPU"]


def test_what_alias_keys_cover(rules):
    assert {"CPU", "Vulkan", "SparseCUDA"} <= rules.covers["CompositeExplicitAutograd"]
    assert "NestedTensorCPU" not in rules.covers["CompositeExplicitAutograd"]
    assert {"NestedTensorCPU", "AutogradMPS", "AutogradOther"} <= rules.covers["CompositeImplicitAutograd"]
    assert rules.covers["FuncTorchBatchedDecomposition"] == {"FuncTorchBatched"}
    assert rules.backend_keys["AutogradOther"] == {"Vulkan", "SparseCPU", "SparseCUDA", "SparseMPS", "SparseMeta"}


def test_the_order_of_looking_is_read(rules):
    assert [(look.source, look.words) for look in rules.looks] == [
        (DIRECT, "kernel"), ("CompositeExplicitAutograd", "default backend kernel"), ("CompositeImplicitAutograd", "math kernel"),
        ("Autograd", "autograd kernel"), ("FuncTorchBatchedDecomposition", "batched kernel"), (FALLBACK, "backend fallback"),
    ]  # fmt: skip
    assert rules.looks[2].without_backend_kernel


FALLBACKS = (
    Fallback("AutogradCPU", None, True, HERE), Fallback("MPS", "error", False, HERE, ("mps",)), Fallback("MPS", "cpu", False, HERE, ("mps",)),
    Fallback("Functionalize", "f", False, HERE),
)  # fmt: skip


def table(rules, *keys, **more):
    registrations = [Registration(k.strip("~"), "f", Origin.YAML, fallthrough=k.startswith("~")) for k in keys]
    return Tables(rules, FALLBACKS, **more).of(registrations)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("CPU", "Autograd"), {"CPU": "kernel", "CUDA": "missing", "AutogradCPU": "autograd kernel", "MPS": "backend fallback"}),
        (("CompositeImplicitAutograd",), {"CPU": "math kernel", "AutogradCPU": "math kernel", "NestedTensorCPU": "math kernel"}),
        (("CompositeImplicitAutograd", "CPU"), {"AutogradCPU": "fallthrough backend fallback", "AutogradCUDA": "math kernel"}),
        (("CompositeImplicitAutograd", "SparseCPU"), {"AutogradOther": "ambiguous autogradother"}),
        (("CompositeExplicitAutograd", "CompositeImplicitAutograd"), {"CPU": "default backend kernel", "AutogradCUDA": "missing"}),
        (("FuncTorchBatchedDecomposition",), {"FuncTorchBatched": "batched kernel"}),
        (("~Functionalize",), {"Functionalize": "fallthrough kernel"}),
        ((), {"Functionalize": "backend fallback", "Vulkan": "missing"}),
    ],
)
def test_what_serves_a_key(rules, keys, expected):
    found = table(rules, *keys)
    assert {key: found[key] for key in expected} == expected


def test_a_platform_key_is_seen_in_a_build_with_the_platform(rules):
    conditional = [Registration("MPS", "f", Origin.YAML, build=("mps",)), Registration("CPU", "f", Origin.LIBRARY, build=("vulkan",))]
    found = Tables(rules, FALLBACKS).of(conditional)
    assert (found["MPS"], found["CPU"]) == ("kernel", "missing")


def test_inactive_registrations_do_not_serve(rules):
    assert Tables(rules, ()).of([Registration("CPU", "f", Origin.YAML, active=False)])["CPU"] == "missing"


def test_a_wheel_does_not_claim_what_it_cannot_show(rules):
    found = table(rules, "CompositeImplicitAutograd", "CUDA", complete=False)
    assert (found["CPU"], found["CUDA"], found["Functionalize"]) == ("math kernel", "kernel", NOT_TOLD)


def test_sources_without_cpp_files_say_what_is_assumed(key_texts, key_macros):
    found, notes = rules_of({KEYS: key_texts[KEYS], SETS_H: key_texts[SETS_H]}, key_macros)
    assert {n.subject for n in notes} == {"what alias keys cover", "order of kernels"}
    assert "CPU" in found.covers["CompositeExplicitAutograd"]
    assert "NestedTensorCPU" not in found.covers["CompositeExplicitAutograd"]
    assert rules_of({})[0] is None


def test_to_1_6_a_catch_all_serves_every_key_without_a_kernel(key_texts, key_macros):
    entry = "void OperatorEntry::updateDispatchTable_() { dispatchTable_.setCatchallKernel(k->second.front().kernel); }"
    found, notes = rules_of({**key_texts, ENTRY: entry}, key_macros)
    assert notes == ()
    assert found.catch_all == CATCH_ALL
    served = Tables(found, FALLBACKS).of([Registration(CATCH_ALL, "f", Origin.YAML), Registration("CUDA", "g", Origin.YAML)])
    assert (served["CPU"], served["CUDA"], served["Meta"]) == ("catch all", "kernel", "catch all")
    assert "backend fallback" in served.values()


def test_layers_from_the_outside_in(rules):
    tables = Tables(rules, FALLBACKS)
    registrations = [Registration("CPU", "f", Origin.YAML), Registration("Autograd", "g", Origin.LIBRARY, place=HERE)]
    layers = {layer.key: layer for layer in Layers(rules, tables).of(tables.of(registrations), registrations)}
    assert next(iter(layers)) == "FuncTorchBatched"
    assert layers["AutogradFunctionality"].acts
    assert layers["AutogradFunctionality"].place == HERE
    assert not layers["BackendSelect"].acts
    assert "Dense" not in layers


def test_operators_share_the_layers_that_none_of_them_registers_to(rules):
    tables = Tables(rules, FALLBACKS)
    made = Layers(rules, tables)
    one, other = ([Registration("CPU", "f", Origin.YAML), Registration("Autograd", kernel, Origin.LIBRARY, place=place)] for kernel, place in (("g", HERE), ("h", None)))
    first, second = ({layer.key: layer for layer in made.of(tables.of(found), found)} for found in (one, other))
    assert first["BackendSelect"] is second["BackendSelect"]
    assert (first["AutogradFunctionality"].place, second["AutogradFunctionality"].place) == (HERE, None)


def test_shown_keys_are_those_that_something_registers_to(rules):
    shown = shown_keys(rules, [Registration("CPU", "f", Origin.YAML)], FALLBACKS)
    assert shown == ("CPU", "MPS", "Functionalize", "AutogradCPU")
