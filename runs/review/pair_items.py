"""Pairs of answers in a queue: added at random, chosen between by their reviewers."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from django.core.exceptions import ValidationError

from evalhub.models import User
from issues.judge_templates.pairwise_prompt import PairCase
from runs.comparison.baselines import opponent_of
from runs.laboratory.pairwise.evaluations import (
    active_choice,
    choose,
    chosen_as_shown,
    order_for,
    undo,
)
from runs.laboratory.pairwise.models import PairChoice, PairEvaluation
from runs.laboratory.pairwise.outcomes import judge_runs_over, pair_rows
from runs.laboratory.pairwise.pairs import Ids, case_of, comparable_pairs
from runs.models import Result, Run
from runs.review.models import Assignment, Queue, ReviewItem
from runs.review.review_draft import OPTION, ReviewSubmission
from runs.review.sampling import Draw, lot

A, B, EQUAL = "a", "b", "e"


class PairItem(NamedTuple):
    """The answers of an item in the order in which its reviewer sees them.

    `case` has the texts: its `first` is A.
    """

    case: PairCase
    a: Result
    b: Result

    @classmethod
    def of(cls, results: Sequence[Result], reader: User) -> Self:
        """Return two results, the older first, in the order drawn for the reader."""
        first, second = (result.pk for result in results)
        a, b = results[::-1] if order_for((first, second), reader) else results
        return cls(case_of(a, b, ""), a, b)


def runs_compared(runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose answers are paired; a single one with its baseline or previous run."""
    if len(runs) != 1:
        return list(runs)
    opponent = opponent_of(runs[0])
    return [opponent, runs[0]] if opponent else []


def pair_items_of(queue: Queue, runs: Sequence[Run], position: int) -> list[ReviewItem]:
    """Return the queue's share of the pairs of these runs, drawn at random, unsaved."""
    pairs = comparable_pairs(runs_compared(runs))
    lots = {ids: lot(queue.seed, _number(ids)) for ids in pairs}
    count = max(1, round(queue.random_share * len(pairs))) if queue.random_share else 0
    draw = Draw.of(lots.values(), count)
    drawn = [(place, ids) for ids in pairs if (place := draw.position_of(lots[ids])) is not None]
    return [
        ReviewItem(
            queue=queue,
            result_id=first,
            other_id=second,
            is_random=True,
            position=position + place,
        )
        for place, (first, second) in sorted(drawn)
    ]


def _number(ids: Ids) -> int:
    return ids[0] * 2**40 + ids[1]


def disputed_items(queue: Queue) -> list[int]:
    """Return the items whose reviewers differ, from each other or from the newest judge run."""
    items = list(queue.items.values_list("pk", "result", "other", "result__run", "other__run"))
    runs = {run for *_, one, other in items for run in (one, other)}
    judged = judge_runs_over(runs)
    disputed = {
        (row.first, row.second)
        for row in pair_rows(runs, judged[0] if judged else None)
        if row.outcome.is_disputed or row.outcome.agrees is False
    }
    return [pk for pk, one, other, *_ in items if (min(one, other), max(one, other)) in disputed]


def pair_shown(assignment: Assignment, reader: User) -> PairItem:
    """Return both answers as the assignment's reviewer sees them."""
    return PairItem.of(_pair(assignment.item)[1], reader)


def _pair(item: ReviewItem) -> tuple[Ids, list[Result]]:
    rows = Result.objects.select_related("answer", "revision", "run", "test")
    found = rows.in_bulk([item.result_id, item.other_id])
    first, second = sorted(found)
    return (first, second), [found[first], found[second]]


def check_choice(queue: Queue, submission: ReviewSubmission) -> None:
    """Refuse what is no choice between two answers.

    Raises:
        ValidationError: By field.
    """
    known = (A, B, EQUAL) if queue.ties else (A, B)
    chosen = [verdict.option for verdict in submission.verdicts if not verdict.criterion]
    if len(submission.verdicts) != 1 or not chosen or not chosen[0]:
        raise ValidationError({OPTION: "Choose the better answer."})
    if chosen[0] not in known:
        raise ValidationError({OPTION: f"{chosen[0]!r} is not one of {', '.join(known)}."})


def record_choice(assignment: Assignment, submission: ReviewSubmission, by: User) -> PairEvaluation:
    """Record the reviewer's choice."""
    ids, (first, second) = _pair(assignment.item)
    verdict = submission.verdicts[0]
    chosen = chosen_as_shown(
        verdict.option, ids, by, reason=verdict.justification, seconds=submission.seconds
    )
    return choose(first, second, chosen, by=by)


def withdraw_choice(assignment: Assignment, by: User) -> None:
    """Withdraw the choice of an assignment.

    Raises:
        ValidationError: The reviewer has chosen again elsewhere.
    """
    given = assignment.pair_evaluation
    if given is None:
        return
    if active_choice(given.pair, by) != given:
        raise ValidationError(
            "You have chosen between these answers again in Compare: undo that choice first."
        )
    undo(given.pair, by=by)
    assignment.pair_evaluation = None


def choice_in_words(assignment: Assignment) -> str:
    """Return what the reviewer chose, with the name of the run."""
    given = assignment.pair_evaluation
    if given is None or given.choice == PairChoice.TIE:
        return "equal"
    pair = given.pair
    better = pair.first if given.choice == PairChoice.FIRST else pair.second
    return f"{better.run} is better"
