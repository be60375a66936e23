# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of page in a real browser: wide and narrow, light and dark, with and without scripts, from file://."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.browser

# One address for each kind of page, in the small atlas and in a real one.
SMALL = (
    "index.html", "operators/index.html", "op/mul.html", "op/quantized/mul.html", "op/empty.html", "territory/index.html", "source/index.html",
    "source/aten/src/ATen/native/index.html", "source/aten/src/ATen/native/BinaryOps.cpp.html", "source/aten/src/ATen/native/library.cpp~2.html",
    "kernels/index.html", "kernels/stubs.html", "kernels/functions.html", "kernels/device.html", "generated/index.html", "nodes/index.html",
    "strata/index.html", "checks/index.html", "checks/unresolved.html", "releases/index.html", "lines/index.html", "guide/lines/blue.html", "guide/journeys/linear.html",
    "guide/pages/glossary.html", "guide/floors/4-the-dispatcher.html", "guide/pages/stack.html", "guide/blue/4-an-operator.html",
)  # fmt: skip
REAL = (
    "index.html", "operators/index.html", "operators/2.html", "op/add.html", "op/div.html", "op/_foreach_mul.html", "op/linear.html", "op/conv2d.html",
    "op/index_select.html", "op/quantized/add.html", "op/prims/add.html", "op/randn.html", "territory/index.html", "source/index.html",
    "source/torch/nn/functional.py.html", "source/torch/__init__.py.html", "source/c10/cuda/CUDACachingAllocator.cpp.html", "kernels/functions.html",
    "source/aten/src/ATen/native/index.html", "source/aten/src/ATen/native/BinaryOps.cpp.html", "source/torch/index.html", "kernels/index.html",
    "kernels/stubs.html", "kernels/device.html", "generated/index.html", "nodes/index.html", "strata/index.html", "checks/index.html",
    "checks/unresolved.html", "releases/index.html", "lines/index.html", "guide/journeys/linear.html",
)  # fmt: skip
SHELF = ("index.html", "v0.1.0/releases/index.html", "v0.2.0/releases/index.html", "v0.3.0/releases/index.html")
WIDTHS = (1440, 390)

_OVERLAPS = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    if (!svg.getBoundingClientRect().width) continue;
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]).filter(t => t[0].trim() && t[1].width);
    texts.forEach(([a, r], i) => texts.slice(i + 1).forEach(([b, s]) => {
      const w = Math.min(r.right, s.right) - Math.max(r.left, s.left), h = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
      if (w > 2 && h > 3) found.push(a + ' / ' + b);
    }));
  }
  return found;
})()"""

_AXE = """axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map(v =>
  v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' ; '))))"""


def look(browser, axe, address):
    for width in WIDTHS:
        for dark in (False, True) if width == WIDTHS[0] else (False,):  # colours do not depend on the width
            browser.size(width)
            browser.dark(dark)
            where = f"{address} at {width}, {'dark' if dark else 'light'}"
            browser.open(address)
            assert browser.troubles() == [], where
            assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, f"{where} scrolls sideways"
            if not dark:
                assert browser.run(_OVERLAPS) == [], where
            if axe:
                browser.run(axe + ";1")
                assert json.loads(browser.run(_AXE)) == [], where


def look_without_scripts(browser, address):
    browser.scripts(on=False)
    try:
        for width in WIDTHS:
            browser.size(width)
            browser.open(address)
            assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, f"{address} at {width} scrolls sideways"
            hidden = "[...document.querySelectorAll('main *')].filter(e => e.hidden && !e.closest('.js-only') && e.textContent.trim()).length"
            assert browser.run(hidden) == 0, f"{address} hides text that only a script would show"
            assert browser.run("getComputedStyle(document.querySelector('.js-only') || document.head).display") == "none"
    finally:
        browser.scripts(on=True)


@pytest.mark.parametrize("address", SMALL)
def test_small_atlas(browser, axe, small_site, address):
    look(browser, axe, (small_site / address).as_uri())
    look_without_scripts(browser, (small_site / address).as_uri())


@pytest.mark.parametrize("address", REAL)
def test_real_atlas(browser, axe, real_site, address):
    look(browser, axe, (real_site / address).as_uri())
    look_without_scripts(browser, (real_site / address).as_uri())


@pytest.mark.parametrize("address", SHELF)
def test_several_releases(browser, axe, shelf, address):
    look(browser, axe, (shelf / address).as_uri())
    look_without_scripts(browser, (shelf / address).as_uri())


def test_a_narrow_screen_hides_nothing(browser, shelf, small_site):
    """The list of releases fits, names of files are not cut to pieces, and a drawing that is wider says so."""
    browser.size(390)
    browser.open((shelf / "index.html").as_uri())
    assert browser.run("(s => s.scrollWidth - s.clientWidth)(document.querySelector('.scroll'))") <= 0
    assert browser.run("getComputedStyle(document.querySelector('.shelf td:nth-child(6)'), '::before').content") == '"breaks "'
    browser.open((small_site / "source/aten/src/ATen/native/index.html").as_uri())
    assert browser.run("Math.min(...[...document.querySelectorAll('.listing tbody th')].map(th => th.getBoundingClientRect().width))") >= 140
    for width, said in ((390, True), (1440, False)):
        browser.size(width)
        browser.open((small_site / "index.html").as_uri())
        assert ("sideways" in browser.run("getComputedStyle(document.querySelector('.neat.pan + figcaption'), '::after').content")) is said


def test_nothing_asks_for_what_only_scripts_answer(browser, small_site):
    shown = "getComputedStyle(document.querySelector('.masthead .search')).display !== 'none'"
    browser.size(1440)
    browser.open((small_site / "index.html").as_uri())
    assert browser.run(shown) is True
    browser.scripts(False)
    try:
        browser.open((small_site / "index.html").as_uri())
        assert browser.run(shown) is False
    finally:
        browser.scripts(True)
