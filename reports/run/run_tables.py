"""The tables of a run's report, with their figures."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice, takewhile
from typing import Any

from evalhub.display.formatting import count, counted, percent, points, usd, words
from evalhub.work.cost_total import spent_by
from reports.documents.document import Cell, Column, LazyRows, Link, Linked, Table, folded
from reports.documents.links import page_url, row_url
from reports.limits import MAX_RUN_ROWS
from reports.overrides.override_tables import results_table
from reports.overrides.query import MAX_SHOWN
from reports.queries.exposure import DEFINITION
from reports.queries.rate_lines import Line
from reports.queries.result_rows import Row
from reports.run import judge_tables, usage_tables
from reports.run.figure import outcome_ring
from reports.run.query import FlakyTests, RunReport
from reports.run.result_links import ResultLinks
from reports.run.sealing_query import Difference, Sealing
from runs.models import Outcome
from runs.suites.suite_tests import version_words

MAX_ISSUES, MAX_TAGS = 25, 12
"""Lines before one to open."""

FEW = 3
"""Rows that are not worth a line to open."""

LINE_COLUMNS = (
    Column("rate", "Passed", "rate", "Share of the scored results, with its 95% CI"),
    Column("failed", "Failed", "count"),
    Column("unscored", "Unscored", "count"),
    Column("error", "Errors", "count"),
    Column("pending", "Pending", "count"),
)


def of_figures(
    report: RunReport, links: ResultLinks, keys: Sequence[str] | None = None
) -> list[Table]:
    """Return the tables of these keys that the run has, in their order; None: all but results."""
    panel, kinds = report.panel, report.progress.partly_judged
    makers: dict[str, Callable[[], Table | None]] = {
        "outcomes": lambda: _outcomes(report, links),
        "settings": lambda: _settings(report),
        "issues": lambda: _issues(report, links),
        "domains": lambda: _domains(report, links),
        "tags": lambda: _tags(report, links),
        "origins": lambda: _origins(report, links) if report.origins else None,
        "sealing": lambda: _sealing(report.sealing) if report.sealing else None,
        "flaky": lambda: _flaky(report.flaky, links) if report.flaky else None,
        "weights": lambda: _weights(report) if report.heavy else None,
        "judges": lambda: judge_tables.judges(panel, links) if panel else None,
        "agreement": lambda: judge_tables.agreement(panel) if panel else None,
        "partly_judged": lambda: (
            judge_tables.partly_judged(kinds, links) if panel and kinds else None
        ),
        "judge_errors": lambda: (
            judge_tables.judge_errors(panel) if panel and panel.failures else None
        ),
        "usage": lambda: usage_tables.usage(report),
        "percentiles": lambda: usage_tables.percentiles(report.latency, report.cost),
        "latency": lambda: usage_tables.latency(report.latency),
        "cost": lambda: usage_tables.costs(report.cost),
        "overrides": lambda: _overrides(report),
        "errors": lambda: usage_tables.errors(report, links),
        "refused_parameters": lambda: (
            usage_tables.refused_parameters(report) if report.refused else None
        ),
        "judge_runs": lambda: (
            judge_tables.judge_runs(report) if len(report.judge_runs) > 1 else None
        ),
    }
    made = (makers[key]() for key in (makers if keys is None else keys))
    return [table for table in made if table]


def _settings(report: RunReport) -> Table:
    run, current, panel = report.run, report.current, report.panel
    params = run.params or run.endpoint.get("params") or {}
    judges = ", ".join(
        f"{judge.name} (backup)" if judge.is_backup else judge.name
        for judge in (panel.judges if panel else ())
    )
    jury = current.jury_name or "unnamed" if current and panel else "none: annotators only"
    checks = cost_limit = None
    if panel and panel.checks:
        failed = f", {count(panel.checks.failed)} without a value" if panel.checks.failed else ""
        checks = f"{count(panel.checks.ok + panel.checks.failed)} run without a judge{failed}"
    if run.cost_limit_usd is not None:
        spent = spent_by([run, *report.judge_runs])
        cost_limit = f"{usd(run.cost_limit_usd)}; spent {spent}"
    pairs: list[tuple[str, Cell]] = [
        ("Run", run.pk),
        ("State", report.progress.state),
        ("Model", Link(run.model_name, "", run.endpoint.get("litellm_model", ""))),
        ("Base URL", run.endpoint.get("api_base") or None),
        ("System prompt", run.system_prompt or "none"),
        ("Parameters", ", ".join(f"{k}={v}" for k, v in params.items()) or "model defaults"),
        ("Suite", str(run.suite) if run.suite else None),
        ("Suite version", version_words(run.suite_version) if run.suite_version else None),
        ("Release", run.release or None),
        ("Repeats", run.repeats),
        ("Jury", Link(jury, "", judges)),
        ("Checks", checks),
        ("Similarity", _similarity(report)),
        ("Answers cut off", run.get_cut_off_answers_display()),
        ("Answers broken off", run.get_broken_off_answers_display()),
        ("Equal requests", "verdicts taken" if run.takes_known_verdicts else "judges asked again"),
        ("Cost limit", cost_limit),
        ("Created", run.created_at),
        ("Started", run.started_at),
        ("Finished", run.finished_at),
        ("Test fingerprint", run.suite_fingerprint),
        ("Variant fingerprint", run.variant_key),
        ("Jury fingerprint", current.jury_fingerprint if current else None),
    ]
    columns = (Column("setting", "Setting"), Column("value", "Value"))
    return Table("settings", "Configuration", columns, [p for p in pairs if p[1] is not None])


def _similarity(report: RunReport) -> str | None:
    found = report.similarity
    if found is None:
        return None
    parts = [f"{percent(found.weight)} of each score"] if found.weight else []
    parts += ["the whole score of tests without criteria"] if found.alone else []
    measured = f"measured for {count(found.measured)} of {count(found.answered)} answers"
    return f"{'; '.join(parts)}; by {found.model}, {measured}"


def _outcomes(report: RunReport, links: ResultLinks) -> Table:
    counts = report.counts
    rows = [
        (Linked(name, links.results(outcomes=(name,))), n, n / counts.total)
        for name, n in (counts.as_dict() if counts.total else {}).items()
    ]
    columns = (
        Column("outcome", "Outcome", "outcome"),
        Column("n", "Results", "count"),
        Column("share", "Share", "share"),
    )
    return Table(
        "outcomes",
        "Outcomes",
        columns,
        rows,
        note=f"{counted(counts.total, 'result')}. Errors, unscored and pending results are "
        "excluded from the pass rate.",
        empty="This run has no results.",
        draw=lambda: outcome_ring(counts.as_dict()) if counts.total else None,
        look="ring",
        describes="A ring of the outcomes",
        filters="outcome",
    )


def _issues(report: RunReport, links: ResultLinks) -> Table:
    return Table(
        "issues",
        "Issues, lowest pass rate first",
        (Column("issue", "Issue", "link"), Column("issue_id", "ID"), *LINE_COLUMNS),
        LazyRows(report.issues, lambda some: [_issue(line, links) for line in some]),
        note="The order is not tested: see Underperforming issues.",
        empty="This run has no results.",
        **_folded(report.issues, "issue", most=MAX_ISSUES),
    )


def _issue(line: Line, links: ResultLinks) -> tuple[Cell, ...]:
    number = Linked(line.issue_id, page_url("issue_timeline", issue=line.issue_id))
    return _line(line, links, number, issue=line.issue_id)


def _line(
    line: Line, links: ResultLinks, *more: Cell, **filters: int | str | None
) -> tuple[Cell, ...]:
    counts = line.counts
    url = links.results(outcomes=(Outcome.FAILED.value,), **filters)
    failed = Linked(counts.failed, url) if counts.failed else 0
    name = links.line(line.name, **filters)
    return (name, *more, line.rate, failed, counts.unscored, counts.error, counts.pending)


def _domains(report: RunReport, links: ResultLinks) -> Table:
    outside, lines = report.outside.total, sorted(report.domains, key=_lowest_first)
    return Table(
        "domains",
        "By domain",
        (Column("domain", "Domain", "link"), Column("depth", "Level", "count"), *LINE_COLUMNS),
        [_line(line, links, line.depth, domain=line.name) for line in lines],
        note="A domain includes the domains below it; a result counts once in each."
        + (f" {count(outside)} results are in no domain." if outside else ""),
        empty="No tag of this run is a domain. Give tags the kind “domain” to group runs by them.",
        **_folded(lines, "domain"),
    )


def _tags(report: RunReport, links: ResultLinks) -> Table:
    lines = sorted(report.tags, key=_lowest_first)
    return Table(
        "tags",
        "By tag",
        (Column("tag", "Tag", "link"), *LINE_COLUMNS),
        [_line(line, links, tag=line.name) for line in lines],
        note="A result counts once for each tag that its issue had at launch.",
        empty="The issues of this run had no tags at launch.",
        **_folded(lines, "tag"),
    )


def _folded(lines: Sequence[Line], one: str, *, most: int = MAX_TAGS) -> dict[str, Any]:
    """Fold what passed everything, and what is too much for a first look."""
    whole = len(list(takewhile(_is_whole, reversed(lines))))
    shown = min(most, len(lines) - whole if whole >= FEW else len(lines))
    said = "passed everything" if len(lines) - shown <= whole else "more"
    return folded(len(lines), shown, one, said=said)


def _lowest_first(line: Line) -> tuple[float, bool]:
    return 2.0 if line.rate.share is None else line.rate.share, _is_whole(line)


def _is_whole(line: Line) -> bool:
    return line.counts.passed == line.counts.total


def _origins(report: RunReport, links: ResultLinks) -> Table:
    return Table(
        "origins",
        "By origin of the test",
        (Column("origin", "Tests", "link"), *LINE_COLUMNS),
        [_line(line, links, origin=line.name) for line in report.origins],
        note="Synthetic tests were drafted by a model and accepted by a person.",
    )


def _sealing(found: Sealing) -> Table:
    columns = (
        Column("tests", "Tests"),
        Column("n", "Results", "count"),
        Column("rate", "Passed", "rate"),
        Column("difference", "Open minus these", "points"),
        Column("low", "95% CI from", "points"),
        Column("high", "to", "points"),
    )
    rows = []
    for stratum in found.strata:
        compared = found.difference if stratum.key == "never" else None
        figures = (compared.value, *compared.interval) if compared else (None, None, None)
        rows.append((stratum.name, stratum.total, stratum.rate, *figures))
    note = f"{_open_minus_sealed(found.difference)} {DEFINITION}"
    return Table("sealing", "Open and sealed tests", columns, rows, note=note)


def _open_minus_sealed(found: Difference | None) -> str:
    if found is None:
        return "No difference: no open test, or no sealed and never exposed one, is scored."
    low, high = map(points, found.interval)
    lead = f"Open minus sealed and never exposed: {points(found.value)} (95% {low} to {high}, "
    lead += f"{found.method})."
    if not found.is_certain:
        return f"{lead} The difference is not significant."
    if found.value > 0:
        return f"{lead} Significant: the model may know the open tests, or they are easier."
    return f"{lead} Significant, but known tests would show the opposite."


def _flaky(found: FlakyTests, links: ResultLinks) -> Table:
    columns = (
        Column("test", "Test", "excerpt"),
        Column("test_id", "ID"),
        Column("issue", "Issue"),
        Column("passed", "Repeats passed", "count"),
        Column("n", "Of", "count"),
    )
    rows = [
        (links.line(_readable(t.prompt), test=t.test_id), t.test_id, t.issue, t.passed, t.n)
        for t in found.tests
    ]
    left = found.total - len(found.tests)
    note = f"{count(found.total)} of {count(found.repeated)} tests passed in some of their repeats."
    note += f" The {count(len(found.tests))} flakiest are shown." if left else ""
    empty = (
        f"All {count(found.repeated)} tests had the same outcome in each repeat."
        if found.repeated
        else "No test has two scored repeats yet."
    )
    return Table("flaky", "Flaky tests", columns, rows, note=note, empty=empty)


def _weights(report: RunReport) -> Table:
    columns = (
        Column("test_id", "Test"),
        Column("issue", "Issue"),
        Column("weight", "Weight", "number"),
    )
    rows = [
        (Linked(test, row_url("admin:issues_test_change", test)), issue, weight)
        for test, issue, weight in report.heavy
    ]
    note = "All other tests have weight 1."
    return Table("weights", "Weighted tests", columns, rows, note=note, look="folded")


def _overrides(report: RunReport) -> Table:
    found = {one.review: one for one in report.overrides}
    note = ""
    if report.reviews:
        shown = f" The newest {count(len(found))} are listed." if len(found) == MAX_SHOWN else ""
        note = f"{report.reviews.sentence}{shown} The card “Overturned” leads to all of them."
    empty = "No result is reviewed. Open a result you doubt and enter your verdict."
    return results_table(
        "Human overrides",
        list(found),
        lambda some: [found[one] for one in some],
        note=note,
        names_run=False,
        empty=report.reviews.sentence if report.reviews else empty,
    )


def results(report: RunReport, rows: Iterable[Row], *, narrows: bool) -> Table:
    """Return the first rows; the note counts those left out."""
    total = report.grid.total
    shown = [_result(row) for row in islice(rows, MAX_RUN_ROWS)]
    parts = ["Filtered as on the page."] if narrows else []
    if total > len(shown):
        parts.append(f"The first {count(len(shown))} of {count(total)}; CSV and JSON have all.")
    columns = (
        Column("test_id", "Test"),
        Column("repeat", "Repeat", "count"),
        Column("issue", "Issue"),
        Column("outcome", "Outcome", "outcome"),
        Column("score", "Score", "score"),
        Column("judges", "Judges"),
        Column("prompt", "Prompt", "excerpt"),
        Column("answer", "Answer", "excerpt"),
    )
    empty = "No result matches."
    return Table("results", "Results", columns, shown, note=" ".join(parts), empty=empty)


def _result(row: Row) -> tuple[Cell, ...]:
    outcome = f"{row.outcome}: {words(row.error_kind)}" if row.error_kind else row.outcome
    judges = tuple(judge.in_words for judge in row.judges)
    texts = (_readable(row.prompt), _readable(row.answer))
    return (row.test_id, row.repeat, row.issue, outcome, row.score, judges, *texts)


def _readable(text: str | None) -> str:
    return "sealed" if text is None else text
