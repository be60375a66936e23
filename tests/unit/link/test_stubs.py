# SPDX-License-Identifier: BSD-3-Clause
from cartographer.link.guards import World
from cartographer.link.stubs import as_values, is_stub_macro, serving, stubs_of
from cartographer.model.fact import FileFacts, MacroDefinition, MacroUse

N = "aten/src/ATen/native/"
HEADER = N + "DispatchStub.h"
ALSO = MacroDefinition("ALSO_REGISTER_AVX512_DISPATCH", ("name", "fn"), 1, "REGISTER_ARCH_DISPATCH(name, CPU_CAPABILITY, fn)")


def use(name, *arguments, line=1, text="", guards=(), namespace=""):
    return MacroUse(name, arguments, line, line, text or f"{name}({', '.join(arguments)})", namespace, guards)


def stubs(**uses):
    files = {path: FileFacts("C++", 1, uses=tuple(found)) for path, found in uses["files"].items()}
    files[HEADER] = FileFacts("C++", 1, macros=(ALSO, *uses.get("macros", ())))
    return stubs_of(files, uses.get("made", {}))


def kernels(found, name, device):
    return [(r.kernel, r.path) for r in serving(found.find(name, ("at", "native")), device, World(device))]


def test_the_file_decides_what_a_registration_is_for():
    found = stubs(files={
        N + "cuda/A.cu": [use("REGISTER_DISPATCH", "a_stub", "&a_cuda")],
        N + "cpu/A.cpp": [use("ALSO_REGISTER_AVX512_DISPATCH", "a_stub", "&a_cpu")],
        N + "mps/A.mm": [use("REGISTER_DISPATCH", "a_stub", "&mps::a")],
        N + "cuda/B.cpp": [use("REGISTER_CUDA_DISPATCH", "b_stub", "&b_cuda")],
    })
    assert kernels(found, "a_stub", "cuda") == [("a_cuda", N + "cuda/A.cu")]
    assert kernels(found, "a_stub", "cpu") == [("a_cpu", N + "cpu/A.cpp")]
    assert kernels(found, "a_stub", "mps") == [("mps::a", N + "mps/A.mm")]
    assert kernels(found, "b_stub", "cuda") == [("b_cuda", N + "cuda/B.cpp")]


def test_the_tree_says_what_a_macro_registers_for():
    found = stubs(files={N + "npu/A.cpp": [use("REGISTER_NPU_DISPATCH", "a_stub", "&a_npu")],
                         N + "A.cpp": [use("REGISTER_RVV_DISPATCH", "a_stub", "&a_rvv"), use("REGISTER_NO_AVX512_DISPATCH", "a_stub")]},
                  macros=[
        MacroDefinition("REGISTER_NPU_DISPATCH", ("name", "fn"), 1, "static RegisterNPUDispatch<struct name##_type> name##__register(name, fn);"),
        MacroDefinition("REGISTER_RVV_DISPATCH", ("name", "fn"), 2, "", ("!defined(HAVE_RVV)",)),
        MacroDefinition("REGISTER_RVV_DISPATCH", ("name", "fn"), 3, "REGISTER_ARCH_DISPATCH(name, RVV, fn)", ("defined(HAVE_RVV)",)),
        MacroDefinition("REGISTER_NO_AVX512_DISPATCH", ("name",), 4, "REGISTER_AVX512_DISPATCH(name, nullptr)"),
    ])
    told = [(r.device, r.capability, r.kernel) for r in found.find("a_stub", ()).registrations]
    assert told == [("cpu", "RVV", "a_rvv"), ("cpu", "not AVX512", ""), ("npu", "", "a_npu")]


def test_a_macro_that_the_tree_does_not_define_is_called_by_its_device():
    found = stubs(files={N + "npu/A.cpp": [use("REGISTER_NPU_DISPATCH", "a_stub", "&a_npu")]})
    assert kernels(found, "a_stub", "npu") == [("a_npu", N + "npu/A.cpp")]
    assert kernels(found, "a_stub", "cpu") == []


def test_the_default_capability_comes_first_and_a_nullptr_last():
    found = stubs(files={N + "K.cpp": [
        use("REGISTER_AVX512_DISPATCH", "s", "&s512"),
        use("REGISTER_ARCH_DISPATCH", "s", "DEFAULT", "&s0"),
        use("REGISTER_NO_CPU_DISPATCH", "none"),
    ]}, macros=[MacroDefinition("REGISTER_AVX512_DISPATCH", ("name", "fn"), 1, "REGISTER_ARCH_DISPATCH(name, AVX512, fn)")])
    assert kernels(found, "s", "cpu")[0] == ("s0", N + "K.cpp")
    assert serving(found.find("none", ()), "cpu", World())[0].missing


def test_names_may_be_qualified_and_registrations_split_over_lines():
    found = stubs(files={N + "cpu/B.cpp": [
        use("REGISTER_DISPATCH", "cpublas::gemm_stub", "&cpublas::gemm_impl", line=5,
            text="REGISTER_DISPATCH(\n  cpublas::gemm_stub,\n  &cpublas::gemm_impl)"),
    ]})
    assert found.find("gemm_stub", ()).registrations[0].line == 6


def test_a_lazy_twin_and_dead_code_give_way():
    found = stubs(files={
        N + "cuda/L.cpp": [use("REGISTER_CUDA_DISPATCH", "e", "&lazy_eigh", guards=("defined(BUILD_LAZY_CUDA_LINALG)",))],
        N + "cuda/linalg/E.cpp": [use("REGISTER_CUDA_DISPATCH", "e", "&eigh_kernel")],
    })
    assert kernels(found, "e", "cuda") == [("eigh_kernel", N + "cuda/linalg/E.cpp")]


def test_declarations_carry_types_with_commas():
    found = stubs(files={N + "A.h": [use("DECLARE_DISPATCH", "void(*)(Tensor&", "int64_t)", "x_kernel", line=3)]},
                  made={N + "A.h": (use("DEFINE_DISPATCH", "x_kernel", line=9),)})
    assert as_values(found)[0].declared == ((N + "A.h", 3),)
    assert as_values(found)[0].defined == ((N + "A.h", 9),)


def test_only_stub_macros_are_taken():
    assert is_stub_macro("REGISTER_DISPATCH")
    assert is_stub_macro("REGISTER_SVE256_DISPATCH")
    assert is_stub_macro("ALSO_REGISTER_AVX512_DISPATCH")
    assert not is_stub_macro("AT_DISPATCH_ALL_TYPES")
    assert not is_stub_macro("REGISTER_FALLBACK")


def test_two_stubs_of_one_name_live_in_two_namespaces():
    found = stubs(files={
        N + "CPUBlas.cpp": [use("DEFINE_DISPATCH", "copy_stub", namespace="at::native::cpublas", line=1)],
        N + "Copy.cpp": [use("DEFINE_DISPATCH", "copy_stub", namespace="at::native", line=2)],
        N + "cpu/BlasKernel.cpp": [use("REGISTER_DISPATCH", "cpublas::copy_stub", "&cpublas::copy_impl", namespace="at::native")],
        N + "cpu/CopyKernel.cpp": [use("REGISTER_DISPATCH", "copy_stub", "&copy_kernel", namespace="at::native")],
    })
    assert [r.kernel for r in found.find("copy_stub", ("at", "native")).registrations] == ["copy_kernel"]
    assert [r.kernel for r in found.find("copy_stub", ("at", "native", "cpublas")).registrations] == ["cpublas::copy_impl"]
