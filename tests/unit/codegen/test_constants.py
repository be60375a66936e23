# SPDX-License-Identifier: BSD-3-Clause
import ast

import pytest

from cartographer.codegen.constants import of_module, strings


@pytest.mark.parametrize(("text", "expected"), [
    ("X = {'a', 'b'} | {'c'}", {"a", "b", "c"}),
    ("Y = ['a']\nX = Y + ['b', *Y]", {"a", "b"}),
    ("X: dict = {'a': 'self', 'b': f()}\nX.update({'c': 1})", {"a", "b", "c"}),
    ("X = {'a': 1}\nfor k in ['b', 'c']:\n    X[k] = 'self'", {"a", "b", "c"}),
    ("Y = {'a': 1}\nX = set(Y.keys()).union({'b'})", {"a", "b"}),
    ("Y = Z = {'a'}\nX = Y - {'b'}", {"a"}),
    ("X = 'a b'.split()", {"a", "b"}),
    ("X = [DispatchKey.CPU, DispatchKey.CUDA]", {"CPU", "CUDA"}),
    ("X = {**{'a': 1}, 'b': 2}", {"a", "b"}),
    ("X = set(['a'])\nX.add('b')", {"a", "b"}),
    ("X = {'a'}\nX |= {'b'}", {"a", "b"}),
    ("X = imported | {'b'}", {"i", "b"}),
])
def test_reads_how_the_generators_join_constants(text, expected):
    assert strings(of_module(ast.parse(text), {"imported": {"i"}})["X"]) == expected


@pytest.mark.parametrize("text", [
    "X = open('/etc/passwd').read()", "X = __import__('os').system('true')", "X = [re.compile(p) for p in P]", "X = 3 ** 9",
    "import os", "X.y.update({'a'})", "X = unknown",
])
def test_runs_nothing(text):
    assert "X" not in of_module(ast.parse(text), {})
