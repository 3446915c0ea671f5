"""Tables of judges against people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from evalhub.formatting import percent
from evalhub.models import User
from reports.documents.document import Cell, Column, Estimate, Link, Linked, Table
from reports.documents.links import page_url, row_url
from reports.documents.rate_cells import resampled_share, share_of
from reports.judge_reliability.accuracy_rule import Checked, Corrected, Measured, Sample
from reports.judge_reliability.figure import confusion
from reports.judge_reliability.humans.answer_names_query import Names, names_of
from reports.judge_reliability.humans.corrections_query import JudgedRun
from reports.judge_reliability.judges.concerns_rule import FEWEST_OF_EACH
from reports.queries.human_agreement import Calibration, Choice
from runs.figures.tallies import Rate
from runs.models import Outcome

CELLS = {
    "true_pass": "both passed it",
    "false_pass": "the judge passed what people failed",
    "false_fail": "the judge failed what people passed",
    "true_fail": "both failed it",
}
"""The cells of the matrix, by the names of `JudgeCounts`, row by row."""

ANY = "both ways in which they differ"

VERDICTS = {
    "true_pass": (Outcome.PASSED.value, Outcome.PASSED.value),
    "false_pass": (Outcome.PASSED.value, Outcome.FAILED.value),
    "false_fail": (Outcome.FAILED.value, Outcome.PASSED.value),
    "true_fail": (Outcome.FAILED.value, Outcome.FAILED.value),
}
"""What the judge and what people said."""

MOST = 1000
"""Answers that are listed."""

FEWEST = 20
"""On fewer answers no more is said of a judge."""

NOBODY = "People have judged no answers of finished runs yet: open results and give your verdict."


@dataclass(frozen=True)
class View:
    """What is looked at in detail.

    Attributes:
        shown: The judge or jury on this sample; None where nothing was measured.
        cell: Whose answers are listed, one of `CELLS`; "" for those on which they differ.
        wanted: The party that was asked for and is not there; "".
        state: The rest of the address.
    """

    sample: Sample
    shown: Measured | None
    cell: str
    wanted: str
    name: str
    state: Mapping[str, Any]

    @property
    def accuracy(self) -> Rate | None:
        return _accuracy(self.shown) if self.shown else None

    @property
    def kappa(self) -> Estimate | None:
        return _kappa(self.shown) if self.shown else None

    def url(self, **changes: Any) -> str:
        """The same page with another judge, sample or cell."""
        party = self.shown.party if self.shown else None
        return page_url("calibration", **{**self.state, "party": party, **changes})


def _accuracy(line: Measured) -> Rate:
    same = line.counts.true_pass + line.counts.true_fail
    return resampled_share(same, line.n, line.intervals.accuracy)


def _precision(line: Measured) -> Rate:
    judged = line.counts.true_fail + line.counts.false_fail
    return resampled_share(line.counts.true_fail, judged, line.intervals.precision)


def _recall(line: Measured) -> Rate:
    failed = line.counts.true_fail + line.counts.false_pass
    return resampled_share(line.counts.true_fail, failed, line.intervals.recall)


def _sensitivity(line: Measured) -> Rate:
    passed = line.counts.true_pass + line.counts.false_fail
    return resampled_share(line.counts.true_pass, passed, line.intervals.sensitivity)


def _kappa(line: Measured) -> Estimate:
    return Estimate(line.kappa, line.n, line.intervals.kappa)


# Each of them ------------------------------------------------------------------------------------

MEASURED_COLUMNS = (
    Column("judge", "Judge or jury", "link", "Opens its matrix"),
    Column("accuracy", "Right", "rate", "It says what people say"),
    Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
    Column("precision", "Precision for “fail”", "rate", "Of what it fails, people fail too"),
    Column("recall", "Recall for “fail”", "rate", "Of what people fail, it fails too"),
    Column("note", "Note"),
)

SAMPLES = {
    Sample.DRAWN: "answers drawn at random, judged blind",
    Sample.ALL: "all answers that people judged",
}
TITLES = {
    Sample.DRAWN: f"On {SAMPLES[Sample.DRAWN]}",
    Sample.ALL: f"On {SAMPLES[Sample.ALL]}",
}
NOTES = {
    Sample.DRAWN: "Only this sample says how often a judge errs, and only from it is a pass rate "
    "corrected. Intervals are resampled by issue.",
    Sample.ALL: "A selected sample where people looked at what they doubted: do not take it for "
    "the judge's error. Intervals are resampled by issue.",
}
EMPTY = {
    Sample.DRAWN: "No answer was drawn at random by the review queue and judged blind.",
    Sample.ALL: NOBODY,
}


def measured_table(people: Calibration | None, view: View, sample: Sample) -> Table:
    lines = people.measured[sample] if people else []
    return Table(
        key=sample.value,
        title=TITLES[sample],
        columns=MEASURED_COLUMNS,
        rows=[_measured(line, people, view, sample) for line in sorted(lines, key=_jury_first)],
        note=NOTES[sample],
        empty=EMPTY[sample] if people else "Being computed.",
    )


def _jury_first(line: Measured) -> tuple[bool, int, str]:
    return (not line.party.startswith("jury"), -line.n, line.party)


def _measured(
    line: Measured, people: Calibration | None, view: View, sample: Sample
) -> tuple[Cell, ...]:
    assert people is not None  # it has lines
    party = people.parties[line.party]
    url = view.url(sample=sample.value, party=line.party) + "#figures"
    return (
        Link(party.name, url, "scripted" if party.is_scripted else ""),
        _accuracy(line),
        _kappa(line),
        _precision(line),
        _recall(line),
        " ".join(_notes(line)),
    )


def _notes(line: Measured) -> Iterator[str]:
    if line.is_informative is False and line.of_rarer >= FEWEST_OF_EACH:
        yield "It tells good from bad no better than a coin."
    if line.n < FEWEST:
        yield f"Fewer than {FEWEST} answers: hardly known."
    if line.is_lopsided:
        yield "One verdict is rare: kappa says little."


# One of them -------------------------------------------------------------------------------------


def figures_table(view: View) -> Table:
    """The same of the one that is looked at, each figure with what it says."""
    return Table(
        key="figures",
        title=f"In detail: {view.name}" if view.shown else "In detail",
        columns=(
            Column("figure", "Figure"),
            Column("value", "Of these answers", "rate"),
            Column("told", "What it says"),
        ),
        rows=list(_figures(view.shown)) if view.shown else [],
        note=f"Sample: {SAMPLES[view.sample]}.",
        empty=EMPTY[view.sample],
    )


def _figures(line: Measured) -> Iterator[tuple[Cell, ...]]:
    passed = line.counts.true_pass + line.counts.false_fail
    yield "Accuracy", _accuracy(line), "It says what people say."
    yield "Precision for “fail”", _precision(line), "Of what it fails, people fail too."
    yield "Recall for “fail”", _recall(line), "Of what people fail, it fails too (specificity)."
    yield "Sensitivity", _sensitivity(line), "Of what people pass, it passes too."
    yield "People passed", resampled_share(passed, line.n, None), "Of all answers of this sample."


def confusion_table(view: View) -> Table:
    """The matrix in rows, each of which opens its answers."""
    shown = view.shown
    return Table(
        key="confusion",
        title=f"Where it goes wrong: {view.name}" if shown else "Where it goes wrong",
        columns=(
            Column("judge", "It said", "outcome"),
            Column("people", "People said", "outcome"),
            Column("n", "Answers", "count"),
            Column("share", "Of all", "share"),
            Column("of_people", "Of what people said", "share"),
            Column("open", "Open", "link"),
        ),
        rows=[_cell(cell, shown, view) for cell in CELLS] if shown else [],
        note=f"Sample: {SAMPLES[view.sample]}.",
        empty=EMPTY[view.sample],
        draw=lambda: _figure(shown) if shown else None,
        describes="Answers by what the judge and what people said, darker where there are more",
    )


def _cell(cell: str, shown: Measured, view: View) -> tuple[Cell, ...]:
    n = getattr(shown.counts, cell)
    judge, people = VERDICTS[cell]
    alike = sum(getattr(shown.counts, other) for other in CELLS if VERDICTS[other][1] == people)
    url = view.url(sample=view.sample.value, cell=cell) + "#answers"
    return (
        judge,
        people,
        Linked(n, url),
        n / shown.n if shown.n else None,
        n / alike if alike else None,
        Link(CELLS[cell], url),
    )


def _figure(shown: Measured) -> dict[str, Any]:
    counts = [getattr(shown.counts, cell) for cell in CELLS]
    shares = [n / shown.n if shown.n else 0.0 for n in counts]
    texts = [f"{n:,}<br>{percent(share)}" for n, share in zip(counts, shares, strict=True)]
    return confusion([shares[:2], shares[2:]], [texts[:2], texts[2:]])


def answers_table(people: Calibration | None, view: View, reader: User) -> Table:
    """The answers of one cell, or all on which judge and people differ, the newest first."""
    listed = sorted(_listed(people, view), key=lambda row: -row.result)
    names = names_of(
        results=[row.result for row in listed[:MOST]],
        issues={row.issue for row in listed[:MOST]},
        runs={row.run for row in listed[:MOST]},
        reader=reader,
    )
    told = CELLS[view.cell] if view.cell else ANY
    return Table(
        key="answers",
        title=f"Answers: {told}",
        columns=(
            Column("result", "Result", "link"),
            Column("issue", "Issue"),
            Column("run", "Run", "link"),
            Column("judge", "It said", "outcome"),
            Column("people", "People said", "outcome"),
            Column("drawn", "Drawn at random"),
        ),
        rows=[_answer(row, view.sample, names) for row in listed[:MOST]],
        note=f"The newest {MOST:,} of {len(listed):,}." if len(listed) > MOST else "",
        empty="There are none.",
        look="long",
    )


def _listed(people: Calibration | None, view: View) -> Iterator[Checked]:
    wanted = [view.cell] if view.cell else ["false_pass", "false_fail"]
    for row in people.rows if people and view.shown else ():
        is_shown = view.shown is not None and row.party == view.shown.party
        if is_shown and row.counts_in(view.sample) and _cell_of(row, view.sample) in wanted:
            yield row


def _cell_of(row: Checked, sample: Sample) -> str:
    return (
        f"{'true' if row.said == row.truth(sample) else 'false'}_{'pass' if row.said else 'fail'}"
    )


def _answer(row: Checked, sample: Sample, names: Names) -> tuple[Cell, ...]:
    url = row_url("admin:runs_result_change", row.result)
    judge, people = VERDICTS[_cell_of(row, sample)]
    return (
        Link(f"result {row.result}", url if row.result in names.open_to else ""),
        names.issues.get(row.issue, ""),
        Link(names.runs.get(row.run, f"run {row.run}"), reverse("reports:run", args=[row.run])),
        judge,
        people,
        row.drawn is not None,
    )


# Pass rates --------------------------------------------------------------------------------------


def corrected_table(runs: Sequence[JudgedRun], corrected: Mapping[int, Corrected] | None) -> Table:
    return Table(
        key="corrected",
        title="Pass rates, corrected for the jury's known error",
        columns=(
            Column("run", "Run", "link"),
            Column("jury", "Jury"),
            Column("raw", "As judged", "rate", "By its judges alone, without people's overrides"),
            Column("corrected", "Corrected", "share"),
            Column("low", "From", "share", "Of its 95 % interval"),
            Column("high", "To", "share"),
            Column("difference", "Difference", "points"),
            Column("n", "Calibrated on", "count", "Answers drawn at random, judged blind"),
            Column("why_not", "Why not"),
        ),
        rows=[_run(run, (corrected or {}).get(run.judge_run.pk)) for run in runs],
        note="What people would have found, if the jury errs here as it does on the random sample: "
        "(p + sp − 1) / (se + sp − 1), cut off at 0 and 1. The interval resamples run and "
        "calibration together. It stands beside the pass rate and never replaces it.",
        empty="No run with a jury is done yet.",
    )


def _run(run: JudgedRun, found: Corrected | None) -> tuple[Cell, ...]:
    raw = _raw(run)
    share = found.share if found else None
    return (
        Link(str(run.judge_run.run), reverse("reports:run", args=[run.judge_run.run_id])),
        run.judge_run.jury_name,
        raw,
        share,
        found.low if found else None,
        found.high if found else None,
        share - raw.share if share is not None and raw.share is not None else None,
        found.n if found else None,
        found.why_not if found else "",
    )


def _raw(run: JudgedRun) -> Rate:
    """Repeats of one test are not independent: then Wilson's interval does not hold."""
    n = run.passed + run.failed
    if run.judge_run.run.repeats > 1:
        return resampled_share(run.passed, n, None)
    return share_of(run.passed, n)


# Where people's verdicts come from ---------------------------------------------------------------


def sources_table(found: Sequence[Choice]) -> Table:
    return Table(
        key="sources",
        title="How people came to what they judged",
        columns=(
            Column("chosen_by", "Chosen by"),
            Column("blind", "Blind", "text", "They saw no judge's verdict before their own"),
            Column("n", "Evaluations", "count"),
        ),
        rows=[(choice.chosen_by, choice.blind, choice.n) for choice in found],
        note="Only what the queue drew at random, and people judged blind, calibrates a judge.",
        empty=NOBODY,
    )
