# SPDX-License-Identifier: BSD-3-Clause
"""A small atlas by hand that holds each kind of row once, and names that try to break out of a page."""

from __future__ import annotations

from cartographer.model.atlas import Atlas, Era, FileDates, FileEntry, GeneratedFile, Strata, Stub, Symbol, Unresolved
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
)  # fmt: skip
from cartographer.model.source import SourceInfo, SourceKind

NATIVE = "aten/src/ATen/native"
YAML = f"{NATIVE}/native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"
EVIL = "<script>alert('&\"')</script>"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LONG = "torch/" + "/".join(f"a_rather_long_folder_name_{n}" for n in range(8)) + "/a_file_with_a_long_name.py"

_LAYERS = (
    Layer("PythonDispatcher", True, "backend fallback", Location("aten/src/ATen/autocast_mode.cpp", 9)),
    Layer("FuncTorchBatched", True, "kernel"),
    Layer("AutocastCUDA", False, "fallthrough kernel", Location("aten/src/ATen/autocast_mode.cpp", 3)),
    Layer("AutogradFunctionality", True, "autograd kernel"),
    Layer("ADInplaceOrView", False, "fallthrough backend fallback"),
    Layer("Fake", True, "not in a wheel"),
)

_CUDA = Chain(
    Status.RESOLVED, None,
    (
        Step("entry", "at::native::structured_mul_out::impl", f"{NATIVE}/BinaryOps.cpp", 10),
        Step("stub", "mul_stub", f"{NATIVE}/BinaryOps.h", 5),
        Step("registration", "REGISTER_DISPATCH(mul_stub, &mul_kernel_cuda)", f"{NATIVE}/cuda/Mul.cu", 20),
        Step("kernel", "at::native::mul_kernel_cuda", f"{NATIVE}/cuda/Mul.cu", 8, branch="iter.dtype() < kBool & true"),
        Step("device", "at::native::MulFunctor<T>", f"{NATIVE}/cuda/Mul.cu", 2, note="launched by gpu_kernel"),
    ),
)  # fmt: skip

_DISPATCH = {
    "CPU": "kernel", "CUDA": "kernel", "MPS": "missing", "Meta": "kernel", "SparseCPU": "default backend kernel", "QuantizedCPU": "math kernel",
    "AutogradCPU": "autograd kernel", "AutocastCUDA": "fallthrough backend fallback",
}  # fmt: skip

_MUL = Operator(
    "aten::mul.Tensor", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", Origin.YAML, Location(YAML, 100), variants=("function", "method"),
    tags=("core", "pointwise"), structured_delegate="mul.out",
    bindings=(
        Binding("torch.mul", "THPVariable_mul", "python_torch_functions_0.cpp", generator=Location("tools/autograd/gen_python_functions.py", 4)),
        Binding("torch.Tensor.mul", "THPVariable_mul", "python_variable_methods.cpp"),
        Binding("torch.special.mul", "THPVariable_special", "torch/csrc/hand.cpp", deprecated=True, place=Location("torch/csrc/hand.cpp", 3)),
    ),
    cpp=CppNames("at::_ops::mul_Tensor", "at::mul", "at::Tensor::mul"),
    registrations=(
        Registration("CPU", "at::native::structured_mul_out", Origin.STRUCTURED, rule=f"{YAML}:100"),
        Registration("CUDA", "at::native::structured_mul_out", Origin.STRUCTURED, rule=f"{YAML}:100"),
        Registration("Meta", "torch._refs.mul", Origin.PYTHON, place=Location("torch/_refs/__init__.py", 2)),
        Registration("Meta", "at::meta::structured_mul_Tensor", Origin.STRUCTURED, active=False),
        Registration("AutocastCUDA", None, Origin.LIBRARY, fallthrough=True, boxed=True, place=Location("aten/src/ATen/autocast_mode.cpp", 3)),
    ),
    dispatch=_DISPATCH, layers=_LAYERS,
    kernels={
        "CUDA": _CUDA, "CPU": Chain(Status.UNRESOLVED, f"two definitions, {EVIL}"), "MPS": Chain(Status.NONE, "no MPS kernel: a call raises an error"),
        "SparseCPU": Chain(Status.RESOLVED, None, (Step("entry", "at::native::mul_sparse", f"{NATIVE}/BinaryOps.cpp", 30),)),
        "SparseCUDA": Chain(Status.RESOLVED, None, (Step("entry", "at::native::mul_sparse", f"{NATIVE}/BinaryOps.cpp", 30),)),
    },
    autograd=Autograd(
        ("MulBackward0",), Location(DERIVATIVES, 12), ("self", "other"), (Helper("mul_tensor_backward", Location("torch/csrc/hand.cpp", 9)),),
        (Formula(("self",), "grad * other.conj()", Location(DERIVATIVES, 13)), Formula(("result",), EVIL, Location(DERIVATIVES, 14), forward=True)),
        kind="formula",
    ),
    callers=("aten::square",), callees=("aten::empty",), age={"kernel": "2018-07-06"}, extra={"odd_key": EVIL},
)  # fmt: skip

