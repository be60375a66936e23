# SPDX-License-Identifier: BSD-3-Clause
"""The command `export`: the whole atlas as JSON lines, for scripts and other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cartographer.cli.shared import atlas_option, open_atlas, output_option, put_data

if TYPE_CHECKING:
    from pathlib import Path


@click.command("export", short_help="Write an atlas as JSON lines.")
@click.argument("named", required=False, metavar="[ATLAS]")
@output_option
@atlas_option
def export_command(named: str | None, output: Path | None, atlas: str | None) -> None:
    """Write ATLAS as JSON lines: first the atlas, then one line an operator, sorted by name."""
    from cartographer.query import export

    with open_atlas(named or atlas) as reader:
        if output is None:
            put_data(export.lines(reader))
        else:
            export.write(reader, output)
