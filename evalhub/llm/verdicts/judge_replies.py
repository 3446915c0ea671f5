"""Reading the last complete verdict in a judge's reply. Pure; takes any text, never raises.

A verdict is a JSON object with "justification" and "score", or `<reflection>` and
`<classification>` elements, spelled exactly so. Surrounding prose, fences and reasoning do not
matter. A score outside the offered options is a deviation of the judge and says nothing about the
answer: the reply is unreadable, and nothing is rounded to an option. `parse_label` reads the
replies of classifiers: a label and nothing else.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalhub.llm.verdicts.option_matching import Offered, folded, option_of
from evalhub.llm.verdicts.reasoning import answer_alone
from evalhub.llm.verdicts.reply_syntax import (
    ALTERNATIVE,
    KEYS,
    LONGEST_REPLY,
    TAG_OF_ANY_CASE,
    ParsedObject,
    elements,
    latex_kept,
    read,
    repaired,
)
from evalhub.values.storable import storable


@dataclass(frozen=True)
class ParsedVerdict:
    """A judge's verdict. `option` is the label as offered; `repaired`: its JSON had errors.

    `alternative` is the label of another option that it named as well; "" if none.
    """

    option: str
    value: float
    justification: str
    repaired: bool = False
    alternative: str = ""


@dataclass(frozen=True)
class Unreadable:
    """No verdict could be read; `reason` says why, in words for a person and for the judge."""

    reason: str


class ReplyFields(BaseModel):
    """A verdict as a judge wrote it, before it is matched to the options."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    justification: str
    score: bool | int | float | str


EMPTY = Unreadable("The reply is empty, or does not end its reasoning.")
NOTHING = Unreadable(
    "There is no complete verdict: one JSON object with 'justification' and 'score' was expected."
)
BROKEN = Unreadable("The verdict is broken, and it is not certain which score is meant.")


def parse_verdict(text: str, options: Sequence[Offered]) -> ParsedVerdict | Unreadable:
    """Return the last complete verdict of a reply.

    Args:
        text: The whole reply; of a very long one the last 200,000 characters count.
        options: The judge's choices. The score may be an option's label (case, spaces,
            "-" and "_" do not matter), or its value where no label is a number.
    """
    if not text.strip():
        return EMPTY
    found = _last(prepared(text), options)
    if isinstance(found, Unreadable):
        return found
    try:
        written = ReplyFields(**found.fields)
    except ValidationError as error:
        first = error.errors()[0]
        return Unreadable(f"The verdict's {first['loc'][0]!r} is wrong: {first['msg']}.")
    option = option_of(written.score, options)
    if option is None:
        offered = ", ".join(option.label for option in options)
        return Unreadable(f"The score {_short(written.score)} is none of: {offered}.")
    justification = storable(written.justification.strip())
    other = option_of(found.fields.get(ALTERNATIVE), options)
    alternative = other.label if other and other.label != option.label else ""
    return ParsedVerdict(option.label, option.value, justification, found.repaired, alternative)


CERTAIN = re.compile(r"<confidence>([^<>]{0,100})</confidence>", re.IGNORECASE)
PLAIN_TAG = re.compile(r"</?([a-z][\w-]{0,40})\s{0,9}/?>", re.IGNORECASE)
AROUND_A_LABEL = " \t\r\n\"'`“”‘’*"


def parse_label(text: str, options: Sequence[Offered]) -> ParsedVerdict | Unreadable:
    """Return the verdict of a judge that replies with a label and nothing else.

    Case, spaces, quotes, tags around it and a period after it do not matter, nor does reasoning
    before it or a `<confidence>` that some risk classifiers add. A reply that says more, such as
    two labels or a value, is unreadable. There is no justification.
    """
    if len(text) > LONGEST_REPLY:
        return Unreadable("The reply is too long to be a label.")
    reply = answer_alone(text).strip()
    if not reply:
        return EMPTY
    labels = {label: option for option in options if (label := folded(option.label))}
    option = labels.get(folded(reply) or "") or labels.get(_bare(reply) or "")
    besides = {folded(found[1]) for found in (*PLAIN_TAG.finditer(reply), *CERTAIN.finditer(reply))}
    if option is None or besides & labels.keys():
        offered = ", ".join(option.label for option in options)
        return Unreadable(f"The reply {_short(reply)} is not one of: {offered}.")
    return ParsedVerdict(option.label, option.value, "")


