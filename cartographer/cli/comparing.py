# SPDX-License-Identifier: BSD-3-Clause
"""The commands `diff` and `history`: what changed between releases."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cartographer.cli.shared import output_option, put

_LEVELS = click.Choice(["break", "maybe", "info"])


@click.command("diff", short_help="What changed between two releases.")
@click.argument("old")
@click.argument("new")
@click.option("--repo", metavar="PATH-OR-URL", help="A clone whose tags OLD and NEW are; it is only read.")
@click.option("--from", "origin", type=click.Choice(["wheel"]), help="Read the releases' wheels.")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown", "html", "github"]), default="text", show_default=True)
@click.option("--level", type=_LEVELS, default="info", help="Only changes of this level and above.")
@click.option("--op", "ops", multiple=True, metavar="GLOB", help="Only these operators (may be given again).")
@click.option("--backend", metavar="KEY", help="Only changes of this dispatch key.")
@click.option("--kind", "kinds", multiple=True, metavar="ID", help="Only changes of this kind (may be given again).")
@click.option("--core", is_flag=True, help="Only operators tagged core.")
@click.option("--all", "everything", is_flag=True, help="List information one by one too.")
@click.option("--fail-on", type=_LEVELS, help="Exit with 1 when there is a change of this level or above.")
@output_option
@click.option("--json-schema", is_flag=True, is_eager=True, expose_value=False, callback=lambda ctx, _, value: _print_schema(ctx) if value else None,
              help="Print the JSON Schema of --format json.")  # fmt: skip
def diff_command(
    old: str, new: str, repo: str | None, origin: str | None, form: str, level: str, ops: tuple[str, ...], backend: str | None,
    kinds: tuple[str, ...], core: bool, everything: bool, fail_on: str | None, output: Path | None,
) -> int:  # fmt: skip
    """Compare the operators of OLD and NEW: tags, atlases, unpacked trees or wheels, in any mixture.

    Exit code: 0 nothing at or above --fail-on, 1 something, 2 could not compare.
    """
    from cartographer import progress
    from cartographer.compare.forms import FORMS
    from cartographer.compare.selection import Selection
    from cartographer.errors import CartographerError, CompareError
    from cartographer.model.change import Level
    from cartographer.pipeline import releases
    from cartographer.processes import short_lived

    teller = progress.for_terminal(quiet=not sys.stderr.isatty())
    if backend == "":
        raise CompareError("--backend takes a dispatch key, and '' is none", hint="for example: --backend CUDA; leave it out for the changes of all keys")
    try:
        selection = Selection(Level[level.upper()], ops, backend or "", kinds)
        with short_lived():
            found = releases.compare_releases(old, new, repo=repo, wheel=origin == "wheel", selection=selection, core=core, progress=teller)
    except CartographerError as error:
        raise CompareError(error.message, where=error.where, hint=error.hint) from error
    except OSError as error:
        raise CompareError(error.strerror or str(error), where=error.filename) from error
    except Exception:  # noqa: BLE001 - a fault of ours is told whole, and must not read as "changes found"
        import traceback

        traceback.print_exc()
        return 2
    finally:
        teller.close()
    colour = output is None and _colours()
    text = releases.page(found) if form == "html" else FORMS[form](found, colour, everything)
    if output is None:
        put([text.rstrip("\n")])
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CompareError(f"cannot be written: {error.strerror}", where=str(output), hint="name another file with -o") from error
    return int(fail_on is not None and any(c.level >= Level[fail_on.upper()] for c in found.changes))


def _colours() -> bool:
    from cartographer.cli.shared import ink

    return ink().bad("x") != "x"


def _print_schema(ctx: click.Context) -> None:
    import json

    from cartographer.compare.machine import JSON_SCHEMA

    put([json.dumps(JSON_SCHEMA, indent=2)])
    ctx.exit(0)


@click.command("history", short_help="An operator over the releases.")
@click.argument("op", nargs=-1, required=True)
@click.option("--repo", metavar="PATH", help="A clone; all its release tags are looked at.")
@click.option("--wheel", "wheels", multiple=True, type=click.Path(exists=True, path_type=Path), help="A wheel, or a folder of wheels.")
@click.option("--source", "sources", multiple=True, type=click.Path(exists=True, file_okay=False, path_type=Path), help="An unpacked tree.")
@click.option("--since", metavar="TAG", help="The first release to look at.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history_command(
    op: tuple[str, ...], repo: str | None, wheels: tuple[Path, ...], sources: tuple[Path, ...], since: str | None, as_json: bool,
) -> int:  # fmt: skip
    """In which release OP came, what changed since, and when it went.

    Without --repo, --wheel and --source: over all release tags of the clone in the cache, if there is one, and every atlas
    on this machine. The network is never reached.
    """
    from cartographer import progress
    from cartographer.compare.forms import timeline_json, timeline_text
    from cartographer.pipeline import releases

    teller = progress.for_terminal(quiet=not sys.stderr.isatty())
    try:
        found, looked = releases.operator_history(op, repo=repo, wheels=wheels, sources=sources, since=since, progress=teller)
    finally:
        teller.close()
    put([timeline_json(found, looked)] if as_json else timeline_text(found, looked))
    return 0
