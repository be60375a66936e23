# SPDX-License-Identifier: BSD-3-Clause
"""What a reader does with the keyboard alone, from file://."""

from __future__ import annotations

import json
import urllib.request

import pytest

pytestmark = pytest.mark.browser


def results(browser):
    return browser.run("[...document.querySelectorAll('#results li')].map(li => [...li.children].map(x => x.textContent))")


def ask(browser, site, words):
    browser.open((site / "index.html").as_uri())
    browser.press("/")
    browser.type(words)
    browser.until("document.querySelectorAll('#results li').length > 0 && document.querySelector('#results').getAttribute('aria-busy') === 'false'")
    return results(browser)


def journey(browser, site, words, page, chain):
    browser.size(1440)
    browser.dark(False)
    ask(browser, site, words)
    browser.press("Enter")
    browser.until(f"location.pathname.endsWith({page!r}) && document.readyState === 'complete'")
    assert browser.run("document.title").startswith(page.rpartition("/")[2].removesuffix(".html"))

    # Tab to the backend in the strip, Enter jumps to its chain.
    for _ in range(200):
        browser.press("Tab")
        if browser.run("(document.activeElement || document.body).getAttribute('href')") == f"#{chain}":
            break
    else:
        pytest.fail("the chain's link cannot be reached with Tab")
    browser.press("Enter")
    browser.until(f"location.hash === '#' + {chain!r}")
    browser.until(f"(t => t >= 0 && t < 600)(document.getElementById({chain!r}).getBoundingClientRect().top)")

    # The next copy button copies the first step's place.
    for _ in range(20):
        browser.press("Tab")
        if browser.run("(document.activeElement || document.body).className") == "copy":
            break
    place = browser.run("document.activeElement.getAttribute('aria-label')")
    assert place.startswith("Copy aten/src/ATen/")
    browser.run("window.copied = ''; document.addEventListener('copy', e => { window.copied = document.activeElement.value || String(getSelection()); })")
    browser.press("Enter")
    browser.until("/copied/.test(document.activeElement.textContent)")

    browser.run("setTimeout(() => history.go(-2))")
    browser.until("location.pathname.endsWith('index.html') && document.readyState === 'complete'")
    assert browser.troubles() == []


def test_journey_on_the_small_atlas(browser, small_site):
    journey(browser, small_site, "mul.T", "op/mul.html", "mul.Tensor-CUDA")


def test_journey_on_a_real_atlas(browser, real_site):
    journey(browser, real_site, "index_sel", "op/index_select.html", "index_select-CUDA")


def test_search_finds_every_kind_of_name(browser, small_site):
    for words, kind, name in (
        ("mul", "operator", "mul.Tensor"), ("torch.mul", "python", "torch.mul"), ("THPVariable_m", "binding", "THPVariable_mul"),
        ("MulBackward0", "node", "MulBackward0"), ("mul_stub", "stub", "mul_stub"), ("mul_kernel_cuda", "kernel", "at::native::mul_kernel_cuda"),
        ("getCurrentCUDA", "function", "c10::cuda::getCurrentCUDAStream"), ("Dispatcher.h", "file", "aten/src/ATen/core/dispatch/Dispatcher.h"),
        ("aten/src/ATen/native", "folder", "aten/src/ATen/native"), ("aten::mul.Tensor", "operator", "mul.Tensor"),
    ):  # fmt: skip
        found = ask(browser, small_site, words)
        assert [kind, name] in [row[:2] for row in found], words


def test_several_words_are_found_joined_and_apart(browser, small_site):
    assert ["kernel", "at::native::mul_kernel_cuda"] in [row[:2] for row in ask(browser, small_site, "mul cuda kernel")]
    assert ["function", "c10::cuda::getCurrentCUDAStream"] in [row[:2] for row in ask(browser, small_site, "getCurrent stream")]


def test_search_forgives_a_typing_error(browser, small_site):
    assert ["node", "MulBackward0"] in [row[:2] for row in ask(browser, small_site, "MulBackwrd0")]


def test_exact_operators_come_first(browser, real_site):
    for words in ("add", "linear", "index_select", "softmax", "conv2d"):
        first = ask(browser, real_site, words)[0]
        assert first[0] == "operator", (words, first)
        assert first[1].split(".")[0] == words


