# SPDX-License-Identifier: BSD-3-Clause
"""Texts answered in small atlases: of a repository, of an older release, of a wheel."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from cartographer.errors import NotFound
from cartographer.guide import book, places, terminal
from cartographer.guide.anchors import Resolver
from cartographer.model.atlas import Landmark
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Operator, Origin, Registration, Status, Step
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.store import writer
from cartographer.store.reader import Reader

_spec = importlib.util.spec_from_file_location("small_atlas_of_the_guide", Path(__file__).parents[1] / "render/small.py")
small = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small)

HEAD = '+++\ntitle = "T"\nkind = "{kind}"\nwords = ["w"]\n{more}+++\n'
DOCS = "torch/_torch_docs.py"
MARKS = (
    Landmark("aten::mul", "meta", "aten/src/ATen/native/BinaryOps.cpp", 3, "TORCH_META_FUNC(mul)"),
    Landmark("aten::mul", "docs", DOCS, 7, "torch.mul"), Landmark("aten::mul", "index", "docs/source/torch.rst", 9, "torch.mul"),
    Landmark("aten::mul", "opinfo", "torch/testing/_internal/common.py", 5, "BinaryUfuncInfo(mul)"),
    Landmark("BinaryUfuncInfo", "listed", "torch/testing/_internal/common.py", 1, "op_db"),
    Landmark("BinaryUfuncInfo", "tests", "test/test_binary.py", 4, "2 tests over every BinaryUfuncInfo"),
    Landmark("OpInfo", "tests", "test/test_ops.py", 4, "9 tests over every OpInfo"), Landmark("ShapeFuncInfo", "tests", "test/test_shape.py", 4, "1 test"),
    Landmark("/torch/", "owner", "CODEOWNERS", 2, "@a"), Landmark("Building", "build", "CONTRIBUTING.md", 5, "python setup.py develop"),
    Landmark("Linting", "lint", "CONTRIBUTING.md", 8, "make lint"), Landmark("c10", "map", "CONTRIBUTING.md", 3, "c10"),
)  # fmt: skip


@pytest.fixture
def told(tmp_path):
    """A book of these texts in an atlas of this version and kind."""

    def make(texts, version="2.6.0", kind=SourceKind.DIRECTORY):
        folder = tmp_path / "guide"
        for slug, text in texts.items():
            (folder / slug).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{slug}.md").write_text(text)
        source = SourceInfo(kind, version, f"v{version}", None, "here")
        path = writer.write(small.atlas(source=source, landmarks=MARKS, paths=(DOCS, "CONTRIBUTING.md")), tmp_path / "atlas")
        with Reader(path) as reader:
            return book.read(reader, folder), places.touches(reader, reader.group("mul")), places.reading(reader, [("torch/__init__.py", 0), ("gone.py", 0)], {entry.path: entry.lines for entry in reader.file_entries()})

    return make


CLAIMS = HEAD.format(kind="page", more="") + "{path:aten/src/none.cpp} {path:torch/none.py} {symbol:c10/cuda/CUDAStream.cpp::getCurrentCUDAStream} {op:mul} {read:torch/__init__.py nowhere/x.cu}\n"


@pytest.mark.parametrize(
    ("version", "kind", "gone", "absent", "words"),
    [
        ("2.6.0", SourceKind.DIRECTORY, ["path:aten/src/none.cpp", "path:torch/none.py", "read:nowhere/x.cu"], [], "stale in v2.6.0"),
        ("1.13.1", SourceKind.GIT, ["path:aten/src/none.cpp", "path:torch/none.py", "read:nowhere/x.cu"], [], "not in v1.13.1"),
        ("2.11.0", SourceKind.WHEEL, ["path:torch/none.py"], ["path:aten/src/none.cpp", "read:nowhere/x.cu"], "stale in v2.11.0"),
    ],
)
def test_what_does_not_hold_says_why(told, version, kind, gone, absent, words):
    read, _, _ = told({"a": CLAIMS}, version, kind)
    assert ([s.anchor for s in read.gone], [s.anchor for s in read.absent]) == (gone, absent)
    assert (read.standing(absent=False), read.standing(absent=True)) == (words, "not in a wheel")
    assert all("wheel" in s.reason for s in read.absent)
    assert not any("wheel" in s.reason for s in read.gone)


def test_a_symbol_that_moved_with_its_file_is_found_there(told):
    claims = "{symbol:aten/src/ATen/cuda/CUDAStream.cpp::getCurrentCUDAStream} {symbol:c10/cuda/Elsewhere.cpp::getCurrentCUDAStream}\n"
    read, _, _ = told({"a": HEAD.format(kind="page", more="") + claims})
    assert [s.anchor for s in read.gone] == ["symbol:c10/cuda/Elsewhere.cpp::getCurrentCUDAStream"]


def test_places_stand_in_the_order_of_work(told):
    _, found, _ = told({})
    what = [t.what for t in found]
    assert list(dict.fromkeys(what))[:2] == ["yaml row", "CUDA entry"]
    order = ["CUDA registration", "CUDA kernel", "meta function", "derivative", "binding, by hand", "documentation", "index of the docs", "OpInfo", "tests", "owners"]
    assert [w for w in dict.fromkeys(what) if w in order] == order
    assert {t.text for t in found if t.what == "tests"} == {"2 tests over every BinaryUfuncInfo", "9 tests over every OpInfo"}


def test_one_place_of_several_backends_stands_once(told):
    _, found, _ = told({})
    assert [t.what for t in found if t.line == 30 and t.path.endswith("BinaryOps.cpp")] == []  # a default backend kernel of SparseCPU is no kernel of its own
    assert len({(t.path, t.line) for t in found}) == len(found)
    assert places._joined("CPU entry", "CUDA entry") == "CPU, CUDA entry"
    assert places._joined("CPU, CUDA entry", "CUDA entry") == "CPU, CUDA entry"
    assert places._joined("Meta entry", "decomposition") == "Meta entry, decomposition"


def test_kernels_of_every_backend_are_places():
    reader = SimpleNamespace(landmarks=lambda *_: (), group=lambda *_: ())
    chain = Chain(Status.RESOLVED, None, (Step("entry", "at::native::mul_sparse_csr", "aten/src/ATen/native/sparse/SparseBinaryOps.cpp", 7),))
    op = Operator("aten::mul", "aten::mul(Tensor a) -> Tensor", Origin.YAML, Location("native_functions.yaml", 1), dispatch={"SparseCsrXPU": "kernel"}, kernels={"SparseCsrXPU": chain})
    assert [(t.what, t.line) for t in places.touches(reader, [op])] == [("yaml row", 1), ("SparseCsrXPU entry", 7)]


def test_files_to_read_are_as_long_as_they_are(told):
    _, _, (first, gone) = told({})
    assert (first.lines, first.born, first.owner.text) == (40, "2017-05-01", "@a")
    assert gone.missing


LINE = HEAD.format(kind="line", more='colour = "blue"\nstops = ["stop"]\n') + "Words.\n"
STOP = HEAD.format(kind="stop", more="") + (
    "## Build\n\n{contributing:build}\n\n{mapped:c10} and {mapped:torchgen} of {term:word}\n\n## Task\n\n1. Predict *it*.\n\n### Check\n\nThe answer, in {op:mul}.\n"
)


def test_a_line_fits_the_terminal_and_keeps_its_answers_for_the_end(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    read, _, _ = told({"line": LINE, "stop": STOP, "pages/glossary": HEAD.format(kind="page", more="") + "## word\nMeans.\n"})

    class Plain:
        strong = faint = staticmethod(str)

    lines = list(terminal.line(read, "blue", Plain()))
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert "python setup.py develop\n" + " " * 26 + "CONTRIBUTING.md:5\n" in text, "a place that does not fit stands below"
    assert "make lint" not in text
    assert "on it (CONTRIBUTING.md:3) and not on it" in text
    assert text.index("Predict it.") < text.index("The answer stands at the end, under 1.") < text.index("Answers") < text.index("The answer, in mul")
    with pytest.raises(NotFound):
        list(terminal.line(read, "pink", Plain()))
    assert "Pages of the atlas" not in text


def test_a_line_says_where_the_pages_are_that_it_names(told):
    stop = HEAD.format(kind="stop", more="") + "See {page:operators}, {guide:other} and {guide:stop}.\n"
    read, _, _ = told({"line": LINE, "stop": stop.replace("T", "The stop"), "other": HEAD.format(kind="idea", more="").replace('"T"', '"Another"') + "Words.\n"})
    last = " ".join(list(terminal.line(read, "blue", SimpleNamespace(strong=str, faint=str)))[-3:])
    assert " ".join(last.split()) == "Pages of the atlas that are named here, and no part of this line: the list of operators; Another. cartographer serve shows them."


def test_numbers_say_how_they_were_counted(told):
    read, _, _ = told({"a": HEAD.format(kind="idea", more="") + "{count:layers_mul.Tensor} {count:acting_mul.Tensor} {count:written} {count:registrations_python} {count:nonsense}\n"})
    numbers = {argument: (answer.text, answer.receipt) for (kind, argument), answer in read.answers.items() if kind == "count"}
    assert numbers["layers_mul.Tensor"][0] == "6"
    assert numbers["acting_mul.Tensor"][0] == "4"
    assert numbers["registrations_python"] == ("1", "operators with a kernel that Python registers")
    assert all(receipt for name, (_, receipt) in numbers.items() if name != "nonsense")
    assert [s.anchor for s in read.gone] == ["count:nonsense"]


def test_a_kernel_behind_a_library_and_the_variant_in_place_are_places():
    entry = Step("entry", "TORCH_IMPL_FUNC(gelu_out_cpu)", "native/Activation.cpp", 9)
    steps = (
        entry, Step("library", "dnn::gelu", "native/Activation.cpp", 11), Step("stub", "GeluKernel", "native/Activation.cpp", 99),
        Step("registration", "GeluKernel", "native/cpu/Activation.cpp", 70), Step("kernel", "gelu_kernel", "native/cpu/Activation.cpp", 30), Step("kernel", "shared", "Vec.h", 1),
    )  # fmt: skip
    place = Location("functorch/BatchRules.cpp", 5)
    rule = Registration("FuncTorchBatched", "k", Origin.LIBRARY, place=place)
    beaten = Registration("Vulkan", "k", Origin.LIBRARY, place=Location("vulkan.cpp", 5), active=False)
    op = Operator("aten::gelu", "aten::gelu(Tensor a) -> Tensor", Origin.YAML, Location("y", 1), dispatch={"CPU": "kernel"}, kernels={"CPU": Chain(Status.RESOLVED, None, steps)}, registrations=(rule, beaten))
    inplace = Operator("aten::gelu_", "aten::gelu_(Tensor(a!) a) -> Tensor(a!)", Origin.YAML, Location("y", 8))
    groups = {"gelu": (op,), "gelu_": (inplace,)}
    reader = SimpleNamespace(landmarks=lambda *_: (), group=lambda base, _: groups.get(base, ()))
    assert [(t.what, t.text, t.line) for t in places.touches(reader, [op])] == [
        ("yaml row", "gelu", 1), ("yaml row", "gelu_", 8), ("CPU entry", entry.symbol, 9), ("CPU registration", "GeluKernel", 70), ("CPU kernel", "gelu_kernel", 30), ("batch rule", "gelu", 5),
    ]  # fmt: skip
    assert [t.text for t in places.touches(reader, [inplace]) if t.what == "yaml row"] == ["gelu_", "gelu"]


def test_a_short_list_counts_the_suites_that_it_does_not_name():
    marks = {
        "aten::mul": [Landmark("aten::mul", "opinfo", "i.py", 1, "OpInfo(mul)")],
        "OpInfo": [Landmark("OpInfo", "listed", "i.py", 1, "op_db"), *(Landmark("OpInfo", "tests", f"test/test_{n}.py", 1, "1 test over every OpInfo") for n in range(9)),
                   Landmark("OpInfo", "tests", "test/test_x.py", 1, "1 test over some OpInfo"), Landmark("OpInfo", "tests", "test/test_y.py", 1, "1 test over some OpInfo")],
    }  # fmt: skip
    reader = SimpleNamespace(landmarks=lambda subject=None: marks.get(subject, []), group=lambda *_: ())
    op = Operator("aten::mul", "aten::mul(Tensor a) -> Tensor", Origin.YAML, Location("y", 1))
    whole, short = ([t.text for t in places.touches(reader, [op], short=s) if t.what == "tests"] for s in (False, True))
    assert len(whole) == 9
    assert short == ["1 test over every OpInfo"] * 3 + ["1 test over every OpInfo; 5 more files over every OpInfo"]
    assert [t.text for t in places.touches(reader, [op]) if t.what == "tests, perhaps"] == ["1 test over some OpInfo; 1 more file like it"]


def test_what_differs_from_release_to_release_is_looked_up(told):
    texts = {"a": HEAD.format(kind="page", more="") + "{saved:mul} {saved:nothing} {shape:mul} {shaped:mul} {shape:none} {path:test/newer.py torch/_torch_docs.py} {path:test/new.py test/old.py}\n"}
    read, _, _ = told(texts)
    answers = {f"{kind}:{argument}": answer for (kind, argument), answer in read.answers.items()}
    (mul,) = (op for op in small.OPERATORS if op.name == "aten::mul.Tensor")
    assert answers["saved:mul"].text == ", ".join(mul.autograd.saved)
    assert (answers["saved:mul"].path, answers["saved:mul"].line) == (mul.autograd.formula.path, mul.autograd.formula.line)
    assert answers["shape:mul"].text
    assert answers["path:test/newer.py torch/_torch_docs.py"].text == DOCS
    assert [s.anchor for s in read.gone] == ["saved:nothing", "shape:none", "path:test/new.py test/old.py"]
    assert answers["path:test/new.py test/old.py"].text == "test/new.py"


def test_what_is_compiled_on_first_use_is_looked_up():
    """The jiterator came with 1.11: before it, an operator's own way has no such string."""
    place = ("aten/src/ATen/native/cuda/UnarySpecialOpsKernel.cu",)
    loop = Step("device", "lambda", *place, 153, "runs in gpu_kernel")
    text = Step("device", "sigmoid_string", *place, 129, "compiled at run time, runs in jitted_gpu_kernel", "at::isComplexType(common_dtype)")
    entry = Step("entry", "at::native::sigmoid_kernel_cuda", *place, 124)
    for steps, told in (((entry, loop, text), ("sigmoid_string", 129)), ((entry, loop), ("nothing", 0))):
        op = Operator("aten::sigmoid", "aten::sigmoid(Tensor a) -> Tensor", Origin.YAML, Location("y", 1), kernels={"CUDA": Chain(Status.RESOLVED, None, steps)})
        reader = SimpleNamespace(group=lambda *_, op=op: (op,), info=lambda: SimpleNamespace(source=SimpleNamespace(kind=SourceKind.DIRECTORY)))
        resolver = Resolver(reader, ())
        answer = resolver.answer("compiled", "sigmoid:CUDA")
        assert (answer.text, answer.line) == told
        assert resolver.answer("compiled", "sigmoid:MPS").stale == "no MPS kernel of sigmoid is known"


