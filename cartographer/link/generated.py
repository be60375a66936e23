# SPDX-License-Identifier: BSD-3-Clause
"""Describes kernels that only the build writes: which generator writes them, at which line, from which template, and what they call.

torchgen/native_function_generation.py and torchgen/gen_functionalization_type.py write out=, functional and copying
variants (CompositeViewCopyKernels.cpp), torchgen/dest/ufunc.py the kernels of `ufunc_inner_loop`,
torchgen/dest/register_dispatch_key.py the wrappers of structured operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.link.steps import definition_step
from cartographer.model.operator import Origin, Step
from cartographer.model.serving import generated_of

if TYPE_CHECKING:
    from cartographer.link.tree import Tree
    from cartographer.model.operator import Operator, Registration

_COPIES = ("torchgen/native_function_generation.py", "torchgen/gen_functionalization_type.py")
_UFUNC = "torchgen/dest/ufunc.py"
_WRAPPERS = ("torchgen/dest/register_dispatch_key.py", "tools/codegen/dest/register_dispatch_key.py")
_TEMPLATES = "aten/src/ATen/templates/"


def generated_steps(tree: Tree, operator: Operator, registration: Registration, device: str) -> tuple[Step, ...] | None:
    """The steps of a kernel that the build writes; None when the kernel should have a definition in the tree."""
    symbol = registration.kernel or ""
    if registration.origin is Origin.GENERATED:
        return _copy(tree, operator, symbol) if symbol else _shape_only(tree, operator)
    if "structured_ufunc_" in symbol:
        return _ufunc(tree, symbol, device)
    if registration.key == "CompositeExplicitAutogradNonFunctional" and registration.origin is Origin.STRUCTURED:
        return _default_backend(tree, operator, registration)
    if operator.base.endswith("_copy") and _variant(tree, operator) is not None and tree.entries("cpu").find(operator, registration).defined is None:
        return _copy(tree, operator, symbol)  # a view's copy that stands in the yaml: the build writes its kernel all the same
    return None


def _python(tree: Tree, paths: tuple[str, ...], name: str) -> tuple[str, int] | None:
    """The place of a generator's function."""
    for path in paths:
        facts = tree.facts.get(path)
        for definition in facts.definitions if facts is not None else ():
            if definition.name == name:
                return path, definition.line
    return None


def _written_by(tree: Tree, symbol: str, paths: tuple[str, ...], name: str, template: str) -> Step | None:
    place = _python(tree, paths, name)
    if place is None:
        return None
    return Step("entry", symbol, *place, f"written by the build: {name} with {_TEMPLATES}{template}")


def _copy(tree: Tree, operator: Operator, symbol: str) -> tuple[Step, ...]:
    view_copy = operator.base.endswith("_copy") and not operator.overload.endswith("out")
    is_out = "out" in operator.overload or "!" in operator.schema
    name = "gen_composite_view_copy_kernel" if view_copy else ("gen_composite_out_kernel" if is_out else "gen_composite_functional_kernel")
    step = _written_by(tree, symbol, _COPIES, name, "CompositeViewCopyKernels.cpp") or _written_by(
        tree, symbol, _COPIES, "GenCompositeViewCopyKernel", "CompositeViewCopyKernels.cpp")
    steps = [step] if step is not None else []
    known, source = tree.by_name.by_name, operator.generated_from
    base = known.get(generated_of(source, operator.name, known)) if source else None
    if base is None:
        base = _variant(tree, operator)
    if base is not None and base.name != operator.name:
        steps.append(_declared(base))
    if step is None:
        steps.insert(0, Step("entry", symbol, operator.declared.path, operator.declared.line, "written by the build for this row"))
    return tuple(steps)


def _shape_only(tree: Tree, operator: Operator) -> tuple[Step, ...]:
    """The Meta kernel of an in-place operator: its generated wrapper looks at the argument's shape and calls nothing."""
    step = _written_by(tree, operator.base, _WRAPPERS, "gen_unstructured", "RegisterDispatchKey.cpp")
    return (step,) if step is not None else ()


def _variant(tree: Tree, operator: Operator) -> Operator | None:
    """The operator that a generated one wraps: the same name without `_copy`, or its functional form."""
    found = tree.written.get((operator.namespace, operator.base.removesuffix("_copy")), [])
    same = [o for o in found if o.overload == operator.overload]
    return next(iter(same or found), None)


def _declared(operator: Operator) -> Step:
    spelled = f"{operator.base}_{operator.overload}" if operator.overload else operator.base
    written = f"{operator.base}.{operator.overload}" if operator.overload else operator.base
    return Step("calls", written, operator.declared.path, operator.declared.line, f"at::_ops::{spelled}::call: {operator.name}")


def _ufunc(tree: Tree, symbol: str, device: str) -> tuple[Step, ...]:
    cuda = device == "cuda"
    steps = []
    entry = _written_by(tree, f"{symbol}::impl", (_UFUNC,), "compute_ufunc_cuda" if cuda else "compute_ufunc_cpu", "UfuncCUDA.cu" if cuda else "UfuncCPU.cpp")
    if entry is not None:
        steps.append(entry)
    base = symbol.partition("structured_ufunc_")[2].rpartition("_")[0]
    places = tree.stubs.find(f"{base}_stub", ("at", "native"))
    if places is not None:
        for path, line in (places.defined or places.declared)[:1]:
            steps.append(Step("stub", places.name, path, line, "defined and registered in generated code"))
    return (*steps, *ufunc_kernel(tree, base, device))


def ufunc_kernel(tree: Tree, base: str, device: str) -> tuple[Step, ...]:
    """The kernel that the build writes and registers for the stub of a `ufunc_inner_loop`, and the loops that it runs."""
    cuda = device == "cuda"
    loops = [d for d in tree.index.named(base) if "/native/ufunc/" in d.path]
    if not loops or device not in ("cuda", "cpu"):
        return ()
    steps = []
    kernel = _written_by(tree, f"at::native::{base}_kernel", (_UFUNC,), "compute_ufunc_cuda" if cuda else "compute_ufunc_cpu_kernel", "UfuncCUDA.cu" if cuda else "UfuncCPUKernel.cpp")
    if kernel is not None:
        steps.append(Step("kernel", kernel.symbol, kernel.path, kernel.line, kernel.note))
    steps.extend(definition_step("device", d, "the inner loop, written by hand") for d in (loops[:1] if cuda else loops))
    return tuple(steps)


def _default_backend(tree: Tree, operator: Operator, registration: Registration) -> tuple[Step, ...]:
    """A structured operator on a backend without a kernel: shape function, then the out= operator through the dispatcher."""
    steps: list[Step] = []
    entry = tree.entries("cpu").find(operator, registration)
    if entry.defined is not None:
        steps.append(definition_step("entry", entry.defined, "shape; the wrapper is written by the build (torchgen/dest/register_dispatch_key.py)"))
    else:
        step = _written_by(tree, registration.kernel or operator.name, _WRAPPERS, "StructuredRegisterDispatchKey", "RegisterDispatchKey.cpp")
        if step is not None:
            steps.append(step)
    delegate = tree.by_name.by_name.get(f"{operator.namespace}::{operator.structured_delegate}")
    if delegate is not None:
        steps.append(_declared(delegate))
    return tuple(steps)
