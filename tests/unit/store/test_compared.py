# SPDX-License-Identifier: BSD-3-Clause
"""What the comparison of two atlases reads of one."""

import dataclasses

import pytest
import sample_atlas

from cartographer.model.source import SourceKind
from cartographer.store import writer
from cartographer.store.compared import packed_bodies, unpacked_bodies
from cartographer.store.reader import Reader


@pytest.fixture
def found(tmp_path):
    writer.write(sample_atlas.atlas(), tmp_path)
    with Reader(tmp_path) as reader:
        return reader.compared()


def test_the_same_as_whole_operators(found):
    for operator in sample_atlas.atlas().operators:
        read = found.operators[operator.name]
        assert read.dispatch == operator.dispatch
        assert read.callers == operator.callers
        assert read.nodes == (operator.autograd.nodes if operator.autograd else ())
        assert read.bindings == {b.python: (b.function, b.file) for b in reversed(operator.bindings) if not b.deprecated}
        assert read.chains.keys() == operator.kernels.keys()


def test_bodies(found):
    assert found.bodies == sample_atlas.atlas().bodies
    assert packed_bodies({}) is None
    assert unpacked_bodies(b"damaged") == unpacked_bodies(None) == {}


def test_advice(tmp_path):
    writer.write(sample_atlas.atlas(), tmp_path)
    with Reader(tmp_path) as reader:
        listed = reader.oplist()
    assert listed.advice == sample_atlas.atlas().rows.advice
    assert listed.written == sample_atlas.atlas().rows.written


def test_which_side_is_a_wheel_is_told(tmp_path):
    for kind in SourceKind:
        whole = sample_atlas.atlas()
        writer.write(dataclasses.replace(whole, source=dataclasses.replace(whole.source, kind=kind)), tmp_path)
        with Reader(tmp_path) as reader:
            assert reader.compared().wheel is (kind is SourceKind.WHEEL)
