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
    (site / "folder").symlink_to(tmp_path / "site-twin")
    (site / "loop").symlink_to(site / "loop")
    (site / "sub" / "inside.html").symlink_to(site / "sub" / "page.html")
    (site / ".hidden").write_text("secret")
    (site / ".git").mkdir()
    (site / ".git" / "config").write_text("secret")
    (site / "odd name é%2f.html").write_text("odd")
    server = serve.server(site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
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
     "/%2e%2e%5csecret.txt", "/sub/", "/folder/x.html", "/folder/", "/loop", "/.hidden", "/%2ehidden", "/.git/config", "/sub/../.hidden", "/..", "/../", "/%2e%2e", "/....//secret.txt",
     "/%252e%252e/secret.txt", "/sub/%2e%2e/%2e%2e/secret.txt", "/C:/secret.txt", "/C:%5csecret.txt", "/\\..\\secret.txt", "/%5c%5chost%5cshare", "/file:///etc/passwd", "http://evil.example/../secret.txt",
     "http://127.0.0.1/../secret.txt", "/index.html/../../secret.txt", "/index.html/", "/%00", "/index.html%00.txt", "/%ff%fe", "/%ed%a0%80", "/%c0%ae%c0%ae/secret.txt", "/" + "a/" * 4000, "/" + "n" * 5000,
     "/?../secret.txt#", "/;/../secret.txt", "/etc/passwd", "//etc/passwd", "///etc/passwd", "/proc/self/environ", "/dev/zero", "*", "/%"],
)  # fmt: skip
def test_nothing_outside_the_folder_and_no_lists(running, path):
    status, body = _get(running, path)
    assert status in {301, 400, 404, 414} or body == b"the atlas"
    assert b"secret" not in body
    assert b"root:" not in body
    assert _get(running, path, method="HEAD")[1] == b""
    assert _get(running, "/")[0] == 200


def test_a_folder_whose_page_is_drawn_is_found_without_its_slash(tmp_path):
    made = {"op/index.html": b"drawn"}
    server = serve.server(tmp_path, draw=made.get, lost=lambda address: f"lost {address}".encode())
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
        connection.request("GET", "/op?q=1")
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Location"), answer.read()) == (301, "/op/?q=1", b"")
        connection.request("GET", "/op/")
        assert connection.getresponse().read() == b"drawn"
        assert _get(server, "/o/p") == (404, b"lost o/p")
        assert _get(server, "/o/p", method="HEAD") == (404, b"")
        assert _get(server, "/../x/") == (404, b"lost x/index.html"), "the handler resolves dots first"
        connection.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_odd_names_and_links_inside_are_served(running):
    assert _get(running, "/odd%20name%20%C3%A9%252f.html") == (200, b"odd")
    assert _get(running, "/sub/inside.html?v=2#top") == (200, b"a page")


def test_head_tells_what_get_would(running):
    heads = {}
    for method in ("GET", "HEAD"):
        connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=5)
        connection.request(method, "/sub/page.html")
        answer = connection.getresponse()
        body = answer.read()
        heads[method] = (answer.status, {k: v for k, v in answer.getheaders() if k != "Date"})
        assert body == (b"a page" if method == "GET" else b"")
        connection.close()
    assert heads["GET"] == heads["HEAD"]
    told = heads["GET"][1]
    assert told["Content-Length"] == "6"
    assert told["X-Content-Type-Options"] == "nosniff"
    assert "Python" not in told["Server"]


def test_what_has_not_changed_is_not_sent_again(running):
    connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=5)
    connection.request("GET", "/index.html")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    for since, status in ((answer.getheader("Last-Modified"), 304), ("Mon, 01 Jan 2001 00:00:00 GMT", 200), ("no date at all", 200), ("", 200)):
        connection.request("GET", "/index.html", headers={"If-Modified-Since": since})
        again = connection.getresponse()
        assert (again.status, again.read()) == (status, b"" if status == 304 else b"the atlas")
        connection.close()


@pytest.mark.parametrize("part", ["bytes=0-2", "bytes=-5", "bytes=9999999999-", "bytes=5-1", "lines=1", "bytes=0-0,2-2" * 500])
def test_a_range_gets_the_whole(running, part):
    """RFC 9110 leaves that to the server; no arithmetic with numbers of strangers."""
    connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=5)
    connection.request("GET", "/index.html", headers={"Range": part})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"the atlas")
    connection.close()


@pytest.mark.parametrize(
    "raw",
    [b"\r\n\r\n", b"\0\0\0", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 500 + b"\r\n", b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00",
     b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_harms_nobody(running, raw, capfd):
    with socket.create_connection(("127.0.0.1", running.server_port), timeout=5) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    assert _get(running, "/") == (200, b"the atlas")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1]:80", "localhost.evil.example:80", "evil.example:127.0.0.1", "127.0.0.1@evil.example", "127.0.0.2", " ", "localhost:80:80", "xn--lcalhost-54a"])
def test_other_names_are_refused(running, host):
    assert _get(running, "/", host)[0] == 403


def test_only_reading(running):
    assert _get(running, "/", method="POST")[0] == 501


def test_only_the_loopback_address(running):
    assert running.server_address[0] == "127.0.0.1"


def test_taken_port(running, tmp_path):
    with pytest.raises(StoreError, match="cannot listen"):
        serve.server(tmp_path / "site", running.server_port)
    assert socket.gethostbyname("127.0.0.1") == "127.0.0.1"


def test_an_atlas_among_others_is_served_with_them(tmp_path):
    shelf = tmp_path / "atlas"
    one = shelf / "v1.0 é"
    one.mkdir(parents=True)
    assert serve.site_of(one) == (one, "")
    (shelf / "releases.js").write_text("")
    assert serve.site_of(one) == (shelf, "v1.0%20%C3%A9/")
    assert serve.site_of(shelf) == (shelf, "")
