# SPDX-License-Identifier: BSD-3-Clause
"""The `cartographer` command. One module holds one group of commands; it is imported when its command is asked for.

To add a command: write it in a module here, and name it in COMMANDS.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from cartographer import __version__
from cartographer.errors import CartographerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Command -> the module that holds it, in the order of the help text.
COMMANDS = {
    "build": "building",
    "where": "asking",
    "show": "asking",
    "search": "asking",
    "diff": "comparing",
    "history": "comparing",
    "coverage": "covering",
    "strata": "dating",
    "guide": "guiding",
    "line": "guiding",
    "verify": "covering",
    "export": "exporting",
    "serve": "serving",
    "list": "keeping",
    "clean": "keeping",
    "completion": "completion",
}
PROGRAM = "cartographer"
_LONGEST = 400  # characters of one word in an error
_COMPLETE = "_CARTOGRAPHER_COMPLETE"


class Commands(click.Group):
    """A group of commands, each imported only when it is used, so that a look-up does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(f"cartographer.cli.{module}"), f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name=PROGRAM)
@click.option("--debug", is_flag=True, help="Keep the traceback of an error (anywhere on the command line).")
def commands(debug: bool) -> None:
    """An atlas of the PyTorch source: every operator, from its Python name to the kernel on the chip.

    \b
    Build one:  cartographer build v2.11.0
    Try it:     cartographer build --demo
    Look up:    cartographer where index_select
    Browse:     cartographer serve

    The demo takes seconds and no network.
    """  # noqa: D301 - \b is click's sign for lines that stay apart


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code: 0, 1 (not found, failed), 2 (wrong usage), 130 (Ctrl-C)."""
    _open_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words[: words.index("--")] if "--" in words else "--debug" in words
    words = [word for word in words if word != "--debug"]
    sys.exit(_run(_command_first(words), debug=debug))


def _command_first(words: list[str]) -> list[str]:
    """`-a v2.6.0 where add` as `where -a v2.6.0 add`: which atlas is asked may be said before the question."""
    number = 2 if words[:1] in (["-a"], ["--atlas"]) else 1 if words and words[0].startswith("--atlas=") else 0
    return [words[number], *words[:number], *words[number + 1 :]] if number and words[number:] and not words[number].startswith("-") else words


def _open_streams() -> None:
    """A shell may have closed them (`>&-`): the next file that is opened must not take their place, and writing must not fail."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _run(words: list[str], *, debug: bool) -> int:
    try:
        return _invoke(words)
    except (Exception, KeyboardInterrupt) as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        code = _code_of(error)
        if code is None:  # a fault of ours keeps its traceback
            raise
        return code


def _invoke(words: list[str]) -> int:
    if _COMPLETE in os.environ:  # click answers the shell and leaves
        commands.main(args=words, prog_name=PROGRAM, complete_var=_COMPLETE)
    try:
        Path.cwd()
    except OSError as error:
        raise CartographerError("the folder that this was called in is gone", hint="change to another one") from error
    if any("\0" in word for word in words):  # no shell can send it, a program may
        raise UsageError("a word with a NUL byte")
    try:
        with commands.make_context(PROGRAM, words) as context:
            code = commands.invoke(context)
    except click.exceptions.Exit as leaving:  # --help, --version
        code = leaving.exit_code
    sys.stdout.flush()
    return code if isinstance(code, int) else 0  # a command may give an exit code of its own


def _code_of(error: BaseException) -> int | None:
    """Tell what happened, and the exit code; None for what should not have happened."""
    match error:
        case CartographerError():
            tell(error)
            return error.exit_code
        case click.ClickException():
            message = error.format_message()
            if _shown(message) == message:
                error.show()
            else:
                _say(f"error: {_shown(message)}")
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            if sys.stderr.isatty():
                click.echo(err=True)  # the terminal has written ^C
            _say("stopped")
            return 130
        case OSError():  # the disk, a permission, a full device: the machine's fault and not ours
            if not isinstance(error, BrokenPipeError):  # whoever read our output has gone: nobody is left to be told
                tell(CartographerError(error.strerror or str(error), where=error.filename, hint="--debug shows where it happened"))
            _let_go()
            return 1
    return None


def _let_go() -> None:
    """What is still to be written and has no place to go must not fail once more when Python leaves."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(error: CartographerError, subject: str = "") -> None:
    """Print an error to standard error: what happened, to what, where, and what to do next."""
    from cartographer.query.ink import Ink

    ink = Ink.for_stream(sys.stderr)
    place = (f"{subject}: " if subject else "") + (f"{error.where}: " if error.where else "")
    _say(f"{ink.bad('error:')} {_shown(place + error.message)}")
    if error.hint:
        for line in error.hint.splitlines():
            click.echo(f"  {_shown(line)}", err=True)


def _shown(text: str) -> str:
    """What came from elsewhere, so that it neither floods nor steers a terminal."""
    import re

    short = re.sub(rf"\S{{{_LONGEST},}}", lambda word: f"{word[0][: _LONGEST // 2]}…{word[0][-_LONGEST // 4 :]}", text)
    return short if short.isprintable() else "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in short)


def _say(text: str) -> None:
    click.echo(f"{PROGRAM}: {text}", err=True)
