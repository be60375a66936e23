# SPDX-License-Identifier: BSD-3-Clause
"""The operator list of one release as plain values: what two releases are compared by."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the cache decodes by these annotations
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DerivativeRow:
    """An operator's row of derivatives.yaml: formulas by (dispatch key, argument), and the rest as written."""

    path: str
    line: int
    formulas: Mapping[str, str] = field(default_factory=dict)  # "Default self" -> text
    other: Mapping[str, str] = field(default_factory=dict)  # output_differentiability and keys unknown to us


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One overload as the yaml files of a release declare it, or as torchgen generates it."""

    name: str  # aten::add.Tensor
    schema: str  # as torch prints it, without the namespace
    path: str
    line: int
    generated: bool = False
    variants: tuple[str, ...] = ()
    python_module: str = ""
    tags: tuple[str, ...] = ()
    dispatch: Mapping[str, str] = field(default_factory=dict)  # the operator's own block: key -> kernel
    implied: bool = False  # the block is torchgen's default, nothing is written
    structured: bool = False
    structured_delegate: str = ""
    structured_inherits: str = ""
    autogen: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)  # every other yaml key, as written
    derivative: DerivativeRow | None = None
    python: tuple[str, ...] | None = None  # the Python names that the generators bind it to; None: not told
    namesakes: tuple[str, ...] = ()  # schemas of other overloads with the same full name, as releases before 1.3 had them


@dataclass(frozen=True, slots=True)
class Advice:
    """A place where PyTorch's Python says what to call instead of an operator: `linalg.eigh`, without `torch.`."""

    instead: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class OperatorList:
    """All operators of one release, with what is needed to compare it with another one."""

    version: str  # "2.11.0"
    tag: str
    commit: str | None
    web: str
    rows: Mapping[str, OperatorRow] = field(default_factory=dict)
    advice: Mapping[str, tuple[Advice, ...]] = field(default_factory=dict)  # base name -> what to call instead
    written: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # Python names that Python itself defines -> path, line
    keys: Mapping[str, str] = field(default_factory=dict)  # every name of a dispatch key -> its main name; empty: not told
