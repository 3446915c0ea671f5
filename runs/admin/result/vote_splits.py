"""How judges voted on the results of one page: "2:1", what is good first."""

from collections import defaultdict
from collections.abc import Sequence

from issues.models import Polarity
from issues.rubrics.scoring import inverted
from runs.models import Judgment, Result


def vote_splits_of(results: Sequence[Result]) -> dict[int, str]:
    """Votes of the current judging by result; failed judgments are said and are no votes.

    What should not be shown is turned round, so that all votes say how good the answer is.

    The results' revisions must be at hand (`select_related`). One query.
    """
    votes: dict[int, list[float | None]] = defaultdict(list)
    rows = Judgment.objects.filter(result__in=results, judge_run__is_active=True).order_by()
    for result, polarity, value in rows.values_list("result_id", "criterion__polarity", "value"):
        votes[result].append(inverted(value) if polarity == Polarity.SHOULD_NOT else value)
    return {result.pk: _split(result, votes[result.pk]) for result in results if result.pk in votes}


def _split(result: Result, values: list[float | None]) -> str:
    sides = [result.revision.passes(value) for value in values]
    split = f"{sides.count(True)}:{sides.count(False)}"
    failed = sides.count(None)
    return f"{split}, {failed} failed" if failed else split
