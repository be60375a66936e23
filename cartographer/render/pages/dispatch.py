# SPDX-License-Identifier: BSD-3-Clause
"""The dispatch table of an overload: what is registered for which key, and what serves each key in the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.atlas import said_elsewhere
from cartographer.model.backend import device_of_key
from cartographer.model.dispatch import by_outcome
from cartographer.model.operator import Origin, Status
from cartographer.render.pages.frame import Link, Receipt, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.atlas import Landmark
    from cartographer.model.operator import Operator, Registration, Step
    from cartographer.render.site import Site


class RegistrationRow(NamedTuple):
    """One kernel, and the keys it is registered for."""

    keys: tuple[str, ...]
    kernel: str
    where: Receipt | None
    untold: str  # why there is no such place
    how: str
    generated: bool  # written or implied by a generator
    active: bool
    unresolved: bool
    note: str
    registered: Receipt | None
    letter: str  # of the rule in the page's list of receipts, for kernels that a generator implies
    plain: bool  # written by a generator, and that is all there is to say


class KeysOf(NamedTuple):
    """The runtime keys that are served in the same way."""

    outcome: str
    keys: tuple[str, ...]


class Elsewhere(NamedTuple):
    """What is said of a backend whose kernels another repository has, around the link to it, and the line that names it."""

    before: str
    web: Link
    after: str
    receipt: Receipt


_HOW = {
    Origin.YAML: "yaml", Origin.STRUCTURED: "structured", Origin.GENERATED: "generated", Origin.LIBRARY: "TORCH_LIBRARY_IMPL", Origin.PYTHON: "python",
}  # fmt: skip
_IMPLIED = (Origin.STRUCTURED, Origin.GENERATED)


def rows_of(site: Site, op: Operator, letters: dict[str, Receipt], *, brief: bool = False) -> tuple[RegistrationRow, ...]:
    """One row for each kernel; keys with the same kernel, origin and place share a row. `letters` grows over the page. `brief`: a place in
    the file of the operator's declaration, which the overload's facts name, is shown by its line alone.
    """
    groups: dict[tuple[object, ...], list[Registration]] = {}
    for registration in op.registrations:
        chain = op.kernels.get(registration.key) if registration.active else None
        same = (
            registration.kernel, registration.origin, registration.fallthrough, registration.boxed, registration.active, registration.build,
            registration.place, registration.rule, chain.steps[:1] if chain else (), chain.status if chain else None,
        )  # fmt: skip
        groups.setdefault(same if registration.kernel else (*same, registration.key), []).append(registration)
    own = at(op.declared.path, 1, site.common).removesuffix("1") if brief else ""
    return tuple([_row(site, op, group, letters, own, brief) for group in groups.values()])


def _line_of(place: Receipt | None, own: str) -> Receipt | None:
    """A place without the name of the overload's own file, "" = none."""
    if place is None or not own or not place.text.startswith(own):
        return place
    return Receipt(f"line {place.text.removeprefix(own)}", place.url)


def _row(site: Site, op: Operator, group: list[Registration], letters: dict[str, Receipt], own: str, brief: bool) -> RegistrationRow:
    first = group[0]
    chain = op.kernels.get(first.key) if first.active else None  # the chain is that of the registration that holds
    entry = chain.steps[0] if chain and chain.steps else None
    rule = site.rule(first.rule) if not first.place else None
    implied = bool(rule and first.origin in _IMPLIED)
    letter = letter_of(rule, letters) if rule and implied else ""
    kernel = first.kernel or ("lets the call fall through" if first.fallthrough else entry.symbol if entry else "")
    where, untold = (None, "") if brief else _defined(site, op, first, entry)
    return RegistrationRow(
        keys=tuple([registration.key for registration in group]),
        kernel=kernel,
        where=where,
        untold=untold,
        how=_HOW[first.origin],
        generated=first.origin in _IMPLIED,
        active=first.active,
        unresolved=bool(chain and chain.status is Status.UNRESOLVED),
        note=_note(first, chain.reason if chain and chain.status is Status.UNRESOLVED else None),
        registered=_line_of(site.receipt_of(first.place) or (None if implied else rule), own),
        letter=letter,
        plain=bool(letter) and first.origin is Origin.GENERATED and first.active and not (first.build or first.boxed or entry),
    )


