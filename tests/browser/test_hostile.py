# SPDX-License-Identifier: BSD-3-Clause
"""Names that try to break out, in every place of an atlas, in a real browser: they are text, no script of theirs runs."""

from __future__ import annotations

import json
import sys

import pytest

from cartographer.model.atlas import (
    Era,
    FileDates,
    FileEntry,
    GeneratedFile,
    Import,
    Landmark,
    Strata,
    Stub,
    Symbol,
    Unresolved,
)
from cartographer.model.location import Location
from cartographer.model.operator import (
    Autograd,
    Binding,
    Chain,
    CppNames,
    Formula,
    Helper,
    Layer,
    Operator,
    Origin,
    Registration,
    Status,
    Step,
)
from cartographer.progress import SilentProgress
from cartographer.render.write import write_site
from cartographer.store import writer
from cartographer.store.reader import Reader

pytestmark = pytest.mark.browser

RUN = "window.broken=(window.broken||0)+1"
HOSTILE = (
    f'"><img src=x onerror={RUN}><script>{RUN}</script>',
    f"' onmouseover={RUN} onfocus={RUN} autofocus x='",
    f"</script><script>{RUN}</script>",
    f"</title></style></textarea></option></select><svg onload={RUN}><hostile>",
    f"javascript:{RUN}",
    f"{{{{7*7}}}}${{{RUN}}}`{RUN}`\\u003cscript\\u003e",
    "\u202eright to left\u2066 \u200bzero\u2028line\u2029paragraph",
    "nul\x00bell\x07escape\x1bdelete\x7f",
    "tab\tand\nnew\r\nline",
    "../../../../etc/passwd",
    "..", "%2e%2e%2f%00", "a" * 5000, "&lt;b&gt;&amp;#34;&#x22;", "C:\\con\\aux?*|", "\ud7ff\U0001f600e\u0301",
)  # fmt: skip


