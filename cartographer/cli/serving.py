# SPDX-License-Identifier: BSD-3-Clause
"""serve: an atlas in the browser."""

from __future__ import annotations

import click

from cartographer.cli.shared import atlas_option


@click.command("serve")
@click.argument("named", required=False, metavar="[ATLAS]")
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=0, help="The port. Default: any free one.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@atlas_option
def serve_command(named: str | None, port: int, no_browser: bool, atlas: str | None) -> None:
    """Show an atlas in the browser. Only this machine can reach it. Ctrl-C ends it."""
    from cartographer.query import atlases, serve

    folder = atlases.chosen(named or atlas).parent
    with serve.server(folder, port) as running:
        click.echo(f"{serve.address(running)}  (Ctrl-C ends it)")
        if not no_browser:
            import webbrowser

            webbrowser.open(serve.address(running))
        running.serve_forever()