def test_several_words_find_what_they_name(browser, real_site):
    """Questions as people type them, and what must be among the first answers."""
    for words, kind, name in (
        ("softmax cuda kernel", "operator", "softmax.int"), ("softmax cuda", "file", "aten/src/ATen/native/cuda/SoftMax.cu"),
        ("conv2d backward", "operator", "_slow_conv2d_backward.grad_input"), ("layer norm cuda", "operator", "layer_norm"),
        ("index select", "operator", "index_select"), ("where is relu implemented", "operator", "relu"), ("fft rfft", "operator", "fft_rfft"),
        ("at::native::add", "operator", "add.Tensor"), ("F.dropout", "operator", "dropout"), ("nn.Linear", "operator", "linear"),
        ("dispatcher call", "method", "c10::Dispatcher::call"), ("gpu_kernel", "kernel", "at::native::gpu_kernel"), ("THPVariable_randn", "binding", "THPVariable_randn"),
        ("index_select_out_cuda_impl", "kernel", "at::native::(anonymous)::index_select_out_cuda_impl"),
    ):  # fmt: skip
        found = ask(browser, real_site, words)[:8]
        assert [kind, name] in [row[:2] for row in found], (words, found)


def test_results_come_within_50_ms_of_a_key_press(browser, real_site):
    ask(browser, real_site, "index_sel")
    browser.until("document.querySelectorAll('#results li').length > 3")
    for words in ("index_sel", "gpu_kernel", "THPVariable_randn", "sofmax", "BinaryOps.cpp", "softmax cuda kernel", "conv2d backward"):
        browser.run(f"document.querySelector('#q').value = {words!r}")
        took = browser.run("(() => { const t = performance.now(); document.querySelector('#q').dispatchEvent(new Event('input')); return performance.now() - t; })()")
        again = browser.run("(() => { const t = performance.now(); document.querySelector('#q').dispatchEvent(new Event('input')); return performance.now() - t; })()")
        assert min(took, again) < 50, (words, took, again)


def test_keys_for_theme_help_and_floors(browser, small_site):
    browser.size(1440)
    browser.dark(False)
    page = (small_site / "op/mul.html").as_uri()
    browser.open(page)
    browser.press("t")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    browser.open(page)
    assert browser.run("document.documentElement.dataset.theme") == "dark", "the choice is kept"
    browser.press("t")
    browser.press("?")
    assert browser.run("document.querySelector('dialog.help').open")
    browser.press("Escape")
    browser.until("!document.querySelector('dialog.help').open")
    browser.press("g")
    browser.press("5")
    browser.until("location.hash === '#floor-5'")


def test_an_anchor_inside_a_folded_overload_opens_it(browser, small_site):
    browser.open((small_site / "op/mul.html").as_uri() + "#mul.out-CUDA")
    browser.until("document.getElementById('mul.out').open")
    browser.open((small_site / "index.html").as_uri())


def test_the_filter_looks_through_all_sheets_and_gives_the_sheet_back(browser, small_site):
    browser.open((small_site / "operators/index.html").as_uri())
    rows = browser.run("document.querySelectorAll('#m tbody tr').length")
    browser.run("document.querySelector('#f-name').focus()")
    browser.type("mul")
    browser.until("[...document.querySelectorAll('#m tbody th')].every(th => th.textContent.includes('mul'))")
    assert 0 < browser.run("document.querySelectorAll('#m tbody tr').length") < rows
    for _ in "mul":
        browser.press("Backspace")
    browser.until(f"document.querySelectorAll('#m tbody tr').length === {rows}")


def test_the_filter_offers_every_letter_that_occurs(browser, small_site):
    """Each letter of the matrix can be asked for, and what is found has it in the column that is asked."""
    browser.open((small_site / "operators/index.html").as_uri())
    letters = set(browser.run("[...document.querySelectorAll('#m tbody td.m i')].map(i => i.textContent)")) - {"K", "S"}
    offered = browser.run("[...document.querySelectorAll('#f-has option')].map(o => o.value)")
    assert letters == set(offered) - {"", "own", "none"}
    assert letters & {"f", "w", "e", "?"}
    columns = browser.run("document.querySelectorAll('#f-col option').length")
    choose = "(([has, column]) => { const [h, c] = ['f-has', 'f-col'].map(id => document.getElementById(id)); h.value = has; c.value = column; h.dispatchEvent(new Event('input', {bubbles: true})); })"
    for letter in sorted(letters):
        found = []
        for column in range(columns):
            browser.run(f"{choose}({json.dumps([letter, str(column)])})")
            browser.until("!!window.ATLAS_OPERATORS")
            found += browser.run(f"[...document.querySelectorAll('#m tbody tr')].map(tr => tr.querySelectorAll('td.m')[{column}].textContent)")
        assert set(found) == {letter}


