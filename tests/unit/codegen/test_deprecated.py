# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.codegen.bindings import stands_for
from cartographer.model.declaration import DeprecatedSignature
from cartographer.model.location import Location
from cartographer.model.schema import FunctionSchema

ADD = FunctionSchema.parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
OUT = FunctionSchema.parse("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")


@pytest.mark.parametrize(("name", "aten", "schema", "fits"), [
    ("add(Tensor self, Scalar alpha, Tensor other) -> Tensor", "add(self, other, alpha)", ADD, True),
    ("add(Tensor self, Scalar alpha, Tensor other) -> Tensor", "add(self, other)", ADD, True),  # alpha has a default
    ("add(Tensor self, Tensor other) -> Tensor", "add(self, other, 1)", ADD, True),
    ("add(Tensor self, Scalar other) -> Tensor", "add(self, other, 1)", ADD, False),
    ("add(Tensor self, Tensor other) -> Tensor", "add(self)", ADD, False),  # other has none
    ("add(Tensor self, Tensor other) -> (Tensor, Tensor)", "add(self, other)", ADD, False),
    ("add(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", "add_out(out, self, other, 1)", OUT, True),
    ("add(Tensor self, Tensor other, *, Tensor out)", "add_out(out, self, other, 1)", OUT, True),  # as 1.7 writes it
    ("add(Tensor self, Tensor other, *, Tensor out) -> Tensor", "add_out(out, self, other, 1)", OUT, False),
])
def test_a_call_fits_by_types_and_aliases(name, aten, schema, fits):
    row = DeprecatedSignature(FunctionSchema.parse(name), aten, Location("deprecated.yaml", 1))
    assert stands_for(row, schema) is fits
