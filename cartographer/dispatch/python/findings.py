# SPDX-License-Identifier: BSD-3-Clause
"""Follows `import torch` and returns what it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.dispatch.findings import Findings
from cartographer.dispatch.python.execute import Interpreter
from cartographer.dispatch.python.imports import Sources
from cartographer.dispatch.python.natives import builtins, native_modules
from cartographer.dispatch.python.values import OutOfStepsError
from cartographer.model.atlas import Unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cartographer.dispatch.python.world import World


def python_findings(texts: Mapping[str, bytes], world: World, switch: Callable[[str], bool | None]) -> Findings:
    """The registrations that Python makes when torch is imported; `texts` holds every .py file of torch/ by path, `world` the
    dispatcher as C++ leaves it, `switch(name)` whether the stock build has a part such as "mkldnn".
    """
    sources = Sources(texts)
    if sources.path("torch") is None:
        note = Unresolved("dispatch", "import torch", "this source has no torch/__init__.py")
        return Findings(unresolved=(note,))
    run = Interpreter(sources, world, builtins(), native_modules(), switch)
    try:
        run.import_module("torch")
    except OutOfStepsError:
        run.notes.append(Unresolved("dispatch", "import torch", "following the import took too long; later modules are not seen"))
    return Findings(tuple(world.defined), tuple(world.registered), tuple(world.fallbacks), (), tuple(run.notes))
