# SPDX-License-Identifier: BSD-3-Clause
"""The functions of TH and THC: one body for all types, called under a name that a macro pastes together."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import made, operator, steps

TH = {
    "aten/src/TH/THTensor.h": "#define THTensor_(NAME) TH_CONCAT_4(TH,Real,Tensor_,NAME)\n#define OTHER_(NAME) TH_CONCAT_4(TH,Fixed,Tensor_,NAME)\n",
    "aten/src/TH/THGenerateFloatType.h": "#define Real Float\n#include TH_GENERIC_FILE\n#undef Real\n",
    "aten/src/TH/THGenerateDoubleType.h": "#define Real Double\n#include TH_GENERIC_FILE\n#undef Real\n",
    "aten/src/TH/generic/THTensorMath.cpp": """#ifndef TH_GENERIC_FILE
#define TH_GENERIC_FILE "TH/generic/THTensorMath.cpp"
#else
static void THTensor_(checkIndex)(int64_t i) { THArgCheck(i); }
void THTensor_(put)(THTensor *t, int64_t i)
{
  THTensor_(checkIndex)(i);
  t->data[i] = 1;
}
void THTensor_(renorm)(THTensor *t) {
  THTensor_(scale)(t);
}
void THTensor_(scale)(THTensor *t) {
  at::parallel_for(0, 1, 1, [&](int64_t a) { t[a] = 1; });
}
#endif
""",
    "aten/src/ATen/LegacyTHFunctionsCPU.cpp": """namespace at { namespace native { namespace legacy { namespace cpu {
Tensor & _th_put_(Tensor & self) {
  switch (dtype) {
    case ScalarType::Float: { THFloatTensor_put(self_, 1); break; }
    case ScalarType::Double: { THDoubleTensor_put(self_, 1); break; }
  }
}
Tensor _th_renorm(const Tensor & self) { THFloatTensor_renorm(self_); }
Tensor _th_none(const Tensor & self) { THOddTensor_renorm(self_); }
}}}}
""",
}


def chain(name):
    return steps(TH, operator(f"{name}(Tensor self) -> Tensor", "CPU", f"at::native::legacy::cpu::_th_{name}"), key="CPU")


def test_a_name_with_a_types_word_in_it_leads_to_the_one_body():
    assert chain("put_") == [("entry", "_th_put_", 2), ("kernel", "THTensor_(put)", 5)]


def test_generic_code_calls_generic_code_down_to_its_loop():
    assert chain("renorm") == [("entry", "_th_renorm", 8), ("kernel", "THTensor_(renorm)", 10), ("kernel", "THTensor_(scale)", 13), ("device", "lambda", 14)]


def test_a_word_that_is_no_type_leads_nowhere_and_the_step_says_what_it_is():
    assert chain("none") == [("entry", "_th_none", 9)]
    put = operator("put_(Tensor self) -> Tensor", "CPU", "at::native::legacy::cpu::_th_put_")
    maker, _ = made(TH, put)
    assert maker.chain(put, "CPU").steps[1].note == "generic code, compiled once for each type"
