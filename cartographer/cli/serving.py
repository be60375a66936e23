# SPDX-License-Identifier: BSD-3-Clause
"""The command `serve`: an atlas in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from cartographer.cli.shared import atlas_option


@click.command("serve")
@click.argument("named", required=False, metavar="[ATLAS]")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="The port. Default: any free one.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@atlas_option
def serve_command(named: str | None, port: int, no_browser: bool, atlas: str | None) -> None:
    """Show an atlas in the browser, or a folder of several. Only this machine can reach it. Ctrl-C ends it.

    Pages that the build did not draw (--pages, --no-html) are drawn as they are read; nothing is written.
    """
    from cartographer.pipeline.serving import Undrawn
    from cartographer.query import serve

    folder = _folder(named or atlas)
    root, begin = serve.site_of(folder)
    undrawn = Undrawn(root)
    if not (folder / "index.html").is_file():
        undrawn.check(folder)
    with serve.server(root, port, undrawn, undrawn.lost) as running:
        address = f"{serve.address(running)}{begin}"
        click.echo(f"{address}  (Ctrl-C ends it)")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)
        running.serve_forever()


def _folder(named: str | None) -> Path:
    """The folder of the atlas that is meant, or one that lists several."""
    from cartographer.errors import StoreError
    from cartographer.query import atlases, serve
    from cartographer.store import database

    if named is not None and (Path(named) / serve.LIST).is_file():
        return Path(named)
    found = atlases.chosen(named)
    if found.name != database.FILE_NAME:
        raise StoreError("this is a file, not the folder of an atlas", where=str(found), hint=f"name the folder; the database in it is called {database.FILE_NAME}")
    return found.parent
