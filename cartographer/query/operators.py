# SPDX-License-Identifier: BSD-3-Clause
"""Resolves what people write to the operators that they mean, and tells by which of its names each was found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.query import qualified, spelling
from cartographer.store.search_words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cartographer.store.lookup import Lookup

# Much of it is names bound to functions of the extension module: `linear = _add_docstr(torch._C._nn.linear, ...)`.
_FUNCTIONAL = "torch.nn.functional"

# The dispatcher's words for one schema's functions: at::_ops::add_Tensor::call (aten/src/ATen/templates/Operator.h).
_CALLS = ("::call", "::redispatch", "::schema", "::name", "::overload_name")


@dataclass(frozen=True, slots=True)
class Through:
    """A Python function or class that leads from a name to its operator."""

    name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Named:
    """The operators behind a name. `said` tells how the name was understood; `exact` that it names one overload."""

    said: str
    names: tuple[str, ...]
    exact: bool = False
    through: tuple[Through, ...] = ()
    key: str = ""  # the dispatch key that the name holds
    node: str = ""  # the autograd Node that it names


def resolve(lookup: Lookup, text: str) -> Named | None:
    """The operators that `text` names; None when it names none (it may still be a symbol, a file or a place)."""
    text = spelling.trimmed(text)
    for reading in _READINGS:
        found = reading(lookup, text)
        if found is not None:
            return found
    return None


def _full_name(lookup: Lookup, text: str) -> Named | None:
    """aten::add.Tensor, aten::add"""
    namespace, colons, rest = text.partition("::")
    if not colons or "::" in rest or namespace == "at":
        return None
    base, dot, _ = rest.partition(".")
    exact = lookup.by_name(text)
    if exact and (dot or lookup.by_base(base, namespace) == exact):
        return Named("the operator overload", exact, exact=True)
    group = () if dot else lookup.by_base(base, namespace)
    return Named(f"all overloads of {text}", _preferred(group, exact)) if group else None


def _bare_name(lookup: Lookup, text: str) -> Named | None:
    """add, add.Tensor, __and__"""
    if "::" in text:
        return None
    base, dot, overload = text.partition(".")
    group = lookup.by_base(base)
    if dot:
        wanted = "" if overload == "default" else "." + overload
        found = tuple(name for name in group if name.partition("::")[2] == base + wanted)
        return Named("the operator overload", found, exact=len(found) == 1) if found else None
    if not group:
        return None
    aten = tuple(name for name in group if name.startswith("aten::")) or group
    return Named(f"all overloads of {aten[0].partition('.')[0]}", _preferred(aten, lookup.by_name(f"aten::{base}")))


def _torch_ops(lookup: Lookup, text: str) -> Named | None:
    """torch.ops.aten.add.Tensor, aten.add.default"""
    name = spelling.torch_ops(text)
    return _full_name(lookup, name) if name else None


_OVER_BINDINGS = "torch/functional.py"
_FAR = 3  # how many imports deep a name may come from: torch -> torch.nn -> torch.nn.modules -> linear.py


def _python(lookup: Lookup, text: str) -> Named | None:
    """torch.add, torch.Tensor.add_, F.softmax, torch.linalg.svd, nn.Conv2d"""
    for name in spelling.python_names(text):
        module, _, last = name.rpartition(".")
        through = python_symbols(lookup, module, last)
        found = lookup.by_python(name)
        if found:
            return Named(f"the Python name {name}", found, through=through)
        tail = module.rpartition(".")[2]
        found = lookup.by_base(f"{tail}_{last}", "aten")  # python_module of the yaml: torch.linalg.svd is linalg_svd
        for base in _alike(last) if through else ():
            found = found or lookup.by_base(base, "aten")
        if not found and module == _FUNCTIONAL:
            for alias in (f"torch._C._nn.{last}", f"torch.{last}"):
                if names := lookup.by_python(alias):
                    return Named(f"{alias}; torch/nn/functional.py defines no function of its own called {last}", names)
        if found:
            return Named(_python_said(name, found[0], through), _preferred(found, found[:1]), through=through)
    return None


def namesake(lookup: Lookup, text: str) -> Named | None:
    """The operators whose base name ends a Python name that is none: `torch.gelu`, where gelu is bound elsewhere."""
    text = spelling.trimmed(text)
    return _bare_name(lookup, text.rpartition(".")[2]) if spelling.python_names(text) and text.replace(".", "").isidentifier() else None


def _alike(last: str) -> tuple[str, ...]:
    """Operators that a Python function or class of this name may stand for: softmax -> softmax, LayerNorm -> layer_norm."""
    snake = "".join(f"_{c.lower()}" if c.isupper() and i and not last[i - 1].isupper() else c.lower() for i, c in enumerate(last))
    return tuple(dict.fromkeys((last, snake, f"_{last}")))


def _python_said(name: str, operator: str, through: tuple[Through, ...]) -> str:
    base = operator.partition(".")[0]
    if through:
        return f"{name} is Python code; {base} is the operator of that name"
    return f"{name} is the operator {base}"


def python_symbols(lookup: Lookup, module: str, last: str) -> tuple[Through, ...]:
    """The Python function or class of this name: of the module's own file, torch/nn/functional.py for torch.nn.functional,
    else of the one file that it imports soonest.

    Where a binding has the name, the binding is meant, but for torch/functional.py, whose names torch/__init__.py puts over
    the bindings. Of several files that are imported equally soon, none is taken.
    """
    folder = "torch/_tensor" if module == "torch.Tensor" else module.replace(".", "/")
    called = [s for s in lookup.symbols_called(last) if s.path.endswith(".py")]
    own = {f"{folder}.py", f"{folder}/__init__.py", *(("torch/tensor.py",) if module == "torch.Tensor" else ())}  # to 1.8
    found = [s for s in called if s.path in own or (module == "torch" and s.path == _OVER_BINDINGS)]
    if not found and module != "torch.Tensor" and not lookup.by_python(f"{module}.{last}"):  # no function of a file that it imports is its method
        outer = [s for s in called if s.qualname == last]
        path = _imported_soonest(lookup, own, {s.path for s in outer})
        found = [s for s in outer if s.path == path]
    found.sort(key=lambda s: (s.path not in own, s.qualname.count("."), s.line))
    return tuple(Through(s.qualname, s.path, s.line) for s in found[:1])


def _imported_soonest(lookup: Lookup, start: set[str], wanted: set[str]) -> str | None:
    seen, edge = set(start), sorted(start)
    for _ in range(_FAR if wanted else 0):
        edge = [path for path in lookup.includes_of(edge) if path not in seen]
        seen.update(edge)
        if reached := wanted.intersection(edge):
            return reached.pop() if len(reached) == 1 else None
    return None


def _binding(lookup: Lookup, text: str) -> Named | None:
    """THPVariable_randn, torch::autograd::THPVariable_randn(_object*, _object*, _object*)"""
    function = _scope(text).rpartition("::")[2]
    found = lookup.by_binding(function)
    return Named(f"the C function of a Python binding{_where_bound(lookup, function)}", found) if found else None


def _where_bound(lookup: Lookup, function: str) -> str:
    """Where the C function stands; the build writes most of them, so that no search in a clone finds it."""
    written: dict[str, set[str]] = {}
    for file, path, _, generator, line in lookup.binding_places(function):
        if path is None:
            written.setdefault(f" by {generator}:{line}" if generator else "", set()).add(file)
    return "".join(f"; the build writes it into {', '.join(sorted(files))}{by}" for by, files in written.items())


# x[mask], x[1:, None] = y; not the `foo[abi:cxx11]` and `foo[clone .cold]` of symbols
_INDEXED = r"[A-Za-z_][\w.]*\[(?!abi:|clone\b)[^\[\]]*\](\s*=(?!=).*)?"


def _indexing(lookup: Lookup, text: str) -> Named | None:
    """x[mask], x[i, j] = y, torch.Tensor.__getitem__: no binding has these names, Python's brackets call a function written by hand"""
    name = next(iter(spelling.python_names(text)), "").removeprefix("torch.Tensor.")
    found = re.fullmatch(_INDEXED, text)
    if found is None and name not in {"__getitem__", "__setitem__"}:
        return None
    sets = name == "__setitem__" or (found is not None and found[1] is not None)
    function, operator = ("THPVariable_setitem", "aten::index_put_") if sets else ("THPVariable_getitem", "aten::index.Tensor")
    bodies = lookup.symbols_called(function)
    names = lookup.by_name(operator)
    if not bodies or not names:
        return None
    said = "puts values there" if sets else "gives what is there"
    return Named(f"Python's brackets: {function} takes numbers and slices by aten::select and aten::slice; a tensor or a mask {said} by {operator}",
                 names, through=tuple(Through(s.qualname, s.path, s.line) for s in bodies[:1]))  # fmt: skip


