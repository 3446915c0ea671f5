"""From a judge's reply to its last complete verdict. Pure and total: any text, never an exception.

A verdict is a JSON object with "justification" and "score", or `<reflection>` and
`<classification>` elements, so spelled. What surrounds it (prose, fences, reasoning) does not
matter. A score outside the offered options is a deviation of the judge, no evidence about the
answer: the reply is unreadable, and nothing is rounded to an option. What classifiers reply, a
label and nothing else, is read by `parse_label`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import json_repair
from pydantic import BaseModel, ConfigDict, ValidationError

from evalhub.llm.completion import storable
from evalhub.llm.options import Offered, folded, option_of

LONGEST_REPLY = 200_000
"""Characters of a reply that are looked at, from its end."""

LONGEST_VERDICT = 50_000
"""Characters of an object that can be a verdict."""

LONGEST_REPAIR = 20_000
MOST_BRACES = 50
"""What the slower, forgiving reader is given at most: characters, opening braces."""

READINGS = 20
"""How often a text may be read over in search of objects before it counts as unreadable."""


@dataclass(frozen=True)
class Verdict:
    """What a judge decided. `option` is the label as offered; `repaired`: its JSON had errors."""

    option: str
    value: float
    justification: str
    repaired: bool = False


@dataclass(frozen=True)
class Unreadable:
    """No verdict could be read; `reason` says why, in words for a person and for the judge."""

    reason: str


class Written(BaseModel):
    """A verdict as a judge wrote it, not yet held against the options."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    justification: str
    score: bool | int | float | str


class Found(NamedTuple):
    """Something with the keys of a verdict, and where in the text it ends."""

    end: int
    fields: dict[str, Any]
    repaired: bool = False


class Tangled(Exception):
    """Finding objects in a text takes too long."""


EMPTY = Unreadable("The reply is empty.")
NOTHING = Unreadable(
    "There is no complete verdict: one JSON object with 'justification' and 'score' was expected."
)
BROKEN = Unreadable("The verdict is broken JSON, and it is not certain which score is meant.")


def parse_verdict(text: str, options: Sequence[Offered]) -> Verdict | Unreadable:
    """The last complete verdict of a reply.

    Args:
        text: The whole reply; of a very long one the last 200,000 characters count.
        options: What the judge may choose from. The score may be an option's label (case, spaces,
            "-" and "_" do not matter), or its value where no label is a number.
    """
    if not text.strip():
        return EMPTY
    found = _last(_prepared(text), options)
    if isinstance(found, Unreadable):
        return found
    try:
        written = Written(**found.fields)
    except ValidationError as error:
        first = error.errors()[0]
        return Unreadable(f"The verdict's {first['loc'][0]!r} is wrong: {first['msg']}.")
    option = option_of(written.score, options)
    if option is None:
        offered = ", ".join(option.label for option in options)
        return Unreadable(f"The score {_short(written.score)} is none of: {offered}.")
    justification = storable(written.justification.strip())
    return Verdict(option.label, option.value, justification, found.repaired)


def parse_label(text: str, options: Sequence[Offered]) -> Verdict | Unreadable:
    """The verdict of a judge that replies with one of the labels and nothing else.

    Case, spaces, quotes, tags around it and a period after it do not matter, nor does reasoning
    before it or a `<confidence>` that some risk classifiers add. A reply that says more, such as
    two labels or a value, is unreadable. There is no justification.
    """
    if len(text) > LONGEST_REPLY:
        return Unreadable("The reply is too long to be a label.")
    reply = _without_reasoning(text).strip()
    if not reply:
        return EMPTY
    labels = {label: option for option in options if (label := folded(option.label))}
    option = labels.get(folded(reply) or "") or labels.get(_bare(reply) or "")
    besides = {folded(found[1]) for found in (*PLAIN_TAG.finditer(reply), *SURE.finditer(reply))}
    if option is None or besides & labels.keys():
        offered = ", ".join(option.label for option in options)
        return Unreadable(f"The reply {_short(reply)} is not one of: {offered}.")
    return Verdict(option.label, option.value, "")


def _bare(reply: str) -> str | None:
    """A reply in a label's one spelling, without what may stand around a label."""
    text = PLAIN_TAG.sub(" ", SURE.sub(" ", reply))
    return folded(text.lstrip(AROUND_A_LABEL).rstrip(AROUND_A_LABEL + "."))


def _short(score: object) -> str:
    written = repr(score)
    return written if len(written) <= 60 else written[:57] + "..."


def echoes(reply: str, candidate_text: str) -> bool:
    """Whether a judge's verdict merely repeats one that stands in the candidate's own text.

    Same justification (spaces aside) and same score. True means that the reply is no evidence.
    """
    verdict = _last_or_none(_prepared(reply))
    if verdict is None:
        return False
    escaped_once = candidate_text.replace('\\"', '"')
    texts = {_latex_kept(text[-LONGEST_REPLY:]) for text in (candidate_text, escaped_once)}
    return any(_same(verdict, other) for text in texts for other in _everything_in(text))


def _last_or_none(text: str) -> Found | None:
    found = _last(text, ())
    return found if isinstance(found, Found) else _repaired(text)


