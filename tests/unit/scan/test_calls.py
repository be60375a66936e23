# SPDX-License-Identifier: BSD-3-Clause
from cartographer.model.fact import Call
from cartographer.scan.one import scan_file


def calls(body: str, head: str = "void f()", rest: str = "", path: str = "a.cu") -> list[Call]:
    facts = scan_file(path, f"{rest}{head} {{\n{body}\n}}\n".encode())
    return list(next(d for d in facts.definitions if d.name == "f").calls)


def brief(body: str, **more: str) -> list[tuple[str, str]]:
    return [(c.form, c.name) for c in calls(body, **more)]


def test_calls_methods_macros_and_constructions() -> None:
    assert brief('g(); at::native::h(1); self.add(x); p->q(); a.b().c(); TORCH_CHECK(ok, "x("); return k(z);') == [
        ("call", "g"), ("call", "at::native::h"), ("method", "self.add"), ("method", "p->q"), ("method", "a.b"),
        ("method", ".c"), ("macro", "TORCH_CHECK"), ("call", "k")]
    assert brief("Tensor out(x); std::vector<int> v(3); auto y = Foo<T>{1, 2}; new Bar(1); Foo z{1};") == [
        ("construct", "Tensor"), ("construct", "std::vector"), ("construct", "Foo"), ("construct", "Bar"), ("construct", "Foo")]
    assert brief("if (a) while (b) for (;;) switch (c) { } static_cast<int>(x); sizeof(T); (void)x;") == []


def test_template_arguments_stay_with_their_call() -> None:
    found = calls("gpu_kernel<T, 4>(iter, Functor<a, b>(x), y < z); Foo<T>::apply(1); v.data_ptr<T>(); if (a < b && c > (d)) {}")
    assert [(c.name, c.template, c.arguments) for c in found] == [
        ("gpu_kernel", "T, 4", ("iter", "Functor<a, b>(x)", "y < z")),
        ("Functor", "a, b", ("x",)),
        ("Foo::apply", "T", ("1",)),
        ("v.data_ptr", "T", ()),
    ]


def test_launches() -> None:
    (launch,) = calls("k<T, N>\n  <<<grid, dim3(1, 2), 0, stream>>>(a, b + 1);")
    assert (launch.name, launch.form, launch.template) == ("k", "launch", "T, N")
    assert launch.arguments == ("a", "b + 1")
    assert launch.launch == ("grid", "dim3(1, 2)", "0", "stream")


def test_lambdas_show_their_calls() -> None:
    found = calls('AT_DISPATCH_ALL_TYPES(t, "f", [&] {\n  gpu_kernel(iter, [=, x] GPU_LAMBDA(T a) -> T {\n    return g(a);\n  });\n});')
    assert [(c.form, c.name, c.line, c.end_line) for c in found] == [
        ("macro", "AT_DISPATCH_ALL_TYPES", 2, 6), ("lambda", "", 2, 6), ("call", "gpu_kernel", 3, 5), ("lambda", "", 3, 5),
        ("call", "g", 4, 4)]
    assert found[3].arguments == ("GPU_LAMBDA",)
    assert len(found[2].arguments) == 2


def test_contexts() -> None:
    found = calls("if (a) { b(); } else if (c) d(); else { e(); }\nswitch (x) {\n case A::B: g(); break;\n default: h();\n}\n"
                  "if constexpr (y) k();\nl(); if (p) { if (q) { r(); } s(); }")
    assert {c.name: c.context for c in found} == {
        "b": "a", "d": "c", "e": "!(c)", "g": "case A::B", "h": "default", "k": "y", "l": "", "r": "q", "s": "p"}


def test_guards_inside_a_body() -> None:
    found = calls("a();\n#if X\nb();\n#else\nc();\n#endif", rest="#ifdef W\n")
    assert [(c.name, c.guards) for c in found] == [("a", ()), ("b", ("X",)), ("c", ("!(X)",))]


def test_references() -> None:
    rest = "void helper();\nstruct Op {};\n"
    found = [(c.name, c.form) for c in calls("run(&helper, helper, x, ns::other, at::kCPU); go<Op, T>(y);", rest=rest)]
    assert found.count(("helper", "reference")) == 2
    assert ("ns::other", "reference") in found
    assert ("Op", "reference") in found
    assert not [n for n, form in found if form == "reference" and n in ("x", "T", "at::kCPU")]


def test_arguments_are_cut_and_folded() -> None:
    (found,) = calls('g("a, (b", {1, 2},\n    ' + "x" * 300 + ");")
    assert found.arguments == ('"a, (b"', "{1, 2}", "x" * 120)


def test_messages() -> None:
    found = calls("auto x = [graph add:a to:[b c] name:nil]; [[MPS sharedInstance] commit]; [x\n  run:y];", path="a.mm")
    assert [c.name for c in found if c.form == "message"] == ["graph add", "b c", "] commit", "MPS sharedInstance", "x run"]
    assert found[-1].line == 3