OPERATORS = (
    _MUL,
    Operator(
        "aten::mul.out", "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", Origin.YAML, Location(YAML, 110), structured=True,
        dispatch=_DISPATCH, kernels={"CUDA": _CUDA},
    ),
    Operator("aten::mul_.Tensor", "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", Origin.YAML, Location(YAML, 120), dispatch=_DISPATCH),
    Operator(
        "aten::mul.Scalar_out", "aten::mul.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)", Origin.GENERATED,
        Location("torchgen/native_function_generation.py", 7), generated_from="aten::mul.Tensor", build=("mps",),
    ),
    Operator("aten::square", "aten::square(Tensor self) -> Tensor", Origin.YAML, Location(YAML, 130), callees=("aten::mul.Tensor",),
             registrations=(Registration("CompositeImplicitAutograd", "at::native::square", Origin.YAML, rule="no dispatch"),),
             dispatch=dict.fromkeys(("CPU", "CUDA"), "math kernel"), autograd=Autograd((), None, kind="through the operators it calls")),
    Operator("aten::empty", f'aten::empty(int[] size, str evil="{EVIL}") -> Tensor', Origin.YAML, Location(YAML, 140)),
    Operator("aten::rename_", "aten::rename_(Tensor(a!) self) -> Tensor(a!)", Origin.YAML, Location(YAML, 150)),
    Operator("quantized::mul", "quantized::mul(Tensor a, Tensor b) -> Tensor", Origin.LIBRARY, Location(f"{NATIVE}/library.cpp", 4)),
    Operator("aten::Int", "aten::Int(Tensor a) -> int", Origin.LIBRARY, Location(f"{NATIVE}/library.cpp", 5)),
    Operator("aten::int", "aten::int(Tensor a) -> int", Origin.PYTHON, Location("torch/_refs/__init__.py", 9)),
)  # fmt: skip


def _file(path: str, language: str = "C++", lines: int = 40, **more: object) -> FileEntry:
    return FileEntry(path, path.encode().hex()[:40].ljust(40, "0"), lines * 30, language, lines, **more)  # type: ignore[arg-type]


FILES = (
    _file(YAML, "YAML", 150), _file(DERIVATIVES, "YAML", 20),
    _file(f"{NATIVE}/BinaryOps.cpp", includes=((f"{NATIVE}/BinaryOps.h", 1), ("vector", 2)), error_nodes=3, error_bytes=90, notes=(f"not UTF-8 {EVIL}",)),
    _file(f"{NATIVE}/BinaryOps.h"), _file(f"{NATIVE}/binaryops.H"), _file(f"{NATIVE}/cuda/Mul.cu", "CUDA", includes=((f"{NATIVE}/BinaryOps.h", 1),)),
    _file(f"{NATIVE}/library.cpp"), _file("aten/src/ATen/autocast_mode.cpp"), _file("torch/csrc/hand.cpp"),
    _file("torch/_refs/__init__.py", "Python"), _file("torch/__init__.py", "Python"), _file(LONG, "Python"), _file("torch/a b#c%d&e'f\"<g>.py", "Python"),
    _file("torchgen/native_function_generation.py", "Python"), _file("tools/autograd/gen_python_functions.py", "Python"),
    _file("aten/src/ATen/core/dispatch/Dispatcher.h", lines=90), _file("c10/cuda/CUDAStream.cpp"), _file("caffe2/empty.cpp", lines=0),
)  # fmt: skip

