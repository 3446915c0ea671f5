"""What the page of a rehearsal shows, in a fixed number of queries."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.formatting import percent
from evalhub.models import BatchState, ItemState
from evalhub.word_diff import Diff, word_diff
from issues.models import JudgeTemplate
from runs.tuning.attempt_control import counts
from runs.tuning.conclusions import conclusion, difference, kappa_of, ordinal, warnings, warnings_of
from runs.tuning.figures import MeasuredAttempt, TuningFigures, failures, tuning_figures
from runs.tuning.metrics import Metrics, confusion
from runs.tuning.models import Attempt, Split, Tuning
from runs.tuning.publication import tried_as
from runs.tuning.start import has_draft


class Figure(NamedTuple):
    """One line of figures, on both halves."""

    name: str
    development: str
    held_out: str
    note: str = ""


class Cell(NamedTuple):
    """How often people said the one, and the judge the other."""

    annotators: str
    judge: str
    development: int
    held_out: int
    agrees: bool


@dataclass(frozen=True)
class Card:
    """The version in use, or a try, with its figures on both halves side by side."""

    judged: MeasuredAttempt
    figures: list[Figure]
    cells: list[Cell]
    conclusion: str
    warnings: list[str]
    look: str
    differences: Figure | None
    is_published: bool

    @property
    def attempt(self) -> Attempt | None:
        return self.judged.attempt


@dataclass(frozen=True)
class Working:
    """A try that is not complete."""

    attempt: Attempt
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        return self.counts[ItemState.DONE] + self.counts[ItemState.ERROR]

    @property
    def percent(self) -> float:
        return 100 * self.ended / self.total if self.total else 0.0

    @property
    def is_stopped(self) -> bool:
        return self.attempt.state in (BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED)

    @property
    def may_be_cancelled(self) -> bool:
        return self.attempt.state not in (BatchState.CANCELLED, BatchState.DONE)


@dataclass(frozen=True)
class TuningPage:
    """All that the page shows; no text of any test."""

    tuning: Tuning
    tuning_figures: TuningFigures
    in_use: Card
    attempts: list[Card]
    working: list[Working]
    warnings: list[str]
    draft: JudgeTemplate | None
    diff: Diff | None
    examples: int
    attempted: Attempt | None

    @property
    def disagreements(self) -> int:
        """Of the version in use with people, on the seen half."""
        counts = self.tuning_figures.in_use.splits[Split.DEVELOPMENT].counts
        return counts.false_pass + counts.false_fail

    @property
    def is_live(self) -> bool:
        return any(one.attempt.is_live for one in self.working)


def page_of(tuning: Tuning) -> TuningPage:
    """Read what stands about a rehearsal."""
    found = tuning_figures(tuning)
    draft = tuning.draft if has_draft(tuning) else None
    unfinished = tuning.attempts.exclude(state=BatchState.DONE).order_by("number")
    published: set[int | None] = set(tuning.publications.values_list("attempt", flat=True))
    return TuningPage(
        tuning=tuning,
        tuning_figures=found,
        in_use=_card(found.in_use, published),
        attempts=[_card(one, published) for one in found.attempts],
        working=[Working(one, counts(one)) for one in unfinished],
        warnings=list(warnings(found)),
        draft=draft,
        diff=word_diff(tuning.template.text, draft.text) if draft else None,
        examples=draft.examples.count() if draft else 0,
        attempted=tried_as(tuning, draft) if draft else None,
    )


def _card(judged: MeasuredAttempt, published: set[int | None]) -> Card:
    development, held_out = judged.splits[Split.DEVELOPMENT], judged.splits[Split.HELD_OUT]
    against = judged.against
    attempt = judged.attempt
    return Card(
        judged=judged,
        figures=list(_figures(development, held_out)),
        cells=_cells(development, held_out),
        conclusion=conclusion(judged) if against else "",
        warnings=[*warnings_of(judged), *_why(attempt)] if against else [],
        look=f"{ordinal(judged.look)} look at the held-out half" if judged.look else "",
        differences=Figure(
            "Difference from the version in use",
            difference(against[Split.DEVELOPMENT]),
            difference(against[Split.HELD_OUT]),
            "On answers that both judged",
        )
        if against
        else None,
        is_published=attempt is not None and attempt.pk in published,
    )


def _why(attempt: Attempt | None) -> list[str]:
    found = failures(attempt) if attempt else {}
    kinds = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in found.items())
    return [f"Why the judge failed: {kinds}."] if kinds else []


def _figures(development: Metrics, held_out: Metrics) -> list[Figure]:
    def both(name: str, tell: Any, note: str = "") -> Figure:
        return Figure(name, tell(development), tell(held_out), note)

    return [
        both("Kappa", kappa_of, "0 is chance, 1 full agreement; 95 % interval, drawn by issue"),
        both("Same verdict", lambda split: _share(split, "accuracy")),
        both("Precision of “fails”", lambda split: _share(split, "precision"), "Of what it fails"),
        both("Recall of “fails”", lambda split: _share(split, "recall"), "Of what people fail"),
        both(
            "Answers",
            lambda split: (
                f"{split.n:,}, from {split.issues:,} issue{'' if split.issues == 1 else 's'}"
            ),
        ),
        both("No verdict", lambda split: f"{split.failed:,}", "The judge failed: in no figure"),
    ]


def _share(split: Metrics, name: str) -> str:
    value, interval = getattr(split.accuracy, name), getattr(split.intervals, name)
    if interval is None:
        return percent(value)
    return f"{percent(value)} ({percent(interval.low)} to {percent(interval.high)})"


def _cells(development: Metrics, held_out: Metrics) -> list[Cell]:
    first, second = confusion(development.counts), confusion(held_out.counts)
    return [
        Cell(
            annotators,
            judge,
            first[annotators, judge],
            second[annotators, judge],
            annotators == judge,
        )
        for annotators, judge in first
    ]


def progress_of(tuning: Tuning) -> dict[str, Any]:
    """How far the tries at work have come, as JSON."""
    live = tuning.attempts.filter(state=BatchState.LIVE)
    working = [Working(one, counts(one)) for one in live]
    return {
        "is_live": bool(working),
        "attempts": [
            {"id": one.attempt.pk, "ended": one.ended, "total": one.total, "percent": one.percent}
            for one in working
        ],
    }
