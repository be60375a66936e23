# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from dataclasses import replace

import pytest
import sample_atlas
from sample_atlas import BINARY, CUDA, LOOPS, YAML

from cartographer.errors import NotFound, UsageError
from cartographer.model.atlas import FileEntry
from cartographer.model.operator import TO_OVERRIDE, Autograd, Chain, Status, Step
from cartographer.query import where_json, where_text
from cartographer.query.ink import Ink
from cartographer.query.reverse import Backwards
from cartographer.query.where import Where, where
from cartographer.store import writer
from cartographer.store.reader import Reader

FAMILY = {"aten::add.Tensor", "aten::add.out", "aten::add_.Tensor"}


def _text(reader, *asked, **options):
    return list(where_text.text(where(reader, *asked), Ink(), **options))


def test_one_backend(reader):
    found = where(reader, "add.Tensor", "cuda")
    (descent,) = found.descents
    assert (descent.main.path, descent.main.line) == (CUDA, 20)
    assert descent.backends == ("CUDA",)
    lines = _text(reader, "add.Tensor", "CUDA")
    assert lines[0] == f"{CUDA}:20  at::native::add_kernel"
    assert [line.split()[0] for line in lines[2:]] == ["entry", "stub", "registration", "kernel", "device"]
    assert "if contiguous" in lines[-1]


def test_overloads_with_one_chain_are_told_once(reader):
    found = where(reader, "add")
    assert [(d.names, d.backends) for d in found.descents] == [(("aten::add.Tensor", "aten::add.out"), ("CUDA",)), (("aten::add.Tensor",), ("CPU",))]


def test_what_serves_is_said_of_each_overload_and_of_each_backend(tmp_path):
    """One overload has a kernel, the next is served by the default one: neither has the other's words."""
    functional, _, out, *_ = sample_atlas.operators()
    made = (
        replace(functional, dispatch={"CPU": "kernel", "CUDA": "kernel"}, kernels={"CUDA": sample_atlas.CUDA_CHAIN, "CPU": sample_atlas.CUDA_CHAIN}),
        replace(out, dispatch={"CPU": "kernel", "CUDA": "default backend kernel"}, kernels={"CUDA": sample_atlas.CUDA_CHAIN, "CPU": sample_atlas.CUDA_CHAIN}),
    )
    writer.write(replace(sample_atlas.atlas(), operators=made), tmp_path)
    with Reader(tmp_path) as reader:
        answers = where_json.record(where(reader, "add", "CUDA"))["answers"]
        assert [(a["operators"], a["served"]) for a in answers] == [(["aten::add.Tensor"], {"CUDA": "kernel"}), (["aten::add.out"], {"CUDA": "default backend kernel"})]
        told = [line.strip(" #") for line in _text(reader, "add") if " resolved" in line]
        assert told == ["aten::add.Tensor on CUDA, CPU: resolved (kernel)", "aten::add.out on CUDA, CPU: resolved (default backend kernel on CUDA; kernel on CPU)"]


def test_a_kernel_that_only_raises_is_not_shown_as_one_that_works(tmp_path):
    alone = Chain(Status.RESOLVED, None, (Step("entry", "at::native::f", BINARY, 7, TO_OVERRIDE),))
    writer.write(replace(sample_atlas.atlas(), operators=(replace(sample_atlas.operators()[0], kernels={"CPU": alone}),)), tmp_path)
    with Reader(tmp_path) as reader:
        assert _text(reader, "add.Tensor", "CPU")[-1].endswith(TO_OVERRIDE)


def test_unresolved_is_said_with_its_reason(reader):
    text = "\n".join(_text(reader, "add.Tensor", "CPU"))
    assert "unresolved: the stub is registered under a condition" in text
    assert not text.startswith("aten/")


def test_none_shows_what_is_called(reader):
    text = "\n".join(_text(reader, "softmax", "CUDA"))
    assert "no kernel of its own: composite" in text
    assert "aten::add.Tensor" in text


def test_a_backend_without_a_chain_is_told_from_the_table(reader):
    found = where(reader, "softmax", "CPU")
    assert found.descents[0].chain.status is Status.UNRESOLVED
    assert "math kernel" in found.descents[0].chain.reason


def test_unknown_backend(reader):
    with pytest.raises(UsageError) as caught:
        where(reader, "add", "TPU")
    assert "CUDA, CPU" in caught.value.hint


