# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed: for each parser its seeds, the words of its grammar, and one try. A try may raise CartographerError alone."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import random
import shutil
import sqlite3
import tempfile
import zipfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from mutate import Mutator

from cartographer.checkout import refs, versions
from cartographer.checkout.blob_ids import BlobIds, blob_id
from cartographer.checkout.blob_reader import BlobReader
from cartographer.checkout.cache import Cache
from cartographer.checkout.git_tree import parse_listing
from cartographer.checkout.wheel import open_wheel
from cartographer.codegen import operators as codegen
from cartographer.codegen import sources as generators
from cartographer.codegen.files import generated_files
from cartographer.compare.operators import compare
from cartographer.compare.rows import operator_list
from cartographer.contributing.elsewhere import elsewhere
from cartographer.declare import declarations, deprecated, derivatives, native_functions, tags
from cartographer.dispatch import collect
from cartographer.dispatch.build import Build
from cartographer.dispatch.cmake import read_project
from cartographer.dispatch.keys import PATHS, read_rules
from cartographer.dispatch.library import library_findings
from cartographer.dispatch.python.findings import python_findings
from cartographer.errors import CartographerError
from cartographer.expand.conditions import evaluate
from cartographer.expand.expander import Expander, ExpansionTooLargeError
from cartographer.expand.macros import MacroTable
from cartographer.expand.tokens import read_tokens, tokenize
from cartographer.guide import texts as guide_texts
from cartographer.guide.anchors import Resolver
from cartographer.history import commits, kept, patch, raw, slices
from cartographer.link import operators as link
from cartographer.model.fact import FileFacts, MacroDefinition
from cartographer.model.location import Language, Location
from cartographer.model.operator import Operator, Origin
from cartographer.model.schema import FunctionSchema, SchemaError
from cartographer.model.schema_text import printed
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.query import export, show
from cartographer.query.search import search
from cartographer.query.where import where
from cartographer.render.prose import _MARKDOWN
from cartographer.scan.cache import FactCache
from cartographer.scan.cpp import scan_cpp
from cartographer.scan.python import scan_python
from cartographer.store import writer
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mini_torch"
YAML = [b"- func: ", b"variants: function, method", b"dispatch:\n    CPU: f\n", b"structured: True", b"autogen: ", b"tags: [core, a]", b"- ", b"  ", b"{a: ", b"&a ",
        b"*a", b"!!python/object:os.system ", b"<<: *a", b"|\n", b">-\n", b"? ", b"---\n", b"...\n", b"%YAML 1.1\n", b"# "]  # fmt: skip
SCHEMA = [b"Tensor", b"Tensor(a!)", b"Tensor(a->*)[]", b"int[2]", b"SymInt?", b"Scalar", b"*, ", b"-> ", b"()", b'str="a"', b"int[2]=[1,2]", b"=None", b"Dimname", b"__torch__.a.b", b"..."]
CPP = [b"template <typename T> ", b"#define F(x) x\n", b"#if A && defined(B)\n", b"#else\n", b"#endif\n", b"namespace a {", b"TORCH_LIBRARY(a, m) {", b"m.impl(", b'm.def("',
       b"REGISTER_DISPATCH(a, &b);", b'AT_DISPATCH_ALL_TYPES(t, "a", [&] {', b"k<<<1, 2>>>(", b"class A : B {", b"operator()", b"noexcept", b'R"(', b"__global__ ", b"@interface ",
       b"- (void)a:(int)b {", b'[[host_name("a")]]', b"requires ", b"->decltype(", b"= default;", b"##", b"__VA_OPT__(", b'extern "C" {', b"static "]  # fmt: skip
