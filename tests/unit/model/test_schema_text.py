# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.model.schema import FunctionSchema
from cartographer.model.schema_text import printed


@pytest.mark.parametrize(("row", "text"), [
    ("f(Tensor self, float eps=1e-5, float p=1, Scalar s=0.5) -> Tensor",
     "aten::f(Tensor self, float eps=1.0000000000000001e-05, float p=1., Scalar s=0.5) -> Tensor"),
    ("f(int[2] stride=1, int[1] pad=0, SymInt[2] dilation=1, int[2] x=[0, 1], int[] y=[]) -> ()",
     "aten::f(int[2] stride=1, int[1] pad=[0], SymInt[2] dilation=[1, 1], int[2] x=[0, 1], int[] y=[]) -> ()"),
    ("f(Dimname[1] dim, DeviceIndex i, int reduction=Mean, MemoryFormat m=contiguous_format, ScalarType? d=long) -> int",
     "aten::f(str[1] dim, int i, int reduction=1, MemoryFormat m=0, ScalarType? d=4) -> int"),
    ("f(str mode='fro', str? x=None, bool b=True) -> Tensor",
     'aten::f(str mode="fro", str? x=None, bool b=True) -> Tensor'),
    ("quantized::f(Tensor(a -> a) x, Tensor(b! -> *)[] y, *, Tensor? out=None) -> (Tensor(a) r, Tensor)",
     "quantized::f(Tensor(a) x, Tensor(b! -> *)[] y, *, Tensor? out=None) -> (Tensor(a) r, Tensor)"),
    ("f(float x=-0.25, float y=1e20, float? z=2) -> Tensor", "aten::f(float x=-0.25, float y=1e+20, float? z=2) -> Tensor"),
])
def test_prints_as_torch_does(row, text):
    assert printed(FunctionSchema.parse(row)) == text
