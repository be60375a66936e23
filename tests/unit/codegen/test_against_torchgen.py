# SPDX-License-Identifier: BSD-3-Clause
"""The referee: the generators of a real tree, asked about every operator, must say what we derive."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cartographer.codegen.operators import derive
from cartographer.codegen.sources import matches
from cartographer.declare import declarations

pytestmark = [
    pytest.mark.torch_tree,
    pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set"),
    pytest.mark.skipif(importlib.util.find_spec("typing_extensions") is None, reason="torchgen needs typing_extensions"),
]


@pytest.fixture(scope="module")
def said_and_derived():
    root = Path(os.environ["CARTOGRAPHER_TORCH_TREE"])
    if not (root / "torchgen/gen.py").exists():
        pytest.skip("a tree without torchgen")
    script = Path(__file__).with_name("torchgen_says.py")
    run = subprocess.run([sys.executable, "-B", str(script), str(root)], capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"this release's torchgen does not run here: {run.stderr[-200:]}")
    paths = [p.relative_to(root).as_posix() for f in ("torchgen", "tools/autograd", "torch/csrc/autograd")
             for p in (root / f).rglob("*") if p.is_file()]
    declared = declarations.load({p: (root / p).read_bytes() for p in declarations.WANTED if (root / p).exists()})
    operators = derive(declared, {p: (root / p).read_bytes() for p in paths if matches(p)})
    return json.loads(run.stdout), {o.name.removeprefix("aten::"): o for o in operators}


def differences(said, derived, theirs, ours):
    return {n: (theirs(said[n]), ours(derived[n])) for n in said if theirs(said[n]) != ours(derived[n])}


def test_names_and_tags(said_and_derived):
    said, derived = said_and_derived
    assert set(said) == set(derived)
    assert differences(said, derived, lambda s: s["tags"], lambda o: list(o.tags)) == {}
    assert differences(said, derived, lambda s: s["generated"], lambda o: o.origin.value == "generated") == {}


def test_registrations(said_and_derived):
    assert differences(*said_and_derived, lambda s: sorted(set(s["keys"])),
                       lambda o: sorted({r.key for r in o.registrations})) == {}


def test_nodes(said_and_derived):
    assert differences(*said_and_derived, lambda s: sorted(set(s["nodes"])), lambda o: sorted(o.autograd.nodes)) == {}


def test_bindings(said_and_derived):
    assert differences(
        *said_and_derived, lambda s: sorted({tuple(b) for b in s["bindings"]}),
        lambda o: sorted({(b.python, b.deprecated) for b in o.bindings if b.place is None})) == {}
