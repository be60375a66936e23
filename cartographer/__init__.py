# SPDX-License-Identifier: BSD-3-Clause
"""An atlas of the PyTorch source: every operator, from its Python name to the kernel on the chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from cartographer.model.change import Comparison
    from cartographer.pipeline.building import BuildRequest
    from cartographer.progress import Progress
    from cartographer.query.atlas import Atlas

__version__ = "0.1.0"
__all__ = ["Atlas", "__version__", "build_atlas", "compare", "open_atlas"]


def __getattr__(name: str) -> object:
    """Import `Atlas` when it is asked for: the command line starts without it."""
    if name == "Atlas":
        from cartographer.query.atlas import Atlas

        return Atlas
    raise AttributeError(f"module 'cartographer' has no attribute {name!r}")


def open_atlas(path: str | os.PathLike[str] | None = None) -> Atlas:
    """Open the atlas at a folder or database, or the newest one of this machine."""
    from cartographer.query.atlas import Atlas

    return Atlas.open(path)


def build_atlas(request: BuildRequest, progress: Progress | None = None) -> Atlas:
    """Build an atlas and open it (see `cartographer.pipeline.building`)."""
    from cartographer.pipeline.building import build
    from cartographer.query.atlas import Atlas

    return Atlas.open(build(request, progress))


def compare(old: str, new: str, *, repo: str | None = None) -> Comparison:
    """All changes between two PyTorches: tags, atlases, unpacked trees or wheels."""
    from cartographer.pipeline.releases import compare_releases

    return compare_releases(old, new, repo=repo)
