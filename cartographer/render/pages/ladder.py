# SPDX-License-Identifier: BSD-3-Clause
"""The ladder of dispatch keys that a plain call passes, from the highest priority down.

A plain call is one on ordinary tensors outside any mode. Awake are then the keys of the tensors themselves (their backend
and its autograd key) and those that c10/core/DispatchKeySet.h puts into `default_included_set`; all others sleep.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.dispatch import OUTCOMES
from cartographer.model.recorded import COMPOSED, autograd_key, recorded

if TYPE_CHECKING:
    from cartographer.model.operator import Layer, Operator
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


class Rung(NamedTuple):
    """One dispatch key, or several that sleep in the same way."""

    key: str
    css: str  # "stops-here", "pass" or "" for sleep
    outcome: str
    receipt: Receipt | None = None


_AUTOGRAD = "AutogradFunctionality"
_AWAKE = (_AUTOGRAD, "ADInplaceOrView", "BackendSelect")
_ENDED = "not reached; the operators that it calls get here"
_WAKES = (
    ("FuncTorchBatched", "under vmap"), ("Batched", "under the older vmap"), ("FuncTorchVmap", "under vmap"), ("VmapMode", "under the older vmap"),
    ("FuncTorchGrad", "under functorch's grad"), ("FuncTorchDynamicLayer", "under a functorch transform"), ("Autocast", "under torch.autocast"),
    ("Tracer", "under torch.jit.trace"), ("Functionalize", "under torch.compile"), ("ZeroTensor", "for a tensor of known zeros"),
    ("Negative", "for a tensor that is negated lazily"), ("Conjugate", "for a tensor that is conjugated lazily"), ("Named", "for named tensors"),
    ("AutogradNestedTensor", "for nested tensors"), ("AutogradOther", "for backends without an autograd key of their own"),
    ("Python", "for tensor subclasses and modes in Python"), ("PreDispatch", "while a program is exported"),
)  # fmt: skip


def ladder_of(site: Site, op: Operator, backend: str) -> tuple[Rung, ...]:
    """The rungs from the top; sleeping keys that only a general fallback serves share the last one."""
    rungs: list[Rung] = []
    general: list[str] = []
    unknown: dict[str, list[str]] = {}
    ended = False  # a composite function runs further up: no key below is looked at for this operator
    for layer in (_seen_by(backend, op, layer) for layer in op.layers):
        awake = layer.key in _AWAKE or layer.key == f"Autograd{backend}"
        if not awake and layer.outcome.endswith("backend fallback"):
            general.append(layer.key)
            continue
        if not awake and layer.outcome not in OUTCOMES:
            unknown.setdefault(layer.outcome, []).append(layer.key)
            continue
        if awake and ended:
            continue
        ended = ended or (awake and layer.outcome in COMPOSED)
        rungs.append(_awake(site, op, layer, backend) if awake else _asleep(site, layer))
    if rungs and backend:
        rungs.append(Rung(backend, "", _ENDED) if ended else Rung(backend, "stops-here", "arrives: the kernel, one floor below"))
    if general:
        count = "1 further key" if len(general) == 1 else f"{len(general)} further keys"
        rungs.append(Rung("and asleep", "", f"{count}, with nothing but their general fallback for this operator; the dispatch table below names them"))
    rungs += [Rung("and not told", "", f"{outcome}: " + ", ".join(keys)) for outcome, keys in unknown.items()]
    return tuple(rungs)


def _seen_by(backend: str, op: Operator, layer: Layer) -> Layer:
    """The layer of autograd stands for all backends; for one of them it is what serves that one's own key."""
    outcome = op.dispatch.get(autograd_key(op, backend)) if backend and layer.key == _AUTOGRAD else None
    return replace(layer, outcome=outcome, acts=outcome != "missing" and not outcome.startswith("fallthrough")) if outcome else layer


def _awake(site: Site, op: Operator, layer: Layer, backend: str) -> Rung:
    receipt = site.receipt_of(layer.place)
    name = "Autograd" if layer.key == _AUTOGRAD else layer.key
    if layer.outcome not in OUTCOMES:
        return Rung(name, "pass", f"not told: {layer.outcome}", receipt)
    if not layer.acts:
        return Rung(name, "pass", "lets the call fall through", receipt)
    if layer.outcome in COMPOSED:
        return Rung(name, "stops-here", "the composite function below runs already here; the operators it calls are recorded one by one", receipt)
    nodes = recorded(op, backend)
    formula = site.receipt_of(op.autograd.formula) if op.autograd else None
    says = f"records {', '.join(nodes)}, then calls on" if nodes else f"acts: {layer.outcome}"
    return Rung(name, "stops-here", says, receipt or formula)


def _asleep(site: Site, layer: Layer) -> Rung:
    wakes = next((f"wakes {when}" for start, when in _WAKES if layer.key.startswith(start)), "sleeps")
    does = {"fallthrough kernel": "lets the call fall through", "kernel": "own kernel"}.get(layer.outcome, layer.outcome)
    return Rung(layer.key, "", f"{wakes}: {does}", site.receipt_of(layer.place))
