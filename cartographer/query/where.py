# SPDX-License-Identifier: BSD-3-Clause
"""Answers `where`: from an operator down to its kernels, and from anything on the way back to the operators that reach it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.errors import NotFound, UsageError
from cartographer.model.atlas import said_elsewhere
from cartographer.model.backend import device_of_key, in_order
from cartographer.model.operator import Status
from cartographer.model.recorded import NEVER, limits
from cartographer.query import elsewhere, operators, qualified, spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.atlas import Landmark
    from cartographer.model.operator import Chain, Step
    from cartographer.query.operators import Named
    from cartographer.query.reverse import Backwards
    from cartographer.store.operator_reader import Routes
    from cartographer.store.reader import Reader

_FEW_WORDS = 4  # more are no words of a name
_LAUNCHER = "launched by "  # how the note of a step begins that tells the kernel by which a launcher runs what it is given


@dataclass(frozen=True, slots=True)
class Descent:
    """One chain, with the overloads and backends that share it."""

    names: tuple[str, ...]
    backends: tuple[str, ...]
    chain: Chain
    served: tuple[tuple[str, str], ...] = ()  # (backend, the dispatcher's words) where the table says it

    @property
    def main(self) -> Step | None:
        """The step to open first: see `main_step`."""
        return main_step(self.chain.steps)


@dataclass(frozen=True, slots=True)
class Where:
    """The answer for a name of operators."""

    asked: str
    named: Named
    descents: tuple[Descent, ...]
    backend: str | None = None
    elsewhere: Landmark | None = None  # the repository that has the backend's kernels, where it is not this one


def where(reader: Reader, text: str, backend: str | None = None) -> Where | Backwards:
    """Answer `where TEXT`. Raises NotFound with near misses, or UsageError for a backend that this atlas does not know."""
    if not text.strip():
        raise UsageError("an empty name", hint="for example: cartographer where index_select --backend CUDA")
    chosen = None if backend is None else backend_called(reader, backend)
    named = operators.resolve(reader.lookup, text) or operators.in_sentence(reader.lookup, text)
    if named is None:
        _check_alone(reader, text)
        from cartographer.query import reverse

        back = reverse.backwards(reader, text, chosen)
        if back is not None:
            return back
        raise not_found(reader, text)
    if chosen is None and named.key in {*reader.lookup.backends(), *reader.lookup.dispatch_keys()}:
        chosen = named.key
    if named.node:
        named = replace(named, said=f"{named.said}{_limit(reader, named)}")
    whole = [reader.routes(name) for name in named.names]
    fetched = None if chosen is None else elsewhere.of_keys(reader, (chosen,)).get(device_of_key(chosen))
    return Where(text, named, _descents(whole, chosen, fetched), chosen, fetched)


def _check_alone(reader: Reader, text: str) -> None:
    """Raise UsageError for several operators at once: as a symbol they would be read as one of them."""
    words = text.replace(",", " ").split()
    if len(words) > 1 and all(word.isidentifier() and operators.resolve(reader.lookup, word) for word in words):
        raise UsageError(f"{len(words)} names at once", hint=f"ask for one at a time: cartographer where {words[0]}")


def backend_called(reader: Reader, text: str) -> str:
    """The dispatch key that a text means, `cuda` -> `CUDA`. Raises UsageError with the backends that this atlas knows."""
    known = reader.lookup.backends()
    for key in (*known, *reader.lookup.dispatch_keys()):
        if key.lower() == text.lower().removeprefix("kernel."):
            return key
    raise UsageError(f"no dispatch key of this atlas is called {text!r}", hint=f"it has kernels for {', '.join(in_order(known))}" if known else None)


def _limit(reader: Reader, named: operators.Named) -> str:
    """For which tensors alone a Node is recorded; "" where some operator records it for all."""
    told = {limits(reader.operator(name)).get(named.node, "") for name in named.names}
    if "" in told:
        return ""
    some = told - {NEVER}
    return f", for {' or '.join(sorted(some))} alone" if some else f", for {NEVER}"


def not_found(reader: Reader, text: str) -> NotFound:
    """The error for a name that nothing has, or for one that is a folder."""
    folder = text.strip().strip("/").removeprefix("./")
    if "/" in folder and reader.lookup.is_folder(folder):
        return NotFound(f"{folder} is a folder", hint=f"its page says what lies in it and who owns it: source/{folder}/index.html (cartographer serve)\nwhen its lines came in: cartographer strata {folder}")
    if others := operators.other_overloads(reader.lookup, text):
        base, _, overload = text.strip().rpartition(".")
        return NotFound(f"{base} has no overload {overload!r}", hint=f"it has {', '.join(others)}")
    if alike := operators.namesake(reader.lookup, text):
        base = alike.names[0].partition(".")[0]
        public = [mark.text for mark in reader.landmarks(base) if mark.kind == "public"]
        names = dict.fromkeys([*public, *(binding.python for name in alike.names for binding in reader.operator(name).bindings)])
        bound = f"the operator of that name is bound as {', '.join(names)}" if names else "there is an operator of that name, for C++ and torch.ops alone"
        return NotFound(f"no Python name {text.strip()} is known in this release", hint=f"{bound}: cartographer where {text.strip().rpartition('.')[2]}")
    if qualified.is_sentence(spelling.trimmed(text)):
        return NotFound(f"{textwrap.shorten(text, 60, placeholder=' …')!r} is a text of several words, no name", hint=_of_a_sentence(text))
    near = operators.near_misses(reader.lookup, text)
    hint = f"did you mean {', '.join(near)}?" if near else f"try: cartographer search {text!r}"
    return NotFound(f"nothing in this atlas is called {text!r}", hint=hint)


def _of_a_sentence(text: str) -> str:
    """What helps with an error message: its text is in no atlas, but in the source, whose lines an atlas knows."""
    told = [f"search a clone of the source for it: {qualified.search_command(text)}",
            "(a message is put together there: leave out numbers and names), then ask for the place: cartographer where PATH:LINE"] if qualified.to_search(text) else []  # fmt: skip
    words = text.split()
    if len(words) <= _FEW_WORDS and all(word.isidentifier() for word in words):
        told.insert(0, f"what has these words in its name: cartographer search {' '.join(words)}")
    return "\n".join(told) or "ask for one name, or for a place: cartographer where PATH:LINE"


def main_step(steps: Sequence[Step]) -> Step | None:
    """The step to open first, the kernel function: what a stub is registered to; without a stub on the main way, the last function before the
    device code. Of a body that only calls other operators, or of a switch some of whose sides do, it is the body itself.
    """
    roles = [step.role for step in steps]
    if "calls" in roles and not {"registration", "device", "library"} & set(roles):
        return steps[0]
    if not {"device", "library"} & set(roles) and sum(step.role == "calls" and step.branch.startswith("case ") for step in steps) > 1:
        return steps[0]  # the stub that chooses the side does no work: scaled_dot_product_attention
    if "stub" in roles and _switches(steps[: roles.index("stub") + 1]):
        return steps[0]
    kernels: list[Step] = []
    deep = next((place for place, role in enumerate(roles) if role in {"device", "library"}), len(roles))
    if "registration" in roles[:deep]:
        kernels = [step for step in steps[roles.index("registration") :] if step.role == "kernel"][:1]
    if not kernels:
        last = max((place for place, role in enumerate(roles[:deep]) if role == "entry"), default=0)  # that of the operator that does the work
        before = [step for step in steps[last:deep] if step.role == "kernel"] or [step for step in steps[last:] if step.role == "kernel"][:1]
        kernels = [step for step in before if not step.branch][-1:] or before[:1]
    for ends in ({"device", "library"}, {"entry"}):
        found = [step for step in steps if step.role in ends and _LAUNCHER not in step.note] if not kernels else []
        kernels = kernels or [step for step in found if not step.branch][:1] or found[:1]
    return kernels[0] if kernels else (steps[0] if steps else None)


def _switches(steps: Sequence[Step]) -> bool:
    """Whether steps that end in a stub are one body's switch, with operators under its other labels."""
    sides = [step.role for step in steps if step.role == "entry" or "case " in step.branch]
    return sides[-2:] == ["calls", "stub"]


