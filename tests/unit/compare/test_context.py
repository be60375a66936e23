# SPDX-License-Identifier: BSD-3-Clause
"""Whom a change touches, and what only looks big."""

from cartographer.compare.operators import compare
from cartographer.model.change import folded, is_public
from cartographer.model.oplist import DerivativeRow, OperatorList, OperatorRow


def row(name, dispatch=None, schema="(Tensor self) -> Tensor", **more):
    return OperatorRow(f"aten::{name}", name + schema, "n.yaml", 1, dispatch=dispatch or {"CPU": "k"}, **more)


def changes(old, new):
    sides = [OperatorList(v, f"v{v}", None, "https://example.org", {r.name: r for r in rows}) for v, rows in (("1", old), ("2", new))]
    return compare(*sides).changes


def test_users_backends_and_python_names():
    gone = row("f", {"CPU": "k", "CUDA": "k"}, python=("torch.f",))
    user = row("g", derivative=DerivativeRow("d", 1, {"Default self": "at::f_symint(grad) + ff(grad)"}))
    delegating = row("h", {"MPS": "m"}, structured_delegate="f")
    (change,) = [c for c in changes([gone, user, delegating], [user, delegating]) if c.op == "aten::f"]
    assert change.detail["named_by"] == ["aten::g", "aten::h"]
    assert change.detail["backends"] == ["CPU", "CUDA"]
    assert change.detail["python_names"] == ["torch.f"]
    assert is_public(change)


def test_what_python_never_called_is_not_public():
    for python, public in ((None, True), ((), False), (("torch.f",), True)):
        (change,) = changes([row("f", python=python)], [])
        assert is_public(change) is public
    (change,) = changes([row("_f", python=("torch._f",))], [])
    assert not is_public(change)


def test_a_backend_that_arrives_is_one_line():
    old = [row(f"f{n}") for n in range(60)]
    new = [row(f"f{n}", {"CPU": "k", "XPU": "x"}) for n in range(60)]
    kept, folds = folded(changes(old, new))
    assert kept == []
    ((id_, why, number),) = folds
    assert (id_, number) == ("dispatch-gained", 60)
    assert "XPU" in why
    kept, folds = folded(changes([*old, *(row(f"g{n}", {"XPU": "x"}) for n in range(30))], [*new, *(row(f"g{n}", {"XPU": "x"}) for n in range(30))]))
    assert len(kept) == 60  # XPU was there before
    assert folds == []


def test_keys_served_otherwise_fold_over_all_keys():
    old = [row("f", {"CPU": "k", "CompositeExplicitAutograd": "c"}), row("g", {"CUDA": "k", "CompositeExplicitAutograd": "c"})]
    new = [row("f", {"CompositeExplicitAutograd": "c"}), row("g", {"CompositeExplicitAutograd": "c"})]
    kept, folds = folded(changes(old, new))
    assert kept == []
    assert [(id_, number) for id_, _, number in folds] == [("dispatch-lost", 2)]
    assert folds[0][1].endswith("(CPU 1, CUDA 1)")


def test_composites_by_what_it_means():
    def levels(before, after):
        found = changes([row("f", before)], [row("f", after)])
        return {c.id: str(c.level) for c in found}

    implicit, explicit, own = ({key: "f"} for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CPU"))
    assert levels(own, own | explicit)["composite-changed"] == "info"
    assert levels(own | implicit, own) == {"composite-changed": "maybe", "dispatch-lost": "info"}
    assert levels(implicit, explicit)["composite-changed"] == "maybe"
    assert levels(explicit, implicit)["composite-changed"] == "maybe"


def test_what_one_list_cannot_say_folds():
    def folds(old, new):
        return {c.id: c.fold for c in changes(old, new)}

    plain, flagged = row("f"), row("f", flags={"use_c10_dispatcher": "full"})
    assert folds([flagged], [plain])["flag-changed"] == "the list has no key use_c10_dispatcher any more"
    assert folds([flagged, row("g")], [plain, row("g", flags={"use_c10_dispatcher": "full"})])["flag-changed"] == ""
    assert folds([plain], [row("f", tags=("core",))])["tags-changed"] == "the tag core is new"
    assert folds([plain, row("g", tags=("core",))], [row("f", tags=("core",)), row("g", tags=("core",))])["tags-changed"] == ""
    assert folds([plain], [row("f", structured=True)])["structured-changed"] == "`structured` is new in the list"


def test_formulas_by_what_they_mean():
    def found(old, new):
        (change,) = changes([row("f", derivative=DerivativeRow("d", 1, old))], [row("f", derivative=DerivativeRow("d", 1, new))])
        return str(change.level), change.reason

    assert found({"Default self": "grad"}, {"Default self": "grad", "Default result": "auto_linear"}) == ("info", "the forward-mode derivative of result is new")
    assert found({"Default self": "grad"}, {"Default self": "2 * grad"}) == ("maybe", "the gradient of self is computed otherwise")
    assert found({"Default self": "grad", "Default result": "x"}, {"Default self": "grad"}) == ("maybe", "the forward-mode derivative of result is gone")


def test_catch_all_kernels_of_old_releases():
    formula = DerivativeRow("d", 1, {"Default self": "grad"})
    old = row("f", {"CompositeImplicitAutograd": "f"}, derivative=formula)
    new = row("f", {"CompositeExplicitAutograd": "f"}, derivative=formula)

    def composite(*others):
        return next(c for c in changes([old, *others], [new, *others]) if c.id == "composite-changed")

    assert (str(composite().level), bool(composite().fold)) == ("info", True)
    explicit = row("g", {"CompositeExplicitAutograd": "g"})  # a release that has the key means what it says
    assert (str(composite(explicit).level), composite(explicit).fold) == ("maybe", "")