SYMBOLS = (
    *(Symbol(f"name_{n}", f"at::native::name_{n}", "function", f"{NATIVE}/library.cpp", n, n) for n in range(1, 1501)),
    Symbol("impl", "at::native::structured_mul_out::impl", "method", f"{NATIVE}/BinaryOps.cpp", 10, 19),
    Symbol("impl", "at::native::structured_mul_out::twin", "method", f"{NATIVE}/BinaryOps.cpp", 10, 19),
    Symbol("mul_sparse", "at::native::mul_sparse", "function", f"{NATIVE}/BinaryOps.cpp", 30, 35, guards=("AT_MKL_ENABLED() && <x>",)),
    Symbol("mul_kernel_cuda", "at::native::mul_kernel_cuda", "function", f"{NATIVE}/cuda/Mul.cu", 8, 12),
    Symbol("lonely", "at::native::lonely<T>", "kernel", f"{NATIVE}/cuda/Mul.cu", 30, 33),
    Symbol("call", "c10::Dispatcher::call", "method", "aten/src/ATen/core/dispatch/Dispatcher.h", 66, 80),
    Symbol("getCurrentCUDAStream", "c10::cuda::getCurrentCUDAStream", "function", "c10/cuda/CUDAStream.cpp", 36, 40),
    Symbol(EVIL, EVIL, "macro", "torch/csrc/hand.cpp", 3, 3),
)

STUBS = (
    Stub("mul_stub", ((f"{NATIVE}/BinaryOps.h", 5),), ((f"{NATIVE}/BinaryOps.cpp", 6),), (("CUDA", "mul_kernel_cuda", f"{NATIVE}/cuda/Mul.cu", 20),)),
    Stub("mul_stub", ((f"{NATIVE}/binaryops.H", 5),), (), ()),
    Stub("dead_stub", ((f"{NATIVE}/BinaryOps.h", 7),), (), ()),
)

STRATA = Strata(
    "lines", "",
    (("a" * 40, "2012-01-25T10:00:00+00:00"), ("b" * 40, "2017-05-01T10:00:00+00:00"), ("c" * 40, "2022-05-01T10:00:00+00:00")),
    {
        f"{NATIVE}/BinaryOps.cpp": FileDates(f"{NATIVE}/BinaryOps.cpp", "2017-05-01", "2022-05-01", ("aten/Old.cpp",), ((10, 0), (20, 1), (9, 2), (1, -1))),
        "torch/__init__.py": FileDates("torch/__init__.py", "2017-05-01", "2017-05-01", (), ((40, 1),)),
    },
    (Era("First", "2012-01-01", "2016-12-31", (("the first commit", "a" * 40, "2012-01-25"),)), Era("Second", "2017-01-01", "2021-12-31"), Era("Third", "2022-01-01", "")),
)  # fmt: skip


def atlas(**changes: object) -> Atlas:
    """The atlas; single fields can be given otherwise."""
    values: dict[str, object] = {
        "source": SourceInfo(SourceKind.DIRECTORY, "2.6.0", "v2.6.0", COMMIT, f"a folder {EVIL}"),
        "tool_version": "0.1.0",
        "operators": OPERATORS,
        "files": FILES,
        "symbols": SYMBOLS,
        "stubs": STUBS,
        "generated": (GeneratedFile("python_variable_methods.cpp", "tools/autograd/gen_python_functions.py", 4, None, 1, f"Methods. {EVIL}"),
                      *(GeneratedFile(name, "tools/autograd/gen_python_functions.py", 9, None, 1, "Entries.") for name in ("Functions.h", "Functions.h", "shim_{dispatch_key.lower()}_{name}.cpp"))),
        "unresolved": (Unresolved("link", "aten::mul.Tensor CPU", f"two definitions, {EVIL}", f"{NATIVE}/BinaryOps.cpp", 10),),
        "strata": STRATA,
        "paths": tuple(sorted(entry.path for entry in FILES)),
    }
    return Atlas(**(values | changes))  # type: ignore[arg-type]
