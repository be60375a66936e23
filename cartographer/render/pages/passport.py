# SPDX-License-Identifier: BSD-3-Clause
"""The short facts about an operator, each with its receipt, and the sentence above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.backend import DENSE, FIRST, layout_prefix
from cartographer.model.dispatch import ALIASES
from cartographer.model.lineage import EVER
from cartographer.model.operator import Origin, Status
from cartographer.model.recorded import COMPOSED, NEVER, is_composed, limits
from cartographer.render import urls
from cartographer.render.pages import releases
from cartographer.render.pages.surface import published
from cartographer.render.site import anchor_of, short_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.operator import Operator
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


_DEFAULT = "default backend kernel"  # the dispatcher's words


class Item(NamedTuple):
    """One value of a fact: a name in code or plain words, perhaps with a link or a receipt."""

    text: str
    code: bool = True
    address: str | None = None
    receipt: Receipt | None = None
    note: str = ""


class Fact(NamedTuple):
    """One line of an operator's facts: a label and its values."""

    label: str
    items: tuple[Item, ...]


def lead_of(operators: Sequence[Operator], main: Operator) -> tuple[str, ...]:
    """The sentences above an operator's facts: how many overloads, who computes it, whether a gradient flows back."""
    count = len(operators)
    own = [key for key in DENSE if main.dispatch.get(key) == "kernel"]
    others = [key for key in main.kernels if main.dispatch.get(key) == "kernel" and key not in FIRST]
    composed, default = ([key for key in DENSE if main.dispatch.get(key) in outcomes] for outcomes in (COMPOSED, (_DEFAULT,)))
    if own and not any(r.key in ALIASES[_DEFAULT] and r.origin is Origin.YAML for r in main.registrations):
        default = []  # written by the build: it calls the form that has the kernels
    raising = all(key in main.kernels and main.kernels[key].only_raises for key in composed or default)
    served = _and(composed or default) if own else _all_but(main, others)
    words = [f"{count} overloads." if count > 1 else "One overload."]
    if own:
        words.append(f"Computed by kernels of its own for {_and(own)}.")
    if (composed or default) and raising:
        words.append(f"One function that only raises an error stands for {served}.")
    elif composed:
        words.append(f"Composed of other operators{' for' if own else ': one function for'} {served}.")
    elif default:
        words.append(f"{'A default kernel' if own else 'One default kernel'} serves {served}.")
    elif others and not own:
        words.append(f"Computed by kernels of its own for {_and(others[:4])}.")
    if back := _way_back(main):
        words.append(f"On the way back: {back}.")
    return tuple(words)


def _all_but(main: Operator, others: Sequence[str]) -> str:
    """All backends but those that have kernels of their own, and layouts of tensors that nothing serves; a layout stands for all of its keys."""
    layouts: dict[str, list[str]] = {}
    for key in main.dispatch:
        layouts.setdefault(layout_prefix(key), []).append(key)
    followed = {layout: [key for key in keys if key in main.kernels] for layout, keys in layouts.items() if layout}
    whole = {layout for layout, keys in followed.items() if keys and set(keys) <= set(others)}
    unserved = [layout for layout, keys in layouts.items() if layout and all(main.dispatch[key] == "missing" for key in keys)]
    names = list(dict.fromkeys([*(layout if (layout := layout_prefix(key)) in whole else key for key in others), *unserved]))
    return "most backends" if len(names) > 3 else f"all backends but {_and(names)}" if names else "all backends"


def _way_back(main: Operator) -> str:
    """The Nodes that a backward pass shows, each with the tensors for which it is recorded where these are not all."""
    limited = limits(main)
    nodes = [node for node in (main.autograd.nodes if main.autograd else ()) if limited.get(node) != NEVER]
    told = [f"{node} ({limited[node]} alone)" if node in limited else node for node in nodes]
    others = ["those of the operators that it calls"] if is_composed(main) and main.autograd and main.autograd.nodes else []
    return ", else ".join(filter(None, (_and(told) if told else "", *others)))


def facts_of(site: Site, op: Operator, *, whole: bool, said: Sequence[Fact] = ()) -> tuple[Fact, ...]:
    """The facts of an overload; of a further one (`whole` False) only what the page does not say already (`said`: facts it has shown)."""
    facts = [_python(site, op), _cpp(op) if whole else None, _listed(site, op), _structured(site, op), _tags(op)]
    facts += [_derivative(site, op) if whole else None, _age(op), _history(site, op, whole=whole), _kernels(op) if whole else None]
    facts += [Fact("Exists", tuple(Item(f"in builds with {condition}", code=False) for condition in op.build)) if op.build else None]
    facts += [Fact("Also in its row", tuple(Item(f"{key}: {value}") for key, value in sorted(op.extra.items()))) if op.extra else None]
    return tuple(fact for fact in facts if fact and fact not in said)


