# SPDX-License-Identifier: BSD-3-Clause
"""The commands `guide` and `line`: the texts of the guide, checked and printed."""

from __future__ import annotations

import click

from cartographer.cli.shared import atlas_option, ink, json_option, open_atlas, put, put_json


@click.command("guide", short_help="The guide; --check lists claims that no longer hold.")
@click.argument("named", required=False, metavar="[ATLAS]")
@click.option("--check", is_flag=True, help="List every claim that does not hold in the atlas; exit with 1 if there is one.")
@click.option("--places", "operator", metavar="OP", help="Instead: all places that a change of this operator touches.")
@atlas_option
@json_option
def guide_command(named: str | None, check: bool, operator: str | None, atlas: str | None, as_json: bool) -> int:
    """List the pages of the guide, or check all of its claims against ATLAS.

    A claim that only a full repository can show is not counted against an atlas of a wheel.
    """
    from cartographer.guide import book

    if operator is not None:
        return _places(operator, named or atlas, as_json=as_json)
    with open_atlas(named or atlas) as reader:
        read = book.read(reader)
    if as_json:
        put_json({
            "tag": read.tag, "pages": [{"slug": t.slug, "title": t.title, "kind": t.kind} for t in read.texts], "claims": len(read.answers),
            "stale": [{"page": s.slug, "claim": s.anchor, "reason": s.reason} for s in read.gone],
            "not_in_a_wheel": [{"page": s.slug, "claim": s.anchor, "reason": s.reason} for s in read.absent],
        })  # fmt: skip
    elif check:
        paint = ink()
        put(f"{paint.faint('not in a wheel')} {s.slug}: {{{s.anchor}}}  {s.reason}" for s in read.absent)
        put(f"{paint.bad(read.standing(absent=False))} {s.slug}: {{{s.anchor}}}  {s.reason}" for s in read.gone)
        wheel = f", {len(read.absent)} not to be checked in a wheel" if read.absent else ""
        put([f"{len(read.answers)} claims in {len(read.texts)} pages, {len(read.gone)} {read.standing(absent=False)}{wheel}"])
    else:
        put(f"{t.kind:<8} {t.slug:<28} {t.title}" for t in sorted(read.texts, key=lambda t: (t.kind, t.number, t.slug)))
    return int(check and bool(read.gone))


def _places(operator: str, atlas: str | None, *, as_json: bool) -> int:
    from cartographer.guide import places, terminal
    from cartographer.query import show

    with open_atlas(atlas) as reader:
        _, named = show.find(reader, operator)
        overloads = reader.group(named[0].base, named[0].namespace)
        found, several = places.touches(reader, overloads), places.made_of_several(overloads)
    if as_json:
        put_json([{"what": t.what, "name": t.text, "path": t.path, "line": t.line} for t in found])
    else:
        put(terminal.table(found, ink()))
        if any(touch.what.endswith(" called") for touch in found):
            put(["", *terminal.remark("What is called belongs to the operator that the kernel calls.", ink())])
        if several:
            put(["", *terminal.remark(f"{several} is made of other operators: cartographer where {several} --deep tells where those are implemented.", ink())])
        put(["", *terminal.remark(places.NOT_ALL, ink())])
    return 0


@click.command("line", short_help="A reading line: a route through the guide, stop by stop.")
@click.argument("colour", required=False, type=click.Choice(["blue", "orange", "green", "grey"]), default="blue")
@atlas_option
def line_command(colour: str, atlas: str | None) -> None:
    """Print a reading line stop by stop, each claim with its place in the atlas's PyTorch.

    A reading line is a route through the guide: blue for new contributors (without a colour, this one), orange for most
    readers, green for speed, grey from front to back.
    """
    from cartographer.guide import book, terminal

    with open_atlas(atlas) as reader:
        read = book.read(reader, medium="terminal")
        put(terminal.line(read, colour, ink()))