def _everything_in(text: str) -> Iterator[Found]:
    with suppress(Tangled):
        yield from _objects(text)
    yield from _elements(TAG_OF_ANY_CASE.sub(lambda tag: tag[0].lower(), text))
    if (repaired := _repaired(text)) is not None:
        yield repaired


def _same(one: Found, other: Found) -> bool:
    return all(_spaced(one.fields[key]) == _spaced(other.fields[key]) for key in KEYS)


def _spaced(value: object) -> str:
    return folded(value) or " ".join(str(value).split())


# Finding -----------------------------------------------------------------------------------------

KEYS = ("justification", "score")
OBJECT = re.compile(r'\{\s*"')
STARTED = re.compile(r"\{\s*[\"'“‘]?(?:justification|score)\b", re.IGNORECASE)
QUOTED_SCORE = re.compile(r"[\"'“‘]score[\"'”’]\s*:", re.IGNORECASE)
SAID_SCORE = re.compile(r"[\"'“‘]?\bscore\b[\"'”’]?\s*:\s*([^,}\n]{1,100})", re.IGNORECASE)
TAG = re.compile(r"<(/?)(reflection|classification)\b[^<>]{0,100}>")
TAG_OF_ANY_CASE = re.compile(TAG.pattern, re.IGNORECASE)
REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\b[^<>]{0,100}>", re.IGNORECASE)
SURE = re.compile(r"<confidence>([^<>]{0,100})</confidence>", re.IGNORECASE)
PLAIN_TAG = re.compile(r"</?([a-z][\w-]{0,40})\s{0,9}/?>", re.IGNORECASE)
AROUND_A_LABEL = " \t\r\n\"'`“”‘’*"
FENCED = re.compile(r"\s*```\w{0,20}\s*(\{.*\})\s*```\s*", re.DOTALL)


def _last(text: str, options: Sequence[Offered]) -> Found | Unreadable:
    """What stands last in a prepared text; the forgiving reader is asked only where it must be."""
    try:
        found = max([*_objects(text), *_elements(text)], default=None, key=lambda one: one.end)
    except Tangled:
        return Unreadable("The reply has too many braces to find a verdict in it.")
    if found is not None and not QUOTED_SCORE.search(text, found.end):
        return found
    repaired = _repaired(text)
    if repaired is None:
        return NOTHING if found is None else BROKEN
    return repaired if _is_certain(repaired, text, options) else BROKEN


def _objects(text: str) -> Iterator[Found]:
    """Objects with the keys of a verdict, in order. Control signs in strings are accepted.

    Raises:
        Tangled: The text has been read over too often; the work is so bounded by its length.
    """
    decoder = json.JSONDecoder(strict=False)
    at, work = 0, READINGS * len(text) + 10_000
    while (start := OBJECT.search(text, at)) is not None:
        at = start.start()
        # A slice: the decoder counts the lines before an error, from the start of what it is given.
        piece = text[at : at + LONGEST_VERDICT]
        try:
            value, length = decoder.raw_decode(piece)
        except json.JSONDecodeError as error:
            work -= len(piece) if error.msg.startswith("Unterminated") else error.pos
            length = 1
        except (ValueError, RecursionError):
            work -= 5_000
            length = 1
        else:
            if (fields := _inside(value)) is not None:
                yield Found(at + length, fields)
        at += length
        if work < 0:
            raise Tangled