@pytest.mark.parametrize("asked", ["add", CUDA, f"{CUDA}:20"])
def test_an_unknown_backend_is_one_also_on_the_way_back(reader, asked):
    with pytest.raises(UsageError, match="no dispatch key of this atlas is called 'CUDAA'"):
        where(reader, asked, "CUDAA")


def test_a_key_without_chains_is_told_from_the_table(reader):
    (descent,) = where(reader, "quantized::add", "quantizedcpu").descents
    assert descent.backends == ("QuantizedCPU",)
    assert descent.chain.reason == "the dispatch table says 'kernel' for QuantizedCPU, whose chains are not traced: `cartographer show quantized::add` lists what is registered"


def test_near_miss(reader):
    with pytest.raises(NotFound) as caught:
        where(reader, "sofmax")
    assert "aten::softmax" in caught.value.hint


def test_empty(reader):
    with pytest.raises(UsageError):
        where(reader, "  ")


@pytest.mark.parametrize(
    "text",
    ["add_kernel", "at::native::add_kernel", "add_stub", "at::native::add_stub", "vectorized_kernel", f"{CUDA}:25", "AddKernel.cu:25", LOOPS,
     "at::native::(anonymous namespace)::add_kernel(at::TensorIteratorBase&, c10::Scalar const&)",
     "_ZN2at6native10add_kernelERNS_18TensorIteratorBaseE", "TORCH_IMPL_FUNC(add_out)",
     "void at::native::vectorized_kernel<4, at::native::Unknown<float> >(int)",
     f"https://github.com/pytorch/pytorch/blob/v2.6.0/{CUDA}#L25"],
)  # fmt: skip
def test_the_way_back(reader, text):
    found = where(reader, text)
    assert isinstance(found, Backwards)
    assert set(found.operators) == FAMILY
    assert found.places


def test_a_name_with_its_namespaces_is_said_to_be_no_operator(reader):
    assert where(reader, "at::native::add_kernel").said == "add_kernel is no operator, but stands in the source"


def test_backend_narrows_the_way_back(reader):
    assert set(where(reader, f"{BINARY}:31", "CPU").operators) == {"aten::add.Tensor", "aten::add_.Tensor"}
    assert set(where(reader, f"{BINARY}:31", "cuda").operators) == FAMILY


def test_row_of_a_yaml(reader):
    assert where(reader, f"{YAML}:12").operators == ("aten::add.Tensor",)
    assert where(reader, f"{YAML}:21").operators == ("aten::add_.Tensor",)


def test_a_line_that_no_chain_passes(reader):
    found = where(reader, "functional.py:70")
    assert found.places[0].symbol == "torch.nn.functional.softmax"
    assert found.operators == ()
    assert found.note


def test_generated_file(reader):
    found = where(reader, "RegisterCPU_2.cpp:2484")
    assert [p.path for p in found.places] == ["torchgen/gen.py", "aten/src/ATen/templates/RegisterDispatchKey.cpp"]
    assert "without a build" in found.note


@pytest.mark.parametrize("name", ["add.Tensr", "aten::add.Tensr", "torch.ops.aten.add.Tensr"])
def test_an_overload_that_there_is_not_names_those_that_there_are(reader, name):
    with pytest.raises(NotFound) as caught:
        where(reader, name)
    assert caught.value.message.endswith("add has no overload 'Tensr'")
    assert "aten::add.Tensor" in (caught.value.hint or "")


def test_a_written_header_that_files_include(tmp_path):
    """`ATen/Functions.h` is no file of the tree, and two generators write one of that name (pytorch issue 26540)."""
    import dataclasses

    import sample_atlas

    from cartographer.model.atlas import FileEntry, GeneratedFile
    from cartographer.store import writer
    from cartographer.store.reader import Reader

    atlas = sample_atlas.atlas()
    made = (GeneratedFile("Functions.h", "tools/autograd/gen_autograd_functions.py", 5, "tools/autograd/templates/Functions.h", 1, "Nodes."),
            GeneratedFile("Functions.h", "torchgen/gen.py", 7, "aten/src/ATen/templates/Functions.h", 1, "Written by gen.py."),
            GeneratedFile("torch/_C/_VariableFunctions.pyi", "tools/pyi/gen_pyi.py", 9, "torch/_C/_VariableFunctions.pyi.in", 1, "Types."))
    includer = FileEntry("c10/core/x.cpp", "0" * 40, 9, "C++", 1, includes=(("ATen/Functions.h", 1),))
    writer.write(dataclasses.replace(atlas, generated=made, files=(*atlas.files, includer)), tmp_path)
    with Reader(tmp_path) as reader:
        found = where(reader, "ATen/Functions.h")
        assert ([p.path for p in found.places], found.said) == (["torchgen/gen.py", "aten/src/ATen/templates/Functions.h"], "written by the build")
        assert where(reader, "autograd/generated/Functions.h").said == "written by the build: Nodes."
        for name in ("_VariableFunctions.pyi", "torch/_C/_VariableFunctions.pyi"):
            assert [p.path for p in where(reader, name).places] == ["tools/pyi/gen_pyi.py", "torch/_C/_VariableFunctions.pyi.in"]