PYTHON = [b"def f(a, *b, c=1, **d):\n    ", b"class A(B):\n    ", b"@register(", b"for a in b:\n    ", b"while True:\n    ", b"lambda a: ", b"yield ", b"import torch\n", b"from a import *\n",
          b"lib.impl(", b"torch.ops.aten.", b"[x for x in ", b"{**a}", b'f"{a}"', b"if TYPE_CHECKING:\n", b"try:\n    ", b"except:\n    ", b"a[b:c]", b"** 99999", b"'a' * 10**9", b"range(10**12)",
          b"match a:\n    case b:\n        ", b"async ", b"with a as b:\n    ", b"global a\n", b"del a\n", b"a: int = 1\n", b"1 << 99999999"]  # fmt: skip
CMAKE = [b"if(A)\n", b"elseif(B)\n", b"endif()\n", b"foreach(a IN LISTS b)\n", b"set(a ${b})\n", b"list(APPEND a ", b'file(GLOB a "*.cpp")\n', b"${a}", b"append_filelist(", b'option(A "" ON)\n',
         b"cmake_dependent_option(", b"include(a.cmake)\n", b"add_subdirectory(", b"[==[", b"]==]", b"function(a)\n", b"NOT ", b" AND ", b" STREQUAL ", b'MATCHES "', b"-DA=1", b"if(USE_XPU)\n",
         b"execute_process(COMMAND git clone ${u} ${d})\n", b"set(u https://a.b/c)\n", b"add_subdirectory(${d})\n", b'file(READ "${R}/third_party/a.txt" c)\n',
         b"execute_process(COMMAND git checkout ${c} WORKING_DIRECTORY ${d})\n"]  # fmt: skip
CMAKE_SEED = b"""option(USE_A "a" ON)
cmake_dependent_option(USE_B "b" ON "USE_A;NOT APPLE" OFF)
include(a.cmake)
append_filelist("core_sources" SRCS)
file(GLOB_RECURSE more "native/*.cpp" "native/cuda/*.cu")
foreach(f IN LISTS more)
  if(USE_A AND (NOT MSVC OR "${X}" STREQUAL "y"))
    list(APPEND SRCS ${f})
  elseif(DEFINED USE_B)
    set(SRCS ${SRCS} "${PROJECT_SOURCE_DIR}/b.cpp" PARENT_SCOPE)
  else()
    list(REMOVE_ITEM SRCS a.cpp) # [[ a comment ]]
  endif()
endforeach()
add_library(torch_cpu ${SRCS} [==[c d.cpp]==])
target_compile_definitions(torch_cpu PRIVATE -DA=1 "B=\\"c\\"")
"""
CONDITIONS = [b" AND ", b" OR ", b"NOT ", b"( ", b" )", b"DEFINED ", b"CMAKE_SYSTEM_PROCESSOR ", b"CMAKE_VERSION ", b" MATCHES ", b" IN_LIST ", b" VERSION_LESS_EQUAL ", b'"', b"${", b"}",
              b"|", b"*", b"+", b"?", b"(", b")", b"[", b"]", b"{9}", b".*", b"(.|x)*", b"\\", b"99999999999", b"1.2.3"]  # fmt: skip
CONDITIONS_SEED = b"""CMAKE_SYSTEM_PROCESSOR MATCHES "^(i[3-6]86|x86_64|armv[5-8].*|aarch64|arm64)$" OR IOS_ARCH MATCHES "^arm64.*"
CMAKE_SYSTEM_NAME MATCHES "Linux" AND CMAKE_VERSION VERSION_LESS_EQUAL "3.27.1"
CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT ( USE_ROCM OR "${CMAKE_SYSTEM_NAME}" STREQUAL "Windows" )
DEFINED ENV{A} OR CMAKE_SYSTEM_NAME IN_LIST NAMES
"""
BZL_SEED = b'core_sources = ["a.cpp"] + [x + ".cpp" for x in other]\nother = [\n    "b",\n]\ndef f(a = True):\n    return core_sources\nlibs = core_sources + other\n'
GUIDE = [b"+++\n", b'title = "a"\n', b'kind = "journey"\n', b"number = 1\n", b'words = ["a"]\n', b"## ", b"@ floor=1 {op:add}\n", b"{op:add}", b"{places:add}", b"{count:operators}", b"{files}",
         b"{operators:a}", b"{missing}", b"{symbol:a::b}", b"{kernel:add:CUDA}", b'stops = ["a"]\n', b"| a | b |\n|---|---|\n", b"<script>", b"[a](javascript:b)", b"![a](b)", b"`", b"> ", b"* "]  # fmt: skip
