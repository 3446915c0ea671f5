"""Anonymous ids in an analyst's text become names again, with links; unknown ones stay visible.

An analyst writes `<ref developer="…" model="…" sys="…" temp="…" prompt="…" />`, of which each
part may be left out; ids that stand bare in the text are read too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape, unescape
from typing import NamedTuple

from evalhub.markup import model_markdown
from reports.summaries.key import Key, Variant

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
"""What an attribute of a `ref` says, by the names under which analysts write it."""

_REF = re.compile(r"<ref\b([^<>]*?)/?>(?:\s*</ref>)?", re.IGNORECASE)
_ESCAPED_REF = re.compile(r"&lt;ref\b.*?&gt;", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))", re.IGNORECASE)
_BARE = re.compile(r"(?<!\w)(?:(MK|MD)_\d+|(S|T)_\d{4,})(?!\w)")
_KINDS = {"MK": "developer", "MD": "model", "S": "system", "T": "temperature"}
_MARK = "\ue000"
"""Of private use: it is taken out of the text before it marks a place in it."""
_WRITTEN_MARK = re.compile(r"\ue000|&#(?:x0*e000|0*57344)\b;?", re.IGNORECASE)
"""Itself, and as the entities that Markdown would read as it."""


class Target(NamedTuple):
    """What a reference means. `kind`: maker, model, system, temperature or prompt.

    `id` is the anonymous one; `variant` is set where a model's runs are meant, all of one variant.
    """

    kind: str
    id: str
    variant: Variant | None = None


class Piece(NamedTuple):
    """A stretch of restored text. `target` None: plain text, or an unknown id as it was written."""

    text: str
    target: Target | None = None
    is_unknown: bool = False


UrlOf = Callable[[Target], str]
"""The page that a reference leads to; "" for none."""

Span = tuple[int, int]


def pieces(text: str, key: Key) -> list[Piece]:
    """The text, part for part, its ids restored."""
    return [piece for piece, _ in _placed(plain(text), key)]


def plain(text: str) -> str:
    """The text as it is read: references that were written with HTML entities are unescaped."""
    return without_marks(_ESCAPED_REF.sub(lambda match: unescape(match[0]), text))


def without_marks(text: str) -> str:
    """Without any either that taking one out would make."""
    while (less := _WRITTEN_MARK.sub("", text)) != text:
        text = less
    return text


def _placed(text: str, key: Key) -> Iterator[tuple[Piece, Span]]:
    """The pieces, and where in the text each stands."""
    at = 0
    for match in _REF.finditer(text):
        yield from _bare(text, at, match.start(), key)
        yield _named(match[0], _attributes(match[1]), key), match.span()
        at = match.end()
    yield from _bare(text, at, len(text), key)


def _bare(text: str, start: int, end: int, key: Key) -> Iterator[tuple[Piece, Span]]:
    """A stretch without `ref` tags: ids may stand in it alone."""
    for match in _BARE.finditer(text, start, end):
        if match.start() > start:
            yield Piece(text[start : match.start()]), (start, match.start())
        yield _named(match[0], {_KINDS[match[1] or match[2]]: match[0]}, key), match.span()
        start = match.end()
    if start < end:
        yield Piece(text[start:end]), (start, end)


def _attributes(written: str) -> dict[str, str]:
    """The ids of a tag by what they are of; those that are unheard of are left under their name."""
    found = {}
    for name, *values in _ATTRIBUTE.findall(written):
        value = next((value for value in values if value), "").strip()
        if value:
            found[ATTRIBUTES.get(name.lower(), name.lower())] = value
    return found


def _named(written: str, asked: dict[str, str], key: Key) -> Piece:
    """What a reference means; as it was written, and marked, where nobody is so called."""
    prompt = asked.pop("prompt", "")
    if not asked:
        return _test(written, prompt, key)
    if not asked.keys() <= set(_KINDS.values()) or not (found := key.matching(asked)):
        return Piece(written, is_unknown=True)
    if "model" in asked:
        return _model(asked, found, key)
    named = next(name for name in ("developer", "system", "temperature") if name in asked)
    return Piece(_title(named, asked[named], key), Target(named, asked[named]))


def _test(written: str, prompt: str, key: Key) -> Piece:
    if prompt not in key.tests:
        return Piece(written, is_unknown=True)
    return Piece(f"test {key.tests[prompt]}", Target("prompt", prompt))


def _model(asked: dict[str, str], found: Sequence[Variant], key: Key) -> Piece:
    name = key.models[asked["model"]].name
    settings = [
        _title(what, asked[what], key) for what in ("system", "temperature") if what in asked
    ]
    said = (
        f"{name} ({', '.join(one[0].upper() + one[1:] for one in settings)})" if settings else name
    )
    variant = found[0] if len(found) == 1 else None
    return Piece(said, Target("model", asked["model"], variant))


def _title(kind: str, anonymous: str, key: Key) -> str:
    if kind == "developer":
        return key.developers[anonymous] or "an unknown developer"
    if kind == "system":
        return key.systems[anonymous].title
    value = key.temperatures[anonymous]
    return "the usual temperature" if value is None else f"temperature {value:g}"


# As Markdown -------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"([\\`*_\[\]<>])")


def markdown(text: str, key: Key, url_of: UrlOf) -> str:
    """The restored text, names with a page as links. Unknown ids stay as they were written."""
    return "".join(_as_markdown(piece, url_of) for piece in pieces(text, key))


def _as_markdown(piece: Piece, url_of: UrlOf) -> str:
    if piece.target is None:
        return piece.text
    name = _SPECIAL.sub(r"\\\1", piece.text)
    return f"[{name}]({url})" if (url := url_of(piece.target)) else name


# As HTML -----------------------------------------------------------------------------------------


def html(text: str, key: Key, url_of: UrlOf, flagged: Sequence[Span] = ()) -> str:
    """The restored text as HTML that may stand on a page.

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
    return _filled(model_markdown("".join(out)).html, shown)


def _with_marks(text: str, start: int, end: int, spans: Sequence[Span], shown: list[str]) -> str:
    out = ""
    for begin, stop in spans:
        number = f'<mark class="eh-unsupported">{escape(text[begin:stop])}</mark>'
        out += text[start:begin] + _hole(shown, number)
        start = stop
    return out + text[start:end]


def _hole(shown: list[str], content: str) -> str:
    """A place in a text, to be filled after the text was made safe. Links cannot hold one."""
    shown.append(content)
    return f"{_MARK}{len(shown) - 1}{_MARK}"


def _filled(made: str, shown: Sequence[str]) -> str:
    return re.sub(rf"{_MARK}(\d+){_MARK}", lambda match: shown[int(match[1])], made)


def _as_html(piece: Piece, url_of: UrlOf) -> str:
    if piece.target is None:
        return f'<code class="eh-unknown" title="Nobody is so called">{escape(piece.text)}</code>'
    if url := url_of(piece.target):
        return f'<a href="{escape(url)}">{escape(piece.text)}</a>'
    return escape(piece.text)
