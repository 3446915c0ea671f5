"""The sentences and tables of a release against the one before."""

from collections.abc import Iterator

from evalhub.display.charts import Figure
from evalhub.display.formatting import counted, few, usd
from evalhub.statistics.changes.change_test import ALPHA, MAY_FAIL_TOGETHER, METHOD
from evalhub.statistics.interval import Interval
from reports.compare.sentences import ChangedIssue, answer, issues_by_themselves
from reports.documents.document import Cell, Column, Link, Linked, Table
from reports.documents.links import page_url
from reports.overrides.rule import ALL
from reports.releases.figure import Slope, slope_chart
from reports.releases.query import ReleaseLine, ReleasesReport
from runs.figures.rate import Rate


def names_of(report: ReleasesReport) -> tuple[str, str]:
    """Return the names of both sides."""
    if not report.release:
        return "Run before", "Newest run"
    return (f"Release {report.before}" if report.before else "Before"), f"Release {report.release}"


def title_of(report: ReleasesReport) -> str:
    if not report.release:
        return "Newest runs against the runs before"
    against = f" against {report.before}" if report.before else ""
    return f"Release {report.release}{against}"


# In words ----------------------------------------------------------------------------------------


def headline(report: ReleasesReport) -> str:
    """Return how many models and issues changed, with the certainty."""
    if not report.lines:
        return ""
    compared, of = len(report.compared), counted(len(report.lines), "model")
    if report.is_pending:
        return f"{of} in this release: significance is being computed."
    if not compared:
        return f"None of {of} can be compared with itself in the release before."
    verdicts = [line.verdict for line in report.compared]
    moved = f"{verdicts.count('worse')} significantly worse, {verdicts.count('better')} better"
    if not any(verdicts):
        moved = "no significant change"
    models = counted(compared, "model")
    worse = counted(len(report.issues("worse")), "issue")
    return (
        f"{models} compared with {'itself' if compared == 1 else 'themselves'}: {moved} "
        f"(p ≤ {ALPHA:g}, Holm over {counted(compared, 'model')}); {worse} significantly worse "
        f"(Holm over {counted(report.tested_issues, 'issue')})."
    )


def line_sentence(line: ReleaseLine, report: ReleasesReport) -> str:
    """Return what became of one model; its issues are named where they changed by themselves."""
    assert line.before is not None
    if not line.comparable:
        return f"{line.name}: {line.comparable.reason_against(line.before.label)}"
    if line.change is None:
        return f"{line.name}: being computed."
    whole = line.change.whole
    rule = line.change.rule
    if len(report.compared) > 1:
        rule += f", Holm over {len(report.compared)} models"
    changed = [
        ChangedIssue(report.titles.get(issue, ""), change.net, change.p)
        for issue, change in line.change.issues.items()
    ]
    issues = issues_by_themselves(changed, over=report.tested_issues)
    return f"{line.name}: {answer(whole.tally, whole.net, whole.p, rule)} {issues}".rstrip()


def sentences(report: ReleasesReport) -> Iterator[str]:
    if report.lines:
        yield headline(report)
        yield from (line_sentence(line, report) for line in report.with_before)
    if new := [line.name for line in report.lines if line.before is None]:
        where = f"run in release {report.before}" if report.before else "earlier run"
        # Lines that can be compared come first: all that are left out have no such run either.
        yield f"Without a complete {where}: {few(new, most=3, of=len(new) + report.left_out)}."
    elif report.left_out:
        yield f"Not shown: {counted(report.left_out, 'more model')}."


# Tables ------------------------------------------------------------------------------------------


