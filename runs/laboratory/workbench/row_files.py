"""Rows of a workbench in a file: CSV, JSON (its own export too) and JSON Lines. Pure."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evalhub.limits import MAX_TEXT
from evalhub.llm.content.raw_prompt import RAW_PROMPT
from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import Problem, excerpt, parse
from issues.content.feedback_messages import ROLES
from issues.content.message_form import message_problem
from issues.importers.records import Unreadable, records_in

TEXTS = ("answer", "answered_by", "context", "reference", "guidelines")
COLUMNS = {
    "input": ("input", "prompt", "question", "query"),
    "answer": ("answer", "output", "response", "completion"),
    "answered_by": ("answered_by", "model"),
    "context": ("context", "documents"),
    "reference": ("reference", "reference_answer"),
    "guidelines": ("guidelines",),
    "expected": ("expected", "expected_option", "expected_result", "label"),
}
"""Fields of a row by accepted column name; the first column of a field wins."""

MAX_NAME = 100
SETTINGS = "workbench"
"""Key of the workbench's settings in its own JSON file; its rows are at "rows"."""


@dataclass
class RowFile:
    """A parsed file. `settings` are those of an exported workbench; None in other files."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unreadable: str = ""
    settings: dict[str, Any] | None = None
    ignored: list[str] = field(default_factory=list)


def read_rows(name: str, data: bytes, *, keys: Sequence[str], most: int) -> RowFile:
    """Read the rows of a file, with all problems at once.

    Args:
        keys: Keys of the criteria: with one, or "" alone, an expected option is a plain text; with
            several it is an object of options by key.
        most: Maximum number of rows.
    """
    file = RowFile()
    try:
        records = list(records_in(name, data, file.problems, inside="rows", most=most))
    except Unreadable as error:
        file.unreadable = f"{name} {error}"
        return file
    if name.lower().endswith(".json"):
        whole = parse(data.decode("utf-8-sig"))
        settings = whole.get(SETTINGS) if isinstance(whole, dict) else None
        file.settings = settings if isinstance(settings, dict) else None
    known: set[str] = set()
    for place, record in records:
        row, used, wrong = _row(record, keys)
        known |= used
        file.problems += [Problem(place, message) for message in wrong]
        if not wrong:
            file.rows.append(row)
    names = dict.fromkeys(name for _, record in records for name in record)
    file.ignored = [name for name in names if name not in known]
    if not records and not file.problems:
        file.unreadable = f"{name} holds no rows."
    return file


def _row(
    record: Mapping[str, Any], keys: Sequence[str]
) -> tuple[dict[str, Any], set[str], list[str]]:
    """Return a row's fields, the columns that were used, and what is wrong."""
    wrong: list[str] = []
    named = {wanted: _column(record, names) for wanted, names in COLUMNS.items()}
    row: dict[str, Any] = {}
    for wanted in ("input", *TEXTS):
        most = MAX_NAME if wanted == "answered_by" else MAX_TEXT
        row[wanted] = _text(record, named[wanted], wrong, most=most)
    for wanted in ("messages", "turns"):
        row[wanted] = _from_cell(record.get(wanted)) or []
    wrong += _problems_of(row["messages"])
    if not _is_list_of(row["turns"], str):
        wrong.append(f"turns: expected a list of texts, not {excerpt(row['turns'])}.")
    if not row["messages"] and row["input"]:
        row["messages"] = [{"role": "user", "content": row["input"]}]
    del row["input"]
    wrong += [
        f"{place} {REASON}" for place in unstorable({**row, "expected": record.get("expected")})
    ]
    row["expected"] = _expected(record.get(named["expected"] or "", ""), keys, wrong)
    if not row["messages"] and not row["answer"].strip():
        wrong.append("has neither an input nor an answer.")
    used = {name for name in named.values() if name} | {"messages", "turns"}
    return row, used, wrong


def _column(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    plain = {str(name).strip().lower().replace(" ", "_"): name for name in reversed(list(record))}
    return next((plain[name] for name in names if name in plain), None)


def _text(record: Mapping[str, Any], name: str | None, wrong: list[str], *, most: int) -> str:
    value = record.get(name, "") if name else ""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        wrong.append(f"{name}: expected text, not {excerpt(value)}.")
        return ""
    text = str(value)
    if len(text) > most:
        wrong.append(f"{name} has {len(text):,} characters; the maximum is {most:,}.")
    return text


def _expected(value: Any, keys: Sequence[str], wrong: list[str]) -> dict[str, str]:
    if isinstance(value, str) and value.strip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            wrong.append(f"expected: {excerpt(value)} is not JSON.")
            return {}
    if isinstance(value, dict):
        return {str(key): str(option) for key, option in value.items() if option not in (None, "")}
    if value in (None, ""):
        return {}
    if len(keys) != 1:
        wrong.append(
            f"expected: {excerpt(value)} is one option, but there are {len(keys)} criteria. Give "
            'an object, such as {"1": "met"}.'
        )
        return {}
    return {keys[0]: str(value).strip()}


def _problems_of(messages: Any) -> list[str]:
    if not isinstance(messages, list):
        return [f"messages: expected a list of messages, not {excerpt(messages)}."]
    found = [message_problem(message, (*ROLES, RAW_PROMPT)) for message in messages]
    return [f"messages: message {n}: {problem}" for n, problem in enumerate(found, 1) if problem]


def _from_cell(value: Any) -> Any:
    """Return a list that a CSV holds as JSON; anything else as it is."""
    if isinstance(value, str) and value.startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)
