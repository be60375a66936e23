# SPDX-License-Identifier: BSD-3-Clause
"""A web server for one atlas: on the loopback address alone, for the files below one folder alone."""

from __future__ import annotations

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cartographer.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

LIST = "releases.js"  # marks a folder that lists atlases (render/collection.py)
_HOSTS = frozenset(("127.0.0.1", "localhost"))


class _Handler(SimpleHTTPRequestHandler):
    """GET and HEAD of files that really lie below the folder."""

    server_version = "cartographer"
    sys_version = ""
    timeout = 60  # of a silent connection: it must not hold a thread for ever

    def send_head(self) -> Any:
        # A page elsewhere may point its own name at 127.0.0.1; its Host header gives it away.
        if self.headers.get("Host", "").rpartition(":")[0] not in _HOSTS and self.headers.get("Host", "") not in _HOSTS:
            self.send_error(403, "this server answers to 127.0.0.1 only")
            return None
        if not self._is_ours():
            self.send_error(404)
            return None
        return super().send_head()

    def _is_ours(self) -> bool:
        """Whether the path lies below the folder, symbolic links followed, and is no hidden file."""
        try:
            root = os.path.realpath(self.directory)
            path = os.path.realpath(self.translate_path(self.path))
        except (ValueError, OSError):  # a NUL byte, a lone surrogate, a name beyond all lengths
            return False
        return path == root or (path.startswith(root + os.sep) and f"{os.sep}." not in path[len(root) :])

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
    """What to serve for an atlas, and where in it the atlas begins: pages of one that stands among others lead to those."""
    if (folder / LIST).is_file():
        return folder, ""
    above = folder.absolute().parent
    return (above, f"{quote(folder.absolute().name)}/") if (above / LIST).is_file() else (folder, "")


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of `folder`, ready to run. Raises StoreError when there is no page, or the port is taken."""
    if not (folder / "index.html").is_file():
        raise StoreError("this atlas has no pages", where=str(folder), hint="build it without --no-html")
    try:
        return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise StoreError(f"cannot listen on port {port}: {error.strerror}", hint="leave --port out to get a free one") from error


def address(running: ThreadingHTTPServer) -> str:
    """Where the server can be reached."""
    return f"http://127.0.0.1:{running.server_port}/"
