"""What the page of a rehearsal shows, in a fixed number of queries."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.models import BatchState, ItemState
from evalhub.word_diff import Diff, word_diff
from evalhub.wording import percent
from issues.models import JudgeTemplate
from runs.rehearsals.measuring import Measured, confusion
from runs.rehearsals.models import Attempt, Half, Rehearsal
from runs.rehearsals.outcome import Judged, Outcome, failures, outcome
from runs.rehearsals.publishing import tried_as
from runs.rehearsals.starting import has_draft
from runs.rehearsals.telling import conclusion, difference, kappa_of, ordinal, warnings, warnings_of
from runs.rehearsals.trying import counts


class Figure(NamedTuple):
    """One line of figures, on both halves."""

    name: str
    seen: str
    held_out: str
    note: str = ""


class Cell(NamedTuple):
    """How often people said the one, and the judge the other."""

    people: str
    judge: str
    seen: int
    held_out: int
    agrees: bool


@dataclass(frozen=True)
class Card:
    """The version in use, or a try, with its figures on both halves side by side."""

    judged: Judged
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
class RehearsalPage:
    """All that the page shows; no text of any test."""

    rehearsal: Rehearsal
    outcome: Outcome
    in_use: Card
    tries: list[Card]
    working: list[Working]
    warnings: list[str]
    draft: JudgeTemplate | None
    diff: Diff | None
    examples: int
    tried: Attempt | None

    @property
    def disagreements(self) -> int:
        """Of the version in use with people, on the seen half."""
        counts = self.outcome.in_use.halves[Half.SEEN].counts
        return counts.false_pass + counts.false_fail

    @property
    def is_live(self) -> bool:
        return any(one.attempt.is_live for one in self.working)


def page_of(rehearsal: Rehearsal) -> RehearsalPage:
    """Read what stands about a rehearsal."""
    found = outcome(rehearsal)
    draft = rehearsal.draft if has_draft(rehearsal) else None
    unfinished = rehearsal.attempts.exclude(state=BatchState.DONE).order_by("number")
    published: set[int | None] = set(rehearsal.publications.values_list("attempt", flat=True))
    return RehearsalPage(
        rehearsal=rehearsal,
        outcome=found,
        in_use=_card(found.in_use, published),
        tries=[_card(one, published) for one in found.tries],
        working=[Working(one, counts(one)) for one in unfinished],
        warnings=list(warnings(found)),
        draft=draft,
        diff=word_diff(rehearsal.template.text, draft.text) if draft else None,
        examples=draft.examples.count() if draft else 0,
        tried=tried_as(rehearsal, draft) if draft else None,
    )


def _card(judged: Judged, published: set[int | None]) -> Card:
    seen, held_out = judged.halves[Half.SEEN], judged.halves[Half.HELD_OUT]
    against = judged.against
    attempt = judged.attempt
    return Card(
        judged=judged,
        figures=list(_figures(seen, held_out)),
        cells=_cells(seen, held_out),
        conclusion=conclusion(judged) if against else "",
        warnings=[*warnings_of(judged), *_why(attempt)] if against else [],
        look=f"{ordinal(judged.look)} look at the held-out half" if judged.look else "",
        differences=Figure(
            "Difference from the version in use",
            difference(against[Half.SEEN]),
            difference(against[Half.HELD_OUT]),
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


def _figures(seen: Measured, held_out: Measured) -> list[Figure]:
    def both(name: str, tell: Any, note: str = "") -> Figure:
        return Figure(name, tell(seen), tell(held_out), note)

    return [
        both("Kappa", kappa_of, "0 is chance, 1 full agreement; 95 % interval, drawn by issue"),
        both("Same verdict", lambda half: _share(half, "accuracy")),
        both("Precision of “fails”", lambda half: _share(half, "precision"), "Of what it fails"),
        both("Recall of “fails”", lambda half: _share(half, "recall"), "Of what people fail"),
        both(
            "Answers",
            lambda half: f"{half.n:,}, from {half.issues:,} issue{'' if half.issues == 1 else 's'}",
        ),
        both("No verdict", lambda half: f"{half.failed:,}", "The judge failed: in no figure"),
    ]


def _share(half: Measured, name: str) -> str:
    value, interval = getattr(half.accuracy, name), getattr(half.intervals, name)
    if interval is None:
        return percent(value)
    return f"{percent(value)} ({percent(interval.low)} to {percent(interval.high)})"


def _cells(seen: Measured, held_out: Measured) -> list[Cell]:
    first, second = confusion(seen.counts), confusion(held_out.counts)
    return [
        Cell(people, judge, first[people, judge], second[people, judge], people == judge)
        for people, judge in first
    ]


def progress_of(rehearsal: Rehearsal) -> dict[str, Any]:
    """How far the tries at work have come, as JSON."""
    live = rehearsal.attempts.filter(state=BatchState.LIVE)
    working = [Working(one, counts(one)) for one in live]
    return {
        "is_live": bool(working),
        "tries": [
            {"id": one.attempt.pk, "ended": one.ended, "total": one.total, "percent": one.percent}
            for one in working
        ],
    }
