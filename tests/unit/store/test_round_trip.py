# SPDX-License-Identifier: BSD-3-Clause
"""Atlas -> atlas.db -> Atlas: every field of every value comes back."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path

import pytest
import sample_atlas
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cartographer.model.atlas import Atlas, FileDates, Strata, Symbol
from cartographer.model.location import Location
from cartographer.model.operator import (
    Autograd,
    Binding,
    Chain,
    CppNames,
    Formula,
    Helper,
    Layer,
    Operator,
    Origin,
    Registration,
    Status,
    Step,
)
from cartographer.store import symbol_rows, writer
from cartographer.store.reader import Reader, inputs_of


def test_sample_comes_back_whole(reader):
    atlas = sample_atlas.atlas()
    assert tuple(reader.operators()) == tuple(sorted(atlas.operators, key=lambda o: o.name))
    assert reader.file_entries() == atlas.files
    assert tuple(reader.symbols()) == atlas.symbols
    assert reader.generated() == atlas.generated
    assert reader.unresolved() == atlas.unresolved
    assert reader.landmarks() == atlas.landmarks
    assert reader.paths() == frozenset(atlas.paths)
    assert reader.landmarks("aten::add") == atlas.landmarks[:1]
    assert reader.strata() == atlas.strata
    assert tuple(row.stub for row in reader.stubs()) == atlas.stubs
    assert reader.oplist() == atlas.rows
    assert reader.lineage() == atlas.lineage
    assert reader.since() == atlas.since
    info = reader.info()
    assert (info.source, info.tool_version, info.seconds, info.inputs) == (atlas.source, atlas.tool_version, atlas.seconds, atlas.inputs)


def test_sample_uses_every_field():
    """So that the test above fails when a new field is not stored: some value of the sample is not the default."""
    found: dict[type, list[object]] = {}

    def walk(value):
        if dataclasses.is_dataclass(value):
            found.setdefault(type(value), []).append(value)
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, (tuple, list)):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)

    walk(sample_atlas.atlas())
    for kind, values in found.items():
        for field in (f for f in dataclasses.fields(kind) if f.compare):
            default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            assert any(getattr(v, field.name) != default for v in values) or field.name in {"reason", "web", "generated_from"}, (kind, field.name)


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_name = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
_line = st.integers(1, 10**6)
_texts = st.lists(_text, max_size=3).map(tuple)
_place = st.builds(Location, _text, _line, st.none() | _line)
_step = st.builds(Step, _name, _text, _text, _line, _text, _text)
_chain = st.builds(Chain, st.sampled_from(Status), st.none() | _text, st.lists(_step, max_size=3).map(tuple))
_registration = st.builds(Registration, _name, st.none() | _text, st.sampled_from(Origin), st.booleans(), st.booleans(), st.booleans(),
                          _texts, st.none() | _place, _text)  # fmt: skip
_binding = st.builds(Binding, _text, _text, _text, st.booleans(), st.none() | _place, st.none() | _place)
_formula = st.builds(Formula, _texts, _text, _place, _text, st.booleans())
_autograd = st.builds(Autograd, _texts, st.none() | _place, _texts, st.lists(st.builds(Helper, _text, _place), max_size=2).map(tuple),
                      st.lists(_formula, max_size=2).map(tuple), _texts, _text)  # fmt: skip


def _many(of):
    return st.lists(of, max_size=2).map(tuple)


_operator = st.builds(
    Operator, name=st.builds("{}::{}.{}".format, _name, _name, _name), schema=_text, origin=st.sampled_from(Origin), declared=_place,
    build=_texts, variants=_texts, tags=_texts, structured=st.booleans(), structured_delegate=st.none() | _text,
    python_module=st.none() | _text, generated_from=st.none() | _text, bindings=_many(_binding),
    cpp=st.none() | st.builds(CppNames, _text, st.none() | _text, st.none() | _text), registrations=_many(_registration),
    dispatch=st.dictionaries(_name, _text, max_size=3), layers=_many(st.builds(Layer, _text, st.booleans(), _text, st.none() | _place)),
    kernels=st.dictionaries(_name, _chain, max_size=2), autograd=st.none() | _autograd, callers=_texts, callees=_texts,
    age=st.dictionaries(_name, st.none() | _text, max_size=2), extra=st.dictionaries(_name, _text, max_size=2),
)  # fmt: skip
_symbol = st.builds(Symbol, _text, _text, _text, _text, _line, _line, _text, _texts)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("property")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_operator, max_size=4, unique_by=lambda o: o.name), st.lists(_symbol, max_size=4))
def test_anything_comes_back(place, operators, symbols):
    sample = sample_atlas.atlas()
    atlas = dataclasses.replace(sample, operators=tuple(operators), symbols=tuple(symbols))
    writer.write(atlas, place)
    with Reader(place) as reader:
        assert tuple(reader.operators()) == tuple(sorted(operators, key=lambda o: o.name))
        assert tuple(reader.symbols()) == tuple(symbols)


def test_inputs(folder, tmp_path):
    assert inputs_of(folder) == "digest"
    assert inputs_of(tmp_path) == ""
    (tmp_path / "atlas.db").write_bytes(b"damaged")
    assert inputs_of(tmp_path) == ""


def test_order_of_mappings_is_kept(reader):
    operator = reader.operator("aten::add.Tensor")
    assert list(operator.kernels) == ["CUDA", "CPU"]
    assert list(operator.dispatch) == list(sample_atlas.TABLE)


def test_counts_are_what_their_receipts_say(folder, reader):
    connection = sqlite3.connect(folder / "atlas.db")
    for count in reader.info().counts:
        assert connection.execute(count.receipt).fetchone() == (count.value,), count
    connection.close()
    assert reader.info().count("operators") == 5
    assert reader.info().count("chains_unresolved") == 2


def test_file_names_that_are_not_unicode(tmp_path):
    broken = b"aten/\xff.cpp".decode("utf-8", "surrogateescape")
    sample = sample_atlas.atlas()
    entry = dataclasses.replace(sample.files[0], path=broken)
    strata = Strata("files", "", (), {broken: FileDates(broken, None, None)})
    writer.write(dataclasses.replace(sample, files=(entry,), strata=strata), tmp_path)
    with Reader(tmp_path) as reader:
        assert reader.file_entries()[0].path == "aten/\ufffd.cpp"


def test_symbols_of_many_blocks_and_of_files_that_come_twice(tmp_path):
    sample = sample_atlas.atlas()
    files = [entry.path for entry in sample.files]
    symbols = tuple(Symbol(f"f{n}", f"a::f{n}", "function", files[n // 7 % 3], n, n, f"(int {n})") for n in range(1, 2 * symbol_rows.BLOCK + 9))
    writer.write(dataclasses.replace(sample, symbols=symbols), tmp_path)
    with Reader(tmp_path) as reader:
        assert reader.symbols() == symbols
        for path in files[:3]:
            assert reader.symbols_in(path) == tuple(symbol for symbol in symbols if symbol.path == path)
        last = symbols[-1]
        assert (reader.lookup.symbols_called(last.name), reader.lookup.symbol_at(last.path, last.line)) == ((last,), last)


def test_same_atlas_same_bytes(tmp_path):
    for name in ("one", "two"):
        writer.write(sample_atlas.atlas(), tmp_path / name)
    assert (tmp_path / "one/atlas.db").read_bytes() == (tmp_path / "two/atlas.db").read_bytes()


def test_empty_atlas(tmp_path):
    sample = sample_atlas.atlas()
    writer.write(Atlas(sample.source, "0", (), (), ()), tmp_path)
    with Reader(Path(tmp_path)) as reader:
        assert list(reader.operators()) == []
        assert (reader.file_entries(), reader.symbols(), reader.oplist()) == ((), (), None)
