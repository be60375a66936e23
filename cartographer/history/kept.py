# SPDX-License-Identifier: BSD-3-Clause
"""Keeps a dated tree on disk, so that asking again costs nothing."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from typing import TYPE_CHECKING, Any

import msgspec

from cartographer.history.slices import write_whole
from cartographer.model.atlas import Era, FileDates, Import, Strata

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "strata-5"  # to be counted up when dates come out differently


def place(folder: Path, *depends: object) -> Path:
    """The path at which the answer to a question is kept; `depends` is all that the answer depends on."""
    return folder / f"{hashlib.sha256(repr((FORMAT, depends)).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.strata"


def load(path: Path) -> Strata | None:
    """The dated tree that is kept at a path; None when there is none or it is damaged."""
    try:
        return unpack(zlib.decompress(path.read_bytes()))
    except (OSError, zlib.error, msgspec.MsgspecError, ValueError, TypeError, KeyError):
        return None


def save(path: Path, strata: Strata) -> None:
    """Keep a dated tree at a path, compressed."""
    write_whole(path, zlib.compress(pack(strata), 1))


def pack(strata: Strata) -> bytes:
    """Encode a dated tree as bytes."""
    files = [
        (f.path, f.born, f.changed, f.former_names, _numbers(n for run in f.runs for n in run))
        for f in strata.files.values()
    ]
    return msgspec.msgpack.encode({
        "level": strata.level, "reason": strata.reason, "commits": strata.commits, "files": files,
        "eras": [(e.name, e.first, e.last, e.evidence) for e in strata.eras], "boundary": strata.boundary,
        "releases": strata.releases, "first_release": strata.first_release, "imports": [_import(i) for i in strata.imports],
        "vendored": strata.vendored,
    })  # fmt: skip


def unpack(data: bytes) -> Strata:
    """The dated tree that `pack` encoded."""
    told: dict[str, Any] = msgspec.msgpack.decode(data)
    files = (
        FileDates(path, born, changed, tuple(names), _runs(runs))
        for path, born, changed, names, runs in told["files"]
    )
    return Strata(
        level=told["level"], reason=told["reason"], commits=tuple((name, day) for name, day in told["commits"]),
        files={file.path: file for file in files},
        eras=tuple(Era(name, first, last, tuple((*e,) for e in evidence)) for name, first, last, evidence in told["eras"]),
        boundary=tuple(told["boundary"]), releases=tuple(told["releases"]), first_release=tuple(told["first_release"]),
        imports=tuple(Import(*fields) for fields in told["imports"]), vendored=tuple(told["vendored"]),
    )  # fmt: skip


def _import(i: Import) -> tuple[Any, ...]:
    return (i.commit, i.date, i.kind, i.folder, i.files, i.lines, i.surviving, i.subject, i.reason, i.vendored)


def _numbers(numbers: Any) -> bytes:
    return array("i", numbers).tobytes()


def _runs(data: bytes) -> tuple[tuple[int, int], ...]:
    numbers = array("i", data)
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))