PATCH = (
    b"1111111111111111111111111111111111111111\ndiff --git a/x.h b/x.h\nindex aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 100644\n--- a/x.h\n+++ b/x.h\n"
    b"@@ -3 +3,2 @@ f\n-a\n+b\n+c\n2222222222222222222222222222222222222222\ndiff --git a/o b/n\nsimilarity index 90%\nrename from o\nrename to n\nindex aa..bb 100644\n@@ -1 +1 @@\n-a\n+b\n"
    b'diff --git "a/q\\303\\251" "b/q\\303\\251"\nnew file mode 100644\nindex 00..bb\n@@ -0,0 +1,3 @@\n+a\n+b\n+c\ndiff --git a/d b/d\ndeleted file mode 100644\nindex aa..00\n'
)
RAW = (
    b"1111111111111111111111111111111111111111\n\0:100644 100644 aa bb M\0x.h\0:100644 100644 aa bb R090\0o\0n\0:000000 100644 00 bb A\0new\0"
    b"2222222222222222222222222222222222222222\n\0:100644 120000 aa bb T\0t\0:160000 000000 aa 00 D\0sub\0:100644 100644 aa bb C100\0a\0b\0"
)


@dataclass(frozen=True)
class Target:
    """One parser. `make` gives the next input of a seeded generator; `attempt` feeds it."""

    name: str
    attempt: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    words: Sequence[bytes] = ()
    seconds: float = 5.0  # of CPU time that one input may take
    largest: int = 60_000
    make: Callable[[random.Random, Target], Iterator[bytes]] | None = field(default=None)

    def inputs(self, seed: int, more: Sequence[bytes] = ()) -> Iterator[bytes]:
        """Inputs without end, the same ones for the same seed."""
        rng = random.Random(f"{self.name}:{seed}")
        if self.make is not None:
            yield from self.make(rng, self)
        mutator = Mutator(rng, [*self.seeds(), *more], self.words, self.largest)
        while True:
            yield mutator.make()


# --- mini torch as seeds


@cache
def mini() -> dict[str, bytes]:
    """The files of the newest mini torch by path."""
    return {
        p.relative_to(folder).as_posix().replace(".py.txt", ".py"): p.read_bytes()
        for folder in (FIXTURES / "07-structured", FIXTURES / "08-functorch") for p in sorted(folder.rglob("*")) if p.is_file()
    }  # fmt: skip


def ending(*ends: str, among: str = "") -> Callable[[], list[bytes]]:
    return lambda: [data for path, data in mini().items() if path.endswith(ends) and among in path]


@cache
def rows(path: str) -> list[bytes]:
    """The rows of a yaml file, one to three at a time: small inputs reach more."""
    parts = [b"- " + part for part in mini()[path].split(b"\n- ")[1:]]
    return [b"\n".join(parts[n : n + 1 + n % 3]) + b"\n" for n in range(len(parts))]


@cache
def facts() -> dict[str, FileFacts]:
    from cartographer.scan.one import scan_file

    return {path: scan_file(path, data) for path, data in mini().items()}


@cache
def derived() -> tuple:
    declared = declarations.load({path: data for path, data in mini().items() if path in declarations.WANTED})
    return declared, codegen.derive(declared, mini())


# --- one try of each


