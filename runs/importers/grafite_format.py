"""GRAFITE's JSON files → records, with every problem of all files at once. Pure.

A ledger is `issue.json`, `test.json`, `settings.json` and `run.json`, perhaps `feedback.json`, and
for each run `<run_id>.json` with its results.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from runs.importers import grafite_cases, grafite_outcomes
from runs.importers.grafite_outcomes import TABLES
from runs.importers.grafite_records import Ledger, RunRecord
from runs.importers.reading import Problem, Row, rows_of, shown

OPTIONAL = ("feedback.json",)


def read_ledger(files: Mapping[str, str]) -> Ledger:
    """The ledger in these files (name → text)."""
    ledger = Ledger()
    for name in TABLES:
        if name not in files and name not in OPTIONAL:
            ledger.problems.append(Problem(name, "there is no such file."))
    tables = [name for name in TABLES if name in files]
    rows = {name: rows_of(files[name], name, ledger.problems) for name in tables}
    _read_labels(rows.get("settings.json", []), ledger)
    ledger.feedback = [grafite_cases.feedback(row) for row in rows.get("feedback.json", [])]
    ledger.issues = [grafite_cases.issue(row) for row in rows.get("issue.json", [])]
    ledger.tests = [grafite_cases.test(row) for row in rows.get("test.json", [])]
    ledger.runs = [grafite_outcomes.run(row, files) for row in rows.get("run.json", [])]
    _check_ids(rows)
    _check_links(ledger, with_feedback="feedback.json" in rows)
    _check_files(ledger, files)
    ledger.problems = sorted(dict.fromkeys(ledger.problems), key=_in_order_of_files)
    return ledger


def _in_order_of_files(problem: Problem) -> tuple[str, list[int]]:
    file = problem.place.partition(".json")[0]
    return file, [int(number) for number in re.findall(r"\[(\d+)\]", problem.place)]


def _read_labels(rows: Iterable[Row], ledger: Ledger) -> None:
    for row in rows:
        if row.fields.get("_id") == "labels":
            labels = row.row("issue")
            ledger.tags += labels.texts("tag", most=100)
            ledger.resolution_labels += labels.texts("resolution", most=100)


# What must fit together --------------------------------------------------------------------------


def _check_ids(rows: Mapping[str, list[Row]]) -> None:
    keys: dict[str, Callable[[Row], str]] = {
        "feedback.json": _id_of,
        "issue.json": _id_of,
        "test.json": _id_of,
        "run.json": lambda row: str(row.fields.get("run_id") or ""),
    }
    for name, key in keys.items():
        first: dict[str, str] = {}
        for row in rows.get(name, []):
            found = key(row)
            if found and found in first:
                row.note("", f"{shown(found)} is the id of {first[found]} already.")
            first.setdefault(found, row.place)


def _id_of(row: Row) -> str:
    return Row(row.fields, row.place, []).identifier("_id")


def _check_links(ledger: Ledger, *, with_feedback: bool) -> None:
    issues = {record.source_id for record in ledger.issues}
    tests = {record.source_id for record in ledger.tests}
    known = {record.source_id for record in ledger.feedback}
    problems = ledger.problems
    for issue in ledger.issues:
        problems += _unknown(issue.place, "test_ids", issue.test_ids, tests, "test.json")
        if with_feedback:
            ids = issue.feedback_ids
            problems += _unknown(issue.place, "feedback_ids", ids, known, "feedback.json")
    for test in ledger.tests:
        problems += _unknown(test.place, "issue_id", [test.issue_id], issues, "issue.json")
    for run in ledger.runs:
        problems += _result_problems(run, tests)


def _check_files(ledger: Ledger, files: Mapping[str, str]) -> None:
    named = {f"{run.source_id}.json" for run in ledger.runs}
    for name in files:
        if name.startswith("run_") and name not in named:
            ledger.problems.append(Problem(name, "no row of run.json names this run."))


def _unknown(
    place: str, field: str, ids: Iterable[str], known: set[str], file: str
) -> list[Problem]:
    return [
        Problem(f"{place}.{field}", f"{file} has no row with the id {shown(source_id)}.")
        for source_id in ids
        if source_id and source_id not in known
    ]


def _result_problems(run: RunRecord, tests: set[str]) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, str] = {}
    for result in run.results:
        problems += _unknown(result.place, "test_id", [result.test_id], tests, "test.json")
        if result.test_id in first:
            message = f"{first[result.test_id]} is a result of this test already."
            problems.append(Problem(f"{result.place}.test_id", message))
        first.setdefault(result.test_id, result.place)
    return problems
