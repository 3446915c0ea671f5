"""Replace the anonymous ids in an analyst's text by linked names; unknown ids stay visible.

An analyst writes `<ref developer="…" model="…" sys="…" temp="…" prompt="…" />`, of which each
part may be left out; ids that stand bare in the text are read too. The place of a claim, such as
{c1}, becomes the names and the figure that the claim stands for.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape, unescape
from typing import NamedTuple

from evalhub.display.markup import model_markdown
from reports.summaries.key import Key, Variant

ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))", re.IGNORECASE)
ATTRIBUTES = {
    "developer": "developer",
    "maker": "developer",
    "model": "model",
    "sys": "system",
    "system": "system",
    "temp": "temperature",
    "temperature": "temperature",
    "prompt": "prompt",
    "group": "group",
}
"""Attributes of a `ref`, by the names that analysts use."""

_REF = re.compile(r"<ref\b([^<>]*?)/?>(?:\s*</ref>)?", re.IGNORECASE)
_ESCAPED_REF = re.compile(r"&lt;ref\b.*?&gt;", re.IGNORECASE | re.DOTALL)
BARE_ID = re.compile(r"(?<!\w)(?:(MK|MD|P|G)_\d+|(S|T)_\d{4,})(?!\w)", re.IGNORECASE)
_BARE = re.compile(rf"{BARE_ID.pattern}|\{{\s*(c\d{{1,3}})\s*\}}", re.IGNORECASE)
_KINDS = {"MK": "developer", "MD": "model", "S": "system", "T": "temperature"}
_SINGLE = {"P": "prompt", "G": "group"}
_MARK = "\ue000"
"""A private-use character: removed from the text before it marks a place."""
_WRITTEN_MARK = re.compile(r"\ue000|&#(?:x0*e000|0*57344)\b;?", re.IGNORECASE)
"""Itself, and as the entities that Markdown would read as it."""


class Target(NamedTuple):
    """The target of a reference: a developer, model, system, temperature, prompt, group or claim.

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


class ClaimText(NamedTuple):
    """A claim written out: the variants that it names, and its figure.

    `details` say how sure it is. `problem`: why it is not supported; "" if its cell confirms it.
    """

    variants: Sequence[Variant]
    figure: str
    details: str = ""
    problem: str = ""


ClaimTexts = Mapping[str, ClaimText]
"""By the id of the claim."""

UrlOf = Callable[[Target], str]
"""Return the address of a reference's page; "" for none."""

Span = tuple[int, int]


def pieces(text: str, key: Key, claims: ClaimTexts | None = None) -> list[Piece]:
    """Return the pieces of the text with ids restored and claims written out."""
    return [
        part for piece, _ in placed(plain(text), key) for part in _written(piece, key, claims or {})
    ]


def _written(piece: Piece, key: Key, claims: ClaimTexts) -> list[Piece]:
    """Return the names and the figure of a claim; any other piece as it is."""
    if piece.target is None or piece.target.kind != "claim":
        return [piece]
    claim = claims.get(piece.target.id)
    if claim is None or not claim.figure:
        return [Piece(f"[{claim.problem if claim else NO_CLAIM}]", is_unknown=True)]
    names = [variant_piece(variant, key) for variant in claim.variants]
    between = [part for name in names for part in (Piece(" against "), name)][1:]
    return [*between, Piece(f" ({claim.figure})")]


NO_CLAIM = "no such claim"


def plain(text: str) -> str:
    """Unescape references that were written with HTML entities."""
    text = _ESCAPED_REF.sub(lambda match: unescape(match[0]), text)
    while (less := _WRITTEN_MARK.sub("", text)) != text:  # a removal may create another
        text = less
    return text


def placed(text: str, key: Key) -> Iterator[tuple[Piece, Span]]:
    """Yield the pieces of `plain` text with their positions; claims are not written out."""
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
        yield _bare_piece(match, key), match.span()
        start = match.end()
    if start < end:
        yield Piece(text[start:end]), (start, end)


