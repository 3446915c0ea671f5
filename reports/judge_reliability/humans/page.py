"""Judges against people: how often they are right, and what that does to a pass rate."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.urls import reverse

from evalhub.formatting import between, few, percent, score
from reports.documents.document import Document, Fact, Table
from reports.documents.reading import Page, Reading, ReportForm
from reports.judge_reliability.accuracy_rule import Measured, Sample
from reports.judge_reliability.humans.accuracy_tables import (
    ANY,
    CELLS,
    NOBODY,
    SAMPLES,
    View,
    answers_table,
    confusion_table,
    corrected_table,
    figures_table,
    measured_table,
    sources_table,
)
from reports.judge_reliability.humans.corrections_query import corrections, judged_runs
from reports.queries.human_agreement import Calibration, calibration, choices, evaluated_runs
from runs.models import Suite

LASTS = [(n, f"last {n} runs") for n in (10, 50, 200)]
CORRECTED = 10
"""Runs, the newest, whose pass rate is corrected."""

FEW = 20
"""With fewer answers drawn at random a judge's error is hardly known."""


class CalibrationForm(ReportForm):
    """In which runs judges are measured, and whose matrix is shown on which sample."""

    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )
    last = forms.TypedChoiceField(
        label="Runs", choices=LASTS, coerce=int, initial=50, help_text="That people looked at"
    )
    sample = forms.ChoiceField(
        label="Matrix of",
        choices=[
            ("", "the random sample, if there is one"),
            *((sample.value, told) for sample, told in SAMPLES.items()),
        ],
    )
    party = forms.CharField(
        widget=forms.HiddenInput, max_length=40, help_text="Judge or jury, as rows name it"
    )
    cell = forms.ChoiceField(
        choices=[("", ANY), *CELLS.items()],
        widget=forms.HiddenInput,
        help_text="Which cell of the matrix is opened",
    )


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """Each judge and jury against people, one of them in detail, and corrected pass rates."""
    suite = asked["suite"]
    runs = evaluated_runs(suite=suite, last=asked["last"])
    people = calibration(runs, reading)
    judged = judged_runs(suite=suite, last=CORRECTED)
    view = _view(asked, people)
    return Document(
        question="How often are judges right, by what people say?",
        sentences=tuple(_sentences(people, view, has_runs=bool(runs))),
        facts=(*_facts(people, view), *_ways_on(people, view, reading)),
        tables=(
            *(_against_people(people, view, reading) if runs else (_nobody(view),)),
            corrected_table(judged, corrections(judged, runs, people, reading)),
            *((sources_table(choices(suite)),) if runs else ()),
        ),
        warnings=tuple(_warnings(people, view)),
        labels=("scripted judge",)
        if people and any(party.is_scripted for party in people.parties.values())
        else (),
    )


def _against_people(people: Calibration | None, view: View, reading: Reading) -> tuple[Table, ...]:
    return (
        *(measured_table(people, view, sample) for sample in Sample),
        figures_table(view),
        confusion_table(view),
        answers_table(people, view, reading.reader),
    )


def _nobody(view: View) -> Table:
    """What to do where people judged nothing, said once."""
    return replace(measured_table(None, view, Sample.ALL), empty=NOBODY)


def _view(asked: Mapping[str, Any], people: Calibration | None) -> View:
    """The party and the sample that are looked at: what was asked for, else the best known."""
    sample = Sample(asked["sample"]) if asked["sample"] else _best_sample(people)
    lines = people.measured[sample] if people else []
    found = next((line for line in lines if line.party == asked["party"]), None)
    shown = found or max(lines, key=_best_known, default=None)
    state = {name: asked[name] for name in ("suite", "last", "sample")}
    return View(
        sample=sample,
        shown=shown,
        cell=asked["cell"],
        wanted=asked["party"] if found is None else "",
        name=_name(people, shown),
        state=state,
    )


def _best_sample(people: Calibration | None) -> Sample:
    return Sample.DRAWN if people and people.measured[Sample.DRAWN] else Sample.ALL