def try_schema(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        schema = FunctionSchema.parse(text)
    except SchemaError:
        return
    printed(schema)
    assert str(FunctionSchema.parse(str(schema))) == str(schema), "a schema that does not print as it reads"


def try_declarations(data: bytes) -> None:
    """The whole list, and what torchgen and a diff make of it."""
    declared, _ = derived()
    loaded = replace(declared, functions=native_functions.load(data))
    codegen.derive(loaded, mini())
    listed = operator_list(SourceInfo(SourceKind.GIT, "1", "v1", None, "x"), loaded, *codegen.listed(loaded, mini()))
    compare(listed, _own_list())


@cache
def _own_list():
    return operator_list(SourceInfo(SourceKind.GIT, "0", "v0", None, "x"), derived()[0], *codegen.listed(derived()[0], mini()))


def try_others(data: bytes) -> None:
    for load in (tags.load, deprecated.load):
        try:
            load(data)
        except CartographerError:
            continue


_LANGUAGES = (Language.CPP, Language.CUDA, Language.OBJCXX, Language.METAL, Language.C)


def try_cpp(data: bytes) -> None:
    scan_cpp(data, _LANGUAGES[len(data) % 5])


def try_registrations(data: bytes) -> None:
    """Macros of the text itself, registration blocks, TorchScript operators, custom classes."""
    path = "torch/csrc/jit/x.cpp"
    known = {**facts(), path: scan_cpp(data, Language.CPP)}
    build = Build(read_project(mini().get), ["MPS"])
    library_findings([(path, data.decode("utf-8", "replace"))], MacroTable(known, build.holds), build)


def try_expansion(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    first, _, rest = text.partition("\n")
    macros = [MacroDefinition("F", ("x", "..."), 1, first), MacroDefinition("G", None, 1, rest[:200]), MacroDefinition("H", ("a", "b"), 1, rest[200:400])]
    table = MacroTable({"a.cpp": FileFacts("C++", 1, macros=tuple(macros))}, lambda _g: None)
    read_tokens(text, "a.cpp")
    with contextlib.suppress(ExpansionTooLargeError):
        Expander(table, "a.cpp", 9, limit=20_000).expand(tokenize(rest, "a.cpp", 1))
    for line in text.splitlines()[:20]:
        evaluate(line, lambda name: len(name) % 3 or None, lambda name: len(name) % 2)


def try_keys(data: bytes) -> None:
    texts = {path: mini()[path].decode() for path in PATHS if path in mini()}
    texts[sorted(texts)[len(data) % len(texts)]] = data.decode("utf-8", "replace")
    read_rules(texts, MacroTable(facts(), lambda _g: None))


@cache
def _world_parts():
    made = collect.registrations(facts(), derived()[1], {p: d for p, d in mini().items() if not p.endswith(".py")})
    return made.rules, made.findings


def try_python(data: bytes) -> None:
    """A module that `import torch` brings, evaluated."""
    rules, found = _world_parts()
    texts = {path: text for path, text in mini().items() if path.endswith(".py") and path.startswith("torch/")}
    texts["torch/_fuzzed.py"] = data
    texts["torch/__init__.py"] = texts["torch/__init__.py"] + b"\nimport torch._fuzzed\nfrom torch._fuzzed import *\n"
    python_findings(texts, collect._world(rules, derived()[1], found, complete=True), lambda _name: True)


def try_generators(data: bytes) -> None:
    """A generator of the tree's, read for its rules."""
    paths = sorted(p for p in mini() if p.endswith(".py") and generators.matches(p))
    texts = {**mini(), paths[len(data) % len(paths)]: data}
    generated_files(texts, frozenset(texts))
    codegen.derive(derived()[0], texts)


def try_cmake(data: bytes) -> None:
    project = read_project({"CMakeLists.txt": data, "caffe2/CMakeLists.txt": data[::-1], "build_variables.bzl": data}.get)
    build = Build(project, ["MPS"])
    for path in ("a.cpp", "caffe2/b.cu"):
        build.needs(path, ("A && defined(B)",))
        build.terms(path, ("A && defined(B)",))
    text = data.decode("utf-8", "replace")
    list(elsewhere((Operator("aten::f", "f()", Origin.YAML, Location("y", 1), dispatch={"A": "kernel", "XPU": "missing"}),), {"caffe2/CMakeLists.txt": f"# clone\n{text}", "third_party/a.txt": "abc1"}))


def try_conditions(data: bytes) -> None:
    """One condition of CMake's a line; its names have values, so that comparisons take place."""
    build = Build(read_project(mini().get), ["MPS"])
    for line in data.decode("utf-8", "replace").splitlines()[:200]:
        assert build._cmake(line) in {True, False, None}


class _Says:
    """A git whose answer is the input."""

    def __init__(self, data: bytes) -> None:
        self._data, self._told = data, False

    def start(self, *_words: str):
        data, self._data = self._data, b""
        return SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO(data), poll=lambda: None, kill=lambda: None, wait=lambda: 0)

    def run(self, *_words: str, **_more) -> bytes:
        return self._data

    folder = Path("/nowhere")


def try_git(data: bytes) -> None:
    """What git prints, in pieces of any size: patches, raw differences, commits, trees, refs, contents."""
    size = 1 + len(data) % 97
    pieces = [data[n : n + size] for n in range(0, len(data), size)]
    for parse in (patch.parse, raw.parse):
        try:
            list(parse(iter(pieces)))
        except CartographerError:
            continue
    for read in (parse_listing, refs.parse_refs, refs.parse_remote_refs, lambda d: commits.read(_Says(d), "HEAD"), lambda d: list(BlobReader(_Says(d)).read_many(("a" * 40, "b" * 40)))):
        try:
            read(data)
        except CartographerError:
            continue


def try_versions(data: bytes) -> None:
    """What people and trees say a version is."""
    text = data.decode("utf-8", "replace")
    versions.read_version_py(text)
    versions.find_version(lambda _path: text, text[:100])
    versions.is_safe(text)
    versions.version_of_commit(text, "a" * 40, text[:20])
    for ask in (refs.check_version, refs.candidates, refs.is_release, refs.release_order, refs.numbers, lambda t: refs.near_misses(t, ("v1.0.0", t))):
        try:
            ask(text)
        except CartographerError:
            continue


@cache
def scratch() -> Path:
    """A folder in memory where there is one."""
    import atexit

    place = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    made = Path(tempfile.mkdtemp(prefix="cartographer-fuzz-", dir=place))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def try_wheel(data: bytes) -> None:
    path = scratch() / "torch-9.1.0-py3-none-any.whl"
    path.write_bytes(data)
    tree = open_wheel(path, Cache(scratch() / "cache"))
    try:
        for _, text in tree.read_many(file.path for file in tree.files()):
            assert len(text) <= 1 << 25
    finally:
        tree.close()


def try_guide(data: bytes) -> None:
    text = guide_texts._text("ideas/fuzzed", data.decode("utf-8", "replace"))
    assert isinstance(text.number, int)
    list(Resolver(sample_reader(), (text,)).check())
    _MARKDOWN.render(text.body)


def try_question(data: bytes) -> None:
    """What people type at an atlas."""
    text = data.decode("utf-8", "replace")
    reader = sample_reader()
    for ask in (lambda: where(reader, text), lambda: where(reader, "add", text[:20]), lambda: show.find(reader, text), lambda: search(reader, text, 20)):
        try:
            ask()
        except CartographerError:
            continue


def read_whole(path: Path) -> None:
    """Every look-up of an atlas that the commands have."""
    from cartographer.query import coverage, where_json, where_text
    from cartographer.query.ink import Ink
    from cartographer.store.doubt import doubting

    with doubting(path), Reader(path) as reader:
        for ask in (
            lambda: list(where_text.text(where(reader, "add"), Ink(False))), lambda: where_json.record(where(reader, "softmax")), lambda: where(reader, "AddKernel.cu:20"),
            lambda: list(show.text(*show.find(reader, "add"), Ink(False))), lambda: search(reader, "add kernel", 20), lambda: list(export.lines(reader)), reader.info,
            reader.oplist, lambda: list(coverage.table_lines(coverage.coverage(reader.operator_rows()))),
            lambda: (reader.file_entries(), reader.symbols()),
        ):  # fmt: skip
            try:
                ask()
            except CartographerError:
                continue


@cache
def sample_db() -> bytes:
    """The atlas made by hand that the store's tests use."""
    spec = importlib.util.spec_from_file_location("sample_atlas", Path(__file__).parents[1] / "unit" / "store" / "sample_atlas.py")
    sample = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sample)
    writer.write(sample.atlas(), scratch() / "sample")
    return (scratch() / "sample" / "atlas.db").read_bytes()


