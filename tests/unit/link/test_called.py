# SPDX-License-Identifier: BSD-3-Clause
"""Which operators a body calls, which of these calls a chain shows, and through which it goes on."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.model.operator import Origin, Registration


def composite(schema):
    """An operator with one kernel for all keys, which bears its name."""
    return operator(schema, "CompositeImplicitAutograd", f"at::native::{schema.partition('(')[0]}", outcome="math kernel")


def by_device(schema):
    """An operator with a kernel of its own for each device."""
    name = schema.partition("(")[0]
    return replace(
        operator(schema, "CPU, CUDA", ""),
        registrations=tuple(Registration(key, f"at::native::{name}_{key.lower()}", Origin.YAML) for key in ("CPU", "CUDA")),
    )


def test_what_reads_data_is_shown_among_the_calls_and_what_only_asks_is_not():
    files = {N + "S.cpp": """namespace at::native {
Scalar item(const Tensor& self) {
  if (self.is_quiet()) { return 0; }
  return at::_dense(self);
}
bool is_true(const Tensor& self) { return self.item(); }
Tensor f(const Tensor& self) {
  if (self.is_quiet()) { return self; }
  return at::is_true(self);
}
}
"""}
    operators = [
        composite("f(Tensor self) -> Tensor"), composite("is_true(Tensor self) -> bool"), composite("item(Tensor self) -> Scalar"),
        by_device("_dense(Tensor self) -> Scalar"), operator("is_quiet(Tensor self) -> bool", "CPU, CUDA", "at::native::is_quiet"),
    ]  # fmt: skip
    for shown in (("is_true", 9), ("item", 6), ("_dense", 4)):
        assert [(symbol, line) for role, symbol, line in steps(files, *operators, key="CPU") if role == "calls"] == [shown]
        operators.append(operators.pop(0))


def test_a_call_for_another_device_is_none_of_this_ones_and_hides_no_other_of_its_name():
    files = {N + "S.cpp": """namespace at::native {
static Tensor fused(const Tensor& self) { return at::fused_cell(self); }
Tensor f(const Tensor& self) {
  if (self.is_cuda()) {
    fused(self);
    return at::g(self, 1);
  }
  return at::g(self, 2);
}
}
"""}
    others = [operator("g(Tensor self, int n) -> Tensor"), operator("fused_cell(Tensor self) -> Tensor")]
    for top in (operator("f(Tensor self) -> Tensor", "CPU, CUDA", "at::native::f"), composite("f(Tensor self) -> Tensor")):
        assert [step for step in steps(files, top, *others, key="CPU") if step[0] != "entry"] == [("calls", "g", 8)]
        found = [("kernel", "fused", 2), ("calls", "fused_cell", 2), ("calls", "g", 6)]
        assert [step for step in steps(files, top, *others, key="CUDA") if step[0] != "entry"] == found


def test_of_two_tensors_one_may_have_another_layout():
    body = """namespace at::native {
Tensor f(const Tensor& self, const Tensor& other) {
  if (self.is_sparse() && !other.is_sparse()) { return at::g(self); }
  if (self.is_quantized()) { return at::h(self); }
  return other;
}
}
"""
    operators = [operator("f(Tensor self, Tensor other) -> Tensor"), operator("g(Tensor self) -> Tensor"), operator("h(Tensor self) -> Tensor")]
    for key, calls in (("SparseCPU", ["g"]), ("CPU", [])):
        top = replace(operators[0], registrations=(Registration(key, "at::native::f", Origin.YAML),), dispatch={key: "kernel"})
        assert [symbol for role, symbol, _ in steps({N + "S.cpp": body}, top, *operators[1:], key=key) if role == "calls"] == calls


def test_the_body_of_a_composite_is_that_of_all_devices():
    files = {N + "S.cpp": "namespace at::native {\nTensor f(const Tensor& self) {\n  if (self.is_cuda()) { return at::g(self); }\n  return at::h(self);\n}\n}\n"}
    others = [operator("g(Tensor self) -> Tensor"), operator("h(Tensor self) -> Tensor")]
    for top, calls in ((composite("f(Tensor self) -> Tensor"), ["h", "g"]), (operator("f(Tensor self) -> Tensor", "CPU", "at::native::f"), ["h"])):
        assert [symbol for role, symbol, _ in steps(files, top, *others, key="CPU") if role == "calls"] == calls


def test_a_member_of_what_is_no_tensor_is_no_operator():
    files = {"aten/src/ATen/core/TensorBase.h": "namespace at {\nclass TensorBase {\n  IntArrayRef sizes() const { return impl; }\n};\n}\n",
             "c10/util/ArrayRef.h": "namespace c10 {\nclass ArrayRef {\n  ArrayRef slice(size_t n) const { return n; }\n};\n"
             "class SymFloat {\n  SymFloat sqrt() const { return a; }\n};\n}\n",
             N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self) {
  auto rest = self.sizes().slice(1);
  auto size = self.sizes();
  size.slice(1);
  rest.slice(1);
  IntArrayRef other = size;
  other.slice(1);
  auto root = c10::SymFloat(at::g(self)).sqrt();
  auto either = size.empty() ? at::g(self) : self;
  either.slice(3);
  at::g(self.sizes()).sqrt();
  return self;
}
}
"""}
    operators = [
        composite("f(Tensor self) -> Tensor"), operator("slice(Tensor self, int n) -> Tensor"), operator("sqrt(Tensor self) -> Tensor"),
        operator("g(Tensor self) -> Tensor"),
    ]  # fmt: skip
    assert [(symbol, line) for role, symbol, line in steps(files, *operators, key="CPU") if role == "calls"] == [("g", 9), ("slice", 11), ("sqrt", 12)]


