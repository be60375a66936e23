# SPDX-License-Identifier: BSD-3-Clause
"""A small release of our own: generators that state parameters as PyTorch's do, and a list of operators."""

from cartographer.declare import declarations, deprecated, derivatives, native_functions, tags

GENERATORS = {
    "torchgen/model.py": """
STRUCTURED_DISPATCH_KEYS = {DispatchKey.MPS, DispatchKey.CUDA, DispatchKey.CPU}
UFUNC_DISPATCH_KEYS = {DispatchKey.CUDA, DispatchKey.CPU}
dispatch_keys = [DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.MPS, DispatchKey.SparseCPU, DispatchKey.Meta,
    DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional]
def is_cuda_dispatch_key(dk):
    return dk in {DispatchKey.CUDA, DispatchKey.SparseCUDA}
class NativeFunction:
    @staticmethod
    def from_yaml():
        dispatch[DispatchKey.CompositeImplicitAutograd] = cpp.name(func)
    def is_view_op(self):
        return "inplace_view" in self.tags and str(self.func.name) != "resize_"
class FunctionSchema:
    def signature(self):
        if base_name.endswith("_scatter"):
            pass
        if str(self.name) == "noise.p":
            args_sig = Arguments.parse(str(args_sig).replace("float p", "float p=0.5"))
""",
    "torchgen/native_function_generation.py": """
INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY = ["odd_"]
def generate_function(f, k):
    tags = {"generated"} | set(f.tags & {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"})
def add_generated_native_functions(rs, indices):
    is_core = any("core" in variant.tags for variant in d.values())
    has_view_ops = any(f.is_view_op and str(f.func.name.name) != "set_" for f in d.values())
    base_fn = d[SchemaKind.mutable] if has_mutable else d[SchemaKind.inplace]
""",
    "torchgen/gen_functionalization_type.py": """
from torchgen.native_function_generation import INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY
MUTABLE_OPS_NOT_USING_FUNCTIONALIZATION = INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY + ["resize_"]
def gen_functionalization_registration(selector, g, index):
    if str(g.view.func.name) == "lift_fresh":
        return []
    if not g.view.has_composite_implicit_autograd_kernel:
        pass
    if str(f.func.name) == "lift":
        return []
""",
    "torchgen/gen.py": """
def needs_backend_select(f, selector):
    pass
def main():
    if not options.mps:
        ignore_keys.add(DispatchKey.MPS)
def gen_source_files():
    for dispatch_key in dispatch_keys:
        fm.write_sharded_with_template(f"Register{dispatch_key}.cpp", "RegisterDispatchKey.cpp", groups,
            num_shards=4 if dispatch_key == DispatchKey.CPU else 1)
    cpu_fm.write("RegisterSchema.cpp", lambda: {})
    ops_fm.write_with_template(f"{name}_ops.h", "Operator.h", lambda: {})
""",
    "torchgen/dest/register_dispatch_key.py": """
class RegisterDispatchKey:
    def gen_structured(self, g):
        pass
    def gen_unstructured(self, f):
        inplace_meta = True
""",
    "torchgen/api/autograd.py": """
_foreach_with_inplace_ref = {"_foreach_zero_"}
_skip_argument_len_check = {"_foreach_add.Scalar"}
def gen_foreach_derivativeinfo():
    pass
""",
    "tools/autograd/load_derivatives.py": r"""
def saved_variables(formula, nctypes, var_names):
    REPLACEMENTS: list = [
        (r"{}.sym_sizes\\(\\)", {"suffix": "_sym_sizes"}),
        (r"zeros_like\\({}\\)", {"suffix": "_info", "expr": lambda name: name, "res": lambda name: name + "_info.zeros()"}),
        (r"{}.sym_size\\((-?\\w+)\\)", {"suffix": lambda m: f"_sym_argsize_{m.groups()[0].replace('-', 'minus_')}"}),
        (r"{}.scalar_type\\(\\)", {"suffix": "_scalar_type"}),
    ]
""".replace("\\\\", "\\"),
    "tools/autograd/gen_trace_type.py": """
MANUAL_BACKEND = {"data"}
MANUAL_AUTOGRAD = MANUAL_TRACER = MANUAL_BACKEND | {"copy_"}
def gen_trace_type():
    fm.write_sharded("TraceType.cpp", num_shards=5)
""",
    "tools/autograd/gen_inplace_or_view_type.py": """
VIEW_FUNCTIONS = {"view": "self"}
for key in ["as_real"]:
    VIEW_FUNCTIONS[key] = "self"
RETURNS_VIEWS_OF_INPUT = set(VIEW_FUNCTIONS.keys()).union({"detach"})
def inplace_or_view_method_registration(fn):
    pass
""",
    "tools/autograd/gen_variable_type.py": """
DONT_REQUIRE_DERIVATIVE = {"argmax"}
RESET_GRAD_ACCUMULATOR = {"set_"}
DONT_ENFORCE_SAME_TENSOR_IMPL_OR_STORAGE = {"rnn_weights"}
DONT_ENFORCE_TENSOR_IMPL_USE_COUNT = {"scales"}
DONT_ENFORCE_STORAGE_IMPL_USE_COUNT = {"slow", *DONT_ENFORCE_TENSOR_IMPL_USE_COUNT}
def gen_variable_type_func(fn):
    pass
def gen_variable_type():
    fm1.write("VariableType.cpp", lambda: {})
    fm2.write_sharded("VariableType.cpp", num_shards=5)
""",
    "tools/autograd/gen_autograd_functions.py": """
def gen_autograd_functions_lib():
    file_basename = "Functions"
    for suffix in [".h", ".cpp"]:
        fname = file_basename + suffix
        fm.write_with_template(fname, fname, lambda: {})
""",
    "tools/autograd/gen_python_functions.py": """
_SKIP_PYTHON_BINDINGS = ["data", ".*_backward", "index(_out)?"]
SKIP_PYTHON_BINDINGS = [re.compile(p) for p in _SKIP_PYTHON_BINDINGS]
SKIP_PYTHON_BINDINGS_SIGNATURES = ["add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"]
def gen():
    create_python_bindings(fm, methods, is_method, None, "python_variable_methods.cpp", method=True)
    create_python_bindings_sharded(fm, functions, is_f, "torch", "python_torch_functions.cpp", num_shards=3)
""",
    "tools/autograd/templates/python_nn_functions.cpp": """
static PyMethodDef nn_functions[] = {
  {"_parse_to", castPyCFunctionWithKeywords(THPVariable__parse_to), METH_VARARGS | METH_KEYWORDS, nullptr},
  ${py_method_defs}
};
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "torch._C._nn", NULL, -1, nn_functions };
""",
    "tools/autograd/templates/python_variable_methods.cpp": """
static PyObject * THPVariable_data_ptr(PyObject* self_, PyObject* args)
{
  if (check_has_torch_function(self_)) { return handle(self_, "data_ptr"); }
  auto& self = THPVariable_Unpack(self_);
  if (self.sum() == 1) { log(); }
  return wrap(self.data());
}
static Tensor dispatch_invert(const Tensor & self) { return self.relu(); }
static PyObject * THPVariable_invert(PyObject* self, PyObject* args) {
  return THPVariable_Wrap(dispatch_invert(self_));
}
PyMethodDef variable_methods[] = {
  {"__add__", castPyCFunctionWithKeywords(TypeError_to_NotImplemented_<THPVariable_add>), METH_VARARGS | METH_KEYWORDS, nullptr},
  {"index", castPyCFunctionWithKeywords(THPVariable_index),
    METH_VARARGS | METH_KEYWORDS, nullptr},
  {"data_ptr", THPVariable_data_ptr, METH_NOARGS, nullptr},
  {"__invert__", THPVariable_invert, METH_NOARGS, nullptr},
  {"apply_", THPVariable_apply_, METH_O, nullptr},
  ${py_method_defs}
  {nullptr}
};
""",
    "torch/csrc/autograd/python_variable.cpp": """
struct PropertyT : GetterBase<PropertyT> {
  static PyObject* fn(const Tensor& t) { return THPVariable_Wrap(t.numpy_T()); }
};
static struct PyGetSetDef THPVariable_properties[] = {
    {"T", (getter)PropertyT::getter, nullptr, nullptr, nullptr},
    {nullptr}};
""",
}

