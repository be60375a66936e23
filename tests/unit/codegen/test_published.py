# SPDX-License-Identifier: BSD-3-Clause
"""Names that Python binds to functions of the extension module."""

from cartographer.codegen.published import published
from cartographer.model.location import Location
from cartographer.model.operator import Binding, Operator, Origin
from cartographer.scan.python import scan_python


def operator(name, python):
    return Operator(f"aten::{name}", f"{name}() -> ()", Origin.YAML, Location("x", 1), bindings=(Binding(python, "f", "x.cpp"),))


OPERATORS = [operator("gelu", "torch._C._nn.gelu"), operator("linalg_svd", "torch._C._linalg.linalg_svd"), operator("conv1d", "torch.conv1d")]
FUNCTIONAL = b'''
gelu = _add_docstr(
    torch._C._nn.gelu,
    r"""text""",
)
conv1d = torch._C._add_docstr(torch.conv1d, "text")
other = wrapped(torch._C._nn.gelu)
_add_docstr(torch._C._nn.gelu, "bound to nothing")
def inside():
    name = _add_docstr(torch._C._nn.gelu, "text")
'''


def test_a_name_is_public_where_the_documented_function_is_bound_to_it():
    facts = {"torch/nn/functional.py": scan_python(FUNCTIONAL), "torch/linalg/__init__.py": scan_python(b"svd = _add_docstr(_linalg.linalg_svd, '')\n"),
             "torch/_refs/hidden.py": scan_python(b"gelu = _add_docstr(torch._C._nn.gelu, '')\n"), "tools/x.py": scan_python(b"gelu = _add_docstr(torch._C._nn.gelu, '')\n")}  # fmt: skip
    assert [(m.subject, m.kind, m.path, m.line, m.text) for m in published(OPERATORS, facts)] == [
        ("aten::linalg_svd", "public", "torch/linalg/__init__.py", 1, "torch.linalg.svd"),
        ("aten::conv1d", "public", "torch/nn/functional.py", 6, "torch.nn.functional.conv1d"),
        ("aten::gelu", "public", "torch/nn/functional.py", 2, "torch.nn.functional.gelu"),
    ]
