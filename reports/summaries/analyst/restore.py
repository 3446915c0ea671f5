"""Replace the anonymous ids in an analyst's text by names; unknown ids stay visible. Pure.

An analyst writes `<ref developer="…" model="…" sys="…" temp="…" prompt="…" />`, of which each
part may be left out; ids that stand bare in the text are read too. The place of a claim, such as
{c1}, becomes the names and the figure that the claim stands for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import NamedTuple

from evalhub.display.formatting import in_hundredths
from reports.summaries.analyst.free_text import Span
from reports.summaries.analyst.key import Key, Measure, Variant, printed

ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))", re.IGNORECASE)
ATTRIBUTES = {"maker": "developer", "sys": "system", "temp": "temperature"}
"""Other names that analysts use for attributes of a `ref`."""

_REF = re.compile(r"<ref\b([^<>]*?)/?>(?:\s*</ref>)?", re.IGNORECASE)
_ESCAPED_REF = re.compile(r"&lt;ref\b.*?&gt;", re.IGNORECASE | re.DOTALL)
BARE_ID = re.compile(r"(?<!\w)(?:(MK|MD|P|G)_\d+|(S|T)_\d{4,})(?!\w)", re.IGNORECASE)
_BARE = re.compile(rf"{BARE_ID.pattern}|\{{\s*(c\d{{1,3}})\s*\}}", re.IGNORECASE)
_KINDS = {"MK": "developer", "MD": "model", "S": "system", "T": "temperature"}
_SINGLE = {"P": "prompt", "G": "group"}
MARK = "\ue000"
"""A private-use character: removed from the text before it marks a place."""
_WRITTEN_MARK = re.compile(r"\ue000|&#(?:x0*e000|0*57344)\b;?", re.IGNORECASE)
"""Itself, and as the entities that Markdown would read as it."""

NO_CLAIM = "no such claim"


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


class ClaimLine(NamedTuple):
    """A claim, names restored.

    Attributes:
        stated: As the analyst wrote it; None: it wrote none.
        problem: Why it is not supported; "" if the cell confirms it.
        figure: Of the cell: rates in percent, differences in points; None: there is none, or the
            two may not be compared.
        n: Scored results of the cell; of a difference, tests that both have scored where it was
            tested. None without a cell.
        low, high: The 95 % interval of a pass rate, in percent; None for other figures.
        p: Of a difference of models, corrected; None if it was not tested.
        method: Of the interval or the p; "" without.
        variants: The models that it names.
        text: The figure of the cell with its context; "" without a cell.
    """

    model: str
    group: str
    measure: str
    other_model: str
    other_group: str
    stated: float | None
    problem: str
    figure: float | None = None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: str = ""
    variants: Sequence[Variant] = ()
    text: str = ""

    @property
    def figure_text(self) -> str:
        """The figure with its unit; "" without."""
        return "" if self.figure is None else printed(self.figure, Measure(self.measure))

    @property
    def interval_text(self) -> str:
        if self.low is None or self.high is None:
            return ""
        return f"{in_hundredths(self.low / 100)} to {in_hundredths(self.high / 100)} %"

    @property
    def details(self) -> str:
        """How sure a pass rate is; "" for other figures."""
        return f"95 % interval {self.interval_text}, {self.method}" if self.interval_text else ""


ClaimLines = Mapping[str, ClaimLine]
"""By the id of the claim."""


def named(text: str, key: Key, claims: ClaimLines | None = None) -> str:
    """Return a text with names for its ids and claims written out."""
    found = placed(plain(text), key)
    return "".join(part.text for piece, _ in found for part in written(piece, key, claims or {}))


def written(piece: Piece, key: Key, claims: ClaimLines) -> list[Piece]:
    """Return the names and the figure of a claim; any other piece as it is."""
    if piece.target is None or piece.target.kind != "claim":
        return [piece]
    claim = claims.get(piece.target.id)
    if claim is None or not claim.text:
        return [Piece(f"[{claim.problem if claim else NO_CLAIM}]", is_unknown=True)]
    names = [variant_piece(variant, key) for variant in claim.variants]
    between = [part for name in names for part in (Piece(" against "), name)][1:]
    return [*between, Piece(f" ({claim.text})")]


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


def _attributes(tag: str) -> dict[str, str]:
    """Return the ids of a tag by kind; unknown attributes keep their name."""
    found = {}
    for name, *values in ATTRIBUTE.findall(tag):
        if value := "".join(values).strip():
            found[ATTRIBUTES.get(name.lower(), name.lower())] = value
    return found


def _named(as_written: str, ids: dict[str, str], key: Key) -> Piece:
    """Return the piece of a reference; as written, and marked, if unknown."""
    prompt, group = ids.pop("prompt", ""), ids.pop("group", "")
    if not ids and prompt in key.tests:
        return Piece(f"test {key.tests[prompt]}", Target("prompt", prompt))
    if not ids and group in key.groups:
        return Piece(f"“{key.groups[group]}”", Target("group", group))
    found = key.matching(ids) if ids.keys() <= set(_KINDS.values()) else []
    if not ids or not found:
        return Piece(as_written, is_unknown=True)
    titles = {kind: _title(kind, ids[kind], key) for kind in _KINDS.values() if kind in ids}
    if "model" not in ids:
        kind, title = next(iter(titles.items()))
        return Piece(title, Target(kind, ids[kind]))
    settings = [titles[kind] for kind in ("system", "temperature") if kind in titles]
    name = titles["model"]
    if settings:
        name += f" ({', '.join(one[0].upper() + one[1:] for one in settings)})"
    return Piece(name, Target("model", ids["model"], found[0] if len(found) == 1 else None))


def variant_piece(variant: Variant, key: Key) -> Piece:
    """Return the name of a variant, with the settings that it has an id for."""
    ids = {kind: getattr(variant, kind) for kind in _KINDS.values() if getattr(variant, kind)}
    return _named(variant.label, ids, key)


def _title(kind: str, anonymous: str, key: Key) -> str:
    if kind == "developer":
        return key.developers[anonymous] or "an unknown developer"
    if kind == "model":
        return key.models[anonymous].name
    if kind == "system":
        return key.systems[anonymous].title
    value = key.temperatures[anonymous]
    return "the usual temperature" if value is None else f"temperature {value:g}"