NATIVE = """
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
  variants: function, method
  dispatch:
    SparseCPU: add_sparse
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
  variants: method
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: add (AllAndComplex)
  dispatch:
    SparseCPU: add_out_sparse
    MPS: add_out_mps
- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
  variants: function, method
- func: relu(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU, CUDA: relu
    MPS: custom::relu_mps
- func: relu_(Tensor(a!) self) -> Tensor(a!)
  variants: function, method
  dispatch:
    CPU, CUDA: relu_
  autogen: relu.out
- func: observe(Tensor self, Tensor(a!) seen, SymInt[] size) -> (Tensor output, Tensor mask)
  dispatch:
    CPU: observe_cpu
  autogen: observe_functional, observe.out
- func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
  variants: method
  dispatch:
    CompositeExplicitAutograd: view_symint
- func: view_copy(Tensor self, SymInt[] size) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: view_copy_symint
  tags: view_copy
  autogen: view_copy.out
- func: zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CompositeExplicitAutograd: zeros_symint
- func: argmax(Tensor self) -> Tensor
  dispatch:
    CPU: argmax
- func: scales(Tensor self) -> Tensor
  dispatch:
    CPU: scales
- func: data(Tensor(a) self) -> Tensor(a)
  manual_kernel_registration: True
  variants: method
- func: index(Tensor self, Tensor?[] indices) -> Tensor
  variants: function, method
  dispatch:
    CPU: index_cpu
- func: numpy_T(Tensor(a) self) -> Tensor(a)
  variants: method
- func: linear_backward(Tensor self) -> Tensor
  python_module: nn
- func: gelu(Tensor self) -> Tensor
  python_module: nn
- func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
  variants: function, method
- func: _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]
  device_check: NoCheck
  dispatch:
    CompositeExplicitAutograd: foreach_add
- func: _foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()
  device_check: NoCheck
  dispatch:
    CompositeExplicitAutograd: foreach_add_
"""

