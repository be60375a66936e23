# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.errors import DeclarationError
from cartographer.model.schema import AliasSet, Argument, FunctionSchema, OperatorName, SchemaError, SchemaKind

ROWS = [
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
    "resize_(Tensor(a! -> *)? self, SymInt[1]? size=None) -> (Tensor(a!) x, bool[3] y)",
    "mean(Tensor self, int[2] dim=[0, 1], str mode=\"a,b)('\\\"\", float[]? f=None) -> float",
    "aten::get(Dict(str, Tensor[]) self, t key, ...) -> ...",
    "append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
    "items.str(Dict(str, t) self) -> ((str, t)[])",
    "conv(Tensor x, __torch__.torch.classes.quantized.Conv2dPackedParamsBase w) -> Tensor",
    "Future_of(Future(t) self) -> t(*)",
    "void_(*, Tensor? out=None) -> ()",
    # 0.4 to 1.2
    "randint_out(Tensor result, int64_t high, IntList size) -> Tensor",
    "foo(IntList[2] size={0, 1}, std::array<bool,3> mask, Generator* g=nullptr, *, TensorOptions options={}) -> Tensor",
    "cudnn_grid_sampler(Tensor self, Tensor grid)",
]


@pytest.mark.parametrize("row", ROWS)
def test_prints_what_it_parsed(row):
    assert str(FunctionSchema.parse(row)) == row


def test_keeps_the_text_as_written_beside_the_normal_form():
    written = " topk(Tensor self,int k, *) ->(Tensor a,  Tensor b)"
    schema = FunctionSchema.parse(written)
    assert schema.text == written
    assert str(schema) == "topk(Tensor self, int k) -> (Tensor a, Tensor b)"
    assert schema == FunctionSchema.parse(str(schema))


def test_alias_sets_belong_to_the_element_or_the_list():
    schema = FunctionSchema.parse("f(Tensor(a!)[] x, t[](b! -> *) y, Dict(str, t)(c) z) -> ()")
    x, y, z = schema.arguments
    assert (x.type, x.annotation, x.element, x.is_list) == ("Tensor[]", AliasSet(("a",), write=True), "Tensor", True)
    assert (y.type, y.annotation) == ("t[]", AliasSet(("b",), write=True, after=("*",)))
    assert (z.type, str(z.annotation)) == ("Dict(str, t)", "c")
    assert (x.is_write, z.is_write) == (True, False)


def test_types():
    argument = Argument("int[2]?", "x")
    assert (argument.size, argument.nullable, argument.is_list, argument.element) == (2, True, True, "int")
    assert Argument("Tensor?[]", "x").element == "Tensor"
    assert not Argument("Tensor?", "x").is_list


@pytest.mark.parametrize(("text", "root", "inplace", "dunder"), [
    ("add_.Tensor", "add", True, False), ("__iand__.Scalar", "and", True, True), ("__and__", "and", False, True),
    ("aten::foo_functional", "foo", False, False), ("__ilshift__", "lshift", True, True),
])
def test_names(text, root, inplace, dunder):
    name = OperatorName.parse(text)
    assert str(name) == text
    assert (name.root, name.inplace, name.dunder) == (root, inplace, dunder)
    assert name.full == (text if "::" in text else f"aten::{text}")


@pytest.mark.parametrize(("row", "kind"), [
    ("f(Tensor self) -> Tensor", SchemaKind.FUNCTIONAL),
    ("f_(Tensor(a!) self) -> Tensor(a!)", SchemaKind.INPLACE),
    ("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", SchemaKind.OUT),
    ("f(Tensor self, Tensor(a!) x) -> Tensor", SchemaKind.MUTABLE),
    ("f(Tensor(a!) x) -> Tensor", SchemaKind.MUTABLE),
    ("f.out(Tensor self, *, Tensor(a!) _scratch_x, Tensor(b!) out) -> Tensor(b!)", SchemaKind.SCRATCH),
    ("f(Tensor(a!) self) -> Tensor", SchemaKind.FUNCTIONAL),  # self alone does not make it mutable (torchgen)
])
def test_kinds(row, kind):
    assert FunctionSchema.parse(row).kind is kind


@pytest.mark.parametrize("text", [
    "add", "add(Tensor self", "add(self) -> Tensor", "add(Tensor self) = Tensor", "(Tensor x) -> Tensor", "a b(Tensor x)",
    "add(Tensor self) ->", "add(Tensor self,) -> Tensor", "f(Tensor 1x) -> Tensor",
])
def test_says_what_is_wrong(text):
    with pytest.raises(SchemaError) as caught:
        FunctionSchema.parse(text)
    assert isinstance(caught.value, DeclarationError)
    assert caught.value.message


_types = st.sampled_from(["Tensor", "Tensor?", "Tensor[]", "int", "SymInt[2]", "Scalar?", "bool[3]", "str", "Dimname[]?"])
_words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_defaults = st.sampled_from([None, "None", "1", "[0, 1]", '"a, (b"', "-1e-5", "[]"])


@given(st.lists(st.tuples(_types, _words, _defaults, st.booleans()), max_size=6), _words)
def test_any_schema_survives(arguments, base):
    made = tuple(
        Argument(type_, name, (), default, kwarg_only)
        for type_, name, default, kwarg_only in sorted(arguments, key=lambda a: a[3])
    )
    schema = FunctionSchema(OperatorName(base), made, ())
    assert FunctionSchema.parse(str(schema)) == schema


def _rows(text, key):
    for line in text.splitlines():
        if line.startswith(f"- {key}: "):
            yield line.removeprefix(f"- {key}: ").strip()


@pytest.mark.torch_repo
@pytest.mark.skipif("CARTOGRAPHER_TORCH_REPO" not in os.environ, reason="CARTOGRAPHER_TORCH_REPO is not set")
def test_every_row_of_every_old_release():
    repo = os.environ["CARTOGRAPHER_TORCH_REPO"]
    paths = {"aten/src/ATen/native/native_functions.yaml": "func", "tools/autograd/derivatives.yaml": "name",
             "tools/autograd/deprecated.yaml": "name"}
    tags = subprocess.run(["git", "-C", repo, "tag", "--list", "v0.4.*", "v1.*.[0-9]"], capture_output=True, text=True, check=True)
    bad, seen = [], 0
    for tag in tags.stdout.split():
        for path, key in paths.items():
            shown = subprocess.run(["git", "-C", repo, "show", f"refs/tags/{tag}:{path}"], capture_output=True, check=False)
            for row in _rows(shown.stdout.decode(), key):
                seen += 1
                normal = " ".join(row.replace(", *)", ")").replace("->(", "-> (").split())  # the documented normal form
                if str(FunctionSchema.parse(row)) != normal:
                    bad.append((tag, row))
    assert not bad
    assert seen > 10_000


@pytest.mark.torch_tree
@pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set")
def test_every_row_of_the_tree():
    root = Path(os.environ["CARTOGRAPHER_TORCH_TREE"])
    text = (root / "aten/src/ATen/native/native_functions.yaml").read_text()
    rows = list(_rows(text, "func"))
    assert len(rows) > 1000
    assert [r for r in rows if str(FunctionSchema.parse(r)) != r] == []
