# SPDX-License-Identifier: BSD-3-Clause
"""Reads the rules of dispatch keys from the pinned tree: DispatchKey.h (the keys and their order), DispatchKeySet.h
and .cpp (which key covers which) and OperatorEntry.cpp (where the dispatcher looks, in which order).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.dispatch.blocks import matching
from cartographer.dispatch.keysets import Bits, UnknownFormError
from cartographer.expand.expander import Expander
from cartographer.expand.tokens import read_tokens, string_value
from cartographer.model.atlas import Unresolved
from cartographer.model.dispatch import CATCH_ALL, DIRECT, FALLBACK, KeyRules, Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cartographer.expand.macros import MacroTable
    from cartographer.expand.tokens import Token

KEYS = "c10/core/DispatchKey.h"
SETS_H = "c10/core/DispatchKeySet.h"
SETS_CPP = "c10/core/DispatchKeySet.cpp"
ENTRY = "aten/src/ATen/core/dispatch/OperatorEntry.cpp"
PATHS = (KEYS, SETS_H, SETS_CPP, ENTRY)

# The order of OperatorEntry.cpp of PyTorch 2.x, for sources without .cpp files (wheels).
_LOOKS = (
    Look(DIRECT, "kernel"),
    Look("CompositeExplicitAutogradNonFunctional", "default backend kernel", "CompositeExplicitAutogradNonFunctional"),
    Look("CompositeExplicitAutograd", "default backend kernel", "CompositeExplicitAutograd"),
    Look("CompositeImplicitAutogradNestedTensor", "nested kernel", "CompositeImplicitAutogradNestedTensor"),
    Look("CompositeImplicitAutograd", "math kernel", "CompositeImplicitAutograd", without_backend_kernel=True),
    Look("Autograd", "autograd kernel", "Autograd"),
    Look("FuncTorchBatchedDecomposition", "batched kernel", "FuncTorchBatchedDecomposition"),
    Look(FALLBACK, "backend fallback"),
)
# To 1.6 the dispatcher looked at each call, in these three places alone (`dispatch_` of aten/src/ATen/core/dispatch/Dispatcher.h).
_LOOKS_OF_1_6 = (Look(DIRECT, "kernel"), Look(FALLBACK, "backend fallback"), Look(CATCH_ALL, "catch all"))


def read_rules(texts: Mapping[str, str], table: MacroTable) -> tuple[KeyRules | None, tuple[Unresolved, ...]]:
    """Read the rules from the texts of PATHS; notes say what could not be read. The rules are None without DispatchKey.h."""
    notes: list[Unresolved] = []
    if KEYS not in texts:
        return None, (Unresolved("dispatch", "dispatch keys", "this source has no DispatchKey.h", KEYS),)
    enums = dict(_enums(texts[KEYS], table))
    bits, alias, lines = _bits(enums)
    for path in (SETS_H, SETS_CPP):
        if path in texts:
            bits.read_constants(read_tokens(texts[path], path))
    covers = _covers(texts, bits, alias, notes)
    backend_keys = {
        key: frozenset(bits.members(value))
        for key, value in _switch_values(texts, bits, "getBackendKeySetFromAutograd")
        if value
    }
    looks, sources, catch_all = _precedence(texts.get(ENTRY))
    if not looks:
        reason = "not in a wheel" if ENTRY not in texts else "its form is unknown"
        notes.append(Unresolved("dispatch", "order of kernels", f"{reason}; that of PyTorch 2.x is taken", ENTRY))
        looks, sources, catch_all = _LOOKS, ("CompositeExplicitAutograd",), "CompositeImplicitAutograd"
    if not backend_keys:
        backend_keys = _backends_by_name(bits)
    rules = KeyRules(
        functionality=bits.functionality,
        per_backend={f: _prefix(bits, f) for f in bits.functionality if any(v == (f, b) for v in bits.runtime.values() for b in bits.backends)},
        backends=bits.backends,
        runtime=tuple(bits.runtime),
        alias=alias,
        same=bits.same,
        covers=covers,
        backend_keys=backend_keys,
        looks=looks,
        backend_kernel_sources=sources,
        catch_all=catch_all,
        included_by_default=tuple(bits.members(bits.sets.get("default_included_set", 0))),
        excluded_by_default=tuple(bits.members(bits.sets.get("default_excluded_set", 0))),
        functionality_of={key: functionality for key, (functionality, _) in bits.runtime.items()},
        lines=lines,
    )
    return rules, tuple(notes)


def _enums(text: str, table: MacroTable) -> Iterator[tuple[str, list[tuple[str, str | None, int]]]]:
    """Each `enum class`: its enumerators as (name, value as written or None, line), macros expanded."""
    tokens = read_tokens(text, KEYS)
    for index, token in enumerate(tokens[:-2]):
        if token.text != "enum" or tokens[index + 1].text != "class":
            continue
        open_at = next((i for i in range(index, len(tokens)) if tokens[i].text in ("{", ";")), len(tokens))
        if open_at == len(tokens) or tokens[open_at].text == ";":
            continue
        body = Expander(table, KEYS, token.line).expand(tokens[open_at + 1 : matching(tokens, open_at)])
        yield tokens[index + 2].text, list(_enumerators(body))


def _enumerators(tokens: Sequence[Token]) -> Iterator[tuple[str, str | None, int]]:
    at = 0
    while at < len(tokens):
        if tokens[at].kind != "name":
            at += 1
            continue
        name, line = tokens[at].text, tokens[at].line
        at += 1
        value: list[str] = []
        while at < len(tokens) and tokens[at].text != ",":
            value.append(tokens[at].text)
            at += 1
        yield name, "".join(value[1:]) if value[:1] == ["="] else None, line


def _bits(  # noqa: C901 - one case a kind of enumerator
    enums: Mapping[str, list[tuple[str, str | None, int]]],
) -> tuple[Bits, tuple[str, ...], dict[str, int]]:
    """Sort the enumerators: backends, functionality keys, runtime keys, alias keys, second names."""
    backends = tuple(
        name.removesuffix("Bit") for name, value, _ in enums.get("BackendComponent", ()) if value is None and name.endswith("Bit")
    )
    keys = enums.get("DispatchKey", ())
    same = {name: today for name, value, _ in keys if value is None and (today := named_today(name)) != name}
    functionality: list[str] = []
    runtime: dict[str, tuple[str, str]] = {}
    alias: list[str] = []
    lines: dict[str, int] = {}
    block = ""  # inside StartOf<X>Backends ... : X
    part = "functionality"
    for written, value, line in keys:
        name = same.get(written, written)
        start = re.fullmatch(r"StartOf(\w+)Backends", name)
        if start is not None:
            block, part = start.group(1), "runtime"
        elif re.fullmatch(r"EndOfFunctionalityKeys|NumDispatchKeys", name):
            part = "alias" if not backends else part
        elif re.match(r"EndOf|StartOf", name):
            part = "alias" if name == "EndOfRuntimeBackendKeys" else part
        elif value is not None and name != "Undefined":
            same[name] = value
        elif name != "Undefined":
            lines.setdefault(name, line)
            if part == "runtime":
                backend = next((b for b in sorted(backends, key=len, reverse=True) if name.endswith(b)), "")
                runtime[name] = (block, backend)
            elif part == "alias":
                alias.append(name)
            else:
                functionality.append(name)
    per_backend = {f for f, _ in runtime.values()}
    blocks = {b: next((f for f in functionality if f == b), b) for b in per_backend}
    runtime = {key: (blocks[f], b) for key, (f, b) in runtime.items()}
    ordered: dict[str, tuple[str, str]] = {}
    for name in functionality:  # the order of the dispatch table: each functionality, spread over the backends
        if name in per_backend:
            ordered.update((k, v) for k, v in runtime.items() if v[0] == name)
        else:
            ordered[name] = (name, "")
    resolved = {name: _first_name(value, same) for name, value in same.items()}
    return Bits(backends, tuple(functionality), ordered, resolved), tuple(alias), lines


def named_today(name: str) -> str:
    """A key as releases from 1.6 on and the lists of all of them name it: `CPU` is `CPUTensorId` in DispatchKey.h of 1.5."""
    return "Autograd" if name == "VariableTensorId" else name.removesuffix("TensorId").removesuffix("_")


def _first_name(name: str, same: Mapping[str, str]) -> str:
    seen = 0
    while name in same and seen < len(same):
        name, seen = same[name], seen + 1
    return name


def _prefix(bits: Bits, functionality: str) -> str:
    key, (_, backend) = next((k, v) for k, v in bits.runtime.items() if v[0] == functionality)
    return key.removesuffix(backend)


def _covers(
    texts: Mapping[str, str], bits: Bits, alias: tuple[str, ...], notes: list[Unresolved]
) -> dict[str, frozenset[str]]:
    """Which runtime keys each alias key fills (isIncludedInAlias)."""
    covers: dict[str, frozenset[str]] = {}
    source = texts.get(SETS_CPP)
    if source is not None:
        tokens = read_tokens(source, SETS_CPP)
        tests = dict(_cases(tokens, "runtimeDispatchKeySetHas"))
        sets = dict(_cases(tokens, "getRuntimeDispatchKeySet"))
        for name in alias:
            try:
                if name in tests:
                    covers[name] = frozenset(k for k in bits.runtime if bits.is_true(tests[name], k, name))
                elif name in sets:
                    covers[name] = frozenset(bits.members(bits.evaluate(sets[name])))
            except UnknownFormError as error:
                notes.append(Unresolved("dispatch", f"what {name} covers", f"unknown form: {error}", SETS_CPP))
    if covers:
        return covers
    if source is None:
        notes.append(Unresolved("dispatch", "what alias keys cover", "not in a wheel; the rule of PyTorch 2.x is taken", SETS_CPP))
    return _covers_by_default(bits, alias)


def _covers_by_default(bits: Bits, alias: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """DispatchKeySet.cpp of PyTorch 2.x on the sets of the pinned DispatchKeySet.h."""
    backend = bits.sets.get("autogradother_backends", 0) | bits.of_key("Dense")
    autograd = bits.sets.get("autograd_dispatch_keyset", 0)
    nested = bits.of_key("AutogradNestedTensor") | bits.of_key("NestedTensor") | bits.backend_mask
    non_functional = backend & ~bits.of_key("Sparse")
    for name in ("XLA", "Lazy"):
        if name in bits.backends:
            non_functional &= ~bits.backend_bit(name)
    math = backend | autograd | bits.of_key("NestedTensor") | bits.of_key("Functionalize")
    values = {
        "Autograd": autograd | bits.backend_mask,
        "CompositeImplicitAutograd": math,
        "CompositeImplicitAutogradNestedTensor": nested,
        "CompositeExplicitAutograd": backend,
        "CompositeExplicitAutogradNonFunctional": non_functional,
        "FuncTorchBatchedDecomposition": bits.sets.get("functorch_batched_ks", bits.of_key("FuncTorchBatched")),
    }
    return {name: frozenset(bits.members(values[name])) for name in alias if name in values}


def _cases(tokens: Sequence[Token], function: str) -> Iterator[tuple[str, list[Token]]]:
    """`case DispatchKey::X: return EXPRESSION;` of a function's switch: (X, the expression's tokens)."""
    for index, token in enumerate(tokens[:-1]):
        if token.text != function or tokens[index + 1].text != "(":
            continue
        close = matching(tokens, index + 1)
        if close + 1 >= len(tokens) or tokens[close + 1].text != "{":
            continue
        body = tokens[close + 2 : matching(tokens, close + 1)]
        pending: list[str] = []
        at = 0
        while at < len(body):
            if body[at].text == "case" and at + 3 < len(body):
                pending.append(body[at + 3].text)
                at += 4
            elif body[at].text == "return":
                end = next((i for i in range(at, len(body)) if body[i].text == ";"), len(body))
                yield from ((name, list(body[at + 1 : end])) for name in pending)
                pending = []
                at = end
            else:
                at += 1


def _switch_values(texts: Mapping[str, str], bits: Bits, function: str) -> Iterator[tuple[str, int]]:
    if SETS_CPP not in texts:
        return
    for name, expression in _cases(read_tokens(texts[SETS_CPP], SETS_CPP), function):
        try:
            yield name, bits.evaluate(expression)
        except UnknownFormError:
            continue


def _backends_by_name(bits: Bits) -> dict[str, frozenset[str]]:
    """AutogradX belongs to backend X; AutogradOther to autogradother_backends (DispatchKeySet.h)."""
    found = {f"Autograd{key}": frozenset({key}) for key in bits.runtime if f"Autograd{key}" in bits.runtime}
    nested = bits.of_key("NestedTensor") | bits.backend_mask
    found["AutogradNestedTensor"] = frozenset(bits.members(nested))
    found["AutogradOther"] = frozenset(bits.members(bits.sets.get("autogradother_backends", 0)))
    return {key: value for key, value in found.items() if value}


_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], tuple[str, str]]], ...] = (
    (r"isIncludedInAlias\(dispatch_key,DispatchKey::(\w+)\)", lambda m: ("covered", m.group(1))),
    (r"getKernelForDispatchKey\(DispatchKey::(\w+)\)", lambda m: ("source", m.group(1))),
    (r"getKernelForDispatchKey\(dispatch_key\)", lambda _: ("source", DIRECT)),
    (r"!catchAllKernel_|catchAllKernel_\.front", lambda _: ("source", CATCH_ALL)),
    (r"backendFallbackKernels_\[", lambda _: ("source", FALLBACK)),
    (r"!(?:has_backend_kernel|is_autograd_key_with_backend_kernel)", lambda _: ("without", "")),
    (r"(?:has_backend_kernel|is_autograd_key_with_backend_kernel)=([^;]*);", lambda m: ("backend", m.group(1))),
    (r'return\{[^;]*?"([^"]*)"\};', lambda m: ("return", m.group(1))),
)


def _precedence(text: str | None) -> tuple[tuple[Look, ...], tuple[str, ...], str]:
    """The order in which computeDispatchTableEntryWithDebug looks for kernels, the alias keys that count as backend
    kernels, and the key that a registration without one becomes.
    """
    if text is None:
        return (), (), CATCH_ALL
    if "setCatchallKernel" in text:
        return _LOOKS_OF_1_6, (), CATCH_ALL
    redirect = re.search(r"has_value\(\)\s*\?\s*\*dispatch_key\s*:\s*DispatchKey::(\w+)", text)
    catch_all = redirect.group(1) if redirect else CATCH_ALL
    tokens = read_tokens(text, ENTRY)
    for index, token in enumerate(tokens[:-1]):
        if token.text == "computeDispatchTableEntryWithDebug" and tokens[index + 1].text == "(":
            close = matching(tokens, index + 1)
            open_at = next((i for i in range(close, min(close + 4, len(tokens))) if tokens[i].text == "{"), None)
            if open_at is not None:
                looks, sources = _looks(tokens[open_at + 1 : matching(tokens, open_at)])
                return looks, sources, catch_all
    return (), (), catch_all


def _looks(body: Sequence[Token]) -> tuple[tuple[Look, ...], tuple[str, ...]]:
    text, places = "", []
    for token in body:
        places.append((len(text), token.line))
        text += f'"{string_value(token)}"' if token.kind == "string" else token.text
    events: list[tuple[int, str, str]] = []
    for pattern, read in _PATTERNS:
        events.extend((m.start(), *read(m)) for m in re.finditer(pattern, text))
    looks: list[Look] = []
    sources: list[str] = []
    source = covered = ""
    without = False
    for position, kind, value in sorted(events):
        if kind == "covered":
            covered = value
        elif kind == "source":
            source = value
        elif kind == "without":
            without = True
        elif kind == "backend":
            sources = re.findall(r"hasKernelForDispatchKey\(DispatchKey::(\w+)\)", value)
            without = False
        elif value not in ("missing", "ambiguous autogradother") and "mobile" not in value:
            line = max((line for at, line in places if at <= position), default=0)
            looks.append(Look(source, value, covered if source not in (DIRECT, FALLBACK) else "", without, line))
            source = covered = ""
            without = False
    return tuple(looks), tuple(sources)