def _bare_piece(match: re.Match[str], key: Key) -> Piece:
    if match[3]:
        return Piece(match[0], Target("claim", match[3].lower()))
    kind = (match[1] or match[2]).upper()
    return _named(match[0], {_SINGLE.get(kind) or _KINDS[kind]: match[0].upper()}, key)


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
    prompt, group = ids.pop("prompt", ""), ids.pop("group", "")
    if not ids and prompt in key.tests:
        return Piece(f"test {key.tests[prompt]}", Target("prompt", prompt))
    if not ids and group in key.groups:
        return Piece(f"“{key.groups[group]}”", Target("group", group))
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


def named(text: str, key: Key) -> str:
    """Return a text with names for its ids."""
    return "".join(piece.text for piece in pieces(text, key))


def variant_piece(variant: Variant, key: Key) -> Piece:
    """Return the name of a variant, with the settings that it has an id for."""
    ids = {"developer": variant.developer, "model": variant.model}
    settings = {"system": variant.system, "temperature": variant.temperature}
    return _named(variant.label, ids | {kind: one for kind, one in settings.items() if one}, key)


def _title(kind: str, anonymous: str, key: Key) -> str:
    if kind == "developer":
        return key.developers[anonymous] or "an unknown developer"
    if kind == "system":
        return key.systems[anonymous].title
    value = key.temperatures[anonymous]
    return "the usual temperature" if value is None else f"temperature {value:g}"


# As HTML -----------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """A part of `plain(text)` that nothing supports, and why."""

    start: int
    end: int
    reason: str


def html(
    text: str,
    key: Key,
    url_of: UrlOf,
    flagged: Sequence[Mark] = (),
    claims: ClaimTexts | None = None,
) -> str:
    """Return the restored text as safe HTML.

    Args:
        text: An analyst's, untrusted: Markdown, whose HTML is shown as text.
        flagged: They are marked, with the reason.
        claims: Written out in their places.
    """
    source, claims = plain(text), claims or {}
    shown: list[str] = []
    out: list[str] = []
    for piece, (start, end) in placed(source, key):
        inside = [mark for mark in flagged if start <= mark.start and mark.end <= end]
        if piece.target is None and not piece.is_unknown:
            out.append(_with_marks(source, start, end, inside, shown))
        else:
            parts = _written(piece, key, claims)
            written = "".join(_as_html(part, url_of) for part in parts)
            claim = claims.get(piece.target.id) if piece.target else None
            if inside:
                written = _mark(written, "; ".join(mark.reason for mark in inside))
            elif claim and len(parts) > 1:
                details = escape(claim.details)
                written = f'<span class="eh-claim" title="{details}">{written}</span>'
            out.append(_hole(shown, written))
    made = model_markdown("".join(out), has_formulas=False)
    return re.sub(rf"{_MARK}(\d+){_MARK}", lambda match: shown[int(match[1])], made)


def _with_marks(text: str, start: int, end: int, marks: Sequence[Mark], shown: list[str]) -> str:
    out = ""
    for begin, stop, reason in marks:
        out += text[start:begin] + _hole(shown, _mark(escape(text[begin:stop]), reason))
        start = stop
    return out + text[start:end]


def _mark(content: str, reason: str) -> str:
    return f'<mark class="eh-unsupported" title="{escape(reason)}">{content}</mark>'


def _hole(shown: list[str], content: str) -> str:
    """Mark a place in a text to fill after sanitizing. Links cannot contain one."""
    shown.append(content)
    return f"{_MARK}{len(shown) - 1}{_MARK}"


def _as_html(piece: Piece, url_of: UrlOf) -> str:
    if piece.is_unknown:
        return f'<code class="eh-unknown" title="Nobody is so called">{escape(piece.text)}</code>'
    if piece.target and (url := url_of(piece.target)):
        return f'<a href="{escape(url)}">{escape(piece.text)}</a>'
    return escape(piece.text)
