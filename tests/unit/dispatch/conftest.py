# SPDX-License-Identifier: BSD-3-Clause
"""A small set of dispatch keys of our own, in the form of PyTorch's C++."""

import pytest

from cartographer.dispatch.build import DEVICE_TYPES
from cartographer.dispatch.keys import ENTRY, KEYS, SETS_CPP, SETS_H
from cartographer.model.fact import MacroDefinition

TEXTS = {
    DEVICE_TYPES[0]: "enum class DeviceType : int8_t {\n  CPU = 0,\n  CUDA = 1, // CUDA\n  MPS = 2,\n  Vulkan = 3,\n};\n",
    KEYS: """
#define BACKENDS(_, extra) ...
enum class BackendComponent : uint8_t { InvalidBit = 0,
#define DEFINE(n, _) n##Bit,
  BACKENDS(DEFINE, unused)
#undef DEFINE
  EndOfBackendKeys = MetaBit, };
enum class DispatchKey : uint16_t {
  Undefined = 0, CatchAll = Undefined,
  Dense, // the backends
  Vulkan, Sparse, NestedTensor, BackendSelect, Python, Functionalize, ADInplaceOrView,
  AutogradOther, AutogradFunctionality, AutogradNestedTensor, AutocastCUDA, FuncTorchBatched,
  EndOfFunctionalityKeys,
#define PER(full, prefix) ...
  KINDS(PER)
  EndOfRuntimeBackendKeys = EndOfAutogradFunctionalityBackends,
  Autograd, CompositeImplicitAutograd, FuncTorchBatchedDecomposition, CompositeExplicitAutograd,
  StartOfAliasKeys = Autograd, EndOfAliasKeys = CompositeExplicitAutograd,
  CUDATensorId = CUDA, Autocast = AutocastCUDA,
};
""",
    SETS_H: """
constexpr DispatchKeySet autograd_dispatch_keyset = DispatchKeySet({DispatchKey::AutogradFunctionality,
  DispatchKey::AutogradOther, DispatchKey::AutogradNestedTensor});
constexpr DispatchKeySet default_included_set = DispatchKeySet({DispatchKey::BackendSelect});
constexpr DispatchKeySet autogradother_backends = DispatchKeySet({DispatchKey::Vulkan, DispatchKey::Sparse})
  | DispatchKeySet(DispatchKeySet::RAW, full_backend_mask);
constexpr auto functorch_batched_ks = DispatchKeySet({DispatchKey::FuncTorchBatched});
""",
    SETS_CPP: """
constexpr DispatchKeySet backend_dispatch_keyset = autogradother_backends | DispatchKeySet(DispatchKey::Dense);
constexpr DispatchKeySet math_dispatch_keyset = backend_dispatch_keyset | autograd_dispatch_keyset
  | DispatchKeySet{DispatchKey::NestedTensor};
bool runtimeDispatchKeySetHas(DispatchKey t, DispatchKey k) {
  switch (t) {
    case DispatchKey::Autograd:
      return autograd_dispatch_keyset.has(toFunctionalityKey(k));
    case DispatchKey::CompositeImplicitAutograd:
      return math_dispatch_keyset.has(k);
    case DispatchKey::CompositeExplicitAutograd:
      return k != DispatchKey::NestedTensor && backend_dispatch_keyset.has(k);
    case DispatchKey::FuncTorchBatchedDecomposition:
      return functorch_batched_ks.has(k);
    default: return t == k;
  }
}
DispatchKeySet getBackendKeySetFromAutograd(DispatchKey t) {
  switch (t) {
    case DispatchKey::AutogradCPU: return DispatchKeySet(DispatchKey::CPU);
    case DispatchKey::AutogradCUDA: return DispatchKeySet(DispatchKey::CUDA);
    case DispatchKey::AutogradOther: return autogradother_backends;
    default: return DispatchKeySet();
  }
}
""",
    ENTRY: """
int registerKernel() { auto& k = kernels_[dispatch_key.has_value() ? *dispatch_key : DispatchKey::CompositeImplicitAutograd]; }
std::pair<const AnnotatedKernel&, const char*> OperatorEntry::computeDispatchTableEntryWithDebug(D& d, DispatchKey dispatch_key) const {
  if (auto direct = getKernelForDispatchKey(dispatch_key)) { return {*direct, "kernel"}; }
  if (dispatch_key == DispatchKey::Undefined || isIncludedInAlias(dispatch_key, DispatchKey::CompositeExplicitAutograd)) {
    if (auto r = getKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) { return {*r, "default backend kernel"}; }
  }
  bool has_backend_kernel = hasKernelForAnyDispatchKey(getBackendKeySetFromAutograd(dispatch_key)) ||
    hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
  if (isIncludedInAlias(dispatch_key, DispatchKey::CompositeImplicitAutograd)) {
    if (auto math = getKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) {
      if (dispatch_key == DispatchKey::AutogradOther && hasKernelForAnyDispatchKey(c10::autogradother_backends)) {
        return {ambiguous(), "ambiguous autogradother"};
      } else if (!has_backend_kernel) { return {*math, "math kernel"}; }
    }
  }
  if (isIncludedInAlias(dispatch_key, DispatchKey::Autograd)) {
    if (auto r = getKernelForDispatchKey(DispatchKey::Autograd)) { return {*r, "autograd kernel"}; }
  }
  if (isIncludedInAlias(dispatch_key, DispatchKey::FuncTorchBatchedDecomposition)) {
    if (auto r = getKernelForDispatchKey(DispatchKey::FuncTorchBatchedDecomposition)) { return {*r, "batched kernel"}; }
  }
  if (dispatcher.backendFallbackKernels_[ix].kernel.isValid()) { return {dispatcher.backendFallbackKernels_[ix], "backend fallback"}; }
  return {missingKernel(), "missing"};
}
""",
}
BACKENDS = MacroDefinition("BACKENDS", ("_", "extra"), 1, "_(CPU, extra) _(CUDA, extra) _(MPS, extra) _(Meta, extra)")
KINDS = MacroDefinition("KINDS", ("_",), 1, "_(Dense, ) _(Sparse, Sparse) _(NestedTensor, NestedTensor) _(AutogradFunctionality, Autograd)")
MACROS = (
    BACKENDS, KINDS, MacroDefinition("DEFINE", ("n", "_"), 4, "n##Bit,"), MacroDefinition("ONE", ("n", "prefix"), 5, "prefix##n,"),
    MacroDefinition("PER", ("full", "prefix"), 9, "StartOf##full##Backends, BACKENDS(ONE, prefix) EndOf##full##Backends = prefix##Meta,"),
)  # fmt: skip


@pytest.fixture(scope="session")
def key_texts():
    return TEXTS


@pytest.fixture(scope="session")
def key_macros():
    return MACROS
