# SPDX-License-Identifier: BSD-3-Clause
"""Compares an atlas with a running torch: names, registrations, computed table, bindings, Nodes. Every difference is put
down to its cause: another release, another platform, or a fault of ours.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cartographer.errors import CheckoutError
from cartographer.model.backend import device_of_key
from cartographer.model.operator import Origin
from cartographer.store.verified import Outcome, Verified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from cartographer.model.operator import Operator

# Runs in the Python that has torch, with the namespaces to list as its arguments; needs nothing but torch, prints one JSON document.
SCRIPT = r"""
import json, sys
import torch
C = torch._C
def listed(name):
    at = torch
    for part in name.split(".")[1:]:
        at = getattr(at, part, None)
    return None if at is None else dir(at)
operators = {}
for name in C._dispatch_get_all_op_names():
    operators[name] = {"dump": C._dispatch_dump(name), "table": C._dispatch_dump_table(name)}
names = {space: listed(space) for space in sys.argv[1:]}
if "torch" in names:
    names["torch"] += listed("torch._C._VariableFunctions") or []
def has(check):
    try:
        return bool(check())
    except Exception:
        return False
parts = {
    "cuda": has(lambda: torch.version.cuda), "rocm": has(lambda: torch.version.hip), "mps": has(lambda: torch.backends.mps.is_built()),
    "xpu": has(lambda: torch.xpu._is_compiled()), "mkldnn": has(lambda: torch.backends.mkldnn.is_available()),
    "mkl": has(lambda: torch.backends.mkl.is_available()), "xnnpack": has(lambda: torch.backends.xnnpack.enabled),
    "distributed": has(lambda: torch.distributed.is_available()), "vulkan": has(lambda: torch.is_vulkan_available()),
}
json.dump({
    "version": torch.__version__, "commit": torch.version.git_version, "platform": sys.platform, "parts": parts,
    "operators": operators, "names": names, "nodes": listed("torch._C._functions") or [],
}, sys.stdout)
"""
PLATFORM, VERSION, OURS = "platform", "version", "ours"
_ENTRY = re.compile(r"(\w+)(?:\[alias\])?( \(inactive\))?: .*?\[([^\]]*)\]\s*$")
_GENERATED_NODE = re.compile(r"[A-Z]\w*Backward\w*\d\w*")  # AddBackward0, ForeachPowBackward0, AliasBackward0_copy; not CopyBackwards, by hand
_COUNTED = re.compile(r"_\d+$")
_SLOT = re.compile(r"(\w+): (.*)\[([^\]]*)\]\s*$")


@dataclass(frozen=True, slots=True)
class Running:
    """What a running torch says about its operators."""

    version: str
    commit: str
    platform: str
    parts: Mapping[str, bool]
    registrations: Mapping[str, Mapping[str, bool]]  # operator -> key -> whether it falls through
    tables: Mapping[str, Mapping[str, str]]
    names: Mapping[str, frozenset[str]]
    nodes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which the atlas and the running torch differ, with the cause."""

    section: str
    what: str
    atlas: str | None
    torch: str | None
    cause: str  # PLATFORM | VERSION | OURS