SOFT = {N + "Soft.cpp": """namespace at::native {
DEFINE_DISPATCH(norm_stub);
Tensor norm(const Tensor& self) { norm_stub(kCPU, self); return self; }
Tensor fill(const Tensor& self) { norm_stub(kCPU, self); return self; }
Tensor softmax(const Tensor& self) { return at::_softmax(self); }
Tensor _softmax(const Tensor& self) { norm_stub(kCPU, self); return self; }
Tensor safe_softmax(const Tensor& self) {
  auto out = at::softmax(self);
  at::norm(self);
  return out;
}
Tensor tidy(const Tensor& self) { return at::_check_tidy(self); }
Tensor _check_tidy(const Tensor& self) { norm_stub(kCPU, self); return self; }
Tensor other(const Tensor& self) {
  if (self.defined()) { at::softmax(self); }
  return at::norm(self);
}
Tensor twice(const Tensor& self, const Scalar& a) { return at::twice(self, wrapped(a)); }
Tensor twice(const Tensor& self, const Tensor& a) { norm_stub(kCPU, self); return self; }
Tensor typed(const Tensor& self) {
  at::fill(self);
  AT_DISPATCH_ALL_TYPES(self.scalar_type(), "typed", [&] { typed_loop<scalar_t>(self); });
  return self;
}
template <typename T> void typed_loop(const Tensor& self) { work(self); }
}
""", N + "cpu/SoftKernel.cpp": "namespace at::native {\nvoid norm_kernel(const Tensor& self) { go(self); }\nREGISTER_DISPATCH(norm_stub, &norm_kernel)\n}\n"}


def through(name, *more):
    """The operators and functions that a chain of `SOFT` enters below the first."""
    kernels = ("norm", "fill", "_softmax", "safe_softmax", "other", "tidy", "_check_tidy", "typed")
    operators = [operator(f"{n}(Tensor self) -> Tensor", "CPU", f"at::native::{n}") for n in kernels]
    operators += [composite("softmax(Tensor self) -> Tensor"), *more]
    operators.sort(key=lambda o: o.name != f"aten::{name}")
    return [symbol for role, symbol, _ in steps(SOFT, *operators, key="CPU") if role in ("entry", "kernel")][1:]


def test_a_composite_that_bears_the_name_is_followed_through_what_it_calls():
    assert through("safe_softmax") == ["softmax", "_softmax", "norm_kernel"]


def test_a_composite_of_another_name_that_is_called_in_some_cases_is_not_the_work():
    assert through("other") == ["norm", "norm_kernel"]


def test_a_check_is_not_the_work():
    assert through("tidy") == []