def test_template_argument_names_the_operator(folder, tmp_path):
    """A launcher that several operators share; its functor belongs to one of them."""
    import dataclasses

    import sample_atlas

    from cartographer.store import writer
    from cartographer.store.reader import Reader

    launcher = Step("device", "at::native::vectorized_kernel", LOOPS, 8)

    def op(name, functor):
        chain = Chain(Status.RESOLVED, None, (Step("device", f"at::native::{functor}", CUDA, 5), launcher))
        return dataclasses.replace(sample_atlas.operators()[1], name=name, kernels={"CUDA": chain})

    atlas = dataclasses.replace(sample_atlas.atlas(), operators=(op("aten::a", "AFunctor"), op("aten::b", "BFunctor")))
    writer.write(atlas, tmp_path)
    with Reader(tmp_path) as reader:
        found = where(reader, "void at::native::vectorized_kernel<4, at::native::BFunctor<float>, std::array<char*, 3ul> >(int)")
        assert found.operators == ("aten::b",)
        assert found.shared == 2
        assert where(reader, "vectorized_kernel").operators == ("aten::a", "aten::b")
        mangled = "_ZN2at6native17vectorized_kernelILi4ENS0_8BFunctorIfEEEEvi"
        assert where(reader, mangled).operators == ("aten::b",)


@pytest.mark.parametrize("asked", [("add",), ("softmax", "CUDA"), ("add_kernel",), (LOOPS,), ("RegisterCPU.cpp",), ("F.softmax",)])
def test_json_says_the_same(reader, asked):
    found = where(reader, *asked)
    told = json.loads(json.dumps(where_json.record(found)))
    if isinstance(found, Where):
        assert told["operators"] == list(found.named.names)
        assert [a["status"] for a in told["answers"]] == [d.chain.status.value for d in found.descents]
    else:
        assert told["operators"] == list(found.operators)


def test_every_chain_is_shown_with_all(reader):
    assert sum("resolved" in line for line in _text(reader, "add", everything=True)) == 2


def test_colours_only_when_asked_for(reader):
    plain = "\n".join(_text(reader, "add"))
    coloured = "\n".join(where_text.text(where(reader, "add"), Ink(colour=True)))
    assert "\x1b" not in plain
    assert "\x1b[36m" in coloured


def test_launcher_in_a_header_is_shared_by_more_than_was_traced(folder, tmp_path):
    """Chains stop at the functor; the launcher's own short list of operators does not hide those of the functor."""
    import dataclasses

    import sample_atlas

    from cartographer.model.atlas import Symbol
    from cartographer.store import writer
    from cartographer.store.reader import Reader

    def op(name, *steps):
        return dataclasses.replace(sample_atlas.operators()[1], name=name, kernels={"CUDA": Chain(Status.RESOLVED, None, steps)})

    functor = Step("device", "at::native::AFunctor", CUDA, 5)
    launcher = Step("device", "at::native::vectorized_kernel", LOOPS, 8)
    copied = (Step("entry", "at::native::b", BINARY, 1), Step("calls", "at::a", BINARY, 2), Step("entry", "at::native::a", BINARY, 9), functor)
    operators = (op("aten::a", functor, launcher), op("aten::a.out", functor), op("aten::b", *copied), op("aten::z", launcher))
    atlas = dataclasses.replace(sample_atlas.atlas(), operators=operators, symbols=(Symbol("vectorized_kernel", "at::native::vectorized_kernel", "kernel", LOOPS, 8, 15),))
    writer.write(atlas, tmp_path)
    with Reader(tmp_path) as reader:
        found = where(reader, "void at::native::vectorized_kernel<4, at::native::AFunctor<float> >(int)")
        assert found.operators == ("aten::a", "aten::a.out")
        alone = where(reader, "AFunctor")
        assert alone.operators == ("aten::a", "aten::a.out")
        assert alone.through_others == ("aten::b",)
        assert "and by 1 more through operators that they call (--all)" in list(where_text.text(alone, Ink()))


