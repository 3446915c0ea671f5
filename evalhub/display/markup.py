"""Model output as safe HTML: Markdown, formulas and code, with an allow-list of tags. Pure."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from evalhub.display import formulas
from evalhub.display.code_colours import CLASSES, coloured

MAX_CHARACTERS = 20_000

_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
    "span",
    *formulas.TAGS,
}
_REL = "noopener nofollow noreferrer"
_VALUES = {
    ("a", "href"): re.compile(r"(https?://|mailto:)\S+", re.IGNORECASE),
    ("a", "rel"): re.compile(_REL),
    ("code", "class"): re.compile(r"language-[\w+#.-]{1,40}", re.ASCII),
    ("ol", "start"): re.compile(r"\d{1,9}", re.ASCII),
    ("pre", "tabindex"): re.compile("0"),
    ("table", "tabindex"): re.compile("0"),
    ("span", "class"): re.compile("|".join(sorted(set(CLASSES.values())))),
    **formulas.VALUES,
}
# Where texts set them. Alpine runs other attributes, such as x-data, as code.
_ATTRIBUTES: dict[str, set[str]] = {}
for _tag, _name in [*formulas.VALUES, ("a", "href"), ("code", "class"), ("span", "class")]:
    _ATTRIBUTES.setdefault(_tag, set()).add(_name)
_ATTRIBUTES["ol"] = {"start"}
# Parsing time grows with their square; no answer has this many.
_MAX_BRACKETS = 4_000
_MAX_CELLS = 50_000


def model_markdown(text: str, *, limit: int = MAX_CHARACTERS, has_formulas: bool = True) -> str:
    """Render untrusted Markdown (CommonMark and tables) as safe HTML.

    Formulas become MathML and code in fences gets classes for its colours, unless `has_formulas`
    is False: for texts whose pieces are replaced afterwards, which must stay in one piece.

    HTML is shown as text and images as their alternative text, so that nothing is loaded. Links
    lead to http, https and mailto addresses only. Line breaks are kept. Text beyond `limit`
    characters is cut with a note. Text built to take long to parse is shown unrendered.
    """
    shown = text[:limit]
    markdown = _WITH_FORMULAS if has_formulas else _MARKDOWN
    html = nh3.clean(
        f"<pre>{escape(shown)}</pre>\n" if _takes_long(shown) else markdown.render(shown),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_kept_value,
        # Wide ones scroll; keyboard scrolling needs focus.
        set_tag_attribute_values={"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
        url_schemes={"http", "https", "mailto"},
        link_rel=_REL,
    )
    if len(shown) == len(text):
        return html
    return f"{html}<p><em>Cut here: {limit:,} of {len(text):,} characters are shown.</em></p>\n"


def _takes_long(text: str) -> bool:
    """Detect many open brackets, or a short table that expands to many cells."""
    columns = max((line.count("|") for line in text.splitlines()), default=0)
    return text.count("[") > _MAX_BRACKETS or columns * text.count("\n") > _MAX_CELLS


def _kept_value(tag: str, attribute: str, value: str) -> str | None:
    pattern = _VALUES.get((tag, attribute))
    return value if pattern is not None and pattern.fullmatch(value) else None


def _alternative_text(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    position: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    return escape(tokens[position].content)


def _code(code: str, language: str, attributes: str) -> str:
    return coloured(code, language)


def _ends_table(state: StateBlock, line: int, end_line: int, silent: bool) -> bool:
    """End a table at a line without a bar: people write their question right below it."""
    text = state.src[state.bMarks[line] : state.eMarks[line]]
    return silent and state.parentType == "table" and "|" not in text


def _made(**options: Any) -> MarkdownIt:
    # Blocks nested deeper are dropped silently; no answer nests this deep.
    settings = {"html": False, "breaks": True, "maxNesting": 100, **options}
    made = MarkdownIt("commonmark", settings).enable("table")
    # What ends a table is asked of the rules that may interrupt a quotation.
    made.block.ruler.before("paragraph", "end_table", _ends_table, {"alt": ["blockquote"]})
    image: Any = _alternative_text
    made.add_render_rule("image", image)
    return made


_MARKDOWN = _made()
_WITH_FORMULAS = _made(highlight=_code)
formulas.add_formulas(_WITH_FORMULAS)