def test_of_equally_likely_overloads_the_caller_itself_is_not_meant():
    overloads = [operator(f"twice.{kind}(Tensor self, {kind} a) -> Tensor", "CPU", "at::native::twice") for kind in ("Scalar", "Tensor")]
    assert through("twice.Scalar", *overloads) == ["twice", "norm_kernel"]


def test_types_that_a_body_switches_over_itself_come_before_strangers():
    assert through("typed") == ["typed_loop"]


def test_what_is_named_alike_and_has_no_kernel_here_leaves_no_way_to_others():
    helper = operator("_normal_helper(Tensor self) -> Tensor", "CUDA", "at::native::_normal_helper")
    body = "namespace at::native {\nTensor normal(const Tensor& self) {\n  at::_normal_helper(self);\n  return at::fill(self);\n}\n}\n"
    files = {**SOFT, N + "Normal.cpp": body}
    operators = [operator("normal(Tensor self) -> Tensor", "CPU", "at::native::normal"), operator("fill(Tensor self) -> Tensor", "CPU", "at::native::fill")]
    for outcome, last in (("missing", "fill"), ("kernel", "norm_kernel")):
        found = steps(files, *operators, replace(helper, dispatch={"CPU": outcome}), key="CPU")
        assert found[-1][1] == last


def test_beside_its_own_way_an_entry_shows_the_operators_that_do_work_for_it_in_any_case():
    body = """namespace at::native {
Tensor renorm(const Tensor& self) {
  auto scale = at::norm(self);
  if (self.defined()) { at::fill(self); }
  at::part(self);
  norm_stub(kCPU, self);
  return at::_check_tidy(self);
}
}
"""
    operators = [operator(f"{name}(Tensor self) -> Tensor", "CPU", f"at::native::{name}") for name in ("renorm", "norm", "fill", "_check_tidy")]
    operators.append(operator("part(Tensor(a) self) -> Tensor(a)", "CPU", "at::native::norm"))
    found = steps({**SOFT, N + "Renorm.cpp": body}, *operators, key="CPU")
    assert [role for role, *_ in found] == ["entry", "stub", "registration", "kernel", "calls"]
    assert found[-1] == ("calls", "norm", 3)


def test_a_helper_that_holds_a_call_has_the_conditions_of_its_own_call():
    files = {N + "S.cpp": """namespace at::native {
static Tensor complex_part(const Tensor& self) { return at::g(self); }
static Tensor both_ways(const Tensor& self) { return at::h(self); }
Tensor f(const Tensor& self, bool fast) {
  if (self.is_complex()) { return complex_part(self); }
  if (fast) { both_ways(self); }
  if (!fast) { both_ways(self); }
  return self;
}
}
"""}
    operators = [composite("f(Tensor self, bool fast) -> Tensor"), operator("g(Tensor self) -> Tensor"), operator("h(Tensor self) -> Tensor")]
    maker, known = made(files, *operators)
    found = {s.symbol.rsplit("::", 1)[-1]: s.branch for s in maker.chain(known["aten::f"], "CPU").steps if s.role == "kernel"}
    assert found == {"complex_part": "self.is_complex()", "both_ways": "!(self.is_complex())"}


def test_the_first_node_of_a_graph_that_is_kept_is_no_added_step():
    body = ("Tensor f_mps(const Tensor& self, bool bias) {\n  auto cachedGraph = cache->LookUp(key);\n  if (!cachedGraph) {\n    if (bias) {\n"
            "      b = [mpsGraph additionWithPrimaryTensor:x secondaryTensor:y name:nil];\n    } else {\n      without(x);\n    }\n    out = [mpsGraph normalizationWithTensor:x name:nil];\n  }\n  run(cachedGraph);\n}\n")
    files = {N + "mps/operations/F.mm": f"namespace at::native {{\n{body}}}\n"}
    f = operator("f(Tensor self, bool bias) -> Tensor", "MPS", "at::native::f_mps")
    assert steps(files, f, key="MPS") == [("entry", "f_mps", 2), ("library", "normalizationWithTensor", 10), ("library", "additionWithPrimaryTensor", 6)]
    other = {path: text.replace("!cachedGraph", "!plain") for path, text in files.items()}
    assert steps(other, f, key="MPS")[1] == ("library", "additionWithPrimaryTensor", 6)