def models_table(report: ReleasesReport) -> Table:
    before, now = names_of(report)
    return Table(
        key="models",
        title="Models",
        columns=(
            Column("model", "Model", "link"),
            Column("before", before, "rate"),
            Column("now", now, "rate"),
            Column("net", "Net change", "points", "On tests that are the same in both runs"),
            Column("tests", "Tests", "count", "Tests compared between the runs"),
            Column("p", "p (Holm)", "p", "Corrected for all models listed"),
            Column("verdict", "Verdict", "verdict"),
            Column("overturned", "Overturned", note="Of the results reviewed by annotators"),
            Column("cost_before", f"Cost: {before.lower()}", "usd"),
            Column("cost", f"Cost: {now.lower()}", "usd", "Answers and judgments"),
        ),
        rows=[_model(line) for line in report.lines],
        note=f"p: {METHOD} {MAY_FAIL_TOGETHER} Rates are of all scored tests of a run, the change "
        "only of those that both runs share. Thick lines are significant changes; points without "
        "a line cannot be compared.",
        empty="No complete run yet. Launch a run to compare it with the next.",
        draw=lambda: _figure(report) if report.with_before else None,
        describes="Pass rate of each model in both releases",
    )


def _model(line: ReleaseLine) -> tuple[Cell, ...]:
    whole = line.change.whole if line.change else None
    compare = page_url("compare", runs=[line.before, line.run]) if line.before else ""
    reviews, url = line.reviews, page_url("overrides", run=line.run, shown=ALL)
    before = line.figures_before
    return (
        Link(line.name, line.run.get_absolute_url(), line.run.label),
        line.rate_before,
        line.figures.rate,
        Linked(whole.net, compare) if whole and whole.net is not None else None,
        whole.tally.n if whole else None,
        whole.p if whole else None,
        line.verdict or None,
        Linked(f"{reviews.overturned:,} of {len(reviews):,}", url) if len(reviews) else None,
        before.spent_usd if before else None,
        line.figures.spent_usd,
    )


def _figure(report: ReleasesReport) -> Figure:
    slopes = [
        Slope(
            name=line.name,
            look=line.look,
            before=_point(line.rate_before),
            now=_point(line.figures.rate),
            verdict=f"significantly {line.verdict}" if line.verdict else "",
            is_joined=line.is_joined,
        )
        for line in report.with_before
    ]
    return slope_chart(slopes, names_of(report))


def _point(rate: Rate | None) -> tuple[float | None, Interval | None]:
    return (rate.share, rate.interval) if rate else (None, None)


def issues_table(report: ReleasesReport) -> Table:
    rows = report.issues("worse")
    return Table(
        key="issues",
        title="Issues significantly worse",
        columns=(
            Column("issue", "Issue", "link"),
            Column("model", "Model", "link"),
            Column("net", "Net change", "points"),
            Column("worse", "Worse", "count"),
            Column("better", "Better", "count"),
            Column("tests", "Tests", "count", "Tests compared between the runs"),
            Column("p", "p (Holm)", "p", "Corrected for all issues of all models"),
        ),
        rows=[
            (
                Link(report.titles[issue], page_url("issue_timeline", issue=issue)),
                Link(
                    line.name,
                    page_url("compare", runs=[line.before, line.run], issue=issue),
                ),
                change.net,
                change.tally.worse,
                change.tally.better,
                change.tally.n,
                change.p,
            )
            for line, issue, change in rows
        ],
        note=f"{counted(len(report.issues('better')), 'issue')} significantly better. p: {METHOD} "
        f"Holm over {counted(report.tested_issues, 'issue')} of all models. {MAY_FAIL_TOGETHER}",
        empty="Being computed."
        if report.is_pending
        else f"None of {counted(report.tested_issues, 'issue')} is significantly worse."
        if report.tested_issues
        else "No run can be compared.",
    )


def cost_note(report: ReleasesReport) -> str:
    before = report.spent(before=True)
    parts = [f"before: {usd(before)}"] if before is not None else []
    if any(line.figures.is_cost_partial for line in report.lines):
        parts.append("partly not measured")
    return ", ".join([f"{counted(len(report.lines), 'run')}", *parts])
