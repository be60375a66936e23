# SPDX-License-Identifier: BSD-3-Clause
"""Reads the operator list of a PyTorch without building an atlas, to compare releases. Lists are kept in the cache by content."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING

import msgspec

from cartographer.checkout.cache import Cache
from cartographer.checkout.open import open_tree
from cartographer.codegen import sources as generators
from cartographer.compare import advice
from cartographer.makers import sources_digest
from cartographer.model.oplist import Advice, OperatorList, OperatorRow

if TYPE_CHECKING:
    from cartographer.checkout.open import SourceRequest
    from cartographer.codegen.operators import Functions
    from cartographer.model.source import SourceInfo, Tree
    from cartographer.progress import Progress

KIND = "lists"  # the folder in the cache
_YAML = ("aten/src/ATen/native/native_functions.yaml", "aten/src/ATen/native/tags.yaml", "tools/autograd/derivatives.yaml", "tools/autograd/deprecated.yaml")
# What a list is made by: a change of one of these sources must not meet lists of before.
MAKERS = ("declare/*.py", "codegen/*.py", "compare/rows.py", "compare/advice.py", "model/*.py", "pipeline/lists.py")
READERS = ("pyyaml",)  # and by which libraries


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """What depends on the content of the files alone."""

    rows: tuple[OperatorRow, ...]
    advice: dict[str, tuple[Advice, ...]]
    written: dict[str, tuple[str, int]]


def operators_of(request: SourceRequest, progress: Progress) -> OperatorList:
    """The operator list of the PyTorch that a request names; only the files that declare operators are read."""
    cache = Cache(request.cache)
    with cache.in_use(progress):
        return list_of_tree(open_tree(request, progress, only=is_wanted), cache)


def list_of_tree(tree: Tree, cache: Cache | None = None, functions: Functions | None = None) -> OperatorList:
    """The operator list of an open tree: from the cache when it has one for these files, else read anew (from `functions` when given)."""
    cache = cache or Cache()
    name = _digest(tree) + ".msgpack"
    kept = _decoded(cache.read(KIND, name))
    if kept is None:
        made = _made(tree, functions)
        kept = _Kept(tuple(made.rows.values()), dict(made.advice), dict(made.written))
        cache.keep(zlib.compress(msgspec.msgpack.encode(kept), 1), KIND, name)
    info: SourceInfo = tree.info
    return OperatorList(info.version, info.tag, info.commit, info.web, {row.name: row for row in kept.rows}, kept.advice, kept.written)


def _made(tree: Tree, functions: Functions | None) -> OperatorList:
    from cartographer.codegen import operators as codegen
    from cartographer.compare.rows import operator_list
    from cartographer.declare import declarations

    if functions is None:
        files = dict(tree.read_many(sorted(f.path for f in tree.files() if is_wanted(f.path))))
        declared = declarations.load({path: files[path] for path in declarations.WANTED if path in files})
        functions = codegen.Functions(declared, {path: data for path, data in files.items() if generators.matches(path)})
    texts = dict(tree.read_many(sorted(f.path for f in tree.files() if advice.WANTED.fullmatch(f.path))))
    listed = codegen.listed_of(functions)
    return operator_list(tree.info, functions.declarations, *listed, advice.advice_in(texts), advice.written_in(texts))


def _decoded(data: bytes | None) -> _Kept | None:
    """What the cache gave; None when it gave nothing or something damaged."""
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=_Kept)
    except (zlib.error, msgspec.MsgspecError, ValueError, RecursionError):
        return None


def is_wanted(path: str) -> bool:
    """Whether an operator list is made from this file, among others."""
    return path in _YAML or generators.matches(path) or advice.WANTED.fullmatch(path) is not None


def _digest(tree: Tree) -> str:
    """Of the wanted files' names and blobs, and of our own makers."""
    digest = hashlib.sha256(sources_digest(*MAKERS, packages=READERS).encode())
    for file in tree.files():
        if is_wanted(file.path):
            digest.update(f"{file.path} {file.blob}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:40]