def test_a_graph_that_only_arranges_is_the_work_of_what_asks_for_no_more():
    for condition, steps_below in (("", ["join", "concatTensors"]), ("if (self.is_complex()) ", [])):
        files = {N + "Stack.cpp": "namespace at::native {\nTensor stack(const Tensor& self) { return at::join(self); }\n}\n",
                 N + "mps/operations/Join.mm": f"namespace at::native {{\nTensor join(const Tensor& self) {{\n  {condition}[mpsGraph concatTensors:a dimension:d name:nil];\n}}\n}}\n"}
        operators = [operator(f"{name}(Tensor self) -> Tensor", "MPS", f"at::native::{name}") for name in ("stack", "join")]
        assert [symbol for role, symbol, _ in steps(files, *operators, key="MPS")][2:] == steps_below


def notes(outcomes, key, *, written=True):
    """The notes of the calls of a composite whose called operator is served so."""
    body = "namespace at::native {\nTensor outer(const Tensor& self) {\n  return at::inner(self);\n}\n}\n"
    inner = replace(operator("inner(Tensor self) -> Tensor", "CUDA", "at::native::inner"), dispatch=outcomes)
    outer = composite("outer(Tensor self) -> Tensor") if written else replace(
        operator("outer.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CompositeExplicitAutograd", "at::outer_out", Origin.GENERATED, "default backend kernel"),
        generated_from="aten::inner",
    )
    outer = replace(outer, dispatch=dict.fromkeys((*outer.dispatch, key), next(iter(outer.dispatch.values()))))
    maker, _ = made({N + "Outer.cpp": body}, outer, inner)
    return [s.note.partition("; ")[2] for s in maker.chain(outer, key).steps if s.role == "calls"]


def test_a_call_says_when_the_operator_has_no_kernel_for_the_key():
    assert notes({"CUDA": "kernel"}, "CUDA") == [""]
    assert notes({"CUDA": "kernel"}, "CPU") == ["no kernel for CPU"]
    assert notes({"CUDA": "kernel", "MPS": "backend fallback"}, "MPS") == ["no kernel for MPS"]
    assert notes({"CUDA": "kernel"}, "CPU", written=False) == ["no kernel for CPU"]


def test_kernels_of_other_layouts_are_named_where_the_dense_one_is_missing():
    assert notes({"SparseCUDA": "kernel", "SparseCsrCUDA": "kernel", "QuantizedCPU": "kernel"}, "CUDA") == ["no kernel for CUDA, only for SparseCUDA, SparseCsrCUDA"]


def test_nothing_is_said_where_kernels_may_stand_outside_the_tree_or_nothing_is_known():
    assert notes({"CUDA": "kernel"}, "XPU") == [""]
    assert notes({}, "CPU") == [""]
    assert notes({"CPU": "not in a wheel"}, "CPU") == [""]


def test_a_structured_operator_has_no_kernel_where_the_one_that_its_wrapper_calls_has_none():
    body = "namespace at::native {\nTensor outer(const Tensor& self) {\n  return at::inner(self);\n}\n}\n"
    inner = replace(operator("inner(Tensor self) -> Tensor", "CPU, MPS", "at::native::inner"), structured_delegate="inner.out", dispatch={"CPU": "kernel", "MPS": "default backend kernel"})
    for on_mps, told in (("backend fallback", "no kernel for MPS"), ("kernel", "")):
        out = replace(operator("inner.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CPU", "at::native::inner_out"), dispatch={"CPU": "kernel", "MPS": on_mps})
        maker, _ = made({N + "Outer.cpp": body}, composite("outer(Tensor self) -> Tensor"), inner, out)
        for key, expected in (("MPS", told), ("CPU", "")):
            chain = maker.chain(maker.tree.operators[0], key)
            assert [s.note.partition("; ")[2] for s in chain.steps if s.role == "calls"][:1] == [expected]


def test_an_operator_whose_schema_cannot_be_read_has_a_chain_all_the_same():
    body = "namespace at::native {\nTensor odd(const Tensor& self) {\n  return at::inner(self);\n}\n}\n"
    for base, called in (("odd", "inner"), ("odd", "is_inner")):
        odd = replace(operator(f"{base}(Tensor self) -> Tensor", "CPU", "at::native::odd"), schema="aten::odd(Tensor")
        inner = operator(f"{called}(Tensor self) -> {'bool' if called != 'inner' else 'Tensor'}", "CPU", f"at::native::{called}")
        maker, _ = made({N + "Odd.cpp": body.replace("inner", called)}, odd, inner)
        assert maker.chain(odd, "CPU").steps[0].symbol == "at::native::odd"


