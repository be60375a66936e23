# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.model.fact import Definition, FileFacts
from cartographer.scan.one import scan_file


def scan(text: str, path: str = "a.cpp") -> FileFacts:
    return scan_file(path, text.encode())


def only(text: str, path: str = "a.cpp") -> Definition:
    (found,) = scan(text, path).definitions
    return found


@pytest.mark.parametrize(
    ("text", "qualname", "kind", "parameters", "returns"),
    [
        ("int f(int a, T<b, c> d = {1, 2}) { }", "f", "function", ("int a", "T<b, c> d = {1, 2}"), "int"),
        ("std::tuple<A,\n B>\nf(\n  const A& a) {}", "f", "function", ("const A& a",), "std::tuple<A, B>"),
        ("auto f(A a) -> std::vector<B> {}", "f", "function", ("A a",), "std::vector<B>"),
        ("namespace a::b { inline namespace c { namespace { void f() {} } } }", "a::b::c::(anonymous)::f", "function", (), "void"),
        ("#ifdef A\nstatic_assert(g(a), \\\n  #a)\n#endif\nnamespace b { namespace c { __global__ void k(int n) {} } }", "b::c::k", "kernel", ("int n",), "void"),
        ('extern "C" { void f(void) {} }', "f", "function", (), "void"),
        ("void A::B<int>::f() const noexcept {}", "A::B::f", "method", (), "void"),
        ("A::A(int x) : x_(x), y_{x} {}", "A::A", "method", ("int x",), ""),
        ("A::~A() {}", "A::~A", "method", (), ""),
        ("bool A::operator()(int x) const {}", "A::operator()", "method", ("int x",), "bool"),
        ("A& operator<<(A& o, B b) {}", "operator<<", "function", ("A& o", "B b"), "A&"),
        ("TORCH_API C10_ALWAYS_INLINE Tensor f(Tensor a) {}", "f", "function", ("Tensor a",), "Tensor"),
        ("static inline __attribute__((always_inline)) int f() {}", "f", "function", (), "static int"),
        ("inline VALUE_TYPE f (SCALAR_TYPE z) {}", "f", "function", ("SCALAR_TYPE z",), "VALUE_TYPE"),
        ("std::unique_ptr<A, void (*)(A*)> B::f() const {}", "B::f", "method", (), "std::unique_ptr<A, void (*)(A*)>"),
        ("template void f<int>(T<int> a);", "f", "declaration", ("T<int> a",), "void"),
        ("Tensor f(Tensor a);", "f", "declaration", ("Tensor a",), "Tensor"),
        ("__global__ void k(int n) {}", "k", "kernel", ("int n",), "void"),
        ("C10_LAUNCH_BOUNDS_1(512)\n__global__ void k(int n) {}", "k", "kernel", ("int n",), "void"),
        ("__global__ void __launch_bounds__(32 * 4) k(int n) {}", "k", "kernel", ("int n",), "void"),
        ("__device__ __forceinline__ int d() {}", "d", "device", (), "int"),
        ("__host__ __device__ int d() {}", "d", "function", (), "int"),
    ],
)
def test_functions(text: str, qualname: str, kind: str, parameters: tuple[str, ...], returns: str) -> None:
    found = only(text)
    assert (found.qualname, found.kind, found.parameters, found.returns) == (qualname, kind, parameters, returns)


def test_templates_and_lines() -> None:
    found = only("\ntemplate <typename T,\n  std::enable_if_t<(sizeof(T) > 4) && X, int> = 0>\nvoid\nf(T a) {\n}\n")
    assert found.template == "typename T, std::enable_if_t<(sizeof(T) > 4) && X, int> = 0"
    assert (found.start, found.line, found.end) == (2, 5, 6)
    assert only("template <>\nvoid gemm<float>(int a) {}").specialization == "float"
    assert only("template <typename U, int L, std::enable_if_t<L >= 2, int> = 0>\nV<U> to() const {}").name == "to"