def test_the_filter_writes_numbers_as_the_page_does(browser, small_site):
    browser.open((small_site / "operators/index.html").as_uri())
    browser.run("document.querySelector('#f-name').focus()")
    browser.type("m")
    browser.until("!!window.ATLAS_OPERATORS")
    browser.run("ATLAS_OPERATORS.rows.push(...Array.from({length: 2345}, (_, n) => ['mm' + n, '', 'f', '', '']))")
    browser.type("m")
    browser.until("document.querySelector('#f-out').textContent.startsWith('2,345 of 2,35')")


def test_the_territory_zooms_and_comes_back(browser, small_site):
    browser.size(1440)
    browser.open((small_site / "territory/index.html").as_uri())
    browser.run("[...document.querySelectorAll('#tm a')].find(a => a.title.startsWith('aten/src/ATen')).click()")
    browser.until("document.querySelector('#tm-where').textContent.startsWith('aten/src/ATen')")
    browser.run("document.querySelector('[data-by=health]').click()")
    assert browser.run("document.querySelector('#tm').dataset.by") == "health"
    browser.run("history.back()")
    browser.until("document.querySelector('#tm-where').textContent === 'all territories'")
    assert browser.troubles() == []


def other_releases(browser, page):
    """What the version switcher offers: (text, address) by the keyboard, from file://."""
    browser.open(page)
    browser.run("document.querySelector('details.versions summary').focus()")
    browser.press("Enter")
    browser.until("document.querySelectorAll('details.versions li').length > 2")
    return {text.split(" ")[0]: (text, address) for text, address in
            browser.run("[...document.querySelectorAll('details.versions a')].map(a => [a.textContent, a.getAttribute('href')])")}  # fmt: skip


def test_the_switcher_stays_on_the_page(browser, shelf):
    browser.size(1440)
    found = other_releases(browser, (shelf / "v0.3.0/op/mul.html").as_uri() + "#mul.Tensor")
    assert found["v0.1.0"] == ("v0.1.0", "../../v0.1.0/op/mul.html#mul.Tensor")
    browser.run("[...document.querySelectorAll('details.versions a')].find(a => a.textContent === 'v0.2.0').click()")
    browser.until("location.pathname.endsWith('v0.2.0/op/mul.html') && document.readyState === 'complete'")
    assert browser.troubles() == []
    found = other_releases(browser, (shelf / "v0.3.0/source/torch/__init__.py.html").as_uri())
    assert found["v0.1.0"][1] == "../../../v0.1.0/source/torch/__init__.py.html"
    browser.press("Escape")
    assert browser.run("document.querySelector('details.versions').open") is False


def test_the_switcher_falls_back_to_what_is_there(browser, shelf):
    found = other_releases(browser, (shelf / "v0.1.0/op/potrf.html").as_uri())
    assert found["v0.3.0"] == ("v0.3.0 no such page: operators", "../../v0.3.0/operators/index.html")
    here = next(path for path in sorted((shelf / "v0.3.0/source").rglob("*.html")) if not (shelf / "v0.1.0" / path.relative_to(shelf / "v0.3.0")).exists())
    _, address = other_releases(browser, here.as_uri())["v0.1.0"]
    assert (here.parent / address).resolve().is_file()
    assert "/v0.1.0/" in str((here.parent / address).resolve())
    browser.size(390)
    other_releases(browser, here.as_uri())
    browser.run("document.querySelector('details.versions small').textContent = ' no such page: source/' + 'aten/src/ATen/native/'.repeat(3)")
    assert browser.run("(box => [box.left >= 0, box.right <= innerWidth, box.bottom <= innerHeight])(document.querySelector('details.versions ul').getBoundingClientRect())") == [True] * 3
    browser.run("document.querySelector('details.versions ul').append(...Array.from({length: 60}, () => document.querySelector('details.versions li').cloneNode(true)))")
    assert browser.run("document.querySelector('details.versions ul').getBoundingClientRect().bottom <= innerHeight"), "thirty releases can be scrolled to"


