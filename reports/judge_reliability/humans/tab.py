"""Agreement with humans: the accuracy of judges, and pass rates corrected for their error."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.urls import reverse

from evalhub.display.formatting import between, counted, few, percent, score
from reports.documents.document import Document, Fact
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.humans.accuracy_tables import (
    NO_EVALUATIONS,
    View,
    accuracy,
    answers_table,
    confusion_table,
    corrected_table,
    jury_first,
    kappa,
    measured_table,
    sources_table,
)
from reports.judge_reliability.humans.corrections_query import corrections, judged_runs
from reports.judge_reliability.trust.query import proofs_of_all
from reports.judge_reliability.trust_rule import Evidence, HumanProof, Proof
from reports.queries.human_agreement import Calibration, calibration, choices, evaluated_runs

CORRECTED = 10
"""Newest runs whose pass rate is corrected."""


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Compare each judge and jury with humans, one of them in detail, and correct pass rates."""
    suite = filters["suite"]
    runs = evaluated_runs(suite=suite, last=filters["last"])
    humans = calibration(runs, reading)
    judged = judged_runs(suite=suite, last=CORRECTED)
    view = _view(filters, humans)
    proofs = proofs_of_all(runs, humans, reading) or {}
    answer = tuple(_answer(humans, view, proofs))
    tables = [replace(measured_table(None, view, Sample.ALL), empty=NO_EVALUATIONS)]
    if runs:
        tables = [measured_table(humans, view, sample, proofs) for sample in Sample]
        tables += [confusion_table(view), answers_table(humans, view, reading.reader)]
    return Document(
        title="Agreement of judges with humans",
        sentences=(*answer, *_sentences(humans, view, proofs, has_runs=bool(runs))),
        leading=len(answer) or None,
        facts=tuple(_facts(humans, view, reading)),
        tables=(
            *tables,
            corrected_table(judged, corrections(judged, runs, humans, reading)),
            *((sources_table(choices(suite)),) if runs else ()),
        ),
        warnings=tuple(_warnings(humans, view)),
        labels=("scripted judge",)
        if humans and any(party.is_scripted for party in humans.parties.values())
        else (),
    )


def _view(filters: Mapping[str, Any], humans: Calibration | None) -> View:
    """Return the party and sample to show: those asked for, else those with most answers."""
    has_drawn = humans and humans.measured[Sample.DRAWN]
    sample = Sample(filters["sample"] or (Sample.DRAWN if has_drawn else Sample.ALL))
    lines = humans.measured[sample] if humans else []
    found = next((line for line in lines if line.party == filters["party"]), None)
    shown = found or min(lines, key=lambda line: jury_first(line)[:2], default=None)
    return View(
        sample=sample,
        shown=shown,
        cell=filters["cell"],
        missing=filters["party"] if found is None else "",
        name=humans.parties[shown.party].name if humans and shown else "",
        state={name: filters[name] for name in ("suite", "last", "sample")},
    )


def left_out(humans: Calibration) -> str:
    """Name the judges that were shown examples from tests they would be measured on."""
    counts = {humans.parties[key].name: n for key, n in humans.taught.items()}
    names = few([f"{name} on {n:,}" for name, n in sorted(counts.items())])
    return (
        "Judges are not measured on tests that are examples in their own prompt. "
        f"Answers left out: {names}."
    )


def _sentences(
    humans: Calibration | None,
    view: View,
    proofs: Mapping[str, HumanProof],
    *,
    has_runs: bool,
) -> Iterator[str]:
    if not has_runs:
        yield (
            "There are no human evaluations yet. Open results and give your own verdict to "
            "measure judges against it."
        )
    if humans is None or view.shown is None:
        return
    shown, rate = view.shown, accuracy(view.shown)
    where = "drawn at random" if view.sample is Sample.DRAWN else "with a human verdict"
    interval = f" ({between(rate.interval)}, {rate.method})" if rate.interval else ""
    yield (
        f"{view.name} agrees with humans on {percent(rate.share)}{interval} of "
        f"{counted(rate.n, 'answer')} {where}: kappa "
        f"{'not defined' if shown.kappa is None else score(shown.kappa)}."
    )
    if view.sample is Sample.DRAWN and (proof := proofs.get(shown.party)):
        yield f"{CONCLUSIONS[proof.proof].format(name=view.name)} {proof.figures} {proof.needed}"


