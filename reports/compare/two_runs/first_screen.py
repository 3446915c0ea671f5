"""The picture of the change, what was lost, and what to do next."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from django.urls import reverse

from evalhub.statistics.changes.lost_issues import LostIssue
from issues.models import Issue, Severity
from reports.compare.conclusion_words import ACROSS_IN_PICTURE, IN_PICTURE, said
from reports.compare.figure import NetRow, net_changes
from reports.compare.rule import Kind
from reports.compare.sentences import overruled_apart
from reports.compare.two_runs.listing_tables import answers_url
from reports.compare.two_runs.state import TwoRuns
from reports.documents.document import Cell, Column, Link, Table, folded
from reports.documents.links import page_url
from reports.queries.incomplete_runs import CONTROL, retry_link
from runs.lifecycle.control import retryable_of
from runs.models import Run

MAX_REVIEWED = 100
"""Results that one address can name."""

SHOWN = 8
"""Lost issues before a line to open."""

WORST_FIRST = {severity: place for place, severity in enumerate(reversed(Severity.values))}


def net_change(two: TwoRuns) -> Iterator[Table]:
    """Yield the net change with its interval, if tests are compared."""
    net, found = two.tally.net, two.found
    if net is None:
        return
    interval = found.conclusion.interval if found else None
    word = found.conclusion.word if found else None
    run = two.comparison.second.run
    sign = (ACROSS_IN_PICTURE if two.across else IN_PICTURE).get(word, "") if word else ""
    yield Table(
        "change",
        "Net change",
        (
            Column("model", "Model"),
            Column("lost", "Lost", "count"),
            Column("won", "Won", "count"),
            Column("tests", "Tests", "count", "The same in both runs"),
            Column("net", "Net change", "points"),
            Column("low", "95% from", "points"),
            Column("high", "to", "points"),
            Column("conclusion", "Conclusion"),
            Column("p", "p", "p", "Sign flips"),
        ),
        [
            (
                *(run.model_name, two.tally.worse, two.tally.better, two.tally.n, net),
                *(interval or (None, None)),
                said(found.conclusion, across=bool(two.across)) if found else None,
                found.conclusion.p if found else None,
            )
        ],
        draw=lambda: net_changes([NetRow(run.model_name, net, interval, word, sign)]),
        look="folded",
        describes="Net change with its 95% interval, and the conclusion",
    )


def lost_issues(two: TwoRuns) -> Iterator[Table]:
    """Yield the issues of which more was lost than won: the most severe first."""
    if two.found is None:
        return
    conclusion = two.found.conclusion
    reading = conclusion.against_old if conclusion.word.is_loss else conclusion.reading
    if reading is None or not (reading.lost.found or reading.lost.others):
        return
    losses = [(one, True) for one in reading.lost.found] if reading.lost.is_sure else []
    losses += [(one, False) for one in reading.lost.others]
    issues = Issue.objects.filter(pk__in=[one.issue for one, _ in losses])
    severities = dict(issues.values_list("pk", "severity"))
    losses.sort(key=lambda loss: (WORST_FIRST[severities[loss[0].issue]], -loss[0].lost))
    first_lost = _first_lost(two)

    def row(one: LostIssue, is_sure: bool) -> tuple[Cell, ...]:
        url = page_url("issue_timeline", issue=one.issue)
        answer = first_lost.get(one.issue)
        return (
            Link(two.comparison.issues[one.issue], url),
            severities[one.issue],
            *(one.lost, one.won, one.tests),
            *("yes" if is_sure else "may be chance", one.adjusted),
            answer and Link("Read an answer", answer),
        )

    yield Table(
        "lost",
        "Lost issues",
        (
            Column("issue", "Issue", "link"),
            Column("severity", "Severity"),
            Column("lost", "Lost", "number", "Tests, or shares of their repeats"),
            Column("won", "Won", "number"),
            Column("tests", "Tests", "count"),
            Column("is_sure", "Sure", note="By itself, or together with others"),
            Column("p", "p", "p", "Sign flips, one-sided, among all issues"),
            Column("answer", "Answer", "link"),
        ),
        [row(one, is_sure) for one, is_sure in losses],
        **folded(len(losses), SHOWN, "issue"),
    )


def _first_lost(two: TwoRuns) -> dict[int, str]:
    """Return the address of both answers to the worst test of each issue."""
    found: dict[int, str] = {}
    for one in two.comparison.rows:
        if one.kind == Kind.WORSE and one.first and one.second:
            address = f"{answers_url()}{one.first.result_id}/{one.second.result_id}/"
            found.setdefault(one.latest.issue_id, address)
    return found


def _retries(two: TwoRuns, runs: Sequence[Run]) -> list[Link]:
    """Return the runs to retry where something is missing behind the conclusion."""
    found = two.found.conclusion if two.found else None
    if not found or not (found.missing_old or found.missing_new):
        return []
    if not two.reading.reader.has_perm(CONTROL):
        return []
    failed = retryable_of(runs)
    return [retry_link(run.pk, failed[run.pk]) for run in runs if failed[run.pk]]


def next_steps(two: TwoRuns) -> list[Link]:
    """Return what to do about the comparison, the first thing first."""
    runs = (two.comparison.first.run, two.comparison.second.run)
    steps = _retries(two, runs)
    if first_lost := _first_lost(two):
        steps.append(Link("Read a failing answer", next(iter(first_lost.values()))))
    if two.reading.reader.has_perm("review.review_results"):
        releases = [run.release for run in runs]
        names = releases if all(releases) and releases[0] != releases[1] else two.names
        for results, name in zip(overruled_apart(two.comparison.rows), names, strict=True):
            if results:
                query = urlencode({"result": results[:MAX_REVIEWED]}, doseq=True)
                url = f"{reverse('admin:runs_result_file')}?{query}"
                steps.append(Link(f"Review the same tests in {name}", url))
    return steps