def _python(site: Site, op: Operator) -> Fact:
    if not op.bindings:
        return Fact("Python", (Item(f"no binding; torch.ops.{op.name.replace('::', '.')} reaches it", code=False),))
    items = [Item(mark.text, receipt=site.receipt(mark.path, mark.line)) for mark in published(site, op)]
    for binding in sorted(op.bindings, key=lambda b: (b.deprecated, b.python.startswith("torch.Tensor."))):
        note = "deprecated form" if binding.deprecated else ""
        items.append(Item(binding.python, receipt=site.receipt_of(binding.place), note=note))
    return Fact("Python", tuple(dict.fromkeys(items)))


def _cpp(op: Operator) -> Fact | None:
    if op.cpp is None:
        return None
    names = (op.cpp.function, op.cpp.method, op.cpp.op)
    return Fact("C++", tuple(Item(name) for name in names if name))


def _listed(site: Site, op: Operator) -> Fact:
    label = {
        Origin.YAML: "In the list", Origin.GENERATED: "Added by", Origin.LIBRARY: "TORCH_LIBRARY", Origin.PYTHON: "torch.library",
    }.get(op.origin, "Declared")  # fmt: skip
    items = [Item("", code=False, receipt=site.receipt(op.declared.path, op.declared.line))]
    if op.generated_from and (parent := site.operator(op.generated_from)):
        items.append(Item(parent.text, address=parent.address, note="derived from"))
    return Fact(label, tuple(items))


def _structured(site: Site, op: Operator) -> Fact | None:
    if op.structured:
        return Fact("Structured", (Item("yes: meta and impl apart", code=False),))
    if not op.structured_delegate:
        return None
    name = op.structured_delegate
    link = site.operator(name if "::" in name else f"{op.namespace}::{name}")
    return Fact("Structured", (Item(short_name(name), address=link.address if link else None, note="delegates to"),))


def _tags(op: Operator) -> Fact | None:
    return Fact("Tags", tuple(Item(tag) for tag in op.tags)) if op.tags else None


def _derivative(site: Site, op: Operator) -> Fact | None:
    if op.autograd is None:
        return None
    if op.autograd.nodes:
        receipt, limited = site.receipt_of(op.autograd.formula), limits(op)
        return Fact("Derivative", tuple(Item(node, receipt=receipt, note=f"for {limited[node]}" if node in limited else "") for node in op.autograd.nodes))
    return Fact("Derivative", (Item(op.autograd.kind or "no node", code=False, receipt=site.receipt_of(op.autograd.formula)),))


def _age(op: Operator) -> Fact | None:
    dated = [(what, date) for what, date in sorted(op.age.items()) if date]
    return Fact("Age", tuple(Item(f"{what} {date}", code=False) for what, date in dated)) if dated else None


def _history(site: Site, op: Operator, *, whole: bool) -> Fact | None:
    """Since when, and what changed when, over the releases that were looked at."""
    followed = site.lineage
    if not followed.releases:
        return Fact("History", (Item("no other release was at hand when this page was drawn", code=False, address=urls.RELEASES),))
    rows = followed.says(op.name)
    if not rows:
        return None  # not in the lists that releases are compared by: a library of its own, Python
    items = []
    base = op.name.partition(".")[0]
    if whole and (first := followed.since(base)) not in rows[0][1]:
        ever = f"{EVER} {first}, as known when this page was drawn" if first == followed.releases[0] else f"since {first}"
        items.append(Item(f"{short_name(base)}: {ever}", code=False))
    tag, listed = site.catalog.source.tag, op.name in site.changed
    plate = f"{urls.RELEASES}#{releases.anchor(op.name)}"
    looked = f"{urls.RELEASES}#looked-at"  # which releases were read
    for number, (what, when) in enumerate(rows):
        drawn = ", as known when this page was drawn" if what == EVER else ""  # an older release may have been built since
        items.append(Item(f"{what} {', '.join(when)}{drawn}", code=False, address=plate if tag in when and listed else None if number else looked))
    return Fact("History", tuple(items))


def _kernels(op: Operator) -> Fact | None:
    if not op.kernels:
        return None
    counts = {status: sum(chain.status is status for chain in op.kernels.values()) for status in Status}
    words = ", ".join(f"{counts[status]} {status.value}" for status in Status if counts[status])
    return Fact("Kernel chains", (Item(words, code=False, address=f"#{anchor_of(op.name)}-kernels"),))


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