def _bare(reply: str) -> str | None:
    """Normalise a reply to a label's spelling, without quotes and tags around it."""
    text = PLAIN_TAG.sub(" ", CERTAIN.sub(" ", reply))
    return folded(text.lstrip(AROUND_A_LABEL).rstrip(AROUND_A_LABEL + "."))


def _short(score: object) -> str:
    written = repr(score)
    return written if len(written) <= 60 else written[:57] + "..."


def prepared(text: str) -> str:
    """Return the text in which a verdict counts: shortened, no reasoning, repaired backslashes."""
    text = text[-LONGEST_REPLY:].lstrip("\ufeff").strip()
    return latex_kept(answer_alone(text))


def echoes(reply: str, candidate_text: str) -> bool:
    """Return True if a judge's verdict merely repeats one in the candidate's own text.

    Same justification (spaces aside) and same score. Such a reply is no evidence.
    """
    text = prepared(reply)
    found = _last(text, ())
    verdict = found if isinstance(found, ParsedObject) else repaired(text)
    if verdict is None:
        return False
    escaped_once = candidate_text.replace('\\"', '"')
    texts = {latex_kept(text[-LONGEST_REPLY:]) for text in (candidate_text, escaped_once)}
    return any(_same(verdict, other) for text in texts for other in _everything_in(text))


@lru_cache(maxsize=64)  # several judges reply on one candidate's text
def _everything_in(text: str) -> list[ParsedObject]:
    found = read(text).verdicts + elements(TAG_OF_ANY_CASE.sub(lambda tag: tag[0].lower(), text))
    return [*found, loose] if (loose := repaired(text)) is not None else found


def _same(one: ParsedObject, other: ParsedObject) -> bool:
    return all(_spaced(one.fields[key]) == _spaced(other.fields[key]) for key in KEYS)


def _spaced(value: object) -> str:
    return folded(value) or " ".join(str(value).split())


# Choosing ----------------------------------------------------------------------------------------

QUOTED_SCORE = re.compile(r"[\"'“‘]score[\"'”’]\s*:", re.IGNORECASE)
SAID_SCORE = re.compile(r"[\"'“‘]?\bscore\b[\"'”’]?\s*:\s*([^,}\n]{1,100})", re.IGNORECASE)
LATER_ELEMENT = re.compile(r"</?classification\b", re.IGNORECASE)
CLOSING_QUOTES = "\"'”’"


def _last(text: str, options: Sequence[Offered]) -> ParsedObject | Unreadable:
    """Return the last verdict in a prepared text; use the lenient parser only if necessary."""
    reading = read(text)
    if reading.is_tangled:
        return Unreadable("The reply has too many braces to find a verdict in it.")
    found = max([*reading.verdicts, *elements(text)], default=None, key=lambda one: one.end)
    if found is not None and (reading.is_quoted(found) or LATER_ELEMENT.search(text, found.end)):
        return BROKEN
    if found is not None and not QUOTED_SCORE.search(text, found.end):
        return found
    loose = repaired(text)
    if loose is None:
        return NOTHING if found is None else BROKEN
    is_certain = _is_certain(loose, text, options) and not reading.is_quoted(loose)
    return loose if is_certain else BROKEN


def _is_certain(repaired: ParsedObject, text: str, options: Sequence[Offered]) -> bool:
    """Return True if the repaired score is the last one written, and is complete.

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


# Asking ------------------------------------------------------------------------------------------


def verdict_schema(options: Sequence[Offered], *, max_justification: int = 600) -> dict[str, Any]:
    """Return a verdict's JSON schema: reasons, then a label, as a number if all labels are."""
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
"""A character written as an escape such as \\u00e9, with a token for each sign."""

FORM_TOKENS = 250
"""Keys, quotes, braces, and all the white space that a grammar lets a model put between them."""


def verdict_token_limit(schema: dict[str, Any]) -> int:
    """Return a max_tokens that no reply under `verdict_schema` reaches, so that none is cut off."""
    fields = schema["properties"]
    longest_label = max(len(str(value)) for value in fields["score"]["enum"])
    characters = fields["justification"]["maxLength"] + longest_label
    return int(WORST_TOKENS_PER_CHARACTER * characters + FORM_TOKENS)


QUOTED_REPLY = 8_000
"""Characters of an unreadable reply that are repeated to the judge."""


def repair_messages(reason: str, schema: dict[str, Any], reply: str) -> list[dict[str, str]]:
    """Return the messages that ask a judge, once, for its verdict in the right form.

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