def test_what_may_be_another_tensor_is_a_tensor_behind_an_arrow():
    files = {"aten/src/ATen/ExpandUtils.h": "namespace at {\nstd::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> widen(const Tensor& a, const Tensor& b);\nNode* node_of(const Tensor& a);\n}\n",
             N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self, const Tensor& other) {
  auto [_self, _other] = widen(self, other);
  auto node = node_of(self);
  c10::MaybeOwned<Tensor> kept = borrow(other);
  node->cosh();
  return _self->sinh().add_(_other->tanh(), kept->exp());
}
}
"""}  # fmt: skip
    others = [operator(f"{name}(Tensor self) -> Tensor") for name in ("sinh", "cosh", "tanh", "exp")]
    found = steps(files, composite("f(Tensor self, Tensor other) -> Tensor"), *others, key="CPU")
    assert [(symbol, line) for role, symbol, line in found if role == "calls"] == [("sinh", 7), ("tanh", 7), ("exp", 7)]


def test_what_a_function_on_the_main_way_calls_on_the_other_side_of_an_if_is_a_road_of_its_own_and_first_where_the_defaults_take_it():
    files = {N + "S.cpp": """namespace at::native {
DEFINE_DISPATCH(sample_stub);
void sample_kernel(const Tensor& out) {}
REGISTER_DISPATCH(sample_stub, &sample_kernel);
Tensor rare_cpu(const Tensor& self) { sample_stub(kCPU, self); }
Tensor sample_out(const Tensor& self, bool again, Tensor& out) {
  if (!again || n == 1) {
    at::zeros(n);
    at::rare(self);
    return out;
  }
  sample_stub(self.device().type(), out);
}
Tensor sample(const Tensor& self, bool again) { return sample_out(self, again, out); }
}
"""}
    others = by_device("rare(Tensor self) -> Tensor"), by_device("zeros(int n) -> Tensor")
    ways = [("calls", "rare", 9), ("stub", "sample_stub", 2), ("registration", "sample_stub", 4), ("kernel", "sample_kernel", 3)]
    for default, expected in (("=False", ways), ("=True", [*ways[1:], ways[0]])):
        f = operator(f"sample(Tensor self, bool again{default}) -> Tensor", "CPU", "at::native::sample")
        assert steps(files, f, *others, key="CPU") == [("entry", "sample", 14), ("kernel", "sample_out", 6), *expected]


def test_a_kernel_of_another_layout_may_call_the_operator_itself_for_the_dense_tensors_in_its_own():
    files = {N + "quantized/S.cpp": """namespace at::native {
DEFINE_DISPATCH(fast_stub);
void fast_kernel(const Tensor& out) {}
REGISTER_DISPATCH(fast_stub, &fast_kernel);
Tensor join_cpu(const Tensor& self) { fast_stub(kCPU, self); }
Tensor join_quantized(const Tensor& self) {
  if (in_order) {
    return fast_stub(kCPU, self);
  }
  return at::join(self.values());
}
}
"""}
    f = operator("join(Tensor self) -> Tensor", "CPU", "at::native::join_cpu")
    f = replace(f, registrations=(*f.registrations, Registration("QuantizedCPU", "at::native::join_quantized", Origin.YAML)), dispatch={"CPU": "kernel", "QuantizedCPU": "kernel"})
    assert ("calls", "join", 10) in steps(files, f, key="QuantizedCPU")
    assert "calls" not in [role for role, _, _ in steps(files, f, key="CPU")]


def test_an_object_made_for_one_method_runs_its_constructor_and_that_method():
    cls = ("struct Impl {\n  Impl(const Tensor& self) {\n    x = at::exp(self);\n  }\n  Tensor one() {\n    return at::sin(x);\n  }\n"
           "  Tensor other() {\n    return at::cos(x);\n  }\n  Tensor x;\n};\n")
    more = [operator(f"{name}(Tensor self) -> Tensor", "CPU", f"at::native::{name}_cpu") for name in ("exp", "sin", "cos")]
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")

    def called(line):
        maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{cls}Tensor f_cpu(const Tensor& self) {{\n  {line}\n}}\n}}\n"}, f, *more)
        return sorted({s.symbol for s in maker.chain(f, "CPU").steps if s.role == "calls"})

    assert called("return Impl(self).one();") == ["at::exp", "at::sin"]
    assert called("return Impl(self).other();") == ["at::cos", "at::exp"]


def test_a_kernel_of_dense_tensors_does_not_enter_its_own_operator_again():
    files = {N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self, IntArrayRef size) {
  return at::f(self, size, nullptr);
}
Tensor conj(const Tensor& self) {
  return self.conj();
}
Tensor again(const Tensor& self) {
  if (self.is_complex()) {
    return at::again(self.real());
  }
  return at::g(self);
}
}
"""}
    ones = [composite("conj(Tensor self) -> Tensor"), composite("again(Tensor self) -> Tensor"), by_device("g(Tensor self) -> Tensor")]
    vec = replace(composite("f.vec(Tensor self, int[]? size) -> Tensor"), registrations=(Registration("CompositeImplicitAutograd", "at::native::f", Origin.YAML),))
    other = by_device("f(Tensor self, int[] size, int? n) -> Tensor")
    assert [s.note for s in made(files, vec, other, *ones)[0].chain(vec, "CPU").steps if s.role == "calls"] == ["aten::f"]
    assert steps(files, ones[0], vec, other, *ones[1:], key="CPU") == [("entry", "conj", 5)]
    assert [s for role, s, _ in steps(files, ones[1], ones[0], vec, other, ones[2], key="CPU") if role == "calls"] == ["again", "g"], "under a condition it may"


