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


def test_brackets_in_brackets_and_labels_after_them() -> None:
    found = calls('if (a) {} else { b(c, "d, e)"); }\nF x{g(), {1, 2}}; F y{3, 4};\nh([i = j(k, l)](int m, int n) { return o{}; }, p( ), q[r, s]);\n'
                  "switch (t) { default: u(); break; case v(1): { w(); } }")
    assert [(c.name, c.arguments, c.conditions) for c in found] == [
        ("b", ("c", '"d, e)"'), ("!(a)",)), ("F", ("g()", "{1, 2}"), ()), ("g", (), ()), ("F", ("3", "4"), ()),
        ("h", ("[i = j(k, l)](int m, int n) { return o{}; }", "p( )", "q[r", "s]"), ()), ("", (), ()), ("j", ("k, l",), ()),
        ("o", (), ()), ("p", (), ()), ("u", (), ("default",)), ("v", ("1",), ("case v(1)",)), ("w", (), ("case v(1)",))]


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
    assert {c.name: c.conditions for c in found} == {
        "b": ("a",), "d": ("!(a)", "c"), "e": ("!(a)", "!(c)"), "g": ("case A::B",), "h": ("default",), "k": ("y",), "l": (), "r": ("p", "q"), "s": ("p",)}


def test_labels_that_stand_together_are_one_condition() -> None:
    assert [c.conditions for c in calls("switch (x) {\n case A:\n case B::C: g(); break;\n case D: case E: default: h();\n}\n")] == [("case A || case B::C",), ("default",)]
    (many,) = calls(f"switch (x) {{ {' '.join(f'case {letter * 50}:' for letter in 'ABCD')} g(); }}\n")
    assert many.conditions == (f"case {'A' * 50} || case {'B' * 50} || …",)


def exits(body: str) -> list[tuple[str, int, int]]:
    facts = scan_file("a.cu", f"void f() {{\n{body}\n}}\n".encode())
    return [(e.condition, e.line, e.end) for e in next(d for d in facts.definitions if d.name == "f").exits]


def test_ways_out_of_a_body() -> None:
    assert exits("if (a) {\n b();\n return c();\n}\nd();") == [("a", 5, 7)]
    assert exits("if (a)\n throw b();\nd();") == [("a", 3, 5)]
    assert exits("while (x) {\n if (a) { return; }\n d();\n}\ne();") == [("a", 3, 5)]
    assert exits("if (a) { b(); }\nif (c) { if (d) return; e(); }\nf();") == [("d", 3, 3)]
    assert exits("switch (x) {\n case 1:\n  if (a) return b();\n  c();\n case 2:\n  d();\n}") == [("a", 4, 5)]
    assert exits("if (a) { b(); return; } else { return; }\nc();") == [("a", 2, 4), ("!(a)", 2, 4)]
    assert exits("run([&] {\n if (a) return 1;\n return b();\n});\nc();") == [("a", 3, 5)]


def test_a_block_that_ends_in_an_if_all_of_whose_sides_leave_is_a_way_out():
    assert exits("if (a) {\n if (b) { return; } else { return; }\n}\nc();") == [("b", 3, 4), ("!(b)", 3, 4), ("a", 4, 6)]
    assert exits("if (a) {\n if (b) return;\n else if (d) { throw e(); }\n else return;\n}\nc();")[-1] == ("a", 6, 8)
    inner = ("if (b) { return; }", "if (b) { return; } else { d(); }", "if (b) { d(); } else { return; }", "if (b) { return; } else { return; }\n d();", "for (x) { if (b) return; else return; }")
    assert all("a" not in [condition for condition, _, _ in exits(f"if (a) {{\n {text}\n}}\nc();")] for text in inner)


def test_messages_stand_under_conditions_too() -> None:
    found = calls("if (a) {\n x = [graph sumWithTensor:t];\n} else if (b)\n y = [[graph foo] barWithTensor:t];\n#if Q\nz = [graph maxWithTensor:t];\n#endif", path="a.mm")
    assert {(c.name, c.conditions, c.guards) for c in found if c.form == "message"} == {
        ("graph sumWithTensor", ("a",), ()), ("graph foo", ("!(a)", "b"), ()), ("] barWithTensor", ("!(a)", "b"), ()), ("graph maxWithTensor", (), ("Q",))}


def test_a_long_condition_is_cut_with_its_parentheses_closed() -> None:
    (found,) = calls(f"if (f(a, {'x' * 200})) g();")[1:]
    assert found.conditions[0].endswith("…)")
    assert len(found.conditions[0]) < 130


def test_guards_inside_a_body() -> None:
    found = calls("a();\n#if X\nb();\n#else\nc();\n#endif", rest="#ifdef W\n")
    assert [(c.name, c.guards) for c in found] == [("a", ()), ("b", ("X",)), ("c", ("!(X)",))]


def test_a_side_of_an_if_that_the_main_build_leaves_out_denies_nothing_after_it() -> None:
    def around(guard: str) -> dict[str, tuple[str, ...]]:
        body = f"if (a) {{\n one();\n#ifdef {guard}\n}} else if (b) {{\n two();\n#endif\n}} else if (c) {{\n three();\n}} else {{\n four();\n}}"
        return {c.name: c.conditions for c in calls(body)}

    assert around("OURS") == {"one": ("a",), "two": ("!(a)", "b"), "three": ("!(a)", "!(b)", "c"), "four": ("!(a)", "!(b)", "!(c)")}
    assert around("__aarch64__") == {"one": ("a",), "two": ("!(a)", "b"), "three": ("!(a)", "c"), "four": ("!(a)", "!(c)")}
    goes_on = b"void f() {\n if (x) {\n  if (a) {\n   one();\n  }\n#ifdef __aarch64__\n  else if (b) {\n   return;\n  }\n#endif\n  else {\n   return;\n  }\n }\n two();\n}\n"
    (facts,) = scan_file("a.cu", goes_on).definitions
    assert "x" not in [e.condition for e in facts.exits]  # its first side does not leave
    (facts,) = scan_file("a.cu", goes_on.replace(b"one();", b"return;")).definitions
    assert "x" in [e.condition for e in facts.exits]
    (_, four) = calls("#ifdef USE_ROCM\nif (a) {\n one();\n} else\n#endif\n{\n four();\n}")
    assert four.conditions == ()


def test_a_member_below_a_long_comment_stands_on_its_own_line() -> None:
    comment = "\n".join(f"// {'words ' * 12}" for _ in range(3))
    assert [(c.name, c.line) for c in calls(f"x = indices\n{comment}\n.mul(y);")] == [("indices.mul", 6)]


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
