# SPDX-License-Identifier: BSD-3-Clause
"""A CMake file is split into its commands."""

import time

import pytest

from cartographer.scan.cmake import commands


@pytest.mark.parametrize(("text", "found"), [
    ("Set(A b)\n# set(C d)\nendif()", [("set", ["A", "b"]), ("endif", [])]),
    ('if(NOT (A AND "B"))', [("if", ["NOT", "(", "A", "AND", '"B"', ")"])]),
    ('set(A "b c" # d e\n f\\ g)', [("set", ["A", "b c", "f\\ g"])]),
    ("set(A [[b ) c]] [=[d ]] e]=] #[[ f ]] g)", [("set", ["A", "b ) c", "d ]] e", "g"])]),
    ("#[==[ set(A b) ]] set(C d) ]==] set(E f)", [("set", ["E", "f"])]),
    ("#[[ without end\nset(A b)", [("set", ["A", "b"])]),
    ("set(A [[b)", [("set", ["A", "[[b"])]),
    ("set(A b", [("set", ["A", "b"])]),
    ('set(A "b', [("set", ["A"])]),
])
def test_commands_and_their_arguments(text, found):
    assert [(command.name, command.arguments) for command in commands(text)] == found


def test_arguments_know_where_they_stand():
    text = 'set(\n  A\n  "b"\n  [[c]])'
    (command,) = commands(text)
    assert [text.count("\n", 0, offset) + 1 for offset in command.offsets] == [2, 3, 4]


@pytest.mark.parametrize("piece", ["a([[", "#[[", "a([=[ ", "#[=[", 'a("'])
def test_what_has_no_end_is_looked_for_once(piece):
    start = time.process_time()
    list(commands(piece * 100_000))
    assert time.process_time() - start < 5
