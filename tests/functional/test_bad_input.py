# SPDX-License-Identifier: BSD-3-Clause
"""What people do wrong and what the world does to them: one clear message each, never a traceback."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from html.parser import HTMLParser
from io import BytesIO

import pytest

from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.checkout.open import SourceRequest
from cartographer.cli import _run
from cartographer.errors import CheckoutError
from cartographer.pipeline.building import BuildRequest, build
from cartographer.store.reader import Reader

LIST = "aten/src/ATen/native/native_functions.yaml"
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.3 and older have none
DERIVATIVES = "tools/autograd/derivatives.yaml"


@pytest.fixture
def command(capsys, quiet_cache):
    """The command line in this process: exit code and what it said. Anything but a clear error ends the test."""

    def call(*words):
        code = _run([str(word) for word in words], debug=False)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.err

    return call


@pytest.fixture(scope="session")
def archive(mini_repo):
    """All files of mini torch as a tar archive."""
    return subprocess.run(["git", "-C", str(mini_repo), "archive", DEMO_TAG], capture_output=True, check=True).stdout


@pytest.fixture
def tree(archive, tmp_path):
    """Mini torch unpacked, to be spoiled."""
    folder = tmp_path / "pytorch-0.3.0"
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, **SAFELY)
    return folder


def no_html(*words):
    return ("build", *words, "--no-html", "-q", "-j", "1")


def test_no_pages_among_the_files_of_a_source(command, tree):
    before = sorted(tree.rglob("*"))
    code, said = command("build", "--source", tree, "--out", tree, "-q", "-j", "1")
    assert code == 2
    assert "is a PyTorch tree" in said
    assert "--out" in said
    assert sorted(tree.rglob("*")) == before


# --- which PyTorch?


def test_unknown_tag_names_near_misses(command, mini_repo, tmp_path):
    code, said = command(*no_html("v0.3.1", "--repo", mini_repo, "--out", tmp_path / "out"))
    assert code == 1
    assert "no tag, branch or commit 'v0.3.1'" in said
    assert "did you mean v0.3.0" in said
    assert not (tmp_path / "out" / "atlas.db").exists()


@pytest.mark.parametrize("address", ["file:///nowhere/pytorch.git", "http://127.0.0.1:9/pytorch.git"])
def test_no_network(command, address):
    """The address, and what to use instead."""
    code, said = command(*no_html("v0.3.0", "--repo", address))
    assert code == 1
    assert address in said
    assert "--source" in said


def test_neither_repository_nor_index(monkeypatch, tmp_path):
    from cartographer.checkout import open as opening

    def lost(*_given, **_named):
        raise CheckoutError("the index does not answer")

    monkeypatch.setattr(opening.pypi, "find_wheel", lost)
    request = SourceRequest(version="v2.6.0", url="file:///nowhere/pytorch.git", cache=tmp_path)
    with pytest.raises(CheckoutError, match="the repository cannot be reached") as caught:
        build(BuildRequest(request, tmp_path / "out"))
    assert "--repo PATH" in caught.value.hint
    assert "--source" in caught.value.hint


def test_offline_says_what_is_not_there(command):
    code, said = command(*no_html("v0.3.0", "--offline"))
    assert (code, "not in the cache" in said) == (1, True)


@pytest.mark.parametrize("content", [(), ("torch/__init__.py",), (LIST,), ("README.md",)])
def test_not_a_pytorch_tree(command, tmp_path, content):
    folder = tmp_path / "something"
    for path in content:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    folder.mkdir(exist_ok=True)
    code, said = command(*no_html("--source", folder))
    assert code == 1
    assert "not a PyTorch tree" in said
    assert str(folder) in said


def test_a_repository_of_something_else(command, tmp_path):
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    (other / "a.txt").write_text("a")
    subprocess.run(["git", "-C", str(other), "add", "."], check=True)
    subprocess.run(["git", "-C", str(other), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"], check=True)
    code, said = command(*no_html("HEAD", "--repo", other, "--out", tmp_path / "out"))
    assert (code, "not a PyTorch tree" in said) == (1, True)


def test_an_empty_repository(command, tmp_path):
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "empty.git")], check=True)
    assert command(*no_html("v1.0.0", "--repo", tmp_path / "empty.git"))[0] == 1


@pytest.mark.parametrize("words", [("--source", "nowhere"), ("v1", "--repo", "nowhere"), ("--source", "nowhere.whl")])
def test_no_such_place(command, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, said = command(*no_html(*words))
    assert code == 1
    assert "nowhere" in said


# --- broken content


@pytest.mark.parametrize(
    ("path", "line", "text", "place"),
    [
        (LIST, 5, "  variants: [function, method", r"native_functions\.yaml:\d+:\d+"),
        (LIST, 4, "- func: mul.Tensor(Tensor self, Tensor other -> Tensor", r"native_functions\.yaml:4(:\d+)?"),
        (LIST, 5, "\tstructured_delegate: mul.out", r"native_functions\.yaml:5:\d+"),
        (DERIVATIVES, 4, "  self: 'mul_tensor_backward(grad", r"derivatives\.yaml:\d+:\d+"),
        ("aten/src/ATen/native/tags.yaml", 2, "  desc: {", r"tags\.yaml:\d+:\d+"),
    ],
)
def test_broken_yaml_names_file_line_and_column(command, tree, path, line, text, place):
    lines = (tree / path).read_text().splitlines()
    lines[line - 1] = text
    (tree / path).write_text("\n".join(lines) + "\n")
    code, said = command(*no_html("--source", tree, "--out", tree.parent / "out"))
    assert code == 1
    assert re.search(place, said), said


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"- func: \xff\xfe(\n", b"just a text\n", b"[1, 2]\n", b"a: b\n"])
def test_a_list_that_is_none(command, tree, content):
    (tree / LIST).write_bytes(content)
    code, said = command(*no_html("--source", tree, "--out", tree.parent / "out"))
    assert code == 1
    assert "native_functions.yaml" in said


@pytest.mark.parametrize("damage", ["truncated", "latin1", "nul", "empty", "binary"])
def test_damaged_source_is_read_all_the_same(tree, tmp_path, damage):
    """One spoilt file costs its own answers, not those of others."""
    path = tree / "aten/src/ATen/native/BinaryOps.cpp"
    whole = path.read_bytes()
    path.write_bytes({
        "truncated": whole[: whole.index(b"func##_Scalar_out")], "latin1": whole.replace(b"Tensor square", b"// caf\xe9\nTensor square"),
        "nul": whole.replace(b"Tensor square", b"\0\0Tensor square"), "empty": b"", "binary": bytes(range(256)) * 64,
    }[damage])  # fmt: skip
    (tree / "torch/nn/functional.py").write_bytes(b"def broken(:\n  \xff\n")
    (tree / "torchgen/model.py").write_bytes((tree / "torchgen/model.py").read_bytes() + b"\ndef broken(:\n")
    request = SourceRequest(source=str(tree), cache=tmp_path / "cache")
    out = build(BuildRequest(request, tmp_path / "out", workers=1, html=damage in {"latin1", "binary"}))
    with Reader(out) as reader:
        known = {operator.name: operator for operator in reader.operators()}
    assert known["aten::cumsum"].kernels["CUDA"].steps[0].symbol == "at::native::cumsum_cuda"
    square = known["aten::square"].kernels["CPU"] if "aten::square" in known else None
    assert square is not None
    if damage in {"latin1", "nul"}:
        assert square.steps[0].line == whole[: whole.index(b"Tensor square")].count(b"\n") + 1 + (damage == "latin1")
    else:
        assert square.status.value == "unresolved"


def test_missing_blobs(command, tmp_path, capsys):
    """A clone that lacks one file says so and goes on; one that lacks the operator list cannot."""
    repo = make_demo_repository(tmp_path / "damaged.git")
    pack = next((repo / "objects" / "pack").glob("*.pack"))
    moved = pack.rename(tmp_path / "moved.pack")
    with moved.open("rb") as stream:
        subprocess.run(["git", "-C", str(repo), "unpack-objects", "-q"], stdin=stream, check=True)

    def drop(path):
        blob = subprocess.run(["git", "-C", str(repo), "rev-parse", f"{DEMO_TAG}:{path}"], capture_output=True, text=True, check=True).stdout.strip()
        (repo / "objects" / blob[:2] / blob[2:]).unlink()

    shutil.rmtree(repo / "objects" / "pack")
    drop("aten/src/ATen/native/ReduceOps.cpp")
    code, said = command("build", DEMO_TAG, "--repo", repo, "--out", tmp_path / "out", "--no-html", "-j", "1")
    assert code == 0
    assert "1 file" in said or "ReduceOps.cpp" in said
    with Reader(tmp_path / "out") as reader:
        assert reader.operator("aten::mean").kernels["CPU"].status.value == "unresolved"
    drop(LIST)
    code, said = command(*no_html(DEMO_TAG, "--repo", repo, "--out", tmp_path / "out"))
    assert code == 1
    assert "native_functions.yaml" in said
    with Reader(tmp_path / "out") as reader:
        assert next(c.value for c in reader.info().counts if c.name == "operators") > 50


# --- where to write


@pytest.mark.parametrize("place", ["/proc/atlas", "file/below"])
def test_unwritable_output(command, mini_repo, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    code, said = command(*no_html(DEMO_TAG, "--repo", mini_repo, "--out", place))
    assert code == 1
    assert place in said
    assert "--out" in said


def test_output_that_is_a_file(command, mini_repo, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert command(*no_html(DEMO_TAG, "--repo", mini_repo, "--out", tmp_path / "file"))[0] == 2
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_folder_in_the_place_of_a_page(command, mini_repo, tmp_path):
    (tmp_path / "out" / "index.html").mkdir(parents=True)
    code, said = command("build", DEMO_TAG, "--repo", mini_repo, "--out", tmp_path / "out", "-q")
    assert code == 1
    assert "index.html" in said


# --- hostile names


class Markup(HTMLParser):
    """Elements and attributes that only hostile text can have brought."""

    def __init__(self):
        super().__init__()
        self.hostile = []

    def handle_starttag(self, tag, attributes):
        if tag in {"hostile", "img"} or any(k.startswith("on") and "alert" in (v or "") for k, v in attributes):
            self.hostile.append((tag, attributes))
        self.hostile += [(tag, v) for k, v in attributes if k in {"href", "src"} and re.match(r"\s*javascript:", v or "", re.IGNORECASE)]


EVIL = '"><hostile onclick=alert(1)><script>alert(2)</script>'


def test_hostile_names_are_text(tree, tmp_path):
    """Tags, modules, kernel names, formulas, macros, Python, paths: markup in them is never markup of ours."""
    listed = tree / LIST
    listed.write_text(
        listed.read_text().replace("  tags: [core, pointwise]", f"  tags: ['core', '{EVIL}']", 1).replace("python_module: fft", f"python_module: '{EVIL}'")
        .replace("CPU: cumsum_cpu", f"CPU: '{EVIL}'").replace("  manual_cpp_binding: True", f"  manual_cpp_binding: True\n  '{EVIL}': '{EVIL}'")
    )  # fmt: skip
    derivatives = tree / DERIVATIVES
    derivatives.write_text(derivatives.read_text().replace("  other: grad * alpha", f"  other: 'grad * alpha; /* {EVIL} */'"))
    tags = tree / "aten/src/ATen/native/tags.yaml"
    tags.write_text(tags.read_text() + f"\n- tag: '{EVIL}'\n  desc: '{EVIL}'\n")
    (tree / "torch/version.txt").write_text(EVIL)
    folder = tree / "aten/src/ATen/native/a&b<hostile>'\"#?%2e%2e 50%"
    folder.mkdir()
    (folder / f"{'long' * 55}.cpp").write_text(f'#define X "{EVIL}"\nnamespace at::native {{\nvoid f() {{ g("{EVIL}"); }}\n}}\nTORCH_LIBRARY(evil, m) {{ m.def("{EVIL.replace(chr(34), "")}(Tensor x) -> Tensor"); }}\n')
    (folder / "..%2f..%2fescape.py").write_text(f"def f():\n    '''{EVIL}'''\n")
    (folder / "javascript:alert(1).py").write_text("x = 1\n")
    out = build(BuildRequest(SourceRequest(source=str(tree), cache=tmp_path / "cache"), tmp_path / "site" / "atlas", workers=1))
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["atlas"]
    found = {}
    for page in out.rglob("*.html"):
        markup = Markup()
        text = page.read_text(encoding="utf-8")
        markup.feed(text)
        if markup.hostile or "<script>alert" in text:
            found[page.relative_to(out).as_posix()] = markup.hostile
    assert found == {}
    assert len(list((out / "source").rglob("*.html"))) > 100
    assert all(len(part.encode()) <= 255 for path in out.rglob("*") for part in path.parts)
