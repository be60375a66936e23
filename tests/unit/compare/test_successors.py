# SPDX-License-Identifier: BSD-3-Clause
"""Successors of removed operators: each rule with what it needs, and what is no evidence."""

import pytest

from cartographer.compare.advice import advice_in, written_in
from cartographer.compare.operators import compare
from cartographer.compare.successors import Successors
from cartographer.model.oplist import DerivativeRow, OperatorList, OperatorRow


def row(schema, **more):
    values = {"dispatch": {"CPU": f"kernel_of_{schema.partition('(')[0]}"}} | more
    return OperatorRow(name="aten::" + schema.partition("(")[0], schema=schema, path="n.yaml", line=1, **values)


def listing(*rows, advice=None):
    return OperatorList("1", "v1", None, "https://example.org", {r.name: r for r in rows}, advice or {})


def successor(gone, new, old=()):
    found = Successors(listing(gone, *old), listing(*new)).find(gone)
    return found.name.removeprefix("aten::") if found else None


@pytest.mark.parametrize(("gone", "new", "expected"), [
    (row("rfft(Tensor self, int n) -> Tensor"), row("fft_rfft(Tensor self) -> Tensor", python_module="fft"), "fft_rfft"),
    (row("fft_rfft(Tensor self) -> Tensor", python_module="fft"), row("rfft(Tensor self, int n) -> Tensor"), "rfft"),
    (row("_cat(Tensor[] tensors) -> Tensor"), row("cat(Tensor[] tensors, int dim=0) -> Tensor"), "cat"),
    (row("_cat(Tensor[] tensors) -> Tensor"), row("cat_(Tensor(a!)[] tensors) -> ()"), None),
    (row("f.names(Tensor self, Dimname dim) -> Tensor"), row("f.dim(Tensor self, int dim) -> Tensor"), "f.dim"),
    (row("f.names(Tensor self, Dimname dim) -> Tensor"), row("f.dim(Tensor self, int dim, int more) -> Tensor"), None),
    (row("old_conv_deep(Tensor self) -> Tensor"), row("conv_deep(Tensor self) -> Tensor"), "conv_deep"),
    (row("a_conv_backward(Tensor self) -> Tensor"), row("b_conv_backward(Tensor self) -> Tensor"), None),
    (row("f(Tensor self, int n) -> Tensor"), row("other(Tensor self, int n) -> Tensor"), None),
    (row("f(Tensor self) -> Tensor", dispatch={"CPU": "k"}), row("g(Tensor self, int n) -> Tensor", dispatch={"CPU": "k"}), "g"),
])  # fmt: skip
def test_rules(gone, new, expected):
    assert successor(gone, [new]) == expected


def test_a_kernel_that_others_had_too_is_no_evidence():
    gone = row("f(Tensor self) -> Tensor", dispatch={"CPU": "k"})
    assert successor(gone, [row("g(Tensor self, int n) -> Tensor", dispatch={"CPU": "k"})], [row("h(Tensor self) -> Tensor", dispatch={"CPU": "k"})]) is None


def test_gradients_that_called_it_call_another():
    gone = row("lib_conv_backward(Tensor grad) -> Tensor")
    before = row("conv(Tensor self) -> Tensor", derivative=DerivativeRow("d", 1, {"Default self": "lib_conv_backward(grad)"}))
    after = row("conv(Tensor self) -> Tensor", derivative=DerivativeRow("d", 1, {"Default self": "grad.defined() ? convolution_backward(grad, 1) : Tensor()"}))
    assert successor(gone, [after, row("convolution_backward(Tensor grad, int n) -> Tensor")], [before]) == "convolution_backward"


TEXT = b'''
def _gone(input, some=(1, 2)) -> int:
    raise RuntimeError(
        "This function was deprecated since version 0.9 and is now removed. "
        "Please use the `torch.lin.alg` function."
    )

def stays(input):
    """
    :func:`torch.symm` is deprecated in favor of :func:`torch.lin.symm`
    and will go.
    """
    return input

"L = torch.old(A, upper=upper) "
"should be replaced with:\\n"
"L = torch.lin.new(A)"


"torch.lone is deprecated."
'''


def test_advice():
    found = {name: [(a.instead, a.line) for a in advices] for name, advices in advice_in({"torch/x.py": TEXT}).items()}
    assert found == {"gone": [("lin.alg", 2)], "symm": [("lin.symm", 10)], "old": [("lin.new", 15)]}


def test_advice_is_followed_where_the_operator_exists():
    advice = advice_in({"torch/x.py": TEXT})
    gone = row("symm(Tensor self) -> Tensor")
    new = listing(row("lin_symm(Tensor A) -> Tensor"), row("lin_symm.out(Tensor A, *, Tensor(a!) out) -> Tensor(a!)"))
    found = Successors(listing(gone, advice=advice), new).find(gone)
    assert found is not None
    assert (found.name, found.path, found.line, found.side) == ("aten::lin_symm", "torch/x.py", 10, "old")
    assert Successors(listing(gone, advice=advice), listing(row("other(Tensor A) -> Tensor"))).find(gone) is None


def test_names_that_python_defines():
    tensor = b"x = 1\nclass Tensor(Base):\n    def backward(self):\n        def inner(): pass\n\ndef helper(): pass\nclass Other(B):\n    def no(self): pass\n"
    written = written_in({"torch/_tensor.py": tensor, "torch/functional.py": b"def stft(a):\n    def no(): pass\n", "torch/other.py": b"def no(): pass\n"})
    assert written["torch.Tensor.backward"] == ("torch/_tensor.py", 3)
    assert written["torch.stft"] == ("torch/functional.py", 1)
    assert not {name for name in written if name.endswith((".no", ".helper"))}
    new = OperatorList("2", "v2", None, "https://example.org", {}, {}, written)
    (change,) = compare(listing(row("backward(Tensor self) -> ()", python=("torch.Tensor.backward",))), new).changes
    assert change.reason == "gone; no successor found; torch.Tensor.backward is written in Python (torch/_tensor.py:3)"
