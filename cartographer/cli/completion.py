# SPDX-License-Identifier: BSD-3-Clause
"""The command `completion`: how a shell learns the commands, options and operator names."""

from __future__ import annotations

import click

_LINES = {
    "bash": ("~/.bashrc", 'eval "$(_CARTOGRAPHER_COMPLETE=bash_source cartographer)"'),
    "zsh": ("~/.zshrc", 'eval "$(_CARTOGRAPHER_COMPLETE=zsh_source cartographer)"'),
    "fish": ("~/.config/fish/completions/cartographer.fish", "_CARTOGRAPHER_COMPLETE=fish_source cartographer | source"),
}


@click.command("completion", short_help="How to complete names in your shell.")
@click.argument("shell", type=click.Choice([*_LINES]), required=False)
def completion_command(shell: str | None) -> None:
    """Say which line makes SHELL complete commands, options and operator names."""
    for name, (file, line) in _LINES.items():
        if shell in {None, name}:
            click.echo(f"# {name}: add this line to {file}\n{line}")
