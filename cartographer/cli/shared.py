# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, and how lines reach standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem

    from cartographer.query.ink import Ink
    from cartographer.store.reader import Reader



def atlas_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--atlas`: a folder, a database, or the tag of an atlas that is known."""
    return click.option("--atlas", "-a", metavar="ATLAS", help="A folder with an atlas.db, the file, or its tag. Default: the newest.")(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`"""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def open_atlas(named: str | None) -> Reader:
    """The atlas that a command means. Raises StoreError."""
    from cartographer.query import atlases
    from cartographer.store.reader import Reader

    return Reader(atlases.chosen(named))


def ink() -> Ink:
    """Colours for standard output."""
    from cartographer.query.ink import Ink

    return Ink.for_stream(sys.stdout)


def put(lines: Iterable[str]) -> None:
    """Write lines to standard output; characters that it cannot show become question marks."""
    stream = sys.stdout
    try:
        for line in lines:
            stream.write(f"{line}\n")
    except UnicodeEncodeError:
        click.echo("some names cannot be shown in this encoding; set PYTHONIOENCODING=utf-8", err=True)
        raise


def put_json(value: object) -> None:
    """Write one JSON value, readable."""
    import json

    put([json.dumps(value, ensure_ascii=False, indent=2)])


def complete_operator(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Operator names of the chosen atlas that begin like this."""
    from click.shell_completion import CompletionItem

    from cartographer.errors import CartographerError

    try:
        with open_atlas(ctx.params.get("atlas")) as reader:
            return [CompletionItem(name) for name in reader.lookup.completions(incomplete)]
    except CartographerError:
        return []
