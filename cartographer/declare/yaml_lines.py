# SPDX-License-Identifier: BSD-3-Clause
"""Parses YAML and keeps the line of every key: the only home of the yaml library.

Nothing is constructed from tags and nothing is resolved (`off` and `1e-3` stay text), so a value is what is written.
A key that stands twice in one mapping is an error, as in torchgen/yaml_utils.py, unless it says the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from cartographer.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Iterator

_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[valid-type, misc]  # which of the two is known when it runs
    """Composes nodes and asks no resolver: whatever a tag would say, a value is what is written."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: object) -> str:  # noqa: ARG002
        """One tag for all."""
        return "tag:yaml.org,2002:str"

    def descend_resolver(self, current_node: object, current_index: object) -> None:
        """No resolver."""

    def ascend_resolver(self) -> None:
        """No resolver."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that is one word or text. `plain` distinguishes `null` from `"null"`."""

    text: str
    line: int
    column: int
    end_line: int
    plain: bool = True

    @property
    def is_null(self) -> bool:
        """Whether nothing, `~` or `null` is written."""
        return self.plain and self.text in {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of values, in block or flow style, with its place in the file."""

    items: tuple[Value, ...]
    line: int
    column: int
    end_line: int
    source: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping with its value, and the place of the key."""

    key: str
    value: Value
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping in the order in which it is written; keys are unique."""

    entries: dict[str, Entry]
    line: int
    column: int
    end_line: int
    source: str = field(default="", repr=False)


Value = Scalar | Sequence | Mapping


def as_written(value: Value) -> str:
    """The text of a value as the file has it, for keys that nobody interprets."""
    return value.text if isinstance(value, Scalar) else value.source


class YamlFile:
    """One yaml file: its rows, and errors that name file, line and column."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._done: dict[int, Value | None] = {}  # by node; None while its parts are converted
        try:
            self._text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise DeclarationError(
                f"byte {error.start} is not UTF-8", where=f"{path}:{line}", hint="the file is damaged or no yaml file",
            ) from None

    def rows(self) -> Iterator[Mapping]:
        """The rows of a file that is a list of mappings; an empty file has none."""
        try:
            root = yaml.compose(self._text, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = f"{self.path}:{mark.line + 1}:{mark.column + 1}" if mark else self.path
            problem = " ".join(part for part in (error.context, error.problem) if part)
            raise DeclarationError(f"not valid yaml: {problem}", where=where) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # unprintable characters, endless nesting
            raise DeclarationError(f"not valid yaml: {error}", where=self.path) from None
        if root is None:
            return
        if not isinstance(root, yaml.SequenceNode):
            raise self.error("a list of rows is expected", root.start_mark.line + 1, root.start_mark.column + 1)
        for node in root.value:
            row = self._convert(node)
            if not isinstance(row, Mapping):
                raise self.error("a row of keys is expected", row.line, row.column)
            yield row

    def _convert(self, node: yaml.Node) -> Value:
        """A node and what it holds. An alias that stands for its own container is an error; others are shared."""
        done = self._done.get(id(node))
        if done is None:
            if id(node) in self._done:
                raise self.error("an alias stands inside of what it names", node.start_mark.line + 1,
                                 node.start_mark.column + 1)
            self._done[id(node)] = None
            done = self._done[id(node)] = self._converted(node)
        return done

    def _converted(self, node: yaml.Node) -> Value:
        start, end = node.start_mark, node.end_mark
        line, column = start.line + 1, start.column + 1
        if isinstance(node, yaml.ScalarNode):
            last = max(line, end.line + (1 if end.column else 0))
            return Scalar(node.value, line, column, last, plain=not node.style)
        source = self._text[start.index : end.index].strip()
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self._convert(item) for item in node.value)
            return Sequence(items, line, column, max([line, *(item.end_line for item in items)]), source)
        entries: dict[str, Entry] = {}
        last = line
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error("a key must be a word", mark.line + 1, mark.column + 1)
            key = key_node.value
            value = self._convert(value_node)
            if key in entries and not _same_words(value, entries[key].value):
                raise self.error(f"the key {key!r} stands twice in this row", mark.line + 1, mark.column + 1)
            entries[key] = Entry(key, value, mark.line + 1, mark.column + 1)
            last = max(last, mark.line + 1, value.end_line)
        return Mapping(entries, line, column, last, source)

    def error(self, message: str, line: int, column: int) -> DeclarationError:
        """An error that names a place in this file."""
        return DeclarationError(message, where=f"{self.path}:{line}:{column}")

    def text(self, entry: Entry) -> str:
        """The text of a value that must be one word or sentence; raises DeclarationError."""
        if not isinstance(entry.value, Scalar):
            raise self.error(f"{entry.key!r} must be a text", entry.value.line, entry.value.column)
        return entry.value.text

    def flag(self, entry: Entry) -> bool:
        """The truth value of a value that must be true or false, in any of yaml's spellings; raises DeclarationError."""
        word = self.text(entry).lower()
        if word in {"true", "yes", "on"}:
            return True
        if word in {"false", "no", "off"}:
            return False
        raise self.error(f"{entry.key!r} must be True or False, not {word!r}", entry.value.line, entry.value.column)

    def words(self, entry: Entry) -> tuple[str, ...]:
        """The words of a value that is a list, or a text of words separated by commas."""
        value = entry.value
        if isinstance(value, Scalar):
            return tuple(word for part in value.text.split(",") if (word := part.strip()))
        if isinstance(value, Sequence):
            return tuple(self._word(item) for item in value.items)
        raise self.error(f"{entry.key!r} must be a list or a text", value.line, value.column)

    def _word(self, item: Value) -> str:
        if not isinstance(item, Scalar):
            raise self.error("a word is expected here", item.line, item.column)
        return item.text


def _same_words(one: Value, other: Value) -> bool:
    """Whether a key that stands twice says the same both times, as `variants` of one row of 1.0 does."""
    if not (isinstance(one, Scalar) and isinstance(other, Scalar)):
        return False
    return sorted(one.text.replace(",", " ").split()) == sorted(other.text.replace(",", " ").split())


def gathered(errors: list[DeclarationError], path: str) -> DeclarationError:
    """One error for all bad rows of a file: the first in full, the number of the others, a few of them listed."""
    first = errors[0]
    if len(errors) == 1:
        return first
    others = "\n".join(f"also {error.where}: {error.message}" for error in errors[1:6])
    more = f"\nand {len(errors) - 6} more" if len(errors) > 6 else ""
    return DeclarationError(first.message, where=first.where or path, hint=others + more)
