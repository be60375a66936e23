# SPDX-License-Identifier: BSD-3-Clause
"""Releases that are a database alone, served: every file as a build would have written it, none on disk, and no harm from odd ones."""

from __future__ import annotations

import http.client
import re
import shutil
import sqlite3
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

from cartographer.checkout.demo import DEMO_TAG
from cartographer.checkout.open import SourceRequest
from cartographer.errors import StoreError
from cartographer.pipeline import collection, serving
from cartographer.pipeline.building import BuildRequest, build
from cartographer.pipeline.serving import Undrawn
from cartographer.progress import SilentProgress
from cartographer.query import serve
from cartographer.render import assets, demand, search
from cartographer.render.known import KnownPages
from cartographer.store import verified

TAGS = ("v0.1.0", "v0.2.0", "v0.3.0")
OLD, MIDDLE, NEW = TAGS


def files_of(folder):
    """Every file that a reader may get, but databases."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
        if path.is_file() and path.name != "atlas.db" and not path.name.startswith(".")
    }  # fmt: skip


@pytest.fixture(scope="module")
def shelves(mini_repo, tmp_path_factory):
    """The same releases twice: all drawn, and databases alone."""
    place = tmp_path_factory.mktemp("shelves")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARTOGRAPHER_CACHE", str(place / "cache"))
        for name, pages in (("drawn", None), ("bare", 0)):
            requests = [SourceRequest(version=tag, repo=str(mini_repo)) for tag in TAGS]
            assert collection.build_all(requests, place / name, SilentProgress(), workers=1, pages=pages) == ()
    return place


@pytest.fixture(scope="module")
def drawn(shelves):
    return files_of(shelves / "drawn")


@pytest.fixture
def bare(shelves, tmp_path):
    """A copy of the folder that holds databases alone."""
    return shutil.copytree(shelves / "bare", tmp_path / "atlas")


@pytest.fixture
def served(bare):
    """Serves `bare`; gives a function that asks for a path."""
    running = serve.server(bare, draw=Undrawn(bare))
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()

    def ask(path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=60)
        connection.request(method, path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, answer.headers

    yield ask
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.mark.parametrize("with_pages", [(), (NEW,), (MIDDLE,), (OLD, NEW), (OLD,)], ids=lambda tags: "+".join(tags) or "none")
def test_every_file_is_what_a_build_of_all_would_have_written(shelves, drawn, bare, with_pages):
    for tag in with_pages:
        shutil.copytree(shelves / "drawn" / tag, bare / tag, dirs_exist_ok=True)
    there = files_of(bare)
    undrawn = Undrawn(bare)
    assert len(drawn) > 300
    for address, data in drawn.items():
        got = undrawn(address)
        assert (there[address] if got is None else got) == data, address
    assert files_of(bare) == there, "nothing is written"


def test_an_atlas_alone_is_drawn_as_one(mini_repo, tmp_path):
    def made(name, **options):
        return build(BuildRequest(SourceRequest(version=DEMO_TAG, repo=str(mini_repo), cache=tmp_path / "cache"), tmp_path / name, workers=1, **options))

    whole, bare = made("whole"), Undrawn(made("bare", html=False))
    for address, data in files_of(whole).items():
        assert bare(address) == data, address


def test_a_page_that_is_lost_is_drawn(shelves, drawn, bare):
    shutil.copytree(shelves / "drawn" / NEW, bare / NEW, dirs_exist_ok=True)
    (bare / NEW / "op/mul.html").unlink()
    undrawn = Undrawn(bare)
    assert undrawn(f"{NEW}/op/mul.html") == drawn[f"{NEW}/op/mul.html"]
    assert undrawn(f"{NEW}/op/mul.json") is None, "the disk has it"


def test_what_a_running_torch_said_is_drawn(bare):
    undrawn = Undrawn(bare)
    before = undrawn(f"{NEW}/checks/index.html")
    with serving.Reader(bare / NEW) as reader:
        inputs = reader.info().inputs
    verified.keep(bare / NEW, verified.Verified("9.9.9", (verified.Outcome("names", 7, 7, 0, 0, 0),), inputs))
    after = undrawn(f"{NEW}/checks/index.html")
    assert before != after
    assert b"9.9.9" in after


def test_the_addresses_are_told_without_drawing(shelves):
    for tag in TAGS:
        known = KnownPages.of(shelves / "drawn" / tag)
        told = demand.pages_of(shelves / "bare" / tag)
        assert {a for a in known.digests if not a.startswith((f"{search.FOLDER}/", f"{assets.FOLDER}/"))} == set(told.digests)
        assert known.moved == told.moved


def test_only_what_the_site_has(shelves, bare, served):
    for path in ("op/none.html", "op/add.txt", "op", "op/", "search/s-nothing.js", "search/", "assets/style.css", "index.html/", "nothing/index.html", ".pages.json", ".drawn-from", "op/MUL.html",
                 "%00", "index.html%00", "op//mul.html/", "op/mul.html/..", "atlas.db/", "n" * 5000, "%ff%fe", "%ed%a0%80.html"):  # fmt: skip
        assert served(f"/{NEW}/{path}")[0] == 404, path
        assert served(f"/{NEW}/{path}", "HEAD")[0] == 404, path
    for path in ("v9.9.9/index.html", "pages/none.js", "pages/", "secret", ".releases.json"):
        assert served(f"/{path}")[0] == 404, path
    secret = bare.parent / "secret"
    shutil.copytree(shelves / "bare" / NEW, secret)
    (bare / "link").symlink_to(secret)
    (bare / "file").mkdir()
    (bare / "file" / "atlas.db").symlink_to(secret / "atlas.db")
    for path in (f"/../secret/{'index.html'}", "/%2e%2e/secret/index.html", "/..%2fsecret/index.html", "/link/index.html", "/file/index.html", "/link/", f"/{NEW}/../../secret/index.html"):
        assert served(path)[0] == 404, path


def test_a_page_that_there_is_not_leads_back(bare):
    lost = Undrawn(bare)
    tag = next(path.parent.name for path in bare.glob("*/atlas.db"))
    page = lost.lost(f"{tag}/op/nothing.html").decode()
    assert f"The atlas of {tag} has no page at this address" in page
    assert re.findall(r'class=chip href="([^"]+)"', page) == [f"/{tag}/index.html", f"/{tag}/operators/index.html", "/"]
    assert re.findall(r'class=chip href="([^"]+)"', lost.lost("<script>/x").decode()) == ["/"]
    assert "<script>" not in lost.lost("<script>/x").decode()
    alone = Undrawn(bare / tag).lost("x").decode()
    assert re.findall(r'class=chip href="([^"]+)"', alone) == ["/index.html", "/operators/index.html"]


def test_answers_are_complete(served, drawn):
    for address, kind in (("v0.1.0/index.html", "text/html"), ("v0.2.0/op/mul.json", "application/json"), ("v0.3.0/search/0.js", "javascript"), ("releases.js", "javascript"), ("v0.2.0/releases/index.html", "text/html")):
        status, body, head = served(f"/{quote(address)}?q=1")
        assert (status, body) == (200, drawn[address])
        assert kind in head["Content-Type"]
        assert (head["Content-Length"], head["X-Content-Type-Options"]) == (str(len(body)), "nosniff")
        assert served(f"/{address}", "HEAD")[:2] == (200, b"")
    assert served("/")[1] == drawn["index.html"]
    assert served(f"/{OLD}/")[1] == drawn[f"{OLD}/index.html"]
    assert served(f"/{OLD}/op/../operators/")[1] == drawn[f"{OLD}/operators/index.html"]
    assert served(f"/{OLD}")[0] == 301


def test_the_list_on_disk_names_the_way_out(bare, drawn):
    listed = (bare / "index.html").read_text()
    assert listed.count(">not drawn<") == 3
    assert "cartographer serve" in listed
    assert b"not drawn" not in drawn["index.html"]


def test_two_at_once_read_an_atlas_once(bare, drawn, monkeypatch):
    opened = []
    open_site = demand.open_site

    def counted(folder, **options):
        opened.append(folder.name)
        return open_site(folder, **options)

    monkeypatch.setattr(demand, "open_site", counted)
    undrawn, wrong = Undrawn(bare), []
    addresses = [a for tag in TAGS for a in drawn if a.startswith(f"{tag}/op/")]

    def reader(start):
        wrong.extend(a for a in addresses[start:] + addresses[:start] if undrawn(a) != drawn[a])

    threads = [threading.Thread(target=reader, args=(start,)) for start in range(0, len(addresses), 1 + len(addresses) // 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sorted(opened) == [*TAGS]


def test_no_more_than_a_few_are_kept(bare, monkeypatch):
    opened = []
    monkeypatch.setattr(demand, "open_site", lambda folder, **_: opened.append(folder.name) or demand.OnDemand.__new__(demand.OnDemand))
    monkeypatch.setattr(demand.OnDemand, "draw", lambda *_: b"")
    monkeypatch.setattr(serving, "SITES", 2)
    undrawn = Undrawn(bare)
    for tag in (OLD, NEW, OLD, MIDDLE, OLD, NEW):
        undrawn(f"{tag}/index.html")
    assert opened == [OLD, NEW, MIDDLE, NEW], "the one that was not read for the longest goes"


def test_an_atlas_that_is_built_again_is_noticed(bare, drawn):
    undrawn = Undrawn(bare)
    assert undrawn(f"{NEW}/op/mul.html") == drawn[f"{NEW}/op/mul.html"]
    (beside := bare / "beside.db").write_bytes((bare / MIDDLE / "atlas.db").read_bytes())
    beside.replace(bare / NEW / "atlas.db")
    assert b"0.2.0" in undrawn(f"{NEW}/op/mul.html")
    assert b'"v0.3.0"' not in undrawn("releases.js"), "the folder's name is no longer that of its atlas"
    shutil.rmtree(bare / NEW)
    assert undrawn(f"{NEW}/op/mul.html") is None
    shutil.rmtree(bare / MIDDLE)
    assert b'"v0.1.0"' in undrawn("releases.js")
    assert undrawn(f"{OLD}/op/mul.html") == drawn[f"{OLD}/op/mul.html"]


@pytest.mark.parametrize("harm", ["PRAGMA user_version = 1", "PRAGMA user_version = 99", "cut", "nothing", "UPDATE whole SET data = x'00' WHERE name = 'since'", "UPDATE whole SET data = x'00' WHERE name = 'lineage'",
                                  "DROP TABLE symbol", "UPDATE step SET line = 'many', path = -1", "DELETE FROM meta WHERE key = 'version'", "UPDATE operator SET schema = x'00ff'", "UPDATE file SET notes = '[1'"])  # fmt: skip
def test_an_atlas_that_is_not_well_says_so_and_the_others_are_read(bare, served, drawn, capfd, harm):
    database = bare / MIDDLE / "atlas.db"
    if harm in {"cut", "nothing"}:
        database.write_bytes(database.read_bytes()[: 50_000 if harm == "cut" else 0])
    else:
        connection = sqlite3.connect(database)
        connection.executescript(harm)
        connection.close()
    for path in ("index.html", "op/mul.html", "releases/index.html"):
        status, body, head = served(f"/{MIDDLE}/{path}")
        if path == "releases/index.html" and status == 200:  # nothing of what was harmed stands on it
            continue
        assert status == 500, (path, body[:300])
        assert "text/html" in head["Content-Type"]
        assert b"this page cannot be drawn" in body
        assert b"build the atlas again" in body or b"newer cartographer" in body or b"build one with" in body
        assert str(database).encode() in body or str(database.parent).encode() in body
    assert served(f"/{NEW}/op/mul.html")[1] == drawn[f"{NEW}/op/mul.html"]
    status, listed, _ = served("/")
    assert status == 200
    assert b"v0.3.0" in listed
    assert served("/releases.js")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_check(bare):
    undrawn = Undrawn(bare)
    undrawn.check(bare / NEW)
    (bare / NEW / "atlas.db").write_bytes(b"no database")
    with pytest.raises(StoreError):
        undrawn.check(bare / NEW)


def test_many_releases_are_drawn_in_part(monkeypatch):
    asked = []
    monkeypatch.setattr(collection, "build", lambda request, _: asked.append((request.source.version, request.html)) or Path())
    monkeypatch.setattr(collection, "refresh", lambda *_: None)
    monkeypatch.setattr(collection, "shelf", lambda _: ())

    def drawn_of(count, **options):
        asked.clear()
        progress = SilentProgress()
        collection.build_all([SourceRequest(version=f"v1.{n}.0", repo="x") for n in range(count)], Path("nowhere"), progress, **options)
        return [version for version, html in asked if html], progress.notes

    assert len(drawn_of(collection.FEW)[0]) == collection.FEW
    assert drawn_of(collection.FEW)[1] == []
    tags, notes = drawn_of(30)
    assert tags == [f"v1.{n}.0" for n in range(30 - collection.NEWEST, 30)]
    (note,) = notes
    assert "cartographer serve" in note
    assert "--pages 30" in note
    assert len(drawn_of(30, pages=30)[0]) == 30
    assert drawn_of(30, pages=1)[0] == ["v1.29.0"]