def _node(lookup: Lookup, text: str) -> Named | None:
    """AddBackward0, torch::autograd::generated::AddBackward0::apply(...), AddBackward"""
    last = _scope(text).removesuffix("::apply").rpartition("::")[2]
    found = lookup.by_node(last)
    if found:
        return Named(f"operators that record the autograd Node {last}", found, node=last)
    numbered = lookup.nodes_beginning(last) if last.endswith("Backward") else ()
    names = tuple(dict.fromkeys(name for node in numbered for name in lookup.by_node(node)))
    return Named(f"operators that record an autograd Node {last}…", names) if names else None


def _cpp(lookup: Lookup, text: str) -> Named | None:
    """at::add, at::Tensor::add, Tensor::add, at::_ops::add_Tensor::call(...), at::cuda::add, at::redispatch::add"""
    name = _scope(text)
    for call in _CALLS:
        name = name.removesuffix(call)
    name = name.replace("at::redispatch::", "at::", 1)
    if name.startswith(("Tensor::", "_ops::")):
        name = f"at::{name}"
    found = lookup.by_cpp(name)
    if found:
        exact = "_ops::" in name
        return Named(f"the C++ name {name}", found, exact=exact and len(found) == 1)
    parts = name.split("::")
    # torchgen writes at::cpu::add, at::cuda::add ... into XFunctions_inl.h for each dispatch key, and those of alias keys.
    if len(parts) == 3 and parts[0] == "at" and (parts[1].startswith("composite") or parts[1] in map(str.lower, lookup.dispatch_keys())):
        found = lookup.by_cpp(f"at::{parts[2]}")
        if found:
            return Named(f"at::{parts[2]} for the dispatch key of {parts[1]}", found)
    return None


