# SPDX-License-Identifier: BSD-3-Clause
"""A small atlas made by hand: five operators of an imagined PyTorch, with everything that a row can hold."""

from __future__ import annotations

from cartographer.model.atlas import (
    Atlas,
    Era,
    FileDates,
    FileEntry,
    GeneratedFile,
    Import,
    Landmark,
    Strata,
    Stub,
    Symbol,
    Unresolved,
)
from cartographer.model.change import Change, ChangePlace, Comparison, Level
from cartographer.model.lineage import Lineage
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
from cartographer.model.oplist import Advice, DerivativeRow, OperatorList, OperatorRow
from cartographer.model.source import SourceInfo, SourceKind

YAML = "aten/src/ATen/native/native_functions.yaml"
BINARY = "aten/src/ATen/native/BinaryOps.cpp"
CUDA = "aten/src/ATen/native/cuda/AddKernel.cu"
LOOPS = "aten/src/ATen/native/cuda/Loops.cuh"
MANUAL = "torch/csrc/autograd/FunctionsManual.cpp"
FUNCTIONAL = "torch/nn/functional.py"
COMMIT_A, COMMIT_B = "a" * 40, "0123456789abcdef0123456789abcdef01234567"

ENTRY = Step("entry", "structured_add_out::impl", BINARY, 30, note="TORCH_IMPL_FUNC(add_out)")
STUB = Step("stub", "add_stub", BINARY, 33)
REGISTERED = Step("registration", "add_stub", CUDA, 40)
KERNEL = Step("kernel", "at::native::add_kernel", CUDA, 20)
DEVICE = Step("device", "at::native::vectorized_kernel", LOOPS, 8, branch="contiguous")
CUDA_CHAIN = Chain(Status.RESOLVED, None, (ENTRY, STUB, REGISTERED, KERNEL, DEVICE))
CPU_CHAIN = Chain(Status.UNRESOLVED, "the stub is registered under a condition that we cannot read", (ENTRY, STUB))
NONE = Chain(Status.NONE, "composite: its body calls other operators", (
    Step("entry", "at::native::softmax", "aten/src/ATen/native/SoftMax.cpp", 12), Step("calls", "aten::add.Tensor", "aten/src/ATen/native/SoftMax.cpp", 14),
))  # fmt: skip
TABLE = {"CPU": "kernel", "CUDA": "kernel", "ZeroTensor": "backend fallback", "QuantizedCPU": "missing"}


def add_family() -> tuple[Operator, ...]:
    """add.Tensor, add_.Tensor and add.out share their chains."""
    functional = Operator(
        name="aten::add.Tensor", schema="aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        origin=Origin.YAML, declared=Location(YAML, 10, 15), variants=("function", "method"), tags=("core", "pointwise"),
        structured_delegate="add.out",
        bindings=(
            Binding("torch.add", "THPVariable_add", "python_torch_functions_0.cpp", generator=Location("tools/autograd/gen_python_functions.py", 300)),
            Binding("torch.Tensor.add", "THPVariable_add", "python_variable_methods.cpp"),
            Binding("torch.old_add", "THPVariable_add", "python_torch_functions_0.cpp", deprecated=True, place=Location("tools/autograd/templates/x.cpp", 4)),
        ),
        cpp=CppNames("at::_ops::add_Tensor", "at::add", "at::Tensor::add"),
        registrations=(
            Registration("CPU", "at::native::structured_add_out", Origin.STRUCTURED, rule="torchgen/dest/register_dispatch_key.py"),
            Registration("CUDA", "at::native::structured_add_out", Origin.STRUCTURED),
            Registration("Meta", "meta_add", Origin.PYTHON, place=Location("torch/_meta_registrations.py", 77, 80)),
            Registration("Meta", None, Origin.STRUCTURED, active=False),
            Registration("Named", None, Origin.LIBRARY, fallthrough=True, boxed=True, build=("named",), place=Location("aten/src/ATen/Named.cpp", 5)),
        ),
        dispatch=TABLE,
        layers=(Layer("AutogradCPU", True, "autograd kernel"), Layer("AutocastCPU", False, "fallthrough", Location("aten/src/ATen/autocast_mode.cpp", 9))),
        kernels={"CUDA": CUDA_CHAIN, "CPU": CPU_CHAIN},
        autograd=Autograd(
            nodes=("AddBackward0",), formula=Location("tools/autograd/derivatives.yaml", 100), saved=("self", "other"),
            helpers=(Helper("torch::autograd::generated::details::handle_r_to_c", Location(MANUAL, 50, 60)),),
            formulas=(
                Formula(("self", "other"), "handle_r_to_c(self, grad)", Location("tools/autograd/derivatives.yaml", 101)),
                Formula(("result",), "self_t + other_t", Location("tools/autograd/derivatives.yaml", 102), "AutogradNested", forward=True),
            ),
            output_differentiability=("True",), kind="formula",
        ),
        callers=("aten::softmax.int",), callees=("aten::empty",), age={"kernel": "2018-07-06", "declaration": None},
        extra={"strange_key": "kept: as written"},
    )  # fmt: skip
    inplace = Operator(
        name="aten::add_.Tensor", schema="aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        origin=Origin.YAML, declared=Location(YAML, 20), variants=("method",), structured_delegate="add.out",
        bindings=(Binding("torch.Tensor.add_", "THPVariable_add_", "python_variable_methods.cpp"),),
        cpp=CppNames("at::_ops::add__Tensor", None, "at::Tensor::add_"), dispatch=TABLE, kernels={"CUDA": CUDA_CHAIN, "CPU": CPU_CHAIN},
    )  # fmt: skip
    out = Operator(
        name="aten::add.out", schema="aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        origin=Origin.YAML, declared=Location(YAML, 30), structured=True, cpp=CppNames("at::_ops::add_out", "at::add_out", None),
        registrations=(Registration("CUDA", "at::native::structured_add_out", Origin.YAML),), dispatch=dict(TABLE), kernels={"CUDA": CUDA_CHAIN},
    )  # fmt: skip
    return (functional, inplace, out)


