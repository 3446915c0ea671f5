"""The pairs of some runs with their outcomes: figures only, without texts of tests."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count

from evalhub.models import ItemState
from issues.judge_templates.pairwise_prompt import Choice
from runs.laboratory.pairwise.models import Pair, PairEvaluation, PairJudgment, PairwiseJudgeRun
from runs.laboratory.pairwise.outcome_rule import OrderedChoice, PairOutcome, outcome_of
from runs.scoring.active_evaluation_rule import active_evaluations


@dataclass(frozen=True)
class PairRow:
    """A pair that a judge or a person was asked about, by the results' and runs' ids."""

    pair: int
    first: int
    second: int
    first_run: int
    second_run: int
    test: int
    issue: int
    outcome: PairOutcome


def judge_runs_over(runs: Collection[int]) -> list[PairwiseJudgeRun]:
    """Return the pairwise judge runs that cover two or more of these runs, newest first."""
    rows = PairwiseJudgeRun.objects.filter(runs__in=runs).prefetch_related("language_model")
    return list(rows.annotate(covered=Count("runs")).filter(covered__gte=2).order_by("-pk"))


def pair_rows(runs: Collection[int], judge_run: PairwiseJudgeRun | None) -> list[PairRow]:
    """Return all judged or evaluated pairs among these runs; a constant number of queries.

    Args:
        judge_run: Its method counts, from the newest judge run of each pair; None: people only.
    """
    among = {"first__run__in": runs, "second__run__in": runs}
    pairs = Pair.objects.filter(**among).order_by("pk")
    fields = ("pk", "first", "second", "first__run", "second__run", "first__test", "first__issue")
    judged = _judged(runs, judge_run.method) if judge_run else {}
    people = _people(runs)
    own = bool(judge_run and judge_run.criterion)
    return [
        PairRow(
            pair=pk,
            first=first,
            second=second,
            first_run=first_run,
            second_run=second_run,
            test=test,
            issue=issue,
            outcome=outcome_of(judged.get(pk, ()), people.get(pk, ()), own_criterion=own),
        )
        for pk, first, second, first_run, second_run, test, issue in pairs.values_list(*fields)
        if pk in judged or pk in people
    ]


def _judged(runs: Collection[int], method: str) -> dict[int, list[OrderedChoice]]:
    """Return the choices of the newest judge run of this method on each pair."""
    rows = PairJudgment.objects.filter(
        judge_run__method=method, pair__first__run__in=runs, pair__second__run__in=runs
    )
    newest: dict[int, int] = {}
    found: dict[int, list[OrderedChoice]] = defaultdict(list)
    fields = ("pair", "judge_run", "order", "state", "choice")
    for pair, judge_run, order, state, choice in rows.order_by("-judge_run", "pk").values_list(
        *fields
    ):
        if newest.setdefault(pair, judge_run) == judge_run:
            given = Choice(choice) if choice else None
            found[pair].append(OrderedChoice(order, given, state == ItemState.ERROR))
    return dict(found)


def _people(runs: Collection[int]) -> dict[int, Sequence[Choice]]:
    """Return the active choices of people on each pair."""
    rows = PairEvaluation.objects.filter(pair__first__run__in=runs, pair__second__run__in=runs)
    by_pair: dict[int, list[PairEvaluation]] = defaultdict(list)
    for row in rows.order_by("pk").only("pair", "annotator", "choice"):
        by_pair[row.pair_id].append(row)
    active = {
        pair: [Choice(one.choice) for one in active_evaluations(given)]
        for pair, given in by_pair.items()
    }
    return {pair: choices for pair, choices in active.items() if choices}
