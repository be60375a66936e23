# SPDX-License-Identifier: BSD-3-Clause
"""Following `import torch` over small packages of our own: only what would run is seen, each on its line."""

import ast
import textwrap

import pytest

from cartographer.dispatch.python.annotated import schema_of
from cartographer.dispatch.python.findings import python_findings
from cartographer.dispatch.python.imports import Sources
from cartographer.dispatch.python.world import World, parse_schema
from cartographer.dispatch.table import Tables
from cartographer.model.dispatch import DIRECT, KeyRules, Look

RULES = KeyRules(
    functionality=("Dense", "BackendSelect"), per_backend={"Dense": ""}, backends=("CPU", "CUDA", "Meta"),
    runtime=("CPU", "CUDA", "Meta", "BackendSelect"), alias=("CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd"),
    same={}, covers={"CompositeImplicitAutograd": frozenset({"CPU", "CUDA", "Meta"})}, backend_keys={},
    looks=(Look(DIRECT, "kernel"), Look("CompositeImplicitAutograd", "math kernel", "CompositeImplicitAutograd")),
)  # fmt: skip
LIBRARY = """
import torch
from torch._ops import OpOverload
class Library:
    def __init__(self, ns, kind, dispatch_key=""):
        self.m = torch._C._dispatch_library(kind, ns, dispatch_key, "f", 1)
        self.ns = ns
        self.dispatch_key = dispatch_key
    def define(self, schema, alias_analysis="", *, tags=()):
        return self.m.define(schema, alias_analysis, tuple(tags))
    def impl(self, op_name, fn, dispatch_key=""):
        if dispatch_key == "":
            dispatch_key = self.dispatch_key
        if isinstance(op_name, OpOverload):
            name = op_name._schema.name
            if op_name._schema.overload_name != "":
                name = name + "." + op_name._schema.overload_name
        else:
            name = op_name
        self.m.impl(name, dispatch_key, fn)
def fallthrough_kernel():
    raise NotImplementedError
"""
TABLE = """
import torch
from torch.library import Library
from torch.utils import _pytree as pytree
from collections import defaultdict
table = defaultdict(dict)["x"]
def register_decomposition(aten_op):
    def decorator(fn):
        def register(op):
            for o in [op] if isinstance(op, torch._ops.OpOverload) else [getattr(op, n) for n in op.overloads()]:
                if torch._C._dispatch_has_kernel(o.name()):
                    table[o] = fn
        pytree.tree_map_(register, aten_op)
        return fn
    return decorator
lib = Library("aten", "IMPL", "Meta")
def activate_meta():
    for op, fn in table.items():
        if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd"):
            continue
        elif op.is_view:
            pass
        elif op.name() in {"aten::left_alone"}:
            pass
        else:
            lib.impl(op, fn)
"""
SCHEMAS = {
    "aten::add.Tensor": "aten::add.Tensor(Tensor self, Tensor other) -> Tensor",
    "aten::add.out": "aten::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    "aten::view": "aten::view(Tensor(a) self, int[] size) -> Tensor(a)",
    "aten::made_of": "aten::made_of(Tensor self) -> Tensor",
    "aten::left_alone": "aten::left_alone(Tensor self) -> Tensor",
    "aten::exp": "aten::exp(Tensor self) -> Tensor",
    "aten::exp_": "aten::exp_(Tensor(a!) self) -> Tensor(a!)",
}


def follow(**modules):
    """Findings of a package whose modules are given as torch_x="..." for torch/x.py."""
    files = {"torch/__init__.py": modules.pop("torch", "from torch import user"), "torch/library.py": LIBRARY, "torch/utils/__init__.py": ""}
    files |= {name.replace("__", "/") + ".py": text for name, text in modules.items()}
    world = World(RULES, Tables(RULES, ()).of_kernels)
    for name, schema in SCHEMAS.items():
        world.add(name, schema)
        world.kernels[name] = {"CompositeImplicitAutograd" if name == "aten::made_of" else "CPU": False}
    world.add_script([("aten::add.str", "aten::add.str(str a, str b) -> str")])
    return python_findings({p: textwrap.dedent(t).encode() for p, t in files.items()}, world, lambda name: name == "mkldnn")


def registered(found):
    return [(r.name, r.key, r.kernel, f"{r.place.path}:{r.place.line}") for r in found.registered]


def test_decompositions_reach_the_dispatcher_by_the_rules_of_the_tree():
    user = """
    import torch
    from torch.decomp import register_decomposition, activate_meta
    aten = torch.ops.aten
    @register_decomposition(aten.add)
    def add(a, b): ...
    @register_decomposition([
        aten.view, aten.made_of,
        aten.left_alone,
    ])
    def others(a): ...
    activate_meta()
    """
    found = follow(torch__decomp=TABLE, torch__user=user)
    assert registered(found) == [
        ("aten::add.Tensor", "Meta", "torch.user.add", "torch/user.py:5"), ("aten::add.out", "Meta", "torch.user.add", "torch/user.py:5"),
    ]  # fmt: skip
    assert not found.unresolved


