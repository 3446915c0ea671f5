"""GRAFITE's JSON files → records, with every problem of all files at once. Pure.

The files are `issue.json`, `test.json`, `settings.json`, `run.json`, perhaps `feedback.json`, and
for each run `<run_id>.json` with its results.
"""

import re
from collections.abc import Iterable, Mapping

from evalhub.values.strict_json import Problem, excerpt
from runs.importers.grafite import issue_mapping, run_mapping
from runs.importers.grafite.records import GrafiteData, RunRecord
from runs.importers.grafite.run_mapping import TABLES
from runs.importers.json_reader import Row, rows_of


def read_grafite_data(files: Mapping[str, str]) -> GrafiteData:
    """Return the data in these files (name → text)."""
    grafite_data = GrafiteData()
    for name in TABLES:
        if name not in files and name != "feedback.json":
            grafite_data.problems.append(Problem(name, "there is no such file."))
    tables = [name for name in TABLES if name in files]
    rows = {name: rows_of(files[name], name, grafite_data.problems) for name in tables}
    _read_labels(rows.get("settings.json", []), grafite_data)
    grafite_data.feedback = [issue_mapping.feedback(row) for row in rows.get("feedback.json", [])]
    grafite_data.issues = [issue_mapping.issue(row) for row in rows.get("issue.json", [])]
    grafite_data.tests = [issue_mapping.test(row) for row in rows.get("test.json", [])]
    grafite_data.runs = [run_mapping.run(row, files) for row in rows.get("run.json", [])]
    _check_ids(rows)
    _check_links(grafite_data, with_feedback="feedback.json" in rows)
    named = {f"{run.source_id}.json" for run in grafite_data.runs}
    for name in files:
        if name.startswith("run_") and name not in named:
            grafite_data.problems.append(Problem(name, "run.json has no row of this run."))
    grafite_data.problems = sorted(dict.fromkeys(grafite_data.problems), key=_in_order_of_files)
    return grafite_data


def _in_order_of_files(problem: Problem) -> tuple[str, list[int]]:
    file = problem.place.partition(".json")[0]
    return file, [int(number) for number in re.findall(r"\[(\d+)\]", problem.place)]


def _read_labels(rows: Iterable[Row], grafite_data: GrafiteData) -> None:
    for row in rows:
        if row.fields.get("_id") == "labels":
            labels = row.row("issue")
            grafite_data.tags += labels.texts("tag", most=100)
            grafite_data.resolution_labels += labels.texts("resolution", most=100)


# What must fit together --------------------------------------------------------------------------


def _check_ids(rows: Mapping[str, list[Row]]) -> None:
    for name in ("feedback.json", "issue.json", "test.json", "run.json"):
        field = "run_id" if name == "run.json" else "_id"
        first: dict[str, str] = {}
        for row in rows.get(name, []):
            found = Row(row.fields, row.place, []).identifier(field)
            if found and found in first:
                row.note("", f"{excerpt(found)} is already the id of {first[found]}.")
            first.setdefault(found, row.place)


def _check_links(grafite_data: GrafiteData, *, with_feedback: bool) -> None:
    issues = {record.source_id for record in grafite_data.issues}
    tests = {record.source_id for record in grafite_data.tests}
    known = {record.source_id for record in grafite_data.feedback}
    problems = grafite_data.problems
    for issue in grafite_data.issues:
        problems += _unknown(issue.place, "test_ids", issue.test_ids, tests, "test.json")
        if with_feedback:
            ids = issue.feedback_ids
            problems += _unknown(issue.place, "feedback_ids", ids, known, "feedback.json")
    for test in grafite_data.tests:
        problems += _unknown(test.place, "issue_id", [test.issue_id], issues, "issue.json")
    for run in grafite_data.runs:
        _check_results(run, tests, problems)


def _check_results(run: RunRecord, tests: set[str], problems: list[Problem]) -> None:
    first: dict[str, str] = {}
    for result in run.results:
        problems += _unknown(result.place, "test_id", [result.test_id], tests, "test.json")
        if result.test_id in first:
            message = f"{first[result.test_id]} is already a result of this test."
            problems.append(Problem(f"{result.place}.test_id", message))
        first.setdefault(result.test_id, result.place)


def _unknown(
    place: str, field: str, ids: Iterable[str], known: set[str], file: str
) -> list[Problem]:
    return [
        Problem(f"{place}.{field}", f"{file} has no row with the id {excerpt(source_id)}.")
        for source_id in ids
        if source_id and source_id not in known
    ]
