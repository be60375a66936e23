# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from cartographer.errors import RenderError
from cartographer.progress import SilentProgress
from cartographer.render import write
from cartographer.render.write import STATUS, write_site
from cartographer.store import writer
from cartographer.store.reader import Reader


class Parsed(HTMLParser):
    """What a browser would find in a page: ids, links, loaded files, headings, scripts' text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.loads, self.headings, self.inline, self._open = [], [], [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self._open = tag
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img", "link"):
            self.loads.append(found.get("src") or found.get("href"))
        if tag in ("h1", "h2", "h3", "h4", "h5"):
            self.headings.append(int(tag[1]))
        assert not any(name.startswith("on") for name in found), f"an event handler in <{tag}>"

    def handle_data(self, data):
        if self._open == "script":
            self.inline += data.strip()


@pytest.fixture(scope="module")
def parsed(written):
    return {str(path.relative_to(written.out)): Parsed(path.read_text()) for path in written.pages}


def test_every_internal_link_and_anchor_resolves(written, parsed):
    for page, found in parsed.items():
        for link in [*found.links, *found.loads]:
            if link.startswith("https://"):
                continue
            target, _, anchor = link.partition("#")
            path = (written.out / page).parent / unquote(target) if target else written.out / page
            assert path.is_file(), f"{page} -> {link}"
            if anchor:
                there = str(path.resolve().relative_to(written.out.resolve()))
                assert unquote(anchor) in parsed[there].ids, f"{page} -> {link}"


def test_every_external_link_is_pinned(small, parsed):
    paths = {entry.path for entry in small.FILES}
    for page, found in parsed.items():
        for link in found.links:
            if link.startswith("https://") and "/commit/" not in link and "/tree/" not in link:
                head, _, rest = link.partition(f"/blob/{small.COMMIT}/")
                assert head == "https://github.com/pytorch/pytorch", f"{page} -> {link}"
                path = unquote(rest.partition("#")[0])
                assert path in paths or path.startswith("torchgen"), f"{page} -> {link}"


def test_names_from_source_never_become_markup(small, written):
    for path in written.pages:
        text = path.read_text()
        assert small.EVIL not in text
        assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in (written.out / "op/mul.html").read_text()


def test_no_inline_script_and_no_request_to_other_hosts(parsed):
    for page, found in parsed.items():
        assert not found.inline, page
        assert not any((load or "").startswith(("http:", "https:", "//")) for load in found.loads), page


def test_ids_are_unique_and_headings_skip_no_level(parsed):
    for page, found in parsed.items():
        assert len(found.ids) == len(set(found.ids)), f"{page}: {[i for i in found.ids if found.ids.count(i) > 1]}"
        assert found.headings.count(1) == 1, page
        body = [level for level in found.headings if level > 0]
        start = body.index(1)
        for before, after in zip(body[start:], body[start + 1 :], strict=False):
            assert after <= before + 1, f"{page}: h{before} then h{after}"


def test_addresses_are_short_and_differ_not_only_in_case(written):
    addresses = [str(path.relative_to(written.out)) for path in written.out.rglob("*") if path.is_file()]
    assert len({address.lower() for address in addresses}) == len(addresses)
    assert max(map(len, addresses)) < 200


def test_the_same_atlas_gives_the_same_bytes_in_any_process(database, written, tmp_path):
    with Reader(database) as reader:
        write_site(reader, tmp_path, SilentProgress(), processes=2)
    first = {str(p.relative_to(written.out)): p.read_bytes() for p in written.out.rglob("*") if p.is_file()}
    second = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert first == second
    assert not any(str(tmp_path).encode() in data for data in second.values())


def test_unchanged_pages_are_left_alone_and_stale_ones_removed(small, tmp_path):
    def write(atlas):
        path = writer.write(atlas, tmp_path / "db")
        with Reader(path) as reader:
            return write_site(reader, tmp_path / "out", SilentProgress(), processes=1)

    write(small.atlas())
    page = tmp_path / "out/op/mul.html"
    before = page.stat().st_mtime_ns
    again = write(small.atlas())
    assert again.written == 0
    assert page.stat().st_mtime_ns == before

    page.unlink()
    assert write(small.atlas()).written == 1
    assert page.is_file()

    fewer = tuple(op for op in small.OPERATORS if op.base != "rename_")
    report = write(small.atlas(operators=fewer))
    assert report.removed == 2  # the page and its JSON twin
    assert not (tmp_path / "out/op/rename_.html").exists()
    assert 0 < report.written < report.pages


def test_a_damaged_status_file_only_costs_time(database, tmp_path):
    (tmp_path / STATUS).write_text("{ not json")
    with Reader(database) as reader:
        report = write_site(reader, tmp_path, SilentProgress(), processes=1)
    assert report.unchanged == 0
    assert json.loads((tmp_path / STATUS).read_text())["pages"]["index.html"]


def test_a_folder_that_cannot_be_written_is_one_clear_error(database, tmp_path):
    (tmp_path / "op").write_text("a file where a folder has to be")
    with Reader(database) as reader, pytest.raises(RenderError) as error:
        write_site(reader, tmp_path, SilentProgress(), processes=1)
    assert "cannot be written" in str(error.value)


_HERE = os.getpid()


def _killed(chunk: object) -> list[object]:
    """In a copy of this process its end, when its work is given out; here nothing."""
    time.sleep(0.02 if os.getpid() == _HERE else 0.2)
    if os.getpid() != _HERE:
        os.kill(os.getpid(), signal.SIGKILL)
    return []


@pytest.mark.parametrize("processes", [2, 4])
def test_a_drawing_process_that_is_killed_is_one_clear_error(database, tmp_path, monkeypatch, processes):
    """As a system does that is short of memory: no endless wait, no copy is left, and what stood there stays."""
    (tmp_path / "index.html").write_text("before")
    stumbled = []
    monkeypatch.setattr(threading, "excepthook", lambda told: stumbled.append(told.exc_value))
    monkeypatch.setattr(write, "_print", _killed)
    monkeypatch.setattr(write, "_CHUNK", 1)
    with Reader(database) as reader, pytest.raises(RenderError, match="ended before its time"):
        write_site(reader, tmp_path, SilentProgress(), processes=processes)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert stumbled == []
    assert multiprocessing.active_children() == []


def test_an_atlas_with_nothing_in_it_still_opens(small, tmp_path):
    empty = small.atlas(operators=(), files=(), symbols=(), stubs=(), generated=(), unresolved=(), strata=small.Strata("none", "no history"))
    path = writer.write(empty, tmp_path / "db")
    with Reader(path) as reader:
        report = write_site(reader, tmp_path / "out", SilentProgress(), processes=1)
    assert report.pages >= 8
    assert "no history" in (tmp_path / "out/strata/index.html").read_text()
