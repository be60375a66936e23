# SPDX-License-Identifier: BSD-3-Clause
"""Texts answered in small atlases: of a repository, of an older release, of a wheel."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from cartographer.errors import NotFound
from cartographer.guide import book, places, terminal
from cartographer.model.atlas import Landmark
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Operator, Origin, Status, Step
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
    Landmark("BinaryUfuncInfo", "tests", "test/test_binary.py", 4, "2 tests over every BinaryUfuncInfo"),
    Landmark("OpInfo", "tests", "test/test_ops.py", 4, "9 tests over every OpInfo"), Landmark("ShapeFuncInfo", "tests", "test/test_shape.py", 4, "1 test"),
    Landmark("/torch/", "owner", "CODEOWNERS", 2, "@a"), Landmark("Building", "command", "CONTRIBUTING.md", 5, "python setup.py develop"),
    Landmark("Linting", "command", "CONTRIBUTING.md", 8, "make lint"), Landmark("c10", "map", "CONTRIBUTING.md", 3, "c10"),
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
    assert what[:3] == ["yaml row", "yaml row", "CUDA entry"]
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
    reader = SimpleNamespace(landmarks=lambda *_: ())
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


def test_numbers_say_how_they_were_counted(told):
    read, _, _ = told({"a": HEAD.format(kind="idea", more="") + "{count:layers_mul.Tensor} {count:acting_mul.Tensor} {count:written} {count:registrations_python} {count:nonsense}\n"})
    numbers = {argument: (answer.text, answer.receipt) for (kind, argument), answer in read.answers.items() if kind == "count"}
    assert numbers["layers_mul.Tensor"][0] == "6"
    assert numbers["acting_mul.Tensor"][0] == "4"
    assert numbers["registrations_python"] == ("1", "operators with a kernel that Python registers")
    assert all(receipt for name, (_, receipt) in numbers.items() if name != "nonsense")
    assert [s.anchor for s in read.gone] == ["count:nonsense"]


def test_a_word_that_fits_in_no_line_keeps_its_indent(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    touches = [places.Touch("entry", "a.cpp", 7, "at::native::a_name_that_is_longer_than_the_line"), places.Touch("what is longer than its column", "a.cpp", 7, "at::native::a_name_that_is_longer")]
    lines = list(terminal.table(touches, SimpleNamespace(strong=str, faint=str)))
    assert all(line.startswith("   ") for line in lines)
    assert "   entry                  at::native::a_name_that_is_longer_than_the_line" in lines
