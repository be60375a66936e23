# SPDX-License-Identifier: BSD-3-Clause
"""What each call in a function's body is, on the way to one device: a stub, a launch, a callable handed to a launcher,
a vendor library, an operator, or another function of the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.link.composites import Called, types_around
from cartographer.link.device import CPU_LOOPS, elsewhere, library
from cartographer.link.index import bare
from cartographer.link.names import Scope, scope_of
from cartographer.model.fact import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cartographer.link.composites import Operators
    from cartographer.link.guards import World
    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Names
    from cartographer.link.stubs import StubPlaces, Stubs

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"&?\s*((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?$", re.DOTALL)
_CONSTRUCTED = re.compile(r"((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*(?:<.*>)?\s*[({].*[)}]$", re.DOTALL)
_LAUNCH = re.compile(r"((?:\w+::)*[A-Za-z_]\w*)\s*(?:<[^<>;(){}]*(?:<[^<>;(){}]*>[^<>;(){}]*)*>)?\s*<<<")
LITERALS = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
_METAL = frozenset(("getPipelineStateForFunc", "getMTLFunction", "getKernelFunction"))
_SHAPING = re.compile(r"constant|placeholder|reshape|cast|transpose|identity|shapeOf|expandDims|squeeze|slice|concat|broadcast|coordinate|gradient$", re.IGNORECASE)
_CALLED = re.compile(r"((?:\w+::)*[A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>)?\s*\(")
_DISPATCH = re.compile(r"(?:AT|TORCH)_DISPATCH_\w+|AT_DISPATCH\w*|DISPATCH_\w+|_AT_DISPATCH\w*")
_NOWHERE = ("std::", "c10::", "at::globalContext", "at::maybe_", "at::checkAll", "at::checkSame", "at::namedinference::", "namedinference::")
_SCOPE = (
    "aten/src/ATen/native/", "aten/src/ATen/cuda/", "aten/src/ATen/cudnn/", "aten/src/ATen/miopen/", "aten/src/ATen/hip/", "aten/src/ATen/mps/",
    "aten/src/ATen/mkl/", "aten/src/ATen/xpu/", "aten/src/ATen/quantized/", "aten/src/ATen/LegacyTH", "aten/src/TH", "aten/src/ATen/sparse",
)  # fmt: skip
_PLUMBING = re.compile(
    r"aten/src/ATen/native/(TensorIterator\w*|Resize\w*|TypeProperties|ReduceOpsUtils|TensorProperties|TensorDimApply|CPUBlas_dispatch|cuda/Resize)\.(h|cpp|cuh|cu)"
    r"|aten/src/ATen/cuda/(?!CUDABlas|CUDASparseBlas|CUDASolver|jiterator|detail/|llvm|CUDASparse|cub|tunable/)\w+.*"
    r"|aten/src/TH/(THTensor|THStorage|THAllocator|THGeneral|generic/THTensor\.|generic/THStorage).*|aten/src/THC/(THCGeneral|THCStorage|THCAllocator|generic/THCStorage).*"
)


@dataclass(frozen=True, slots=True)
class Callable_:
    """A lambda or functor that is handed over: what runs for each element."""

    symbol: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Site:
    """One call, told. `targets` are the functions that it can enter; `path` differs from the body's file in a macro's body."""

    kind: str  # stub | launch | helper | library | operator | loop | dispatch | metal
    name: str
    path: str
    line: int
    order: int
    branch: str = ""
    targets: tuple[Defined, ...] = ()
    called: Called | None = None
    callables: tuple[Callable_, ...] = ()
    library: str = ""
    stub: StubPlaces | None = None
    texts: tuple[str, ...] = ()  # literals that name a Metal kernel
    aside: bool = False  # a condition sends it to another device


@dataclass
class CallGraph:
    """Sites of every body, told once per device."""

    index: Index
    names: Names
    operators: Operators
    stubs: Stubs
    world: World
    device: str
    key: str = ""
    source: Callable[[str], str | None] | None = None
    _sites: dict[int, tuple[Site, ...]] = field(default_factory=dict, repr=False)
    _texts: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _by_member: dict[tuple[str, int], tuple[Defined, ...]] = field(default_factory=dict, repr=False)

    def sites(self, defined: Defined) -> tuple[Site, ...]:
        """The sites of one body, in order."""
        known = self._sites.get(id(defined))
        if known is None:
            known = self._sites[id(defined)] = tuple(self._told(defined))
        return known

    def follows(self, defined: Defined) -> bool:
        """Whether a way may lead through a definition: code of kernels, not the plumbing that all of them use."""
        path = defined.path
        return path.startswith(_SCOPE) and not _PLUMBING.fullmatch(path)

    def _told(self, defined: Defined) -> Iterator[Site]:
        around = types_around(defined.fact)
        scope = scope_of(defined, self.device)
        calls = defined.fact.calls
        for order, call in enumerate(calls):
            if call.guards and self.world.allows(call.guards) is False:
                continue
            branch = _branch(call)
            aside = elsewhere(call.context, self.device, self.key)
            if call.form == "lambda":
                continue
            if call.form == "message":
                receiver, _, selector = call.name.partition(" ")
                if self.device == "mps" and "raph" in receiver:
                    yield Site("library", selector, defined.path, call.line, order, branch, library="MPSGraph", aside=bool(_SHAPING.search(selector)) or aside)
                continue
            if call.form == "macro":
                yield from self._macro(call, defined, scope, order, branch)
                continue
            if call.form == "launch":
                yield Site("launch", call.name, defined.path, call.line, order, branch, self._kernels(call.name, scope, defined), callables=self._functors(call, scope), aside=aside)
                continue
            yield from self._call(call, defined, scope, around, order, branch, aside)

    def _call(self, call: Call, defined: Defined, scope: Scope, around: Mapping[str, str], order: int, branch: str, aside: bool) -> Iterator[Site]:
        name = call.name.removeprefix("::")
        if name.startswith(_NOWHERE):
            yield from self._handed_stubs(call, scope, order, branch, aside)
            return
        last = bare(name)
        path = defined.path
        yield from self._handed_stubs(call, scope, order, branch, aside)
        if call.form in ("call", "reference") and last in self.stubs and not self._local_function(last, scope):
            yield Site("stub", last, path, call.line, order, branch, stub=self.stubs.find(name, scope.namespace), aside=aside or _other_device(call, self.device))
            return
        if call.form != "method" and (title := library(name, self.device)) and not self._ours(last):
            yield Site("library", name, path, call.line, order, branch, library=title, aside=aside)
            return
        callables = self._callables(call, defined, scope, order)
        if self.device == "cpu" and _member(name) in CPU_LOOPS and callables:
            yield Site("loop", _member(name), path, call.line, order, branch, callables=callables, aside=aside)
            return
        if call.form == "method":
            yield from self._method(call, name, path, scope, around, order, branch, aside, callables)
            return
        targets = self._functions(call, name, scope)
        if called := self._operator(call, name, targets, around, scope):
            yield Site("operator", called.written, path, call.line, order, branch, called=called, aside=aside)
            return
        followed = [d for d in (*targets, *self._handed_functions(call, scope)) if self.follows(d)]
        if followed:
            yield Site("helper", name, path, call.line, order, branch, tuple(followed), callables=callables, aside=aside)

    def _ours(self, name: str) -> bool:
        """Whether the tree itself defines a function or class of this name: then it is a wrapper, no library."""
        return any(d.fact.kind not in ("variable", "alias") for d in self.index.named(name))

    def _operator(self, call: Call, name: str, targets: tuple[Defined, ...], around: Mapping[str, str], scope: Scope) -> Called | None:
        if call.form != "call":
            return None
        if "::" in name:
            called = self.operators.called(call, around)
            if called is not None and targets and not name.startswith(("at::_ops", "at::redispatch")) and targets[0].segments[-2:-1] == ("at",):
                return called
            return None if targets and called is None else called
        if targets or scope.namespace[:1] != ("at",):
            return None
        return self.operators.function(name, f"at::{name}", call, around)

    def _functions(self, call: Call, name: str, scope: Scope) -> tuple[Defined, ...]:
        if call.form == "construct":
            return tuple(m for c in self.names.classes(name, scope)[:2] if self.follows(c) for m in self._runs(c))
        targets = self.names.functions(name, scope, _count(call))
        if not targets or (targets[0].fact.kind == "method" and targets[0].segments[-2:-1] == targets[0].segments[-1:]):
            classes = self.names.classes(name, scope)
            if classes or targets:
                return tuple(m for c in classes[:1] if self.follows(c) for m in self._runs(c))
        return tuple(sorted(targets, key=_by_type)[:6])

    def _runs(self, cls: Defined) -> tuple[Defined, ...]:
        """What a functor runs: its call operators, else its other methods."""
        methods = self.index.methods.get((cls.path, cls.segments), ())
        return tuple(d for d in methods if d.name == "operator()") or tuple(d for d in methods if d.name != cls.name)[:4]

    def _method(self, call: Call, name: str, path: str, scope: Scope, around: Mapping[str, str], order: int, branch: str, aside: bool, callables: tuple[Callable_, ...]) -> Iterator[Site]:
        called = self.operators.called(call, around)
        if called is not None:
            yield Site("operator", called.written, path, call.line, order, branch, called=called, aside=aside)
            return
        member = _member(name)
        if self.device == "mps" and member in _METAL:
            texts = tuple(t for a in call.arguments for t in LITERALS.findall(a))
            yield Site("metal", member, path, call.line, order, branch, texts=texts, aside=aside)
            return
        targets = self._methods(member, len(call.arguments), path)
        if targets:
            yield Site("helper", member, path, call.line, order, branch, targets, callables=callables, aside=aside)

    def _methods(self, member: str, arguments: int, path: str) -> tuple[Defined, ...]:
        """The methods of this name in the code of kernels; none when too many classes have one."""
        known = self._by_member.get((member, arguments))
        if known is None:
            found = [
                d for d in self.index.named(member)
                if len(d.segments) > 1 and d.segments[-2][:1].isupper() and d.fact.kind in ("method", "function") and self.follows(d)
                and d.device in ("", self.device) and _bounds(d)[0] <= arguments <= _bounds(d)[1]
            ]  # fmt: skip
            known = self._by_member[member, arguments] = tuple(found[:6]) if len({d.segments[:-1] for d in found}) <= 4 else ()
        return tuple(d for d in known if not d.hidden or d.path == path)

    def _local_function(self, name: str, scope: Scope) -> bool:
        """Whether a function of the same file bears the stub's name."""
        return any(d.path == scope.path and d.fact.kind in ("function", "device") for d in self.index.named(name))

    def _handed_stubs(self, call: Call, scope: Scope, order: int, branch: str, aside: bool) -> Iterator[Site]:
        """Stubs among the arguments or template arguments of a call."""
        texts = [a for a in call.arguments if len(a) < 100 and "(" not in a]
        if call.template:
            texts.extend(call.template.split(","))
        for text in texts:
            match = _NAME.match(text.strip())
            if match and bare(match[1]) in self.stubs:
                yield Site("stub", bare(match[1]), scope.path, call.line, order, branch, stub=self.stubs.find(match[1], scope.namespace), aside=aside)

    def _handed_functions(self, call: Call, scope: Scope) -> tuple[Defined, ...]:
        """Functions and functors that template arguments or arguments name: callbacks."""
        found: list[Defined] = []
        texts = [t for t in _split_template(call.template) if t] if call.template else []
        texts += [a for a in call.arguments if a[:1] == "&" or "<" in a and "(" not in a]
        for text in texts:
            match = _NAME.match(text.strip())
            if match is None or len(match[1]) < 3:
                continue
            functions = [d for d in self.names.functions(match[1], scope) if d.path == scope.path]
            found.extend(functions[:2])
            if not functions:
                for cls in self.names.classes(match[1], scope)[:1]:
                    if self.follows(cls):
                        found.extend(self._runs(cls)[:1])
        return tuple(found)

    def _callables(self, call: Call, defined: Defined, scope: Scope, order: int) -> tuple[Callable_, ...]:
        lambdas = any(a.lstrip().startswith(("[", "^")) for a in call.arguments)
        found: list[Callable_] = []
        if lambdas:
            found.extend(_lambdas_in(defined, call, order))
        found.extend(self._functors(call, scope))
        if not found and self.source is not None and defined.use is None:
            found.extend(self._variables(call, defined, scope))
        return tuple(found)

    def _variables(self, call: Call, defined: Defined, scope: Scope) -> Iterator[Callable_]:
        """Local variables that hold a functor or a lambda, among the arguments: `MulFunctor<T> f; gpu_kernel(iter, f);`."""
        parameters = " ".join(defined.fact.parameters)
        for argument in call.arguments[1:]:
            if not _IDENTIFIER.fullmatch(argument) or re.search(rf"\b{argument}\b", parameters):
                continue
            text = self._lines(defined.path, defined.fact.line, call.line)
            declared = re.findall(rf"([A-Za-z_][\w:]*)\s*(?:<[^;{{}}]*>)?\s+{argument}\s*[;({{=]", text)
            made = re.findall(rf"\b{argument}\s*=\s*([A-Za-z_][\w:]*)\s*(?:<[^;{{}}]*>)?\s*[({{]", text)
            for name in (*declared[-1:], *made[-1:]):
                for cls in self.names.classes(name, scope)[:1] if name not in ("auto", "return") else ():
                    if self.follows(cls):
                        yield Callable_(cls.name, cls.path, cls.line)

    def _lines(self, path: str, first: int, last: int) -> str:
        """Some lines of a file, "" when its text is not at hand."""
        known = self._texts.get(path)
        if known is None:
            text = self.source(path) if self.source is not None else None
            known = self._texts[path] = (text or "").split("\n")
        return "\n".join(known[first - 1 : last])

    def _functors(self, call: Call, scope: Scope) -> tuple[Callable_, ...]:
        found = []
        for argument in call.arguments:
            match = _CONSTRUCTED.match(argument.strip())
            if match is None or match[1].startswith("std::"):
                continue
            for cls in self.names.classes(match[1], scope)[:1]:
                if self.follows(cls):
                    found.append(Callable_(cls.name, cls.path, cls.line))
        return tuple(found)

    def _kernels(self, name: str, scope: Scope, defined: Defined) -> tuple[Defined, ...]:
        """The `__global__` functions that a launch can mean; through a variable, those that the body names."""
        kernels = tuple(d for d in self.names.functions(name, scope) if d.fact.kind in ("kernel", "function", "macro-headed"))
        if kernels:
            return kernels
        found: list[Defined] = []
        for call in defined.fact.calls:
            for text in (call.name, *call.arguments, *_split_template(call.template)):
                match = _NAME.match(text.strip())
                if match:
                    found.extend(d for d in self.names.functions(match[1], scope) if d.fact.kind == "kernel" and d not in found)
        if not found and self.source is not None:
            text = self._lines(defined.path, defined.fact.line, defined.fact.end)
            for assigned in re.findall(rf"\b{re.escape(name)}\s*=\s*([^;]*);", text):
                for match in re.findall(r"[A-Za-z_][\w:]*", assigned):
                    found.extend(d for d in self.names.functions(match, scope) if d.fact.kind == "kernel" and d not in found)
        return tuple(found)

    def _macro(self, call: Call, defined: Defined, scope: Scope, order: int, branch: str) -> Iterator[Site]:
        if _DISPATCH.fullmatch(call.name):
            yield Site("dispatch", call.name, defined.path, call.line, order, branch)
            return
        yield from self._macro_body(call.name, call.line, defined, scope, order, branch, 0)

    def _macro_body(self, name: str, line: int, defined: Defined, scope: Scope, order: int, branch: str, depth: int) -> Iterator[Site]:
        """What a macro of the same file does, macros inside it included."""
        macro = self._local_macro(name, defined.path, line)
        if macro is None or depth > 3:
            return
        text, start = macro
        launched = set()
        for match in _LAUNCH.finditer(text):
            launched.add(match[1])
            at = start + text.count("\n", 0, match.start())
            yield Site("launch", match[1], defined.path, at, order, branch, self._kernels(match[1], scope, defined))
        for match in _CALLED.finditer(text):
            name = match[1]
            at = start + text.count("\n", 0, match.start(1))
            if bare(name) in self.stubs:
                yield Site("stub", bare(name), defined.path, at, order, branch, stub=self.stubs.find(name, scope.namespace))
            elif (title := library(name, self.device)) and not self._ours(bare(name)):
                yield Site("library", name, defined.path, at, order, branch, library=title)
            elif name.isupper():
                yield from self._macro_body(name, line, defined, scope, order, branch, depth + 1)
            elif len(name) > 3 and name not in launched:
                targets = [d for d in self.names.functions(name, scope) if self.follows(d)]
                if targets:
                    yield Site("helper", name, defined.path, at, order, branch, tuple(sorted(targets, key=_by_type)[:4]))

    def _local_macro(self, name: str, path: str, line: int) -> tuple[str, int] | None:
        """The body of a macro defined in the same file above a line, and the line that it starts on."""
        best = None
        for macro in self.index.files[path].macros:
            if macro.name == name and macro.line <= line and not 0 < macro.undefined <= line:
                best = macro
        return (best.body, best.line) if best is not None else None