def _best_known(line: Measured) -> tuple[bool, int]:
    """A jury before its judges, as it decides; then the one that most is known of."""
    return line.party.startswith("jury"), line.n


def _name(people: Calibration | None, shown: Measured | None) -> str:
    return people.parties[shown.party].name if people and shown else ""


def left_out(people: Calibration) -> str:
    """Who was not measured on how many answers, for it was taught with examples of their tests."""
    counts = {people.parties[key].name: n for key, n in people.taught.items()}
    told = few([f"{name} on {n:,}" for name, n in sorted(counts.items())])
    return (
        "Nobody is measured on tests that stand as examples in the wording it was asked with. "
        f"Left out: {told} of the answers that people judged."
    )


# In words ----------------------------------------------------------------------------------------


def _sentences(people: Calibration | None, view: View, *, has_runs: bool) -> Iterator[str]:
    if not has_runs:
        yield (
            "People have judged no answers yet. Open results and give your own verdict: judges "
            "are then measured against it here."
        )
    if people is None or view.shown is None:
        return
    found, shown = view.shown.accuracy, view.shown
    where = "drawn at random" if view.sample is Sample.DRAWN else "that people looked at"
    kappa = "not defined" if shown.kappa is None else score(shown.kappa)
    yield (
        f"{view.name} says what people say on {percent(found.accuracy)} "
        f"({between(shown.intervals.accuracy)}) of {found.n:,} answers {where}: kappa {kappa}."
    )
    if found.recall is not None:
        yield (
            f"Of what people fail it finds {percent(found.recall)}; of what it fails, people fail "
            f"{percent(found.precision)}."
        )


def _facts(people: Calibration | None, view: View) -> Iterator[Fact]:
    if people is None:
        return
    yield Fact("answers", "Answers judged by people", people.answers, "count")
    yield Fact("drawn", "Drawn at random, judged blind", people.drawn, "count", "calibration")
    yield Fact("disputed", "Disputed", people.disputed, "count", "people differ: left out")
    if view.shown is not None:
        yield Fact("accuracy", "Right", view.accuracy, "rate", view.name)
        yield Fact("kappa", "Kappa", view.kappa, "estimate", "0 is chance, 1 full agreement")


def _ways_on(people: Calibration | None, view: View, reading: Reading) -> Iterator[Fact]:
    """Where the judge that is looked at can be improved, for those who may."""
    judge = people.parties[view.shown.party].judge_id if people and view.shown else None
    if judge is not None and reading.reader.has_perm("tuning.add_tuning"):
        url = f"{reverse('admin:tuning_tuning_add')}?judge={judge}"
        yield Fact("improve", "Improve this judge", view.name, "text", "by what people said", url)


def _warnings(people: Calibration | None, view: View) -> Iterator[str]:
    if people is None:
        return
    if view.wanted:
        yield f"There is no judge or jury {view.wanted!r} in this sample: another one is shown."
    if people.taught:
        yield left_out(people)
    if people.answers and not people.drawn:
        yield (
            "No answer was drawn at random and judged blind: all figures here rest on answers "
            "that people chose to look at. No pass rate can be corrected from them."
        )
    if view.shown and view.sample is Sample.ALL:
        yield (
            "A selected sample: overrides are often made just where a verdict is doubted, which "
            "makes judges look worse than they are, and leaves unseen what nobody doubted."
        )
    if 0 < people.drawn < FEW:
        yield f"Only {people.drawn} answers were drawn at random: a judge's error is hardly known."
    if view.shown and view.shown.is_lopsided:
        yield (
            f"People gave one of the two verdicts on only {percent(view.shown.rarer)} of these "
            "answers: kappa is then low, and accuracy high, for almost any judge."
        )


CALIBRATION = Page(
    key="calibration",
    title="Judges against people",
    summary="Accuracy, kappa, precision and recall of judges by people's verdicts, with the "
    "confusion matrix, and pass rates corrected for a jury's known error.",
    form=CalibrationForm,
    build=build,
    icon="balance",
)