def test_classes_hold_their_methods() -> None:
    found = scan("struct TORCH_API F final : public Base<T, int>, Other {\n public:\n  explicit F(int x) : x_{x} {}\n"
                 "  T operator()(T a) const { return a; }\n  int x_;\n  void declared();\n};\n").definitions
    assert [(d.qualname, d.kind) for d in found] == [
        ("F", "struct"), ("F::F", "method"), ("F::operator()", "method"), ("F::declared", "declaration")]
    assert found[0].bases == ("Base<T, int>", "Other")
    assert (found[0].line, found[0].end) == (1, 7)


def test_classes_inside_functions() -> None:
    found = scan("void f() {\n  struct Graph : Base {\n    Graph(int g) : Base(g) {}\n    int x = 0;\n  };\n  use();\n}\n").definitions
    assert [(d.qualname, d.line) for d in found] == [("f", 1), ("f::Graph", 2), ("f::Graph::Graph", 3)]


def test_macro_headed_bodies() -> None:
    found = scan("namespace at::native {\nTORCH_IMPL_FUNC(mul_out)\n(const Tensor& a, const Tensor& b) {\n  g();\n}\n"
                 'TORCH_META_FUNC2(sort, stable) (int a) { }\nTORCH_LIBRARY_IMPL(aten, CPU, m) {\n  m.impl("x", f);\n}\n}\n').definitions
    first, second, third = found
    assert (first.kind, first.macro, first.parameters) == (
        "macro-headed", ("TORCH_IMPL_FUNC", "mul_out"), ("const Tensor& a", "const Tensor& b"))
    assert (first.line, first.end, first.qualname) == (2, 5, "at::native::TORCH_IMPL_FUNC(mul_out)")
    assert second.macro == ("TORCH_META_FUNC2", "sort", "stable")
    assert third.macro == ("TORCH_LIBRARY_IMPL", "aten", "CPU", "m")
    assert third.text.splitlines()[1].strip() == 'm.impl("x", f);'
    assert third.start == 7


def test_macro_uses_need_no_semicolon() -> None:
    facts = scan("namespace n {\nREGISTER_DISPATCH(\n    add_stub,\n    &add_kernel<a, b>)\nstatic DEFINE_CELL(x, y)\nDEFINE_DISPATCH(s);\n"
                 "class A {\n  FIELD(int, x)\n  A(int);\n  int f() { }\n};\n}\nLAST(1)\n")
    assert [(u.name, u.arguments, u.line, u.end_line, u.namespace) for u in facts.uses] == [
        ("REGISTER_DISPATCH", ("add_stub", "&add_kernel<a, b>"), 2, 4, "n"),
        ("DEFINE_CELL", ("x", "y"), 5, 5, "n"),
        ("DEFINE_DISPATCH", ("s",), 6, 6, "n"),
        ("FIELD", ("int", "x"), 8, 8, "n::A"),
        ("LAST", ("1",), 13, 13, ""),
    ]
    assert facts.uses[0].text == "REGISTER_DISPATCH(\n    add_stub,\n    &add_kernel<a, b>)"
    assert [d.name for d in facts.definitions] == ["A", "A", "f"]


@pytest.mark.parametrize(("head", "name"), [
    ("enum BIN_SELECTION {", "BIN_SELECTION"), ("enum class ADAM_MODE : uint8_t {", "ADAM_MODE"), ("enum class Case:uint8_t {", "Case"),
    ("enum class C10_API Kind : c10::small {", "Kind"), ("enum C10_API_ENUM Type {", "Type"), ("typedef enum A_B {", "A_B"),
])  # fmt: skip
def test_the_name_of_an_enum(head: str, name: str) -> None:
    assert [(d.kind, d.name) for d in scan(f"{head} a, b }};").definitions] == [("enum", name)]


def test_variables_aliases_and_enums() -> None:
    found = scan('using V = std::vector<int>;\nusing namespace at;\ntypedef int (*F)(int);\nenum class E : int { a, b };\n'
                 'const char n[] = "f";\nauto g = [](int a) { h(a); };\nRegisterOperators r({Operator("a", f)});\nstatic int z{1};\n')
    assert [(d.name, d.kind) for d in found.definitions] == [
        ("V", "alias"), ("F", "alias"), ("E", "enum"), ("n", "variable"), ("g", "lambda-variable"), ("r", "variable"), ("z", "variable")]
    assert found.using == ("namespace at",)
    assert "Operator(" in found.definitions[5].text
    assert [c.name for c in found.definitions[4].calls] == ["", "h"]