def _defined(site: Site, op: Operator, registration: Registration, entry: Step | None) -> tuple[Receipt | None, str]:
    """Where the kernel of a registration is defined: where its own chain or, of an alias key, that of a key which it serves begins; else the
    only function of that name in its language that the registration can see. Or why that cannot be told.
    """
    kernel = registration.kernel
    if not entry and kernel and registration.active:
        entry = next((chain.steps[0] for chain in op.kernels.values() if chain.steps and chain.steps[0].symbol == kernel), None)
    if entry:
        return site.receipt(entry.path, entry.line), ""
    if registration.fallthrough:
        return None, "lets the call through"
    if registration.origin in _IMPLIED:
        return None, "written by the build"
    if not kernel:
        return None, "not named"
    if kernel == "lambda":
        return None, "a lambda where it is registered"
    python = registration.origin is Origin.PYTHON  # what C++ registers may have a wrapper of the same name in Python
    own = registration.place.path if registration.place else ""
    places = [(path, line) for path, line, hidden in site.catalog.functions.get(kernel, ()) if path.endswith((".py", ".pyi")) == python and (not hidden or path == own)]
    if len(places) == 1:
        return site.receipt(*places[0]), ""
    return None, "one of several of that name" if places else "not found here"


def letter_of(rule: Receipt, letters: dict[str, Receipt]) -> str:
    """The letter under which a page lists this receipt: a, b, ..., z, aa, ab, ..."""
    for letter, known in letters.items():
        if known == rule:
            return letter
    number, letter = len(letters), ""
    while number >= 0:
        number, rest = divmod(number, 26)
        letter, number = chr(ord("a") + rest) + letter, number - 1
    letters[letter] = rule
    return letter


def _note(registration: Registration, unresolved: str | None) -> str:
    words = []
    if not registration.active:
        words.append("overridden")
    if registration.boxed:
        words.append("boxed")
    if registration.build:
        words.append("in builds with " + ", ".join(registration.build))
    if unresolved:
        words.append(f"unresolved: {unresolved}")
    return "; ".join(words)


def outcomes_of(dispatch: Mapping[str, str]) -> tuple[KeysOf, ...]:
    """The runtime keys grouped by what serves them, in the dispatcher's words."""
    return tuple([KeysOf(outcome, keys) for outcome, keys in by_outcome(dispatch)])


def elsewhere_of(site: Site, keys: Iterable[str]) -> tuple[Elsewhere, ...]:
    """What is to be said of the backends among these keys whose kernels another repository has."""
    found = []
    for mark in _elsewhere(site, keys):
        before, web, after = said_elsewhere(mark).partition(mark.text.split()[0])
        found.append(Elsewhere(before, Link(web, _at_commit(web, after)), after, site.receipt(mark.path, mark.line)))
    return tuple(found)


_COMMIT = re.compile(r" at ([0-9a-f]{7,64})\b")


def _at_commit(web: str, after: str) -> str:
    """The address of a repository at the commit that is named after it; "" when no browser opens it."""
    if not web.startswith("https://"):
        return ""
    commit = _COMMIT.match(after)
    return f"{web.removesuffix('.git')}/tree/{commit[1]}" if commit else web


def named_elsewhere(site: Site, keys: Iterable[str]) -> tuple[str, ...]:
    """The same in short, the last name of each repository: the list of operators has the rest."""
    return tuple([f"{mark.subject}: {mark.text.split()[0].rpartition('/')[2].removesuffix('.git')}" for mark in _elsewhere(site, keys)])


def _elsewhere(site: Site, keys: Iterable[str]) -> tuple[Landmark, ...]:
    return tuple([mark for device in dict.fromkeys(map(device_of_key, keys)) if (mark := site.catalog.elsewhere.get(device))])