def test_function_around_a_lambda_names_the_operator(reader):
    text = "void at::native::elementwise_kernel<128, 2, at::native::add_kernel(at::TensorIteratorBase&)::{lambda(float)#1}>(int)"
    assert set(where(reader, text).operators) == FAMILY


def test_python_code_without_an_operator(folder, tmp_path):
    import dataclasses

    import sample_atlas

    from cartographer.model.atlas import FileEntry, Symbol
    from cartographer.store import writer
    from cartographer.store.reader import Reader

    symbols = (
        Symbol("is_tensor", "is_tensor", "function", "torch/__init__.py", 500, 510),
        Symbol("THPVariable_cuda", "torch::autograd::THPVariable_cuda", "function", "tools/autograd/templates/python_variable_methods.cpp", 477, 500),
        Symbol("cuda", "cuda", "class", "torch/_inductor/config.py", 1118, 1200),  # which torch/_tensor.py imports over a few files
        Symbol("cuda", "_StorageBase.cuda", "method", "torch/storage.py", 87, 90), Symbol("UntypedStorage", "UntypedStorage", "class", "torch/storage.py", 465, 529),
    )
    files = tuple(FileEntry(path, "0" * 40, 9, "Python", 2000, includes=includes)
                  for path, includes in (("torch/_tensor.py", (("torch/_inductor/config.py", 1),)), ("torch/_inductor/config.py", ()), ("torch/storage.py", ())))
    writer.write(dataclasses.replace(sample_atlas.atlas(), symbols=symbols, files=(*sample_atlas.atlas().files, *files)), tmp_path)
    with Reader(tmp_path) as reader:
        assert [(p.path, p.line) for p in where(reader, "torch.is_tensor").places] == [("torch/__init__.py", 500)]
        assert where(reader, "torch.Tensor.cuda").places[0].what == "binding written by hand"
        for asked, said in (("_StorageBase.cuda", "_StorageBase.cuda is a method"), ("torch.storage.UntypedStorage.cuda", "UntypedStorage has no cuda of its own")):
            found = where(reader, asked)
            assert [(p.path, p.line) for p in found.places] == [("torch/storage.py", 87)]
            assert found.said.startswith(said)
        assert where(reader, "torch/storage.py:5000").said == "the file has 2000 lines"
        with pytest.raises(NotFound):
            where(reader, "torch.Tensor.nothing_of_the_kind")


def test_brackets_are_an_operator(folder, tmp_path):
    """Python's indexing has no binding of its own name."""
    import dataclasses

    import sample_atlas

    from cartographer.model.atlas import Symbol
    from cartographer.store import writer
    from cartographer.store.reader import Reader

    atlas = sample_atlas.atlas()
    file = "torch/csrc/autograd/python_variable_indexing.cpp"
    bodies = (Symbol("THPVariable_getitem", "torch::autograd::THPVariable_getitem", "function", file, 334, 400),
              Symbol("THPVariable_setitem", "torch::autograd::THPVariable_setitem", "function", file, 419, 500))  # fmt: skip
    plain = next(o for o in atlas.operators if o.name == "aten::softmax.int")
    index = tuple(dataclasses.replace(plain, name=name, bindings=(), cpp=None) for name in ("aten::index.Tensor", "aten::index_put_"))
    writer.write(dataclasses.replace(atlas, symbols=bodies, operators=(*atlas.operators, *index)), tmp_path)
    with Reader(tmp_path) as reader:
        for text, name, line in (("x[mask]", "aten::index.Tensor", 334), ("y.grad[1:, None]", "aten::index.Tensor", 334), ("x[mask] == 0", None, 0),
                                 ("torch.Tensor.__getitem__", "aten::index.Tensor", 334), ("x[mask] = 0", "aten::index_put_", 419),
                                 ("Tensor.__setitem__", "aten::index_put_", 419), ("f[abi:cxx11]", None, 0), ("f[clone .cold]", None, 0)):  # fmt: skip
            if name is None:
                with pytest.raises(NotFound):
                    where(reader, text)
                continue
            named = where(reader, text).named
            assert (named.names, [(t.path, t.line) for t in named.through]) == ((name,), [(file, line)])
    with Reader(folder) as reader, pytest.raises(NotFound):
        where(reader, "x[mask]")


@pytest.mark.parametrize("text", ["add softmax", "add, softmax", "softmax,add,softmax"])
def test_several_names_are_not_read_as_one(reader, text):
    with pytest.raises(UsageError, match="names at once"):
        where(reader, text)


