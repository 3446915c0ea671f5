"""Pairs of answers that may be compared: of one test, asked in the same way, by different runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from django.core.exceptions import ValidationError

from evalhub.llm.content.content_parts import all_images
from evalhub.models import ItemState
from issues.judge_templates.pairwise_prompt import PairCase
from issues.judge_templates.preview import shown_conversation
from issues.models import Polarity
from runs.judging.prompts import JudgedAnswer
from runs.judging.tasks import judged_answer_of
from runs.laboratory.pairwise.models import Pair
from runs.models import HAS_ANSWER, Result, Run

PORTION = 500
Ids = tuple[int, int]
"""The results of a pair, the older first."""


def comparable_pairs(runs: Sequence[Run]) -> list[Ids]:
    """Return the results of all pairs: same test, same input, same repeat, two of these runs.

    Results without an answer are in none.
    """
    rows = Result.objects.filter(run__in=[run.pk for run in runs], state=ItemState.DONE)
    rows = rows.filter(HAS_ANSWER).order_by("pk")
    groups: dict[tuple[int, str, int], list[tuple[int, int]]] = defaultdict(list)
    fields = ("test_id", "revision__asked_digest", "repeat", "pk", "run_id")
    for test, asked, repeat, pk, run in rows.values_list(*fields):
        groups[test, asked, repeat].append((pk, run))
    return sorted(
        (first, second)
        for group in groups.values()
        for (first, one), (second, other) in combinations(group, 2)
        if one != other
    )


def saved_pairs(ids: Iterable[Ids]) -> dict[Ids, int]:
    """Return the rows of these pairs, and create those that are missing."""
    wanted = list(ids)
    for part in _portions(wanted):
        Pair.objects.bulk_create(
            [Pair(first_id=first, second_id=second) for first, second in part],
            ignore_conflicts=True,
        )
    found: dict[Ids, int] = {}
    for part in _portions(wanted):
        rows = Pair.objects.filter(first__in=[first for first, _ in part])
        for pk, first, second in rows.values_list("pk", "first_id", "second_id"):
            found[first, second] = pk
    return {one: found[one] for one in wanted}


def _portions(ids: Sequence[Ids]) -> Iterator[Sequence[Ids]]:
    for start in range(0, len(ids), PORTION):
        yield ids[start : start + PORTION]


def ids_of(one: Result, other: Result) -> Ids:
    """Return the pair of two results.

    Raises:
        ValidationError: They cannot be compared.
    """
    first, second = sorted((one, other), key=lambda result: result.pk)
    problem = ""
    if first.pk == second.pk or first.run_id == second.run_id:
        problem = "Both results belong to one run: choose results of two runs."
    elif first.test_id != second.test_id:
        problem = f"These are answers to tests {first.test_id} and {second.test_id}."
    elif first.revision.asked_digest != second.revision.asked_digest:
        problem = f"Test {first.test_id} changed between the runs: the models got different inputs."
    elif lacking := [one.pk for one in (first, second) if one.state != ItemState.DONE]:
        problem = f"Result {lacking[0]} has no answer."
    if problem:
        raise ValidationError(f"These answers cannot be compared. {problem}")
    return first.pk, second.pk


def case_of(first: Result, second: Result, criterion: str) -> PairCase:
    """Return a pair as judges see it, by the newer revision's guidelines and reference.

    Args:
        first: Read with its answer and revision, as the second.
        criterion: What makes an answer better; "": the test's guidelines and criteria.
    """
    content = max(first.revision, second.revision, key=lambda one: one.number).content
    answers = (judged_answer_of(result, "") for result in (first, second))
    return pair_case(content, *answers, criterion=criterion)


def pair_case(
    content: dict[str, Any], first: JudgedAnswer, second: JudgedAnswer, *, criterion: str
) -> PairCase:
    """Return two answers to the input of a test with this content."""
    return PairCase(
        input=shown_conversation(content, (), text=""),
        first=first.output,
        second=second.output,
        of_first=[part for turn in first.turns for part in turn.images],
        of_second=[part for turn in second.turns for part in turn.images],
        criterion=criterion,
        guidelines=_guidelines(content),
        reference=content["reference"],
        images=all_images(content["messages"]),
    )


def _guidelines(content: dict[str, Any]) -> str:
    """Return guidelines and criteria of a test as text."""
    lines = [
        f"- {'Must not: ' if row['polarity'] == Polarity.SHOULD_NOT else ''}{row['text']}"
        for row in content.get("criteria") or ()
        if row["text"]
    ]
    return "\n".join([*filter(None, [content["guidelines"]]), *lines])