def test_names_that_helpers_put_together_stand_where_they_are_asked_for():
    user = """
    import torch
    from functools import wraps
    from torch.decomp import register_decomposition, activate_meta
    infer = object()
    def make(aten_op=infer):
        def inner(prim):
            nonlocal aten_op
            @wraps(prim)
            def _ref(a): ...
            if aten_op is infer:
                aten_op = getattr(torch.ops.aten, prim.__name__)
            if aten_op is not None:
                register_decomposition(aten_op)(_ref)
            return _ref
        return inner
    def make_inplace(fn):
        @wraps(fn)
        def _fn(a): ...
        return register_decomposition(getattr(torch.ops.aten, f"{fn.__name__}_"))(_fn)

    @make()
    def exp(a): ...
    @make(aten_op=None)
    def left_alone(a): ...

    exp_ = make_inplace(exp)
    activate_meta()
    """
    assert registered(follow(torch__decomp=TABLE, torch__user=user)) == [
        ("aten::exp", "Meta", "torch.user.exp", "torch/user.py:23"), ("aten::exp_", "Meta", "torch.user.exp", "torch/user.py:27"),
    ]  # fmt: skip


def test_definitions_loops_and_string_work():
    user = """
    from torch.library import Library, fallthrough_kernel
    lib = Library("prims", "DEF")
    impl = Library("prims", "IMPL", "CompositeExplicitAutograd")
    def make_prim(*, schema):
        name = schema.split("(")[0]
        lib.define(name + schema[len(name):])
        def kernel(*args): ...
        impl.impl(name, kernel)
        impl.impl(name, fallthrough_kernel, "BackendSelect")
    for one in ("a", "b"):
        make_prim(schema=f"{one}(Tensor x) -> Tensor")
    make_prim(schema="c(Tensor x) -> Tensor")
    """
    found = follow(torch__user=user)
    assert [(d.name, d.schema) for d in found.defined] == [(f"prims::{n}", f"prims::{n}(Tensor x) -> Tensor") for n in "abc"]
    assert [d.place.line for d in found.defined] == [11, 11, 13]
    assert [(r.key, r.fallthrough) for r in found.registered[:2]] == [("CompositeExplicitAutograd", False), ("BackendSelect", True)]


def test_only_what_import_runs_is_seen():
    start = """
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from torch import checked
    def later(
        a,
    ):
        from torch import late
    text = '''
from torch import quoted
'''
    import torch.user
    """
    registers = 'from torch.library import Library\nLibrary("q", "DEF").define("{}() -> ()")\n'
    found = follow(torch=start, **{f"torch__{n}": registers.format(n) for n in ("checked", "late", "quoted", "user")})
    assert [d.name for d in found.defined] == ["q::user"]


def test_what_cannot_be_told_carries_its_condition():
    user = """
    import torch
    from torch.library import Library
    if torch.cuda.is_available():
        Library("q", "DEF").define("a() -> ()")
    if torch._C._has_mkldnn:
        Library("q", "FRAGMENT").define("b() -> ()")
    if torch._C._has_vulkan:
        Library("q", "FRAGMENT").define("c() -> ()")
    """
    found = follow(torch__user=user)
    assert [(d.name, d.build) for d in found.defined] == [("q::a", ("if torch.cuda.is_available()",)), ("q::b", ())]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('Library("q", "DEF").define(open("x").read())', "a value that we cannot tell"),
        ('raise ValueError("no")\nLibrary("q", "DEF").define("a() -> ()")', "raises"),
        ("torch.ops.aten.nothing_of_this_name\nLibrary", "AttributeError"),
    ],
)
def test_what_goes_wrong_is_noted_with_its_line(body, reason):
    found = follow(torch__user=f"import torch\nfrom torch.library import Library\nx = Library('q', 'FRAGMENT')\n{body}\n")
    assert [(u.path, u.line, reason in u.reason) for u in found.unresolved] == [("torch/user.py", 4, True)]


def test_broken_python_is_reported_and_the_rest_followed():
    found = follow(torch="from torch import broken, user", torch__broken="Library(\n", torch__user="from torch.library import Library\nLibrary('q', 'DEF').define('a() -> ()')\n")
    assert [d.name for d in found.defined] == ["q::a"]
    assert [u.path for u in found.unresolved] == ["torch/broken.py"]


def test_endless_loops_of_calls_end():
    user = "from torch.library import Library\ndef f(n):\n    return f(n + 1)\nf(0)\nwhile True:\n    f(1)\nLibrary('q', 'DEF').define('a() -> ()')\n"
    assert [d.name for d in follow(torch__user=user).defined] == ["q::a"]


