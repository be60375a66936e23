# SPDX-License-Identifier: BSD-3-Clause
"""The guide as a reader finds it: questions in the words of those who asked them, tasks, the chart."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

# What people asked in public threads, as they put it and in other words -> pages that answer.
QUESTIONS = (
    ("source of torch.div", "floors/5-kernels"), ("how do I find the source code of torch.xx()", "floors/5-kernels"),
    ("where is torch.div implemented?", "floors/5-kernels"),
    ("nn.Dropout F.dropout _VF.dropout dead end", "floors/2-python"), ("where is the implementation of F.dropout", "floors/2-python"),
    ("Tensor.add_ docs lack a source link", "blue/3-find-anything"), ("source link for non-Python functions Tensor.add_", "blue/3-find-anything"),
    ("How was conv2d implemented in PyTorch", "pages/conv2d"), ("nn.Conv2d source code", "pages/conv2d"),
    ("convolution backward path for CUDA", "ideas/09-forward-decides"), ("is it slow_conv2d_backward_out_cuda", "ideas/09-forward-decides"),
    ("nn.Linear aten::addmm", "journeys/linear"), ("how does nn.Linear get to addmm", "journeys/linear"),
    ("ATen/Functions.h not found", "floors/3-the-border"), ("ATen/Functions.h: No such file or directory", "floors/3-the-border"),
    ("torch/_C/_VariableFunctions.pyi is not in the repository", "floors/3-the-border"), ("_VariableFunctions.pyi missing", "floors/3-the-border"),
    ("where do python_torch_functions_0.cpp come from", "floors/3-the-border"), ("where is python_torch_functions_2.cpp", "floors/3-the-border"),
    ("why does matmul show differently for privateuse1 and CPU", "floors/4-the-dispatcher"), ("matmul PrivateUse1 vs CPU profiler", "floors/4-the-dispatcher"),
    ("why grad_fn says AddBackward0, not CudnnConvolutionBackward", "ideas/02-autograd-records"),
    ("grad_fn=<AddBackward0> instead of CudnnConvolutionBackward", "ideas/02-autograd-records"),
    ("what has to be done to add an operation", "blue/4-an-operator"), ("how to add a new operator", "blue/4-an-operator"),
    ("first contribution terms unclear", "lines/blue"), ("I want to contribute but do not understand the terms", "lines/blue"),
    ("CONTRIBUTING map had no torchgen", "blue/1-shape"), ("codebase structure torchgen missing", "blue/1-shape"),
)  # fmt: skip


def first_three(browser, site, words):
    browser.open((site / "index.html").as_uri())
    browser.press("/")
    browser.until("Boolean(window.ATLAS_SHARDS && window.ATLAS_SHARDS['0'])")
    browser.run(f"(q => {{ q.value = {words!r}; q.dispatchEvent(new Event('input')); }})(document.querySelector('#q'))")
    browser.until("document.querySelectorAll('#results li').length > 0 && document.querySelector('#results').getAttribute('aria-busy') === 'false'")
    return browser.run("[...document.querySelectorAll('#results li')].slice(0, 3).map(li => (li.dataset.to || '').split('#')[0])")


@pytest.mark.parametrize(("words", "page"), QUESTIONS)
def test_a_question_finds_its_page_among_the_first_three(browser, small_site, words, page):
    assert f"guide/{page}.html" in first_three(browser, small_site, words)


def test_a_question_is_typed_and_its_page_opened(browser, small_site):
    browser.open((small_site / "index.html").as_uri())
    browser.press("/")
    browser.type("why does matmul show differently")
    browser.until("document.querySelectorAll('#results li').length > 0 && document.querySelector('#results').getAttribute('aria-busy') === 'false'")
    browser.press("Enter")
    browser.until("location.pathname.endsWith('guide/floors/4-the-dispatcher.html') && document.readyState === 'complete'")
    assert browser.run("document.getElementById('why-matmul-looks-different-on-another-backend') !== null")
    assert browser.troubles() == []


def test_a_single_name_still_finds_names_first(browser, small_site):
    for words, page in (("mul", "op/mul.html"), ("MulBackward0", "op/mul.html"), ("THPVariable_mul", "op/mul.html")):
        assert first_three(browser, small_site, words)[0] == page, words


def test_the_blue_line_can_be_walked_by_its_links(browser, small_site):
    """From stop to stop with what the page offers; each task hides its answer until it is asked for."""
    browser.size(1280)
    browser.open((small_site / "guide/lines/blue.html").as_uri())
    browser.run("document.querySelector('.route a').click()")
    for stop in ("1-shape", "2-build-and-test", "3-find-anything", "4-an-operator", "5-a-kernel", "6-a-derivative", "7-send-it"):
        browser.until(f"location.pathname.endsWith({stop + '.html'!r}) && document.readyState === 'complete'")
        assert browser.run("document.querySelectorAll('details.check').length") == 1, stop
        assert not browser.run("document.querySelector('details.check').open"), stop
        browser.run("document.querySelector('details.check summary').click()")
        assert browser.run("document.querySelector('details.check p').getBoundingClientRect().height") > 10, stop
        assert browser.run("document.documentElement.scrollWidth") <= 1280, stop
        browser.run("document.querySelector('nav.turn a[rel=next]').click()")
    browser.until("location.pathname.endsWith('pages/glossary.html')")
    assert browser.troubles() == []


def test_links_inside_the_guide_lead_somewhere(small_site):
    """Every link from a guide page to this site has its file, and its anchor there."""
    import re
    from urllib.parse import unquote

    texts = {}

    def has(path, anchor):
        if path not in texts:
            texts[path] = path.read_text(encoding="utf-8") if path.is_file() else None
        found = texts[path]
        return found is not None and (not anchor or re.search(rf"\bid=[\"']?{re.escape(anchor)}[\"'> ]", found) is not None)

    broken = []
    for page in sorted((small_site / "guide").rglob("*.html")):
        for address in re.findall(r'href="?([^" >]+)', page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", address):
                continue
            path, _, anchor = unquote(address).partition("#")
            if not has((page.parent / path).resolve() if path else page, anchor):
                broken.append((page.name, address))
    assert broken == []


def test_the_stack_is_drawn_and_its_boxes_are_doors(browser, small_site):
    browser.open((small_site / "guide/pages/stack.html").as_uri())
    assert browser.run("document.querySelectorAll('svg.stackchart .place').length") == 10
    browser.run("[...document.querySelectorAll('svg.stackchart a')].find(a => a.textContent.startsWith('Dispatcher')).dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    browser.until("location.pathname.endsWith('floors/4-the-dispatcher.html')")


def test_numbers_of_files_to_read_say_on_a_phone_what_they_count(browser, small_site):
    browser.size(390)
    try:
        for page in sorted(small_site.glob("guide/**/*.html")):
            browser.open(page.as_uri())
            bare = "[...document.querySelectorAll('.reading tbody td.n:not(:empty)')].filter(c => getComputedStyle(c, '::before').content === 'none').length"
            assert browser.run(bare) == 0, page
        browser.open((small_site / "guide/blue/5-a-kernel.html").as_uri())
        assert browser.run("document.querySelectorAll('.reading tbody tr').length") > 3
    finally:
        browser.size(1280)


def test_the_guide_reads_without_scripts_and_on_a_phone(browser, small_site):
    browser.size(390)
    try:
        for page in ("lines/blue", "blue/4-an-operator", "floors/4-the-dispatcher", "journeys/linear", "pages/stack", "pages/glossary", "pages/ecosystem"):
            browser.scripts(False)
            browser.open((small_site / f"guide/{page}.html").as_uri())
            browser.scripts(True)
            assert browser.run("document.documentElement.scrollWidth") <= 390, page
            assert browser.run("document.querySelector('main').innerText.length") > 400, page
    finally:
        browser.scripts(True)
        browser.size(1280)


def test_ticks_of_the_self_check_are_kept(browser, small_site):
    address = (small_site / "guide/pages/self-check.html").as_uri()
    browser.open(address)
    boxes = browser.run("document.querySelectorAll('.tick input[type=checkbox]').length")
    assert boxes == browser.run("document.querySelectorAll('.prosepage li').length") > 10
    assert browser.run("document.querySelectorAll('.tick label a').length") == 0, "a link does not tick"
    browser.run("document.querySelectorAll('.tick label')[2].click()")
    browser.open(address)
    assert browser.run("[...document.querySelectorAll('.tick input')].map(box => box.checked).indexOf(true)") == 2
    browser.run("document.querySelectorAll('.tick label')[2].click()")
    browser.open(address)
    assert not browser.run("[...document.querySelectorAll('.tick input')].some(box => box.checked)")
    assert browser.troubles() == []


def test_a_file_is_named_once_and_an_option_stays_whole(browser, small_site):
    browser.open((small_site / "guide/blue/4-an-operator.html").as_uri())
    assert browser.run("[...document.querySelectorAll('code .nb')].map(e => e.textContent).includes('--places')")
    for page in sorted(small_site.glob("guide/**/*.html")):
        browser.open(page.as_uri())
        assert browser.run(r"(document.querySelector('.prosepage').innerText.match(/([\w.-]+\.(?:md|py|cpp|h|yaml)) \1(?!:)/) || [''])[0]") == "", page
