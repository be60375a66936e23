# SPDX-License-Identifier: BSD-3-Clause
"""An abridged text gives the same facts as the whole one, on the same lines."""

import pytest

from cartographer.model.fact import FileFacts
from cartographer.scan import python
from cartographer.scan.abridge import abridged
from cartographer.scan.python import scan_python


def text_of(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def read_whole(data: bytes, monkeypatch: pytest.MonkeyPatch) -> FileFacts:
    with monkeypatch.context() as patched:
        patched.setattr(python, "abridged", lambda text: text)
        return scan_python(data)


def test_statements_in_which_nothing_is_looked_for_go() -> None:
    whole = text_of(
        "def f(a,", "      b):", "    '''Says", "def nothing(): pass'''", "    if a:", "        g(", "a)", "    else:", "        h()", "    return b",
        "", "x = f(1)",
    )
    assert abridged(whole) == text_of("def f(a,", "      b):", "", "", "", "", "", "", "", "    0", "", "x = f(1)")


def test_what_is_looked_for_stays_with_the_blocks_around_it() -> None:
    kept = text_of(
        "def f():", "    0", "    if x:", "        import a", "        0", "    elif y: from b import c", "    else:", "        0",
        "    def g():", "        0", "    0", "    lib.impl('x', f)", "    0",
    )
    whole = kept.replace(b"        0\n", b"        y = [1,2]\n").replace(b"    0\n", b"    z(1)\n")
    assert abridged(whole) == kept


def test_comments_between_definitions_go_but_not_those_that_end_a_block() -> None:
    whole = text_of("# one", "# two", "class A:", "    # three", "    def f(self):", "        0", "        # last line of f", "    # four", "", "    x = 1")
    assert abridged(whole) == text_of(
        "", "", "class A:", "", "    def f(self):", "        0", "        # last line of f", "    # four", "", "    x = 1",
    )


UNUSUAL = {
    "a tab": text_of("def f():", "\tg()", "\th()"),
    "another line end": b"def f():\r\n    g()\r\n    h()\r\n",
    "not UTF-8": b"def f():\n    g('\xff')\n    h()\n",
    "open brackets": text_of("def f():", "    g(", "    h()"),
    "an open string": text_of("def f():", "    g('", "    h()"),
    "deep brackets": text_of("def f():", f"    g({'(' * 30}1{')' * 30})", "    h()"),
    "no last line end": b"def f():\n    g()",
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_left_as_it_is(name: str) -> None:
    assert abridged(UNUSUAL[name]) == UNUSUAL[name]


HARD = text_of(
    '"""def not_one(): pass"""', "import os; import sys", "@decorated(", "    1)", "# a comment", "async def f(a: int = (1,", "    2)) -> int:  # why",
    "    r'''\\", "def no(): '''", "    a = 1; import b", "    x = y \\", "        + z", "    if a: from c import d", "    try:", "        g('''", "x''')",
    "    # a comment", "    except E:", "        pass", "    else:", "        class L(Base):", "            z = 1", "            def m(self): return {", "1: 2}",
    "        for i in j:", "            k.register_it(i)", "    with a as b:", "        async with c:", "            return [", "    ]", "    # the last line of f",
    "class A:", "    '''Says.'''", "    # of g", "    def g(self):", "        return 1", "", "    y = h(", "        1, # one", "        2)",
    "lib.define('x')", "if x:", "    def p():", "        q()", "# the end",
)


def test_the_facts_are_those_of_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(abridged(HARD)) < len(HARD)
    assert abridged(HARD).count(b"\n") == HARD.count(b"\n")
    facts = scan_python(HARD)
    assert facts == read_whole(HARD, monkeypatch)
    assert {d.qualname: d.end for d in facts.definitions} == {
        "f": 31, "f.L": 24, "f.L.m": 24, "A": 40, "A.g": 36, "p": 44}
    assert {i.target for i in facts.includes} == {"os", "sys", "b", "c"}


def test_facts_of_any_part_are_those_of_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text may end or begin anywhere: what makes no sense to the grammar is read whole."""
    lines = HARD.splitlines(keepends=True)
    for cut in range(len(lines)):
        for part in (b"".join(lines[:cut]), b"".join(lines[cut:])):
            whole = read_whole(part, monkeypatch)
            if not whole.error_nodes:
                assert scan_python(part) == whole