@cache
def sample_reader() -> Reader:
    sample_db()
    return Reader(scratch() / "sample")


def try_atlas(data: bytes) -> None:
    path = scratch() / "damaged.db"
    path.write_bytes(data)
    read_whole(path)


def odd_atlases(rng: random.Random, _target: Target) -> Iterator[bytes]:
    """Whole databases with odd contents (cells of every type, lost rows), and ones with damaged bytes."""
    good = sample_db()
    odd = [None, "", "x", -1, 10**15, 1.5, b"\0\xff", "{}", "[]", "[1, {}]", "null", '{"CPU": 3}', "\0", "é\u202e", "resolved", "9" * 400]
    path = scratch() / "odd.db"
    while True:
        if rng.random() < 0.3:
            data = bytearray(good)
            for _ in range(1 + int(rng.expovariate(0.3))):
                at = rng.choice((rng.randrange(100), rng.randrange(len(data)), rng.randrange(len(data))))
                data[at] = rng.randrange(256)
            yield bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
            continue
        path.write_bytes(good)
        connection = sqlite3.connect(path)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        connection.execute("PRAGMA writable_schema = ON")
        for _ in range(1 + int(rng.expovariate(0.7))):
            table = rng.choice(tables)
            try:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info('{table}')")]
                some = "rowid % 3 = 0" if rng.random() < 0.5 else "1"
                if rng.random() < 0.15:
                    connection.execute(f"DELETE FROM '{table}' WHERE {some}")
                elif rng.random() < 0.05:
                    connection.execute(f"DROP TABLE '{table}'")
                else:
                    connection.execute(f"UPDATE OR IGNORE '{table}' SET \"{rng.choice(columns)}\" = ? WHERE {some}", (rng.choice(odd),))
            except (sqlite3.Error, IndexError):
                continue
        connection.commit()
        connection.close()
        yield path.read_bytes()


