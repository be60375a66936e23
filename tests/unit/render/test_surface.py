# SPDX-License-Identifier: BSD-3-Clause
"""The upper floors of a descent say where each Python name comes from, and which rows of tables lead to which function."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cartographer.model.atlas import FileEntry, Landmark, Symbol
from cartographer.model.location import Location
from cartographer.model.operator import Binding
from cartographer.render.loading import site_of
from cartographer.render.pages.passport import facts_of
from cartographer.render.pages.surface import border_stops, python_stops, your_line
from cartographer.store import writer
from cartographer.store.reader import Reader

HIDDEN, TABLE = "torch._C._nn.gelu", "tools/autograd/templates/python_variable_methods.cpp"
PYTHON = ("torch/__init__.py", "torch/_tensor.py", "torch/functional.py", "torch/nn/functional.py")


@pytest.fixture
def floors(tmp_path, small):
    """The stops of the three floors for an operator with these bindings."""

    def of(*bindings, marks=()):
        made = small.atlas()
        op = replace(next(o for o in made.operators if o.name == "aten::mul.Tensor"), bindings=bindings)
        files = tuple(FileEntry(path, "0" * 40, 9, "Python", 2000) for path in PYTHON if path not in {file.path for file in made.files})
        symbols = (Symbol("Tensor", "Tensor", "class", "torch/_tensor.py", 80, 900), Symbol("stft", "Tensor.stft", "method", "torch/_tensor.py", 700, 720),
                   Symbol("norm", "norm", "function", "torch/functional.py", 30, 40), Symbol("THPVariable_size", "THPVariable_size", "function", TABLE, 50, 60))  # fmt: skip
        found = replace(made, operators=(op,), files=(*made.files, *files), symbols=symbols, landmarks=marks, paths=(*made.paths, *PYTHON, TABLE) if made.paths else ())
        writer.write(found, tmp_path)
        with Reader(tmp_path) as reader:
            site = site_of(reader, tmp_path, collected=False)
            return your_line(site, op), python_stops(site, op), border_stops(site, op)

    return of


def told(stops):
    return {stop.name: (stop.says, [receipt.text for receipt in stop.receipts]) for stop in stops}


def test_each_name_is_told_from_where_it_comes(floors):
    names = ("torch.mul", "torch.norm", "torch.Tensor.mul", "torch.Tensor.stft", HIDDEN)
    line, python, _ = floors(*(Binding(name, "THPVariable_mul", "x.cpp") for name in names), marks=(Landmark("aten::mul", "public", "torch/nn/functional.py", 19, "torch.nn.functional.gelu"),))
    assert line.name.startswith("torch.mul(")
    says = told(python)
    assert "copied out of the extension module" in says["torch.mul"][0]
    assert says["torch.mul"][1] == ["torch/__init__.py"]
    assert says["torch.Tensor.mul"] == ("No Python body: inherited from a class of the extension module.", ["_tensor.py:80"])
    assert says[HIDDEN] == ("No Python body: a function of the extension module.", [])
    assert says["torch.nn.functional.gelu"] == ("No Python body: this line binds the name to the function of the extension module.", ["functional.py:19"])
    for name, place in (("torch.norm", "functional.py:30"), ("torch.Tensor.stft", "_tensor.py:700")):
        assert says[name] == ("Python code stands over the name of the extension module, and decides what it calls.", [place])


def test_the_line_is_the_most_public_name(floors):
    hidden, method = Binding(HIDDEN, "f", "x.cpp"), Binding("torch.Tensor.mul", "f", "x.cpp")
    public = (Landmark("aten::mul", "public", "torch/nn/functional.py", 19, "torch.nn.functional.gelu"),)
    line, *_ = floors(hidden, method, marks=public)
    assert line.name.startswith("torch.nn.functional.gelu(")
    line, *_ = floors(hidden, method)
    assert line.name == "self.mul(other)"
    line, *_ = floors(hidden)
    assert line.name.startswith(HIDDEN)
    assert not line.says.startswith("Your line"), "nobody writes it"


def test_rows_of_a_table_are_no_functions(floors):
    generated = Binding("torch.Tensor.mul", "THPVariable_mul", "python_variable_methods.cpp")
    rows = [Binding(f"torch.Tensor.__{name}__", "THPVariable_mul", TABLE, place=Location(TABLE, line)) for name, line in (("mul", 12), ("rmul", 13))]
    _, _, border = floors(generated, *rows)
    says = told(border)
    assert says["__mul__, __rmul__"] == (
        "The same function by further names: rows of a table that is written by hand lead to THPVariable_mul.", ["python_variable_methods.cpp:12", "python_variable_methods.cpp:13"],
    )  # fmt: skip
    assert "lets go of the GIL" in says["THPVariable_mul"][0]


def test_a_function_by_hand_is_shown_where_it_is_defined(floors):
    _, _, border = floors(*(Binding(f"torch.Tensor.{name}", f"THPVariable_{name}", TABLE, place=Location(TABLE, 90)) for name in ("size", "other")))
    says = told(border)
    assert says["THPVariable_size"][1] == ["python_variable_methods.cpp:50", "python_variable_methods.cpp:90"]
    assert says["THPVariable_other"] == ("A row of a table that is written by hand names it.", ["python_variable_methods.cpp:90"])


def test_the_facts_name_what_python_makes_public(small, tmp_path):
    made = small.atlas()
    writer.write(replace(made, landmarks=(Landmark("aten::mul", "public", "torch/nn/functional.py", 19, "torch.nn.functional.mul"),)), tmp_path)
    with Reader(tmp_path) as reader:
        site = site_of(reader, tmp_path, collected=False)
        op = next(o for o in made.operators if o.name == "aten::mul.Tensor")
        (python,) = [fact for fact in facts_of(site, op, whole=True) if fact.label == "Python"]
        assert python.items[0].text == "torch.nn.functional.mul"