@dataclass(frozen=True, slots=True)
class Section:
    """One kind of thing that was compared: how many agree, and each difference."""

    name: str
    compared: int
    differences: tuple[Difference, ...] = ()
    hidden: int = 0  # what the atlas' source does not show

    @property
    def agreeing(self) -> int:
        """The number of compared things that agree."""
        return self.compared - len(self.differences)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of comparing an atlas with a running torch."""

    atlas: str
    torch: str
    same_version: bool
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def ours(self) -> int:
        """The number of differences that are faults of the atlas."""
        return sum(d.cause == OURS for s in self.sections for d in s.differences)


def namespaces(operators: Iterable[Operator]) -> tuple[str, ...]:
    """The Python namespaces in which an atlas says that operators are found."""
    return tuple(sorted({binding.python.rpartition(".")[0] for operator in operators for binding in operator.bindings}))


def ask(python: str, spaces: Sequence[str] = (), seconds: float = 600) -> Running:
    """Run the script in a Python that has torch; it also lists what is in the given namespaces. Raises CheckoutError."""
    try:
        done = subprocess.run([python, "-c", SCRIPT, *spaces], capture_output=True, text=True, timeout=seconds, check=False)
    except FileNotFoundError as error:
        raise CheckoutError(f"no Python at {python}", hint="give one that has torch with --python PATH") from error
    except subprocess.TimeoutExpired as error:
        raise CheckoutError(f"{python} did not answer within {seconds:.0f} s") from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise CheckoutError(f"{python} cannot tell about torch: {last[0]}", hint="give a Python that has torch with --python PATH")
    return read(done.stdout)


def read(text: str) -> Running:
    """Parse what the script printed. Raises CheckoutError."""
    try:
        told: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError as error:
        raise CheckoutError("the running torch gave no answer that can be read") from error
    registrations: dict[str, dict[str, bool]] = {}
    tables: dict[str, dict[str, str]] = {}
    for name, dumped in told["operators"].items():
        registrations[name] = _registrations(dumped["dump"])
        tables[name] = _table(dumped["table"])
    names = {space: frozenset(members) for space, members in told["names"].items() if members is not None}
    return Running(
        told["version"], told["commit"], told["platform"], told["parts"], registrations, tables, names, frozenset(told["nodes"])
    )


def _registrations(dump: str) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for line in dump.splitlines():
        entry = _ENTRY.match(line)
        if entry is not None and entry.group(2) is None and entry.group(1) not in ("name", "schema", "debug"):
            found.setdefault(entry.group(1), "fallthrough" in entry.group(3))
    return found


def _table(dump: str) -> dict[str, str]:
    slots = (_SLOT.match(line) for line in dump.splitlines())
    return {s.group(1): ("fallthrough " if s.group(2).startswith("fallthrough ") else "") + s.group(3) for s in slots if s is not None}


def compare(operators: Iterable[Operator], version: str, running: Running) -> Verdict:
    """Compare the operators of an atlas with a running torch."""
    known = {operator.name: operator for operator in operators}
    here = running.version.partition("+")[0]
    judge = _Judge(running, here == version, _accelerators(known.values()), any("wheel" in words for o in known.values() for words in o.dispatch.values()))
    both = [o for name, o in known.items() if name in running.registrations]
    sections = (
        _names(known, running, judge),
        _keys(both, running, judge),
        _tables(both, running, judge),
        _bindings(known.values(), running, judge),
        _nodes(known.values(), running, judge),
    )
    notes = () if judge.same_version else (f"the atlas is of {version}, the running torch is {running.version}",)
    hidden = {s.name: s.hidden for s in sections if s.hidden}
    if hidden:
        told = ", ".join(f"{count:,} of the {name}" for name, count in hidden.items())
        notes = (*notes, f"the atlas is of a wheel, which does not show what C++ registers: not compared are {told}")
    return Verdict(version, running.version, judge.same_version, sections, (*notes, *_not_compared(known.values(), running)))


def _accelerators(operators: Iterable[Operator]) -> frozenset[str]:
    """Words at the end of keys of accelerators that the atlas' view of the build lacks: `mps`, `mtia`."""
    return frozenset(("mps", "xpu", "hip", "vulkan", "metal")) | {device_of_key(r.key) for o in operators for r in o.registrations if r.build}


@dataclass(frozen=True, slots=True)
class _Judge:
    """Puts a difference down to its cause."""

    running: Running
    same_version: bool
    accelerators: frozenset[str]
    partial: bool  # the atlas is of a wheel

    def cause(self, *, conditional: bool = False) -> str:
        if conditional:
            return PLATFORM
        return OURS if self.same_version else VERSION

    def lacks(self, build: Iterable[str], switches: str = "") -> bool:
        """Whether the running build is without something that a registration needs."""
        parts = self.running.parts
        wanted = [*build, *(s for s in switches.split(", ") if s)]
        return any(not parts.get(w, w in ("mkldnn", "fbgemm")) for w in wanted)

    def foreign(self, key: str) -> bool:
        """Whether a key belongs to an accelerator that the running build or the atlas' view lacks."""
        # AutogradOther looks at all backends without an autograd key of their own, those of the accelerator included.
        if key.endswith("CUDA") or key == "AutogradOther":
            return not self.running.parts.get("cuda", False)
        return key.lower().endswith(tuple(self.accelerators))