def operator(number: int, evil: str) -> Operator:
    """An operator whose every word is hostile."""
    place = Location(f"torch/{evil.replace('/', '')[:200]}.py", 3)
    name = f"aten::{evil}" if number % 2 else f"{evil}::{evil}.{evil}"
    steps = (Step("entry", evil, place.path, 3, note=evil), Step("calls", evil, evil, 4, branch=evil, note=f"aten::{evil}"), Step("device", evil, place.path, 5))
    return Operator(
        name, f"{name}(Tensor {evil}) -> {evil}", (Origin.LIBRARY, Origin.PYTHON, Origin.GENERATED)[number % 3], place, build=(evil,), variants=(evil,), tags=(evil,),
        structured_delegate=evil, generated_from=name, bindings=(Binding(f"torch.{evil}", f"THPVariable_{evil}", evil, generator=place), Binding(evil, evil, evil, place=place)),
        cpp=CppNames(evil, evil, evil), registrations=(Registration("CPU", evil, Origin.LIBRARY, rule=evil, place=place), Registration(evil, evil, Origin.YAML, rule=f"{evil}.py:3", build=(evil,))),
        dispatch={"CPU": "kernel", "CUDA": evil, evil: "missing"}, layers=(Layer(evil, True, evil, place), Layer("AutogradFunctionality", True, "autograd kernel")),
        kernels={"CPU": Chain(Status.RESOLVED, None, steps), evil: Chain(Status.UNRESOLVED, evil), "MPS": Chain(Status.NONE, evil)},
        autograd=Autograd((evil,), place, (evil,), (Helper(evil, place),), (Formula((evil,), evil, place, key=evil),), kind=evil),
        callers=(name,), callees=(name,), age={evil: evil}, extra={evil: evil},
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile_site(small_site, tmp_path_factory):
    small = sys.modules["cartographer_small_atlas"]
    operators = tuple(operator(number, evil) for number, evil in enumerate(HOSTILE))
    paths = [f"torch/{evil.replace('/', '')[:200]}.py" for evil in HOSTILE if evil.replace("/", "").strip(".")]
    folders = [f"aten/{evil.replace('/', '')[:200]}/file.cpp" for evil in HOSTILE if evil.replace("/", "").strip(".")]
    files = tuple(FileEntry(path, "0" * 40, 90, evil, 40, notes=(evil,), includes=((paths[0], 1), (evil, 2))) for path, evil in zip((*paths, *folders), HOSTILE * 2, strict=False))
    symbols = tuple(Symbol(evil, evil, "function", paths[0], n + 3, n + 3, guards=(evil,)) for n, evil in enumerate(HOSTILE))
    atlas = small.atlas(
        operators=(*small.OPERATORS, *operators), files=(*small.FILES, *files), symbols=(*small.SYMBOLS, *symbols),
        stubs=tuple(Stub(evil, ((paths[0], 3),), ((evil, 4),), ((evil, evil, paths[0], 5),)) for evil in HOSTILE),
        generated=tuple(GeneratedFile(evil, paths[0], 3, evil, 2, evil) for evil in HOSTILE),
        unresolved=tuple(Unresolved(evil, evil, evil, paths[0], 3) for evil in HOSTILE),
        landmarks=tuple(Landmark(evil, kind, paths[0], 3, evil) for evil in HOSTILE for kind in ("owner", "command", "docs", "map", evil)),
        strata=Strata(
            "lines", HOSTILE[0], (("a" * 40, "2017-05-01T10:00:00+00:00"),), {path: FileDates(path, "2017-05-01", "2022-05-01", HOSTILE, ((40, 0),)) for path in paths},
            tuple(Era(evil, f"{2012 + n}-01-01", f"{2012 + n}-12-31", ((evil, "a" * 40, "2012-01-25"),)) for n, evil in enumerate(HOSTILE[:6])),
            imports=tuple(Import("b" * 40, "2018-01-01", "tree", "torch", 3, 40, 30, evil, evil) for evil in HOSTILE), vendored=("torch",),
        ),
        paths=tuple(sorted({entry.path for entry in (*small.FILES, *files)})),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("hostile") / "atlas"
    folder.mkdir()
    with Reader(writer.write(atlas, folder)) as reader:
        write_site(reader, folder, SilentProgress(), processes=1)
    assert [path.name for path in folder.parent.iterdir()] == ["atlas"], "nothing is written outside"
    return folder


_BROKEN = """(() => {
  const found = [];
  if (window.broken) found.push('a script ran');
  for (const e of document.querySelectorAll('*')) {
    if (/^(img|hostile|iframe|object|embed|base)$/i.test(e.tagName) || (e.tagName === 'SCRIPT' && !/assets|search|data/.test(e.src))) found.push(e.outerHTML.slice(0, 90));
    for (const a of e.attributes) {
      if (/^on/i.test(a.name)) found.push(a.name + ' on ' + e.tagName);
      if (/^(href|src|action)$/.test(a.name) && !/^(https:\\/\\/github\\.com\\/|#|\\.\\.?\\/|[\\w~.-])/.test(a.value)) found.push(a.value.slice(0, 90));
      if (/^(href|src|action)$/.test(a.name) && /^\\s*(javascript|data|vbscript):/i.test(a.value)) found.push(a.value.slice(0, 90));
    }
  }
  document.querySelectorAll('main a[href]').forEach(a => { if (a.protocol === 'file:' && !a.href.startsWith(ROOT)) found.push('leaves: ' + a.href); });
  return found;
})()"""


def broken(browser, site):
    return browser.run(_BROKEN.replace("ROOT", json.dumps(site.as_uri())))


def test_hostile_names_are_text_on_every_page(browser, hostile_site):
    pages = sorted(path for path in hostile_site.rglob("*.html") if "guide" not in path.parts)
    assert len(pages) > 2 * len(HOSTILE)
    for page in pages:
        browser.size(1440)
        browser.open(page.as_uri())
        where = str(page.relative_to(hostile_site))[:80]
        assert broken(browser, hostile_site) == [], where
        assert browser.troubles() == [], where
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, where
        browser.size(390)
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, f"{where} at 390"
        assert browser.run("!!document.querySelector('main > footer') && document.title.includes('PyTorch')"), f"{where} is not whole"


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_names_are_searched_filtered_and_reached(browser, hostile_site, number):
    evil = HOSTILE[number]
    words = evil[:60].strip()
    browser.size(1440)
    browser.open((hostile_site / "operators/index.html").as_uri())
    for field in ("q", "f-name"):
        browser.run(f"(e => {{ e.focus(); e.value = {json.dumps(words)}; e.dispatchEvent(new Event('input', {{bubbles: true}})); }})(document.getElementById({field!r}))")
        if field == "q":
            browser.until("document.querySelectorAll('#results li').length > 0 && document.querySelector('#results').getAttribute('aria-busy') === 'false'")
        else:
            browser.until("/ of /.test(document.getElementById('f-out').textContent)")
        assert broken(browser, hostile_site) == [], field
    hits = browser.run("[...document.querySelectorAll('#m tbody th a')].map(a => a.href)")
    for address in hits[:3]:
        browser.open(address)
        assert broken(browser, hostile_site) == [], address
        assert browser.run("!!document.querySelector('main h1')"), address
    assert browser.troubles() == []