DERIVATIVES = """
- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  self: handle_r_to_c(self.scalar_type(), grad)
  other: handle_r_to_c(other.scalar_type(), maybe_multiply(grad, alpha.conj()))
  result: self_t + maybe_multiply(other_t, alpha)
- name: relu(Tensor self) -> Tensor
  self: threshold_backward(grad, result, 0)
  result: auto_element_wise
- name: view(Tensor(a) self, SymInt[] size) -> Tensor(a)
  dispatch:
    Default:
      self: grad.reshape_symint(self.sym_sizes())
      result: auto_linear
    AutogradNestedTensor:
      self: grad.reshape_as(self)
- name: observe(Tensor self, Tensor(a!) seen, SymInt[] size) -> (Tensor output, Tensor mask)
  output_differentiability: [True, False]
  self: observe_backward(grad, mask, size)
  seen: non_differentiable
"""

TAGS = "- tag: core\n  desc: c\n- tag: view_copy\n  desc: v\n- tag: pt2_compliant_tag\n  desc: p\n"

DEPRECATED = """
- name: add(Tensor self, Scalar alpha, Tensor other) -> Tensor
  aten: add(self, other, alpha)
- name: add(Tensor self, Scalar alpha, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  aten: add_out(out, self, other, alpha)
"""

SOURCES = {path: text.encode() for path, text in GENERATORS.items()}


def declared(native=NATIVE):
    return declarations.load({
        native_functions.PATH: native.encode(), derivatives.PATH: DERIVATIVES.encode(), tags.PATH: TAGS.encode(),
        deprecated.PATH: DEPRECATED.encode(),
    })
