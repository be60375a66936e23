# SPDX-License-Identifier: BSD-3-Clause
"""Over the whole of a real tree: every step stands where it says, and next to nothing is left open."""

import os
import re
from pathlib import Path

import pytest

from cartographer.checkout.cache import Cache
from cartographer.checkout.open import SourceRequest, open_tree
from cartographer.model.operator import Status
from cartographer.pipeline.building import read_atlas
from cartographer.progress import SilentProgress

ROOT = os.environ.get("CARTOGRAPHER_TORCH_TREE", "")
pytestmark = [pytest.mark.torch_tree, pytest.mark.skipif(not ROOT, reason="CARTOGRAPHER_TORCH_TREE is not set")]
_MACRO_USE = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_ARGUMENT = re.compile(r"[A-Za-z_]\w+")


@pytest.fixture(scope="module")
def atlas():
    request = SourceRequest(source=ROOT)
    return read_atlas(open_tree(request, SilentProgress()), Cache(request.cache), SilentProgress())


@pytest.fixture(scope="module")
def lines():
    known = {}

    def of(path):
        if path not in known:
            known[path] = (Path(ROOT) / path).read_text(encoding="utf-8", errors="replace").split("\n")
        return known[path]

    return of


def names(symbol):
    """The words of which one must stand on the line: the last name, or the class before it."""
    macro = re.match(r"([A-Z]\w*)\(", symbol)
    if macro:
        return [macro[1]]
    depth, plain = 0, ""
    for char in symbol:
        depth += (char == "<") - (char == ">")
        plain += char if depth == 0 and char != ">" else ""
    parts = [p.removeprefix("structured_") for p in re.split(r"::|\.", plain) if p]
    if parts[-1] == "operator()":
        return ["operator"]
    return [parts[-1], *parts[-2:-1]]


def holds(step, text):
    if step.symbol == "lambda":
        return "[" in text or "^" in text or "body of" in step.note or "made by" in step.note
    if "written as " in step.note:
        return step.note.partition("written as ")[2].partition(";")[0] in text
    if any(name in text for name in names(step.symbol)):
        return True
    made = re.search(r"(?:made by|in the body of) (\w+)", step.note)
    if made is not None and (made[1] in text or any(word in step.symbol for word in _ARGUMENT.findall(text))):
        return True
    if "Metal" in step.note and any(len(word) > 3 and step.symbol.startswith(word) for word in _ARGUMENT.findall(text)):
        return True  # a host name, put together from the function's
    written = re.match(r"written by the build: (\w+)", step.note)
    if written is not None and written[1] in text:
        return True
    use = _MACRO_USE.search(text)
    return use is not None and any(a in step.symbol for a in _ARGUMENT.findall(text[use.end():]))


def test_each_step_stands_on_the_line_that_holds_it(atlas, lines):
    wrong = {}
    for operator in atlas.operators:
        for key, chain in operator.kernels.items():
            for step in chain.steps:
                text = lines(step.path)
                if not 1 <= step.line <= len(text) or not holds(step, text[step.line - 1]):
                    wrong[step.role, step.symbol, step.path, step.line] = f"{operator.name} {key}"
    assert wrong == {}


@pytest.mark.parametrize("key", ["CUDA", "CPU", "MPS"])
def test_next_to_nothing_is_left_open(atlas, key):
    found = [o.kernels[key] for o in atlas.operators if key in o.kernels]
    left = [c.reason for c in found if c.status is Status.UNRESOLVED]
    assert len(left) < 0.01 * len(found), left[:20]


def test_every_answer_gives_its_reason_or_its_steps(atlas):
    for operator in atlas.operators:
        for key, chain in operator.kernels.items():
            assert chain.steps if chain.status is Status.RESOLVED else chain.reason, (operator.name, key)


def test_chains_are_paths_and_not_heaps(atlas):
    lengths = sorted(len(c.steps) for o in atlas.operators for c in o.kernels.values() if c.steps)
    assert lengths[len(lengths) // 2] <= 7
    assert lengths[int(0.99 * len(lengths))] <= 20