def operators() -> tuple[Operator, ...]:
    """Five operators of three namespaces."""
    softmax = Operator(
        name="aten::softmax.int", schema="aten::softmax.int(Tensor self, int dim) -> Tensor", origin=Origin.YAML, declared=Location(YAML, 40),
        bindings=(Binding("torch.softmax", "THPVariable_softmax", "python_torch_functions_1.cpp"),
                  Binding("torch.Tensor.softmax", "THPVariable_softmax", "python_variable_methods.cpp")),
        cpp=CppNames("at::_ops::softmax_int", "at::softmax", "at::Tensor::softmax"),
        registrations=(Registration("CompositeImplicitAutograd", "at::native::softmax", Origin.YAML),),
        dispatch={"CPU": "math kernel", "CUDA": "math kernel"}, kernels={"CUDA": NONE}, callees=("aten::add.Tensor",), python_module="nn",
    )  # fmt: skip
    mine = Operator(
        name="quantized::add", schema="quantized::add(Tensor qa, Tensor qb) -> Tensor", origin=Origin.LIBRARY, build=("xnnpack",),
        declared=Location("aten/src/ATen/native/quantized/library.cpp", 7), generated_from=None,
        registrations=(Registration("QuantizedCPU", "at::native::qadd<false>", Origin.LIBRARY, place=Location("aten/src/ATen/native/quantized/qadd.cpp", 90)),),
        dispatch={"QuantizedCPU": "kernel"},
    )  # fmt: skip
    return (*add_family(), softmax, mine)


def oplist(version: str) -> OperatorList:
    """A list of two rows; the second has every field."""
    full = OperatorRow(
        "aten::b.c", "b.c(Tensor self) -> Tensor", YAML, 3, generated=True, variants=("function",), python_module="nn", tags=("core",), dispatch={"CPU": "b"},
        implied=True, structured=True, structured_delegate="b.out", structured_inherits="TensorIteratorBase", autogen=("b.out",), flags={"device_check": "NoCheck"},
        derivative=DerivativeRow("tools/autograd/derivatives.yaml", 9, {"Default self": "grad"}, {"output_differentiability": "[True]"}),
        python=("torch.b",), namesakes=("b.c(int x) -> Tensor",),
    )  # fmt: skip
    return OperatorList(version, f"v{version}", COMMIT_A, "https://example.org", {"aten::a": OperatorRow("aten::a", "a() -> ()", YAML, 1, python=()), full.name: full},
                        {"gone": (Advice("lin.alg", YAML, 7),)}, {"torch.Tensor.gone": (YAML, 8)}, {"CPU": "CPU", "Autocast": "AutocastCPU"})