def _inside(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """The fields of a verdict in a value, which may wrap it."""
    if isinstance(value, dict):
        fields = {str(key).strip().lower(): inner for key, inner in value.items()}
        if fields.keys() >= set(KEYS):
            return {key: fields[key] for key in KEYS}
        value = list(value.values())
    if not isinstance(value, list) or depth == 3:
        return None
    found = (_inside(inner, depth + 1) for inner in reversed(value[-100:]))
    return next((fields for fields in found if fields is not None), None)


def _elements(text: str) -> list[Found]:
    """The verdict written as elements: the last whole reflection and classification."""
    whole: dict[str, tuple[int, str]] = {}
    opened: dict[str, int] = {}
    for tag in TAG.finditer(text):
        if not tag[1]:
            opened[tag[2]] = tag.end()
        elif tag[2] in opened:
            whole[tag[2]] = (tag.end(), text[opened.pop(tag[2]) : tag.start()].strip())
    if len(whole) < 2:
        return []
    (end, reflection), (other, label) = whole["reflection"], whole["classification"]
    return [Found(max(end, other), {"justification": reflection, "score": label})]


def _repaired(text: str) -> Found | None:
    """The last object that begins like a verdict, its JSON mended."""
    starts = [match.start() for match in STARTED.finditer(text)]
    segment = text[starts[-1] :][:LONGEST_REPAIR] if starts else ""
    if not segment or segment.count("{") + segment.count("[") > MOST_BRACES:
        return None
    try:
        fields = _inside(json_repair.loads(segment))
    except (ValueError, RecursionError, IndexError, TypeError):
        return None
    return None if fields is None else Found(starts[-1] + len(segment), fields, repaired=True)


def _is_certain(repaired: Found, text: str, options: Sequence[Offered]) -> bool:
    """Whether the score that was mended is the one written last, and written to its end.

    A judge that quotes a verdict without escaping it would otherwise be read as giving it.
    """
    everything_said = list(SAID_SCORE.finditer(text))
    meant = option_of(repaired.fields["score"], options)
    if not everything_said or meant is None:
        return False
    said = everything_said[-1]
    spoken = said[1].strip(" \t\r\"'“”‘’`]")
    if meant != option_of(spoken, options):
        return False
    is_cut_off = said.end() == len(text.rstrip()) and said[1].strip() == spoken
    longer = (o for o in options if o != meant and o.label.casefold().startswith(spoken.casefold()))
    return not (is_cut_off and any(longer))


# Preparing ---------------------------------------------------------------------------------------

LATEX = (
    "bar|begin|beta|binom|boldsymbol|boxed|bullet|flat|forall|frac|nabla|ne|neq|not|notin|nu|"
    "rangle|rceil|rfloor|rho|right|rightarrow|tan|tau|text|textbf|textit|tfrac|theta|tilde|times|"
    "to|top|triangle"
)
"""Commands whose first letter makes a backslash before it an escape that JSON knows."""

BACKSLASH = re.compile(rf"\\(\\|[\"'/]|u[0-9a-fA-F]{{4}}|(?P<latex>(?:{LATEX})(?![a-z]))|[bfnrt]|)")


def _prepared(text: str) -> str:
    """The text in which a verdict counts: not too long, without reasoning, backslashes mended."""
    text = text[-LONGEST_REPLY:].lstrip("\ufeff").strip()
    return _latex_kept(_without_reasoning(text))


def _latex_kept(text: str) -> str:
    """Backslashes doubled where they escape nothing, or stand before a LaTeX command."""
    return BACKSLASH.sub(
        lambda found: "\\" + found[0] if found["latex"] or not found[1] else found[0], text
    )


def _without_reasoning(text: str) -> str:
    """The text after and between reasoning blocks; an unclosed one hides all that follows.

    A closing tag alone ends reasoning that began before the reply. Tags inside a reply that is
    one JSON object are text of that object.
    """
    if _is_one_object(text):
        return text
    kept: list[str] = []
    depth = at = 0
    for tag in REASONING.finditer(text):
        if depth == 0:
            kept.append(text[at : tag.start()])
        if not tag[1]:
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        at = tag.end()
    return "\n".join(kept if depth else [*kept, text[at:]])


def _is_one_object(text: str) -> bool:
    fenced = FENCED.fullmatch(text)
    inner = _latex_kept(fenced[1] if fenced else text)
    if not inner.startswith("{"):
        return False
    try:
        return isinstance(json.loads(inner, strict=False), dict)
    except (ValueError, RecursionError):
        return False


# Asking ------------------------------------------------------------------------------------------


def verdict_schema(options: Sequence[Offered], *, max_justification: int = 600) -> dict[str, Any]:
    """JSON schema of a verdict: reasons first, then one of the options' labels.

    Labels that are whole numbers are asked for as numbers.
    """
    labels = [option.label for option in options]
    numbers = all(re.fullmatch(r"-?\d{1,9}", label, re.ASCII) for label in labels)
    score = (
        {"type": "integer", "enum": [int(label) for label in labels]}
        if numbers
        else {"type": "string", "enum": labels}
    )
    justification = {"type": "string", "maxLength": max_justification}
    return {
        "type": "object",
        "properties": {"justification": justification, "score": score},
        "required": list(KEYS),
        "additionalProperties": False,
    }


WORST_TOKENS_PER_CHARACTER = 6
"""A character written as an escape such as \\u00e9, a token for each sign."""

FORM_TOKENS = 250
"""Keys, quotes, braces, and all the white space that a grammar lets a model put between them."""


def verdict_token_limit(schema: dict[str, Any]) -> int:
    """A max_tokens that no reply under `verdict_schema` reaches, so that none is cut off."""
    fields = schema["properties"]
    longest_label = max(len(str(value)) for value in fields["score"]["enum"])
    characters = fields["justification"]["maxLength"] + longest_label
    return int(WORST_TOKENS_PER_CHARACTER * characters + FORM_TOKENS)


QUOTED_REPLY = 8_000
"""Characters of an unreadable reply that are shown to the judge again."""


def repair_messages(reason: str, schema: dict[str, Any], reply: str) -> list[dict[str, str]]:
    """What to append to a judge's conversation to ask, once, for its verdict in the right form.

    Args:
        reason: Why the reply is unreadable.
        schema: As `verdict_schema` made it.
        reply: The unreadable reply.
    """
    form = json.dumps(schema, ensure_ascii=False)
    question = (
        f"Your reply could not be read. {reason}\n"
        "Give your verdict again as one JSON object and nothing else, without a code fence. "
        f"It must match this JSON schema:\n{form}"
    )
    return [
        {"role": "assistant", "content": reply.strip()[-QUOTED_REPLY:] or "(no text)"},
        {"role": "user", "content": question},
    ]
