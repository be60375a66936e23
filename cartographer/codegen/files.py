# SPDX-License-Identifier: BSD-3-Clause
"""Finds the files that PyTorch's build writes, from the calls by which the generators use their file manager."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cartographer.codegen import constants, shards
from cartographer.codegen.sources import GEN, MODEL, Module, Sources, callee, text_of
from cartographer.model.atlas import GeneratedFile

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

_SUFFIXES = (".h", ".cpp", ".cu", ".yaml", ".py")
_AUTOGRAD = "tools/autograd/templates/"
_ATEN = "aten/src/ATen/templates/"

# What a file holds, by its template or name; those not listed are described by their generator alone.
_HOLDS = {
    "RegisterDispatchKey.cpp": "Wrappers around the kernels of one dispatch key, and their registration.",
    "RegisterBackendSelect.cpp": "Kernels that pick a backend for factories, which have no tensor to tell it by.",
    "RegisterSchema.cpp": "The schema of every operator, as the dispatcher learns it.",
    "RegisterFunctionalization.cpp": "Kernels that turn writes and views into pure operators.",
    "CompositeViewCopyKernels.cpp": "Kernels of the operators that torchgen adds.",
    "Operators.cpp": "The entry from C++ into the dispatcher, one function an operator.",
    "Operator.h": "Declares the entry into the dispatcher and the schema of the overloads of one name.",
    "Functions.h": "The C++ functions at::… of all names.",
    "NativeFunctions.h": "Declares all kernels, which are written by hand.",
    "Function.h": "The C++ functions at::… of one name.",
    "NativeFunction.h": "Declares the kernels of one name, which are written by hand.",
    "NativeMetaFunction.h": "Declares the classes of structured operators of one name.",
    "DispatchKeyFunction.h": "C++ functions that call the kernels of one backend directly.",
    "TensorBody.h": "The class Tensor with all its methods.",
    "UfuncCPU.cpp": "The CPU kernel of an operator declared by ufunc_inner_loop.",
    "UfuncCPUKernel.cpp": "The vectorised loop of an operator declared by ufunc_inner_loop.",
    "UfuncCUDA.cu": "The CUDA kernel of an operator declared by ufunc_inner_loop.",
    "VariableType.cpp": "Autograd kernels: each records the node that goes back, then calls the layer below.",
    "ADInplaceOrViewType.cpp": "Kernels that count versions of written tensors and record views.",
    "TraceType.cpp": "Kernels that record a call in the graph of the tracer.",
    "autograd/Functions.h": "The node classes of autograd, with what each saves.",
    "autograd/Functions.cpp": "What each autograd node computes on the way back.",
    "python_functions.cpp": "Autograd nodes as Python classes.",
    "python_variable_methods.cpp": "The methods of torch.Tensor.",
    "python_torch_functions.cpp": "The functions of torch.",
    "python_return_types.cpp": "The named tuples that functions return.",
    "python_enum_tag.cpp": "The tags of operators as a Python enum.",
    "ViewFuncs.cpp": "Functions that replay a view on another tensor.",
    "variable_factories.h": "torch::… factories of the C++ front end.",
    "VmapGeneratedPlumbing.h": "Kernels that unwrap batched tensors for vmap.",
}
_STUBS = "gen_pyi.py"
_TYPES = {
    "torch/_C/_VariableFunctions.pyi": "Types of the functions of torch, for editors and type checkers.",
    "torch/_C/__init__.pyi": "Types of the extension module and of torch.Tensor, for editors and type checkers.",
}
_NONE = GeneratedFile("", "", 0, None, 0, "")


def generated_files(files: Mapping[str, bytes], paths: Container[str] | None = None) -> tuple[GeneratedFile, ...]:
    """The generated files of a tree, sorted by name: see `files_of`."""
    return files_of(Sources(files), paths)


def files_of(sources: Sources, paths: Container[str] | None = None) -> tuple[GeneratedFile, ...]:
    """The generated files, sorted by name; a name with a placeholder, `{name}_ops.h`, is for many files. `paths` are all paths of
    the tree: a template that is not among them is not named.
    """
    files = sources.files
    found: dict[tuple[str, str], GeneratedFile] = {}
    modules = [GEN, *sorted(p.rpartition("/")[2] for p in files if p.startswith("tools/autograd/gen_"))]
    for name in modules:
        module = sources.module(name)
        for file, template, line in _writes(module) if module else ():
            path = module.path if module else name
            of = "autograd/" if path.startswith("tools/autograd/") else ""
            for key, made in _expanded(file, sources):
                count = shards.count_of(sources, name, file, key)
                made = shards.name_of(made, 0) if count == 1 else made  # noqa: PLW2901 - split in one part: `_0`
                holds = next((_HOLDS[n] for n in (of + template, template, made) if n in _HOLDS), f"Written by {name}.")
                source = _template(template, files, of)
                source = source if paths is None or source in paths else None
                entry = GeneratedFile(made, path, line, source, count or 1, holds)
                if entry.shards > found.get((made, path), _NONE).shards:  # a first pass may write it whole
                    found[made, path] = entry
    found |= {(entry.name, entry.generator): entry for entry in _stubs(sources.module(_STUBS), paths)}
    return tuple(found[name] for name in sorted(found))


def _stubs(module: Module | None, paths: Container[str] | None) -> Iterator[GeneratedFile]:
    """The files of types, by their whole paths: several are called alike, and they stand beside checked-in ones."""
    for function in module.functions.values() if module else ():
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call) and callee(node.func).startswith("write"):
                texts = [text_of(argument) for argument in node.args]
                name = next((text for text in texts if text.endswith(".pyi")), "")
                template = next((text for text in texts if text.endswith(".pyi.in")), f"{name}.in")
                if module and name:
                    says = _TYPES.get(name, "Types, for editors and type checkers.")
                    yield GeneratedFile(name, module.path, node.lineno, template if paths is None or template in paths else None, 1, says)


def _writes(module: Module) -> Iterator[tuple[str, str, int]]:
    """File, template and line of each call that writes a file."""
    for function in module.functions.values():
        for node in ast.walk(function.node):
            if not isinstance(node, ast.Call) or not callee(node.func).startswith(("write", "create_python_")):
                continue
            for names in _names(node, function.node):
                if names:
                    yield names[0], names[-1], node.lineno


def _names(call: ast.Call, function: ast.FunctionDef) -> Iterator[list[str]]:
    """File names among the arguments; a variable gives a list for each value that loops and assignments give it."""
    fixed = [text for a in call.args if (text := text_of(a)).endswith(_SUFFIXES)]
    if fixed:
        yield fixed
        return
    variables = {a.id for a in call.args if isinstance(a, ast.Name)}
    for values in _settings(function):
        yield [v for name, v in values.items() if name in variables and isinstance(v, str) and v.endswith(_SUFFIXES)]


def _settings(function: ast.FunctionDef) -> Iterator[dict[str, object]]:
    """Values of a function's variables, once for each turn of its loops over literals."""
    fixed: dict[str, object] = {}
    loops: list[ast.For] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            fixed.update(_assigned(node, fixed))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.List):
            loops.append(node)
    yield fixed
    for loop in loops:
        for item in loop.iter.elts if isinstance(loop.iter, ast.List) else ():
            values = {**fixed, ast.unparse(loop.target): text_of(item)}
            for node in ast.walk(loop):
                if isinstance(node, ast.Assign):
                    values.update(_assigned(node, values))
            yield values


def _assigned(node: ast.Assign, values: Mapping[str, object]) -> dict[str, object]:
    try:
        return {ast.unparse(node.targets[0]): constants.evaluate(node.value, values)}
    except (constants.NotConstant, TypeError, KeyError, AttributeError):
        return {}


def _expanded(file: str, sources: Sources) -> Iterator[tuple[str, str]]:
    """`Register{dispatch_key}.cpp` for each key; other placeholders stay."""
    if file != "Register{dispatch_key}.cpp":  # others are made for some keys only
        yield "", file
        return
    for key in sources.constant(MODEL, "dispatch_keys") or ():
        yield key, file.replace("{dispatch_key}", key)


def _template(name: str, files: Mapping[str, bytes], of: str) -> str | None:
    """The template's path, when the name is one; autograd's templates may end in `.in`."""
    if "{" in name:
        return None
    if not of:
        return _ATEN + name
    return next((_AUTOGRAD + n for n in (name, f"{name}.in") if _AUTOGRAD + n in files), None)
