# SPDX-License-Identifier: BSD-3-Clause
"""An atlas against a running torch that we write ourselves."""

import json
import sys
from dataclasses import replace

import pytest

from cartographer.errors import CheckoutError
from cartographer.model.location import Location
from cartographer.model.operator import Autograd, Binding, Operator, Origin, Registration
from cartographer.query.verify import (
    OURS,
    PLATFORM,
    SCRIPT,
    VERSION,
    ask,
    compare,
    lines,
    namespaces,
    outcome,
    read,
    record,
)

HERE = Location("x", 1)
DUMP = """name: aten::add
schema: aten::add(Tensor self) -> Tensor
debug: registered at x:1
alias analysis kind: FROM_SCHEMA
CPU: registered at /a.cpp:3 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
Meta: registered at /dev/null:1 :: (none) [ boxed ]
Meta (inactive): registered at /a.cpp:3 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
Named: registered at /n.cpp:1 :: (none) [ fallthrough boxed ]
Autograd[alias]: registered at /v.cpp:1 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
"""
TABLE = "CPU: registered at /a.cpp:3 [kernel]\nNamed: fallthrough registered at /n.cpp:1 [kernel]\nMeta: registered at /dev/null:1 [kernel]\n"


def running(version="2.6.0+cu124", parts=("cuda",), dump=DUMP, table=TABLE, nodes=("AddBackward0", "AccumulateGrad", "CopyBackwards"), **more):
    told = {
        "version": version, "commit": "", "platform": "linux", "parts": dict.fromkeys(parts, True),
        "operators": {"aten::add": {"dump": dump, "table": table}, **more},
        "names": {"torch": ["add"], "torch.Tensor": ["add"]}, "nodes": nodes,
    }  # fmt: skip
    return read("warning: something\n" + json.dumps(told))


def add(*extra, dispatch=None, bindings=(), build=()):
    keys = [Registration("CPU", "f", Origin.YAML), Registration("Meta", "g", Origin.PYTHON), Registration("Autograd", "h", Origin.GENERATED)]
    named = Registration("Named", None, Origin.LIBRARY, fallthrough=True)
    return Operator(
        "aten::add", "", Origin.YAML, HERE, registrations=(*keys, named, *extra), build=build, bindings=bindings,
        dispatch=dispatch or {"CPU": "kernel", "Named": "fallthrough kernel", "CUDA": "missing"}, autograd=Autograd(("AddBackward0",), None),
    )  # fmt: skip


def causes(verdict):
    return [(d.what, d.cause) for s in verdict.sections for d in s.differences]


def test_agreement():
    bound = (Binding("torch.add", "THPVariable_add", "f.cpp"), Binding("torch.nn.functional.x", "F", "g.cpp"))
    verdict = compare([add(bindings=bound)], "2.6.0", running())
    assert causes(verdict) == []
    assert [(s.name, s.compared) for s in verdict.sections] == [
        ("operator names", 1), ("registrations", 4), ("computed table", 3), ("Python bindings", 1), ("autograd Nodes", 1),
    ]  # fmt: skip


def test_each_kind_of_difference_of_ours_is_found():
    wrong = add(Registration("QuantizedCPU", "q", Origin.LIBRARY), dispatch={"CPU": "math kernel"}, bindings=(Binding("torch.sub", "f", "f.cpp"),))
    more = {"aten::only": {"dump": "", "table": ""}}
    verdict = compare([wrong], "2.6.0", running(**more))
    assert causes(verdict) == [
        ("aten::only", OURS), ("aten::add QuantizedCPU", OURS), ("aten::add CPU", OURS), ("torch.sub", OURS),
    ]  # fmt: skip
    assert verdict.ours == 4


