# SPDX-License-Identifier: BSD-3-Clause
"""The dispatch table says of each kernel where it is defined, or why that cannot be told."""

from __future__ import annotations

from dataclasses import replace

from cartographer.model.atlas import Symbol
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Origin, Registration, Status, Step
from cartographer.render.loading import load
from cartographer.render.pages import operator
from cartographer.render.site import Site
from cartographer.store import writer
from cartographer.store.reader import Reader

PATH = "aten/src/ATen/native/BinaryOps.cpp"


def function(name, line):
    return Symbol(name.rpartition("::")[2], name, "function", PATH, line, line)


def rows(small, tmp_path, *registrations, more=()):
    """The rows of the table, and what its caption says of those without a place."""
    chain = Chain(Status.RESOLVED, None, (Step("entry", "at::native::composed", PATH, 30),))
    op = replace(small.OPERATORS[4], registrations=registrations, kernels={"CPU": chain})
    symbols = (*small.SYMBOLS, *more, function("at::native::only", 5), function("at::native::twice", 6), function("at::native::twice", 9))
    with Reader(writer.write(small.atlas(operators=(op,), symbols=symbols), tmp_path)) as reader:
        main = operator.build(Site(load(reader)), "op/square").view.main
    return main.rows, main.untold


def table(small, tmp_path, *registrations):
    """The texts of the column of places by kernel, and what the caption says of those without."""
    found, untold = rows(small, tmp_path, *registrations)
    return {row.kernel: row.where.text if row.where else None for row in found}, untold


def test_an_alias_key_has_the_place_where_a_key_that_it_serves_begins(small, tmp_path):
    found, untold = table(small, tmp_path, Registration("CompositeImplicitAutograd", "at::native::composed", Origin.YAML))
    assert found == {"at::native::composed": "BinaryOps.cpp:30"}
    assert untold == ""


def test_a_kernel_that_no_chain_follows_has_the_place_of_the_only_function_of_its_name(small, tmp_path):
    found, untold = table(small, tmp_path, Registration("ZeroTensor", "at::native::only", Origin.YAML), Registration("Meta", "at::native::twice", Origin.YAML))
    assert found == {"at::native::only": "BinaryOps.cpp:5", "at::native::twice": None}
    assert untold == "one of several of that name"


def test_a_function_of_the_same_name_in_another_language_is_no_kernel(small, tmp_path):
    """`all_to_all_single_autograd` is registered in C++, and wrapped in Python under its own name."""
    wrapper = Symbol("only_wrapped", "only_wrapped", "function", "torch/_functional.py", 4, 4)
    found, untold = rows(
        small, tmp_path, Registration("Autograd", "only_wrapped", Origin.LIBRARY, place=Location(PATH, 3)), Registration("XPU", "only_wrapped", Origin.PYTHON, place=Location("torch/_functional.py", 2)), more=(wrapper,),
    )  # fmt: skip
    assert [row.where.text if row.where else None for row in found] == [None, "_functional.py"]
    assert untold == "not found here"


def test_a_function_without_linkage_is_seen_in_its_own_file_alone(small, tmp_path):
    """`linear_hack` stands in a namespace without a name, beside its registration."""
    hidden = function("at::(anonymous)::hack", 4)
    here, far = (Registration(key, "at::hack", Origin.LIBRARY, place=Location(path, 30)) for key, path in (("XPU", PATH), ("HPU", "aten/other.cpp")))
    found, _ = rows(small, tmp_path, here, far, more=(hidden,))
    assert [(row.keys, row.where.text if row.where else row.untold) for row in found] == [(("XPU",), "BinaryOps.cpp:4"), (("HPU",), "not found here")]


def test_what_has_no_place_has_a_reason(small, tmp_path):
    place = Location(PATH, 3)
    found, untold = table(
        small, tmp_path, Registration("AutocastCUDA", None, Origin.LIBRARY, fallthrough=True, place=place), Registration("Meta", "at::meta::made", Origin.STRUCTURED),
        Registration("XPU", "far::away", Origin.LIBRARY, place=place), Registration("HPU", None, Origin.LIBRARY, place=place), Registration("IPU", "lambda", Origin.LIBRARY, place=place),
    )  # fmt: skip
    assert set(found.values()) == {None}
    assert untold.replace(" or ", ", ").split(", ") == [
        "lets the call through", "written by the build", "not found here", "not named", "a lambda where it is registered",
    ]  # fmt: skip


def test_no_cell_of_the_column_is_empty(written):
    page = (written.out / "op/mul.html").read_text()
    rows = page[page.index('aria-label="Registrations of') :].split("</table>")[0].split("<tr")[2:]
    assert len(rows) > 3
    assert not [row for row in rows if "<td><td>" in row.partition("<td>")[2].partition("<td>")[2].partition("<td>")[0] + "<td>"]
    assert any("<td>–" in row for row in rows)
    assert "; –: " in page
