"""Tables that compare judges with humans."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalhub.display.charts import share_label
from evalhub.models import User
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD
from reports.documents.document import Cell, Column, Estimate, Link, Linked, Table, folded
from reports.documents.links import page_url, row_url, run_url
from reports.judge_reliability.accuracy_rule import Checked, Corrected, Measured, Sample
from reports.judge_reliability.figure import confusion
from reports.judge_reliability.humans.corrections_query import JudgedRun, Names, names_of
from reports.judge_reliability.trust_rule import Evidence, HumanProof
from reports.queries.human_agreement import Calibration, Choice, Party
from runs.figures.rate import Rate, rate_of_issues
from runs.models import Outcome

CELLS = {
    "true_pass": "both passed",
    "false_pass": "the judge passed, humans failed",
    "false_fail": "the judge failed, humans passed",
    "true_fail": "both failed",
}
"""The cells of the matrix, by the names of `JudgeCounts`, row by row."""

ANY = "all disagreements"

PASSED, FAILED = Outcome.PASSED.value, Outcome.FAILED.value
VERDICTS = {
    "true_pass": (PASSED, PASSED),
    "false_pass": (PASSED, FAILED),
    "false_fail": (FAILED, PASSED),
    "true_fail": (FAILED, FAILED),
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
    return rate_of_issues([(c.true_pass + c.true_fail, sum(c)) for c in line.by_issue], answers=1)


def precision(line: Measured) -> Rate:
    """Return the share of its fails that humans fail too."""
    fails = [(c.true_fail, c.true_fail + c.false_fail) for c in line.by_issue]
    return rate_of_issues(fails, answers=1)


def human_passes(line: Measured) -> Rate:
    return rate_of_issues([(c.true_pass + c.false_fail, sum(c)) for c in line.by_issue], answers=1)


RATE_COLUMNS = (
    Column("sensitivity", "Sensitivity", "rate", "Of human passes, passed by the judge"),
    Column("specificity", "Specificity", "rate", "Of human fails, failed by the judge"),
)
"""The columns of `rates`."""


def rates(evidence: Evidence) -> tuple[Rate, Rate]:
    """Return the sensitivity and the specificity."""
    passes, fails = (rate_of_issues(side.issues, answers=1) for side in evidence.sides)
    return passes, fails


def kappa(line: Measured) -> Estimate:
    return Estimate(line.kappa, line.n, line.intervals.kappa)


def party_link(party: Party, url: str) -> Link:
    return Link(party.name, url, "scripted" if party.is_scripted else "")


SAMPLES = {
    Sample.DRAWN: "answers drawn at random, judged blind",
    Sample.ALL: "all answers with a human verdict",
}
KAPPA_NOTE = f"Interval of kappa: {KAPPA_METHOD}."
NOTES = {
    Sample.DRAWN: "Only this sample shows a judge's error, and only from it are pass rates "
    f"corrected. {KAPPA_NOTE}",
    Sample.ALL: "A selected sample if annotators looked at what they doubted: do not read it as "
    f"the judge's error. {KAPPA_NOTE}",
}
EMPTY = {
    Sample.DRAWN: "No answer was drawn at random by a review queue and judged blind.",
    Sample.ALL: NO_EVALUATIONS,
}


Proofs = Mapping[str, HumanProof]


def measured_table(
    humans: Calibration | None, view: View, sample: Sample, proofs: Proofs | None = None
) -> Table:
    """Return the figures of each party; `proofs` are what humans have shown of them."""
    rows = list(_measured(humans, view, sample, proofs or {})) if humans else []
    again = humans and sample is Sample.ALL and humans.measured[Sample.DRAWN]
    return Table(
        key=sample.value,
        title=f"On {SAMPLES[sample]}",
        columns=(
            Column("judge", "Judge or jury", "link", "Opens its matrix"),
            Column("accuracy", "Accuracy", "rate", "Same verdict as humans"),
            Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
            Column("precision", "Precision for “fail”", "rate", "Of its fails, failed by humans"),
            *RATE_COLUMNS,
            Column("passed", "Passed by humans", "rate"),
            Column("note", "Note"),
        ),
        rows=rows,
        **(
            folded(len(rows), 0, "judge or jury", "judges and juries", said="on these")
            if again
            else {}
        ),
        note=NOTES[sample],
        empty=EMPTY[sample] if humans else "Computing…",
    )


def jury_first(line: Measured) -> tuple[bool, int, str]:
    """Sort juries first, then the parties with most answers."""
    return (not line.party.startswith("jury"), -line.n, line.party)


def _measured(
    humans: Calibration, view: View, sample: Sample, proofs: Proofs
) -> Iterator[tuple[Cell, ...]]:
    for line in sorted(humans.measured[sample], key=jury_first):
        url = view.url(sample=sample.value, party=line.party) + "#confusion"
        proof = proofs.get(line.party) if sample is Sample.DRAWN else None
        yield (
            party_link(humans.parties[line.party], url),
            accuracy(line),
            kappa(line),
            precision(line),
            *rates(line.evidence),
            human_passes(line),
            " ".join(_notes(line, proof)),
        )


def _notes(line: Measured, proof: HumanProof | None) -> Iterator[str]:
    if proof is not None:
        yield f"{proof.proof.capitalize()}. {proof.needed}".strip()
    if line.is_lopsided:
        yield "One verdict is rare: kappa says little."
    if line.why_no_interval:
        yield line.why_no_interval


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
        rows=list(_confusion(shown, view)) if shown else [],
        note=f"Sample: {SAMPLES[view.sample]}.",
        empty=EMPTY[view.sample],
        draw=lambda: _figure(shown) if shown else None,
        describes="Answers by verdict of the judge and of humans, darker where there are more",
    )


def _confusion(shown: Measured, view: View) -> Iterator[tuple[Cell, ...]]:
    counts = shown.counts._asdict()
    for cell, title in CELLS.items():
        judge, human = VERDICTS[cell]
        n, of_human = counts[cell], sum(counts[c] for c in CELLS if VERDICTS[c][1] == human)
        of_humans = n / of_human if of_human else None
        url = view.url(sample=view.sample.value, cell=cell) + "#answers"
        yield judge, human, Linked(n, url), n / shown.n, of_humans, Link(title, url)


def _figure(shown: Measured) -> dict[str, Any]:
    counts = [getattr(shown.counts, cell) for cell in CELLS]
    shares = [n / shown.n for n in counts]
    texts = [f"{n:,}<br>{share_label(share)}" for n, share in zip(counts, shares, strict=True)]
    return confusion([shares[:2], shares[2:]], [texts[:2], texts[2:]])


def answers_table(humans: Calibration | None, view: View, reader: User) -> Table:
    """List the answers of one cell, or all disagreements, the newest first."""
    found = sorted(_listed(humans, view), key=lambda row: -row.result)
    listed = found[:MAX_LISTED]
    names = names_of(listed, reader)
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
    if humans is None or view.shown is None:
        return
    wanted = [view.cell] if view.cell else ["false_pass", "false_fail"]
    for row in humans.rows:
        is_counted = row.party == view.shown.party and row.counts_in(view.sample)
        if is_counted and _cell_of(row, view.sample) in wanted:
            yield row


def _cell_of(row: Checked, sample: Sample) -> str:
    is_right = row.judged == row.truth(sample)
    return f"{'true' if is_right else 'false'}_{'pass' if row.judged else 'fail'}"


def _answer(row: Checked, sample: Sample, names: Names) -> tuple[Cell, ...]:
    url = row_url("admin:runs_result_change", row.result)
    judge, human = VERDICTS[_cell_of(row, sample)]
    return (
        Link(f"result {row.result}", url if row.result in names.open_to else ""),
        names.issues.get(row.issue, ""),
        Link(names.runs.get(row.run, f"run {row.run}"), row_url("reports:run", row.run)),
        judge,
        human,
        row.drawn is not None,
    )


def corrected_table(runs: Sequence[JudgedRun], corrected: Mapping[int, Corrected] | None) -> Table:
    found = [(run, (corrected or {}).get(run.judge_run.pk)) for run in runs]
    found.sort(key=lambda pair: pair[1] is None or pair[1].share is None)
    rows = [_run(*pair) for pair in found]
    shown = sum(pair[1] is not None and pair[1].share is not None for pair in found)
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
        rows=rows,
        **folded(len(rows), shown, "run", said="without a correction"),
        note="The pass rate that humans would find if the jury errs here as on the random sample: "
        "(p + sp − 1) / (se + sp − 1), clipped to 0 and 1. The interval is an expanded "
        "percentile bootstrap of the issues of run and calibration, from 5 issues of each on. It "
        "never replaces the pass rate.",
        empty="No run with a jury is done yet.",
    )


def _run(run: JudgedRun, found: Corrected | None) -> tuple[Cell, ...]:
    judged = run.judge_run.run
    raw = run.rate
    share, low, high, n, why_not = found or (None, None, None, None, "")
    return (
        Link(str(judged), run_url(judged)),
        run.judge_run.jury_name,
        raw,
        share,
        low,
        high,
        share - raw.share if share is not None and raw.share is not None else None,
        n,
        why_not,
    )


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