def _scope(text: str) -> str:
    """The qualified name of a C++ symbol, as it stands in a stack trace; any other text as it is."""
    return qualified.scope_of(text) if "::" in text and not qualified.is_sentence(text) else text


def _kernel(lookup: Lookup, text: str) -> Named | None:
    """at::native::add_out, native::add_out, VariableType::add_Tensor: kernels that registrations name, with as much of their namespaces as is given"""
    name = _scope(text)
    if "(" in name or "<" in name:
        return None
    owner, _, last = name.rpartition("::")
    if last in {"impl", "meta"} and "structured_" in owner:  # what TORCH_IMPL_FUNC and TORCH_META_FUNC define in the class of the operator
        name = owner
    for symbol in (name, f"at::{name}", name.replace("at::native::", "at::native::structured_", 1)):
        found = lookup.by_kernel(symbol)
        if found:
            return Named(f"operators with the kernel {symbol}", found)
    fitting = [symbol for symbol in lookup.kernels_called(plain(name)) if qualified.fits(name, symbol)] if "::" in text else []
    fitting = [symbol for symbol in fitting if "<" in symbol and symbol in text] or fitting
    names = tuple(dict.fromkeys(operator for symbol in fitting for operator in lookup.by_kernel(symbol)))
    return Named(f"operators with the kernel {' or '.join(fitting)}", names) if names else None


