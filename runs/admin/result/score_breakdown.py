"""The breakdown of a result's score in sentences."""

from collections.abc import Mapping, Sequence

from evalhub.display.formatting import percent, score
from issues.rubrics import hybrid_score
from issues.rubrics.breakdown import Breakdown
from issues.rubrics.scales import PassRule
from issues.rubrics.scoring import Alternative
from runs.scoring.score import Rule
from runs.scoring.verdict import ResultVerdict


def score_breakdown_of(verdict: ResultVerdict) -> list[str]:
    """Explain the score sentence by sentence, the pass rule last; [] for a plain mean of judges."""
    rule, breakdown = verdict.rule, verdict.breakdown
    if verdict.human_value is not None:
        several = len(verdict.whole.values) if verdict.whole else 0
        subject = f"mean of {several} human verdicts" if several > 1 else "human verdict"
        lines = [f"The {subject} on the whole answer is the score: {score(verdict.human_value)}."]
    elif rule.is_failed({}) and breakdown.score is None:
        return ["The answer broke off, which this run counts as failed: no judge was asked."]
    elif rule.is_bare({}) and breakdown.score is None:
        lines = [_bare(rule.similarity)]
    else:
        numbers = {found.criterion.key: number for number, found in enumerate(verdict.criteria, 1)}
        rubric = _rubric(breakdown, numbers) if verdict.has_rubric else []
        lines = [*rubric, *_similarity(rule, breakdown.score)]
    bound = "more than" if rule.pass_rule == PassRule.STRICT else "at least"
    return lines and [*lines, f"A score of {bound} {score(rule.pass_threshold)} passes."]


def _bare(similarity: float | None) -> str:
    if similarity is None:
        return "The test has no judges, and similarity to the reference was not measured: no score."
    found = f"similarity to the reference ({similarity:.2f}) is the score"
    return f"The test has no judges: {found}{', counted as 0' if similarity < 0 else ''}."


def _rubric(breakdown: Breakdown, numbers: Mapping[str, int]) -> list[str]:
    lines = [
        "No criterion has a value, so there is no score."
        if breakdown.mean is None
        else f"The weighted mean of the criteria with a value is {score(breakdown.mean)}; each "
        "criterion shows its share."
    ]
    lines += _alternatives(breakdown.alternatives)
    if keys := breakdown.unscored:
        have = "has" if len(keys) == 1 else "have"
        lines.append(f"{_named(keys, numbers)} {have} no value and no weight in the score.")
    effect, keys = "but not met: the score is 0.", breakdown.unmet
    if breakdown.lost:
        effect, keys = "and without a value, so there is no score.", breakdown.lost
    if keys:
        verb = "is" if len(keys) == 1 else "are"
        lines.append(f"{_named(keys, numbers)} {verb} mandatory {effect}")
    return lines


def _alternatives(alternatives: Sequence[Alternative]) -> list[str]:
    lines = []
    for is_fault, name, rank in ((False, "alternatives", "best"), (True, "faults", "worst")):
        group = [found for found in alternatives if found.is_fault == is_fault]
        counting = next((found for found in group if found.counts), None)
        others = [f"{found.number}: {score(found.score)}" for found in group if not found.counts]
        if counting is not None:
            among = f" ({', '.join(others)})" if others else ""
            lines.append(
                f"Of the {name}, number {counting.number} scores {rank} and counts as one "
                f"criterion of weight 1: {score(counting.score)}{among}."
            )
    return lines


def _named(keys: Sequence[str], numbers: Mapping[str, int]) -> str:
    listed = ", ".join(str(numbers[key]) for key in keys)
    return f"Criterion {listed}" if len(keys) == 1 else f"Criteria {listed}"


def _similarity(rule: Rule, rubric: float | None) -> list[str]:
    weight, similarity = rule.similarity_weight, rule.similarity
    if not weight:
        return []
    if similarity is None:
        return [
            f"Similarity to the reference makes up {percent(weight)} of the score and was not "
            "measured, so there is no score."
        ]
    if rubric is None:
        return ["Similarity alone gives no score when the rubric has none."]
    mixed = hybrid_score.hybrid(rubric, similarity, weight)
    return [
        f"Similarity to the reference ({similarity:.2f}) makes up {percent(weight)}: "
        f"{1 - weight:g} · {score(rubric)} + {weight:g} · "
        f"{score(hybrid_score.score_of(similarity))} = {score(mixed)}."
    ]
