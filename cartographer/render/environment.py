# SPDX-License-Identifier: BSD-3-Clause
"""Sets up Jinja2: escaping on, undefined names are errors, white space at the start of template lines dropped."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import markupsafe
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_environment
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension
from markupsafe import Markup, escape

from cartographer import resources
from cartographer.render import urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jinja2 import BytecodeCache, nodes
    from jinja2.compiler import Frame

    from cartographer.render.frames import SiteFrame
    from cartographer.render.pages.frame import Receipt


_INCLUDE = re.compile(r"\{% include \"([^\"]+)\" %\}\n?")
_BLOCK = r"</?(?:table|caption|thead|tr|t[dh]|h(?:[1-6]|(?=\{))|figure|[oud]l|li|p|div|details|nav|section|form|footer|main)(?=[\s>{])"
_BETWEEN = re.compile(rf"\n(?={_BLOCK})|(?P<tag>{_BLOCK}[^<>\n]*>)\n")  # no reader sees a line break there


class _Written(Extension):
    """Templates as they are compiled. Their indentation is for people: pages need not carry it, it would be a fifth of their size.
    What they include stands in its place: parts are included in every row, and each time that would look them up and copy all names.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return _BETWEEN.sub(lambda found: found["tag"] or "", re.sub(r"\n\s+", "\n", _INCLUDE.sub(self._part, source)))

    def _part(self, include: re.Match[str]) -> str:
        assert self.environment.loader is not None
        source = self.environment.loader.get_source(self.environment, include[1])[0]
        return _INCLUDE.sub(self._part, source).removesuffix("\n")


# What `escape` itself calls: it looks for signs in C, and gives the very same text where there is none.
_text: Callable[[str], str] = getattr(markupsafe, "_escape_inner", escape)
_marked: Callable[[str], Markup] = partial(str.__new__, Markup)  # without looking first whether it is HTML already


def escaped(value: Any) -> str:
    """A value escaped for HTML. Most texts contain nothing to escape, and pages are joined from plain strings anyway."""
    kind = type(value)
    if kind is str:
        return _text(value)
    return value if kind is Markup else str(value) if kind is int else escape(value)


class _Plainly(CodeGenerator):
    """Compiles templates to plain Python: what is asked of a view are its attributes, and each block is gathered in one list. Jinja's
    own way, which looks for keys as well and hands on every bit of text by itself, takes twice the time.
    """

    def write_commons(self) -> None:
        super().write_commons()
        self.writeline("escaped = environment.escaped")

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        if not frame.block_frame or frame.buffer is not None:
            return super().blockvisit(nodes, frame)
        self.buffer(frame)
        super().blockvisit(nodes, frame)
        return self.writeline(f"yield concat({frame.buffer})")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802 - named by Jinja
        self.visit(node.node, frame)
        self.write(f".{node.attr}")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802 - as above
        self.visit(node.node, frame)
        self.write("[")
        self.visit(node.arg, frame)
        self.write("]")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo) -> None:  # noqa: ARG002
        assert frame.eval_ctx.autoescape
        assert finalize.src is None
        self.write("escaped(")


class _Pages(Environment):
    """The environment of all pages."""

    code_generator_class = _Plainly
    escaped = staticmethod(escaped)


def create(compiled: BytecodeCache | None = None) -> Environment:
    """The Jinja2 environment that writes all pages. `compiled`: where compiled templates are kept."""
    environment = _Pages(
        loader=FileSystemLoader(resources.folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
        extensions=[_Written],
        bytecode_cache=compiled,
    )
    environment.globals.clear()  # no template asks for a range or a cycler, and each page would copy them all
    environment.filters.update(
        receipt=receipt, receipts=receipts, thousands=thousands, href=urls.href, svg=Markup, soft=soft, plural=plural, whole=whole, signs=signs, attribute=attribute, shared=shared, join=joined, parted=parted,
        way=lambda address, page: urls.relative(page, address),
    )
    return environment


_NOTHING = Markup()
_BARE = re.compile(r"[\w:/.#%@+,~-]+").fullmatch


@lru_cache(maxsize=1 << 15)
def receipt(place: Receipt | None, narrow: bool = False) -> Markup:
    """A receipt (the place where a statement was read) as a link to the pinned line; as plain text for generated files. `narrow`: in a column
    that may be narrower than the text.
    """
    if place is None:
        return _NOTHING
    text = whole(place.text) if narrow else escape(place.text)
    if place.url is None:
        return Markup(f"<span class=r>{text}</span>")  # noqa: S704 - escaped
    sign = "" if _BARE(place.url) else '"'  # most attributes need no quotes
    return Markup(f"<a href={sign}{escape(place.url)}{sign}>{text}</a>")  # noqa: S704 - escaped


_LINE = re.compile(r"(?<=[\w/.+-]{12}):\d+(?:-\d+)?(?![\w:])")


def whole(text: str) -> Markup:
    """A text whose numbers of lines stay in one piece: a long name of a file is broken in itself or before the colon, never inside of `:123`."""
    return Markup(_LINE.sub(r"<span>\g<0></span>", str(escape(text))))  # noqa: S704 - escaped before the pieces are marked


def attribute(value: str, name: str = "href") -> Markup:
    """An attribute, `href` with an address that is percent-encoded already or another one, in quotes where they are needed."""
    sign = "" if _BARE(value) else '"'
    return _marked(f"{name}={sign}{escaped(value)}{sign}")


@pass_environment
def shared(environment: Environment, site: SiteFrame, part: str, **of: object) -> Markup:
    """A part of the frame that depends on nothing but `of`, so that it is drawn once for all pages where `of` is the same."""
    key = (part, *of.values())
    drawn = site.drawn.get(key)
    if drawn is None:
        template = environment.get_template(f"shared/{part}.html.jinja2")
        drawn = site.drawn[key] = Markup(template.render(site=site, **of))  # noqa: S704 - escaped in its template
    return drawn


def receipts(places: Sequence[Receipt], narrow: bool = False) -> Markup:
    """Several receipts, separated by spaces; `narrow` as for one."""
    return _marked(" ".join([receipt(place, narrow) for place in places])) if places else _NOTHING


def joined(texts: Iterable[str], sign: str) -> str:
    """Texts in a row, escaped together, which is faster than one by one."""
    return sign.join(texts)


def parted(items: Iterable[Any], sign: str) -> Iterable[tuple[str, Any]]:
    """Each item with the separator before it, none before the first: Jinja's `loop.last` looks ahead, which is slow in long lists."""
    return zip(chain(("",), repeat(sign)), items, strict=False)


def signs(stop: Any) -> Markup:
    """The `class` attribute of a stop of a descent."""
    found = [name for name, holds in (("gen", stop.generated), ("common", stop.common), ("end", stop.end)) if holds]
    return _marked(f" {attribute(' '.join(found), 'class')}") if found else _NOTHING


def thousands(number: int) -> str:
    """A number with separators of thousands: `2,633`."""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 file`, `2,633 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_BREAK = re.compile(r"(::|/|_(?=[a-z0-9]{4,}))")


def soft(name: Any, least: int = 24) -> Markup:
    """The name of something in code, with break opportunities after `::`, `/` and before long parts, so that it never widens the page."""
    text = str(name)
    if len(text) < least:
        return escape(text)
    return Markup(_BREAK.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704 - escaped before the breaks are put in
