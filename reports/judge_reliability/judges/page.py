"""Judges: how far they agree, what became of what they were asked, and who is to be doubted."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from evalhub.formatting import score
from reports.documents.document import Document, Estimate, Fact, Table
from reports.documents.links import page_url
from reports.documents.rate_cells import share_of
from reports.documents.reading import Page, Reading, ReportForm
from reports.judge_reliability.judges.concerns_rule import Trust
from reports.judge_reliability.judges.judge_tables import (
    agreement_table,
    concerns_table,
    failures_table,
    habits_table,
    judges_table,
    lengths_table,
)
from reports.judge_reliability.judges.pair_tables import (
    MEASURES,
    matrix_table,
    pairs_table,
    votes_table,
)
from reports.judge_reliability.judges.query import JudgeReport, judge_report
from runs.models import Run, Suite

LASTS = [(n, f"last {n} judgings") for n in (10, 30, 100)]


class JudgesForm(ReportForm):
    """Which judgings are told of, and how two judges are compared."""

    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )
    last = forms.TypedChoiceField(label="Judgings", choices=LASTS, coerce=int, initial=30)
    measure = forms.ChoiceField(label="Compare by", choices=MEASURES, initial="same")
    run = forms.ModelChoiceField(
        Run.objects.all(), widget=forms.HiddenInput, help_text="Judgings of this run only"
    )


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """The judges of the last judgings, what speaks against them, and how they compare."""
    run = asked["run"]
    report = judge_report(reading, suite=asked["suite"], run=run, last=asked["last"])
    return Document(
        question="Which judges can be relied on?",
        sentences=tuple(_sentences(report, run)),
        facts=tuple(_facts(report, run)),
        tables=(
            concerns_table(report),
            *(_tables(report, asked["measure"]) if report.lines else ()),
        ),
        warnings=tuple(_warnings(report)),
        labels=_labels(report),
    )


def _tables(report: JudgeReport, measure: str) -> tuple[Table, ...]:
    return (
        judges_table(report),
        habits_table(report),
        matrix_table(report, measure),
        pairs_table(report),
        votes_table(report),
        agreement_table(report),
        failures_table(report),
        lengths_table(report),
    )


def _sentences(report: JudgeReport, run: Run | None) -> Iterator[str]:
    if not report.lines:
        yield "No judging is done yet: there is nothing to tell of any judge."
        return
    where = f"the judgings of {run}" if run else _times(len(report.lines), "judge_run")
    doubted = sum(report.trust(judge) is Trust.DOUBTED for judge in report.judges)
    yield f"{_times(len(report.judges), 'judge')} in {where}: {_doubted(doubted, report)}."
    newest = report.lines[0]
    alpha, band, units = newest.agreement
    if alpha is not None:
        yield (
            f"In the newest judging ({newest.jury}, {newest.run}) the judges agree with alpha "
            f"{score(alpha)} over {_times(units, 'criterion')}: {band}."
        )


def _doubted(n: int, report: JudgeReport) -> str:
    if not n:
        return "nothing that was measured speaks gravely against any"
    if n == len(report.judges):
        return "not to be trusted" if n == 1 else "all of them are not to be trusted"
    return f"{n} of them {'is' if n == 1 else 'are'} not to be trusted"


def _times(n: int, thing: str) -> str:
    plural = "criteria" if thing == "criterion" else f"{thing}s"
    return f"{n:,} {thing if n == 1 else plural}"


def _facts(report: JudgeReport, run: Run | None) -> Iterator[Fact]:
    if run is not None:
        yield Fact("run", "Only this run", str(run), note="Show all", url=page_url("judges"))
    if not report.lines:
        return
    doubted = sum(report.trust(judge) is Trust.DOUBTED for judge in report.judges)
    yield Fact("doubted", "Not to be trusted", doubted, "count", f"of {len(report.judges)} judges")
    alpha, band, units = report.lines[0].agreement
    yield Fact("alpha", "Newest alpha", Estimate(alpha, units), "estimate", str(band))
    answered = sum(judge.answered for judge in report.judges)
    asked = sum(judge.asked for judge in report.judges)
    yield Fact("answered", "Verdicts that came", share_of(answered, asked), "rate")
    spent = [line.spent_usd for line in report.lines if line.spent_usd is not None]
    note = f"in the {len(spent)} of {len(report.lines)} judgings whose prices are known"
    yield Fact(
        "spent",
        "Spent on judging",
        sum(spent) if spent else None,
        "usd",
        note if spent else "no prices are known",
    )
    drawn = report.people.drawn if report.people else None
    yield Fact(
        "drawn",
        "Checked by people at random",
        drawn,
        "count",
        "answers; more on Judges against people",
        page_url("calibration"),
    )


def _warnings(report: JudgeReport) -> Iterator[str]:
    lopsided = sum(pair.is_lopsided for pair in report.pairs)
    if lopsided:
        yield (
            f"In {lopsided} of {_times(len(report.pairs), 'pair')} one verdict is rarer than 10%: "
            "kappa is then low however often two judges agree. Read the share of equal verdicts "
            "beside it."
        )


def _labels(report: JudgeReport) -> tuple[str, ...]:
    found = {
        "scripted judge": any(judge.is_scripted for judge in report.judges),
        "judges its own answers": any(judge.own_answers for judge in report.judges),
    }
    return tuple(label for label, holds in found.items() if holds)


JUDGES = Page(
    key="judges",
    title="Judges",
    summary="How far judges agree, their coverage, failures and cost, and which are doubted.",
    form=JudgesForm,
    build=build,
    icon="gavel",
)
