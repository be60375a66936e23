# SPDX-License-Identifier: BSD-3-Clause
"""Derives what the generated files register for each operator, with the generator's function that decides it.

torchgen/dest/register_dispatch_key.py (backend and composite keys), torchgen/gen.py (BackendSelect),
torchgen/gen_functionalization_type.py, tools/autograd/gen_variable_type.py, gen_inplace_or_view_type.py and
gen_trace_type.py.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from cartographer.codegen.function import IMPLICIT, NON_FUNCTIONAL, Function, tensor_options
from cartographer.codegen.grouping import Group, ViewGroup, by_view, grouped
from cartographer.codegen.matching import differentiable_outputs
from cartographer.codegen.sources import FUNCTIONALIZATION, GEN, MODEL, REGISTER
from cartographer.model.operator import Origin, Registration
from cartographer.model.schema import SchemaKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.codegen.matching import Matched
    from cartographer.codegen.sources import Sources

META = "Meta"
VARIABLE = "gen_variable_type.py"
INPLACE_OR_VIEW = "gen_inplace_or_view_type.py"
TRACE = "gen_trace_type.py"
FALLBACK = "torch::autograd::autogradNotImplementedFallback"

Found = dict[str, list[Registration]]  # by the operator's name


def wrapper_name(function: Function) -> str:
    """The name of the wrapper that is generated for a kernel: C++ name and overload (type_wrapper_name)."""
    overload = function.written.name.overload
    return f"{function.cpp_name}_{overload}" if overload else function.cpp_name


def build_conditions(sources: Sources) -> dict[str, str]:
    """Dispatch keys whose registrations a build may lack, and what a build with them must have: cuda, mps, xpu. Read from the predicates of
    torchgen/model.py (is_cuda_dispatch_key) and the options of torchgen/gen.py (--mps).
    """
    found: dict[str, str] = {}
    model = sources.module(MODEL)
    for name, function in (model.functions if model else {}).items():
        device = re.fullmatch(r"is_([a-z]+)_dispatch_key", name)
        for node in ast.walk(function.node) if device else ():
            if isinstance(node, ast.Attribute) and node.attr.endswith(device[1].upper() if device else "?"):
                found[node.attr] = device[1] if device else ""
    main = sources.function(GEN, "main")
    if main is None:
        return found
    sets = _key_sets(main.node)
    for node in ast.walk(main.node):
        if isinstance(node, ast.If):
            option = next((n.attr for n in ast.walk(node.test) if isinstance(n, ast.Attribute)
                           and isinstance(n.value, ast.Name) and n.value.id == "options"), "")
            found.update(dict.fromkeys(_ignored([*node.body, *node.orelse], sets), option))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "backends":  # up to 1.8
            keys = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            found.update({key: "cuda" for key in keys if "CUDA" in key})
    return found


def _key_sets(function: ast.FunctionDef) -> dict[str, list[str]]:
    return {
        node.targets[0].id: [n.attr for n in node.value.elts if isinstance(n, ast.Attribute)]
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Set)
    }


def _ignored(statements: list[ast.stmt], sets: dict[str, list[str]]) -> list[str]:
    """Keys that a branch adds to `ignore_keys`, or, up to 1.8, to `backends`."""
    keys: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("backends.append("):
            keys += [str(n.value) for n in ast.walk(statement) if isinstance(n, ast.Constant)]
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("ignore_keys."):
            nodes = list(ast.walk(statement))
            keys += [n.attr for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "DispatchKey"]
            keys += [key for n in nodes if isinstance(n, ast.Name) for key in sets.get(n.id, ())]
    return keys


class Registrar:
    """Derives the registrations that the generated files of one release make."""

    def __init__(self, functions: list[Function], matched: Iterable[Matched], sources: Sources) -> None:
        self._functions = functions
        self._matched = list(matched)
        self._sources = sources
        self._build = build_conditions(sources)
        self._keys = sources.constant(MODEL, "dispatch_keys") or ()
        self._groups = list(grouped(functions))
        generator = sources.function(REGISTER, "gen_unstructured")
        self._inplace_meta = generator is not None and "inplace_meta" in generator.names

    def all(self) -> Found:
        """The registrations of each operator: those of backend keys first, then those of the layers."""
        found: Found = defaultdict(list)
        for group in self._groups:
            self._backends(group, found)
        self._backend_select(found)
        self._functionalize(found)
        for matched in self._matched:
            self._autograd(matched, found[matched.function.name])
        self._trace(found)
        return found

    def _add(self, found: Found, function: Function, key: str, kernel: str | None, rule: str, *,
             structured: bool = False) -> None:
        named = function.kernels.get(key)
        origin = Origin.STRUCTURED if structured else Origin.GENERATED if function.generated else Origin.YAML
        build = (self._build[key],) if key in self._build else ()
        if named is not None and named.place is not None:
            rule = f"{named.place}, {rule}" if rule else str(named.place)
        if named is None and not structured:
            origin = Origin.GENERATED
        found[function.name].append(Registration(key, kernel, origin, build=build, rule=rule))

    def _backends(self, group: Group | Function, found: Found) -> None:
        structured = isinstance(group, Group) and group.structured
        for function in group.functions if isinstance(group, Group) else (group,):
            if function.manual_kernel_registration:
                continue
            if isinstance(group, Group) and structured:
                self._structured(group, function, found)
            else:
                self._unstructured(function, found)

    def _structured(self, group: Group, function: Function, found: Found) -> None:
        """gen_structured, gen_one: Meta for all of the group, a default for functional and in-place ones, and the
        out variant's kernel for each key where it is structured.
        """
        rule = self._rule("gen_structured")
        self._add(found, function, META, group.meta_class, rule, structured=True)
        if function.kind is not SchemaKind.OUT:
            self._add(found, function, NON_FUNCTIONAL, group.meta_class, rule, structured=True)
        shared = {key: k for key, k in group.out.kernels.items() if k.structured and self._supported(key)}
        for key, kernel in shared.items():
            self._add(found, function, key, kernel.symbol, rule, structured=function is not group.out)
        self._own(function, {*shared, META, NON_FUNCTIONAL}, found)

    def _unstructured(self, function: Function, found: Found) -> None:
        """gen_unstructured: the kernels of its own block; in-place operators without a composite also get a Meta
        kernel that only checks its argument.
        """
        self._own(function, set(), found)
        if (self._inplace_meta and function.kind is SchemaKind.INPLACE and META not in function.kernels and not function.composite
                and len(function.schema.returns) == 1):
            self._add(found, function, META, None, self._rule("gen_unstructured"))

    def _own(self, function: Function, done: set[str], found: Found) -> None:
        rule = self._rule("gen_unstructured")
        for key, kernel in function.kernels.items():
            if key not in done and self._supported(key):
                self._add(found, function, key, kernel.symbol, rule)

    def _rule(self, name: str) -> str:
        """Where the generator decides about backend kernels; before 1.8 in gen.py."""
        module = REGISTER if self._sources.function(REGISTER, name) else GEN
        return self._sources.rule(module, name, "compute_type_method")

    def _supported(self, key: str) -> bool:
        return not self._keys or key in self._keys

    def _backend_select(self, found: Found) -> None:
        """needs_backend_select: factories, which have no tensor to tell the backend by."""
        if (function := self._sources.function(GEN, "needs_backend_select", "compute_backend_select")) is None:
            return
        for f in self._functions:
            if not f.base.endswith("_like") and not f.base.startswith("new_") and tensor_options(f.schema):
                overload = f"_{f.written.name.overload}" if f.written.name.overload else ""
                found[f.name].append(Registration("BackendSelect", f"at::{f.cpp_name}{overload}", Origin.GENERATED,
                                                  rule=str(function.place)))

    def _functionalize(self, found: Found) -> None:
        """gen_functionalization_registration: views, and operators that write to an argument. Composites are
        registered as well (1.13), for views only (2.11), or not at all (2.6): the source says which.
        """
        rule = self._sources.function(FUNCTIONALIZATION, "gen_functionalization_registration")
        if rule is None:
            return
        text = rule.text
        composite_views = "if not g.view.has_composite_implicit_autograd_kernel" not in text
        composites = "modifies_arguments(f) or f.has_composite_implicit_autograd_kernel" in text
        views = [g for g in by_view(self._functions) if isinstance(g, ViewGroup)]
        fresh = rule.compared("str(g.view.func.name)")
        for view in views:
            for f in (view.view, view.inplace) if view.view.name not in fresh else ():
                if f is not None and (composite_views or not f.implicit):
                    self._functional(f, found, str(rule.place))
        skipped = rule.compared("str(f.func.name)")
        for members in self._functionalized(views, rule.compared("str(g.inplace.func.name)")):
            acting = [f for f in members if composites or not f.implicit]
            for f in acting if not any(f.name in skipped for f in acting) else ():
                if f.kind in (SchemaKind.INPLACE, SchemaKind.OUT, SchemaKind.MUTABLE) or (composites and f.implicit):
                    self._functional(f, found, str(rule.place))

    def _functionalized(self, views: list[ViewGroup], by_hand: frozenset[str]) -> Iterator[tuple[Function, ...]]:
        """Groups, then the functions in neither a group nor a view group."""
        excluded = self._sources.strings(FUNCTIONALIZATION, "MUTABLE_OPS_NOT_USING_FUNCTIONALIZATION")
        taken = {f.name for view in views for f in view.functions}
        for group in self._groups:
            if isinstance(group, Group):
                taken.update(f.name for f in group.functions)
                if group.inplace is None or group.inplace.name not in by_hand:
                    yield group.functions
        for function in self._functions:
            if function.name not in taken and function.name not in excluded:
                yield (function,)

    def _functional(self, function: Function, found: Found, rule: str) -> None:
        """Composites decompose there, by their own kernel; a member of a group and of a view group counts once."""
        implicit = function.kernels.get(IMPLICIT)
        kernel = implicit.symbol if implicit else f"at::functionalization::{wrapper_name(function)}"
        if not any(r.key == "Functionalize" for r in found[function.name]):
            found[function.name].append(Registration("Functionalize", kernel, Origin.GENERATED, rule=rule))

    def _autograd(self, matched: Matched, registrations: list[Registration]) -> None:
        """gen_variable_type_func and inplace_or_view_method_registration, for operators with a backend of their own."""
        function = matched.function
        if not matched.derived or function.cpp_name in by_hand(self._sources) or not self._sources.module(VARIABLE):
            return
        rule = self._sources.rule(VARIABLE, "gen_variable_type_func", "gen_variable_type_shard")
        if falls_back(matched, self._sources):
            registrations.append(Registration("Autograd", FALLBACK, Origin.GENERATED, boxed=True, rule=rule))
        else:
            for key in matched.infos or ("Default",):
                suffix = "" if key == "Default" else f"_{key}"
                registrations.append(Registration(
                    "Autograd" if key == "Default" else key,
                    f"torch::autograd::VariableType::{wrapper_name(function)}{suffix}", Origin.GENERATED, rule=rule,
                ))
        writes = function.kind in (SchemaKind.INPLACE, SchemaKind.OUT) and function.schema.returns
        if (writes or view_of(function, self._sources)) and self._sources.module(INPLACE_OR_VIEW) is not None:
            registrations.append(Registration(
                "ADInplaceOrView", f"torch::ADInplaceOrView::{wrapper_name(function)}", Origin.GENERATED,
                rule=self._sources.rule(INPLACE_OR_VIEW, "inplace_or_view_method_registration"),
            ))

    def _trace(self, found: Found) -> None:
        """gen_trace_type: every operator but those traced by hand."""
        module = TRACE if self._sources.module(TRACE) else VARIABLE
        if not (manual := self._sources.strings(module, "MANUAL_TRACER")):
            return
        rule = self._sources.rule(module, "gen_trace_type", "gen_variable_type_shard")
        for function in self._functions:
            if function.cpp_name not in manual:
                found[function.name].append(Registration(
                    "Tracer", f"torch::TraceType::{wrapper_name(function)}", Origin.GENERATED, rule=rule,
                ))


def by_hand(sources: Sources) -> frozenset[str]:
    """The C++ names of operators whose Autograd kernels torch/csrc/autograd/VariableTypeManual.cpp registers."""
    return sources.strings(TRACE if sources.module(TRACE) else VARIABLE, "MANUAL_AUTOGRAD")


def base_name(function: Function) -> str:
    """An operator's name without in-place underscore and dunders (get_base_name)."""
    return function.schema.name.root


