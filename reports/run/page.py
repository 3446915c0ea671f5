"""The report of a run as a document, from which its Markdown and its HTML file are made."""

from collections.abc import Iterator

from evalhub.formatting import between, count, percent, score
from evalhub.outcomes import OUTCOMES
from reports.documents.document import Document, Estimate, Fact
from reports.queries.result_rows import Row
from reports.run import run_tables
from reports.run.query import RunReport


def document_of_run(report: RunReport, rows: Iterator[Row], *, narrows: bool = False) -> Document:
    """All figures of the run, and its first results.

    Args:
        rows: The results that the grid shows, texts as its reader may read them.
        narrows: Whether the grid leaves some out.
    """
    return Document(
        question=f"How did {report.run.model_name} do in {report.run.label}?",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(*run_tables.of_figures(report), run_tables.results(report, rows, narrows=narrows)),
        warnings=tuple(_warnings(report)),
        labels=report.labels,
    )


def _sentences(report: RunReport) -> Iterator[str]:
    rate, counts = report.rate, report.counts
    if rate.n:
        interval = f" (95% CI {between(rate.interval)})" if rate.interval else ""
        passed = f"{count(rate.passed)} of {count(rate.n)} scored results passed"
        yield f"{passed}: {percent(rate.share)}{interval}."
    else:
        yield "No result is scored yet."
    said = [OUTCOMES[name].counted(n) for name, n in counts.excluded.items() if n]
    if said:
        yield f"Excluded from the rates: {', '.join(said)}."
    found = report.flaky
    if found and found.total:
        yield (
            f"{count(found.total)} of {count(found.repeated)} tests are flaky: "
            "some of their repeats passed and others failed."
        )


def _warnings(report: RunReport) -> Iterator[str]:
    if report.progress.is_live:
        yield "The run was still in progress: these figures will change."
    elif report.progress.state != "done":
        yield f"The run is {report.progress.state}. {report.progress.reason}".strip()
    if report.juries_differ:
        yield "Its judge runs used different juries: do not compare their scores."
    panel = report.panel
    if panel and panel.is_doubtful:
        yield f"The judges' agreement is {panel.band}: alpha {score(panel.alpha)}."
    for judge in panel.failing if panel else ():
        yield f"{judge.name} failed {judge.failed} of {judge.asked} judgments."


def _facts(report: RunReport) -> Iterator[Fact]:
    found = report.score
    value = Estimate(found.mean, found.n, found.interval)
    yield Fact("score", "Score", value, "estimate", "weighted" if report.heavy else "")
    yield Fact("pass_rate", "Pass rate", report.rate, "rate")
    for name, n in report.counts.as_dict().items():
        yield Fact(
            name, OUTCOMES[name].label, n, "count", f"of {count(report.counts.total)} results"
        )
    yield Fact("overridden", "Overridden by people", report.overridden, "count")
    yield Fact("disputed", "Disputed", report.disputed, "count")
    if report.panel:
        units = f"over {count(report.panel.units)} criteria"
        yield Fact("alpha", "Agreement of judges (alpha)", report.panel.alpha, "score", units)
    usage = report.usage
    known = f"known for {count(usage.with_cost)} of {count(usage.answered)}"
    yield Fact("cost_usd", "Cost of the answers", usage.cost_usd, "usd", known)
    if report.panel:
        known = f"known for {count(report.panel.with_cost)} of {count(report.panel.assessed)}"
        yield Fact("judges_cost_usd", "Cost of judging", report.panel.cost_usd, "usd", known)
