"""Between judges: their agreement, coverage, failures, cost and biases."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalhub.display.formatting import counted
from evalhub.work.cost_total import spent_by
from reports.documents.cells import share_of, words
from reports.documents.document import Document, Estimate, Fact
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.judge_reliability.judges.judge_tables import (
    NO_JUDGE_RUN,
    agreement_table,
    concerns_table,
    failures_table,
    habits_table,
    judges_table,
    lengths_table,
)
from reports.judge_reliability.judges.pair_tables import (
    favour_sentences,
    matrix_table,
    pairs_table,
    position_bias_table,
    votes_table,
)
from reports.judge_reliability.judges.query import JudgeReport, judge_report
from runs.models import Run


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Report on the judges of the last judge runs, the concerns about them, and how they agree."""
    run = filters["run"]
    report = judge_report(reading, suite=filters["suite"], run=run, last=filters["last"])
    tables = [concerns_table(report)]
    if report.lines:
        tables += [
            judges_table(report),
            habits_table(report),
            position_bias_table(report.biases, report.lines, report.position.live),
            matrix_table(report, filters["measure"]),
            pairs_table(report),
            votes_table(report),
            agreement_table(report),
            failures_table(report),
            lengths_table(report),
        ]
    labels = {
        "scripted judge": any(judge.is_scripted for judge in report.judges),
        "judges its own answers": any(judge.own_answers for judge in report.judges),
    }
    return Document(
        title="Agreement between judges",
        sentences=tuple(_sentences(report, run, is_known=not reading.pending)),
        facts=tuple(_facts(report, run, is_known=not reading.pending)),
        tables=tuple(tables),
        warnings=tuple(_warnings(report)),
        labels=tuple(label for label, holds in labels.items() if holds),
    )


def _sentences(report: JudgeReport, run: Run | None, *, is_known: bool) -> Iterator[str]:
    """Report on the judges; without a conclusion on them until it `is_known`."""
    if not report.lines:
        yield NO_JUDGE_RUN
        return
    where = f"the judge runs of {run}" if run else counted(len(report.lines), "judge run")
    reliability = _reliability(report) if is_known else "their reliability is being computed"
    yield f"{counted(len(report.judges), 'judge')} in {where}: {reliability}."
    newest = report.lines[0]
    alpha, band, units, interval = newest.agreement
    if alpha is not None:
        estimate = words(Estimate(alpha, units, interval), "estimate")
        yield (
            f"In the newest judge run ({newest.jury}, {newest.run}) the judges agree with alpha "
            f"{estimate} over {counted(units, 'criterion', 'criteria')}: {band}."
        )
    yield from favour_sentences(report.biases)


def _reliability(report: JudgeReport) -> str:
    n = report.unreliable
    if not n:
        return "no serious concern found"
    if n == len(report.judges):
        return "unreliable" if n == 1 else "all of them are unreliable"
    return f"{n} of them {'is' if n == 1 else 'are'} unreliable"


def _facts(report: JudgeReport, run: Run | None, *, is_known: bool) -> Iterator[Fact]:
    if run is not None:
        url = page_url("judge_reliability", tab="judges")
        yield Fact("run", "Only this run", str(run), note="Show all", url=url)
    if not report.lines:
        return
    judges = f"of {counted(len(report.judges), 'judge')}"
    unreliable = report.unreliable if is_known else None
    yield Fact("unreliable", "Unreliable", unreliable, "count", judges)
    alpha, band, units, interval = report.lines[0].agreement
    yield Fact("alpha", "Newest alpha", Estimate(alpha, units, interval), "estimate", str(band))
    answered = sum(judge.answered for judge in report.judges)
    asked = sum(judge.asked for judge in report.judges)
    yield Fact("answered", "Coverage", share_of(answered, asked), "rate", "of judgments")
    spent = spent_by(line.judge_run for line in report.lines)
    more = f", {counted(spent.unpriced, 'call')} of unknown cost" if spent.unpriced else ""
    note = f"in {counted(len(report.lines), 'judge run')}{more}"
    yield Fact("spent", "Spent on judging", spent.usd, "usd", note)
    yield Fact(
        "drawn",
        "Evaluated by humans at random",
        report.humans.drawn if report.humans else None,
        "count",
        "answers; see Agreement with humans",
        page_url("judge_reliability", tab="humans"),
    )


def _warnings(report: JudgeReport) -> Iterator[str]:
    lopsided = sum(pair.is_lopsided for pair in report.pairs)
    if lopsided:
        yield (
            f"In {lopsided} of {counted(len(report.pairs), 'pair')} one verdict is rarer than 10%: "
            "kappa is then low however often two judges agree. Read the share of equal verdicts "
            "as well."
        )
