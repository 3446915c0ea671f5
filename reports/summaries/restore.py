"""Replace the anonymous ids in an analyst's text by linked names; unknown ids stay visible.

An analyst writes `<ref developer="…" model="…" sys="…" temp="…" prompt="…" />`, of which each
part may be left out; ids that stand bare in the text are read too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape, unescape
from typing import NamedTuple

from evalhub.markup import model_markdown
from reports.summaries.key import Key, Variant
from reports.summaries.parse import ATTRIBUTE

ATTRIBUTES = {
    "developer": "developer",
    "maker": "developer",
    "model": "model",
    "sys": "system",
    "system": "system",
    "temp": "temperature",
    "temperature": "temperature",
    "prompt": "prompt",
}
"""Attributes of a `ref`, by the names that analysts use."""

_REF = re.compile(r"<ref\b([^<>]*?)/?>(?:\s*</ref>)?", re.IGNORECASE)
_ESCAPED_REF = re.compile(r"&lt;ref\b.*?&gt;", re.IGNORECASE | re.DOTALL)
_BARE = re.compile(r"(?<!\w)(?:(MK|MD)_\d+|(S|T)_\d{4,})(?!\w)")
_KINDS = {"MK": "developer", "MD": "model", "S": "system", "T": "temperature"}
_MARK = "\ue000"
"""A private-use character: removed from the text before it marks a place."""
_WRITTEN_MARK = re.compile(r"\ue000|&#(?:x0*e000|0*57344)\b;?", re.IGNORECASE)
"""Itself, and as the entities that Markdown would read as it."""


class Target(NamedTuple):
    """The target of a reference. `kind`: developer, model, system, temperature or prompt.

    `id` is the anonymous one; `variant` is set where a model's runs are meant, all of one variant.
    """

    kind: str
    id: str
    variant: Variant | None = None


class Piece(NamedTuple):
    """A piece of restored text. `target` None: plain text, or an unknown id as written."""

    text: str
    target: Target | None = None
    is_unknown: bool = False


UrlOf = Callable[[Target], str]
"""Return the address of a reference's page; "" for none."""

Span = tuple[int, int]


def pieces(text: str, key: Key) -> list[Piece]:
    """Yield the pieces of the text with ids restored."""
    return [piece for piece, _ in _placed(plain(text), key)]


def plain(text: str) -> str:
    """Unescape references that were written with HTML entities."""
    text = _ESCAPED_REF.sub(lambda match: unescape(match[0]), text)
    while (less := _WRITTEN_MARK.sub("", text)) != text:  # a removal may create another
        text = less
    return text


def _placed(text: str, key: Key) -> Iterator[tuple[Piece, Span]]:
    """Yield the pieces with their positions."""
    at = 0
    for match in _REF.finditer(text):
        yield from _bare(text, at, match.start(), key)
        yield _named(match[0], _attributes(match[1]), key), match.span()
        at = match.end()
    yield from _bare(text, at, len(text), key)


def _bare(text: str, start: int, end: int, key: Key) -> Iterator[tuple[Piece, Span]]:
    """Yield the pieces of text without `ref` tags, which may have bare ids."""
    for match in _BARE.finditer(text, start, end):
        if match.start() > start:
            yield Piece(text[start : match.start()]), (start, match.start())
        yield _named(match[0], {_KINDS[match[1] or match[2]]: match[0]}, key), match.span()
        start = match.end()
    if start < end:
        yield Piece(text[start:end]), (start, end)


def _attributes(written: str) -> dict[str, str]:
    """Return the ids of a tag by kind; unknown attributes keep their name."""
    found = {}
    for name, *values in ATTRIBUTE.findall(written):
        value = next((value for value in values if value), "").strip()
        if value:
            found[ATTRIBUTES.get(name.lower(), name.lower())] = value
    return found


def _named(written: str, ids: dict[str, str], key: Key) -> Piece:
    """Return the piece of a reference; as written, and marked, if unknown."""
    prompt = ids.pop("prompt", "")
    if not ids and prompt in key.tests:
        return Piece(f"test {key.tests[prompt]}", Target("prompt", prompt))
    found = key.matching(ids) if ids.keys() <= set(_KINDS.values()) else []
    if not ids or not found:
        return Piece(written, is_unknown=True)
    if "model" not in ids:
        named = next(name for name in ("developer", "system", "temperature") if name in ids)
        return Piece(_title(named, ids[named], key), Target(named, ids[named]))
    name = key.models[ids["model"]].name
    settings = [_title(kind, ids[kind], key) for kind in ("system", "temperature") if kind in ids]
    if settings:
        name += f" ({', '.join(one[0].upper() + one[1:] for one in settings)})"
    return Piece(name, Target("model", ids["model"], found[0] if len(found) == 1 else None))


def _title(kind: str, anonymous: str, key: Key) -> str:
    if kind == "developer":
        return key.developers[anonymous] or "an unknown developer"
    if kind == "system":
        return key.systems[anonymous].title
    value = key.temperatures[anonymous]
    return "the usual temperature" if value is None else f"temperature {value:g}"


# As HTML -----------------------------------------------------------------------------------------


def html(text: str, key: Key, url_of: UrlOf, flagged: Sequence[Span] = ()) -> str:
    """Return the restored text as safe HTML.

    Args:
        text: An analyst's, untrusted: Markdown, whose HTML is shown as text.
        flagged: Where in `plain(text)` numbers stand that nothing sent supports: they are marked.
    """
    source = plain(text)
    shown: list[str] = []
    out: list[str] = []
    for piece, (start, end) in _placed(source, key):
        inside = [span for span in flagged if start <= span[0] and span[1] <= end]
        if piece.target is None and not piece.is_unknown:
            out.append(_with_marks(source, start, end, inside, shown))
        else:
            out.append(_hole(shown, _as_html(piece, url_of)))
    made = model_markdown("".join(out)).html
    return re.sub(rf"{_MARK}(\d+){_MARK}", lambda match: shown[int(match[1])], made)


def _with_marks(text: str, start: int, end: int, spans: Sequence[Span], shown: list[str]) -> str:
    out = ""
    for begin, stop in spans:
        number = f'<mark class="eh-unsupported">{escape(text[begin:stop])}</mark>'
        out += text[start:begin] + _hole(shown, number)
        start = stop
    return out + text[start:end]


def _hole(shown: list[str], content: str) -> str:
    """Mark a place in a text to fill after sanitizing. Links cannot contain one."""
    shown.append(content)
    return f"{_MARK}{len(shown) - 1}{_MARK}"


def _as_html(piece: Piece, url_of: UrlOf) -> str:
    if piece.target is None:
        return f'<code class="eh-unknown" title="Nobody is so called">{escape(piece.text)}</code>'
    if url := url_of(piece.target):
        return f'<a href="{escape(url)}">{escape(piece.text)}</a>'
    return escape(piece.text)
