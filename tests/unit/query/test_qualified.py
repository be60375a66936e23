# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest
import sample_atlas
from sample_atlas import CUDA

from cartographer.errors import NotFound
from cartographer.model.atlas import Symbol
from cartographer.model.operator import CppNames, Origin, Registration
from cartographer.query import qualified
from cartographer.query.where import Where, where
from cartographer.store import writer
from cartographer.store.reader import Reader

STRUCTURED, OTHER = "torchgen/dest/register_dispatch_key.py:363", "native_functions.yaml:7, torchgen/dest/register_dispatch_key.py:392"


@pytest.mark.parametrize(
    ("text", "name"),
    [("at::Tensor at::(anonymous namespace)::f(at::Tensor const&)", "at::f"), ("void at::native::<unnamed>::g<4, at::X<float> >(int)", "at::native::g"),
     ("std::tuple<at::Tensor, at::Tensor> at::h(int)", "at::h"), ("at::native::_GLOBAL__N_1a::k", "at::native::k"), ("VariableType::add", "VariableType::add"),
     ("at::X<int>::operator()(int) const", "at::X::operator()"), ("std::ostream& at::operator<<(std::ostream&, at::X<int>)", "at::operator<<"), ("at::X::~X()", "at::X::~X"),
     ("at::f(at::X<int>&)::{lambda(float)#1}::operator()(float) const", "at::f")],
)  # fmt: skip
def test_the_qualified_name_of_a_symbol(text, name):
    assert qualified.scope_of(text) == name


def test_a_qualifier_must_fit_to_its_end():
    assert qualified.fits("native::f", "at::native::(anonymous)::f")
    assert not qualified.fits("native::f", "at::conative::f")
    assert not qualified.fits("at::mps::f", "at::metal::f")
    assert not qualified.fits("at::native::f", "f")
    for given in ("at::native::AVX2::f", "at::native::f", "native::CPU_CAPABILITY::f"):  # the macro names the namespace
        assert qualified.fits(given, "at::native::CPU_CAPABILITY::f")
    assert not qualified.fits("c10::AVX2::f", "at::native::CPU_CAPABILITY::f")


@pytest.mark.parametrize("text", ["too many indices for tensor of dimension", "caching allocator", "The size (3) must match", "Could not run 'aten::foo' with arguments"])
def test_several_words_are_a_sentence(text):
    assert qualified.is_sentence(text)


@pytest.mark.parametrize("text", ["void f", "static void f(int a)", "at::Tensor at::f(at::Tensor const&)", "const at::Tensor & at::f(int)", "std::vector<int> f", "at::f(at::X const&)::{lambda(float)#1}::operator()(float) const", "add"])
def test_a_declaration_is_none(text):
    assert not qualified.is_sentence(text)


def test_what_to_search_for():
    assert qualified.search_command("RuntimeError: The size of a (3) must match the size of tensor b (4)") == "git grep -nF 'must match the size of tensor b'"
    assert qualified.search_command("it's `x` in one") == "git grep -nF 'in one'"
    assert qualified.search_command("3 --all of them") == "git grep -nF 'all of them'"  # a dash would begin an option


def test_a_sentence_is_no_symbol(reader):
    """`add_kernel` is one; the message around it is not looked up by its words."""
    with pytest.raises(NotFound) as caught:
        where(reader, "expected something of add_kernel here")
    assert caught.value.message == "'expected something of add_kernel here' is a text of several words, no name"
    assert "git grep -nF 'expected something of add_kernel here'" in caught.value.hint
    assert "cartographer search caching allocator" in _hint(reader, "caching allocator")


def test_a_sentence_without_words_is_not_searched_for(reader):
    """`git grep ''` finds all there is."""
    assert qualified.to_search("1 2 3") == ""
    assert _hint(reader, "1 2 3") == "ask for one name, or for a place: cartographer where PATH:LINE"


def _hint(reader, text):
    with pytest.raises(NotFound) as caught:
        where(reader, text)
    return caught.value.hint


def test_a_name_from_another_namespace_is_a_hint_and_no_answer(reader):
    hint = _hint(reader, "c10::add_kernel")
    assert hint == f"called add_kernel are at::native::(anonymous)::add_kernel ({CUDA}:20): cartographer where add_kernel"
    with pytest.raises(NotFound, match="has the qualified name at::cuda::add_kernel"):
        where(reader, "void at::cuda::(anonymous namespace)::add_kernel(int)")


def test_only_what_fits_is_told(tmp_path):
    symbols = (Symbol("twin", "at::mps::twin", "function", "a.mm", 5, 9), Symbol("twin", "at::metal::twin", "function", "b.mm", 5, 9))
    writer.write(replace(sample_atlas.atlas(), symbols=symbols), tmp_path)
    with Reader(tmp_path) as reader:
        assert [p.path for p in where(reader, "at::(anonymous namespace)::mps::twin(int)").places] == ["a.mm"]
        assert [p.path for p in where(reader, "twin").places] == ["a.mm", "b.mm"]


