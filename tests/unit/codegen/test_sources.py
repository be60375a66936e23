# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.codegen import shards
from cartographer.codegen.files import generated_files
from cartographer.codegen.sources import FUNCTIONALIZATION, GEN, MODEL, Sources, matches


@pytest.mark.parametrize(("path", "wanted"), [
    ("torchgen/gen.py", True), ("torchgen/api/cpp.py", True), ("tools/autograd/templates/Functions.h", True),
    ("torchgen/executorch/model.py", False), ("torch/csrc/autograd/engine.cpp", False), ("xtorchgen/gen.py", False),
])
def test_wanted(path, wanted):
    assert matches(path) is wanted


def test_constants_of_other_modules_are_followed(release):
    sources = Sources(release.SOURCES)
    assert sources.strings(FUNCTIONALIZATION, "MUTABLE_OPS_NOT_USING_FUNCTIONALIZATION") == {"odd_", "resize_"}
    assert sources.strings(FUNCTIONALIZATION, "NO_SUCH") == frozenset()
    assert sources.strings("no_such.py", "X") == frozenset()


def test_rules_have_places(release):
    sources = Sources(release.SOURCES)
    assert sources.rule(GEN, "needs_backend_select") == "torchgen/gen.py:2"
    assert sources.rule(GEN, "gone") == "torchgen/gen.py"
    assert sources.rule("gone.py", "gone") == ""
    assert sources.place(MODEL, "NativeFunction.is_view_op").line == 13
    assert sources.compared(FUNCTIONALIZATION, "gen_functionalization_registration", "str(f.func.name)") == {"lift"}


def test_older_releases_keep_the_modules_elsewhere():
    assert Sources({"tools/codegen/gen.py": b"def f(): pass"}).rule(GEN, "f") == "tools/codegen/gen.py:1"
    assert Sources({"torchgen/gen.py": b"print 'two'"}).rule(GEN, "f") == "torchgen/gen.py"  # no syntax of ours


@pytest.mark.parametrize(("module", "file", "key", "count"), [
    (GEN, "Register{dispatch_key}.cpp", "CPU", 4), (GEN, "Register{dispatch_key}.cpp", "CUDA", 1),
    (GEN, "RegisterSchema.cpp", "", 0), ("gen_trace_type.py", "TraceType.cpp", "", 5), ("gone.py", "x.cpp", "", 0),
])
def test_shard_counts(release, module, file, key, count):
    assert shards.count_of(Sources(release.SOURCES), module, file, key) == count


def test_shard_of_a_key():
    # sha1("add") read as a little-endian number, as torchgen/utils.py does
    assert [shards.shard_of(key, 3) for key in ("add", "zeros", "_foreach_add")] == [2, 0, 1]
    assert shards.name_of("VariableType.cpp", 2) == "VariableType_2.cpp"


def test_files_of_types_are_written_too(release):
    """https://github.com/pytorch/pytorch has no torch/_C/_VariableFunctions.pyi, and editors lead there."""
    text = b"""def gen_pyi(fm, out):
    fm.write_with_template("torch/_C/_VariableFunctions.pyi", "torch/_C/_VariableFunctions.pyi.in", lambda: {})
    write(out, 'torch/_C/_nn.pyi', stubs, env)
    write(out, other, stubs)
"""
    made = generated_files({**release.SOURCES, "tools/pyi/gen_pyi.py": text}, {"torch/_C/_VariableFunctions.pyi.in"})
    assert {f.name: (f.generator_line, f.template) for f in made if f.generator == "tools/pyi/gen_pyi.py"} == {
        "torch/_C/_VariableFunctions.pyi": (2, "torch/_C/_VariableFunctions.pyi.in"), "torch/_C/_nn.pyi": (3, None)}
    assert "editors" in next(f.holds for f in made if f.name.endswith("_nn.pyi"))


def test_generated_files(release):
    files = {(f.name, f.generator): f for f in generated_files(release.SOURCES)}
    cpu = files["RegisterCPU.cpp", "torchgen/gen.py"]
    assert (cpu.shards, cpu.template) == (4, "aten/src/ATen/templates/RegisterDispatchKey.cpp")
    assert ("RegisterCUDA_0.cpp", "torchgen/gen.py") in files
    assert files["VariableType.cpp", "tools/autograd/gen_variable_type.py"].shards == 5
    assert ("Functions.cpp", "tools/autograd/gen_autograd_functions.py") in files
    assert ("{name}_ops.h", "torchgen/gen.py") in files
    methods = files["python_variable_methods.cpp", "tools/autograd/gen_python_functions.py"]
    assert (methods.template, methods.holds) == ("tools/autograd/templates/python_variable_methods.cpp",
                                                 "The methods of torch.Tensor.")
