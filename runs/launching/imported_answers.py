"""Runs of imported answers: judged like any other run, and labelled as imported."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import transaction

from evalhub.models import ItemState, User
from evalhub.work.queue import request_worker
from issues.conversation import turns_to_generate
from issues.revisions import freeze
from runs.launching.launch import BATCH_SIZE, fill, make_launch, make_run, variants
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.launching.selection import Selection, select
from runs.models import Answer, Result, Run

COLUMNS = ("test", "answer", "repeat")


class ImportedAnswer(NamedTuple):
    """An answer. `place` names it in problems, such as "line 3"; `repeat` counts from 1."""

    place: str
    test: int
    answer: str
    repeat: int = 1


def read_csv(text: str) -> list[ImportedAnswer]:
    """Read answers from CSV with the columns test, answer and, optionally, repeat.

    Raises:
        LaunchRefused: Lists every problem with its line.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    answers, problems = [], []
    try:
        names = [name.strip().lower() for name in reader.fieldnames or []]
        reader.fieldnames = names
        missing = [name for name in ("test", "answer") if name not in names]
        unknown = [name for name in names if name not in COLUMNS]
        problems += [f"The column {name!r} is missing." for name in missing]
        problems += [f"Unknown column {name!r}: use {', '.join(COLUMNS)}." for name in unknown]
        for row in reader if not problems else ():
            place = f"line {reader.line_num}"
            found = _row_problems(place, row)
            problems += found
            if not found:
                repeat = int((row.get("repeat") or "").strip() or 1)
                answer = row.get("answer") or ""
                answers.append(ImportedAnswer(place, int(row["test"]), answer, repeat))
    except csv.Error as error:
        problems.append(f"Line {reader.line_num + 1} is not CSV: {error}.")
    if not problems and not answers:
        problems.append("The file has no answers.")
    if problems:
        raise LaunchRefused(problems)
    return answers


def _row_problems(place: str, row: dict[str, str | None]) -> list[str]:
    if None in row:
        return [f"{place}: more values than columns; quote answers that contain commas."]
    problems = []
    for name in ("test", "repeat"):
        value = (row.get(name) or "").strip()
        is_number = re.fullmatch(r"[0-9]{1,18}", value) and int(value) > 0
        if not is_number and (name == "test" or value):
            problems.append(f"{place}: {name} {value!r} is not a number from 1 up.")
    return problems


def import_answers(spec: LaunchSpec, answers: Sequence[ImportedAnswer], *, by: User | None) -> Run:
    """Make a run with these answers, which its jury judges like any others.

    Args:
        spec: One model, the one that answered, and at most one system prompt. Tests and
            repeats are taken from the answers.

    Raises:
        LaunchRefused: See `select`; or answers are missing, duplicate or empty.
    """
    tests = sorted({answer.test for answer in answers})
    repeats = max((answer.repeat for answer in answers), default=1)
    named = {"tests": tests, "issues": [], "tags": [], "repeats": repeats}
    spec = spec.model_copy(update=named)
    selection = _selected(spec, answers)
    texts = {(answer.test, answer.repeat - 1): answer.answer for answer in answers}
    with transaction.atomic():
        (variant,) = variants(spec, selection.models)
        run = make_run(spec, selection, make_launch(spec, by), variant, by)
        run.has_imported_answers = True
        fill(run, spec, selection, freeze(selection.tests))
        rows = []
        for result in run.results.only("pk", "test_id", "repeat"):
            text = texts[result.test_id, result.repeat]
            rows.append(Answer(result=result, text=text, turns=[{"content": text, "call": None}]))
        Answer.objects.bulk_create(rows, batch_size=BATCH_SIZE)
        Result.objects.filter(run=run).update(state=ItemState.DONE)
        request_worker()
    return run


def _selected(spec: LaunchSpec, answers: Sequence[ImportedAnswer]) -> Selection:
    problems: list[str] = []
    if len(spec.models) != 1 or len(spec.system_prompts) != 1 or len(spec.temperatures) > 1:
        problems.append("Imported answers belong to one model, system prompt and temperature.")
    if spec.suite:
        problems.append("Imported answers name their tests: leave out the suite.")
    problems += _answer_problems(spec, answers)
    try:
        selection = select(spec, asks=False)
    except LaunchRefused as refused:
        raise LaunchRefused([*problems, *refused.problems]) from refused
    places = {answer.test: answer.place for answer in answers}
    problems += [
        f"{places[test.pk]}: test {test.pk} has {turns} turns to generate, but an import has one "
        "answer: run it with a model instead."
        for test in selection.tests
        if (turns := len(turns_to_generate(test.messages))) > 1
    ]
    if problems:
        raise LaunchRefused(problems)
    return selection


def _answer_problems(spec: LaunchSpec, answers: Iterable[ImportedAnswer]) -> list[str]:
    problems = []
    given: Counter[tuple[int, int]] = Counter()
    for answer in answers:
        key = (answer.test, answer.repeat)
        given[key] += 1
        if given[key] == 2:
            repeated = f", repeat {answer.repeat}" if spec.repeats > 1 else ""
            problems.append(f"{answer.place}: test {answer.test}{repeated} already has an answer.")
        if not answer.answer.strip():
            problems.append(f"{answer.place}: the answer to test {answer.test} is empty.")
    for test in spec.tests:
        missing = [n for n in range(1, spec.repeats + 1) if (test, n) not in given]
        if missing:
            numbers = ", ".join(map(str, missing))
            problems.append(f"Test {test} has no answer for repeat {numbers} of {spec.repeats}.")
    return problems
