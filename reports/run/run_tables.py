"""The tables of a run's document, with their figures."""

from collections.abc import Iterator, Sequence
from itertools import islice

from evalhub.charts import Figure, OutcomeRow, RateRow, issue_bars, tag_bars
from evalhub.formatting import count, percent, score, seconds, usd, words
from evalhub.statistics.interval import Interval
from reports.documents.document import Cell, Column, Table
from reports.queries.rate_lines import Line
from reports.queries.result_rows import JudgeCell, Row
from reports.run.cost_query import Cost
from reports.run.figure import binned_costs, binned_times, outcome_ring
from reports.run.flaky_query import FlakyTests
from reports.run.jury_query import RunJury
from reports.run.latency_query import Latency
from reports.run.query import RunReport

MOST_ROWS = 200
"""Results that the document holds: the first of the grid."""

MOST_BARS = 40
TEXT = 400

LINE_COLUMNS = (
    Column("rate", "Passed", "rate", "Of the decided results, with its 95 % interval"),
    Column("failed", "Failed", "count"),
    Column("unscored", "Unjudged", "count"),
    Column("error", "Error", "count"),
    Column("pending", "Pending", "count"),
)


def of_figures(report: RunReport) -> Iterator[Table]:
    """Every table but that of the results."""
    yield _settings(report)
    yield _outcomes(report)
    yield _issues(report)
    if report.domains:
        yield _domains(report)
    yield _tags(report)
    if report.flaky:
        yield _flaky(report.flaky)
    if report.panel:
        yield _judges(report.panel)
    yield _latency(report.latency)
    yield _costs(report.cost)
    yield _overrides(report)
    yield _failures(report)


def _settings(report: RunReport) -> Table:
    run, current = report.run, report.current
    pairs: list[tuple[str, Cell]] = [
        ("Model", run.model_name),
        ("System prompt", run.system_prompt or "none"),
        ("Parameters", ", ".join(f"{k}={v}" for k, v in run.params.items()) or "the model's own"),
        ("Release", run.release or None),
        ("Repeats", run.repeats),
        ("Jury", current.jury_name or "unnamed" if current and report.panel else "people only"),
        ("Started", run.started_at),
        ("Finished", run.finished_at),
        ("Fingerprint of the tests", run.suite_fingerprint),
        ("Variant", run.variant_key),
        ("Fingerprint of the jury", current.jury_fingerprint if current else None),
    ]
    columns = (Column("what", "What"), Column("value", "Value"))
    return Table("settings", "What was run", columns, pairs)


def _outcomes(report: RunReport) -> Table:
    counts = report.counts
    rows = [
        (name, n, n / counts.total if counts.total else None)
        for name, n in counts.as_dict().items()
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
        note=f"Of {count(counts.total)} results.",
        draw=lambda: outcome_ring(counts.as_dict()) if counts.total else None,
        describes="A ring of the outcomes",
    )


def _issues(report: RunReport) -> Table:
    worst = [_rate_row(line) for line in report.issues[:MOST_BARS]]
    return Table(
        "issues",
        "Issues, worst first",
        (Column("issue_id", "No.", "count"), Column("issue", "Issue"), *LINE_COLUMNS),
        [(line.issue_id, line.name, *_line(line)) for line in report.issues],
        note=f"The figure shows the worst {MOST_BARS}." if len(report.issues) > MOST_BARS else "",
        empty="This run has no results.",
        draw=lambda: issue_bars(worst) if worst else None,
        describes="Bars of the failure rate of each issue with its interval",
    )


def _rate_row(line: Line) -> RateRow:
    passed, counts = line.rate.interval, line.counts
    failed = None if passed is None else Interval(1 - passed.high, 1 - passed.low)
    return RateRow(str(line.issue_id), line.name, counts.failed, counts.scored, failed)


def _line(line: Line) -> tuple[Cell, ...]:
    counts = line.counts
    return (line.rate, counts.failed, counts.unscored, counts.error, counts.pending)


def _domains(report: RunReport) -> Table:
    outside = report.outside.total
    return Table(
        "domains",
        "By domain",
        (Column("domain", "Domain"), Column("depth", "Depth", "count"), *LINE_COLUMNS),
        [(line.name, line.depth, *_line(line)) for line in report.domains],
        note="A domain holds all that lies in it."
        + (f" Results in no domain: {count(outside)}." if outside else ""),
        draw=lambda: _bars(report.domains),
        describes="Stacked bars of the outcomes of each domain",
    )


def _tags(report: RunReport) -> Table:
    return Table(
        "tags",
        "By tag",
        (Column("tag", "Tag"), *LINE_COLUMNS),
        [(line.name, *_line(line)) for line in report.tags],
        note="A result counts once for each tag that its issue had at launch.",
        empty="The issues of this run had no tags at launch.",
        draw=lambda: _bars(report.tags) if report.tags else None,
        describes="Stacked bars of the outcomes of each tag",
    )


def _bars(lines: Sequence[Line]) -> Figure:
    return tag_bars([OutcomeRow(line.name, line.name, line.counts.as_dict()) for line in lines])


