# SPDX-License-Identifier: BSD-3-Clause
"""Places beside the way of a call, from small files written as PyTorch writes its own."""

from cartographer.link.landmarks import landmarks
from cartographer.model.location import Location
from cartographer.model.operator import Binding, Operator, Origin
from cartographer.scan.one import scan_file

CODE = {
    "aten/src/ATen/native/Unary.cpp": "#define MAKE_META(func) \\\n  TORCH_META_FUNC(func)(const Tensor& self) { build(self); }\n\nMAKE_META(exp)\n"
    "TORCH_META_FUNC2(add, Tensor)(const Tensor& self) {\n  build(self);\n}\n",
    "torch/_refs/__init__.py": "def exp(a):\n    return a\n\n\n@register_decomposition(aten.addr)\ndef addr(a):\n    return a\n",
    "torch/_torch_docs.py": 'add_docstr(torch.exp, "text")\n',
}
TEXTS = {
    "CONTRIBUTING.md": "# Start\n\n* [core](core) - x\n  * [gen](tools/gen/) - y\n* [site](https://x.org/y)\n",
    "CODEOWNERS": "# none\n/torch/ @a @b  # why\n",
    "docs/source/torch.rst": ".. currentmodule:: torch\n\n.. autosummary::\n    :toctree: generated\n\n    exp\n    Tensor.exp\n    nowhere\n\nexp\n",
    "docs/source/linalg.rst": ".. currentmodule:: torch.linalg\n.. autofunction:: svd\n",
    "torch/testing/_internal/info.py": "op_db = [\n    UnaryUfuncInfo('exp',\n    ForeachFuncInfo('exp'),\n    OpInfo('linalg.svd'),\n]\n"
    "unary_ufuncs = [op for op in op_db if isinstance(op, UnaryUfuncInfo)]\n",
    "test/forward_backward_compatibility/check_forward_backward_compatibility.py": 'ALLOW = [\n    ("aten::exp.out", date(2020, 1, 1)),\n    ("aten::gone", date(2020, 1, 1)),\n]\n',
}


def operator(name, *python):
    bindings = tuple(Binding(each, "THPVariable", "f.cpp") for each in python)
    return Operator(f"aten::{name}", f"aten::{name}(Tensor self) -> Tensor", Origin.YAML, Location("y", 1), bindings=bindings)


OPERATORS = (operator("exp", "torch.exp", "torch.Tensor.exp"), operator("_foreach_exp"), operator("add.Tensor"), operator("addr"),
             operator("linalg_svd", "torch._C._linalg.linalg_svd"))  # fmt: skip
FOUND = landmarks(OPERATORS, {path: scan_file(path, text.encode()) for path, text in CODE.items()}, {path: text.encode() for path, text in TEXTS.items()})


def of(kind):
    return sorted((m.subject, m.path.rpartition("/")[2], m.line, m.text) for m in FOUND if m.kind == kind)


def test_meta_functions_by_hand_and_by_macro():
    assert of("meta") == [("aten::add", "Unary.cpp", 5, "TORCH_META_FUNC2(add, Tensor)"), ("aten::exp", "Unary.cpp", 4, "MAKE_META(exp)")]


def test_documentation_and_its_index():
    assert of("docs") == [("aten::exp", "_torch_docs.py", 1, "torch.exp")]
    assert of("index") == [
        ("aten::exp", "torch.rst", 6, "torch.exp"), ("aten::exp", "torch.rst", 7, "torch.Tensor.exp"), ("aten::linalg_svd", "linalg.rst", 2, "torch.linalg.svd"),
    ]  # fmt: skip


def test_opinfos():
    assert of("opinfo") == [
        ("aten::_foreach_exp", "info.py", 3, "ForeachFuncInfo(exp)"), ("aten::exp", "info.py", 2, "UnaryUfuncInfo(exp)"), ("aten::linalg_svd", "info.py", 4, "OpInfo(linalg.svd)"),
    ]  # fmt: skip


def test_references_decompositions_and_exemptions():
    assert ("aten::exp", "__init__.py", 1, "exp") in of("reference")
    assert of("decomposition") == [("aten::addr", "__init__.py", 6, "addr")]
    assert of("compatibility") == [("aten::exp", "check_forward_backward_compatibility.py", 2, "exp.out")]


def test_the_map_has_its_folders():
    assert of("map") == [("core", "CONTRIBUTING.md", 3, "core"), ("tools/gen", "CONTRIBUTING.md", 4, "tools/gen/")]


def test_owners_and_lengths():
    assert of("owner") == [("/torch/", "CODEOWNERS", 2, "@a @b")]
    assert ("CODEOWNERS", "CODEOWNERS", 2, "") in of("length")
