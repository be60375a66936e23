# SPDX-License-Identifier: BSD-3-Clause
"""What most people run: what an argument's default asks for, the last dimension."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.link.conditions import weight
from cartographer.link.defaults import asked_for, names_in_kernel

ONE, TWO, ELSE = ("p == static_cast<double>(1)",), ("val == 2.0 && p == 2",), ("!(p == 2)",)
SCHEMA = "aten::f(Tensor self, Scalar ord=2, int dim=1) -> Tensor"


def test_of_ways_that_a_number_tells_apart_the_one_for_the_default_is_usual():
    assert asked_for([ONE, TWO, ELSE, ()], SCHEMA) == {TWO}
    assert asked_for([TWO, ELSE], SCHEMA) == frozenset()  # nothing else is asked for
    assert asked_for([ONE, TWO], SCHEMA.replace("ord=2", "ord")) == frozenset()
    assert asked_for([ONE, TWO], SCHEMA.replace("Scalar ord=2", "int ord=2")) == frozenset()
    assert asked_for([ONE, TWO], "no schema") == frozenset()


def test_a_functor_for_the_default_comes_first():
    body = ("template <typename func_t> __global__ void reduce_kernel(func_t f) {}\n"
        "template <typename func_t> void gpu_reduce_kernel(TensorIterator& iter, const func_t& f) { reduce_kernel<func_t><<<8, 64>>>(f); }\n"
        + "".join(f"struct Norm{n}Ops {{\n  float reduce(float a) {{ return a; }}\n  float combine(float a) {{ return a; }}\n  float project(float a) {{ return a; }}\n}};\n"
                  for n in ("", "One", "Two"))
        + "void f_cuda(const Tensor& self) {\n  if (p == 1) {\n    gpu_reduce_kernel(iter, NormOneOps{});\n  } else if (p == 2) {\n    gpu_reduce_kernel(iter, NormTwoOps{});\n"
        "  } else {\n    gpu_reduce_kernel(iter, NormOps{});\n  }\n}\n")  # fmt: skip
    for default, first in (("=2", "NormTwoOps"), ("", "NormOps")):
        f = operator(f"norm(Tensor self, Scalar ord{default}) -> Tensor", "CUDA", "at::native::f_cuda")
        found = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f)
        assert next(s for role, s, _ in found if role == "device") == first


def test_the_last_dimension_is_the_usual_one():
    last = "input_.ndimension() > 0 && dim_ == input_.ndimension() - 1"
    assert weight((last,)) < weight((f"!({last})",))
    assert weight(("n == input.size(0) - 1",)) > 0


def test_what_the_defaults_rule_out_is_not_the_main_way_though_it_says_more_of_itself():
    body = ("__global__ void inverse_kernel(int n) {\n}\nvoid deep(const Tensor& t) {\n  cub::DeviceSelect::Unique(t);\n}\n"
            "void f_cuda(const Tensor& self, bool inverse) {\n  if (!inverse) {\n    n = 0;\n  } else {\n    inverse_kernel<<<8, 64>>>(1);\n  }\n  deep(self);\n}\n")  # fmt: skip
    for default, first in (("=False", "Unique"), ("", "inverse_kernel")):
        f = operator(f"f(Tensor self, bool inverse{default}) -> Tensor", "CUDA", "at::native::f_cuda")
        found = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f)
        assert next(s for role, s, _ in found if role in ("device", "library")) == first


def test_what_people_call_through_another_operator_has_the_defaults_of_that_one():
    body = ("__global__ void each_kernel(int n) {\n}\n__global__ void mean_kernel(int n) {\n}\n"
            "void f_cuda(const Tensor& self, int64_t reduction) {\n  if (reduction == Reduction::Mean) {\n    mean_kernel<<<8, 64>>>(1);\n  } else {\n"
            "    each_kernel<<<8, 64>>>(1);\n  }\n}\n")  # fmt: skip
    f = operator("loss_forward(Tensor self, int reduction) -> Tensor", "CUDA", "at::native::f_cuda")
    for default, first in (("=1", "mean_kernel"), ("", "each_kernel")):
        public = operator(f"loss(Tensor self, int reduction{default}) -> Tensor", "CUDA", "at::native::g")
        found = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f, public)
        assert next(s for role, s, _ in found if role == "device") == first, default


def test_a_default_is_followed_through_a_stub_by_the_name_that_the_kernel_gives_it():
    files = {
        N + "F.cpp": "namespace at::native {\nDEFINE_DISPATCH(factor_stub);\nTensor f(const Tensor& self, bool pivot) {\n"
        "  factor_stub(self.device().type(), self, ARGUMENT);\n}\n}\n",
        N + "cuda/F.cu": "namespace at::native {\n__global__ void plain_kernel(int n) {\n}\n__global__ void pivoted_kernel(int n) {\n}\n"
        "void factor(const Tensor& input, bool compute_pivots) {\n  if (!compute_pivots) {\n    plain_kernel<<<8, 64>>>(1);\n  } else {\n    pivoted_kernel<<<8, 64>>>(1);\n  }\n}\n"
        "REGISTER_DISPATCH(factor_stub, &factor)\n}\n",
    }
    f = operator("f(Tensor self, bool pivot=True) -> Tensor", "CUDA", "at::native::f")
    for argument, first in (("pivot", "pivoted_kernel"), ("other()", "plain_kernel")):
        found = steps({path: text.replace("ARGUMENT", argument) for path, text in files.items()}, f)
        assert next(s for role, s, _ in found if role == "device") == first
    assert names_in_kernel(["self", "pivot"], made(files, f)[0].tree.index.named("factor")[0], f.schema) == ("input", "compute_pivots")
