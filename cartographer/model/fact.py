# SPDX-License-Identifier: BSD-3-Clause
"""What a scan finds in one file. Facts are compact msgspec structs: a tree holds about a million of them,
and they travel between processes and live in the cache by blob id.
"""

from __future__ import annotations

import msgspec

ALTERNATIVES = {"and": "&&", "or": "||", "not": "!"}  # C++'s words for signs, in conditions


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One use of a name inside a function body.

    `name` is the callee as written, without template arguments and white space: `at::add`, `self.add`, `add_stub`,
    `structured_x::impl`, `quantizer->quantize`; a method of a call's result begins with the dot: `.sum`. `form` is "call", "method" (x.f(), x->f()), "launch" (f<<<...>>>()), "lambda" (an
    anonymous function; `name` is "", `arguments` are the words after its captures, as GPU_LAMBDA), "construct" (Functor<T>(...) or Functor{...}), "macro" (an upper-case
    name that takes arguments), "reference" (a known function-like name passed without being called: `&f`,
    `f` as template argument) or "message" (Objective-C's `[receiver selector…]`; `name` is "receiver selector").
    A declaration `Type x(a)` is a "construct" of Type; `Type(a)` cannot be told from a call and is a "call".
    `arguments` are the texts of the arguments, each cut at 120 characters; `template` is the text between < and >.
    """

    name: str
    form: str
    line: int
    arguments: tuple[str, ...] = ()
    template: str = ""
    end_line: int = 0
    guards: tuple[str, ...] = ()  # the #if conditions around it that are not around the whole definition
    conditions: tuple[str, ...] = ()  # texts of the conditions around it inside the body: if, else, switch-case; outermost first
    launch: tuple[str, ...] = ()  # what stands between <<< and >>>: grid, block, shared memory, stream


class Exit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A way out of a function before its end, `if (condition) { … return; }`: what follows, up to line `end`, runs where the
    condition does not hold.
    """

    condition: str
    line: int  # the last of the way out
    end: int  # the last of the block that it stands in
    guards: tuple[str, ...] = ()  # the #if conditions around it that are not around the whole definition


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function, class or macro-headed body.

    `qualname` has the enclosing namespaces and classes: `at::native::(anonymous)::f`. For a body whose head is a
    macro use, as `TORCH_IMPL_FUNC(mul_out) (args) {...}`, `macro` holds ("TORCH_IMPL_FUNC", "mul_out") and `name`
    is the head as written; what it really defines is told by expansion (see `expand`).

    A "metal-kernel" stands in a .metal file or in Metal source in a string; one that the host asks for by a
    `host_name` has that name, and `macro` is ("host_name", function) or the macro use that makes it, with the
    template function's name in `returns`. Functions in `jiterator_stringify(...)` are of kind "device", their
    qualified name goes through the variable that holds the string: `at::native::erfinv_string::erfinv_kernel`.
    """

    name: str
    qualname: str
    kind: str  # function | method | kernel (__global__) | device (__device__ only) | class | struct | enum | lambda-variable | macro-headed | declaration | metal-kernel | variable | alias
    line: int  # of the name
    start: int  # first line, template<> and attributes included
    end: int
    parameters: tuple[str, ...] = ()  # type and name of each parameter, white space folded, defaults kept
    returns: str = ""  # the return type, "static " before it when the function is; of a variable its type
    template: str = ""  # the template parameter list
    guards: tuple[str, ...] = ()  # enclosing #if conditions, outermost first; an #else is "!(cond)"
    macro: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()  # of a class
    calls: tuple[Call, ...] = ()
    text: str = ""  # source from line `start` to the end, comments blanked; kept only for registration blocks (TORCH_LIBRARY..., functions that take a torch::Library&, variables made with RegisterOperators)
    decorators: tuple[str, ...] = ()  # Python: as written, without the @
    exits: tuple[Exit, ...] = ()  # the ways out of a body, in order
    specialization: str = ""  # template arguments of an explicit specialization: `float` of `template <> void gemm<float>(...)`
    signs: tuple[Call, ...] = ()  # what its body writes as signs of which an operand may be a tensor: `name` is the sign, `arguments` are the operands ("" for one that is no name), `form` is "sign"


class MacroDefinition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`#define name(parameters) body`; `parameters` is None for an object-like macro. `lines` are the physical
    lines of the body, in order (so that a token of the body has a line of its own).
    """

    name: str
    parameters: tuple[str, ...] | None
    line: int
    body: str  # continuation lines joined by "\n", comments removed
    guards: tuple[str, ...] = ()
    undefined: int = 0  # line of the #undef that ends it in this file, 0 if none


class MacroUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A macro used at namespace or class scope: `REGISTER_DISPATCH(add_stub, &add_kernel)`. `text` is the whole use
    with its line breaks, `namespace` the enclosing qualified name.
    """

    name: str
    arguments: tuple[str, ...]
    line: int
    end_line: int
    text: str
    namespace: str = ""
    guards: tuple[str, ...] = ()


class Include(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`#include "target"` or a Python import (target is then the dotted module, names what is taken from it)."""

    target: str
    line: int
    names: tuple[str, ...] = ()


class PythonCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that Python makes outside of functions, as a decorator, or anywhere when its name speaks of registering.

    `function` is the qualified name of the function around it ("" at module level); `decorated` and
    `decorated_line` name what it decorates. `loops` are the enclosing `for x in y` heads ("x in y"), `conditions`
    the enclosing ifs, `within` the enclosing `with` items. `target` is what the result is assigned to.
    A decorator without parentheses is a call with no arguments and `bare`.
    """

    name: str
    arguments: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    line: int
    end_line: int = 0
    function: str = ""
    decorated: str = ""
    decorated_line: int = 0
    loops: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    target: str = ""
    bare: bool = False


class PythonAssignment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`target = value` at module or class level; `value` is the text, cut at 20,000 characters."""

    target: str
    value: str
    line: int
    scope: str = ""


class FileFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All facts of one file, and its parse health."""

    language: str
    lines: int
    error_nodes: int = 0
    error_bytes: int = 0
    definitions: tuple[Definition, ...] = ()
    macros: tuple[MacroDefinition, ...] = ()
    uses: tuple[MacroUse, ...] = ()
    includes: tuple[Include, ...] = ()
    using: tuple[str, ...] = ()  # `using namespace X` and `using X::y`, at file scope
    notes: tuple[str, ...] = ()  # not UTF-8, truncated, too deep, ...
    python_calls: tuple[PythonCall, ...] = ()
    python_assignments: tuple[PythonAssignment, ...] = ()
    outlined: bool = False  # the bodies of its functions were not read: `calls`, `exits` and `signs` are empty (of variables they are not)