@pytest.mark.parametrize(
    ("steps", "own"),
    [
        ("entry:a.cpp kernel:a.cpp kernel:a.cpp stub:a.cpp registration:cpu/a.cpp kernel:cpu/a.cpp kernel:v.h", [0, 1, 4, 5]),  # helpers of the entry's file
        ("entry:a.cpp library:a.cpp stub:a.cpp registration:k.cpp kernel:k.cpp", [0, 3, 4]),
        ("entry:a.cpp kernel:b.cpp stub:a.cpp registration:k.cpp kernel:k.cpp", [0, 1]),  # what another file calls is shared
        ("entry:a.cpp kernel:a.cpp stub:b.cpp registration:k.cpp kernel:k.cpp", [0, 1]),
        ("entry:a.cpp calls:a.cpp stub:a.cpp registration:k.cpp kernel:k.cpp", [0, 3, 4]),
        ("entry:a.cpp kernel:a.cpp calls:a.cpp entry:a.cpp stub:a.cpp registration:k.cpp", [0, 1]),  # another operator's
        ("entry:a.cu device:a.cu kernel:a.cu", [0]),
    ],
)
def test_the_steps_of_an_operator_alone(steps, own):
    made = tuple(Step(role, f"s{n}", path, n) for n, (role, _, path) in enumerate(step.partition(":") for step in steps.split()))
    chain = Chain(Status.RESOLVED, None, made)
    assert [step.line for step in places._own(chain)] == own
    assert places.own_step(chain) is made[own[-1] if "registration" in places.own_roles(chain) else 0]


def test_a_word_that_fits_in_no_line_keeps_its_indent(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    touches = [places.Touch("entry", "a.cpp", 7, "at::native::a_name_that_is_longer_than_the_line"), places.Touch("what is longer than its column", "a.cpp", 7, "at::native::a_name_that_is_longer")]
    lines = list(terminal.table(touches, SimpleNamespace(strong=str, faint=str)))
    assert all(line.startswith("   ") for line in lines)
    assert "   entry                  at::native::a_name_that_is_longer_than_the_line" in lines