def _names(known: Mapping[str, Operator], running: Running, judge: _Judge) -> Section:
    differences: list[Difference] = []
    compared = hidden = 0
    counted = {_COUNTED.sub("", name) for name in running.registrations.keys() - known.keys()}
    for name in sorted({*known, *running.registrations}):
        operator = known.get(name)
        if operator is not None and operator.build and name not in running.registrations:
            continue  # for another build, as the atlas says
        if operator is None and judge.partial:
            hidden += 1
            continue
        compared += 1
        if operator is None:
            differences.append(Difference("names", name, None, "registered", judge.cause()))
        elif name not in running.registrations:
            lacking = judge.lacks(operator.build, operator.extra.get("switches", "")) or all(judge.foreign(r.key) for r in operator.registrations)
            # Python may count what it defines (torch/_native/registry.py); the packages that are installed there count too.
            lacking = lacking or (operator.origin is Origin.PYTHON and _COUNTED.search(name) is not None and _COUNTED.sub("", name) in counted)
            differences.append(Difference("names", name, "defined", None, judge.cause(conditional=lacking)))
    return Section("operator names", compared, tuple(differences), hidden)


def _keys(both: Iterable[Operator], running: Running, judge: _Judge) -> Section:
    differences: list[Difference] = []
    compared = hidden = 0
    for operator in both:
        theirs = running.registrations[operator.name]
        ours = {r.key: r for r in operator.registrations if r.active and not r.build}
        elsewhere = {r.key for r in operator.registrations if r.build}
        for key in sorted({*ours, *theirs}):
            mine = ours.get(key)
            if mine is None and judge.partial:
                hidden += 1
                continue
            compared += 1
            if mine is None:
                cause = judge.cause(conditional=key in elsewhere)
                differences.append(Difference("registrations", f"{operator.name} {key}", None, "registered", cause))
            elif key not in theirs:
                cause = judge.cause(conditional=judge.foreign(key) or judge.lacks((), operator.extra.get("switches", "")))
                differences.append(Difference("registrations", f"{operator.name} {key}", mine.kernel or "registered", None, cause))
            elif mine.fallthrough != theirs[key]:
                words = ("kernel", "fallthrough")
                differences.append(
                    Difference("registrations", f"{operator.name} {key}", words[mine.fallthrough], words[theirs[key]], judge.cause())
                )
    return Section("registrations", compared, tuple(differences), hidden)


def _tables(both: Iterable[Operator], running: Running, judge: _Judge) -> Section:
    differences: list[Difference] = []
    compared = hidden = 0
    for operator in both:
        theirs = running.tables[operator.name]
        for key, mine in operator.dispatch.items():
            if "wheel" in mine:
                hidden += 1
                continue
            outcome = theirs.get(key, "missing")
            compared += 1
            if outcome != mine:
                differences.append(Difference("computed table", f"{operator.name} {key}", mine, outcome, judge.cause(conditional=judge.foreign(key))))
    return Section("computed table", compared, tuple(differences), hidden)


def _bindings(operators: Iterable[Operator], running: Running, judge: _Judge) -> Section:
    differences: list[Difference] = []
    seen: set[str] = set()
    for operator in operators:
        for binding in operator.bindings:
            space, _, name = binding.python.rpartition(".")
            if space not in running.names or binding.python in seen:
                continue
            seen.add(binding.python)
            if name not in running.names[space]:
                differences.append(Difference("bindings", binding.python, binding.function, None, judge.cause()))
    return Section("Python bindings", len(seen), tuple(differences))


