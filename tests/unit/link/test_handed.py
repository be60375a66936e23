"""What runs of an object that a call is handed, and which called operator the chain goes on through."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

WEIGHTS = "struct Weights {\n  const Tensor& w;\n  Tensor times(const Tensor& x) const { return at::mine(x, w); }\n  Tensor plus(const Tensor& x) const { return at::theirs(x, w); }\n};\n"
CELL = "template <typename weights_t>\nstruct Cell {\n  Tensor operator()(const Tensor& x, const weights_t& weights) const {\n    return BODY;\n  }\n};\n"
ENTRY = "Tensor f_entry(const Tensor& self, const Tensor& w) {\n  return Cell<Weights>{}(self, Weights{w});\n}\n"


def called(cell):
    f = operator("f(Tensor self, Tensor w) -> Tensor", "CompositeImplicitAutograd", "at::native::f_entry", outcome="math kernel")
    others = [operator(f"{name}(Tensor self, Tensor w) -> Tensor", "CPU", f"at::native::{name}_entry") for name in ("mine", "theirs")]
    body = f"{WEIGHTS}{cell}{ENTRY}Tensor mine_entry(const Tensor& self, const Tensor& w) {{}}\nTensor theirs_entry(const Tensor& self, const Tensor& w) {{}}\n"
    maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{body}}}\n"}, f, *others)
    return [s.symbol for s in maker.chain(f, "CPU").steps if s.role == "calls"]


def test_of_an_object_run_the_methods_that_the_function_calls_which_gets_it():
    assert called(CELL.replace("BODY", "weights.times(x)")) == ["at::mine"]
    assert called(CELL.replace("BODY", "x")) == ["at::mine", "at::theirs"]  # nothing tells


def test_what_leads_forward_goes_on_through_what_does_before_the_way_back():
    f = operator("pool_well(Tensor self) -> Tensor", "CPU", "at::native::f_entry")
    others = [operator(f"{name}(Tensor self) -> Tensor", "CPU", f"at::native::{name}_entry") for name in ("pool", "pool_backward")]
    loops = "".join(f"Tensor {name}_entry(const Tensor& self) {{\n  parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {{}});\n}}\n" for name in ("pool", "pool_backward"))
    body = "Tensor f_entry(const Tensor& self) {\n  if (big) {\n    return at::pool(self);\n  } else {\n    return at::pool_backward(self);\n  }\n}\n"
    maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{loops}{body}}}\n"}, f, *others)
    assert [s.symbol for s in maker.chain(f, "CPU").steps if s.role == "entry"] == ["at::native::f_entry", "at::native::pool_entry"]


def test_the_functions_that_choose_a_kernel_for_a_lambda_stand_before_it():
    body = ("__global__ void wide_sm90(int p) {\n}\n__global__ void narrow_sm50(int p) {\n}\ntemplate <typename T> void newest(T cb) {\n  cb(wide_sm90);\n}\n"
            "template <typename T> void choose(T cb, int cc) {\n  if (cc < 60) {\n    cb(narrow_sm50);\n  }\n  newest(cb);\n}\n"
            "Tensor f_cuda(const Tensor& self) {\n  auto launchIt = [&](auto kernel_fn) {\n    kernel_fn<<<1, 2, 0, s>>>(3);\n  };\n  choose(launchIt, 80);\n}\n")
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
    maker, _ = made({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [(s.role, s.symbol.rpartition("::")[2], s.line) for s in maker.chain(f, "CUDA").steps][:4] == [
        ("entry", "f_cuda", 15), ("kernel", "choose", 9), ("kernel", "newest", 6), ("device", "wide_sm90", 2)]  # fmt: skip


def test_a_variable_that_points_to_one_of_two_functions():
    body = ("void hermitian(float* a) {\n  chetrf_(a);\n}\nvoid symmetric(float* a) {\n  csytrf_(a);\n}\n"
            "Tensor f_cpu(const Tensor& self, bool conj) {\n  auto run = conj ? hermitian : symmetric;\n  run(data);\n}\n")
    f = operator("f(Tensor self, bool conj) -> Tensor", "CPU", "at::native::f_cpu")
    maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [(s.symbol.rpartition("::")[2], s.branch) for s in maker.chain(f, "CPU").steps[1:]] == [("symmetric", ""), ("csytrf_", "!(conj)"), ("chetrf_", "conj")]


def test_a_variable_that_points_to_a_function_is_not_the_method_that_bears_its_name():
    files = {
        N + "cuda/Launcher.cuh": "namespace at::native {\nstruct Launcher {\n  static void launch(Params& p, Stream s) { other<<<1, 64>>>(p); }\n};\n}\n",
        N + "cuda/F.cu": "namespace at::native {\n__global__ void backward(Params p) {\n}\nvoid run_backward(Params& p, Stream s) {\n  backward<<<8, 64, 0, s>>>(p);\n}\n"
        "Tensor f_cuda(const Tensor& self) {\n  auto launch = &run_backward;\n  launch(params, stream);\n}\n}\n",
    }
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
    maker, _ = made(files, f)
    assert [(s.role, s.symbol.rpartition("::")[2]) for s in maker.chain(f, "CUDA").steps] == [("entry", "f_cuda"), ("kernel", "run_backward"), ("device", "backward")]


def test_a_class_that_is_a_template_argument_under_an_alias_of_the_function():
    body = ("template <typename op_t>\nstruct Select {\n  static Tensor apply(const Tensor& a) {\n    at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {\n      op_t::apply(b);\n    });\n  }\n};\n"
            "template <typename select_t>\nvoid outer(const Tensor& a) {\n  auto values = select_t::apply(a);\n}\n"
            "void f_cpu(const Tensor& self) {\n  using SelectMul = Select<Mul>;\n  outer<SelectMul>(self);\n}\n")  # fmt: skip
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")
    maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [(s.role, s.symbol.rpartition("::")[2], s.line) for s in maker.chain(f, "CPU").steps] == [("entry", "f_cpu", 14), ("kernel", "apply", 4), ("device", "lambda", 5)]
