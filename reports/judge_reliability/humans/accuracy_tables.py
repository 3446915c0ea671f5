"""Tables that compare judges with humans."""

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
from reports.judge_reliability.trust_rule import MIN_CHECKED, MIN_OF_EACH
from reports.queries.human_agreement import Calibration, Choice, Party
from runs.figures.tallies import Rate
from runs.models import Outcome

CELLS = {
    "true_pass": "both passed",
    "false_pass": "the judge passed, humans failed",
    "false_fail": "the judge failed, humans passed",
    "true_fail": "both failed",
}
"""The cells of the matrix, by the names of `JudgeCounts`, row by row."""

ANY = "all disagreements"

VERDICTS = {
    "true_pass": (Outcome.PASSED.value, Outcome.PASSED.value),
    "false_pass": (Outcome.PASSED.value, Outcome.FAILED.value),
    "false_fail": (Outcome.FAILED.value, Outcome.PASSED.value),
    "true_fail": (Outcome.FAILED.value, Outcome.FAILED.value),
}
"""The verdicts of the judge and of humans."""

MAX_LISTED = 1000

NO_EVALUATIONS = (
    "No answer of a finished run has a human evaluation yet. Open a result and give your verdict."
)


@dataclass(frozen=True)
class View:
    """The judge or jury shown in detail.

    Attributes:
        shown: Its measurements on this sample; None where nothing was measured.
        cell: The one of `CELLS` whose answers are listed; "" for all disagreements.
        missing: The party that was asked for but is not in the sample; else "".
        state: The rest of the address.
    """

    sample: Sample
    shown: Measured | None
    cell: str
    missing: str
    name: str
    state: Mapping[str, Any]

    def url(self, **changes: Any) -> str:
        """Return the address of another judge, sample or cell."""
        party = self.shown.party if self.shown else None
        return party_url(**{**self.state, "party": party, **changes})


def party_url(**state: Any) -> str:
    """Return the address of one judge or jury compared with humans."""
    return page_url("judge_reliability", tab="humans", **state)


def accuracy(line: Measured) -> Rate:
    return resampled_share(line.right, line.n, line.intervals.accuracy)


def kappa(line: Measured) -> Estimate:
    return Estimate(line.kappa, line.n, line.intervals.kappa)


def party_link(party: Party, url: str) -> Link:
    return Link(party.name, url, "scripted" if party.is_scripted else "")


# All judges ---------------------------------------------------------------------------------------

SAMPLES = {
    Sample.DRAWN: "answers drawn at random, judged blind",
    Sample.ALL: "all answers with a human verdict",
}
NOTES = {
    Sample.DRAWN: "Only this sample shows a judge's error, and only from it are pass rates "
    "corrected. Intervals are resampled by issue.",
    Sample.ALL: "A selected sample if annotators looked at what they doubted: do not read it as "
    "the judge's error. Intervals are resampled by issue.",
}
EMPTY = {
    Sample.DRAWN: "No answer was drawn at random by a review queue and judged blind.",
    Sample.ALL: NO_EVALUATIONS,
}


def measured_table(humans: Calibration | None, view: View, sample: Sample) -> Table:
    lines = humans.measured[sample] if humans else []
    return Table(
        key=sample.value,
        title=f"On {SAMPLES[sample]}",
        columns=(
            Column("judge", "Judge or jury", "link", "Opens its matrix"),
            Column("accuracy", "Accuracy", "rate", "Same verdict as humans"),
            Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
            Column("precision", "Precision for “fail”", "rate", "Of its fails, failed by humans"),
            Column("recall", "Recall for “fail”", "rate", "Of humans' fails, found by the judge"),
            Column("sensitivity", "Sensitivity", "rate", "Of humans' passes, passed by the judge"),
            Column("passed", "Passed by humans", "rate"),
            Column("note", "Note"),
        ),
        rows=[_measured(line, humans, view, sample) for line in sorted(lines, key=_jury_first)],
        note=NOTES[sample],
        empty=EMPTY[sample] if humans else "Computing…",
    )


def _jury_first(line: Measured) -> tuple[bool, int, str]:
    return (not line.party.startswith("jury"), -line.n, line.party)


def _measured(
    line: Measured, humans: Calibration | None, view: View, sample: Sample
) -> tuple[Cell, ...]:
    assert humans is not None  # it has lines
    counts, intervals = line.counts, line.intervals
    passed = counts.true_pass + counts.false_fail
    failed = counts.true_fail + counts.false_pass
    judged_bad = counts.true_fail + counts.false_fail
    url = view.url(sample=sample.value, party=line.party) + "#confusion"
    return (
        party_link(humans.parties[line.party], url),
        accuracy(line),
        kappa(line),
        resampled_share(counts.true_fail, judged_bad, intervals.precision),
        resampled_share(counts.true_fail, failed, intervals.recall),
        resampled_share(counts.true_pass, passed, intervals.sensitivity),
        resampled_share(passed, line.n, None),
        " ".join(_notes(line)),
    )


def _notes(line: Measured) -> Iterator[str]:
    if line.is_informative is False and line.of_rarer >= MIN_OF_EACH:
        yield "No better than chance."
    if line.n < MIN_CHECKED:
        yield f"Fewer than {MIN_CHECKED} answers: too few."
    if line.is_lopsided:
        yield "One verdict is rare: kappa says little."


# One judge ----------------------------------------------------------------------------------------