@pytest.fixture(scope="module")
def wrapped(tmp_path_factory):
    """add.Tensor is structured on CUDA and not on SparseCPU; softmax.int is a composite."""
    functional, inplace, out, softmax, mine = sample_atlas.operators()
    both = (Registration("CUDA", "at::native::structured_add_out", Origin.STRUCTURED, rule=STRUCTURED),
            Registration("SparseCPU", "at::native::add_sparse", Origin.YAML, rule=OTHER),
            Registration("Autograd", "torch::autograd::VariableType::add_Tensor", Origin.GENERATED, rule="tools/autograd/gen_variable_type.py:9"))  # fmt: skip
    made = (replace(functional, registrations=both), replace(inplace, registrations=both[:1]),
            replace(out, registrations=(Registration("CUDA", "at::native::structured_add_out", Origin.YAML, rule=f"{sample_atlas.YAML}:30, {STRUCTURED}"),)),
            replace(softmax, registrations=(Registration("CompositeImplicitAutograd", "at::native::softmax", Origin.YAML, rule=OTHER),)),
            replace(softmax, name="aten::softmax.int_out", cpp=CppNames("at::_ops::softmax_int_out", "at::softmax_out", None), origin=Origin.GENERATED,
                    registrations=(Registration("CompositeExplicitAutograd", "at::native::softmax_int_out", Origin.GENERATED, rule=OTHER.partition(", ")[2]),)),
            replace(mine, cpp=CppNames("at::_ops::add_int", "at::add", None)))  # fmt: skip
    folder = tmp_path_factory.mktemp("wrapped")
    writer.write(replace(sample_atlas.atlas(), operators=made), folder)
    with Reader(folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "operator", "key"),
    [("wrapper_CUDA_add_Tensor", "aten::add.Tensor", "CUDA"), ("wrapper_CUDA_add__Tensor", "aten::add_.Tensor", "CUDA"), ("wrapper_CUDA_add_out_out", "aten::add.out", "CUDA"),
     ("at::(anonymous namespace)::wrapper_SparseCPU_Tensor_add(at::Tensor const&, at::Tensor const&)", "aten::add.Tensor", "SparseCPU"),
     ("wrapper_CompositeExplicitAutograd_int_out_softmax_out", "aten::softmax.int_out", "CompositeExplicitAutograd"),
     ("wrapper_CompositeImplicitAutograd_int_softmax", "aten::softmax.int", "CompositeImplicitAutograd"),
     ("#5  0x00007f in at::(anonymous namespace)::wrapper_CUDA_add_Tensor(at::Tensor const&) () from /lib/libtorch_cuda.so", "aten::add.Tensor", "CUDA"),
     ("found two devices (when checking argument for argument mat1 in method wrapper_CUDA_add_Tensor)", "aten::add.Tensor", "CUDA")],
)  # fmt: skip
def test_wrappers_that_the_build_writes(wrapped, name, operator, key):
    found = where(wrapped, name)
    assert isinstance(found, Where)
    assert (found.named.names, found.named.key) == ((operator,), key)
    assert found.backend == (None if key.startswith("Composite") or key == "SparseCPU" else key)  # those are no columns of this table


def test_the_generator_that_writes_a_wrapper_is_that_of_the_release(tmp_path):
    """It was tools/codegen/ before torchgen."""
    op = sample_atlas.operators()[0]
    made = replace(op, registrations=(Registration("CUDA", "at::native::add", Origin.YAML, rule=f"{sample_atlas.YAML}:30, tools/codegen/dest/register_dispatch_key.py:12"),))
    writer.write(replace(sample_atlas.atlas(), operators=(made,)), tmp_path)
    with Reader(tmp_path) as reader:
        assert where(reader, "wrapper_CUDA_Tensor_add").named.said.endswith("around the kernel (tools/codegen/dest/register_dispatch_key.py)")


@pytest.mark.parametrize("name", ["wrapper_CPU_add_Tensor", "wrapper_CUDA_Tensor_add", "wrapper_SparseCPU_add_Tensor", "wrapper_add_Tensor", "c10::wrapper_CUDA_add_Tensor"])
def test_a_wrapper_that_no_rule_writes_is_none(wrapped, name):
    with pytest.raises(NotFound):
        where(wrapped, name)


@pytest.mark.parametrize("name", ["VariableType::add_Tensor", "torch::autograd::VariableType::(anonymous namespace)::add_Tensor(c10::DispatchKeySet, at::Tensor const&)",
                                  "frame #4: torch::autograd::VariableType::add_Tensor(c10::DispatchKeySet) + 0x51 (0x7f2b in /usr/lib/libtorch_cpu.so)"])  # fmt: skip
def test_a_written_kernel_by_the_end_of_its_qualified_name(wrapped, name):
    assert where(wrapped, name).named.names == ("aten::add.Tensor",)
    with pytest.raises(NotFound):
        where(wrapped, name.replace("VariableType", "TraceType"))


@pytest.mark.parametrize("name", ["at::native::structured_add_out::impl", "structured_add_out::impl", "at::Tensor at::native::structured_add_out::impl(at::Tensor const&)"])
def test_the_class_of_a_structured_kernel(wrapped, name):
    assert where(wrapped, name).named.names == ("aten::add.Tensor", "aten::add_.Tensor", "aten::add.out")


def test_calls_as_a_stack_trace_shows_them(wrapped):
    assert where(wrapped, "at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)").named.names == ("aten::add.Tensor",)
    assert where(wrapped, "torch::autograd::generated::AddBackward0::apply(std::vector<at::Tensor>&&)").named.names == ("aten::add.Tensor",)
    assert where(wrapped, 'File "/usr/lib/python3/site-packages/torch/nn/functional.py", line 71, in softmax').places[0].path == "torch/nn/functional.py"
