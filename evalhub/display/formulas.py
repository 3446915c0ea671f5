r"""Formulas in Markdown: `\(…\)`, `\[…\]`, `$…$` and `$$…$$` as MathML, without scripts. Pure.

MathML from here is untrusted until it is sanitised: LaTeX can name links, styles and classes.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar

TAGS = {
    *("math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle", "mpadded", "menclose"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
    *("mtable", "mtr", "mtd", "mmultiscripts", "mprescripts"),
}
"""Without `mphantom`, which would hide its text."""

_YES = re.compile("true|false")
_LENGTH = re.compile(r"-?\d{0,2}(\.\d{1,5})?em", re.ASCII)
_ALIGNMENT = re.compile("(left|right|center)( (left|right|center)){0,20}")
VALUES = {
    ("math", "display"): re.compile("block|inline"),
    ("menclose", "notation"): re.compile("box|updiagonalstrike|downdiagonalstrike"),
    ("mfrac", "linethickness"): re.compile("0"),
    ("mi", "mathvariant"): re.compile("normal"),
    **{("mo", name): _YES for name in ("stretchy", "fence", "accent", "movablelimits")},
    **{("mo", name): _LENGTH for name in ("minsize", "maxsize")},
    ("mspace", "width"): _LENGTH,
    ("mstyle", "displaystyle"): _YES,
    ("mtable", "columnalign"): _ALIGNMENT,
    ("mtd", "columnalign"): _ALIGNMENT,
}
"""What MathML may say beyond its tags: no colours, links, styles or classes."""

# A formula of this length takes 0.1 s at worst, and recursion ends before Python's limit.
_MAX_FORMULA = 2_000
# Of one text: beyond, formulas are shown as their source.
_MAX_ALL = 8_000
_EACH = 20
# Environments that the converter does not know, as others that look alike.
_ALIKE = {"aligned": "align*", "gathered": "matrix", "gather": "matrix", "gather*": "matrix"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(" + "|".join(map(re.escape, _ALIKE)) + r")\}")
# Commands and signs of LaTeX that were not understood, and line ends that browsers ignore.
_LEFT_OVER = re.compile(r'\\|>&<|linebreak="newline"')


def add_formulas(markdown: MarkdownIt) -> None:
    """Make `markdown` render formulas; one that cannot be converted is shown as its source.

    A dollar sign beside a space or a digit, or within a word, is a price or a name: "$5 and $7",
    "US$5", "$HOME/$USER".
    """
    dollarmath_plugin(markdown, allow_labels=False, allow_blank_lines=False)
    markdown.inline.ruler.at("math_inline", _dollars)
    markdown.inline.ruler.before("escape", "math_brackets", _brackets)
    markdown.block.ruler.before("fence", "math_brackets_block", _brackets_block)
    for name in ("math_inline", "math_inline_double", "math_block"):
        rule: Any = _rendered
        markdown.add_render_rule(name, rule)


def mathml(latex: str, *, is_block: bool) -> str | None:
    """Convert LaTeX to MathML that is not sanitised yet; None if not understood in full."""
    if len(latex) > _MAX_FORMULA:
        return None
    latex = _ENVIRONMENT.sub(lambda found: rf"\{found[1]}{{{_ALIKE[found[2]]}}}", latex)
    try:
        converted = convert(latex, display="block" if is_block else "inline")
    except Exception:  # It raises anything on broken LaTeX: StopIteration, RecursionError, ...
        return None
    return None if _LEFT_OVER.search(converted) else converted


_find_dollars = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)


def _dollars(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if not state.src.startswith("$", start) or state.src[max(start - 1, 0)].isalnum():
        return False
    if not _find_dollars(state, True):
        return False
    end, state.pos = state.pos, start
    if state.src[end : end + 1].isalnum():
        return False
    return _find_dollars(state, silent)


def _brackets(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    if opening not in (r"\(", r"\["):
        return False
    closing = r"\)" if opening == r"\(" else r"\]"
    end = state.src.find(closing, state.pos + 2, state.pos + 2 + _MAX_FORMULA)
    content = state.src[state.pos + 2 : end]
    if end < 0 or not content.strip():
        return False
    if not silent:
        is_block = opening == r"\["
        token = state.push("math_inline_double" if is_block else "math_inline", "math", 0)
        token.content, token.markup = content, opening
    state.pos = end + 2
    return True


def _brackets_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""Read `\[` to `\]` that begin and end lines, whatever is between: "- b" is no list there."""
    if not state.src.startswith(r"\[", state.bMarks[start] + state.tShift[start]):
        return False
    if state.is_code_block(start):
        return False
    lines: list[str] = []
    for line in range(start, min(end, start + 200)):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
        if r"\]" in lines[-1]:
            break
    content, closing, rest = "\n".join(lines)[2:].partition(r"\]")
    if not closing or rest.strip() or not content.strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block, token.content, token.markup = True, content, r"\["
        token.map = [start, start + len(lines)]
    state.line = start + len(lines)
    return True


_CLOSING = {r"\(": r"\)", r"\[": r"\]", "$": "$", "$$": "$$"}


def _rendered(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    position: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    token = tokens[position]
    used = env["formulas"] = env.get("formulas", 0) + len(token.content) + _EACH
    is_block = token.type != "math_inline"
    shown = mathml(token.content.strip(), is_block=is_block) if used <= _MAX_ALL else None
    if shown is None:
        source = escape(f"{token.markup}{token.content}{_CLOSING[token.markup]}")
        shown = f"<code>{source}</code>"
        return f"<pre>{shown}</pre>\n" if token.type == "math_block" else shown
    return f"<p>{shown}</p>\n" if token.type == "math_block" else shown