def view_of(function: Function, sources: Sources) -> str | None:
    """The argument of which a view function's result is a view (get_view_info)."""
    known = sources.constant(INPLACE_OR_VIEW, "VIEW_FUNCTIONS")
    found = known.get(base_name(function)) if isinstance(known, dict) else None
    if found is None and base_name(function) in sources.strings(INPLACE_OR_VIEW, "RETURNS_VIEWS_OF_INPUT"):
        return "self"
    return found if isinstance(found, str) else None


def falls_back(matched: Matched, sources: Sources) -> bool:
    """Whether the generated code registers only the boxed kernel which raises that no derivative is implemented
    (gen_variable_type.py, NOTE: [ Registering AutogradNotImplemented boxed kernel ]).
    """
    function = matched.function
    if matched.infos or sources.function(VARIABLE, "gen_variable_type_func") is None:
        return False
    storage = sources.strings(VARIABLE, "DONT_ENFORCE_STORAGE_IMPL_USE_COUNT")
    tensors = sources.strings(VARIABLE, "DONT_ENFORCE_TENSOR_IMPL_USE_COUNT")
    return (
        function.base not in sources.strings(VARIABLE, "RESET_GRAD_ACCUMULATOR")
        and base_name(function) not in sources.strings(VARIABLE, "DONT_REQUIRE_DERIVATIVE")
        and function.cpp_name not in sources.strings(VARIABLE, "DONT_ENFORCE_SAME_TENSOR_IMPL_OR_STORAGE")
        and wrapper_name(function) not in storage
        and wrapper_name(function) not in tensors
        and bool(differentiable_outputs(function, None))
    )