def test_platform_and_version_are_told_apart():
    cuda = add(Registration("CUDA", "c", Origin.YAML), dispatch={"CUDA": "kernel"})
    assert causes(compare([cuda], "2.6.0", running(parts=()))) == [("aten::add CUDA", PLATFORM), ("aten::add CUDA", PLATFORM)]
    assert causes(compare([cuda], "2.5.0", running())) == [("aten::add CUDA", VERSION), ("aten::add CUDA", VERSION)]
    elsewhere = Operator("vulkan::x", "", Origin.LIBRARY, HERE, build=("vulkan",))
    assert causes(compare([add(), elsewhere], "2.6.0", running())) == []


def test_what_a_cpu_build_without_a_library_lacks_is_platform():
    packed = Operator("prepacked::x", "", Origin.LIBRARY, HERE, registrations=(Registration("CPU", "f", Origin.LIBRARY),), extra={"switches": "xnnpack"})
    assert causes(compare([add(), packed], "2.6.0", running())) == [("prepacked::x", PLATFORM)]
    assert causes(compare([add(), packed], "2.6.0", running(parts=("cuda", "xnnpack")))) == [("prepacked::x", OURS)]


def test_names_that_python_counts_differ_with_what_is_installed():
    more = {"x::f_native_1": {"dump": "", "table": ""}, "x::h_1": {"dump": "", "table": ""}}
    here = (Registration("CPU", "f", Origin.PYTHON),)
    made = [Operator(f"x::{name}", "", origin, HERE, registrations=here) for name, origin in (("f_native_0", Origin.PYTHON), ("g_0", Origin.PYTHON), ("h_0", Origin.LIBRARY))]
    found = causes(compare([add(), *made], "2.6.0", running(**more)))
    assert [cause for what, cause in found if what == "x::f_native_0"] == [PLATFORM]
    assert [cause for what, cause in found if what in {"x::g_0", "x::h_0"}] == [OURS, OURS]


def differentiable(name, *nodes, row=1):
    return Operator(name, "", Origin.YAML, HERE, autograd=Autograd(nodes, Location("tools/autograd/derivatives.yaml", row)))


def nodes_of(verdict):
    (section,) = (s for s in verdict.sections if s.name == "autograd Nodes")
    return section.compared, [(d.what, d.cause) for d in section.differences]


def test_nodes_are_compared_both_ways():
    invented = differentiable("aten::mul", "MulBackward7")
    verdict = compare([add(), invented], "2.6.0", running(nodes=["AddBackward0", "SubBackward0", "AliasBackward0_copy"]))
    assert nodes_of(verdict) == (4, [("AliasBackward0_copy", OURS), ("SubBackward0", OURS), ("MulBackward7", OURS)])
    verdict = compare([add(), invented], "2.5.0", running())
    assert nodes_of(verdict) == (2, [("MulBackward7", VERSION)])


def test_what_no_build_lists_is_not_called_wrong():
    """torchgen makes up the Node of _foreach_add; that of _foreach_pow has a row of its own."""
    known = [
        differentiable("aten::add", "AddBackward0"), differentiable("aten::_foreach_add.List", "ForeachAddBackward0List"), differentiable("aten::_foreach_add_.List", "AddBackward0"),
        differentiable("aten::_foreach_pow.List", "ForeachPowBackward0", row=9),
    ]  # fmt: skip
    verdict = compare(known, "2.6.0", running(nodes=["AddBackward0", "ForeachPowBackward0"]))
    assert nodes_of(verdict) == (2, [])
    assert verdict.notes == ("Nodes that were not compared: 1 (torch lists none that it makes up for _foreach_ operators)",)
    assert nodes_of(compare(known, "2.6.0", running(nodes=["AddBackward0"]))) == (2, [("ForeachPowBackward0", OURS)])
    without = compare(known, "2.6.0", running(nodes=[]))
    assert nodes_of(without) == (0, [])
    assert without.notes == ("Nodes that were not compared: 3 (the running torch has no torch._C._functions)",)


