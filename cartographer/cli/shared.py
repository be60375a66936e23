# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, and how lines get to standard output."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from click.shell_completion import CompletionItem

    from cartographer.query.ink import Ink
    from cartographer.store.reader import Reader


def atlas_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--atlas`: a folder, a database, or the tag of an atlas that is known."""
    return click.option("--atlas", "-a", metavar="ATLAS", help="A folder with an atlas.db, the file, or its tag. Default: the one that was built last.")(function)


def output_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--output`: a file; `-` is standard output, as everywhere (a file of that name is `./-`)."""
    def chosen(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Path | None:
        return None if value in {None, "-"} else Path(str(value))

    return click.option("--output", "-o", type=click.Path(dir_okay=False), callback=chosen,
                        help="The file to write. Default, and -: standard output.")(function)  # fmt: skip


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--json`, which the command gets as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


@contextmanager
def open_atlas(named: str | None, *, quiet: bool = False) -> Iterator[Reader]:
    """Open the atlas that a command means; odd contents are reported as an error of the atlas. Raises StoreError.

    Where none is named and there are several, whoever asks may think of another release: a person is told which one
    answers, and an error for a name that it does not have tells so too.
    """
    from cartographer.errors import NotFound
    from cartographer.query import atlases
    from cartographer.store.doubt import doubting
    from cartographer.store.reader import Reader

    path = atlases.chosen(named)
    others = "" if named else atlases.names(without=path)
    if others and not quiet and sys.stderr.isatty():
        click.echo(f"# the atlas of {path.parent.name}, built last (--atlas takes another: {others})", err=True)
    with doubting(path), Reader(path) as reader:
        try:
            yield reader
        except NotFound as error:
            if others:
                error.hint = "\n".join(filter(None, (error.hint, f"this is the atlas of {path.parent.name}, built last; --atlas takes another: {others}")))
            raise


def typed(words: Iterable[str]) -> str:
    """Words as one text. A shell in another language hands over bytes that are no text to Python: here they are."""
    text = " ".join(words)
    try:
        return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def ink() -> Ink:
    """The colours for standard output: none when it is not a terminal."""
    from cartographer.query.ink import Ink

    return Ink.for_stream(sys.stdout)


def put(lines: Iterable[str]) -> None:
    """Write lines for people. Names come from the analysed source, so whatever would steer the terminal is made visible."""
    put_data(line if line.isprintable() else _harmless(line) for line in lines)


def put_data(lines: Iterable[str]) -> None:
    """Write lines for programs, as they are."""
    stream = sys.stdout
    if not stream.isatty() and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # files and pipes are UTF-8 whatever the terminal's language
    for line in lines:
        try:
            stream.write(f"{line}\n")
        except UnicodeEncodeError:  # an old terminal
            stream.write(f"{line.encode(stream.encoding or 'ascii', 'replace').decode(stream.encoding or 'ascii')}\n")


def _harmless(line: str) -> str:
    """Our colours, tabs and line ends stay; every other control character becomes its sign."""
    import re

    return "".join(
        part if re.fullmatch("\x1b\\[[0-9;]*m", part) else "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in part)
        for part in re.split("(\x1b\\[[0-9;]*m)", line)
    )


def put_json(value: object) -> None:
    """Write one JSON value to standard output, indented."""
    import json

    put_data([json.dumps(value, ensure_ascii=False, indent=2)])


def complete_operator(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """The operator names of the chosen atlas that begin with what was typed."""
    from click.shell_completion import CompletionItem

    from cartographer.errors import CartographerError

    try:
        with open_atlas(ctx.params.get("atlas"), quiet=True) as reader:
            return [CompletionItem(name) for name in reader.lookup.completions(incomplete)]
    except CartographerError:
        return []
