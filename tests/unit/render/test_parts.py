# SPDX-License-Identifier: BSD-3-Clause
"""The small laws of the rooms: addresses, floors, coverage, the hand, treemaps, search."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader
from markupsafe import Markup

from cartographer.model.atlas import Landmark, Symbol
from cartographer.model.location import Location
from cartographer.model.operator import ONLY_RAISES, Chain, Layer, Operator, Origin, Registration, Status, Step
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.render import coverage, machine, search, terrain, urls
from cartographer.render.environment import create, receipt, soft, whole
from cartographer.render.figures import hand, section, svg
from cartographer.render.figures.treemap import squarify, treemap
from cartographer.render.frames import frame_of
from cartographer.render.loading import load, remembered
from cartographer.render.pages import front, operator, operators, source
from cartographer.render.pages.chains import Again, Shown, address_of, chains_of, note_of
from cartographer.render.pages.descent import backend_of
from cartographer.render.pages.dispatch import letter_of
from cartographer.render.pages.frame import Link, Receipt
from cartographer.render.pages.ladder import Rung, ladder_of
from cartographer.render.pages.operator import Seen
from cartographer.render.site import Site
from cartographer.render.write import to_html
from cartographer.store import writer
from cartographer.store.reader import Reader


def info(commit=None):
    return SourceInfo(SourceKind.DIRECTORY, "2.6.0", "v2.6.0", commit, "here")


def test_links_are_pinned_to_the_commit_or_else_to_the_tag():
    assert urls.Permalinks(info("c" * 40)).line("a/b c.h", 7, 9) == f"https://github.com/pytorch/pytorch/blob/{'c' * 40}/a/b%20c.h#L7-L9"
    assert urls.Permalinks(info()).line("a.h", 7) == "https://github.com/pytorch/pytorch/blob/v2.6.0/a.h#L7"


@given(st.text(min_size=1, max_size=260))
def test_addresses_of_files_are_plain_short_and_need_no_quoting(path):
    address = urls.file(path)
    assert len(address) < 200
    assert urls.href(address) == address


@given(st.text("aé/ .#'%&", max_size=12) | st.text(max_size=12))
def test_an_address_that_needs_no_quoting_is_told_at_once(address):
    page, mark, anchor = address.partition("#")
    safe = "/:~,@!$&'()*+;="
    assert urls.href(address) == quote(page, safe=safe) + mark + quote(anchor, safe=safe)


@given(st.sets(st.text("aAbB.", min_size=1, max_size=4)))
def test_settled_addresses_never_differ_only_in_case(names):
    wanted = {f"op/{name}.html" for name in names}
    settle = urls.CaseSafe(wanted)
    settled = {settle(address).lower() for address in wanted}
    assert len(settled) == len(wanted)


@pytest.mark.parametrize(
    ("page", "address", "way"),
    [
        ("a/b/c.html", "a/b/d.html", "d.html"), ("a/b/c.html", "a/x/d.html#L1", "../x/d.html#L1"), ("index.html", "op/add.html", "op/add.html"),
        ("a/b/c.html", "index.html", "../../index.html"), ("a/b/c.html", "a/b/c.html", "c.html"), ("op/q/a.html", "op/a b.html#x/y", "../a%20b.html#x/y"),
    ],
)  # fmt: skip
def test_the_shortest_way_from_page_to_page(page, address, way):
    assert urls.relative(page, address) == way


@pytest.mark.parametrize(
    ("path", "floor", "territory"),
    [
        ("torch/nn/modules/linear.py", 2, "torch"), ("torch/csrc/utils/init.cpp", 3, "csrc"), ("torch/csrc/autograd/engine.cpp", 4, "csrc"),
        ("aten/src/ATen/core/dispatch/Dispatcher.h", 4, "aten"), ("aten/src/ATen/native/cuda/Indexing.cu", 5, "aten"), ("c10/core/TensorImpl.h", 6, "c10"),
        ("c10/core/DispatchKeySet.h", 4, "c10"), ("c10/cuda/CUDAStream.cpp", 7, "c10"), ("torchgen/gen.py", 3, "gen"), ("tools/autograd", 3, "gen"),
        ("README.md", 0, "other"),
    ],
)  # fmt: skip
def test_floors_and_territories(path, floor, territory):
    assert terrain.floor_of(path) == floor
    assert terrain.territory_of(path).key == territory


def test_floors_in_words():
    assert terrain.say_floors((5,)) == "floor 5"
    assert terrain.say_floors((3, 4, 5)) == "floors 3 to 5"
    assert terrain.say_floors((2, 6)) == "floors 2 and 6"


def test_letters_of_the_matrix(small):
    mul = small.OPERATORS[0]
    wanted = ("CPU", "Meta", "MPS", "SparseCPU", "QuantizedCPU", "AutocastCUDA", "XPU")
    assert dict(zip(wanted, coverage.letters(mul, wanted, {}), strict=True)) == {"CPU": "S", "Meta": "K", "MPS": "", "SparseCPU": "D", "QuantizedCPU": "C", "AutocastCUDA": "f", "XPU": "?"}
    keys = [column.key for column in coverage.columns([mul])]
    assert keys == ["CPU", "CUDA", "MPS", "Meta", "SparseCPU", "QuantizedCPU", "AutogradCPU", "AutocastCUDA"]


def test_the_matrix_says_what_waits_for_another_form_and_what_only_raises(small):
    made = (Registration("CompositeExplicitAutogradNonFunctional", "at::meta::structured_f", Origin.STRUCTURED),)
    f = replace(small.OPERATORS[0], name="aten::f", registrations=made, dispatch={"XPU": "default backend kernel"}, kernels={}, structured_delegate="f.out")
    out = replace(f, name="aten::f.out", registrations=(), dispatch={"XPU": "missing"}, structured_delegate=None)
    assert coverage.letters(f, ("XPU",), {"aten::f": f, "aten::f.out": out}) == ("w",)
    error = Chain(Status.RESOLVED, None, (Step("entry", "g", "a.cpp", 1, ONLY_RAISES),))
    raises = replace(f, name="aten::g", registrations=(), kernels={"XPU": error}, structured_delegate=None)
    assert coverage.letters(raises, ("XPU",), {}) == ("e",)


def test_the_same_edge_is_the_same_from_both_ends_and_keeps_its_ends():
    forth, back = hand.edge((0, 0), (300, 0)), hand.edge((300, 0), (0, 0))
    points = lambda path: {tuple(pair.split()) for piece in path.split("Q")[1:] for pair in [" ".join(piece.split()[2:])]}  # noqa: E731
    assert forth.endswith("300.0 0.0")
    assert back.endswith("0.0 0.0")
    assert points(forth) - {("300.0", "0.0")} == points(back) - {("0.0", "0.0")}


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40))
def test_a_treemap_fills_its_box_without_overlap(sizes):
    sizes = sorted(sizes, reverse=True)
    boxes = squarify(sizes, (0.0, 0.0, 100.0, 100.0), 1.5)
    assert sum(w * h for _x, _y, w, h in boxes) == pytest.approx(10_000, rel=1e-6)
    for size, (_x, _y, w, h) in zip(sizes, boxes, strict=True):
        assert w * h == pytest.approx(10_000 * size / sum(sizes), rel=1e-6)
    for number, (x, y, w, h) in enumerate(boxes):
        for u, v, p, q in boxes[number + 1 :]:
            wide, high = min(x + w, u + p) - max(x, u), min(y + h, v + q) - max(y, v)
            assert wide < 1e-6 or high < 1e-6


def test_a_folder_that_is_nearly_all_of_its_parent_stands_for_it(site):
    names = {cell.name for cell in treemap(site, "", depth=1)}
    assert "aten/src/ATen" in names


def test_what_stands_in_a_figure_is_escaped():
    assert "<b>" not in svg.text(0, 0, "<b>") + svg.picture(1, 1, "n", "<b>", "<b>", "")
    land = section.Land("torch", "<b>", "<b>", 1, ("<b>",), "x.html")
    assert "<b>" not in section.draw(section.Section("<b>", (land,), (section.Station(1, "<b>"),), (("<b>", True),), ("<b>",), 1, 1))


def test_receipts_and_long_names_are_escaped():
    assert receipt(Receipt("<a.h>:1", 'https://x/"')) == '<a href="https://x/&#34;">&lt;a.h&gt;:1</a>'
    assert receipt(Receipt("<gen.cpp>", None)) == "<span class=r>&lt;gen.cpp&gt;</span>"
    assert receipt(Receipt("TensorCompareKernel.cpp:123-9", "https://x"), narrow=True) == "<a href=https://x>TensorCompareKernel.cpp<span>:123-9</span></a>", "a phone breaks no number"
    assert whole("<b>, called in aten/src/ATen/native/a.h:7") == "&lt;b&gt;, called in aten/src/ATen/native/a.h<span>:7</span>"
    assert "<x>" not in soft("a::very::long::name::of::a::function::<x>")
    with pytest.raises(Exception, match="undefined"):
        create().from_string("{{ nothing }}").render()


def test_templates_escape_what_is_text_and_nothing_else():
    template = create().from_string("{% block whole %}{% for x in view.items %}{% if x %}{{ x }};{% endif %}{% endfor %}{{ view.keys|join(', ') }}{% endblock %}")
    view = SimpleNamespace(items=(7, "<a>", Markup("<b>"), "plain", ""), keys=("&", "c"))
    assert template.render(view=view) == "7;&lt;a&gt;;<b>;plain;&amp;, c"


def test_what_a_template_includes_stands_in_it_as_if_included():
    environment = create()
    parts = {"in": "{% if x %}\n[{{ x }}]\n{% endif %}\n", "out": 'a\n{% for x in (1, 0, 2) %}\n  {% include "in" %}\n{% endfor %}\n{% with x = 3 %}{% include "in" %}{% endwith %}.'}
    environment.loader = DictLoader(parts)
    assert environment.get_template("out").render() == "a\n[1]\n[2]\n[3]\n."


def test_what_pages_share_is_drawn_once(site):
    environment, frame = create(), frame_of(site, {"style.css": "s.css", "icon.svg": "i.svg"})
    template = environment.from_string("{{ site|shared('links', root=root) }}")
    first, again, deeper = (template.render(site=frame, root=root) for root in ("", "", "../"))
    assert first == again != deeper
    assert sorted(frame.drawn) == [("links", ""), ("links", "../")]


def test_a_question_is_put_to_the_store_once(database):
    with Reader(database) as reader:
        both = remembered(reader)
        assert both.group("mul") is both.group("mul")
        assert both.group("mul") != both.group("add")
        assert both.landmarks("aten::mul") == reader.landmarks("aten::mul")


def test_the_main_overload_is_the_plain_call(site):
    assert site.catalog.mains["op/mul"].name == "aten::mul.Tensor"
    assert set(site.catalog.bases) >= {"op/mul", "op/quantized/mul", "op/rename_", "op/Int", "op/int"}
    assert {op.name for op in site.catalog.bases["op/mul"]} >= {"aten::mul_.Tensor", "aten::mul.out"}


def test_three_answers_look_different(site):
    view = operator.build(site, "op/mul").view
    chains = {chain.backends[0]: chain for chain in view.main.chains}
    assert {name: chain.status for name, chain in chains.items()} == {
        "CUDA": "resolved", "CPU": "unresolved", "MPS": "none", "SparseCPU": "resolved",
    }  # fmt: skip
    assert chains["SparseCPU"].backends == ("SparseCPU", "SparseCUDA")
    assert "no MPS kernel" in chains["MPS"].reason


@pytest.mark.parametrize(("resolved", "untold", "followed"), [
    (("QuantizedCPU",), ("CUDA", "CPU"), "CUDA"), (("QuantizedCPU", "CPU"), ("CUDA",), "CPU"), (("QuantizedCPU",), ("XPU",), "QuantizedCPU"), (("XPU",), ("SparseCPU",), "SparseCPU"), ((), (), ""),
])  # fmt: skip
def test_the_descent_follows_the_kernel_that_people_ask_for(site, resolved, untold, followed):
    """In a wheel the bodies of CUDA kernels are not told: that is said, and no quantized kernel shown in their place."""
    step = Step("entry", "at::native::f", "a.cpp", 1)
    kernels = {key: Chain(Status.RESOLVED, None, (step,)) for key in resolved} | {key: Chain(Status.UNRESOLVED, "not in a wheel") for key in untold}
    assert backend_of(replace(site.catalog.mains["op/mul"], kernels=kernels)) == followed


def test_a_chain_that_was_shown_is_shown_once(site):
    view = operator.build(site, "op/mul").view
    out = next(overload for overload in view.others if overload.anchor == "mul.out")
    (chain,) = out.chains
    assert chain.parts == (Again(Link("mul.Tensor, CUDA", "mul.Tensor-CUDA"), 5, chain.parts[0].first, chain.parts[0].last),)
    assert (view.main.followed, view.main.chains[0].above, view.main.chains[0].parts) == ("mul.Tensor-CUDA", True, ())


def test_a_row_of_steps_within_a_chain_is_found_again(site):
    steps = [Step("kernel", f"f{n}", "a.cpp", n) for n in range(9)]
    shown, link = Shown(), Link("add, CPU", "add-CPU")
    shown.add(link, tuple((s.role, s.symbol, s.path, s.line, s.branch) for s in steps[:7]))
    other = Operator("aten::x", "aten::x() -> ()", Origin.YAML, Location("a.yaml", 1), kernels={"CPU": Chain(Status.RESOLVED, steps=(steps[8], *steps[2:6], steps[7]))})
    (view,) = chains_of(site, other, shown)
    assert [type(part).__name__ for part in view.parts] == ["StepView", "Again", "StepView"]
    assert view.parts[1] == Again(link, 4, "f2", "f5")


def test_a_call_of_an_operator_without_a_kernel_here_is_shown_although_the_call_was(site):
    chains = {key: Chain(Status.RESOLVED, steps=(Step("entry", "f", "a.cpp", 1), Step("calls", "at::g", "a.cpp", 2, f"aten::g{told}")))
              for key, told in (("CUDA", ""), ("CPU", ""), ("MPS", "; no kernel for MPS"))}  # fmt: skip
    first, second = chains_of(site, Operator("aten::x", "aten::x() -> ()", Origin.YAML, Location("a.yaml", 1), kernels=chains), Shown())
    assert first.backends == ("CUDA", "CPU")
    assert [(part.symbol, part.note) for part in second.parts] == [("f", ""), ("at::g", "g; no kernel for MPS")]


def test_only_keys_that_are_served_otherwise_are_shown_again(site):
    seen, here = Seen(), Link("a", "a")
    op = Operator("aten::a", "aten::a() -> ()", Origin.YAML, Location("a.yaml", 1), dispatch={"CPU": "kernel", "CUDA": "kernel", "MPS": "missing"})
    assert [group.keys for group in operator.served(op, seen, here)[0]] == [("CPU", "CUDA"), ("MPS",)]
    groups, alike, further = operator.served(replace(op, dispatch={**op.dispatch, "CUDA": "math kernel"}), seen, Link("b", "b"))
    assert ([(group.outcome, group.keys) for group in groups], alike, further) == ([("math kernel", ("CUDA",))], here, 2)


def test_a_step_is_linked_where_it_names_what_is_there(site):
    path = "aten/src/ATen/native/BinaryOps.cpp"
    assert address_of(site, Step("entry", "at::native::mul_sparse<T>", path, 33)) == f"source/{path}.html#L30"
    assert address_of(site, Step("library", "somethingElse", path, 33)) is None
    assert address_of(site, Step("calls", "at::mul", path, 33, note="aten::mul.Tensor; in the body of X")) == "op/mul.html#mul.Tensor"
    assert note_of(Step("stub", "mul_stub", path, 33, note=f"called in {path}:544")) == "called in BinaryOps.cpp:544"
    assert note_of(Step("calls", "eq.out", path, 1, note="at::_ops::eq_out::call: aten::eq.out; no kernel for MPS")) == "at::_ops::eq_out::call; no kernel for MPS"


def test_a_step_leads_to_the_symbol_that_holds_its_line(site):
    path = "aten/src/ATen/native/BinaryOps.cpp"
    assert site.place(path, 10) == f"source/{path}.html#L10"
    assert site.place(path, 12) == f"source/{path}.html#L10"
    assert site.place(path, 25) == f"source/{path}.html"
    assert site.place("aten/src/ATen/native/library.cpp", 1200) == "source/aten/src/ATen/native/library.cpp~2.html#L1200"
    assert site.place("nowhere.cpp", 1) is None


def test_generated_files_are_never_links(site):
    assert site.receipt("python_variable_methods.cpp").url is None
    assert site.receipt("build/aten/src/ATen/UfuncCPU_add.cpp", 3).url is None
    assert site.receipt("torch/csrc/hand.cpp", 3).url.endswith("/torch/csrc/hand.cpp#L3")


def test_the_ladder_tells_awake_from_asleep(site, small):
    rungs = {rung.key: rung for rung in ladder_of(site, small.OPERATORS[0], "CUDA")}
    assert rungs["CUDA"].css == "stops-here"
    assert rungs["Autograd"].css == "stops-here"
    assert rungs["Autograd"].outcome == "records MulBackward0, then calls on"
    assert rungs["ADInplaceOrView"].css == "pass"
    assert rungs["FuncTorchBatched"] == Rung("FuncTorchBatched", "", "wakes under vmap: own kernel")
    assert rungs["and asleep"].outcome.startswith("1 further key, with nothing but their general fallback")
    assert rungs["and not told"].outcome == "not in a wheel: Fake"


def test_the_ladder_ends_where_a_composite_function_runs(site, small):
    layers = (Layer("AutogradFunctionality", True, "math kernel"), Layer("ADInplaceOrView", False, "fallthrough backend fallback"))
    op = replace(small.OPERATORS[0], dispatch={"AutogradCUDA": "math kernel", "AutogradMPS": "autograd kernel"}, layers=layers)
    rungs = {rung.key: rung for rung in ladder_of(site, op, "CUDA")}
    assert rungs["Autograd"].outcome.startswith("the composite function below runs already here")
    assert rungs["CUDA"] == Rung("CUDA", "", "not reached; the operators that it calls get here")
    assert "ADInplaceOrView" not in rungs
    other = {rung.key: rung for rung in ladder_of(site, op, "MPS")}
    assert other["Autograd"].outcome == "records MulBackward0, then calls on"
    assert other["MPS"].css == "stops-here"


def test_letters_of_rules_are_shared_and_go_on_after_z():
    letters: dict[str, Receipt] = {}
    given_out = [letter_of(Receipt(f"gen.py:{n}", "u"), letters) for n in range(28)]
    assert given_out[:2] + given_out[25:] == ["a", "b", "z", "aa", "ab"]
    assert letter_of(Receipt("gen.py:25", "u"), letters) == "z"


def test_long_symbol_lists_go_on_with_their_own_anchors(site):
    pages = source.build_file(site, "aten/src/ATen/native/library.cpp")
    assert [len(page.view.symbols) for page in pages] == [700, 700, 100]
    assert [page.following for page in pages[:2]] == [pages[1].address, pages[2].address]


def test_the_first_shard_is_small_and_knows_the_others(site):
    shards = dict(search.shards(site))
    text = shards["search/0.js"].decode()
    first = json.loads(text[text.index("=", text.index("]")) + 1 :].rstrip(";\n"))
    assert len(text) < search.FIRST_LIMIT
    assert first["operators"].split("\n")[0] in {"mul.Tensor", "Int", "empty"}
    assert "mul_.Tensor\tmul" in first["operators"].split("\n")
    assert {f"search/s-{key}.js" for key in first["shards"].split()} <= set(shards)
    assert b"</script" not in b"".join(shards.values())


@pytest.mark.parametrize(("name", "shard"), [("at::native::add_kernel", "ad"), ("_Foo::~Bar", "ba"), ("operator()", "op"), ("x", "x_"), ("::", "_")])
def test_the_shard_of_a_symbol(name, shard):
    assert search.shard_of(name).rstrip("_") == shard.rstrip("_") or search.shard_of(name) == shard.ljust(2, "_")


def test_the_inventory_is_one_that_sphinx_reads(site):
    data = machine.inventory(site)
    lines = data.split(b"\n", 4)
    assert lines[0] == b"# Sphinx inventory version 2"
    rows = zlib.decompress(lines[4]).decode().splitlines()
    assert "aten::mul.Tensor std:label -1 op/mul.html#mul.Tensor mul.Tensor" in rows
    assert "torch.mul py:function 1 op/mul.html#mul.Tensor -" in rows


def test_the_json_twin_keeps_the_words_of_the_export(written):
    twin = json.loads((written.out / "op/mul.json").read_text())
    mul = next(op for op in twin["overloads"] if op["name"] == "aten::mul.Tensor")
    assert mul["declared"] == {"path": "aten/src/ATen/native/native_functions.yaml", "line": 100}
    assert twin["chains"][mul["kernels"]["MPS"]] == {"status": "none", "reason": "no MPS kernel: a call raises an error"}
    steps = [twin["steps"][number] for number in twin["chains"][mul["kernels"]["CUDA"]]["steps"]]
    assert [step["role"] for step in steps] == ["entry", "stub", "registration", "kernel", "device"]
    assert twin["served"][mul["dispatch"]]["missing"] == ["MPS"]


def test_the_map_follows_the_operator_with_most_kernels(site):
    assert front.subject_of(site).name == "aten::mul.Tensor"


def test_kernels_are_measured_and_dated_where_the_operator_reaches_them_itself(site):
    sizes = operator.build(site, "op/mul").view.sizes
    assert sizes.rows[0].lines == 10
    first = sizes.rows[0]
    assert (first.oldest, first.newest, first.backends) == ("2012-01-25", "2017-05-01", ("CUDA",))
    assert [band.name for band in sizes.bar.bands] == ["First", "Second", "Third", "no date"][: len(sizes.bar.bands)]


def test_the_innermost_symbol_is_found_behind_many_short_ones(small, tmp_path):
    path = "aten/src/ATen/native/BinaryOps.h"
    inside = [Symbol(f"f{line}", f"C::f{line}", "method", path, line, line) for line in range(2, 14)]
    symbols = (Symbol("C", "C", "class", path, 1, 20), *inside, Symbol("g", "g", "function", path, 22, 24))
    with Reader(writer.write(small.atlas(symbols=symbols), tmp_path)) as reader:
        catalog = load(reader)
        found = {line: symbol and symbol.name for line in (1, 5, 18, 21, 23, 25) for symbol in [catalog.symbol_at(path, line)]}
    assert found == {1: "C", 5: "f5", 18: "C", 21: None, 23: "g", 25: None}


def _drawn(site, page):
    frame = frame_of(site, {"style.css": "s.css", "icon.svg": "i.svg", "operators.js": "o.js", "theme.js": "t.js", "atlas.js": "a.js"})
    return to_html(create(), frame, page).decode()


def test_a_backend_whose_kernels_are_elsewhere_is_told_where(small, tmp_path):
    mark = Landmark("MPS", "elsewhere", "caffe2/CMakeLists.txt", 9, "https://x/<far>.git at abc1234 (far.txt)")
    cmake = tuple(f"f{n}/CMakeLists.txt" for n in range(12))
    with Reader(writer.write(small.atlas(landmarks=(mark,), paths=(*sorted(f.path for f in small.FILES), mark.path, "CMakeLists.txt", *cmake)), tmp_path)) as reader:
        site = Site(load(reader))
    place = site.catalog.columns.index(next(column for column in site.catalog.columns if column.key == "MPS"))
    assert site.catalog.letters["aten::mul.Tensor"][place] == "?"
    listed, page = (_drawn(site, page) for page in (operators.build(site, 1), operator.build(site, "op/mul")))
    assert '<p class=small id=elsewhere>Kernels of MPS are in <a href="https://x/&lt;far&gt;/tree/abc1234">https:' in listed
    assert "at abc1234 (far.txt), which the build fetches (<a href=https:" in listed
    assert "/caffe2/CMakeLists.txt#L9>caffe2/CMakeLists.txt:9</a>)" in listed, "a dozen files have that name"
    assert site.receipt("CMakeLists.txt", 9).text == "CMakeLists.txt:9"
    assert "<dt>elsewhere<dd><a href=../operators/index.html#elsewhere>MPS: &lt;far&gt;</a>" in page
    (profile,) = [profile for profile in operators.build(site, 1).view.profiles if profile.label == "CPU"]
    assert profile.own + profile.default + profile.composed + profile.none < profile.total == len(small.OPERATORS)


def test_a_repository_that_no_browser_opens_is_no_link(small, tmp_path):
    marks = (Landmark("MPS", "elsewhere", "a.txt", 9, "git@x:far.git at abc1234"), Landmark("CUDA", "elsewhere", "a.txt", 9, "https://x/far.git"))
    with Reader(writer.write(small.atlas(landmarks=marks), tmp_path)) as reader:
        found = {told.web.text: told.web.address for told in operators.build(Site(load(reader)), 1).view.elsewhere}
    assert found == {"git@x:far.git": "", "https://x/far.git": "https://x/far.git"}


def test_a_file_that_declares_operators_and_has_others_names_each_part_once(small, tmp_path):
    placed = replace(small.OPERATORS[0], registrations=(Registration("CPU", "f", Origin.LIBRARY, place=Location(small.YAML, 7)),))
    with Reader(writer.write(small.atlas(operators=(placed, *small.OPERATORS[1:])), tmp_path)) as reader:
        site = Site(load(reader))
    (page,) = source.build_file(site, small.YAML)
    assert page.view.declares
    assert page.view.living
    drawn = _drawn(site, page)
    assert (drawn.count("id=operators"), drawn.count("id=declared")) == (1, 1)


def test_anchors_on_one_page_are_distinct():
    assert urls.distinct(["a", "b", "a", "a~2", "a"]) == ["a", "b", "a~2", "a~2~2", "a~3"]


def test_a_row_of_many_generated_files_says_so(written):
    page = (written.out / "generated/index.html").read_text()
    assert "3 files and 1 family of files that stand in no repository" in page
    assert "<code>shim_&lt;key&gt;_&lt;name&gt;.cpp</code><td>Entries. One file for each key and name." in page.replace("<wbr>", "")
    assert "{" not in page[page.index("<h1>") :]


def test_a_single_sheet_has_no_number(written):
    assert "<title>Unresolved" in (written.out / "checks/unresolved.html").read_text()
    assert "sheet 1" not in (written.out / "checks/unresolved.html").read_text()


def test_owners_commands_and_registries_stand_where_they_are_about(small, tmp_path):
    native = "aten/src/ATen/native"
    marks = (
        Landmark(f"/{native}/", "owner", "CODEOWNERS", 7, "@<b>"), Landmark("/aten/src/", "owner", "CODEOWNERS", 5, "@a"),
        Landmark("Build", "build", "CONTRIBUTING.md", 9, "make <x>"), Landmark("aten::mul", "docs", "torch/__init__.py", 3, "torch.mul"),
        Landmark("aten::mul", "opinfo", "torch/__init__.py", 4, "OpInfo(mul)"), Landmark("OpInfo", "tests", "test/test_ops.py", 2, "3 tests over every OpInfo"),
        Landmark("OpInfo", "listed", "torch/__init__.py", 1, "op_db"), Landmark("aten/src", "map", "CONTRIBUTING.md", 2, "aten/src/"),
    )  # fmt: skip
    with Reader(writer.write(small.atlas(landmarks=marks, paths=(*sorted(f.path for f in small.FILES), "CODEOWNERS", "CONTRIBUTING.md", "test/test_ops.py")), tmp_path)) as reader:
        site = Site(load(reader))
    rows = [(row.registry, row.text) for _, rows in operator.build(site, "op/mul").view.registries for row in rows]
    assert rows[:3] == [("Documentation", "torch.mul"), ("Test description", "OpInfo(mul)"), ("Tests", "3 tests over every OpInfo")]
    assert ("Owners", f"@<b>, for /{native}/") in rows
    (page,) = source.build_file(site, f"{native}/BinaryOps.h")
    assert (page.view.owners.text, page.view.owners.receipt.text) == ("@<b>", "CODEOWNERS:7")
    assert source.build_folder(site, "aten/src/ATen").view.owners.text == "@a"
    assert source.build_folder(site, "aten/src").view.described.text == "CONTRIBUTING.md:2"
    assert [command.text for command in source.build_folder(site, "").view.commands] == ["make <x>"]
    (python,) = source.build_file(site, "torch/__init__.py")
    assert ("3 documented", "4 described for tests") in [living.hows for living in python.view.living]


def test_functions_on_chains_are_found_by_any_part_of_their_name(site):
    text = dict(search.shards(site))["search/kernels.js"].decode()
    rows = json.loads(text[text.index("=", text.index("]")) + 1 :].rstrip(";\n"))["symbols"].split("\n")
    assert [row.partition("\t")[0] for row in rows] == sorted({row.partition("\t")[0] for row in rows})
    assert any(row.startswith("at::native::mul_kernel_cuda\tK") for row in rows)
    assert "lonely" not in text