def test_what_the_conditions_around_the_call_of_a_stub_settle_holds_in_its_kernel():
    files = {N + "S.cpp": """namespace at::native {
DEFINE_DISPATCH(draw_stub);
Tensor f(const Tensor& self, int64_t n, bool replaced) {
  if (!replaced || n == 1) {
    return at::g(self);
  }
  draw_stub(self.device().type(), self, n);
}
}
""", N + "cuda/S.cu": """namespace at::native {
__global__ void once(int n) {}
__global__ void many(int n) {}
void draw_kernel(const Tensor& result, int64_t NAME) {
  if (NAME == 1 && room()) {
    once<<<8, 8>>>(1);
  } else {
    many<<<8, 8>>>(1);
  }
}
REGISTER_DISPATCH(draw_stub, &draw_kernel)
}
"""}
    f = operator("f(Tensor self, int n, bool replaced) -> Tensor", "CUDA", "at::native::f")
    for name, kernels in (("n", ["many"]), ("m", ["many", "once"])):
        renamed = {path: text.replace("NAME", name) for path, text in files.items()}
        assert sorted(s for role, s, _ in steps(renamed, f, by_device("g(Tensor self) -> Tensor")) if role == "device") == kernels


def test_thrust_on_the_host_is_no_library_of_a_gpu():
    files = {N + "cuda/S.cu": "namespace at::native {\nTensor f(const Tensor& self) {\n  thrust::sort_by_key(POLICY, a, b, c);\n}\n}\n"}
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f")
    for policy, ends in (("thrust::host", []), ("policy", [("library", "sort_by_key", 3)])):
        assert steps({path: text.replace("POLICY", policy) for path, text in files.items()}, f)[1:] == ends


def test_a_call_in_any_case_stands_for_one_in_a_special_case():
    files = {N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self) {
  if (self.size(0) == 7) {
    at::g(self, 1);
  }
  return at::g(self, 2);
}
}
"""}
    found = steps(files, composite("f(Tensor self) -> Tensor"), by_device("g(Tensor self, int n) -> Tensor"), key="CPU")
    assert found[1:2] == [("calls", "g", 6)]


def test_an_early_way_out_for_what_is_not_empty_is_an_alternative():
    files = {N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self, IntArrayRef dims) {
  if (SIGNdims.empty()) {
    return at::g(self);
  }
  return at::h(self);
}
}
"""}
    for sign, branch in (("!", "dims.empty()"), ("", "")):
        texts = {path: text.replace("SIGN", sign) for path, text in files.items()}
        f = composite("f(Tensor self, int[] dims) -> Tensor")
        found = made(texts, f, by_device("g(Tensor self) -> Tensor"), by_device("h(Tensor self) -> Tensor"))[0].chain(f, "CPU").steps
        assert [s.branch for s in found if s.symbol == "at::h"] == [branch]


