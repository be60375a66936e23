# SPDX-License-Identifier: BSD-3-Clause
from cartographer.scan import parsing
from cartographer.scan.one import scan_file

SOURCE = """
import torch, os as o
from torch._ops import a as b, c
from x import *
aten = torch.ops.aten
lib = torch.library.Library("m", "DEF")

@register_decomposition([aten.add, aten.sub])
@out_wrapper()
@plain
def add(a: int, b=(1, 2), *, c=None) -> int:
    @wraps(a)
    def inner(x): ...
    lib.impl("z", inner)
    return helper(a)

class A(Base, metaclass=M):
    x = property(f)
    def m(self): pass

for op in [aten.mul, aten.div]:
    if op:
        register_meta(op)(add)
"""


def test_definitions() -> None:
    facts = scan_file("a.py", SOURCE.encode())
    assert [(d.qualname, d.kind, d.line, d.start) for d in facts.definitions] == [
        ("add", "function", 11, 8), ("add.inner", "function", 13, 12), ("A", "class", 17, 17), ("A.m", "method", 19, 19)]
    add = facts.definitions[0]
    assert add.decorators == ("register_decomposition([aten.add, aten.sub])", "out_wrapper()", "plain")
    assert add.parameters == ("a: int", "b=(1, 2)", "*", "c=None")
    assert add.returns == "int"
    assert facts.definitions[2].bases == ("Base", "metaclass=M")
    assert [(i.target, i.line, i.names) for i in facts.includes] == [
        ("torch", 2, ()), ("os", 2, ()), ("torch._ops", 3, ("a as b", "c")), ("x", 4, ("*",))]


def test_calls_and_assignments() -> None:
    facts = scan_file("a.py", SOURCE.encode())
    calls = {(c.name, c.line): c for c in facts.python_calls}
    made = calls["torch.library.Library", 6]
    assert (made.arguments, made.target) == (('"m"', '"DEF"'), "lib")
    decorator = calls["register_decomposition", 8]
    assert (decorator.arguments, decorator.decorated, decorator.decorated_line) == (("[aten.add, aten.sub]",), "add", 11)
    assert calls["plain", 10].bare
    assert calls["lib.impl", 14].function == "add"
    looped = calls["register_meta", 23]
    assert looped.loops == ("op in [aten.mul, aten.div]",)
    assert looped.conditions == ("op",)
    assert [(a.target, a.value, a.scope) for a in facts.python_assignments] == [
        ("aten", "torch.ops.aten", ""), ("lib", 'torch.library.Library("m", "DEF")', ""), ("x", "property(f)", "A")]


def test_broken_python_is_read_all_the_same() -> None:
    facts = scan_file("a.py", b"print 'x'\ndef f(a):\n    return (\n\ndef g(): pass\n${template}\n")
    assert "f" in {d.name for d in facts.definitions}
    assert facts.error_nodes > 0


def test_statements_are_those_of_a_query_in_the_order_of_the_text() -> None:
    text = SOURCE.encode() + b"""
from __future__ import annotations
async def wait(of, *, a: "class"): yield from importing(of)
def class_(define): raise A from define
if x: import y; import b; import c; from d import (e, f); from a import g
def defer(x=lambda: (yield)): "def class import from"
"""
    tree = parsing.parse(text, "python")
    assert tree is not None
    assert not tree.root_node.has_error
    found = parsing.statements(tree, text)
    asked = parsing.captures(tree, "python", "python")
    assert set(found) == set(asked)
    for name, nodes in found.items():
        assert [(n.start_byte, n.end_byte) for n in nodes] == sorted((n.start_byte, n.end_byte) for n in asked[name])
    facts = scan_file("a.py", text)
    assert [i.target for i in facts.includes][-5:] == ["y", "b", "c", "d", "a"]


def test_imports_of_one_line_keep_their_order_in_a_broken_file() -> None:
    text = b"import e; import d; import c; import b; import a\ndef f(:\n"
    assert all([i.target for i in scan_file("a.py", text).includes] == ["e", "d", "c", "b", "a"] for _ in range(5))
