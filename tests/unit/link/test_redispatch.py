"""Fallbacks that send an operator on to another key."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

FALLBACK = (
    "void send(const c10::OperatorHandle& op, Stack* stack, c10::DispatchKey there = c10::DispatchKey::CPU) {\n"
    "  gather(stack);\n  op.redispatchBoxed(c10::DispatchKeySet(KEY), stack);\n}\n"
    "static void on_mps(const c10::OperatorHandle& op, Stack* stack) {\n  warn(op.name());\n  send(op, stack);\n}\n"
)  # fmt: skip
KERNEL = "Tensor f_cpu(const Tensor& self) {\n  parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {});\n}\n"


def chain(key, boxed=True):
    f = operator("f(Tensor self) -> Tensor", "CPU, MPS", "at::native::f_cpu")
    cpu, mps = f.registrations
    f = replace(f, registrations=(cpu, replace(mps, kernel="at::native::on_mps", boxed=boxed)))
    files = {N + "Fallback.cpp": f"namespace at::native {{\n{FALLBACK.replace('KEY', key)}}}\n", N + "F.cpp": f"namespace at::native {{\n{KERNEL}}}\n"}
    return [(s.role, s.symbol.rpartition("::")[2], s.line, s.note) for s in made(files, f)[0].chain(f, "MPS").steps]


def test_what_runs_is_the_operator_on_the_other_key():
    for key in ("there", "c10::DispatchKey::CPU"):
        assert chain(key) == [
            ("entry", "on_mps", 6, ""), ("kernel", "send", 2, ""), ("calls", "op.redispatchBoxed", 4, "the operator itself, on CPU"),
            ("entry", "f_cpu", 2, "of aten::f; on CPU"), ("device", "lambda", 3, "runs in parallel_for")]  # fmt: skip


def test_a_key_that_cannot_be_told_sends_nowhere():
    assert all(role != "calls" for role, *_ in chain("keys & c10::after_autograd_keyset"))
    assert all(role != "calls" for role, *_ in chain("there", boxed=False))  # no function for any operator
