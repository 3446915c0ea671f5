"""The tests of two runs one by one, worst first."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from reports.compare.form import SHOW
from reports.compare.query import Comparison, prompts_of, with_words
from reports.compare.rule import Compared, Kind
from reports.compare.two_runs.state import KIND_WORDS, TwoRuns
from reports.documents.document import Cell, Column, LazyRows, Link, Table, folded
from reports.documents.links import page_url, row_url
from runs.comparison.tested_rule import Tested
from runs.figures.rate import Rate

SHOWN = 8
"""Changed tests before a line to open."""


def tests_of(two: TwoRuns) -> Table:
    """List the tests that the filters select."""
    filters, comparison = two.filters, two.comparison
    rows = [
        one
        for one in comparison.one_by_one(SHOW[two.shown][1])
        if (not filters["issue"] or one.latest.issue_id == filters["issue"])
        and (not filters["tag"] or filters["tag"] in comparison.tags[one.latest.tag_set_id])
    ]
    if filters["q"]:
        found = with_words(
            filters["q"], [one.latest.revision_id for one in rows], two.reading.reader
        )
        rows = [one for one in rows if one.latest.revision_id in found]
    if filters["tag"] or filters["issue"] or filters["q"]:
        empty = "No matching tests. Choose another list, or clear tag, issue and words."
    elif not comparison.is_conclusive:
        empty = "None."
    elif not two.tally.n:
        empty = "The runs share no scored test. Choose runs of the same suite."
    elif not filters["show"]:
        empty = "No test flipped. A change smaller than the detectable change may have been missed."
    else:
        empty = "None."
    return Table(
        "tests",
        f"Tests: {two.lists[two.shown]}",
        _test_columns(two),
        LazyRows(rows, lambda keys: _test_rows(two, keys)),
        note="Worst first. The flip of a single test is no evidence of a change: p is above. "
        "* human verdict. Open a test to see both answers side by side.",
        empty=empty,
        **({} if filters["show"] else folded(len(rows), SHOWN, "test")),
    )


def edited_tests(two: TwoRuns) -> list[Table]:
    """List the tests that were edited between the runs; they are not compared."""
    edited = (Kind.TEXT_CHANGED, Kind.RUBRIC_CHANGED)
    rows = [one for one in two.comparison.rows if one.kind in edited]
    if not rows or two.filters["show"] in ("text", "rubric", "all"):
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
        Column("prompt", "Prompt", "excerpt", note="A dash: sealed."),
        Column("issue", "Issue", "link"),
        Column("tags", "Tags"),
        Column("first", "Before", form, note=first),
        Column("second", "After", form, note=second),
        Column("score_before", "Score before", "score"),
        Column("score_after", "Score after", "score"),
        Column("note", "Note"),
    )


def answers_url() -> str:
    """Return the address of both answers to a test, without their numbers."""
    return reverse("reports:compare_answers", args=[0, 0]).removesuffix("0/0/")


def _test_rows(two: TwoRuns, rows: Sequence[Compared]) -> list[tuple[Cell, ...]]:
    # Prefixes of URLs are resolved once: resolving takes longer than the rest of a row.
    answers = answers_url()
    timeline = page_url("issue_timeline", issue="0").removesuffix("0")
    prompts = prompts_of([one.latest.revision_id for one in rows], two.reading.reader)
    comparison, found = two.comparison, []
    for one in rows:
        latest, prompt = one.latest, prompts.get(one.latest.revision_id)
        if one.first is None or one.second is None:
            url = row_url("admin:runs_result_change", latest.result_id)
        else:
            url = f"{answers}{one.first.result_id}/{one.second.result_id}/"
        row = (
            KIND_WORDS.get(one.kind, one.kind.value),
            Link(f"test {latest.test_id}", url),
            prompt,
            Link(comparison.issues[latest.issue_id], f"{timeline}{latest.issue_id}"),
            ", ".join(comparison.tags[latest.tag_set_id]),
            _outcome(one.first, comparison),
            _outcome(one.second, comparison),
            one.first and one.first.score,
            one.second and one.second.score,
            _note(one),
        )
        found.append(row)
    return found


def _outcome(tested: Tested | None, comparison: Comparison) -> Cell:
    if tested is None:
        return None
    if not comparison.is_single:
        return Rate(tested.passed, tested.scored, tested.share, total=tested.n)
    outcomes = ("passed", "failed", "error", "unscored")
    return next((outcome for outcome in outcomes if getattr(tested, outcome)), "pending")


def _note(one: Compared) -> str:
    """Return remarks on overridden and unscored repeats."""
    remarks = []
    for tested, when in ((one.first, "before"), (one.second, "after")):
        if tested is None:
            continue
        if tested.overridden:
            remarks.append(f"* {when}")
        if tested.missing and tested.scored:
            remarks.append(f"{tested.n - tested.scored} of {tested.n} repeats unscored {when}")
    return ", ".join(remarks)