def _wrapper(lookup: Lookup, text: str) -> Named | None:
    """at::(anonymous namespace)::wrapper_CUDA_add_Tensor(...): what the build writes around a kernel and registers"""
    name = qualified.scope_of(text)
    key, names = qualified.wrapped(lookup, name.removeprefix("at::"))
    said = f"the function of {' or '.join(names)} that the build writes for {key} around the kernel ({lookup.wrapper_writer()})"
    return Named(said, names, exact=len(names) == 1, key=key) if names else None


def _preferred(names: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    """The overload without a name first, out= overloads last; else the order of the declarations."""
    return tuple(sorted(names, key=lambda name: (name not in first, name.endswith(("out", "_out")), names.index(name))))


_READINGS: tuple[Callable[[Lookup, str], Named | None], ...] = (
    _full_name, _bare_name, _torch_ops, _python, _binding, _node, _cpp, _kernel, _wrapper, _indexing,
)  # fmt: skip


def in_sentence(lookup: Lookup, text: str) -> Named | None:
    """The operators whose names occur in a sentence, such as an error message."""
    if not any(character.isspace() for character in text.strip()):
        return None
    names = [name for candidate in spelling.operators_in(text) for found in [_full_name(lookup, candidate)] if found for name in found.names]
    for wrapper in qualified.wrappers_in(text) if not names else ():
        if found := _wrapper(lookup, wrapper):
            return found
    return Named("operators that the text names", tuple(dict.fromkeys(names))) if names else None


_ENDINGS = "h|hpp|cpp|cc|cu|cuh|py|pyi|mm|metal|yaml|in"  # of files, which no atlas may have


def other_overloads(lookup: Lookup, text: str) -> tuple[str, ...]:
    """The overloads of an operator of which `text` names one that does not exist: `addmm.foo`."""
    found = re.fullmatch(rf"(?:(\w+)::)?(\w+)\.(?!(?:{_ENDINGS})\Z)(\w+)", spelling.torch_ops(plain_text := spelling.trimmed(text)) or plain_text)
    return lookup.by_base(found[2], found[1] or "aten") if found else ()


def near_misses(lookup: Lookup, text: str, most: int = 5) -> tuple[str, ...]:
    """Names that are spelled like this one, best first: the same words in another order, then similar ones."""
    wanted = plain(spelling.trimmed(text)).rpartition(".")[2].lower() or text.lower()
    best: dict[str, tuple[float, int, str]] = {}
    for place, (kind, name) in enumerate(lookup.all_names()):
        last = name.rpartition("." if kind == "python" else "::")[2]  # torch.add and aten::add are one proposal
        if 2 * min(len(last), len(wanted)) < 0.6 * (len(last) + len(wanted)) and wanted not in last:
            continue
        for likeness in _likeness(wanted, text.lower(), kind, name):
            if last not in best or likeness > -best[last][0]:
                best[last] = (-likeness, place, name)
    return tuple(name for _, _, name in sorted(best.values())[:most])


def _likeness(wanted: str, whole: str, kind: str, name: str) -> Iterator[float]:
    """How like two names are, when they are like enough."""
    import difflib

    last = name.rpartition("::")[2].lower()
    if kind == "python":
        last = last.rpartition(".")[2]
    elif "." in last and "." not in whole:
        return
    bonus = 0.05 if kind == "operator" else 0.0
    shorter, longer = sorted((len(wanted), len(last)))
    if not shorter or longer > shorter * 2 + 4:
        return
    if wanted in last and shorter * 2 >= longer and shorter > 2:
        yield 0.8 + bonus + 0.1 * shorter / longer
        return
    matcher = difflib.SequenceMatcher(None, last, wanted)
    if matcher.real_quick_ratio() > 0.7 and matcher.quick_ratio() > 0.7:
        ratio = matcher.ratio()
        if ratio > 0.7:
            yield ratio + bonus
