"""Reader for feedback files: CSV, JSON, or JSON Lines. Pure.

No value is guessed: invalid rows are reported with their place and skipped.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalhub.values.storable import REASON, UNSTORABLE, unstorable
from evalhub.values.strict_json import Problem, excerpt, parse
from issues.content.feedback_content import IN_FILES, says_nothing
from issues.content.feedback_messages import with_conversation
from issues.importers import records
from issues.importers.records import Unreadable, records_in
from issues.limits import MAX_FEEDBACK_COLUMNS, MAX_FEEDBACK_ROWS

RATINGS = {
    "up": ("up", "thumbs up", "thumbs_up", "+1", "1", "positive", "good", "like", "👍"),
    "down": ("down", "thumbs down", "thumbs_down", "-1", "negative", "bad", "dislike", "👎"),
    "none": ("", "none", "null", "not rated"),
}
_RATING_OF = {word: rating for rating, words in RATINGS.items() for word in words}


class ParsedRow(NamedTuple):
    """A feedback item of a file: the table's fields, and the rest in `raw`."""

    place: str
    fields: dict[str, Any]


@dataclass
class FeedbackFile:
    """A parsed file.

    `columns` maps each column to its field, "" for `raw`. `problems` are of skipped rows,
    `unreadable` of the whole file.
    """

    columns: dict[str, str] = field(default_factory=dict)
    rows: list[ParsedRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unreadable: list[Problem] = field(default_factory=list)

    @property
    def bad(self) -> int:
        """Number of skipped rows."""
        return len({problem.place for problem in self.problems})


def read(name: str, data: bytes, chosen: Mapping[str, str] | None = None) -> FeedbackFile:
    """Read the feedback in a file, with all problems at once.

    Args:
        name: Name of the file; its extension gives the format.
        chosen: Fields by column, overriding the column names.
    """
    file = FeedbackFile()
    try:
        found = records_in(name, data, file.problems, inside="feedback", most=MAX_FEEDBACK_ROWS)
        items = [(place, _merged(item)) for place, item in found]
    except Unreadable as error:
        file.unreadable.append(Problem(name, str(error)))
        return file
    names = list(dict.fromkeys(key for _, item in items for key in item))
    if len(names) > MAX_FEEDBACK_COLUMNS:
        message = f"has {len(names)} columns; the maximum is {MAX_FEEDBACK_COLUMNS}."
        file.unreadable.append(Problem(name, message))
        return file
    file.columns = columns_of(names, chosen or {})
    seen: Counter[str] = Counter()
    ids: dict[tuple[str, str], str] = {}
    for place, item in items:
        _take(place, item, file, seen, ids)
    if not items:
        file.unreadable.append(Problem(name, "holds no feedback."))
    return file


def columns_of(names: list[str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each column; the first column of a field wins."""
    known = {name: field if field in IN_FILES else "" for name, field in chosen.items()}
    return records.columns_of(names, {name: one.columns for name, one in IN_FILES.items()}, known)


def _merged(item: dict[str, Any]) -> dict[str, Any]:
    """Return the object, merged with GRAFITE's `raw_feedback`."""
    inner = item.get("raw_feedback")
    return {**inner, **item, "raw_feedback": None} if isinstance(inner, dict) else item


# Rows ---------------------------------------------------------------------------------------------


def _take(
    place: str,
    item: dict[str, Any],
    file: FeedbackFile,
    seen: Counter[str],
    ids: dict[tuple[str, str], str],
) -> None:
    """Add a row to the file, or its problem."""
    wrong: list[str] = []
    fields: dict[str, Any] = {}
    for name, wanted in file.columns.items():
        if wanted == "messages":
            fields[wanted] = _messages(name, item.get(name), wrong)
        elif wanted and item.get(name) is not None:
            fields[wanted] = _text(name, item[name], IN_FILES[wanted].longest, wrong)
    _rate(fields, wrong)
    if not wrong:
        try:
            fields = with_conversation(fields)
        except ValueError as error:
            wrong.append(str(error))
    rest = {n: v for n, v in item.items() if not file.columns.get(n) and v not in (None, "")}
    if places := unstorable(rest):
        wrong.append(f"{places[0] or 'a column'} {REASON}")
    if says_nothing(fields) and not wrong:
        wrong.append("has no prompt, answer, comment or rating.")
    fields["raw"] = rest
    fields["source_id"] = fields.get("source_id", "").strip() or _content_id(fields, seen)
    before = ids.setdefault((fields.get("source", ""), fields["source_id"]), place)
    if before != place:
        wrong.append(f"has the id {excerpt(fields['source_id'])}, like {before}.")
    file.problems += [Problem(place, message) for message in wrong]
    if not wrong:
        file.rows.append(ParsedRow(place, fields))


def _text(name: str, value: Any, most: int, wrong: list[str]) -> str:
    plain = value.get("$oid", value) if isinstance(value, dict) else value
    if isinstance(plain, bool) or not isinstance(plain, str | int | float):
        wrong.append(f"{name}: expected text, not {excerpt(plain)}.")
        return ""
    text = str(plain)
    if UNSTORABLE.search(text):
        wrong.append(f"{name} {REASON}")
    if len(text) > most:
        wrong.append(
            f"{name} has {len(text):,} characters; the maximum is {most:,}: {excerpt(text)}."
        )
    return text


def _messages(name: str, value: Any, wrong: list[str]) -> Any:
    """Return a conversation; in CSV it is written as JSON."""
    if isinstance(value, str) and value.strip():
        try:
            value = parse(value)
        except (ValueError, RecursionError) as error:
            wrong.append(f"{name} is not JSON: {error}.")
    if unstorable(value):
        wrong.append(f"{name} {REASON}")
    return value or []


def _rate(fields: dict[str, Any], wrong: list[str]) -> None:
    given = str(fields.get("rating", ""))
    rating = _RATING_OF.get(given.strip().lower())
    if rating is None:
        wrong.append(f"rating: expected up, down or nothing, not {excerpt(given)}.")
    fields["rating"] = rating or "none"


def _content_id(fields: Mapping[str, Any], seen: Counter[str]) -> str:
    """Return an id by content, so that a second upload changes nothing.

    Different users may write the same: equal rows get different ids, by their order.
    """
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, default=str)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:40]
    seen[digest] += 1
    times = seen[digest]
    return f"content:{digest}" + (f":{times}" if times > 1 else "")
