"""What people said of an invented run: drawn at random and blind, or where judges differed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from runs.models import ChosenBy, HumanEvaluation
from runs.scoring.score import score_results
from tests.sample_data.content import Content
from tests.sample_data.judgments import OUT_OF_PEOPLE
from tests.sample_data.plan import Plan
from tests.sample_data.run_data import Filled

DRAWN, CHOSEN = 0.02, 0.1
"""The share of results that people are given at random, and of those on which judges differ."""

MISTAKEN = 0.04
TWICE = {True: 0.5, False: 0.1}
"""The share of results that a second person looks at too: of those drawn at random, of others."""

AGAIN = 0.05
"""The share of those drawn at random that their first person is given again, blind."""


@dataclass(frozen=True)
class PlannedEvaluation:
    """A result's place in its run that one person evaluates."""

    place: int
    person: int
    passes: bool
    is_random: bool


def evaluate(plan: Plan, content: Content, filled: Filled, whole_tests: dict[int, int]) -> int:
    """Let people evaluate some results of a run, which are scored again; gives how many."""
    hands = list(_planned_evaluations(plan, content, filled))
    results = filled.run.results.order_by("pk").values_list("pk", "revision_id")
    places = dict(enumerate(results))
    at = filled.run.finished_at
    HumanEvaluation.objects.bulk_create(
        HumanEvaluation(
            result_id=places[hand.place][0],
            criterion_id=whole_tests[places[hand.place][1]],
            annotator=content.people[hand.person],
            value=float(hand.passes),
            blind=hand.is_random,
            chosen_by=ChosenBy.QUEUE_RANDOM if hand.is_random else ChosenBy.DIRECT,
            seconds=20 + hand.place % 60,
        )
        for hand in hands
    )
    made = HumanEvaluation.objects.filter(result__run=filled.run)
    if at is not None:
        made.update(created_at=at + timedelta(days=1))
    score_results({places[hand.place][0] for hand in hands})
    return len(hands)


def _planned_evaluations(
    plan: Plan, content: Content, filled: Filled
) -> Iterator[PlannedEvaluation]:
    random = plan.random(OUT_OF_PEOPLE, filled.run.pk)
    judged, n = filled.judged, len(filled.judged.tests)
    heard = ~judged.errors
    drawn = heard & (random.random(n) < DRAWN)
    chosen = heard & ~drawn & _is_split(judged.votes) & (random.random(n) < CHOSEN)
    for place in np.flatnonzero(drawn | chosen).tolist():
        is_random = bool(drawn[place])
        people = 2 if random.random() < TWICE[is_random] else 1
        order = random.permutation(len(content.people))[:people].tolist()
        again = order[:1] if is_random and random.random() < AGAIN else []
        for person in [*order, *again]:
            passes = bool(judged.good[place]) != (random.random() < MISTAKEN)
            yield PlannedEvaluation(place, person, passes, is_random)


def _is_split(votes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """On which results judges gave different values, shape (n,)."""
    highest = np.where(np.isnan(votes), -1, votes).max(axis=1)
    lowest = np.where(np.isnan(votes), 2, votes).min(axis=1)
    return np.asarray((highest >= 0) & (lowest < highest))