WHEEL = {
    "torch/version.py": b"__version__ = '9.1.0+cpu'\ngit_version = '0123456789abcdef0123456789abcdef01234567'\n", "torch/__init__.py": b"x = 1\n",
    "torchgen/gen.py": b'write("Functions.h")\n', "torchgen/packaged/ATen/native/native_functions.yaml": b"- func: one(Tensor self) -> Tensor\n",
    "torch/include/ATen/Functions.h": b"#pragma once\n", "torch/include/c10/core/Thing.h": b"int x;\n",
}  # fmt: skip


def odd_wheels(rng: random.Random, _target: Target) -> Iterator[bytes]:
    """Archives with hostile names, kinds, sizes and flags; damaged bytes, most of them in the directory at the end."""
    names = ["../a", "/etc/a", "torch/../../a", "C:/a", "torch\\a", "torch//a", "torch/./a", "torch/a\0b", "torch/\u202egnp.py", "torch/" + "d/" * 500 + "a.py", "", "torch/é.py", "torch/__init__.py",
             "torch/version.py", "TORCH/VERSION.PY", "torch/include/ATen/x.h", "torch/" + "n" * 5000, ".", "torch/a.py/", "torch/include/ATen/Functions.h/a.h", "con", "a" * 70 + ".py"]  # fmt: skip
    while True:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as out:
            members = {**WHEEL, **{f"torch/m{n}.py": b"y = %d\n" % n * rng.randrange(30) for n in range(rng.randrange(4))}}
            for name, data in members.items():
                if rng.random() < 0.02:
                    continue
                out.writestr(name, data, rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2 if rng.random() < 0.1 else zipfile.ZIP_STORED)))
            if rng.random() < 0.5:
                info = zipfile.ZipInfo("torch/replaced.py")
                info.filename = rng.choice(names)
                info.external_attr = rng.choice((0, 0o120777, 0o060666, 0o100644, 0o040755)) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                info.flag_bits = rng.choice((0, 0, 1))
                out.writestr(info, rng.choice((b"", b"x = 1\n", bytes(rng.choice((100, 200_000, 3_000_000)))))) if info.filename not in out.namelist() else None
        data = bytearray(buffer.getvalue())
        if rng.random() < 0.7:
            for _ in range(1 + int(rng.expovariate(0.4))):
                end = rng.random() < 0.7
                at = max(0, len(data) - 1 - int(rng.expovariate(1 / 300))) if end else rng.randrange(len(data))
                data[at] = rng.choice((rng.randrange(256), 0, 255))
        if rng.random() < 0.05:
            del data[rng.randrange(len(data)) :]
        yield bytes(data)