def test_nothing_stands_before_the_search_results(browser, shelf):
    browser.size(390)
    ask(browser, shelf / "v0.3.0", "mul")
    covered = """(box => Array.from({length: 10000}, (_, n) => [box.left + 2 + n % 100 * (box.width - 4) / 99, box.top + 2 + (n / 100 | 0) * (box.height - 4) / 99]).filter(
        ([x, y]) => !document.elementFromPoint(x, y).closest('#results')))(document.querySelector('#results').getBoundingClientRect())"""
    assert browser.run(covered) == []


def test_without_scripts_the_switcher_leads_to_the_list(browser, shelf):
    browser.scripts(on=False)
    try:
        browser.open((shelf / "v0.3.0/op/mul.html").as_uri())
        assert browser.run("[...document.querySelectorAll('details.versions a')].map(a => a.getAttribute('href'))") == ["../../index.html"]
    finally:
        browser.scripts(on=True)


@pytest.mark.parametrize("width", [1440, 390])
def test_served_releases_that_are_not_drawn_are_read_like_the_others(browser, served, width):
    browser.size(width)
    browser.dark(False)
    browser.open(served)
    assert browser.run("[...document.querySelectorAll('th[scope=row] a')].map(a => a.textContent)") == ["v0.3.0", "v0.2.0", "v0.1.0"]
    assert "not drawn" not in browser.run("document.body.textContent")
    browser.run("[...document.querySelectorAll('a')].find(a => a.textContent === 'v0.1.0 to v0.2.0').click()")
    browser.until("location.pathname === '/v0.2.0/releases/index.html' && document.readyState === 'complete'")
    browser.press("/")
    browser.type("cholesky")  # new in this release
    browser.until("document.querySelectorAll('#results li').length > 0 && document.querySelector('#results').getAttribute('aria-busy') === 'false'")
    browser.press("Enter")
    browser.until("location.pathname === '/v0.2.0/op/cholesky.html' && document.readyState === 'complete'")

    for page, hash_ in (("op/mul.html", "#mul.Tensor"), ("source/torch/__init__.py.html", "")):
        found = other_releases(browser, f"{served}v0.1.0/{page}{hash_}")
        assert all(text == tag for tag, (text, _) in found.items() if tag.startswith("v"))
        browser.run("[...document.querySelectorAll('details.versions a')].find(a => a.textContent === 'v0.3.0').click()")  # drawn
        browser.until(f"location.pathname === '/v0.3.0/{page}' && document.readyState === 'complete'")
        other_releases(browser, f"{served}v0.3.0/{page}{hash_}")
        browser.run("[...document.querySelectorAll('details.versions a')].find(a => a.textContent === 'v0.2.0').click()")
        browser.until(f"location.pathname === '/v0.2.0/{page}' && location.hash === '{hash_}' && document.readyState === 'complete'")
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    assert [trouble for trouble in browser.troubles() if not trouble.startswith(f"request: {served}")] == []


def test_served_releases_without_scripts(browser, served):
    browser.scripts(on=False)
    try:
        browser.open(f"{served}v0.1.0/op/mul.html")
        for address in browser.run("[...document.querySelectorAll('a')].map(a => a.href).filter(a => a.startsWith(location.origin))"):
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address) as answer:
                assert answer.status == 200
        browser.open(f"{served}v0.1.0/op/../../index.html")
        assert len(browser.run("[...document.querySelectorAll('th[scope=row] a')].map(a => a.href)")) == 3
    finally:
        browser.scripts(on=True)


@pytest.mark.parametrize(("words", "page"), [
    ("torch.fft.half", "op/fft_half.html"), ("x[mask]", "op/index_select.html"),
    ("aten/src/ATen/native", "source/aten/src/ATen/native/index.html"), ("aten/src/ATen/native/", "source/aten/src/ATen/native/index.html"),
    ("torch/__init__.py", "source/torch/__init__.py.html"),
])  # fmt: skip
def test_what_is_written_whole_comes_first(browser, shelf, words, page):
    """Not an operator of another module, a page of the guide, or a longer path."""
    ask(browser, shelf / "v0.3.0", words)
    assert browser.run("document.querySelector('#results li').dataset.to").partition("#")[0] == page
