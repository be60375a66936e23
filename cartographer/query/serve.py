# SPDX-License-Identifier: BSD-3-Clause
"""Serves atlases over HTTP, on the loopback address alone: only the files below one folder, and pages that are drawn in their place."""

from __future__ import annotations

import io
import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cartographer.errors import CartographerError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Draw = Callable[[str], bytes | None]  # an address below the folder -> the file's bytes; None: what the disk has
    Lost = Callable[[str], bytes]  # an address without a file -> the page that says so

LIST = "releases.js"  # marks a folder that lists atlases (render/collection.py)
_HOSTS = frozenset(("127.0.0.1", "localhost"))


class _Handler(SimpleHTTPRequestHandler):
    """GET and HEAD of files that really lie below the folder, or that are drawn."""

    server_version = "cartographer"
    sys_version = ""
    timeout = 60  # of a silent connection: it must not hold a thread for ever

    def __init__(self, *arguments: Any, draw: Draw, lost: Lost | None, **options: Any) -> None:
        self._draw, self._lost = draw, lost
        super().__init__(*arguments, **options)

    def send_head(self) -> Any:
        # A page elsewhere may point its own name at 127.0.0.1; its Host header gives it away.
        if self.headers.get("Host", "").rpartition(":")[0] not in _HOSTS and self.headers.get("Host", "") not in _HOSTS:
            self.send_error(403, "this server answers to 127.0.0.1 only")
            return None
        address = self._address()
        if address is None:
            self.send_error(404)
            return None
        try:
            drawn = self._draw(address)
            if drawn is None and self._is_folder(address):
                return self._moved(address)
        except CartographerError as error:
            self.send_error(500, "this page cannot be drawn", str(error))
            return None
        return super().send_head() if drawn is None else self._head_of(address, drawn)

    def _address(self) -> str | None:
        """Where below the folder the path leads, symbolic links followed; None for what lies elsewhere and for hidden files."""
        try:
            root = os.path.realpath(self.directory)
            path = os.path.realpath(self.translate_path(self.path))
        except (ValueError, OSError):  # a NUL byte, a lone surrogate, a name beyond all lengths
            return None
        below = path[len(root) :]
        if path != root and (not path.startswith(root + os.sep) or f"{os.sep}." in below):
            return None
        whole = below.replace(os.sep, "/").removeprefix("/")
        is_folder = self.path.partition("?")[0].partition("#")[0].endswith("/")
        return f"{whole}/index.html".removeprefix("/") if is_folder else whole

    def _is_folder(self, address: str) -> bool:
        """Whether an address without a slash at its end is that of a folder whose page is drawn: in one that is on disk, the disk's server says so."""
        if not address or address.endswith("/index.html") or os.path.lexists(os.path.join(self.directory, address)):  # noqa: PTH118 - as above
            return False
        return self._draw(f"{address}/index.html") is not None

    def _moved(self, address: str) -> None:
        """Send the browser to the folder, so that links on its page lead where they should."""
        self.send_response(301)
        self.send_header("Location", f"/{quote(address)}/{'?' if '?' in self.path else ''}{self.path.partition('?')[2].partition('#')[0]}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        if code != 404 or self._lost is None:
            super().send_error(code, message, explain)
            return
        body = self._lost(self._address() or "")
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head_of(self, address: str, drawn: bytes) -> io.BytesIO:
        """The head of an answer that stands in no file, and its body."""
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(address))
        self.send_header("Content-Length", str(len(drawn)))
        self.end_headers()
        return io.BytesIO(drawn)

    def list_directory(self, path: Any) -> None:  # noqa: ARG002
        self.send_error(404)  # a folder without a page of its own shows nothing

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")  # a rebuilt atlas shows at the next reload
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has there
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a browser that goes away in the middle of a page is no error


def site_of(folder: Path) -> tuple[Path, str]:
    """The folder to serve for an atlas, and where in it the atlas begins: pages of a collection link to the other atlases in it."""
    if (folder / LIST).is_file():
        return folder, ""
    above = folder.absolute().parent
    return (above, f"{quote(folder.absolute().name)}/") if (above / LIST).is_file() else (folder, "")


def server(folder: Path, port: int = 0, draw: Draw = lambda _: None, lost: Lost | None = None) -> ThreadingHTTPServer:
    """A server of `folder`, ready to run; `draw` gives the pages that have no files, `lost` the one where there is none.
    Raises StoreError when the port is taken.
    """
    try:
        return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder), draw=draw, lost=lost))
    except OSError as error:
        raise StoreError(f"cannot listen on port {port}: {error.strerror}", hint="leave --port out to get a free one") from error


def address(running: ThreadingHTTPServer) -> str:
    """The URL at which the server can be reached."""
    return f"http://127.0.0.1:{running.server_port}/"