def test_a_binding_says_where_it_is_written(reader):
    said = where(reader, "THPVariable_add").named.said
    assert "the build writes it into python_torch_functions_0.cpp by tools/autograd/gen_python_functions.py:300" in said
    assert "the build writes it into python_variable_methods.cpp" in said


@pytest.mark.parametrize("text", ["aten/src/ATen/native", "./aten/src/ATen/native/"])
def test_a_folder_says_that_it_is_one(reader, text):
    with pytest.raises(NotFound) as error:
        where(reader, text)
    assert str(error.value).startswith("aten/src/ATen/native is a folder\n")
    assert "source/aten/src/ATen/native/index.html" in str(error.value)


def test_error_message_comes_before_its_symbols(reader):
    found = where(reader, "Could not run 'aten::add.out' with arguments from the 'QuantizedCPU' backend.")
    assert found.named.names == ("aten::add.out",)


def test_a_name_of_several_files_is_asked_only_of_those_that_have_the_line(tmp_path):
    other = "aten/src/ATen/native/vulkan/BinaryOps.cpp"
    made = sample_atlas.atlas()
    writer.write(replace(made, files=(*made.files, FileEntry(other, "0" * 40, 9, "C++", 20)), paths=(*made.paths, other, "test/test_nn.py", "setup.py")), tmp_path)
    with Reader(tmp_path) as reader:
        assert [p.path for p in where(reader, "BinaryOps.cpp:10").places] == [BINARY, other]
        only = where(reader, "BinaryOps.cpp:31")
        assert [p.path for p in only.places] == [BINARY]
        assert only.operators
        assert "2 files are called BinaryOps.cpp, one of them with 31 lines" in only.said
        lost = where(reader, "BinaryOps.cpp:900")
        assert [(p.path, p.line) for p in lost.places] == [(BINARY, 1), (other, 1)], "no place that is in no file"
        assert "none of them with 900 lines" in lost.said
        assert where(reader, other).said == "a file; no operator has something in it that the atlas knows of"
        for asked in ("test/test_nn.py", "test_nn.py", "test_nn.py:12"):
            found = where(reader, asked)
            assert [p.path for p in found.places] == ["test/test_nn.py"]
            assert found.said == "a file of the tree that the atlas does not read: no operator is looked for there"


def test_a_python_name_that_is_none_is_no_symbol_of_its_last_part(reader):
    for backend in (None, "CPU"):
        with pytest.raises(NotFound, match=r"no Python name torch\.linalg\.add is known in this release") as caught:
            where(reader, "torch.linalg.add", backend)
        assert "torch.add" in caught.value.hint


def test_a_backend_without_a_chain_there_is_said(reader):
    found = where(reader, "add_kernel", "CPU")
    assert (found.operators, found.note) == ((), "no chain of CPU passes here")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [({}, ""), ({"AutogradCPU": "autograd kernel", "AutogradCUDA": "math kernel"}, ", for CPU alone"), ({"AutogradCPU": "math kernel"}, ", for no tensor")],
)
def test_a_node_is_said_to_be_recorded_where_it_is(tmp_path, outcomes, said):
    made = replace(sample_atlas.operators()[0], dispatch=outcomes, autograd=Autograd(("SpinBackward0",), None))
    writer.write(replace(sample_atlas.atlas(), operators=(made,)), tmp_path)
    with Reader(tmp_path) as reader:
        assert where(reader, "SpinBackward0", "CUDA").named.said == f"operators that record the autograd Node SpinBackward0{said}"


def test_a_node_that_one_operator_records_for_all_tensors_has_no_limit(tmp_path):
    first, second = (replace(op, autograd=Autograd(("SpinBackward0",), None)) for op in sample_atlas.operators()[:2])
    ways = (("autograd kernel", "autograd kernel"), ("autograd kernel", "math kernel"), ("math kernel", "math kernel"))
    everywhere, limited, never = ({"AutogradCPU": cpu, "AutogradCUDA": cuda} for cpu, cuda in ways)
    for number, (one, other, said) in enumerate([(everywhere, limited, ""), (never, limited, ", for CPU alone"), (never, never, ", for no tensor")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        writer.write(replace(sample_atlas.atlas(), operators=(replace(first, dispatch=one), replace(second, dispatch=other))), folder)
        with Reader(folder) as reader:
            assert where(reader, "SpinBackward0", "CUDA").named.said == f"operators that record the autograd Node SpinBackward0{said}"