def _answer(
    humans: Calibration | None, view: View, proofs: Mapping[str, HumanProof]
) -> Iterator[str]:
    """Yield whether the party shown can be trusted, and who cannot, without statistics."""
    shown = view.shown
    proof = proofs.get(shown.party) if shown else None
    if humans is None or shown is None or proof is None or view.sample is not Sample.DRAWN:
        return
    right = sum(side.right for side in proof.evidence.sides)
    n = sum(side.n for side in proof.evidence.sides)
    said = ANSWERS[proof.proof].format(name=view.name, share=f"{right:,} of {n:,} verdicts")
    if proof.proof is Proof.BELOW:
        yield f"{said}: it {_errors(proof.evidence)}."
        return
    wrong = [
        f"{party.name}, which {_errors(proofs[key].evidence)}"
        for key, party in humans.parties.items()
        if key in proofs and key != shown.party and proofs[key].proof is Proof.BELOW
    ]
    yield f"{said}{f'; do not trust {few(wrong)}' if wrong else ''}."


def _errors(evidence: Evidence) -> str:
    """Return the more frequent kind of error."""
    side = min((one for one in evidence.sides if one.n), key=lambda one: one.right / one.n)
    does = "failed" if side is evidence.passes else "passed"
    return f"{does} {side.n - side.right:,} of {side.n:,} answers that people {side.verdict}"


ANSWERS = {
    Proof.SHOWN: "Yes: people agree with {share} of {name} that they checked blind",
    Proof.BELOW: "Not alone: people agree with only {share} of {name} that they checked blind",
    Proof.OPEN: "Only with people’s checks: they agree with {share} of {name} that they checked "
    "blind, which does not show yet that it may decide alone",
    Proof.TOO_FEW: "Cannot tell: people agree with {share} of {name} that they checked blind, and "
    "have to check more",
}

CONCLUSIONS = {
    Proof.SHOWN: "Humans have shown that {name} can be trusted alone on all answers together.",
    Proof.BELOW: "{name} errs too often to be trusted alone.",
    Proof.OPEN: "Humans have not shown that {name} can be trusted alone.",
    Proof.TOO_FEW: "Too few answers were drawn at random to tell if {name} can be trusted alone.",
}


def _facts(humans: Calibration | None, view: View, reading: Reading) -> Iterator[Fact]:
    if humans is None:
        return
    yield Fact("answers", "Answers with human verdict", humans.answers, "count")
    yield Fact(
        "drawn",
        "Drawn at random, judged blind",
        humans.drawn,
        "count",
        "only these count for trust",
    )
    yield Fact("disputed", "Disputed", humans.disputed, "count", "left out: annotators disagree")
    if view.shown is not None:
        yield Fact("accuracy", "Accuracy", accuracy(view.shown), "rate", view.name)
        yield Fact(
            "kappa", "Kappa", kappa(view.shown), "estimate", "0 = chance, 1 = full agreement"
        )
        judge = humans.parties[view.shown.party].judge_id
        if judge is not None and reading.reader.has_perm("tuning.add_tuning"):
            url = f"{reverse('admin:tuning_tuning_add')}?judge={judge}"
            yield Fact("improve", "Tune this judge", view.name, "text", "on human evaluations", url)


def _warnings(humans: Calibration | None, view: View) -> Iterator[str]:
    if humans is None:
        return
    if view.missing:
        yield f"There is no judge or jury {view.missing!r} in this sample: another one is shown."
    if humans.taught:
        yield left_out(humans)
    if humans.answers and not humans.drawn:
        yield (
            "No answer was drawn at random and judged blind: all figures rest on answers that "
            "annotators selected, and pass rates cannot be corrected."
        )
    if view.shown and view.sample is Sample.ALL:
        yield (
            "A selected sample: annotators often override verdicts they doubt, which makes judges "
            "look worse than they are and hides errors that nobody suspected."
        )
    if view.shown and view.shown.is_lopsided:
        rarer = view.shown.rarer
        yield (
            f"Humans gave one of the two verdicts on only {percent(rarer)} of these answers: "
            "kappa is then low and accuracy high for almost any judge."
            if rarer
            else "Humans gave all of these answers the same verdict: kappa is undefined, and "
            "accuracy is high for almost any judge."
        )