def _flaky(found: FlakyTests) -> Table:
    columns = (
        Column("test_id", "Test", "count"),
        Column("issue", "Issue"),
        Column("prompt", "Prompt"),
        Column("passed", "Repeats passed", "count"),
        Column("n", "Of", "count"),
    )
    rows = [(t.test_id, t.issue, _clip(t.prompt), t.passed, t.n) for t in found.tests]
    left = found.total - len(found.tests)
    note = f"The most unsteady; {count(left)} more are left out." if left else ""
    empty = "No test came out differently in its repeats."
    return Table("flaky", "Flickering tests", columns, rows, note=note, empty=empty)


def _judges(panel: RunJury) -> Table:
    columns = (
        Column("judge", "Judge"),
        Column("part", "Part"),
        Column("answered", "Answered", "count"),
        Column("asked", "Asked", "count"),
        Column("repaired", "Repaired", "count"),
        Column("failed", "Failed", "count"),
    )
    rows = [
        (j.name, "backup" if j.is_backup else "judge", j.answered, j.asked, j.repaired, j.failed)
        for j in panel.judges
    ]
    return Table("judges", "Judges", columns, rows, note="A failed verdict is no vote.")


def _latency(found: Latency | None) -> Table:
    bars = [(bar.from_ms, bar.to_ms, bar.n) for bar in found.bars] if found else []
    within = found.percentiles if found else ()
    return Table(
        "latency",
        "Latency",
        (
            Column("from_ms", "From", "ms"),
            Column("to_ms", "Below", "ms"),
            Column("n", "Answers", "count"),
        ),
        bars,
        note=", ".join(f"{percent(share)} within {seconds(ms)}" for share, ms in within),
        empty="No times were measured.",
        draw=lambda: binned_times(bars) if bars else None,
        describes="A histogram of the answers' times",
    )


def _costs(found: Cost | None) -> Table:
    bars = [(bar.from_usd, bar.to_usd, bar.n) for bar in found.bars] if found else []
    return Table(
        "cost",
        "Cost of an answer",
        (
            Column("from_usd", "From", "usd"),
            Column("to_usd", "Below", "usd"),
            Column("n", "Answers", "count"),
        ),
        bars,
        note=_cost_note(found),
        empty="No cost is known.",
        draw=lambda: binned_costs(found.free, bars) if found else None,
        describes="A histogram of what answers cost",
    )


def _cost_note(found: Cost | None) -> str:
    if found is None:
        return ""
    within = [f"{percent(share)} within {usd(amount)}" for share, amount in found.percentiles]
    free = [f"{count(found.free)} of {count(found.n)} cost nothing"] if found.free else []
    return "; ".join([", ".join(within), *free])


def _overrides(report: RunReport) -> Table:
    rows = [
        (o.result_id, o.issue, o.judges_score, o.value, o.who, o.when, o.why or None)
        for o in report.overrides
    ]
    columns = (
        Column("result_id", "Result", "count"),
        Column("issue", "Issue"),
        Column("judges_score", "Judges said", "score"),
        Column("value", "Person says", "score"),
        Column("who", "Who"),
        Column("when", "When", "date"),
        Column("why", "Why"),
    )
    note = "The newest; the grid has them all." if len(rows) < report.overridden else ""
    empty = "Nobody has overridden a result."
    return Table("overrides", "What people changed", columns, rows, note=note, empty=empty)


def _failures(report: RunReport) -> Table:
    rows = [("results without an answer", words(kind), n) for kind, n in report.errors]
    rows += [(f"{one.role} calls", words(one.kind), one.n) for one in report.failures]
    columns = (Column("of", "Of"), Column("kind", "Kind"), Column("n", "How often", "count"))
    return Table("failures", "What went wrong", columns, rows, empty="No call failed.")


def results(report: RunReport, rows: Iterator[Row], *, narrows: bool) -> Table:
    """The first rows; how many are left out is said."""
    total = report.grid.total
    shown = [_result(row) for row in islice(rows, MOST_ROWS)]
    parts = ["As the page was filtered."] if narrows else []
    if total > len(shown):
        parts.append(f"The first {count(len(shown))} of {count(total)}; CSV and JSON have all.")
    columns = (
        Column("test_id", "Test", "count"),
        Column("repeat", "Repeat", "count"),
        Column("issue", "Issue"),
        Column("outcome", "Outcome", "outcome"),
        Column("score", "Score", "score"),
        Column("judges", "Judges"),
        Column("prompt", "Prompt"),
        Column("answer", "Answer"),
    )
    empty = "No result matches."
    return Table("results", "Results", columns, shown, note=" ".join(parts), empty=empty)


def _result(row: Row) -> tuple[Cell, ...]:
    outcome = f"{row.outcome}: {words(row.error_kind)}" if row.error_kind else row.outcome
    votes = tuple(_vote(vote) for vote in row.votes)
    texts = (_clip(row.prompt), _clip(row.answer))
    return (row.test_id, row.repeat + 1, row.issue, outcome, row.score, votes, *texts)


def _vote(vote: JudgeCell) -> str:
    return f"{vote.judge}: {'failed' if vote.value is None else score(vote.value)}"


def _clip(text: str | None) -> str:
    """Its beginning; None may not be read."""
    if text is None:
        return "sealed"
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"
