# SPDX-License-Identifier: BSD-3-Clause
"""Possessive groups mean the same on a Python that reads them wrongly."""

import re
import subprocess
import sys

import pytest

from cartographer import patterns
from cartographer.patterns import atomic, possessive


@pytest.mark.parametrize(("pattern", "meant"), [
    ("(?:ab?c)++", "(?>(?:ab?c)+)"),
    ("x(a(?:b|c++)*+d)?+y", "x(?>(a(?>(?:b|c++)*)d)?)y"),
    ("(?>ab)++", "(?>(?>ab)+)"),
    ("(a){2,3}+b{2}+", "(?>(a){2,3})b{2}+"),
    (r"\((?:[)(\]]|\))*+[^])]", r"\((?>(?:[)(\]]|\))*)[^])]"),
    ("(?s)(?=(a))#(b)*+", "(?s)(?=(a))#(?>(b)*)"),
    ("(?#a (comment)b(?:c)?+", "(?#a (comment)b(?>(?:c)?)"),
    ("(a)+(b)?(c)*", "(a)+(b)?(c)*"),
])  # fmt: skip
def test_a_possessive_group_becomes_an_atomic_one(pattern, meant):
    assert atomic(pattern) == meant
    assert re.compile(meant).groups == re.compile(pattern).groups


def test_brackets_in_the_comments_of_a_verbose_pattern_are_none():
    assert atomic("(?:a # one)\n | b)*+", verbose=True) == "(?>(?:a # one)\n | b)*)"


@pytest.mark.parametrize("broken", [True, False])
def test_both_forms_match_alike(monkeypatch, broken):
    monkeypatch.setattr(patterns, "BROKEN", broken)
    if not broken and re.match("(?:ab?c)++", "aca").end() != 2:
        pytest.skip("this Python reads possessive groups wrongly")
    assert possessive("(?:ab?c)++").match("aca").span() == (0, 2)
    assert possessive(rb"(?:ab?c|\xe9)*+(d)").match(b"ac\xe9acd").groups() == (b"d",)
    assert possessive("(?:a|ab)++c").match("abc") is None
    assert possessive("(?: a | b )*+ c", re.VERBOSE).match("abac").end() == 4


EVERY_MODULE = """
import pkgutil, re
from re import _compiler, _parser
import cartographer
from cartographer import patterns

compiled = []
really = re.compile
re.compile = lambda pattern, flags=0: compiled.append((pattern, flags)) or really(pattern, flags)
patterns.BROKEN = True
for module in pkgutil.walk_packages(cartographer.__path__, "cartographer."):
    if not module.name.endswith("__main__"):
        __import__(module.name)


def possessive(parsed):
    for op, given in parsed:
        if op is _parser.POSSESSIVE_REPEAT and not _compiler._simple(given[2]):
            yield op
        for part in given if isinstance(given, (tuple, list)) else ():
            for inner in part if isinstance(part, list) else [part]:
                if isinstance(inner, _parser.SubPattern):
                    yield from possessive(inner)


print(len(compiled) > 100, [p for p, flags in compiled if any(possessive(_parser.parse(p, flags)))])
"""


def test_no_module_compiles_a_possessive_group_where_they_are_broken():
    """Every module is imported as on such a Python, and what it compiles is looked at as `re` reads it."""
    found = subprocess.run([sys.executable, "-c", EVERY_MODULE], capture_output=True, text=True, check=True)
    assert found.stdout == "True []\n"
