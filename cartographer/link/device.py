# SPDX-License-Identifier: BSD-3-Clause
"""Tells what ends a way on each device: calls of vendor libraries, loops, launches, Metal.

Libraries are told by the prefixes of their public names; calls that only prepare or clean up (handles, descriptors,
workspaces) are no end of a way.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cartographer.link.platforms import PLATFORMS

_BY_NAME = re.compile(r"(?:at::|c10::)?(?:k|DeviceType::)([A-Z]\w*)")
NEVER = "another device"  # what a condition asks for that no key of ours answers

_LIBRARIES = (
    ("cuda", "cuBLASLt", re.compile(r"cublasLt[A-Z]\w+")),
    ("cuda", "cuBLAS", re.compile(r"cublas[A-Z]\w+")),
    ("cuda", "cuDNN", re.compile(r"cudnn[A-Z]\w+")),
    ("cuda", "cuFFT", re.compile(r"cufft[A-Z]\w+")),
    ("cuda", "cuSPARSELt", re.compile(r"cusparseLt[A-Z]\w+")),
    ("cuda", "cuSPARSE", re.compile(r"cusparse[A-Z]\w+")),
    ("cuda", "cuSOLVER", re.compile(r"cusolver(Dn|Sp|Rf|Mp)?[A-Z]\w+")),
    ("cuda", "cuDSS", re.compile(r"cudss[A-Z]\w+")),
    ("cuda", "MAGMA", re.compile(r"magma_\w+|magma[A-Z]\w+")),
    ("cuda", "NCCL", re.compile(r"nccl[A-Z]\w+")),
    ("cuda", "cuRAND", re.compile(r"curandGenerate\w*")),
    ("cuda", "CUB", re.compile(r"(\w+::)*(hip)?cub::(Device|Block|Warp)\w+(::\w+)*")),
    ("cuda", "Thrust", re.compile(r"thrust::(sort|stable_sort|sort_by_key|stable_sort_by_key|unique\w*|reduce\w*|inclusive_scan\w*|exclusive_scan\w*|transform\w*|copy\w*|scatter\w*|gather\w*|for_each\w*|sequence|adjacent_difference|merge\w*|lower_bound|upper_bound|tabulate|remove\w*|fill\w*)")),
    ("cuda", "CUTLASS", re.compile(r"cutlass::\w+(::\w+)*")),
    ("cuda", "FlashAttention", re.compile(r"(\w+::)*run_mha_[fb]wd_\w*")),  # a submodule since 2.7
    ("cuda", "FBGEMM GenAI", re.compile(r"fbgemm_gpu::\w+(::\w+)*")),
    ("cuda", "MSLK", re.compile(r"mslk::\w+(::\w+)*")),
    ("cuda", "CUDA runtime", re.compile(r"cudaMemcpy\w*|cudaMemset\w*|cudaLaunch\w+|cuLaunchKernel\w*|at::cuda::memcpy_and_sync|cuda::memcpy_and_sync|CUDACachingAllocator::memcpyAsync")),
    ("cuda", "MIOpen", re.compile(r"miopen[A-Z]\w+")),
    ("hip", "MIOpen", re.compile(r"miopen[A-Z]\w+")),
    ("hip", "rocBLAS", re.compile(r"(roc|hip)blas\w+")),
    ("cpu", "BLAS", re.compile(r"cblas_(?!\w+_batch)\w+|[sdcz](gemm|gemv|axpy|copy|dot|dotu|dotc|scal|swap|ger|syr|nrm2|trsm|gbtrf)[a-z]?_")),
    ("cpu", "LAPACK", re.compile(r"LAPACKE_\w+|[sdcz][a-z]{2,3}[a-z0-9]{2,5}_")),
    ("cpu", "MKL", re.compile(r"cblas_\w+_batch\w*|mkl_(sparse_|[sdcz])\w+|MKL_\w+|Dfti\w+|vm?[sdcz][A-Z]\w+|vmd?l?[SD]\w+|vslStream\w*|v[idrs]+Rng\w+")),
    ("cpu", "oneDNN", re.compile(r"ideep::\w+(::\w+)*|dnnl::\w+(::\w+)*|dnnl_\w+")),
    ("cpu", "FBGEMM", re.compile(r"fbgemm::\w+(::\w+)*")),
    ("cpu", "QNNPACK", re.compile(r"(qnnpack::)?(pytorch_)?qnnp_\w+|qnnpack::\w+|pytorch_q8\w+")),
    ("cpu", "XNNPACK", re.compile(r"xnn_\w+")),
    ("cpu", "PocketFFT", re.compile(r"pocketfft::\w+")),
    ("cpu", "Gloo", re.compile(r"(::)?gloo::[a-z]\w+")),
    ("cpu", "MPI", re.compile(r"MPI_[A-Z][a-z_]+")),
    ("cpu", "ACL", re.compile(r"arm_compute::\w+|arm_gemm\w+")),
    ("xpu", "oneDNN", re.compile(r"dnnl::\w+(::\w+)*|dnnl_\w+")),
    ("xpu", "oneMKL", re.compile(r"oneapi::mkl::\w+(::\w+)*")),
    ("mps", "MPSGraph", re.compile(r"(mpsGraph|graph|\w*[gG]raph_?)\.\w+")),
)  # fmt: skip
_LIBRARIES_OF = {device: [(title, pattern) for where, title, pattern in _LIBRARIES if where == device] for device, _, _ in _LIBRARIES}
# What only prepares, asks or cleans up.
_ADMINISTRATION = re.compile(
    r"magma_version|has_\w+_support|expected_\w+|utils::|Create|Destroy|Set(?!Up)|Get|Handle|Descriptor|[bB]uffer|Workspace|workspace|Init|Status|Error|Version|Query|Size|(?<!ExecuteFusion)Plan(?!Many1)\w*$|"
    r"nccl(Group|Comm|Mem)|cutlass::[a-z]\w*$|qnnp_(log|initialize|params|allocate|create|setup|delete|compute)|primitive_desc|post_ops|"
    r"Algo|_init|_get_|_set_|nullptr|tensor(_desc)?$|::desc|attr|Alignment|Pointer|CheckSum|queue|NullType|CountingInput|Iterator|"
    r"ideep::(tensor|data_type|format|attr|dims|scale|zero|engine|stream|prop_kind|algorithm|lowp)|dnnl::(memory|engine|stream|primitive_attr|algorithm)|"
    r"ReuseState|Traits|Policy|make_|(?<!fb)gemm::|epilogue::|layout::|arch::|MatrixShape|TensorRef$|Array$|numeric|half_t|bfloat16|"
    r"fbgemm::(fbgemmSupported|FindMinMax|Choose|PackMatrix|DoNothing|ReQuant|MatrixOp|matrix|Pack|conv_param|QuantizationG|float16|optimized_conv|BlockingF|block_type|inpType|trRequ|thread_|is|ConvertTimeEst|get|Fused)|"
    r"xnn_(create|setup|reshape|delete|destroy|initialize|define|status)|free|allocator|operation_type|make_counting|device_ptr|::prepare$"
)
# The primitives by which a CPU kernel loops (aten/src/ATen/Parallel.h, TensorIterator.h).
CPU_LOOPS = frozenset(("parallel_for", "parallel_reduce", "for_each", "serial_for_each", "foreach_reduced_elt", "parallel_dim_reduction", "lazy_init_num_threads_for"))
METAL_REQUESTS = frozenset(("getPipelineStateForFunc", "getMTLFunction", "getKernelFunction"))  # ATen/native/mps/MetalShaderLibrary.h
METAL_COPIES = frozenset(("copy", "copy_and_sync", "fill"))  # of a stream: what it encodes as a blit (ATen/mps/MPSStream.h)
# What is asked of an MPSGraph without making a node that computes, and nodes that only bring data into shape.
PREPARING = re.compile(r"^(new|alloc|init\w*|autorelease|retain|release|run\w*|encode\w*|compile\w*|feeds\w*|dataType|shape)$|constant|placeholder|shapeOf|^descriptor", re.IGNORECASE)
SHAPING = re.compile(r"reshape|cast|transpose|identity|expandDims|squeeze|slice|concat|broadcast|coordinate|gradient$", re.IGNORECASE)
# Kernels of Metal Performance Shaders: classes whose objects encode themselves (MPSMatrixSolveLU, MPSMatrixMultiplication).
MPS_KERNELS = re.compile(r"MPS(?:Matrix|NDArray|CNN|RNN|Image)(?!Descriptor)[A-Z]\w+(?<!Descriptor)")
DRIVER = re.compile(r"cu[A-Z][A-Za-z0-9]+_")  # c10/cuda/driver_api.h
_BACKENDS = (
    *((platform.device, platform.words) for platform in PLATFORMS),  # and those that the tree has no code for, and layouts
    ("mkldnn", "mkldnn|Mkldnn"), ("xla", "xla|XLA"), ("meta", "meta|Meta"), ("ipu", "ipu|IPU"), ("hpu", "hpu|HPU"), ("mtia", "mtia|MTIA"), ("maia", "maia|MAIA"),
    ("privateuseone", "privateuseone|PrivateUse1"), ("lazy", "lazy|Lazy"), ("quantized", "quantized"), ("nested", "nested"), ("sparse", "sparse(?:_c?sr|_csc|_bsr|_bsc|_compressed)?"),
)  # fmt: skip
_ASKS = tuple(
    (device, re.compile(
        rf"(?:\.|->)is_(?:{words})\(\)|([!=])=\s*(?:at::|c10::)?(?:k|DeviceType::|Device::Type::)(?:{words})\b|(?:k|DeviceType::)(?:{words})\s*([!=])=",
    ))
    for device, words in _BACKENDS
)  # fmt: skip
# Layouts by their constants (c10/core/Layout.h): `self.layout() == kSparseCsr`; strided is what has none of them.
_LAYOUT = re.compile(r"([!=])=\s*(?:at::|c10::)?(?:k|Layout::)(Sparse|Mkldnn|Strided)|(?<![.>\w])()is_(sparse)_compressed\(")
_COMPRESSED = re.compile(r"[!=]=\s*(?:at::|c10::)?(?:k|Layout::)Sparse(?:Csr|Csc|Bsr|Bsc)\b")
# The labels of a switch over devices (`case DeviceType::CUDA`) or over backends that are named after one (`case ConvBackend::Cudnn`).
_BACKEND_OF = {"cudnn": "cuda", "miopen": "hip", "mkldnn": "cpu", "nnpack": "cpu", "xnnpack": "cpu"}
_LABEL = re.compile(rf"case (?:\w+::)*k?({'|'.join((*(platform.device for platform in PLATFORMS), *_BACKEND_OF))})(\w*)", re.IGNORECASE)


def library(name: str, device: str, arguments: tuple[str, ...] = ()) -> str:
    """The vendor library that a call by this name enters on a device; "" when the name is of none, or only prepares such a call, or its
    arguments say that it runs on the host.
    """
    return _library(name.removeprefix("::"), device) if arguments[:1] != (_ON_HOST,) else ""


_ON_HOST = "thrust::host"  # a policy of Thrust: it runs on the CPU


@lru_cache(maxsize=65536)
def _library(name: str, device: str) -> str:
    for title, pattern in _LIBRARIES_OF.get(device, ()):
        if pattern.fullmatch(name):
            return "" if _ADMINISTRATION.search(name) and title not in ("LAPACK", "BLAS", "MSLK") else title
    return ""


def atom_holds(term: str, answers: frozenset[str]) -> bool | None:
    """Whether a term without `&&` and `||` holds for tensors of a device and layout: `self.is_cuda()`, `device.type() == kCPU`,
    the label of a switch over backends.
    """
    if (label := _LABEL.match(term)) is not None:
        word = label[1].lower()
        if _BACKEND_OF.get(word, word) not in answers:
            return False
        return True if label[1].isupper() and word not in _BACKEND_OF and not label[2] else None
    asked = _asked(term)
    if asked is None or (asked[0] in answers and _COMPRESSED.search(term)):  # one of the compressed layouts, which have one key
        return None
    return (asked[0] in answers) != asked[1]


@lru_cache(maxsize=65536)
def _asked(term: str) -> tuple[str, bool] | None:
    """The device or layout that a term asks for, and whether it asks for any other than that."""
    if "is_" not in term and "=" not in term:
        return None
    for name, pattern in _ASKS:
        if (match := pattern.search(term)) is not None:
            return name, "!" in match.groups()
    if (match := _LAYOUT.search(term)) is not None:
        layout = (match[2] or match[4]).lower()
        return "sparse" if layout == "strided" else layout, (match[1] == "!") is not (layout == "strided")
    return None


def asks(term: str) -> bool:
    """Whether a term of a condition asks for a device or a layout, and for nothing else."""
    return "&&" not in term and "||" not in term and "?" not in term and _asked(term) is not None


def answers(device: str, layout: str) -> frozenset[str]:
    """What tensors of a dispatch key answer to conditions: their device and layout."""
    return frozenset((device, layout)) if layout else frozenset((device,))


def device_named(arguments: tuple[str, ...]) -> str:
    """The device that a stub's call names, as in `stub(kCPU, …)`; "" when it passes the device of a tensor."""
    match = _BY_NAME.fullmatch(arguments[0].strip()) if arguments else None
    return match[1].lower() if match is not None else ""
