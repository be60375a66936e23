# SPDX-License-Identifier: BSD-3-Clause
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
