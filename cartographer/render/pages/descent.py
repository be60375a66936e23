# SPDX-License-Identifier: BSD-3-Clause
"""The descent of one call, floor by floor: the main figure of an operator's page.

Every stop has a receipt in the source. Stops that are the same for every operator (the dispatcher's entry, the
allocator, the stream) are marked so; they are looked up among the atlas' own symbols and left out when not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.backend import MAIN, device_of_key
from cartographer.model.operator import Origin, Status
from cartographer.model.recorded import COMPOSED, recorded
from cartographer.render.landmarks import landmark
from cartographer.render.pages.chains import ROLES, address_of, note_of
from cartographer.render.pages.ladder import ladder_of
from cartographer.render.pages.stop import Stop
from cartographer.render.pages.surface import border_stops, python_stops, your_line
from cartographer.render.terrain import FLOORS

if TYPE_CHECKING:
    from cartographer.model.operator import Operator, Step
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class Floor:
    """One floor of the section, with the stops on it."""

    number: int
    name: str
    stops: tuple[Stop, ...]
    last: bool = False


_OTHERS = ("QuantizedCPU", "SparseCPU")


def backend_of(op: Operator) -> str:
    """The backend whose chain the descent follows: the one whose chain goes deepest, CUDA before CPU before the others.

    When the kernel that people ask for is not known, the descent says so, rather than showing another backend in its place.
    """
    resolved = [key for key, chain in op.kernels.items() if chain.status is Status.RESOLVED and chain.steps]
    untold = [key for key, chain in op.kernels.items() if chain.status is Status.UNRESOLVED]
    for wanted, keys in ((MAIN, resolved), (MAIN, untold), (_OTHERS, resolved), (_OTHERS, untold)):
        if found := next((key for key in wanted if key in keys), ""):
            return found
    return resolved[0] if resolved else ""


def descent_of(site: Site, op: Operator, backend: str) -> tuple[Floor, ...]:
    """The floors that the call passes, from the top down, each with its stops."""
    stops: dict[int, list[Stop]] = {1: [your_line(site, op)], 2: python_stops(site, op), 3: border_stops(site, op), 4: _dispatcher(site, op, backend)}
    chain = op.kernels.get(backend)
    device, told = False, set[str]()
    for step in chain.steps if chain else ():
        floor = 8 if step.role == "device" else 5
        device = device or floor == 8
        stops.setdefault(floor, []).append(_step(site, step, told))
    if not chain or not chain.steps:
        stops.setdefault(5, []).append(_unknown_kernel(op, backend))
    if device:
        family = device_of_key(backend).upper()
        for floor, name in ((6, f"memory {family}"), (7, f"queue {family}")):
            found = landmark(site, name)
            if found:
                stops.setdefault(floor, []).append(
                    Stop(found.symbol, found.says, (found.receipt,), "", common=True, address=found.address)
                )
    numbers = [number for number in sorted(stops) if stops[number]]
    floors = []
    for number in numbers:
        row = stops[number]
        if number == numbers[-1]:
            row = [*row[:-1], _ended(row[-1])]
        floors.append(Floor(number, FLOORS[number - 1], tuple(row), number == numbers[-1]))
    return tuple(floors)


def _dispatcher(site: Site, op: Operator, backend: str) -> list[Stop]:
    call = landmark(site, "dispatcher")
    stops = [
        Stop(
            call.symbol if call else "c10::Dispatcher::call",
            "Adds up the keys of all arguments and jumps to the highest one that is awake.",
            (call.receipt,) if call else (),
            "",
            common=True,
            address=call.address if call else None,
            ladder=ladder_of(site, op, backend),
        )
    ]
    autograd = op.autograd
    nodes = recorded(op, backend)
    if autograd and nodes and autograd.formula:
        name = f"VariableType::{op.base}" + (f"_{op.overload}" if op.overload else "")
        formula = site.receipt(autograd.formula.path, autograd.formula.line)
        stops.append(
            Stop(name, f"Makes {', '.join(nodes)} and calls on with the autograd keys masked.", (formula,), "generated", generated=True)
        )
    return stops


_STEP_SAYS = {
    "entry": "The function that the dispatcher calls.",
    "stub": "A table of function pointers: one per kind of device, CPU by vector unit.",
    "registration": "The line that puts the kernel into the stub.",
    "kernel": "A function that it calls, further down.",
    "device": "The code that runs on the device.",
    "library": "A library does the work; its source is not part of PyTorch.",
    "calls": "It calls another operator, and the way begins anew there.",
}


def _step(site: Site, step: Step, told: set[str]) -> Stop:
    """One step of the chain; what a role means is told once."""
    word = "The line that registers it with the dispatcher." if step.role == "registration" and step.path.endswith(".py") else _STEP_SAYS.get(step.role, "")
    if step.role == "kernel" and _STEP_SAYS["stub"] in told:
        word = "The function behind the stub."
    words = [] if word in told else [word]
    told.add(word)
    if step.branch:
        words.append(f"Taken when {step.branch}.")
    if note := note_of(step):
        words.append(_sentence(note, name="::" in step.note.partition(" ")[0]))
    generated = site.is_generated(step.path) or step.note.startswith(("generated", "written by the build"))
    return Stop(
        name=step.symbol or ROLES.get(step.role, step.role),
        says=" ".join(word for word in words if word),
        receipts=(site.receipt(step.path, step.line),),
        how="generated" if generated else "",
        generated=generated,
        address=address_of(site, step),
    )


def _sentence(note: str, *, name: bool) -> str:
    """A note as a sentence; a name at its start keeps its case: one of code (`name`), or of a library that is written like cuDNN."""
    first = note.partition(" ")[0]
    name = name or not first.isalpha() or not first.islower()
    return (note if name else note[0].upper() + note[1:]) + ("" if note.endswith(".") else ".")


def _unknown_kernel(op: Operator, backend: str) -> Stop:
    chain = op.kernels.get(backend)
    if chain and chain.status is Status.UNRESOLVED:
        named = next((r.kernel for r in op.registrations if r.key == backend and r.active and r.kernel), None)
        return Stop(named or "a kernel", f"The atlas could not tell where it is: {chain.reason}.", (), "unresolved")
    outcome = op.dispatch.get("CPU") or op.dispatch.get("CUDA") or ""
    if outcome in COMPOSED or any(r.key == "CompositeImplicitAutograd" for r in op.registrations):
        return Stop("composite kernel", "One function for all backends; it calls other operators.", (), "yaml")
    if op.origin is Origin.GENERATED:
        return Stop("generated kernel", "torchgen writes the body: it calls the operator that this one is derived from.", (), "generated", generated=True)
    return Stop("no kernel known", "The atlas knows no kernel that it could follow further down.", (), "unresolved")


def _ended(stop: Stop) -> Stop:
    return Stop(stop.name, stop.says, stop.receipts, stop.how, stop.generated, stop.common, stop.address, stop.ladder, end=True)
