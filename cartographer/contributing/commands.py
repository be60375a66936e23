# SPDX-License-Identifier: BSD-3-Clause
"""Finds the commands that set up, build, test and lint in CONTRIBUTING.md, and in the section of README.md to which it sends for the build."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cartographer.model.atlas import Landmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GUIDE, README = "CONTRIBUTING.md", "README.md"
_SHELLS = ("", "sh", "bash", "shell", "console", "zsh")
_FENCE = re.compile(r"^\s*```\s*(\w*)\s*$")
_HEADING = re.compile(r"^(#+)\s+(.+?)\s*#*$")
_LABEL = re.compile(r"^\*\*([^*]+?):?\*\*:?$")  # a line in bold, which stands for a heading below all others
_LINKED = re.compile(r"\(https?://github\.com/pytorch/pytorch(?:/blob/\w+/README\.md)?/?#([\w-]+)\)|https?://github\.com/pytorch/pytorch#([\w-]+)")
_CLONE = re.compile(r"^git clone .*pytorch")
_RUN = r"^(?:[A-Z_]+=\S+ )*"
_BUILD = re.compile(_RUN + r"(?:python3? setup\.py (?:develop|build|install)\b(?!.*--cmake-only)|(?:python3? -m )?pip3? install .*(?:-e\b|--no-build-isolation)|spin build)")
_TEST = re.compile(_RUN + r"(?:python3? (?:-m pytest\b|(?:test/|run_test)\S*)|pytest\b|\./build/|make doctest|spin test)")
_LINT = re.compile(_RUN + r"(?:python3? (?:-m )?\S*lint|make \S*lint|lintrunner|spin \S*lint)")
_REQUIRED = re.compile(r"^pip3? install ")
_DESTROYS = re.compile(r"^(?:git (?:clean|submodule deinit)|rm -rf)\b")
_EXPORT = re.compile(r"^(?:export|set) \w+=")


@dataclass(slots=True)
class _Block:
    """A fenced block: the headings above it, the last line of text before it, its language, and its commands with their lines."""

    headings: tuple[str, ...]
    before: str
    language: str
    label: str = ""  # the line in bold below the nearest heading
    commands: list[tuple[int, str]] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The nearest heading, with the line in bold below it: `Install, on Linux`."""
        found = self.headings[-1] if self.headings else ""
        return f"{found}, {_lowered(self.label)}" if found and self.label else found or self.label


def commands(texts: Mapping[str, str]) -> Iterator[Landmark]:
    """The commands by what they are for (`kind`), each with the heading that it stands under."""
    guide = tuple(_worth(_blocks(texts.get(GUIDE, ""))))
    sent = [match[1] or match[2] for match in _LINKED.finditer(texts.get(GUIDE, ""))]
    source = tuple(b for b in _worth(_blocks(texts.get(README, ""))) if any(_slug(h) in sent for h in b.headings))
    start = _setting_up(guide)
    for path, blocks in ((GUIDE, start), (README, () if start else _setting_up(source))):
        for block in blocks:
            yield from (Landmark(block.heading, "setup", path, line, text) for line, text in block.commands if not _BUILD.match(text))
    for block in source:
        yield from _of_block(README, block, build_only=True)
    for block in guide:
        yield from _of_block(GUIDE, block, build_only=False)


def _setting_up(blocks: Sequence[_Block]) -> tuple[_Block, ...]:
    """The blocks of the section in which PyTorch is cloned."""
    section = next((b.headings for b in blocks if any(_CLONE.match(text) for _, text in b.commands)), None)
    return tuple(b for b in blocks if b.headings == section)


def _of_block(path: str, block: _Block, *, build_only: bool) -> Iterator[Landmark]:
    exports: list[tuple[int, str]] = []  # that a build needs before it
    for line, text in block.commands:
        if _EXPORT.match(text):
            exports.extend([(line, text)] if build_only else [])
        elif _BUILD.match(text):
            yield from (Landmark(block.heading, "build", path, *each) for each in (*exports, (line, text)))
            exports.clear()
        elif not build_only:
            required = _REQUIRED.match(text) and re.search(r"\btest", block.heading, re.IGNORECASE)
            kind = "lint" if _LINT.match(text) else "test" if _TEST.match(text) or required else ""
            if kind:
                yield Landmark(block.heading, kind, path, line, text)


def _worth(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """The blocks of shell commands that somebody should type. Not what is to be replaced by something else, not a cure that begins by
    taking everything away, and not what builds the example in another language that the same section shows before.
    """
    examples = set()
    for block in blocks:
        if block.language not in _SHELLS:
            examples.add(block.headings)
        elif block.headings not in examples and not block.before.rstrip(":").endswith("replace") and not any(_DESTROYS.match(text) for _, text in block.commands):
            yield block


def _blocks(text: str) -> Iterator[_Block]:
    headings: list[tuple[int, str]] = []
    block: _Block | None = None
    before, held, label = "", "", ""
    found: list[_Block] = []
    labels: dict[tuple[str, ...], set[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if fence := _FENCE.match(line):
            if block is not None:
                found.append(block)
            block = _Block(tuple(h for _, h in headings), before, fence[1].lower(), label) if block is None else None
            held = ""
        elif block is not None:
            held = _take(block, number, line, held)
        elif heading := _HEADING.match(line):
            headings = [h for h in headings if h[0] < len(heading[1])] + [(len(heading[1]), heading[2].replace("`", ""))]
            label = ""
        elif line.strip():
            named = _LABEL.match(line.strip())
            label = named[1].replace("`", "") if named else label
            labels.setdefault(tuple(h for _, h in headings), set()).add(label)
            before = line.strip()
    for block in found:  # one label alone says what comes first, not which of several ways this is
        yield block if len(labels.get(block.headings, {""}) - {""}) > 1 else replace(block, label="")


def _take(block: _Block, number: int, line: str, held: str) -> str:
    """Put a line of a block to its commands, without prompt and comment; what a backslash holds open is given back."""
    text = re.sub(r"(?:^|\s+)#.*$", "", line).strip().removeprefix("$ ")
    if held and block.commands:
        first, begun = block.commands.pop()
        block.commands.append((first, f"{begun} {text.rstrip(chr(92)).strip()}"))
    elif text:
        block.commands.append((number, text.rstrip("\\").strip()))
    return text if text.endswith("\\") else ""


def _lowered(label: str) -> str:
    """A label as it stands behind a comma: its first word small, unless it is a name such as CPU-only."""
    return label[:1].lower() + label[1:] if label.partition(" ")[0][1:].islower() else label


def _slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
