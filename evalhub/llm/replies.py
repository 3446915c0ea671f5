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
    """Something with the keys of a verdict, and where in the text it begins and ends."""

    start: int
    end: int
    fields: dict[str, Any]
    repaired: bool = False


@dataclass
class Reading:
    """What a text holds of JSON: verdicts, and where others begin that never end as they should.

    What stands between `unfinished` positions is quoted by a verdict that was itself not read.
    """

    verdicts: list[Found]
    unfinished: list[tuple[int, int]]
    is_tangled: bool = False

    def is_quoted(self, found: Found) -> bool:
        return any(start < found.start < end for start, end in self.unfinished)


EMPTY = Unreadable("The reply is empty, or does not end its reasoning.")
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
    reply = _without_reasoning(text, holds_verdict=False).strip()
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
    yield from _read(text).verdicts
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
LATER_ELEMENT = re.compile(r"</?classification\b", re.IGNORECASE)
CLOSING_QUOTES = "\"'”’"
BEGUN = re.compile(rf"{STARTED.pattern}|{TAG.pattern}", re.IGNORECASE)
REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\b[^<>]{0,100}>", re.IGNORECASE)
SURE = re.compile(r"<confidence>([^<>]{0,100})</confidence>", re.IGNORECASE)
PLAIN_TAG = re.compile(r"</?([a-z][\w-]{0,40})\s{0,9}/?>", re.IGNORECASE)
AROUND_A_LABEL = " \t\r\n\"'`“”‘’*"
FENCED = re.compile(r"\s*```\w{0,20}\s*(\{.*\})\s*```\s*", re.DOTALL)


def _last(text: str, options: Sequence[Offered]) -> Found | Unreadable:
    """What stands last in a prepared text; the forgiving reader is asked only where it must be."""
    reading = _read(text)
    if reading.is_tangled:
        return Unreadable("The reply has too many braces to find a verdict in it.")
    found = max([*reading.verdicts, *_elements(text)], default=None, key=lambda one: one.end)
    if found is not None and (reading.is_quoted(found) or LATER_ELEMENT.search(text, found.end)):
        return BROKEN
    if found is not None and not QUOTED_SCORE.search(text, found.end):
        return found
    repaired = _repaired(text)
    if repaired is None:
        return NOTHING if found is None else BROKEN
    is_certain = _is_certain(repaired, text, options) and not reading.is_quoted(repaired)
    return repaired if is_certain else BROKEN


def _read(text: str) -> Reading:
    """The JSON objects with the keys of a verdict. Control signs in strings are accepted.

    It is tangled where the text had to be read over too often, which bounds the work by its length.
    """
    decoder = json.JSONDecoder(strict=False)
    reading = Reading([], [*_loosely_begun(text), *_reflections(text)])
    at, work = 0, READINGS * len(text) + 10_000
    while (found := OBJECT.search(text, at)) is not None and not reading.is_tangled:
        at = found.start()
        # A slice: the decoder counts the lines before an error, from the start of what it is given.
        piece = text[at : at + LONGEST_VERDICT]
        length, broken_at = 1, len(text)
        try:
            value, length = decoder.raw_decode(piece)
        except json.JSONDecodeError as error:
            is_open = error.msg.startswith("Unterminated")
            work -= len(piece) if is_open else error.pos
            broken_at = len(text) if is_open else at + error.pos
        except (ValueError, RecursionError):
            work -= 5_000
        else:
            if (fields := _inside(value)) is not None:
                reading.verdicts.append(Found(at, at + length, fields))
                broken_at = at
        if broken_at > at and STARTED.match(text, at):
            reading.unfinished.append((at, _closed(text, broken_at)))
        at += length
        reading.is_tangled = work < 0
    return reading


def _reflections(text: str) -> Iterator[tuple[int, int]]:
    """Where elements of reasons begin and end; what stands in one is no verdict of its own."""
    opened: int | None = None
    for tag in TAG_OF_ANY_CASE.finditer(text):
        if tag[2].lower() == "reflection" and (opened is None) != bool(tag[1]):
            if opened is not None:
                yield opened, tag.end()
            opened = None if tag[1] else tag.start()
    if opened is not None:
        yield opened, len(text)


def _loosely_begun(text: str) -> list[tuple[int, int]]:
    """Where verdicts begin whose keys are in no plain quotes, and the next closing brace."""
    begun, end = [], -1
    for start in STARTED.finditer(text):
        if end < start.end():
            end = _closed(text, start.end())
        if not OBJECT.match(text, start.start()):
            begun.append((start.start(), end))
    return begun


def _closed(text: str, at: int) -> int:
    end = text.find("}", at)
    return len(text) if end < 0 else end


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
    whole: dict[str, tuple[int, int, str]] = {}
    opened: dict[str, re.Match[str]] = {}
    for tag in TAG.finditer(text):
        if not tag[1]:
            opened[tag[2]] = tag
        elif tag[2] in opened:
            begin = opened.pop(tag[2])
            inner = text[begin.end() : tag.start()].strip()
            whole[tag[2]] = (begin.start(), tag.end(), inner)
    if len(whole) < 2:
        return []
    (start, end, reflection), (begin_at, other, label) = (
        whole["reflection"],
        whole["classification"],
    )
    fields = {"justification": reflection, "score": label}
    return [Found(min(start, begin_at), max(end, other), fields)]


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
    if fields is None:
        return None
    return Found(starts[-1], starts[-1] + len(segment), fields, repaired=True)


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
    is_cut_off = said.end() == len(text.rstrip()) and said[1].rstrip()[-1] not in CLOSING_QUOTES
    may_go_on = folded(spoken) != folded(meant.label) or any(
        o != meant and o.label.casefold().startswith(spoken.casefold()) for o in options
    )
    return not (is_cut_off and may_go_on)


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


def _without_reasoning(text: str, *, holds_verdict: bool = True) -> str:
    """The text after and between reasoning blocks; "" where one is not closed.

    A closing tag alone ends reasoning that began before the reply. Tags within a verdict are text
    of that verdict.
    """
    if holds_verdict and _is_one_object(text):
        return text
    said, depth, at, looks, may_be_begun = "", 0, 0, 0, False
    for tag in REASONING.finditer(text):
        if depth == 0:
            piece = text[at : tag.start()]
            may_be_begun = may_be_begun or (holds_verdict and BEGUN.search(piece) is not None)
            looks += may_be_begun
            if looks > READINGS:
                return ""
            if may_be_begun and _is_begun(said + piece):
                continue
            said += piece + "\n"
        if not tag[1]:
            depth += 1
        elif depth:
            depth -= 1
        else:
            said, may_be_begun = "", False
        at = tag.end()
    return "" if depth else said + text[at:]


def _is_begun(text: str) -> bool:
    """Whether a text ends within a verdict."""
    tags = [(tag[1], tag[2].lower()) for tag in TAG_OF_ANY_CASE.finditer(text)]
    if tags and (not tags[-1][0] or ("/", "classification") not in tags):
        return True
    return any(end == len(text) for _, end in _read(text).unfinished)


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
