# SPDX-License-Identifier: BSD-3-Clause
"""The commands `coverage` and `verify`: what serves which backend, and whether a running torch agrees with the atlas."""

from __future__ import annotations

import contextlib
import sys

import click

from cartographer.cli.shared import atlas_option, ink, json_option, open_atlas, put, put_json


@click.command("coverage", short_help="Which operators a backend serves, and how.")
@click.option("--backend", "-b", metavar="KEY", help="One backend (CUDA, MPS, PrivateUse1, ...), operator by operator. Default: all, in numbers.")
@click.option("--missing", is_flag=True, help="Only operators that nothing serves, or a fallback or an error alone (what a backend must register), and those of which this source does not tell.")
@click.option("--core", is_flag=True, help="Only operators tagged core.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
@atlas_option
def coverage_command(backend: str | None, missing: bool, core: bool, as_csv: bool, as_json: bool, atlas: str | None) -> None:
    """How many operators each backend serves with a kernel of its own, through a composite, a fallback, or not at all.

    Counted are the operators of the namespace aten; the list that is printed says how many those are.
    """
    from cartographer.errors import UsageError
    from cartographer.model.atlas import elsewhere
    from cartographer.query import coverage

    if as_csv and as_json:
        raise UsageError("--csv and --json are two forms of one answer", hint="give one of them")
    with open_atlas(atlas) as reader:
        found = coverage.coverage(
            reader.operators(), backend, missing=missing, core=core, listed=lambda: listed.keys if (listed := reader.oplist()) else (),
            elsewhere=elsewhere(reader.landmarks()),
        )  # fmt: skip
        if as_json:
            put([coverage.json_text(found)])
        elif as_csv:
            put([coverage.csv_text(found).rstrip("\n")])
        else:
            put(coverage.table_lines(found))


@click.command("verify", short_help="Compare an atlas with a running torch.")
@click.argument("named", required=False, metavar="[ATLAS]")
@click.option("--python", "interpreter", metavar="PATH", default=sys.executable, show_default="this one", help="A Python that has torch.")
@click.option("--all", "everything", is_flag=True, help="List every difference, not only those that are ours.")
@atlas_option
@json_option
def verify_command(named: str | None, interpreter: str, everything: bool, atlas: str | None, as_json: bool) -> int:
    """Run a short script in a Python that has torch, and compare its dispatcher with ATLAS.

    Differences of platform and version are told apart from ours. Exit code 1 when one is ours. The numbers are kept beside
    the atlas; the next build of the same puts them on its page of sources and checks.
    """
    from cartographer.query import verify
    from cartographer.store import verified

    with open_atlas(named or atlas) as reader:
        info, folder = reader.info(), reader.path.parent
        operators = tuple(reader.operators())
    verdict = verify.compare(operators, info.source.version, verify.ask(interpreter, verify.namespaces(operators)))
    with contextlib.suppress(OSError):  # an atlas that can only be read is compared all the same
        verified.keep(folder, verify.outcome(verdict, info.inputs))
    if as_json:
        put_json(verify.record(verdict))
    else:
        put(verify.lines(verdict, most=sys.maxsize if everything else 10, strong=ink().strong))
    return int(verdict.ours > 0)
