# SPDX-License-Identifier: BSD-3-Clause
"""The command `strata`: when the lines of a folder or a file came in."""

from __future__ import annotations

import click

from cartographer.cli.shared import atlas_option, ink, json_option, open_atlas, put, put_json


@click.command("strata", short_help="How old the code is: when each line came in.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--lines", "by_line", is_flag=True, help="JSON lines: for each file its runs of lines with the commit that they came in by.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table of lines by part and year.")
@json_option
@atlas_option
def strata_command(paths: tuple[str, ...], by_line: bool, as_csv: bool, as_json: bool, atlas: str | None) -> None:
    """Show when the lines under PATH (a folder or a file; default: the whole tree) came in: by era, by year, by part.

    Of one line (PATH:LINE) the day, the commit, and the first release that has it.
    """
    from dataclasses import asdict

    from cartographer.errors import UsageError
    from cartographer.query import strata, strata_text

    if by_line + as_csv + as_json > 1:
        raise UsageError("--lines, --csv and --json are three forms of one answer", hint="give one of them")
    if len(paths) > 1 and not by_line:
        raise UsageError("a section shows one folder or file", hint="give one PATH, or --lines for many")
    with open_atlas(atlas) as reader:
        dated = reader.strata()
        if by_line:
            put(strata.lines(dated, paths))
            return
        if paths and not as_csv and (asked := strata.line_asked(dated, paths[0])):
            line = strata.laid(dated, *asked)
            put([strata_text.line_text(line, ink())]) if not as_json else put_json(asdict(line))
            return
        found = strata.section(dated, paths[0] if paths else "")
        if as_json:
            put_json(strata.record(found, dated))
        else:
            put(strata.table(found) if as_csv else strata_text.text(found, dated, ink()))