def _count(call: Call) -> int | None:
    """The number of arguments; None when it cannot be told."""
    if call.form != "call" or any(a.endswith("...") or a[:1].isupper() and a.isupper() for a in call.arguments):
        return None
    return len(call.arguments)


def _bounds(defined: Defined) -> tuple[int, int]:
    from cartographer.link.signatures import bounds

    if defined.bounds is None:
        defined.bounds = bounds(defined.fact)
    return defined.bounds


def _branch(call: Call) -> str:
    return " && ".join(filter(None, (*call.guards, " ".join(call.context.split())[:100])))


def _member(name: str) -> str:
    return re.split(r"\.|->|::", name)[-1].strip()


def _other_device(call: Call, device: str) -> bool:
    """Whether a stub is called for one device by name that is not ours: `stub(kCPU, …)`."""
    first = call.arguments[0].strip() if call.arguments else ""
    match = re.fullmatch(r"(?:at::|c10::)?(?:k|DeviceType::)(CPU|CUDA|MPS|XPU|HIP)", first)
    return match is not None and match[1].lower() != device


def _lambdas_in(defined: Defined, call: Call, order: int) -> Iterator[Callable_]:
    """The lambdas that are arguments of a call: those that begin inside it, outside any other lambda of it."""
    calls = defined.fact.calls
    end = max(call.end_line, call.line)
    covered = 0
    wanted = sum(a.lstrip().startswith(("[", "^")) for a in call.arguments)
    for other in calls[order + 1 :]:
        if other.line > end or not wanted:
            return
        if other.form == "lambda" and (other.line > covered or covered == 0):
            yield Callable_("lambda", defined.path, other.line)
            covered = max(other.end_line, other.line)
            wanted -= 1


def _by_type(defined: Defined) -> tuple[bool, str]:
    """Of specialisations the one for float comes first, the one that most people run."""
    special = defined.fact.specialization
    return (bool(special) and special.split(",")[0].strip() != "float", "")


def _split_template(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
