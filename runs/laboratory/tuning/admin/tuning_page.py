"""Content of a judge tuning's page, in a fixed number of queries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.display.formatting import counted, percent, words
from evalhub.display.word_diff import Diff, word_diff
from evalhub.models import BatchState
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD
from evalhub.work.control import Progress, progress_of
from issues.models import JudgeTemplate
from runs.laboratory.tuning.conclusions import (
    conclusion,
    difference,
    kappa_of,
    ordinal,
    warnings,
    warnings_of,
)
from runs.laboratory.tuning.draft import completed_attempt
from runs.laboratory.tuning.figures import MeasuredAttempt, TuningFigures, failures, tuning_figures
from runs.laboratory.tuning.metrics import Metrics
from runs.laboratory.tuning.models import Attempt, Split, Tuning
from runs.laboratory.tuning.start import has_draft


class Figure(NamedTuple):
    """A row of figures, on both splits."""

    name: str
    development: str
    held_out: str
    note: str = ""


class Cell(NamedTuple):
    """A cell of the confusion matrix, on both splits."""

    annotators: str
    judge: str
    development: int
    held_out: int


@dataclass(frozen=True)
class Card:
    """Figures of the version in use or of an attempt, with both splits side by side."""

    judged: MeasuredAttempt
    figures: list[Figure]
    cells: list[Cell]
    conclusion: str
    warnings: list[str]
    look: str
    is_published: bool


@dataclass(frozen=True)
class TuningPage:
    """Everything on the page; no text of a test."""

    tuning: Tuning
    tuning_figures: TuningFigures
    in_use: Card
    attempts: list[Card]
    working: list[Progress]
    warnings: list[str]
    draft: JudgeTemplate | None
    diff: Diff | None
    examples: int
    attempted: Attempt | None

    @property
    def disagreements(self) -> int:
        """Count those of the version in use, on the development split."""
        counts = self.tuning_figures.in_use.splits[Split.DEVELOPMENT].counts
        return counts.false_pass + counts.false_fail


def page_of(tuning: Tuning) -> TuningPage:
    """Read the page of a tuning."""
    found = tuning_figures(tuning)
    draft = tuning.draft if has_draft(tuning) else None
    unfinished = tuning.attempts.exclude(state=BatchState.DONE).order_by("number")
    published: set[int | None] = set(tuning.publications.values_list("attempt", flat=True))
    return TuningPage(
        tuning=tuning,
        tuning_figures=found,
        in_use=_card(found.in_use, published),
        attempts=[_card(one, published) for one in found.attempts],
        working=[progress_of(one) for one in unfinished],
        warnings=list(warnings(found)),
        draft=draft,
        diff=word_diff(tuning.template.text, draft.text) if draft else None,
        examples=draft.examples.count() if draft else 0,
        attempted=completed_attempt(tuning, draft) if draft else None,
    )


def _card(judged: MeasuredAttempt, published: set[int | None]) -> Card:
    development, held_out = judged.splits[Split.DEVELOPMENT], judged.splits[Split.HELD_OUT]
    figures = _figures(development, held_out)
    concerns: list[str] = []
    if judged.attempt:
        concerns += warnings_of(judged)
        kinds = ", ".join(f"{words(kind)} {n}" for kind, n in failures(judged.attempt).items())
        concerns += [f"Judge errors: {kinds}."] if kinds else []
        figures.append(
            Figure(
                "Difference from the version in use",
                difference(judged.against[Split.DEVELOPMENT]),
                difference(judged.against[Split.HELD_OUT]),
                "On answers judged by both",
            )
        )
    cells = {
        ("pass", "pass"): "true_pass",
        ("pass", "fail"): "false_fail",
        ("fail", "pass"): "false_pass",
        ("fail", "fail"): "true_fail",
    }
    return Card(
        judged=judged,
        figures=figures,
        cells=[
            Cell(*verdicts, getattr(development.counts, name), getattr(held_out.counts, name))
            for verdicts, name in cells.items()
        ],
        conclusion=conclusion(judged) if judged.attempt else "",
        warnings=concerns,
        look=f"{ordinal(judged.look)} look at the held-out split" if judged.look else "",
        is_published=judged.attempt is not None and judged.attempt.pk in published,
    )


def _figures(development: Metrics, held_out: Metrics) -> list[Figure]:
    def both(name: str, text_of: Callable[[Metrics], str], note: str = "") -> Figure:
        return Figure(name, text_of(development), text_of(held_out), note)

    return [
        both("Kappa", kappa_of, f"0 is chance, 1 full agreement; 95% interval: {KAPPA_METHOD}"),
        both("Accuracy", lambda split: _share(split, "accuracy")),
        both(
            "Precision of “fails”",
            lambda split: _share(split, "precision"),
            "Share of the answers failed by the judge that annotators fail too",
        ),
        both(
            "Recall of “fails”",
            lambda split: _share(split, "recall"),
            "Share of the answers failed by annotators that the judge fails too",
        ),
        both(
            "Answers",
            lambda split: f"{split.n:,}, from {counted(split.issues, 'issue')}",
        ),
        both(
            "No verdict",
            lambda split: f"{split.failed:,}",
            "Judge errors, excluded from all figures",
        ),
    ]


def _share(split: Metrics, name: str) -> str:
    value, found = getattr(split.accuracy, name), getattr(split.intervals, name)
    if found is None:
        return percent(value)
    low, high = map(percent, found.interval)
    return f"{percent(value)} ({low} to {high}, {found.method})"