def test_guards_of_definitions() -> None:
    found = scan("#if !AT_CUDNN_ENABLED()\nvoid f() {}\n#else\nvoid f() {}\n#endif\n").definitions
    assert [d.guards for d in found] == [("!AT_CUDNN_ENABLED()",), ("!(!AT_CUDNN_ENABLED())",)]


def test_library_functions_keep_their_text() -> None:
    found = only('void init(torch::Library& m) {\n  m.impl("a", f); // x\n}\n')
    assert found.text.startswith("void init(")
    assert "//" not in found.text


def test_objective_c_blocks_are_stepped_over() -> None:
    facts = scan("@interface A : NSObject <P> {\n  int x;\n}\n- (void)m:(int)a;\n@end\n@implementation A {\n  int y;\n}\n"
                 "- (int)m:(int)a with:(id)b {\n  return [b f:g(a)];\n}\n@end\nnamespace n { void f() { @autoreleasepool { h(); } } }\n", "a.mm")
    assert [(d.qualname, d.kind, d.line) for d in facts.definitions] == [("n::f", "function", 13), ("A::m:with:", "method", 9)]
    assert facts.definitions[1].parameters == ("int a", "id b")
    assert [(c.name, c.form) for c in facts.definitions[1].calls] == [("b f", "message"), ("g", "call")]
    assert [c.name for c in facts.definitions[0].calls] == ["h"]


def test_code_templates() -> None:
    facts = scan("${headers}\nnamespace n {\n$ops\n${definitions}\nvoid f() {}\n}\n")
    assert [d.qualname for d in facts.definitions] == ["n::f"]
    assert facts.error_nodes == 0


def test_what_makes_no_sense_is_counted_and_read_again() -> None:
    facts = scan("namespace n {\n{\n  void lost(int a) { g(); }\n}\nvoid kept() {}\n}\n}\n")
    assert {d.qualname for d in facts.definitions} == {"n::lost", "n::kept"}
    assert facts.error_nodes == 2
    assert facts.error_bytes > 0


def test_stringified_device_code() -> None:
    found = scan("const auto x_string = jiterator_stringify(\n  template <typename T>\n  T x_kernel(T a) {\n    return x(a);\n  }\n);\n"
                 "void f() {\n  static const auto y = jiterator_stringify(template <typename T> T y_k(T a) { return a; });\n}\n").definitions
    assert ("x_string::x_kernel", "device", 3) in {(d.qualname, d.kind, d.line) for d in found}
    assert ("f::y::y_k", "device", 8) in {(d.qualname, d.kind, d.line) for d in found}


def test_heads_with_parentheses_in_parentheses_and_destructors() -> None:
    found = scan("int f(int (*g)(int, int), T h = T(1, (2))) { }\nA::~ A() { }\nB::~B() { }\nstd::pair<int, C> D(E(1)) { }\n").definitions
    assert [(d.qualname, d.parameters) for d in found] == [
        ("f", ("int (*g)(int, int)", "T h = T(1, (2))")), ("A::~A", ()), ("B::~B", ()), ("D", ("E(1)",))]


def test_several_strings_of_device_code_in_a_file() -> None:
    found = scan("int stringify_no;\nconst auto a = p + stringify(void k() { });\nconst auto b = stringify(\n  void m() { });\n").definitions
    assert [(d.qualname, d.kind, d.line) for d in found if d.kind == "device"] == [("a::k", "device", 2), ("b::m", "device", 4)]


def test_how_a_macro_use_is_linked_stands_before_it() -> None:
    found = scan("static MAKE(relu);\nstatic inline MAKE(gelu);\nstatic int f(int);\nstruct S { inline S(int); };\n", path="a.cpp")
    assert [(u.name, u.arguments, u.line) for u in found.uses] == [("MAKE", ("relu",), 1), ("MAKE", ("gelu",), 2)]
    assert [d.name for d in found.definitions if d.kind == "declaration"] == ["f", "S"]
