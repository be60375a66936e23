"""Metal kernels whose names a conditional operator chooses."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

from cartographer.link.composed import composed

KERNELS = "".join(f"kernel void {name}(device float* p [[buffer(0)]]) {{\n}}\n" for name in ("take_from", "put_into", "put_into_slowly", "wide", "narrow", "add_to_32bit_float_idx32"))
NAMED = (
    "static std::string nameOf(ScalarType type, bool take, bool add, bool slow) {\n"
    '  std::string name = take ? "take_from_"\n      : (add && (type != kBool)) ? "add_to_" : (slow ? "put_into_slowly_" : "put_into_");\n'
    '  name += std::to_string(8);\n  return name;\n}\n'
)  # fmt: skip
ASKED = "static void run(Tensor& t, bool take, bool add) {\n  const bool slow = deterministic() && !add;\n  auto name = nameOf(t.scalar_type(), take, add, slow);\n  auto state = lib.getPipelineStateForFunc(name);\n}\n"


def device(body, key="MPS"):
    files = {N + "mps/operations/G.mm": f"namespace at::native {{\n{body}}}\n", N + "mps/kernels/G.metal": KERNELS}
    g = operator("g(Tensor self) -> Tensor", key, "at::native::g_mps")
    return [(s.symbol, s.branch) for s in made(files, g)[0].chain(g, key).steps if s.role == "device"]


def test_a_name_that_a_function_chooses_by_what_it_is_called_with():
    body = NAMED + ASKED + "Tensor g_mps(const Tensor& self) {\n  run(self, TAKE, add);\n}\n"
    assert device(body.replace("TAKE", "true")) == [("take_from", "")]
    usual, *others = device(body.replace("TAKE", "false"))
    assert usual == ("put_into", "!(add && (t.scalar_type() != kBool)) && !(slow)")
    assert sorted(others) == [("add_to_32bit_float_idx32", "add && (t.scalar_type() != kBool)"), ("put_into_slowly", "!(add && (t.scalar_type() != kBool)) && slow")]


def test_names_chosen_where_the_kernel_is_asked_for():
    asked = "Tensor g_mps(const Tensor& self) {\n  auto state = lib.getPipelineStateForFunc(NAME);\n}\n"
    assert device(asked.replace("NAME", 'far ? "wide" : "narrow"')) == [("narrow", "!(far)"), ("wide", "far")]
    assert device(asked.replace("  auto", '  const std::string name = far ? "wide" : "narrow";\n  auto').replace("NAME", "name")) == [("narrow", "!(far)"), ("wide", "far")]


def test_names_chosen_by_what_a_call_leaves_to_a_default():
    asked = 'void ask(const Tensor& t, bool far = false);\nvoid ask(const Tensor& t, bool far) {\n  auto state = lib.getPipelineStateForFunc(far ? "wide" : "narrow");\n}\n'
    assert device(asked + "Tensor g_mps(const Tensor& self) {\n  ask(self);\n}\n") == [("narrow", "")]


def test_what_is_chosen_is_but_a_part_of_the_name():
    asked = 'Tensor g_mps(const Tensor& self) {\n  auto state = lib.getPipelineStateForFunc("put_into" + (slow ? "_slowly" : ""));\n}\n'
    assert device(asked) == [("put_into", "!(slow)"), ("put_into_slowly", "slow")]


PARTS = "".join(f"kernel void {name}(device float* p [[buffer(0)]]) {{\n}}\n" for name in ("fill_dense_32bit", "fill_spread_32bit", "fill_strided_32bit", "sum_inner_float", "sum_outer_float", "sum_any_float", "sum_complex_float"))


def parts(body):
    files = {N + "mps/operations/G.mm": f"namespace at::native {{\n{body}}}\n", N + "mps/kernels/G.metal": PARTS}
    g = operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps")
    return [(s.symbol, s.branch, s.note.rpartition(":")[2]) for s in made(files, g)[0].chain(g, "MPS").steps if s.role == "device"]


def test_a_field_of_a_format_is_what_a_variable_chooses():
    body = ('Tensor& g_mps(Tensor& self) {\n  const auto how = dense ? "dense" : spread ? "spread" : "strided";\n'
            '  auto state = lib.getPipelineStateForFunc(fmt::format("fill_{}_{}", how, bits(self)));\n}\n')  # fmt: skip
    assert sorted(parts(body)) == [("fill_dense_32bit", "dense", "4"), ("fill_spread_32bit", "!(dense) && spread", "4"), ("fill_strided_32bit", "!(dense) && !(spread)", "4")]


def test_a_name_that_is_set_in_several_places_is_each_under_its_conditions():
    body = ('static void scan(const Tensor& self, const std::string& op) {\n  std::string name;\n  if (ordered) {\n    name = op + "_" + (inner ? "inner_" : "outer_") + type(self);\n'
            '  } else {\n    name = op + "_any_" + type(self);\n  }\n  auto state = lib.getPipelineStateForFunc(name);\n}\nTensor& g_mps(Tensor& self) {\n  scan(self, "sum");\n}\n')  # fmt: skip
    assert sorted(parts(body)) == [("sum_any_float", "!(ordered)", "9"), ("sum_inner_float", "ordered && inner", "9"), ("sum_outer_float", "ordered && !(inner)", "9")]


def test_what_is_set_once_and_not_where_it_is_declared_may_be_what_it_was_before():
    body = ('Tensor& g_mps(Tensor& self) {\n  std::string how("dense");\n  if (far) {\n    how = "strided";\n  }\n  const auto size = wide ? "64bit" : "32bit";\n'
            '  auto state = lib.getPipelineStateForFunc("fill_" + how + "_" + size);\n}\n')  # fmt: skip
    assert ("fill_dense_32bit", "!(wide)", "8") in parts(body)
    assert ("fill_strided_32bit", "!(wide)", "7") in parts(body.replace('how("dense")', 'how = "strided"').replace('    how = "strided";\n', ""))


def test_what_one_request_writes_is_no_part_of_another():
    body = ('static void run(const Tensor& self, const std::string& name) {\n  if (self.is_complex()) {\n    state = lib.getPipelineStateForFunc(fmt::format("{}_complex_{}", name, type(self)));\n  } else {\n'
            '    state = lib.getPipelineStateForFunc(fmt::format("{}_any_{}", name, type(self)));\n  }\n}\nTensor& g_mps(Tensor& self) {\n  run(self, "sum");\n}\n')  # fmt: skip
    assert parts(body) == [("sum_any_float", "!(self.is_complex())", "6"), ("sum_complex_float", "self.is_complex()", "4")]


RUN = ('void run(const Tensor& self, const std::string& name, std::optional<Scalar> alpha = std::nullopt);\nvoid run(const Tensor& self, const std::string& name, std::optional<Scalar> alpha) {\n'
       '  std::string key;\n  if (strided) {\n    key = fmt::format("{}_strided_{}", name, bits(self));\n  } else {\n'
       '    key = alpha.has_value() ? fmt::format("{}_spread_{}", name, bits(self)) : fmt::format("{}_dense_{}", name, bits(self));\n  }\n'
       '  auto state = lib.getPipelineStateForFunc(key);\n}\n')  # fmt: skip


def test_each_call_asks_for_the_kernel_whose_name_it_hands_over():
    more = "".join(f"kernel void {name}(device float* p [[buffer(0)]]) {{\n}}\n" for name in ("root_dense_32bit", "root_strided_32bit", "root_spread_32bit"))
    body = ('void by_name(const Tensor& self, const std::string& name) {\n  run(self, name, Scalar(2));\n}\n'
            'Tensor& g_mps(Tensor& self) {\n  if (exponent == 2) {\n    run(self, "fill");\n    return self;\n  }\n  by_name(self, "root");\n}\n')  # fmt: skip
    files = {N + "mps/operations/G.mm": f"namespace at::native {{\n{RUN}{body}}}\n", N + "mps/kernels/G.metal": PARTS + more}
    g = operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps")
    found = sorted((s.symbol, s.branch) for s in made(files, g)[0].chain(g, "MPS").steps if s.role == "device")
    assert found == [
        ("fill_dense_32bit", "exponent == 2 && !(strided)"), ("fill_strided_32bit", "exponent == 2 && strided"),
        ("root_spread_32bit", "!(exponent == 2) && !(strided)"), ("root_strided_32bit", "!(exponent == 2) && strided"),
    ]  # fmt: skip


def test_variables_that_are_put_together_from_variables():
    kernels = "".join(f"kernel void {name}(device float* p [[buffer(0)]]) {{\n}}\n" for name in ("mm_few_float", "mm_rows_float_bm16", "mm_rows_tn_float", "mm_k_float_bm16"))
    body = ('Tensor& g_mps(Tensor& self) {\n  const auto mode = rows ? "rows" : "k";\n  const char a = plain ? \'n\' : \'t\';\n'
            '  const auto tiled = fmt::format("mm_{}_{}_bm{}", mode, type(self), bm);\n  const auto wide = fmt::format("mm_rows_{}n_{}", a, type(self));\n'
            '  const auto few = fmt::format("mm_few_{}", type(self));\n  const auto name = small ? few : mpp ? wide : tiled;\n'
            '  auto state = lib.getPipelineStateForFunc(name);\n}\n')  # fmt: skip
    files = {N + "mps/operations/G.mm": f"namespace at::native {{\n{body}}}\n", N + "mps/kernels/G.metal": kernels}
    g = operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps")
    assert sorted((s.symbol, s.branch) for s in made(files, g)[0].chain(g, "MPS").steps if s.role == "device") == [
        ("mm_few_float", "small"), ("mm_k_float_bm16", "!(small) && !(mpp) && !(rows)"), ("mm_rows_float_bm16", "!(small) && !(mpp) && rows"),
        ("mm_rows_tn_float", "!(small) && mpp && !(plain)"),
    ]  # fmt: skip


def test_strings_that_an_expression_makes():
    looked = {"how": [('far ? wide : "narrow"', ())], "wide": [('"wide"', ())], "end": [('"_a"', ("c",)), ('"_b"', ("!(c)",))]}
    def look(name):
        return looked.get(name, ())
    assert composed('"x_" + how', look) == [("x_wide", ("far",)), ("x_narrow", ("!(far)",))]
    assert composed("how + end", look) == [(f"{a}{b}", (c, d)) for a, c in (("wide", "far"), ("narrow", "!(far)")) for b, d in (("_a", "c"), ("_b", "!(c)"))]
    assert composed('fmt::format("{}{}_{}", how, c ? end : "_c", type(how))', look) == [
        (f"{a}{b}_{{}}", (c, d)) for a, c in (("wide", "far"), ("narrow", "!(far)")) for b, d in (("_a", "c"), ("_c", "!(c)"))
    ]  # fmt: skip
    assert composed("a + b(c, d) + ((how))", look)[0] == ("{}{}wide", ("far",))
    for strange in ("", "((", '"', "?", "a ?", "a ? b", "how + ", "fmt::format(", 'fmt::format("{}")', "how" + " + how" * 50):
        assert composed(strange, look)
    assert composed("self", lambda _name: [('self + "x"', ())])[0][1] == ()


def test_what_a_call_gives_for_an_optional_settles_a_flag_that_asks_for_it():
    body = ("static void pad(const Tensor& t, const std::optional<Tensor>& grad_opt) {\n  const Tensor& grad = *(at::borrow_from_optional_tensor(grad_opt));\n"
            '  const bool backward = grad.defined();\n  if (!backward) {\n    auto state = lib.getPipelineStateForFunc("wide");\n  } else {\n'
            '    auto state = lib.getPipelineStateForFunc("narrow");\n  }\n}\nTensor g_mps(const Tensor& self) {\n  pad(self, GIVEN);\n}\n')
    assert device(body.replace("GIVEN", "std::nullopt")) == [("wide", "")]
    assert device(body.replace("GIVEN", "self")) == [("narrow", "")]
    for untold in ("any", "OptionalIntArrayRef()"):  # such a class may hold nothing
        assert device(body.replace("GIVEN", untold)) == [("wide", "!grad_opt.has_value()"), ("narrow", "grad_opt.has_value()")]


def test_a_kernel_under_a_host_name_stands_where_that_name_does():
    kernels = 'template <typename T> kernel void many(device T* p [[buffer(0)]]) {\n}\ntemplate [[host_name("many_float")]] kernel void\nmany<float>(device float* p [[buffer(0)]]);\n'
    files = {N + "mps/operations/G.mm": 'namespace at::native {\nTensor g_mps(const Tensor& self) {\n  auto state = lib.getPipelineStateForFunc("many_float");\n}\n}\n', N + "mps/kernels/G.metal": kernels}
    g = operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps")
    assert [(s.symbol, s.line) for s in made(files, g)[0].chain(g, "MPS").steps if s.role == "device"] == [("many_float", 3)]
