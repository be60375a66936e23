# SPDX-License-Identifier: BSD-3-Clause
"""The commands `list` and `clean`: the atlases and the cache on this machine."""

from __future__ import annotations

import click

from cartographer.cli.shared import ink, json_option, put, put_json


@click.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """The atlases on this machine, newest first."""
    from cartographer.query import atlases

    known = tuple(atlases.all_known())
    if as_json:
        put_json([atlases.record(found) for found in known])
    elif known:
        put(atlases.text(known, ink()))
    else:
        click.echo("no atlas yet; build one with: cartographer build v2.6.0", err=True)


@click.command("clean")
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would go.")
def clean_command(kinds: tuple[str, ...], yes: bool, dry_run: bool) -> None:
    """Empty the cache: clones, wheels, parsed files. Atlases stay.

    KIND is a part of the cache as --dry-run lists them; all of it when none is named.
    """
    from cartographer.checkout.cache import Cache
    from cartographer.errors import UsageError

    cache = Cache()
    entries = cache.entries()
    known = {entry.kind for entry in entries}
    if unknown := set(kinds) - known:
        raise UsageError(f"the cache holds no {', '.join(sorted(unknown))}", hint=f"it holds {', '.join(sorted(known)) or 'nothing'}")
    chosen = [entry for entry in entries if not kinds or entry.kind in kinds]
    for entry in chosen:
        click.echo(f"{entry.size / 1e6:>10.1f} MB  {entry.kind}/{entry.name}")
    if not chosen:
        click.echo(f"nothing in {cache.root}")
    elif not dry_run and (yes or click.confirm(f"Remove these from {cache.root}?", default=False)):
        click.echo(f"{cache.clean(frozenset(kinds) or None) / 1e6:.1f} MB freed")