def confusion_table(view: View) -> Table:
    shown = view.shown
    return Table(
        key="confusion",
        title=f"Confusion matrix: {view.name}" if shown else "Confusion matrix",
        columns=(
            Column("judge", "Judge", "outcome"),
            Column("humans", "Humans", "outcome"),
            Column("n", "Answers", "count"),
            Column("share", "Share", "share"),
            Column("of_humans", "Share of this human verdict", "share"),
            Column("open", "Open", "link"),
        ),
        rows=[_cell(cell, shown, view) for cell in CELLS] if shown else [],
        note=f"Sample: {SAMPLES[view.sample]}.",
        empty=EMPTY[view.sample],
        draw=lambda: _figure(shown) if shown else None,
        describes="Answers by verdict of the judge and of humans, darker where there are more",
    )


def _cell(cell: str, shown: Measured, view: View) -> tuple[Cell, ...]:
    n = getattr(shown.counts, cell)
    judge, human = VERDICTS[cell]
    of_human = sum(getattr(shown.counts, other) for other in CELLS if VERDICTS[other][1] == human)
    url = view.url(sample=view.sample.value, cell=cell) + "#answers"
    return (
        judge,
        human,
        Linked(n, url),
        n / shown.n if shown.n else None,
        n / of_human if of_human else None,
        Link(CELLS[cell], url),
    )


def _figure(shown: Measured) -> dict[str, Any]:
    counts = [getattr(shown.counts, cell) for cell in CELLS]
    shares = [n / shown.n if shown.n else 0.0 for n in counts]
    texts = [f"{n:,}<br>{percent(share)}" for n, share in zip(counts, shares, strict=True)]
    return confusion([shares[:2], shares[2:]], [texts[:2], texts[2:]])


def answers_table(humans: Calibration | None, view: View, reader: User) -> Table:
    """List the answers of one cell, or all disagreements, the newest first."""
    found = sorted(_listed(humans, view), key=lambda row: -row.result)
    listed = found[:MAX_LISTED]
    names = names_of(
        results=[row.result for row in listed],
        issues={row.issue for row in listed},
        runs={row.run for row in listed},
        reader=reader,
    )
    return Table(
        key="answers",
        title=f"Answers: {CELLS[view.cell] if view.cell else ANY}",
        columns=(
            Column("result", "Result", "link"),
            Column("issue", "Issue"),
            Column("run", "Run", "link"),
            Column("judge", "Judge", "outcome"),
            Column("humans", "Humans", "outcome"),
            Column("drawn", "Drawn at random"),
        ),
        rows=[_answer(row, view.sample, names) for row in listed],
        note=f"The newest {MAX_LISTED:,} of {len(found):,}." if len(found) > MAX_LISTED else "",
        empty="No answers.",
        look="long",
    )


def _listed(humans: Calibration | None, view: View) -> Iterator[Checked]:
    wanted = [view.cell] if view.cell else ["false_pass", "false_fail"]
    for row in humans.rows if humans and view.shown else ():
        is_shown = view.shown is not None and row.party == view.shown.party
        if is_shown and row.counts_in(view.sample) and _cell_of(row, view.sample) in wanted:
            yield row


def _cell_of(row: Checked, sample: Sample) -> str:
    return (
        f"{'true' if row.said == row.truth(sample) else 'false'}_{'pass' if row.said else 'fail'}"
    )


def _answer(row: Checked, sample: Sample, names: Names) -> tuple[Cell, ...]:
    url = row_url("admin:runs_result_change", row.result)
    judge, human = VERDICTS[_cell_of(row, sample)]
    return (
        Link(f"result {row.result}", url if row.result in names.open_to else ""),
        names.issues.get(row.issue, ""),
        Link(names.runs.get(row.run, f"run {row.run}"), reverse("reports:run", args=[row.run])),
        judge,
        human,
        row.drawn is not None,
    )


# Pass rates ---------------------------------------------------------------------------------------


def corrected_table(runs: Sequence[JudgedRun], corrected: Mapping[int, Corrected] | None) -> Table:
    return Table(
        key="corrected",
        title="Corrected pass rates",
        columns=(
            Column("run", "Run", "link"),
            Column("jury", "Jury"),
            Column("raw", "As judged", "rate", "By its judges alone, without human overrides"),
            Column("corrected", "Corrected", "share"),
            Column("low", "From", "share", "Of the 95 % interval"),
            Column("high", "To", "share"),
            Column("difference", "Difference", "points"),
            Column("n", "Calibrated on", "count", "Answers drawn at random, judged blind"),
            Column("why_not", "Reason if missing"),
        ),
        rows=[_run(run, (corrected or {}).get(run.judge_run.pk)) for run in runs],
        note="The pass rate that humans would find if the jury errs here as on the random sample: "
        "(p + sp − 1) / (se + sp − 1), clipped to 0 and 1. The interval resamples run and "
        "calibration together. It never replaces the pass rate.",
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
    """Leave out Wilson's interval where tests repeat: their results are not independent."""
    n = run.passed + run.failed
    if run.judge_run.run.repeats > 1:
        return resampled_share(run.passed, n, None)
    return share_of(run.passed, n)


# Origin of evaluations ----------------------------------------------------------------------------


def sources_table(found: Sequence[Choice]) -> Table:
    return Table(
        key="sources",
        title="Origin of human evaluations",
        columns=(
            Column("chosen_by", "Chosen by"),
            Column("blind", "Blind", "text", "No judge's verdict was shown before"),
            Column("n", "Evaluations", "count"),
        ),
        rows=[(choice.chosen_by, choice.blind, choice.n) for choice in found],
        note="Only answers drawn at random by a queue and judged blind calibrate judges.",
        empty=NO_EVALUATIONS,
    )
