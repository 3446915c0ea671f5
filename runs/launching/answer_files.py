"""Reading answers made elsewhere: from CSV, JSON lines, or objects of the API.

Nothing is dropped: an unknown key or a wrong value is a problem that names its place.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from evalhub.limits import MAX_TEXT
from evalhub.llm.applications.application_reply import MAX_DOCUMENTS, document_of, tool_call_of
from evalhub.llm.content.content_parts import content_problem, content_text
from evalhub.values.option_problems import option_problems
from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import excerpt, parse
from runs.launching.launch_options import LaunchRefused, RowId
from runs.limits import MAX_ANSWERS, MAX_REPEATS

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


def _text(content: Any) -> Any:
    """Return the text of a list of parts; anything else as it is.

    Raises:
        ValueError: A part is no text.
    """
    if not isinstance(content, list):
        return content
    if problem := content_problem("assistant", content):
        raise ValueError(problem)
    return content_text(content)


LongText = Annotated[str, BeforeValidator(_text), Field(max_length=MAX_TEXT)]
Documents = Annotated[list[str | dict[str, Any]], Field(max_length=MAX_DOCUMENTS)]
ToolCalls = Annotated[list[str | dict[str, Any]], Field(max_length=1000)]


class ImportedTurn(BaseModel):
    """A generated turn. `finish_reason` is the provider's own: it tells whether it broke off."""

    model_config = ConfigDict(extra="forbid")

    content: LongText
    tool_calls: ToolCalls = []
    documents: Documents | None = None
    refusal: str = Field("", max_length=MAX_TEXT)
    reasoning: str = Field("", max_length=MAX_TEXT)
    finish_reason: str = Field("", max_length=50)


