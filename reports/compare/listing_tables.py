"""The tests of two runs one by one, worst first."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.urls import reverse

from reports.compare.form import SHOW
from reports.compare.matching_rule import Tested
from reports.compare.query import Comparison, prompts_of, saying
from reports.compare.rule import Compared, Kind
from reports.compare.state import KIND_WORDS, TwoRuns
from reports.documents.document import Cell, Column, Link, Table
from reports.documents.lazy_rows import LazyRows
from reports.documents.links import page_url, row_url
from runs.figures.tallies import Rate

PROMPT = 160
"""Characters of the prompt shown in a row."""


def wanted(two: TwoRuns) -> list[Compared]:
    """Return the tests that the filters select."""
    asked, comparison = two.asked, two.comparison
    rows = [
        one
        for one in comparison.one_by_one(SHOW[asked["show"]][1])
        if (not asked["issue"] or one.latest.issue_id == asked["issue"])
        and (not asked["tag"] or asked["tag"] in comparison.tags[one.latest.tag_set_id])
    ]
    if asked["q"]:
        said = saying(asked["q"], [one.latest.revision_id for one in rows], two.reading.reader)
        rows = [one for one in rows if one.latest.revision_id in said]
    return rows


def tests_of(two: TwoRuns) -> Table:
    asked, rows = two.asked, wanted(two)
    return Table(
        "tests",
        f"Tests: {SHOW[asked['show']][0]}",
        _test_columns(two),
        LazyRows(rows, lambda keys: _test_rows(two, keys)),
        note="Worst first. * human verdict. Open a test to see both answers side by side.",
        empty=_nothing_listed(two),
    )


def _nothing_listed(two: TwoRuns) -> str:
    asked = two.asked
    if asked["tag"] or asked["issue"] or asked["q"]:
        return "No matching tests. Choose another list, or clear tag, issue and words."
    if not asked["show"] and two.tally.n:
        return "No test flipped. A change smaller than the detectable change may have been missed."
    if not two.tally.n:
        return "The runs share no scored test. Choose runs of the same suite."
    return "None."


def edited_tests(two: TwoRuns) -> list[Table]:
    """List the tests that were edited between the runs; they are not compared."""
    edited = (Kind.TEXT_CHANGED, Kind.RUBRIC_CHANGED)
    rows = [one for one in two.comparison.rows if one.kind in edited]
    if not rows or two.asked["show"] in ("text", "rubric", "all"):
        return []
    return [
        Table(
            "changed",
            "Edited tests",
            _test_columns(two),
            LazyRows(rows, lambda keys: _test_rows(two, keys)),
            note="Edited between the runs, so excluded from all counts above.",
        )
    ]


def _test_columns(two: TwoRuns) -> tuple[Column, ...]:
    form: Any = "outcome" if two.comparison.is_single else "rate"
    first, second = two.names
    return (
        Column("became", "Change", "verdict"),
        Column("test", "Test", "link"),
        Column("prompt", "Prompt", note="A dash: sealed."),
        Column("issue", "Issue", "link"),
        Column("tags", "Tags"),
        Column("first", "Before", form, note=first),
        Column("second", "After", form, note=second),
        Column("score_before", "Score before", "score"),
        Column("score_after", "Score after", "score"),
        Column("note", "Note"),
    )


class Places(NamedTuple):
    """Prefixes of URLs, resolved once: resolving them takes longer than the rest of a row."""

    answers: str
    issue: str

    @classmethod
    def found(cls) -> "Places":
        answers = reverse("reports:compare_answers", args=[0, 0]).removesuffix("0/0/")
        return cls(answers, page_url("issue_timeline", issue="0").removesuffix("0"))


def _test_rows(two: TwoRuns, rows: Sequence[Compared]) -> list[tuple[Cell, ...]]:
    prompts = prompts_of([one.latest.revision_id for one in rows], two.reading.reader)
    places = Places.found()
    return [_test_row(two, one, prompts.get(one.latest.revision_id), places) for one in rows]


def _test_row(two: TwoRuns, one: Compared, prompt: str | None, places: Places) -> tuple[Cell, ...]:
    latest, comparison = one.latest, two.comparison
    return (
        KIND_WORDS.get(one.kind, one.kind.value),
        Link(f"test {latest.test_id}", _answers(one, places)),
        None if prompt is None else prompt[:PROMPT],
        Link(comparison.issues[latest.issue_id], f"{places.issue}{latest.issue_id}"),
        ", ".join(comparison.tags[latest.tag_set_id]),
        _outcome(one.first, comparison),
        _outcome(one.second, comparison),
        one.first and one.first.score,
        one.second and one.second.score,
        _note(one),
    )


def _answers(one: Compared, places: Places) -> str:
    """Return the URL of both answers side by side, or of the only answer."""
    if one.first is None or one.second is None:
        return row_url("admin:runs_result_change", one.latest.result_id)
    return f"{places.answers}{one.first.result_id}/{one.second.result_id}/"


def _outcome(tested: Tested | None, comparison: Comparison) -> Cell:
    if tested is None:
        return None
    if not comparison.is_single:
        return Rate(tested.passed, tested.scored, tested.share, None, is_resampled=True)
    counts = {
        "passed": tested.passed,
        "failed": tested.failed,
        "error": tested.error,
        "unscored": tested.unscored,
    }
    return next((outcome for outcome, n in counts.items() if n), "pending")


def _note(one: Compared) -> str:
    """Return remarks on overridden and unscored repeats."""
    said = []
    for tested, when in ((one.first, "before"), (one.second, "after")):
        if tested is None:
            continue
        if tested.overridden:
            said.append(f"* {when}")
        if tested.missing and tested.scored:
            said.append(f"{tested.n - tested.scored} of {tested.n} repeats unscored {when}")
    return ", ".join(said)
