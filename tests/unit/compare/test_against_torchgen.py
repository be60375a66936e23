# SPDX-License-Identifier: BSD-3-Clause
"""The referee: torchgen of a real tree must read the operator list as we do, field by field."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cartographer.checkout.open import SourceRequest
from cartographer.pipeline.lists import operators_of
from cartographer.progress import SilentProgress

pytestmark = [
    pytest.mark.torch_tree,
    pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set"),
    pytest.mark.skipif(importlib.util.find_spec("typing_extensions") is None, reason="torchgen needs typing_extensions"),
]


def test_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path))
    root = os.environ["CARTOGRAPHER_TORCH_TREE"]
    run = subprocess.run([sys.executable, "-B", str(Path(__file__).with_name("torchgen_rows.py")), root], capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"this release's torchgen does not run here: {run.stderr[-200:]}")
    said = json.loads(run.stdout)
    rows = operators_of(SourceRequest(source=root), SilentProgress()).rows
    assert said.keys() == rows.keys()
    for name, row in rows.items():
        ours = {"schema": row.schema, "line": row.line, "generated": row.generated, "variants": sorted(row.variants), "python_module": row.python_module,
                "dispatch": dict(row.dispatch), "structured": row.structured, "structured_delegate": row.structured_delegate,
                "structured_inherits": row.structured_inherits, "autogen": sorted(row.autogen), "ufunc": "ufunc_inner_loop" in row.flags}  # fmt: skip
        theirs = dict(said[name])
        if theirs["ufunc"]:  # kernels that torchgen writes around an inner loop stand in no block; compare.registrations adds their keys
            theirs["dispatch"] = {key: kernel for key, kernel in theirs["dispatch"].items() if key in ours["dispatch"]}
        assert ours == theirs, name