def test_what_leaves_a_function_that_a_macro_made_denies_its_condition_to_the_rest():
    macro = ("#define MAKE(name) Tensor name(const Tensor& self) { \\\n  if (fast(self)) { \\\n    return at::g(self); \\\n  } \\\n  return at::h(self); \\\n}\n"
             "namespace at::native {\nMAKE(f)\n}\n")
    f = composite("f(Tensor self) -> Tensor")
    found = made({N + "S.cpp": macro}, f, by_device("g(Tensor self) -> Tensor"), by_device("h(Tensor self) -> Tensor"))[0].chain(f, "CPU").steps
    assert [(s.symbol, s.branch) for s in found if s.role == "calls"] == [("at::g", "fast(self)"), ("at::h", "!(fast(self))")]


def test_a_factory_has_no_kernel_for_tensors_of_another_layout():
    files = {
        N + "S.cpp": "namespace at::native {\nTensor f(IntArrayRef size) {\n  return make(size);\n}\n}\n",
        N + "sparse/cuda/G.cu": "namespace at::native {\n__global__ void k(int n) {}\nTensor f_sparse(IntArrayRef size) {\n  k<<<8, 8>>>(1);\n}\n}\n",
    }
    for argument, entries in (("int[] size", ["f"]), ("Tensor size", ["f", "f_sparse"])):
        one = operator(f"f({argument}) -> Tensor", "CUDA, SparseCUDA", "at::native::f")
        one = replace(one, registrations=(one.registrations[0], replace(one.registrations[1], kernel="at::native::f_sparse")), dispatch={"CUDA": "kernel", "SparseCUDA": "kernel"})
        assert [symbol for role, symbol, _ in steps(files, one) if role == "entry"] == entries


def test_a_kernel_with_another_way_out_may_enter_its_own_operator():
    text = "namespace at::native {\nTensor f(const Tensor& self) {\n  EXIT\n  return at::f(ARGUMENT);\n}\n}\n"
    for way_out, argument, calls in (("", "self", []), ("if (self.dim() == 2) { return self; }", "self.squeeze(0)", ["f"]), ("", "self.cpu()", ["f"])):
        files = {N + "S.cpp": text.replace("EXIT", way_out).replace("ARGUMENT", argument)}
        assert [s for role, s, _ in steps(files, composite("f(Tensor self) -> Tensor"), key="CPU") if role == "calls"] == calls, argument


def test_what_conditions_settle_holds_for_the_same_variables_alone():
    text = """namespace at::native {
__global__ void yes(int n) {}
__global__ void no(int n) {}
void g(const Tensor& self, const Tensor& w) {
  if (w.defined()) {
    yes<<<8, 8>>>(1);
  } else {
    no<<<8, 8>>>(1);
  }
}
Tensor f(const Tensor& self, Tensor w) {
  if (!w.defined() && self.dim() > 3) {
    BETWEEN
    g(self, HANDED);
  }
}
}
"""
    f = operator("f(Tensor self, Tensor w) -> Tensor", "CUDA", "at::native::f")
    for between, handed, kernels in (("", "w", ["no"]), ("w = at::ones_like(self);", "w", ["no", "yes"]), ("", "other", ["no", "yes"])):
        files = {N + "cuda/S.cu": text.replace("BETWEEN", between).replace("HANDED", handed)}
        assert sorted(s for role, s, _ in steps(files, f) if role == "device") == kernels, (between, handed)
    many = " && ".join(f"quite_a_long_name{n}" for n in range(9))
    cut = text.replace("!w.defined() && self.dim() > 3", f"!w.defined() && {many} || other").replace("BETWEEN", "").replace("HANDED", "w")
    assert sorted(s for role, s, _ in steps({N + "cuda/S.cu": cut}, f) if role == "device") == ["no", "yes"], "a condition whose end is not known"