@cache
def cached() -> list[bytes]:
    """Kept things of each kind, encoded: facts, a dated tree, a slice, page digests, blob ids."""
    from cartographer.model.atlas import Strata
    from cartographer.scan.cache import encode

    some = [encode(found) for path, found in list(facts().items())[:12]]
    strata = Strata("lines", "", commits=(("a" * 40, "2020-01-01"),))
    one = scratch() / "one"
    shutil.rmtree(one, ignore_errors=True)
    slices.Slices(one).add([b"k" * 40], [[patch.Change(0, b"a", b"", b"c" * 40, b"\1\0\0\0" * 3)]])
    return [*some, kept.pack(strata), next(one.iterdir()).read_bytes()]


def try_cached(data: bytes) -> None:
    """A damaged entry is as if it were not there."""
    import zlib

    place = scratch() / "kept"
    place.mkdir(exist_ok=True)
    (place / "a.strata").write_bytes(zlib.compress(data))
    kept.load(place / "a.strata")
    (place / "a.slice").write_bytes(data)
    found = slices.Slices(place)
    for key in list(found._where)[:3]:
        found.changes(key)
    cache = Cache(place)
    ids = BlobIds(cache, "x")
    cache.write(data, *ids._name)
    BlobIds(cache, "x")
    if len(data) % 50 == 0:
        (place / "facts.db").write_bytes(data)
        base = FactCache(place / "facts.db")
        list(base.load(["a"]))
        base.keep([("a", b"b")])
        base.close()


def try_link(data: bytes) -> None:
    """A source file of the tree is what the input says: dispatch and link over all of it."""
    paths = sorted(p for p in mini() if p.endswith((".cpp", ".cu", ".mm", ".h", ".cuh")))
    path = paths[int(blob_id(data)[:6], 16) % len(paths)]
    from cartographer.dispatch import assemble
    from cartographer.scan.one import scan_file

    texts = {**mini(), path: data}
    known = {**facts(), path: scan_file(path, data)}
    found = collect.registrations(known, derived()[1], texts)
    made, _ = assemble.assemble(derived()[1], found)
    link.link(made, link.prepare(known, lambda p: texts[p].decode("utf-8", "replace") if p in texts else None))


NATIVE = "aten/src/ATen/native/native_functions.yaml"
QUESTIONS = [b"add", b"aten::add.Tensor", b"torch.Tensor.add_", b"F.softmax", b"AddBackward0", b"AddKernel.cu:20", b"void at::native::vectorized_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>>(int)",
             b"_ZN2at6native17vectorized_kernelILi4EEEvi", b"at::_ops::add_Tensor::call", b"RuntimeError: \"add_stub\" not implemented for 'Half'", b"torch.ops.aten.add.default", b"RegisterCPU.cpp", b"caching allocator"]  # fmt: skip

