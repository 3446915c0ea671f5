"""How a result's score came about, and how far its judges agreed, in words and figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalhub.formatting import percent, score
from evalhub.statistics.comparisons import Comparisons, comparisons
from evalhub.statistics.krippendorff import Band
from issues.rubrics import hybrid_score
from issues.rubrics.breakdown import Alternative, Breakdown
from issues.rubrics.scales import PassRule
from runs.admin.result.page_parts import JudgeInfo
from runs.admin.result.rubric import JudgeVerdict, Row, vote_split_of
from runs.scoring.agreement import JudgeValue, Scales, agreement_on
from runs.scoring.score import Rule


@dataclass(frozen=True)
class JudgeCoverage:
    """How many of the verdicts that a judge was asked for it gave."""

    judge_info: JudgeInfo
    answered: int
    asked: int


@dataclass(frozen=True)
class Agreement:
    """How far the judges of one result agreed.

    Attributes:
        alpha: Krippendorff's, ordinal; None where there is none to be had, which `band` explains.
        units: Criteria that two or more judges gave a value for, on one scale.
        split: Of a single criterion (or a test as a whole), as 2 : 1; "" otherwise.
    """

    alpha: float | None
    band: Band
    units: int
    split: str
    comparisons: Comparisons
    judges: list[JudgeCoverage]


def agreement_of(
    votes: Iterable[JudgeValue], scales: Scales, judge_verdict: Sequence[Sequence[JudgeVerdict]]
) -> Agreement:
    """How far the judges agreed; `judge_verdict` is what they said of each criterion."""
    alpha, band, units = agreement_on(votes, scales)
    return Agreement(
        alpha=alpha,
        band=band,
        units=units,
        split=vote_split_of(judge_verdict[0]) if len(judge_verdict) == 1 else "",
        comparisons=comparisons(_judge_coverage_of(each) for each in judge_verdict),
        judges=_judge_coverages(judge_verdict),
    )


def _judge_coverage_of(judge_verdict: Sequence[JudgeVerdict]) -> tuple[int, int]:
    answered = sum(each.value is not None for each in judge_verdict)
    return answered, sum(not each.judge_info.is_backup for each in judge_verdict)


def _judge_coverages(judge_verdict: Iterable[Sequence[JudgeVerdict]]) -> list[JudgeCoverage]:
    found: dict[int, JudgeCoverage] = {}
    for each in (one for criterion in judge_verdict for one in criterion):
        before = found.get(each.judge_info.judge_id, JudgeCoverage(each.judge_info, 0, 0))
        found[each.judge_info.judge_id] = JudgeCoverage(
            each.judge_info, before.answered + len(each.values), before.asked + len(each.samples)
        )
    return list(found.values())


# The score ---------------------------------------------------------------------------------------


def score_breakdown_of(
    rule: Rule, breakdown: Breakdown, rows: Sequence[Row], *, whole: float | None
) -> list[str]:
    """What made the score, sentence by sentence.

    Args:
        breakdown: Of what counts of the criteria, or of the test as a whole.
        rows: The rubric; empty where there is none.
        whole: What people say of the whole answer, which outranks all else.
    """
    if whole is not None:
        return [f"A person's verdict on the whole answer is the score: {score(whole)}."]
    if rule.is_bare({}) and breakdown.score is None:
        return [_bare(rule.similarity)]
    rubric = _rubric(breakdown, {row.criterion.key: row.number for row in rows}) if rows else []
    return [*rubric, *_similarity(rule, breakdown.score)]


def _bare(near: float | None) -> str:
    if near is None:
        return "Nothing judges this test, and its similarity to the reference was not measured."
    found = f"its similarity to the reference, {near:.2f}, is the score"
    return f"Nothing judges this test: {found}{', as 0' if near < 0 else ''}."


def _rubric(breakdown: Breakdown, numbers: Mapping[str, int]) -> list[str]:
    return [
        *_mean(breakdown),
        *_alternatives(breakdown.alternatives),
        *_left_out(breakdown, numbers),
        *_mandatory(breakdown, numbers),
    ]


def _mean(breakdown: Breakdown) -> list[str]:
    if breakdown.mean is None:
        return ["No criterion has a value, so there is no score."]
    return [
        f"The weighted mean of what has a value is {score(breakdown.mean)}; each criterion says "
        "what share it has in it."
    ]


def _alternatives(alternatives: Sequence[Alternative]) -> list[str]:
    lines = []
    for is_fault, aim, which in ((False, "succeed", "best"), (True, "fail", "worst")):
        mine = [way for way in alternatives if way.is_fault == is_fault]
        counting = next((way for way in mine if way.counts), None)
        others = [f"way {way.number} has {score(way.score)}" for way in mine if not way.counts]
        if counting is not None:
            among = f" ({', '.join(others)})" if others else ""
            lines.append(
                f"Of the ways to {aim}, way {counting.number} counts as the {which}, as one point "
                f"of weight 1: {score(counting.score)}{among}."
            )
    return lines


def _left_out(breakdown: Breakdown, numbers: Mapping[str, int]) -> list[str]:
    if not breakdown.unscored:
        return []
    return [f"{_named(breakdown.unscored, numbers)} without a value: the weight is left out."]


def _mandatory(breakdown: Breakdown, numbers: Mapping[str, int]) -> list[str]:
    if breakdown.lost:
        named = _named(breakdown.lost, numbers)
        return [f"{named} mandatory and without a value, so there is no score."]
    if breakdown.unmet:
        return [f"{_named(breakdown.unmet, numbers)} mandatory and not met: the score is 0."]
    return []


def _named(keys: Sequence[str], numbers: Mapping[str, int]) -> str:
    listed = ", ".join(str(numbers[key]) for key in keys)
    return f"Criterion {listed} is" if len(keys) == 1 else f"Criteria {listed} are"


def _similarity(rule: Rule, rubric: float | None) -> list[str]:
    weight, near = rule.similarity_weight, rule.similarity
    if not weight:
        return []
    if near is None:
        return [
            f"Similarity to the reference makes up {percent(weight)} of the score and was not "
            "measured, so there is no score."
        ]
    if rubric is None:
        return ["Similarity never takes the place of a rubric without a score."]
    mixed = hybrid_score.hybrid(rubric, near, weight)
    return [
        f"Similarity to the reference, {near:.2f}, makes up {percent(weight)}: "
        f"{1 - weight:g} · {score(rubric)} + {weight:g} · {score(hybrid_score.score_of(near))} "
        f"= {score(mixed)}."
    ]


def pass_rule_of(rule: Rule) -> str:
    where = "above" if rule.pass_rule == PassRule.STRICT else "from"
    return f"It passes {where} {score(rule.pass_threshold)}."
