"""The report of a run as a document: its page, files and API all read it."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from evalhub.display.formatting import between, count, counted, few, percent, usd
from evalhub.display.outcomes import OUTCOMES
from evalhub.llm.completion import Ending
from evalhub.llm.errors import CallErrorKind
from evalhub.statistics.agreement.alpha_bands import Band
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.cells import words
from reports.documents.document import Document, Estimate, Fact, Link
from reports.documents.links import page_url, row_url
from reports.overrides.rule import ALL
from reports.queries.result_rows import Row
from reports.run import run_tables
from reports.run.query import RunReport
from reports.run.result_links import ResultLinks
from reports.run.usage_tables import MODEL_PAGE
from runs.answering.endings import Handling
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.comparison.scoring_versions import OF_ANSWERS, OF_VERDICTS, Part, earlier, judged_earlier
from runs.result_list.filters import Filters

KINDS = 3
"""Kinds of partly judged answers that are named in sentences; a table has all."""

HANDLED = {
    Handling.JUDGED: "Such answers are judged as they are",
    Handling.FAILED: "Such answers count as failed",
    Handling.ERROR: "Such answers count as errors",
}


def document_of_run(
    report: RunReport,
    filters: Filters | None = None,
    rows: Iterable[Row] | None = None,
    *,
    keys: Sequence[str] | None = None,
    in_words: bool = True,
) -> Document:
    """Build the report of a run.

    Args:
        filters: The view of the results that links keep.
        rows: The results that the grid shows, to be the last table; None: without that table.
        keys: The tables to make, in this order; None: all.
        in_words: With sentences, facts and warnings.
    """
    filters = filters or Filters()
    links = ResultLinks(report.run, filters)
    tables = run_tables.of_figures(report, links, keys)
    if rows is not None:
        tables.append(run_tables.results(report, rows, narrows=filters.narrows))
    return Document(
        title=f"{report.run.model_name} on {report.run.label}",
        sentences=tuple(_sentences(report)) if in_words else (),
        facts=tuple(_facts(report, links)) if in_words else (),
        tables=tuple(tables),
        warnings=tuple(_warnings(report)) if in_words else (),
        actions=tuple(_actions(report, links)) if in_words else (),
        labels=report.labels,
        runs=(report.run.pk,),
    )


def _sentences(report: RunReport) -> Iterator[str]:
    rate, counts = report.rate, report.counts
    if rate.n:
        interval = f" (95% CI {between(rate.interval)}, {rate.method})" if rate.interval else ""
        passed = f"{count(rate.passed)} of {count(rate.n)} scored results passed"
        yield f"{passed}: {percent(rate.share)}{interval}."
    else:
        yield "No result is scored yet."
    excluded = [OUTCOMES[name].counted(n) for name, n in counts.excluded.items() if n]
    if excluded:
        yield f"Excluded from the rates: {', '.join(excluded)}."
    if refused := dict(report.errors).get(CallErrorKind.CONTENT_FILTERED):
        yield f"Refused by the provider's policy: {count(refused)} of the errors."
    if kinds := report.progress.partly_judged:
        more = sum(kind.answers for kind in kinds[KINDS:])
        parts = [*map(str, kinds[:KINDS]), *([f"in other parts: {count(more)}"] if more else [])]
        yield f"{'; '.join(parts).capitalize()}."
    if counts.lowest_passed < counts.highest_passed and report.progress.state == "done":
        yield (
            f"Depending on what is missing, {count(counts.lowest_passed)} to "
            f"{count(counts.highest_passed)} of {counted(counts.total, 'result')} may pass."
        )
    found = report.flaky
    if found and found.total:
        yield (
            f"{count(found.total)} of {count(found.repeated)} tests are flaky: "
            "some of their repeats passed and others failed."
        )
    yield from _taken(report)
    if report.heavy:
        yield "Tests are weighted: this affects the score, not the pass rate."


def _warnings(report: RunReport) -> Iterator[str]:
    if report.progress.is_live:
        yield "The run is still in progress: these figures will change."
    elif report.progress.state != "done":
        yield f"The run is {report.progress.state}. {report.progress.reason}".strip()
    elif not report.counts.is_enough:
        yield (
            f"Incomplete: {scored_words(report.counts.scored, report.counts.total)}, less than "
            f"{LEAST_IN_WORDS}. Leaderboards, capabilities, drift, trends, baselines and the gate "
            "leave this run out until what failed is retried or scored."
        )
    for ending, n in report.progress.endings.items():
        of = f"{count(n)} of {counted(report.counts.total, 'answer')}"
        yield (
            f"{of} {'was' if n == 1 else 'were'} {Ending(ending).words}. "
            f"{HANDLED[Handling(report.run.handling(ending))]}."
        )
    yield from _versions(report)
    if report.juries_differ:
        yield "Its judge runs used different juries: do not compare their scores."
    for refused in report.refused:
        calls = counted(refused.calls, "call")
        yield f"{refused.model} refuses {refused.name} ({refused.value}): {calls} made without it."
    panel = report.panel
    if panel is None:
        return
    if panel.band in (Band.TENTATIVE, Band.UNRELIABLE):
        alpha = words(Estimate(panel.alpha, panel.units, panel.interval), "estimate")
        yield f"The judges' agreement is {panel.band}: alpha {alpha}."
    for judge in panel.judges:
        if judge.fails_often:
            yield (
                f"{judge.name} failed {judge.failed} of {judge.asked} judgments. "
                "Check its model, timeout and token limit."
            )
    for judge in panel.models:
        if judge.judges_itself:
            yield (
                f"{judge.model} judges its own answers, and models favour themselves. "
                "This was allowed at launch."
            )
    for note in dict.fromkeys(judge.note for judge in panel.models if judge.note):
        yield f"About {few([str(one.model) for one in panel.models if one.note == note])}: {note}"


def _actions(report: RunReport, links: ResultLinks) -> Iterator[Link]:
    """Yield links to the answers and models that the warnings name."""
    for ending, n in report.progress.endings.items():
        text = f"Show {counted(n, 'answer')} {Ending(ending).words}"
        yield Link(text, links.results(ending=ending))
    for pk, model in dict.fromkeys((one.model_id, one.model) for one in report.refused):
        yield Link(f"See what {model} refuses", row_url(MODEL_PAGE, pk))


def _taken(report: RunReport) -> Iterator[str]:
    statistics = report.current.statistics if report.current else {}
    if taken := statistics.get("taken"):
        n, usd_saved = taken["judgments"], taken["saved_usd"]
        asked = sum(sum(by_state.values()) for by_state in statistics["judges"].values())
        saved = f", which saved {usd(Decimal(usd_saved))}" if usd_saved else ""
        yield (
            f"{count(n)} of {counted(n + asked, 'verdict')} {'was' if n == 1 else 'were'} taken "
            f"from equal requests in earlier runs{saved}."
        )


def _versions(report: RunReport) -> Iterator[str]:
    judged = report.current.provenance_parts if report.current else {}
    if not earlier(report.run.provenance_parts).isdisjoint(OF_ANSWERS):
        yield (
            "An earlier version of EvalHub asked the model and read its answers: do not compare "
            "this run with new ones."
        )
    if not judged_earlier(judged):
        pass
    elif any(len(judged.get(part, ())) > 1 for part in OF_VERDICTS):
        yield (
            "EvalHub was upgraded in the middle of the judge run: its judgments cannot be "
            "compared. Re-judge the run."
        )
    else:
        yield (
            "Judged by an earlier version of EvalHub: re-judge the run to compare it with new ones."
        )
    if Part.CHECK in earlier(judged):
        yield (
            "An earlier version of EvalHub ran the checks: run them again, at no cost, to compare "
            "the run with new ones."
        )


def _facts(report: RunReport, links: ResultLinks) -> Iterator[Fact]:
    found = report.score
    about = ["weighted by test"] if report.heavy else []
    if found.interval:
        about.append(f"95% CI, {Method.BY_ISSUE}")
    value = Estimate(found.mean, found.n, found.interval, found.total)
    yield Fact("score", "Score", value, "estimate", ", ".join(about))
    note = f"95% CI, {report.rate.method}" if report.rate.interval else ""
    yield Fact("pass_rate", "Pass rate", report.rate, "rate", note)
    url, note = page_url("overrides", run=report.run, shown=ALL), ""
    if report.reviews:
        note = f"of {counted(len(report.reviews), 'result')} reviewed by annotators"
    yield Fact("overturned", "Overturned", report.reviews.overturned, "count", note, url)
    url = links.results(disputed=True)
    yield Fact("disputed", "Disputed", report.disputed, "count", "", url)
    if report.panel:
        units = f"alpha, over {counted(report.panel.units, 'criterion', 'criteria')}"
        url = page_url("judge_reliability", tab="judges", run=report.run)
        alpha = Estimate(report.panel.alpha, report.panel.units, report.panel.interval)
        yield Fact("alpha", "Judge agreement", alpha, "estimate", units, url)
