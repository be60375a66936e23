# SPDX-License-Identifier: BSD-3-Clause
"""Over a real tree: every registration by hand stands on a line that names its operator, and next to nothing is open."""

import os
from pathlib import Path

import pytest

from cartographer.checkout.cache import Cache
from cartographer.checkout.open import SourceRequest, open_tree
from cartographer.model.operator import Origin
from cartographer.pipeline.building import read_atlas
from cartographer.progress import SilentProgress

ROOT = os.environ.get("CARTOGRAPHER_TORCH_TREE", "")
pytestmark = [pytest.mark.torch_tree, pytest.mark.skipif(not ROOT, reason="CARTOGRAPHER_TORCH_TREE is not set")]


@pytest.fixture(scope="module")
def atlas():
    request = SourceRequest(source=ROOT)
    return read_atlas(open_tree(request, SilentProgress()), Cache(request.cache), SilentProgress())


def places(operators):
    for operator in operators:
        if operator.origin in (Origin.LIBRARY, Origin.PYTHON):
            yield operator, operator.declared
        for registration in operator.registrations:
            if registration.origin in (Origin.LIBRARY, Origin.PYTHON) and registration.place is not None:
                yield operator, registration.place


def test_the_line_of_a_registration_names_the_operator(atlas):
    files = {}
    wrong, seen = [], 0
    for operator, place in places(atlas.operators):
        if place.path not in files:
            files[place.path] = (Path(ROOT) / place.path).read_text(encoding="utf-8", errors="replace").split("\n")
        line = files[place.path][place.line - 1]
        base = operator.base.rstrip("_")
        # Functions that define an operator may leave its prefix or suffix to a decorator: special_, linalg_, _copy.
        if not any(name in line for name in (base, base.removesuffix("_copy"), base.partition("_")[2] or base)):
            wrong.append(f"{operator.name} {place}: {line.strip()[:60]}")
        seen += 1
    assert seen > 1000
    assert wrong == []


def test_next_to_nothing_is_unresolved(atlas):
    open_ones = [u for u in atlas.unresolved if u.stage == "dispatch"]
    assert len(open_ones) <= 0.002 * len(atlas.operators) + 2, [f"{u.subject}: {u.reason}" for u in open_ones]


def test_every_operator_is_served_somewhere(atlas):
    stock = [o for o in atlas.operators if not o.build]
    assert len({o.namespace for o in stock}) > 5
    unserved = [o.name for o in stock if o.dispatch and all(words == "missing" for words in o.dispatch.values())]
    assert unserved == []