def test_names_that_were_not_compared_are_told():
    bound = [Binding(name, "F", "g.cpp") for name in ("torch.add", "torch._C._new.x", "torch._C._new.y", "torch.nn.z")]
    verdict = compare([add(bindings=bound)], "2.6.0", running())
    assert verdict.notes == ("Python names that were not compared: 3 (the running torch has no torch._C._new, torch.nn)",)
    assert verdict.notes[0] in "\n".join(lines(verdict))
    assert record(verdict)["notes"] == list(verdict.notes)


def test_the_script_lists_the_namespaces_of_the_atlas(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "from types import SimpleNamespace as N\n__version__ = '2.6.0'\nversion = N(git_version='', cuda=None, hip=None)\nadd = 1\n"
        "_C = N(_dispatch_get_all_op_names=list, _new=N(x=1), _VariableFunctions=N(sub=1), _functions=N(AddBackward0=1))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    asked = [add(bindings=[Binding(name, "F", "g.cpp") for name in ("torch.sub", "torch._C._new.x", "torch._C._new.y", "torch._C._lost.z")])]
    assert namespaces(asked) == ("torch", "torch._C._lost", "torch._C._new")
    told = ask(sys.executable, namespaces(asked))
    assert set(told.names) == {"torch", "torch._C._new"}
    assert {"add", "sub"} <= told.names["torch"]
    assert "AddBackward0" in told.nodes
    found = compare(asked, "2.6.0", told)
    assert [d.what for s in found.sections for d in s.differences if s.name == "Python bindings"] == ["torch._C._new.y"]
    assert ask(sys.executable).names == {}


def test_the_verdict_in_words_and_in_json():
    verdict = compare([add(dispatch={"CPU": "math kernel"})], "2.5.0", running())
    text = "\n".join(lines(verdict))
    assert "the atlas is of 2.5.0, the running torch is 2.6.0+cu124" in text
    assert "version   aten::add CPU: atlas math kernel, torch kernel" in text
    assert json.loads(json.dumps(record(verdict)))["sections"][2]["agreeing"] == 0


def test_a_python_without_torch_gives_a_message_and_no_traceback(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(CheckoutError, match="No module named 'torch'"):
        ask(str(fake))
    with pytest.raises(CheckoutError, match="no Python"):
        ask(str(tmp_path / "nothing"))
    with pytest.raises(CheckoutError, match="no answer"):
        read("hello")


def test_the_script_is_python():
    compile(SCRIPT, "script", "exec")
    assert sys.version_info >= (3, 11)


def test_the_outcome_counts_each_cause():
    cuda = add(dispatch={"CPU": "math kernel"})
    found = outcome(compare([cuda], "2.5.0", running()), "inputs")
    assert found.inputs == "inputs"
    assert sum(s.version for s in found.sections) > 0
    assert all(s.compared >= s.agreeing and not s.ours for s in found.sections)


def test_what_a_wheel_does_not_show_is_not_compared():
    kept = replace(add(), registrations=(Registration("CPU", "f", Origin.YAML),), dispatch={"CPU": "kernel", "Named": "not in a wheel"})
    verdict = compare([kept], "2.6.0", running(**{"aten::only": {"dump": "", "table": ""}}))
    assert causes(verdict) == []
    assert [(s.name, s.compared, s.hidden) for s in verdict.sections[:3]] == [("operator names", 1, 1), ("registrations", 1, 3), ("computed table", 1, 1)]
    assert verdict.notes[0] == (
        "the atlas is of a wheel, which does not show what C++ registers: not compared are 1 of the operator names, 3 of the registrations, 1 of the computed table"
    )


def test_accelerators_that_a_stock_build_lacks_are_those_of_the_tree():
    dispatch = {"CPU": "kernel", "MTIA": "kernel", "AutogradMTIA": "math kernel", "HPU": "kernel"}
    verdict = compare([add(Registration("MTIA", "m", Origin.YAML, build=("mtia",)), dispatch=dispatch)], "2.6.0", running())
    assert causes(verdict) == [("aten::add MTIA", PLATFORM), ("aten::add AutogradMTIA", PLATFORM), ("aten::add HPU", OURS)]