def test_imports_of_a_module():
    text = "import os, torch.a as b\nfrom . import c\nfrom .d import (e,  # why\n  f)\nif x:\n    import torch.g\nclass K:\n    import torch.h\n"
    sources = Sources({"torch/__init__.py": text.encode()})
    assert list(sources.imports("torch")) == [
        ("os", ()), ("torch.a", ()), ("torch", ("c",)), ("torch.d", ("e", "f")), ("torch.g", ()), ("torch.h", ()),
    ]  # fmt: skip


def test_schemas_are_taken_apart():
    schema = parse_schema("a::b.c(Tensor(a!) x, *, int[2] y=[0, 1], str z='(,)') -> (Tensor(a!), Tensor)")
    assert (schema.name, schema.overload_name, schema.is_mutable) == ("a::b", "c", True)
    assert [(a.name, a.type.text, a.kwarg_only) for a in schema.arguments] == [("x", "Tensor", False), ("y", "int[2]", True), ("z", "str", True)]
    assert [r.alias_info is not None for r in schema.returns] == [True, False]


def test_functions_for_classes_of_the_first_argument():
    helper = """
    import functools
    from typing import TYPE_CHECKING
    from torch.library import Library
    @functools.singledispatch
    def impl(qualname, key, func=None):
        raise ValueError(qualname)
    if not TYPE_CHECKING:
        @impl.register
        def _(lib: Library, name, dispatch_key=""):
            def wrap(f):
                lib.impl(name, f, dispatch_key)
                return f
            return wrap
    """
    user = """
    from torch.helper import impl
    from torch.library import Library
    lib = Library("q", "FRAGMENT")
    lib.define("a() -> ()")
    @impl(lib, "a", "CPU")
    def kernel(): ...
    """
    found = follow(torch__helper=helper, torch__user=user)
    assert registered(found) == [("q::a", "CPU", "torch.user.kernel", "torch/user.py:6")]


@pytest.mark.parametrize(
    ("head", "mutated", "schema"),
    [
        ("def f(x: torch.Tensor, n: int = 3, *, s: str = 'a') -> Tensor", (), '(Tensor x, SymInt n=3, *, str s="a") -> Tensor'),
        ("def f(x: 'Tensor', y: Optional[torch.Tensor], z: list[int] | None) -> None", ("x",), "(Tensor(a0!) x, Tensor? y, SymInt[]? z) -> ()"),
        ("def f(x: Tensor, *, y: Tensor) -> None", ("y",), "(Tensor x, *, Tensor(a1!) y) -> ()"),
        ("def f(x: Sequence[Tensor]) -> tuple[Tensor, int]", None, "(Tensor(a0!)[] x) -> (Tensor, SymInt)"),
        ("def f(x) -> Tensor", (), None),
        ("def f(x: Own) -> Tensor", (), None),
        ("def f(*x: Tensor) -> Tensor", (), None),
    ],
)
def test_schemas_inferred_from_annotations(head, mutated, schema):
    node = ast.parse(f"{head}: ...").body[0]
    assert schema_of(node, None if mutated is None else frozenset(mutated)) == schema


def test_methods_of_packets_that_we_do_not_know_are_read_from_the_tree():
    ops = "class OpOverloadPacket:\n    def op_overloads(self):\n        return [getattr(self, n) for n in self.overloads()]\n"
    table = TABLE.replace("[getattr(op, n) for n in op.overloads()]", "op.op_overloads()")
    user = """
    import torch
    from torch.decomp import register_decomposition, activate_meta
    @register_decomposition(torch.ops.aten.add)
    def add(a, b): ...
    activate_meta()
    """
    assert [r[0] for r in registered(follow(torch__decomp=table, torch__user=user, torch___ops=ops))] == ["aten::add.Tensor", "aten::add.out"]


@pytest.mark.parametrize(
    "line",
    [
        "x = 'a' * 10 ** 9", "x = [0] * 10_000_000_000", "x = 1 << 10_000_000_000", "x = '%9999999999d' % 1", "x = 'a'.ljust(10_000_000_000)",
        "x = '{:>9999999999}'.format(1)", "x = bytes(10_000_000_000)", "x = list(range(10_000_000_000))",
        "for i in range(10_000_000_000):\n    x = i", "x = 'ab'\n" + "x = x + x\n" * 60, "x = [1]\n" + "x.extend(x)\n" * 60,
        "x = 3\n" + "x = x * x\n" * 60, "x = " + "(" * 5000 + ")" * 5000, "x = " + "-" * 5000 + "1", "x = [i for i in range(10_000_000_000)]",
    ],
)  # fmt: skip
def test_hostile_code_costs_nothing(line):
    found = follow(torch__user=f"from torch.library import Library\n{line}\nLibrary('q', 'DEF').define('a() -> ()')\n")
    assert [d.name for d in found.defined] == ["q::a"] or any(u.path == "torch/user.py" for u in found.unresolved)
