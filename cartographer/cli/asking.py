# SPDX-License-Identifier: BSD-3-Clause
"""The commands `where`, `show` and `search`: questions to an atlas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cartographer.cli.shared import atlas_option, complete_operator, ink, json_option, open_atlas, put, put_json, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.query.reverse import Backwards
    from cartographer.query.where import Where
    from cartographer.store.reader import Reader

KINDS = ("operator", "python", "binding", "node", "kernel", "stub", "file", "generated", "symbol")


@click.command("where", short_help="Where an operator is implemented, file and line.")
@click.argument("op", nargs=-1, required=True, metavar="OP", shell_complete=complete_operator)
@click.option("--backend", "-b", metavar="KEY", help="CUDA, CPU, MPS, Meta, SparseCPU, ... Default: all.")
@click.option("--all", "everything", is_flag=True, help="Leave nothing out for brevity.")
@click.option("--deep", "-d", is_flag=True, help="Follow the operators that a body calls down to their kernels.")
@json_option
@atlas_option
def where_command(op: tuple[str, ...], backend: str | None, everything: bool, deep: bool, as_json: bool, atlas: str | None) -> None:
    """Where OP is implemented: `path:line  function`, and the way down beneath it.

    OP is written as you have it: add, add.Tensor, aten::add.Tensor, torch.Tensor.add_, F.softmax, torch.linalg.svd,
    THPVariable_randn, AddBackward0, at::add, at::_ops::add_Tensor::call, torch.ops.aten.add.Tensor.

    It may also be something met on the way: a kernel or a profiler's symbol (mangled or not), a stub, a file, a line
    of a file (IndexKernel.cu:120), a line of a stack trace, a generated file. The answer is then who reaches it.
    Of an error message, the operators that it names ('aten::index.Tensor', 'wrapper_CUDA_addmm') are told; its words are not looked up.
    """
    from cartographer.query.where import where

    with open_atlas(atlas) as reader:
        answer = where(reader, typed(op), backend)
        if as_json:
            put_json(_where_json(reader, answer, deep))
        else:
            put(_where_text(reader, answer, everything, deep))


def _where_json(reader: Reader, answer: Where | Backwards, deep: bool) -> object:
    from cartographer.query import where_json

    if not deep:
        return where_json.record(answer)
    from cartographer.query import deep as below

    return where_json.record(answer, lambda d: below.record(below.follow(reader, d.chain, d.backends[0])))


def _where_text(reader: Reader, answer: Where | Backwards, everything: bool, deep: bool) -> Iterable[str]:
    from cartographer.query import deep as below
    from cartographer.query import where_text

    colours = ink()
    if deep:
        return where_text.text(answer, colours, everything=everything,
                               deep=lambda d: below.text(below.follow(reader, d.chain, d.backends[0]), colours))  # fmt: skip
    return where_text.text(answer, colours, everything=everything, deep=lambda d: below.brief(reader, d, colours))


@click.command("show", short_help="Everything about an operator.")
@click.argument("op", nargs=-1, required=True, metavar="OP", shell_complete=complete_operator)
@json_option
@atlas_option
def show_command(op: tuple[str, ...], as_json: bool, atlas: str | None) -> None:
    """Everything about OP: schema, names, registrations, what serves each key, kernels, the way back."""
    from cartographer.query import elsewhere, show

    with open_atlas(atlas) as reader:
        named, found = show.find(reader, typed(op))
        if as_json:
            put_json(show.as_json(named, found))
        else:
            put(show.text(named, found, ink(), elsewhere.of_keys(reader, found[0].dispatch).values()))


@click.command("search", short_help="Find anything by words of its name.")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", default=20, show_default=True, type=click.IntRange(1), help="How many answers.")
@click.option("--kind", "-k", "kinds", multiple=True, type=click.Choice(KINDS), metavar="KIND", help=f"Only this kind (may be repeated): {', '.join(KINDS)}.")
@json_option
@atlas_option
def search_command(words: tuple[str, ...], limit: int, kinds: tuple[str, ...], as_json: bool, atlas: str | None) -> None:
    """Find operators, Python names, bindings, Nodes, kernels, stubs, files and symbols by words of their names.

    A name as `where` takes it (F.softmax, x[mask], at::native::mul_out) leads to its operators too.
    """
    from cartographer.errors import NotFound, UsageError
    from cartographer.query import search

    text = typed(words)
    if not any(letter.isalnum() for letter in text):
        raise UsageError("no letter and no digit to search for", hint="for example: cartographer search caching allocator")
    with open_atlas(atlas) as reader:
        hits = search.search(reader, text, limit, kinds or KINDS)
        if not hits:
            from cartographer.query import operators
            from cartographer.query.reverse import unread

            if files := unread(reader, text) or unread(reader, f"{text}.py"):
                raise NotFound(f"no name that is read holds {text!r}", hint=f"the code of {', '.join(files[:3])} is not read, so nothing in it is found")
            near = operators.near_misses(reader.lookup, text)
            raise NotFound(f"no name holds {text!r}", hint=f"did you mean {', '.join(near)}?" if near else None)
        if as_json:
            put_json(search.as_json(hits))
        else:
            put(search.text(hits, ink()))
