# SPDX-License-Identifier: BSD-3-Clause
"""`guide` and `line` as commands, in a small atlas where most of the guide does not hold."""

from __future__ import annotations

import json

from click.testing import CliRunner

from cartographer.cli import commands


def run(folder, *words, columns=80):
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(commands, [*words, "--atlas", str(folder)], standalone_mode=False)


def test_check_lists_what_does_not_hold_and_fails(folder):
    done = run(folder, "guide", "--check")
    assert done.return_value == 1
    lines = done.output.splitlines()
    assert any("floors/7-the-queue: {path:c10/cuda/CUDAStream.h}" in line for line in lines)
    assert lines[-1].endswith(f"{len(lines) - 1} stale in v2.6.0") or "not in v" in lines[-1]
    told = json.loads(run(folder, "guide", "--check", "--json").output)
    assert len(told["stale"]) == len(lines) - 1
    assert told["not_in_a_wheel"] == []


def test_the_list_of_pages(folder):
    done = run(folder, "guide")
    assert done.exit_code == 0
    assert "floor    floors/4-the-dispatcher      Floor 4: the dispatcher and its layers" in done.output


def test_every_line_prints_in_the_width_of_the_terminal(folder):
    for colour in ("blue", "orange", "green", "grey"):
        done = run(folder, "line", colour)
        assert done.exit_code == 0
        long = [line for line in done.output.splitlines() if len(line) > 80 and len(line.split()) > 1]
        assert long == [], colour
        assert "{" not in done.output.replace("{}", ""), "no anchor is left as written"
        assert "**" not in done.output


def test_places_of_an_operator_in_any_spelling(folder):
    done = run(folder, "guide", "--places", "torch.add")
    assert done.exit_code == 0
    assert done.output.startswith("   yaml row")
    told = json.loads(run(folder, "guide", "--places", "add.Tensor", "--json").output)
    assert {"what", "name", "path", "line"} == set(told[0])
    missing = run(folder, "guide", "--places", "sofmax")
    assert missing.exit_code != 0
