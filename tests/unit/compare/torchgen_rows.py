# SPDX-License-Identifier: BSD-3-Clause
"""Run in a process of its own by test_against_torchgen: the operator list as torchgen itself reads it, as JSON."""

import json
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
NATIVE = ROOT / "aten/src/ATen/native"
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT)]

import torchgen.gen as gen  # noqa: E402, PLR0402

parsed = gen.parse_native_yaml(str(NATIVE / "native_functions.yaml"), str(NATIVE / "tags.yaml"))
said = {}
for f in parsed.native_functions:
    kernels = {str(key): index.index[f.func.name].kernel for key, index in parsed.backend_indices.items() if f.func.name in index.index}
    said[f"aten::{f.func.name}"] = {
        "schema": str(f.func), "line": f.loc.line, "generated": "generated" in f.tags, "variants": sorted(v.name for v in f.variants),
        "python_module": f.python_module or "", "dispatch": kernels, "structured": f.structured, "structured_delegate": str(f.structured_delegate or ""),
        "structured_inherits": f.structured_inherits or "", "autogen": sorted(map(str, f.autogen)), "ufunc": bool(f.ufunc_inner_loop),
    }
json.dump(said, sys.stdout)
