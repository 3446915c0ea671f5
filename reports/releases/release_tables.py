"""The sentences and tables of a release against the one before."""

from collections import defaultdict
from collections.abc import Iterator

from evalhub.display.charts import Figure
from evalhub.display.formatting import counted, few
from evalhub.statistics.changes.change_test import ALPHA, MAY_FAIL_TOGETHER, METHOD
from evalhub.statistics.interval import Interval
from reports.compare.sentences import ChangedIssue, answer, issues_by_themselves
from reports.documents.document import Cell, Column, Link, Linked, Table
from reports.documents.links import page_url
from reports.overrides.rule import ALL
from reports.releases.figure import Slope, slope_chart
from reports.releases.query import ReleaseLine, ReleasesReport, models_in
from runs.comparison.comparability_rule import Comparable
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
    compared = report.compared
    if report.is_pending:
        of = counted(models_in(report.lines), "model")
        return f"{of} in this release: significance is being computed."
    if not any(line.before for line in report.lines):
        what = "release" if report.release else "run"
        return f"Nothing to compare yet: the next {what} is compared with this one."
    if not compared:
        return "No model can be compared with itself in the release before."
    n, suites = models_in(compared), len({line.run.suite_id for line in compared})
    where = f" in {suites:,} suites" if suites > 1 else ""
    worse, better = (models_in(report.changed(verdict)) for verdict in ("worse", "better"))
    moved = f"{worse:,} significantly worse, {better:,} better"
    if not worse and not better:
        moved = "no significant change"
    issues = counted(report.compared_issues, "issue")
    return (
        f"{counted(n, 'model')} compared with {'itself' if n == 1 else 'themselves'}{where}: "
        f"{moved} (p ≤ {ALPHA:g}, Holm over {counted(len(compared), 'comparison')}); "
        f"{report.changed_issues('worse'):,} of {issues} significantly worse "
        f"(Holm over {counted(report.issue_comparisons, 'comparison')})."
    )


def line_sentence(line: ReleaseLine, report: ReleasesReport) -> str:
    """Return what became of one model; its issues are named where they changed by themselves."""
    if line.change is None:
        return f"{line.name}: being computed."
    whole = line.change.whole
    rule = line.change.rule
    if len(report.compared) > 1:
        rule += f", Holm over {len(report.compared):,} comparisons"
    return (
        f"{line.name}: {answer(whole.tally, whole.net, whole.p, rule)} {_issues_of(line, report)}"
    ).rstrip()


def _issues_of(line: ReleaseLine, report: ReleasesReport) -> str:
    changes = line.change.issues.items() if line.change else ()
    changed = [ChangedIssue(report.titles.get(pk, ""), one.net, one.p) for pk, one in changes]
    over = report.issue_comparisons
    return issues_by_themselves(changed, over=over, unit="comparison")


def sentences(report: ReleasesReport) -> Iterator[str]:
    if not report.lines:
        return
    yield headline(report)
    joined = [line for line in report.shown if line.is_joined]
    yield from (line_sentence(line, report) for line in joined)
    if any(_issues_of(line, report) for line in joined):
        yield MAY_FAIL_TOGETHER
    if new := [line.name for line in report.lines if line.before is None]:
        where = f"run in release {report.before}" if report.before else "earlier run"
        yield f"Without a complete {where}: {few(new, most=3)}."
    if len(report.shown) < len(report.lines):
        of = counted(len(report.lines), "run")
        yield f"{len(report.shown):,} of {of} are listed, significant changes first."


def refusals(report: ReleasesReport) -> list[str]:
    """Return each reason why listed models cannot be compared with themselves, once."""
    against = f"release {report.before}" if report.before else "the run before"
    names: dict[Comparable, list[str]] = defaultdict(list)
    for line in report.shown:
        if line.is_refused:
            names[line.comparable].append(line.name)
    return [f"{few(some)}: {why.reason_against(against)}" for why, some in names.items()]


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
            Column("p", "p (Holm)", "p", "Corrected for all comparisons"),
            Column("verdict", "Verdict", "verdict"),
            Column("overturned", "Overturned", note="Of the results reviewed by annotators"),
            Column("cost_before", f"Cost: {before.lower()}", "usd"),
            Column("cost", f"Cost: {now.lower()}", "usd", "Answers and judgments"),
        ),
        rows=[_model(line) for line in report.shown],
        note=f"p: {METHOD} {MAY_FAIL_TOGETHER} Rates are of all scored tests of a run, the change "
        "only of those that both runs share. Thick lines are significant changes; points without "
        "a line cannot be compared.",
        empty="No complete run yet. Launch a run to compare it with the next.",
        draw=lambda: _figure(report) if any(line.before for line in report.shown) else None,
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
        before.spent.usd if before else None,
        line.figures.spent.usd,
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
        for line in report.shown
        if line.before
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
            Column("p", "p (Holm)", "p", "Corrected for all issues of all comparisons"),
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
        note=f"{counted(report.changed_issues('better'), 'issue')} significantly better. "
        f"p: {METHOD} Holm over {counted(report.issue_comparisons, 'comparison')} of "
        f"{counted(report.compared_issues, 'issue')}. {MAY_FAIL_TOGETHER}",
        empty="Being computed."
        if report.is_pending
        else f"None of {counted(report.compared_issues, 'issue')} is significantly worse."
        if report.compared_issues
        else "No run can be compared.",
    )


def cost_note(report: ReleasesReport) -> str:
    cost, before = report.cost, report.cost_before
    parts = [counted(cost.runs, "run")]
    if cost.spent.unpriced:
        parts.append(f"{counted(cost.spent.unpriced, 'call')} of unknown cost")
    if before.runs:
        parts.append(f"before: {before.spent} in {counted(before.runs, 'run')}")
    return ", ".join(parts)