TARGETS = {target.name: target for target in (
    Target("yaml", native_functions.load, lambda: rows(NATIVE), [*YAML, *SCHEMA]),
    Target("operators", try_declarations, lambda: rows(NATIVE), [*YAML, *SCHEMA], seconds=10),
    Target("schema", try_schema, lambda: [row.split(b"func: ")[1].split(b"\n")[0] for row in rows(NATIVE) if b"func: " in row], SCHEMA, largest=20_000),
    Target("derivatives", derivatives.load, lambda: rows("tools/autograd/derivatives.yaml"), [*YAML, *SCHEMA]),
    Target("tags", try_others, lambda: [b"- tag: a\n  desc: |\n    b\n", *ending("deprecated.yaml", "tags.yaml")()], YAML),
    Target("cpp", try_cpp, ending(".cpp", ".cu", ".h", ".mm", ".metal", ".cuh", ".c"), CPP, seconds=10),
    Target("registrations", try_registrations, ending(".cpp"), CPP, seconds=10),
    Target("expansion", try_expansion, ending(".cpp", ".h"), [*CPP, b"F(", b"G", b"H(a, ", b"defined(A)", b"&& ", b"|| "], seconds=10, largest=20_000),
    Target("keys", try_keys, ending("DispatchKey.h", "DispatchKeySet.h", "DispatchKeySet.cpp", "OperatorEntry.cpp"), CPP, seconds=10),
    Target("python", scan_python, ending(".py"), PYTHON, seconds=10),
    Target("evaluator", try_python, ending(".py", among="torch/"), PYTHON, seconds=20),
    Target("generators", try_generators, ending(".py", among="gen"), PYTHON, seconds=20),
    Target("cmake", try_cmake, lambda: [CMAKE_SEED, BZL_SEED], CMAKE),
    Target("conditions", try_conditions, lambda: [CONDITIONS_SEED], CONDITIONS),
    Target("git", try_git, lambda: [PATCH, RAW, b"commit a\n%s 2020-01-01 %s\n" % (b"1" * 40, b""), b"100644 blob %s 12\ta/b.c\0" % (b"a" * 40), b"%s refs/tags/v1\n" % (b"a" * 40), b"%s blob 3\nabc\n%s missing\n" % (b"a" * 40, b"b" * 40)],
           [b"@@ -1,2 +3,4 @@\n", b"diff --git a/b b/b\n", b"rename to ", b"index a..b", b"1" * 40 + b"\n", b"\0", b":100644 100644 a b M\0", b" missing\n", b" blob 99999999999\n", b'\tquoted"']),
    Target("versions", try_versions, lambda: [b"v2.6.0", b"2.6.0a0+git1a2b3c4", b"__version__ = '1.0'\ngit_version = 'a'\n", b"pytorch (1.13.1+dfsg-4) unstable", b"refs/tags/v1.0.0^{}", b"HEAD~3"], [b"v", b".", b"rc1", b"+cpu", b"^{}", b"-"], largest=5_000),
    Target("wheel", try_wheel, list, make=odd_wheels),
    Target("guide", try_guide, lambda: [p.read_bytes() for p in sorted((Path(__file__).parents[2] / "site" / "guide").rglob("*.md"))], GUIDE, seconds=10, largest=20_000),
    Target("question", try_question, lambda: QUESTIONS, [b"::", b"<", b">", b".", b"_", b"*", b"%", b'"', b" OR ", b" NEAR(", b"NOT ", b":", b"_ZN", b"torch.", b"aten::"], largest=20_000),
    Target("atlas", try_atlas, list, make=odd_atlases),
    Target("cache", try_cached, cached),
    Target("link", try_link, ending(".cpp", ".cu", ".mm", ".h", ".cuh"), CPP, seconds=20),
)}  # fmt: skip