class ImportedScore(BaseModel):
    """A score that the answer already has: `value` from 0 to 1, or whether it `passed`.

    `criterion` is the key of one; "" is the test as a whole.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=80)
    value: float | None = Field(None, ge=0, le=1)
    passed: bool | None = None
    explanation: str = Field("", max_length=MAX_TEXT)
    criterion: str = Field("", max_length=40)

    @model_validator(mode="after")
    def is_measured(self) -> "ImportedScore":
        if self.value is None and self.passed is None:
            raise ValueError(f"the score {self.name!r} has neither a value nor passed.")
        return self


class ImportedAnswerBody(BaseModel):
    """An answer to a test, or the error in its place; `repeat` counts from 1.

    The answer and each turn are a text, or a list of parts that are texts. `turns` are all
    generated turns of a conversation, the last of them the answer. `documents` are those retrieved:
    texts, or objects with a text and a title; null: not known. What is not measured is left out.
    `scores` are those that the answer already has, from wherever it was made.
    """

    model_config = ConfigDict(extra="forbid")

    test: RowId
    answer: LongText = ""
    repeat: int = Field(1, ge=1, le=MAX_REPEATS)
    error: str = Field("", max_length=2000)
    turns: list[LongText | ImportedTurn] = Field([], max_length=1000)
    tool_calls: ToolCalls = []
    documents: Documents | None = None
    latency_ms: Count | None = None
    cost_usd: Decimal | None = Field(None, ge=0, max_digits=14, decimal_places=8)
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    scores: list[ImportedScore] = Field([], max_length=100)

    @model_validator(mode="after")
    def is_an_answer_or_an_error(self) -> "ImportedAnswerBody":
        said = bool(self.answer.strip() or self.turns or self.tool_calls)
        if self.error.strip() and self.scores:
            raise ValueError(f"test {self.test} has an error and scores: send one of them.")
        if self.error.strip() and said:
            raise ValueError(f"test {self.test} has an answer and an error: send one of them.")
        if not self.error.strip() and not said:
            raise ValueError(f"the answer to test {self.test} is empty: send its error, if any.")
        last = self.stored_turns()[-1]["content"]
        if self.turns and self.answer.strip() and self.answer != last:
            raise ValueError(f"the answer to test {self.test} is not its last turn.")
        return self

    def stored_turns(self) -> list[dict[str, Any]]:
        """Return the turns as `Answer.turns` holds them."""
        turns = [ImportedTurn(content=t) if isinstance(t, str) else t for t in self.turns]
        *earlier, last = turns or [ImportedTurn(content=self.answer)]
        changed = {
            "tool_calls": last.tool_calls or self.tool_calls,
            "documents": self.documents if last.documents is None else last.documents,
        }
        last = last.model_copy(update=changed)
        return [_stored(turn) for turn in (*earlier, last)]


def _stored(turn: ImportedTurn) -> dict[str, Any]:
    beside = ("refusal", "reasoning", "finish_reason")
    given = {name: value for name in beside if (value := getattr(turn, name))}
    stored: dict[str, Any] = {"content": turn.content, "call": None, **given}
    if turn.tool_calls:
        stored["tool_calls"] = [tool_call_of(call) for call in turn.tool_calls]
    if turn.documents is not None:
        stored["documents"] = [document_of(document) for document in turn.documents]
    return stored


COLUMNS = tuple(ImportedAnswerBody.model_fields)
JSON_COLUMNS = ("turns", "tool_calls", "documents", "scores")


class ImportedAnswer(NamedTuple):
    """An answer. `place` names it in problems, such as "line 3"."""

    place: str
    body: ImportedAnswerBody


def read_file(name: str, text: str) -> list[ImportedAnswer]:
    """Read a file: .jsonl or .ndjson has an object in each line, any other name is CSV.

    Raises:
        LaunchRefused: Lists every problem with its line.
    """
    is_lines = name.lower().endswith((".jsonl", ".ndjson"))
    problems: list[str] = []
    rows = _lines(text, problems) if is_lines else _csv(text, problems)
    return _answers(rows, problems)


def read_objects(values: Any) -> list[ImportedAnswer]:
    """Read the objects of a request; raise LaunchRefused with every problem."""
    if not isinstance(values, list):
        raise LaunchRefused([f"answers: send a list of answers, not {excerpt(values)}."])
    rows = ((f"answers[{number}]", value) for number, value in enumerate(values))
    return _answers(rows, [])


def _answers(rows: Iterable[tuple[str, Any]], problems: list[str]) -> list[ImportedAnswer]:
    answers = []
    for number, (place, value) in enumerate(rows):
        if number == MAX_ANSWERS:
            problems.append(f"There are more than {MAX_ANSWERS:,} answers: import fewer at once.")
            break
        found, body = _read(value)
        problems += [f"{place}: {problem}" for problem in found]
        if body:
            answers.append(ImportedAnswer(place, body))
    if not problems and not answers:
        problems.append("There are no answers.")
    if problems:
        raise LaunchRefused(problems)
    return answers


def _read(value: Any) -> tuple[list[str], ImportedAnswerBody | None]:
    if not isinstance(value, Mapping):
        return [f"expected an object, not {excerpt(value)}."], None
    if unknown := [name for name in value if name not in COLUMNS]:
        return [_unknown(name) for name in unknown], None
    if places := unstorable(dict(value)):
        return [f"{places[0]} {REASON}"], None
    try:
        return [], ImportedAnswerBody.model_validate(dict(value))
    except ValidationError as error:
        return option_problems(error), None


def _unknown(name: str) -> str:
    near = get_close_matches(str(name), COLUMNS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Use {', '.join(COLUMNS)}."
    return f"unknown key {str(name)[:60]!r}. {hint}"


def _lines(text: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: is not JSON: {error}.")
        else:
            yield f"line {number}", value


def _csv(text: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the rows of CSV; empty cells are left out, lists are written as JSON."""
    csv.field_size_limit(10 * MAX_TEXT)
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or []]
        reader.fieldnames = names
        problems += [f"The column {name!r} is missing." for name in ("test",) if name not in names]
        problems += [f"Column: {_unknown(name)}" for name in names if name not in COLUMNS]
        for row in reader if not problems else ():
            place = f"line {reader.line_num}"
            if None in row:
                problems.append(f"{place}: more values than columns; quote those with commas.")
            elif (value := _cells(place, row, problems)) is not None:
                yield place, value
    except csv.Error as error:
        problems.append(f"Line {reader.line_num + 1} is not CSV: {error}.")


def _cells(place: str, row: Mapping[str, str | None], problems: list[str]) -> dict[str, Any] | None:
    cells: dict[str, Any] = {}
    for name, text in row.items():
        if not (text or "").strip():
            continue
        try:
            cells[name] = parse(text or "") if name in JSON_COLUMNS else text
        except (json.JSONDecodeError, ValueError, RecursionError) as error:
            problems.append(f"{place}: {name} is not a JSON list: {error}.")
            return None
    return cells
