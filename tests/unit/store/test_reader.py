# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import sample_atlas
from sample_atlas import BINARY, CUDA, FUNCTIONAL, LOOPS, MANUAL

from cartographer.errors import NotFound
from cartographer.store.values import Reach, Resident


def test_rows(reader):
    rows = {row.name: row for row in reader.operator_rows()}
    add = rows["aten::add.Tensor"]
    assert add.python == ("torch.add", "torch.Tensor.add")
    assert add.keys == ("CPU", "CUDA", "Meta", "Named")
    assert add.structured_keys == {"CPU", "CUDA"}
    assert add.statuses == {"CUDA": "resolved", "CPU": "unresolved"}
    assert rows["quantized::add"].build == ("xnnpack",)
    assert [row.id for row in reader.operator_rows()] == [1, 2, 3, 4, 5]


def test_groups(reader):
    assert [o.name for o in reader.group("add")] == ["aten::add.Tensor", "aten::add.out"]
    assert [o.name for o in reader.group("add", "quantized")] == ["quantized::add"]
    assert reader.groups() == (("aten", "add", 2), ("aten", "add_", 1), ("aten", "softmax", 1), ("quantized", "add", 1))
    with pytest.raises(NotFound):
        reader.operator("aten::sub")


def test_file(reader):
    page = reader.file(BINARY)
    assert page.entry == sample_atlas.atlas().files[0]
    assert Resident("aten::add.out", "entry", 30, "structured_add_out::impl", "CUDA") in page.residents
    assert page.dates.born == "2017-01-02"
    assert len(page.unresolved) == 1
    assert reader.file(LOOPS).included_by == ((BINARY, 3), (CUDA, 1))
    assert [s.name for s in reader.file(FUNCTIONAL).symbols] == ["softmax"]
    with pytest.raises(NotFound):
        reader.file("nowhere.cpp")


def test_residents_of_one_file_are_those_of_all(reader):
    everything = reader.all_residents()
    assert {MANUAL, BINARY, "torch/_meta_registrations.py"} <= everything.keys()
    for path, found in everything.items():
        assert sorted(reader.residents(path), key=str) == sorted(found, key=str)
    assert reader.residents("nowhere") == ()
    assert [reader.living(path) for path in (BINARY, MANUAL, "nowhere")] == [3, 1, 0]


def test_the_way_back(reader):
    kernels = {(k.role, k.symbol): k for k in reader.kernels()}
    assert kernels["kernel", "at::native::add_kernel"].operators == ("aten::add.Tensor", "aten::add.out", "aten::add_.Tensor")
    assert kernels["entry", "structured_add_out::impl"].backends == ("CPU", "CUDA")
    assert ("calls", "aten::add.Tensor") not in kernels
    (stub,) = reader.stubs()
    assert len(stub.operators) == 3
    assert Reach("aten::add.out", "CUDA", "device", "at::native::vectorized_kernel", LOOPS, 8, "contiguous") in reader.lookup.reaching_symbol("vectorized_kernel")
    assert {r.operator for r in reader.lookup.reaching_lines(CUDA, 20, 36)} == {"aten::add.Tensor", "aten::add.out", "aten::add_.Tensor"}
    assert [r.role for r in reader.lookup.reaching_symbol("handle_r_to_c")] == ["helper"]


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("add", "operator", "aten::add"),
        ("THPVar add", "binding", "THPVariable_add"),
        ("addbackward", "node", "AddBackward0"),
        ("backward", "node", "AddBackward0"),
        ("vectorized", "symbol", "at::native::vectorized_kernel"),
        ("loops", "file", LOOPS),
        ("registercpu", "generated", "RegisterCPU.cpp"),
        ("add_stub", "stub", "at::native::add_stub"),
        ("torch softm", "python", "torch.softmax"),
        ("qadd", "kernel", "at::native::qadd<false>"),
    ],
)
def test_search_finds(reader, text, kind, label):
    assert (kind, label) in {(m.kind, m.label) for m in reader.search.matches(text)}


def test_every_match_has_a_hit(reader):
    for text in ("add", "aten", "cpp", "s", "at", "torch"):
        for match in reader.search.matches(text):
            assert reader.search.hit(match).label == match.label


@pytest.mark.parametrize("text", ["", "   ", '"', "a OR NOT", "x AND", "(", "* NEAR(", "\0", "add' --"])
def test_search_of_anything(reader, text):
    reader.search.matches(text)


def test_a_kernel_is_placed_by_its_own_symbol(folder, tmp_path):
    """torch::TraceType::f is not at::native::f, though both are called f."""
    import dataclasses

    from cartographer.model.operator import Chain, Origin, Registration, Status, Step
    from cartographer.store import writer
    from cartographer.store.reader import Reader

    def placed(kernel, symbol):
        operator = dataclasses.replace(
            sample_atlas.operators()[1], registrations=(Registration("CPU", kernel, Origin.YAML),), kernels={"CPU": Chain(Status.RESOLVED, None, (Step("entry", symbol, BINARY, 3),))}
        )
        writer.write(dataclasses.replace(sample_atlas.atlas(), operators=(operator,)), tmp_path)
        with Reader(tmp_path) as reader:
            return next(reader.search.hit(m).line for m in reader.search.matches(kernel) if m.kind == "kernel")

    assert placed("at::native::f", "at::native::f") == 3
    assert placed("torch::TraceType::f", "at::native::f") == 0
    assert placed("at::native::structured_f_out", "TORCH_IMPL_FUNC(f_out)") == 3
    assert placed("at::native::structured_f_out", "at::native::structured_f_out::impl") == 3


def test_symbols_are_found_by_their_scope_and_never_cut_off(reader):
    assert ("symbol", "at::native::(anonymous)::add_kernel") in {(m.kind, m.label) for m in reader.search.matches("anonymous add_ker")}
    few = reader.search.matches("vectorized_kernel", most=0)
    assert [m.label for m in few] == ["at::native::vectorized_kernel"]
