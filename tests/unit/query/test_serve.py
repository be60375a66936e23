# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import http.client
import socket
import threading

import pytest

from cartographer.errors import StoreError
from cartographer.query import serve


@pytest.fixture
def running(tmp_path):
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (site / "index.html").write_text("the atlas")
    (site / "sub" / "page.html").write_text("a page")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "site-twin").mkdir()
    (tmp_path / "site-twin" / "x.html").write_text("secret")
    (site / "link.txt").symlink_to(tmp_path / "secret.txt")
    server = serve.server(site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _get(server, path, host=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_pages(running):
    assert _get(running, "/") == (200, b"the atlas")
    assert _get(running, "/sub/page.html") == (200, b"a page")
    assert _get(running, "/nothing")[0] == 404


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/sub/../../secret.txt", "/..%2fsecret.txt", "/link.txt", "//secret.txt", "/../site-twin/x.html",
     "/%2e%2e%5csecret.txt", "/sub/"],
)  # fmt: skip
def test_nothing_outside_the_folder_and_no_lists(running, path):
    status, body = _get(running, path)
    assert status in {400, 404}
    assert b"secret" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1]:80"])
def test_other_names_are_refused(running, host):
    assert _get(running, "/", host)[0] == 403


def test_only_reading(running):
    assert _get(running, "/", method="POST")[0] == 501


def test_only_the_loopback_address(running):
    assert running.server_address[0] == "127.0.0.1"


def test_taken_port_and_no_pages(running, tmp_path):
    with pytest.raises(StoreError, match="cannot listen"):
        serve.server(tmp_path / "site", running.server_port)
    with pytest.raises(StoreError, match="no pages"):
        serve.server(tmp_path)
    assert socket.gethostbyname("127.0.0.1") == "127.0.0.1"