def _nodes(operators: Collection[Operator], running: Running, judge: _Judge) -> Section:
    if not running.nodes:
        return Section("autograd Nodes", 0)
    ours, made_up = _node_names(operators), _made_up(operators)
    theirs = {node for node in running.nodes if _GENERATED_NODE.fullmatch(node)}
    said = "a class of torch._C._functions"
    differences = [Difference("Nodes", node, None, said, judge.cause()) for node in sorted(theirs - ours)]
    differences += [Difference("Nodes", node, "a Node", f"not {said}", judge.cause()) for node in sorted(ours - theirs - made_up)]
    return Section("autograd Nodes", len((ours | theirs) - (made_up - theirs)), tuple(differences))


def _node_names(operators: Iterable[Operator]) -> set[str]:
    return {node for operator in operators if operator.autograd is not None for node in operator.autograd.nodes}


def _made_up(operators: Collection[Operator]) -> set[str]:
    """Nodes that no build lists: derivatives.yaml has no row of its own for them. torchgen makes them up from the row of `add` for
    `_foreach_add` (torchgen/api/autograd.py), after the Python classes were made from the rows alone.
    """
    others = [operator for operator in operators if "::_foreach_" not in operator.name]
    rows = {operator.autograd.formula for operator in others if operator.autograd is not None} - {None}
    derived = (o for o in operators if "::_foreach_" in o.name and o.autograd is not None and o.autograd.formula in rows)
    return _node_names(derived) - _node_names(others)


def _not_compared(operators: Collection[Operator], running: Running) -> Iterator[str]:
    """What the running torch cannot tell about."""
    lacking = {space: 0 for space in namespaces(operators) if space not in running.names}
    for binding in {binding.python for operator in operators for binding in operator.bindings}:
        if (space := binding.rpartition(".")[0]) in lacking:
            lacking[space] += 1
    if lacking:
        yield f"Python names that were not compared: {sum(lacking.values()):,} (the running torch has no {', '.join(lacking)})"
    unlisted = _made_up(operators) - running.nodes if running.nodes else _node_names(operators)
    if unlisted:
        why = "torch lists none that it makes up for _foreach_ operators" if running.nodes else "the running torch has no torch._C._functions"
        yield f"Nodes that were not compared: {len(unlisted):,} ({why})"


def lines(verdict: Verdict, *, most: int = 10, strong: Callable[[str], str] = str) -> Iterator[str]:
    """The verdict as lines for people."""
    yield strong(f"atlas of PyTorch {verdict.atlas}, running torch {verdict.torch}")
    yield from verdict.notes
    for section in verdict.sections:
        share = 100 * section.agreeing / section.compared if section.compared else 100.0
        causes = {c: sum(d.cause == c for d in section.differences) for c in (OURS, VERSION, PLATFORM)}
        told = ", ".join(f"{n:,} {_CAUSES[c]}" for c, n in causes.items() if n)
        yield f"{section.name:<16} {section.agreeing:>9,} of {section.compared:>9,} agree  {share:6.2f} %" + (f"  ({told})" if told else "")
        for difference in sorted(section.differences, key=lambda d: (d.cause != OURS, d.what))[:most]:
            yield f"    {difference.cause:<8}  {difference.what}: atlas {difference.atlas or '-'}, torch {difference.torch or '-'}"


_CAUSES = {OURS: "faults of the atlas", VERSION: "of another release", PLATFORM: "of another platform or build"}


def outcome(verdict: Verdict, inputs: str) -> Verified:
    """The verdict in numbers, to be kept beside the atlas with these inputs."""
    return Verified(verdict.torch, tuple(
        Outcome(s.name, s.compared, s.agreeing, *(sum(d.cause == cause for d in s.differences) for cause in (PLATFORM, VERSION, OURS)))
        for s in verdict.sections
    ), inputs)


def record(verdict: Verdict) -> dict[str, object]:
    """The verdict as a JSON value, with every difference."""
    return {
        "atlas": verdict.atlas,
        "torch": verdict.torch,
        "same_version": verdict.same_version,
        "notes": list(verdict.notes),
        "sections": [
            {
                "name": s.name,
                "compared": s.compared,
                "agreeing": s.agreeing,
                "differences": [{"what": d.what, "atlas": d.atlas, "torch": d.torch, "cause": d.cause} for d in s.differences],
            }
            for s in verdict.sections
        ],
    }
