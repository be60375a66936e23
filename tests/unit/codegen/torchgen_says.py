# SPDX-License-Identifier: BSD-3-Clause
"""Run in a process of its own by test_against_torchgen: what the real generators of a tree say, as JSON."""

import dataclasses
import json
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
NATIVE, TAGS = (str(ROOT / "aten/src/ATen/native" / n) for n in ("native_functions.yaml", "tags.yaml"))
AUTOGRAD = str(ROOT / "tools/autograd")

import autograd.gen_inplace_or_view_type as views  # noqa: E402
import autograd.gen_python_functions as python  # noqa: E402
import autograd.gen_trace_type as trace  # noqa: E402
import autograd.gen_variable_type as variable  # noqa: E402
import torchgen.gen as gen  # noqa: E402, PLR0402
import torchgen.gen_functionalization_type as functionalization  # noqa: E402
from autograd.load_derivatives import load_derivatives  # noqa: E402
from torchgen import dest  # noqa: E402
from torchgen.api import cpp  # noqa: E402
from torchgen.api.autograd import match_differentiability_info  # noqa: E402
from torchgen.model import DispatchKey, NativeFunctionsGroup, NativeFunctionsViewGroup, dispatch_keys  # noqa: E402
from torchgen.selective_build.selector import SelectiveBuilder  # noqa: E402
from torchgen.utils import Target  # noqa: E402

IMPL = re.compile(r'm\.impl\("([^"]+)"')
parsed = gen.parse_native_yaml(NATIVE, TAGS)
functions, indices = parsed.native_functions, parsed.backend_indices
every = SelectiveBuilder.get_nop_selector()
said = {str(f.func.name): {"generated": "generated" in f.tags, "tags": sorted(f.tags), "keys": [], "nodes": [], "bindings": []}
        for f in functions}
groups = gen.get_grouped_native_functions(functions)
for key in dispatch_keys:
    index = dataclasses.replace(indices[key], dispatch_key=key)
    register = dest.RegisterDispatchKey(index, Target.REGISTRATION, every, rocm=False, symint=True,
                                        class_method_name=None, skip_dispatcher_op_registration=False)
    for group in groups:
        for text in register(group):
            for name in IMPL.findall(text):
                said[name]["keys"].append(str(key))
structured = [g for g in groups if isinstance(g, NativeFunctionsGroup)]
view_groups = [g for g in gen.get_grouped_by_view_native_functions(functions) if isinstance(g, NativeFunctionsViewGroup)]
taken = {f.func.name for g in structured + view_groups for f in g.functions()}
for group in structured + view_groups + [f for f in functions if f.func.name not in taken]:
    for text in functionalization.gen_functionalization_registration(
            every, group, indices[DispatchKey.CompositeImplicitAutograd]):
        for name in IMPL.findall(text):
            said[name]["keys"].append("Functionalize")
for f in functions:
    if gen.needs_backend_select(f, every):
        said[str(f.func.name)]["keys"].append("BackendSelect")
    if cpp.name(f.func) not in trace.MANUAL_TRACER:
        said[str(f.func.name)]["keys"].append("Tracer")
infos = load_derivatives(AUTOGRAD + "/derivatives.yaml", NATIVE, TAGS)[0]
for match in match_differentiability_info(sorted(functions, key=lambda f: cpp.name(f.func)), infos):
    row = said[str(match.func.func.name)]
    if variable.use_derived(match):
        if views.gen_inplace_or_view_type_env(match)["inplace_or_view_wrapper_registrations"]:
            row["keys"].append("ADInplaceOrView")
        for part, text in variable.gen_variable_type_func(match).items():
            if part.startswith("wrapper_registrations_"):
                row["keys"].append(part.removeprefix("wrapper_registrations_").replace("Default", "Autograd"))
            else:
                made = re.findall(r"std::shared_ptr<(\w+)>+ grad_fn", "\n".join(text))
                row["nodes"] += [n for n in made if n not in ("Node", "NotImplemented")]
bindable = [f for f in functions if python.should_generate_py_binding(f)]
predicates = {"nn", "fft", "linalg", "nested", "sparse", "special"}
for method in (True, False):
    for pair in python.load_signatures(bindable, AUTOGRAD + "/deprecated.yaml", method=method):
        f = pair.function
        owner = f"torch._C._{f.python_module}" if f.python_module in predicates and not method else None
        if method and python.is_py_variable_method(f):
            owner = "torch.Tensor"
        elif not method and python.is_py_torch_function(f):
            owner = "torch"
        if owner:
            said[str(f.func.name)]["bindings"].append([f"{owner}.{f.func.name.name}", pair.signature.deprecated])
json.dump(said, sys.stdout)
