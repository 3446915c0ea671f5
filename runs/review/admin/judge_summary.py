"""What the judges of a result say, in a few words: beside the form, and after a blind verdict."""

from collections import defaultdict

from evalhub.formatting import score
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import Judgment, Result, ResultScore


def judge_summary(result: Result) -> str:
    """Such as "2 of 3 pass", or "fails with 0.4" by a rubric; says so where nobody judged.

    The result was read with its revision.
    """
    result_score = ResultScore.objects.filter(judge_run__is_active=True, result=result).first()
    votes = _votes(result)
    if votes:
        passing = sum(bool(result.revision.passes(value)) for value in votes)
        return f"{passing} of {len(votes)} pass"
    if result_score is None or result_score.score is None:
        return "no verdict"
    verdict = {True: "passes", False: "fails", None: "excluded"}[result_score.passed]
    return f"{verdict} with {score(result_score.score)}"


def _votes(result: Result) -> list[float]:
    """What each judge who answered says of the whole: the mean of what it said."""
    said: dict[int, list[float]] = defaultdict(list)
    rows = Judgment.objects.filter(
        result=result,
        judge_run__is_active=True,
        criterion__key=WHOLE_TEST,
        judge__isnull=False,
    )
    for judge, value in rows.order_by("pk").values_list("judge", "value"):
        if value is not None:
            said[judge].append(value)
    return [sum(values) / len(values) for values in said.values()]