def atlas(version: str = "2.6.0") -> Atlas:
    """The whole sample."""
    files = (
        FileEntry(BINARY, COMMIT_B, 2000, "C++", 80, 1, 12, ((LOOPS, 3), ("vector", 4)), ("not UTF-8",)),
        FileEntry(CUDA, "not a git id", 900, "CUDA", 50, includes=((LOOPS, 1),)),
        FileEntry(LOOPS, COMMIT_A, 400, "CUDA", 20),
        FileEntry(MANUAL, COMMIT_A, 4000, "C++", 200),
        FileEntry(FUNCTIONAL, COMMIT_A, 3000, "Python", 100),
        FileEntry(YAML, COMMIT_A, 700, "YAML", 60),
    )
    symbols = (
        Symbol(
            "structured_add_out::impl",
            "at::native::structured_add_out::impl",
            "function",
            BINARY,
            30,
            35,
            "(const Tensor& self)",
        ),
        Symbol(
            "add_kernel",
            "at::native::(anonymous)::add_kernel",
            "function",
            CUDA,
            20,
            36,
            "(TensorIteratorBase& iter)",
            ("USE_CUDA", "!(ROCM)"),
        ),
        Symbol("vectorized_kernel", "at::native::vectorized_kernel", "kernel", LOOPS, 8, 15),
        Symbol("softmax", "torch.nn.functional.softmax", "function", FUNCTIONAL, 60, 90, "(input, dim=None)"),
        Symbol("<lambda>", "somewhere", "lambda-variable", LOOPS, 9, 9),
    )
    strata = Strata(
        "lines", "", ((COMMIT_A, "2017-01-02"), ("short", "2020-05-06")),
        {BINARY: FileDates(BINARY, "2017-01-02", "2020-05-06", ("aten/old.cpp",), ((50, 0), (29, 1), (1, -1))), CUDA: FileDates(CUDA, None, None)},
        (Era("ATen", "2017-01-01", "2018-01-01", (("first commit of aten/", COMMIT_A, "2017-01-02"),)), Era("compiler", "2022-01-01", "2026-01-01")),
        (1,), ("v1.0.0", "v2.0.0"), (0, -1), (Import(COMMIT_A, "2018-01-01", "tree", "caffe2", 3, 400, 30, "Merge caffe2", "a root of its own", vendored=True),),
        ("third_party",),
    )  # fmt: skip
    return Atlas(
        source=SourceInfo(SourceKind.DIRECTORY, version, f"v{version}", None, "/somewhere/pytorch"), tool_version="0.1.0",
        operators=operators(), files=files, symbols=symbols,
        stubs=(Stub("at::native::add_stub", (("aten/src/ATen/native/BinaryOps.h", 9),), ((BINARY, 5),), (("CUDA", "&add_kernel", CUDA, 40),)),),
        generated=(GeneratedFile("RegisterCPU.cpp", "torchgen/gen.py", 2000, "aten/src/ATen/templates/RegisterDispatchKey.cpp", 1, "Kernels for CPU."),
                   GeneratedFile("x.h", "torchgen/gen.py", 1, None, 2, "Names.")),
        paths=("CODEOWNERS", BINARY),
        landmarks=(Landmark("aten::add", "opinfo", BINARY, 7, "BinaryUfuncInfo(add)"), Landmark("/aten/", "owner", "CODEOWNERS", 3, "@someone")),
        unresolved=(Unresolved("link", "aten::add.Tensor CPU", "a reason", BINARY, 31), Unresolved("dispatch", "something", "no place")),
        strata=strata, seconds={"scan": 1.5, "link": 0.25}, rows=oplist(version), inputs="digest",
        lineage=Lineage(("v1.0.0", "v2.0.0"), frozenset({"aten::add.Tensor"}), {"aten::add.Tensor": ((1, "schema"),)}, ("v0.1.0",)),
        since=Comparison(
            "1.0.0", "2.0.0",
            (Change("schema-changed", Level.BREAK, "aten::add.Tensor", "an argument went", "(Tensor a, Tensor b)", "(Tensor a)", {"schema": ["old", "new"]},
                    (ChangePlace("new", YAML, 12),), True, False, "all alike"),),
            ("a note",), "https://example.org/old", "https://example.org/new", True,
        ),
        bodies={BINARY: {31: b"\x01\x02\x03\x04\x02"}},
    )  # fmt: skip
