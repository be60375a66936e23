# SPDX-License-Identifier: BSD-3-Clause
"""Small PyTorch-like sources as facts, for the tests of this folder."""

from cartographer.link.chains import ChainMaker
from cartographer.link.tree import tree_of
from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin, Registration
from cartographer.scan.depth import with_bodies
from cartographer.scan.one import scan_file

N = "aten/src/ATen/native/"
HEADS = {
    "aten/src/ATen/TensorMeta.h": "#define TORCH_IMPL_FUNC(name) void structured_##name::impl\n"
    "#define TORCH_META_FUNC(name) void structured_##name::meta\n",
}


def operator(schema, key="", kernel="", origin=Origin.YAML, outcome="kernel", **more):
    """An operator with one registration that serves CPU, CUDA and MPS."""
    keys = key.split(", ") if key else []
    served = [k for k in keys if k in ("CPU", "CUDA", "MPS", "Meta", "QuantizedCUDA")] or ["CPU", "CUDA", "MPS"]
    return Operator(
        "aten::" + schema.partition("(")[0], "aten::" + schema, more.pop("declared_origin", Origin.YAML), Location(N + "native_functions.yaml", 1),
        registrations=tuple(Registration(k, kernel, origin, place=more.get("place")) for k in keys),
        dispatch=dict.fromkeys(served, outcome) if keys else {},
        variants=more.get("variants", ("function", "method")),
        **{k: v for k, v in more.items() if k not in ("place", "variants")},
    )


def made(files, *operators):
    """A chain maker over files given as text, scanned as deep as a build scans them, and the operators by name."""
    texts = {**HEADS, **files}
    facts = {path: scan_file(path, text.encode(), bodies=with_bodies(path)) for path, text in texts.items()}
    tree = tree_of(operators, facts, texts.get, lambda path: scan_file(path, texts[path].encode()))
    return ChainMaker(tree), {o.name: o for o in operators}


def steps(files, *operators, key="CUDA"):
    """(role, symbol, line) of the steps of the first operator's chain."""
    maker, _ = made(files, *operators)
    return [(s.role, s.symbol.rsplit("::", 1)[-1], s.line) for s in maker.chain(operators[0], key).steps]
