# SPDX-License-Identifier: BSD-3-Clause
"""What is long fits: tables of names as long as PyTorch's in their boxes, and numbers on the treemap that are whole or not there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cartographer.model.atlas import FileEntry, GeneratedFile, Stub
from cartographer.progress import SilentProgress
from cartographer.render.write import write_site
from cartographer.store import writer
from cartographer.store.reader import Reader

pytestmark = pytest.mark.browser

NAME = "quantized_scaled_grouped_batch_norm_with_bias_and_activation_backward"
FOLDER = "aten/src/ATen/native"

# Line numbers that stand on two lines.
_TORN = """(() => [...document.querySelectorAll('td > a[href^="https:"] > span, td div > a[href^="https:"] > span')]
  .filter(s => s.getClientRects().length > 1).map(s => s.textContent))()"""

# Numbers of which a part is to be seen, but not all. A hidden one lies wholly below the box that is its line.
_CUT = """(() => [...document.querySelectorAll('.tm-cell small')].filter(small => {
  const box = small.getBoundingClientRect(), cell = small.parentElement.getBoundingClientRect(), range = document.createRange();
  range.selectNodeContents(small);
  const text = [...range.getClientRects()].find(r => r.width > 0);
  if (!box.width || !text || text.top >= box.bottom - 1) return false;
  return text.right > Math.min(box.right, cell.right) + .5 || text.bottom > cell.bottom + 2;
}).map(small => small.parentElement.textContent))()"""


@pytest.fixture(scope="module")
def long_names(small, tmp_path_factory):
    """The small atlas, where what the lists of kernels name is as long as it can be."""
    path = f"{FOLDER}/{NAME}_kernels_of_the_second_generation.cpp"
    made = small.atlas()
    steps = tuple(replace(step, symbol=f"at::native::(anonymous namespace)::{NAME}<scalar_t, accscalar_t>", path=path, line=12345) for step in small.OPERATORS[0].kernels["CUDA"].steps)
    first = replace(made.operators[0], kernels={"CUDA": replace(made.operators[0].kernels["CUDA"], steps=steps)})
    stub = Stub(f"at::native::{NAME}_stub", ((path, 12345), (path, 12346)), ((path, 12347),), (("cpu not AVX512", f"at::native::{NAME}_kernel", path, 12348),))
    files = [FileEntry(f"torch/{folder}/{NAME}/{n}_{NAME}.py", "0" * 40, 9, "Python", 59_940 + n) for folder in ("_dynamo", "_inductor", "testing") for n in range(8)]
    entry = FileEntry(path, "0" * 40, 9, "C++", 20_000)
    generated = GeneratedFile(f"{NAME}_functions.cpp", path, 12345, path, 1, "Methods.")
    paths = (*made.paths, path, *(file.path for file in files))
    atlas = replace(made, operators=(first, *made.operators[1:]), files=(*made.files, entry, *files), stubs=(stub, *(replace(stub, name=f"at::native::{NAME}_{n:03}_stub") for n in range(200))), generated=(generated,), paths=tuple(sorted(paths)))
    folder = tmp_path_factory.mktemp("long")
    with Reader(writer.write(atlas, folder)) as reader:
        write_site(reader, folder, SilentProgress(), processes=1)
    return folder


@pytest.mark.parametrize("address", ["kernels/stubs.html", "kernels/functions.html", "kernels/device.html", "kernels/index.html", "generated/index.html", "nodes/index.html"])
def test_tables_of_names_fit(browser, long_names, address):
    for width in (1280, 1440, 1920, 390):
        browser.size(width)
        browser.open((long_names / address).as_uri())
        assert browser.run("[...document.querySelectorAll('.scroll')].map(s => s.scrollWidth - s.clientWidth)") == [0], width
        assert browser.run("[...document.querySelectorAll('thead th')].filter(th => th.scrollWidth > th.clientWidth).length") == 0 or width == 390
        assert browser.run(_TORN) == [], width
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, width


def test_numbers_on_the_treemap_are_whole_or_not_there(browser, long_names):
    shown = []
    for width in (1920, 1440, 1280, 390):
        browser.size(width)
        browser.open((long_names / "territory/index.html").as_uri())
        assert browser.run(_CUT) == [], width
        shown.append(browser.run("[...document.querySelectorAll('.tm-cell small')].filter(s => s.getClientRects().length).length"))
    assert shown[0] > 10