def _descents(whole: Sequence[Routes], backend: str | None, fetched: Landmark | None) -> tuple[Descent, ...]:
    """Chains of these overloads, equal ones taken together; backend by backend, resolved ones first."""
    found: dict[tuple[Chain, tuple[str, ...], tuple[tuple[str, str], ...]], list[str]] = {}
    for operator in whole:
        by_chain: dict[Chain, list[str]] = {}
        for key in in_order(operator.kernels):
            if backend is None or key == backend:
                by_chain.setdefault(operator.kernels[key], []).append(key)
        if backend is not None and backend not in operator.kernels:
            by_chain[_no_chain(operator, backend, fetched)] = [backend]
        for chain, keys in by_chain.items():
            served = tuple((key, operator.dispatch[key]) for key in keys if key in operator.dispatch)
            found.setdefault((chain, tuple(keys), served), []).append(operator.name)
    return tuple(Descent(tuple(names), keys, chain, served) for (chain, keys, served), names in found.items())


def _no_chain(operator: Routes, backend: str, fetched: Landmark | None) -> Chain:
    """What the dispatch table says about a backend for which no chain was traced."""
    from cartographer.model.operator import Chain

    outcome = operator.dispatch.get(backend)
    if outcome == "missing" and fetched:
        return Chain(Status.UNRESOLVED, f"nothing is registered for {backend} in this source: {said_elsewhere(fetched)} ({fetched.path}:{fetched.line})")
    if outcome == "missing":
        return Chain(Status.NONE, f"nothing is registered for {backend}: the call raises an error")
    if outcome is not None:
        return Chain(Status.UNRESOLVED, f"the dispatch table says {outcome!r} for {backend}, whose chains are not traced: `cartographer show {operator.name}` lists what is registered")
    return Chain(Status.UNRESOLVED, f"nothing is known about {backend}")
