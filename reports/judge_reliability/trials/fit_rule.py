"""Fitness of a judge for a kind of task, by a trial on claims of known truth. Pure.

A judge is fit for a task if all of these hold on its claims, and unfit if one of the first four is
broken. Otherwise it was not shown.

- At least 95 % of its judgments have a score; until its trial has ended, fewer mean nothing.
- Of pairs judged in both orders, at least 90 % have the same verdict in both, if there are ten.
- Of false claims about two ideas of a cluster, it takes at most 20 % for true, if there are ten.
- Neither sensitivity nor specificity is significantly below 80 %.
- Both are shown to be at least 80 %: the rule by which humans prove a judge (`trust_rule`), with
  ideas in place of issues, and Holm over judges × tasks.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalhub.display.formatting import counted, few, percent
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from reports.judge_reliability.trust_rule import (
    MIN_OF_EACH,
    MIN_RATE,
    Evidence,
    HumanProof,
    Proof,
    Side,
    decide,
    more_needed,
)
from runs.comparison.completeness import is_enough, scored_words
from runs.laboratory.trials.judges.measures import (
    ClaimVerdict,
    JudgeMeasures,
    Share,
    counts_by_ideas,
    measures_of,
    total_of,
)

MIN_SYMMETRIC = 0.9
MAX_HARD_FALSE = 0.2

RULE = (
    "A judge is fit for a task if at least 95% of its judgments have a score, 90% of its pairs the "
    "same verdict in both orders, at most 20% of hard negatives pass as true, and sensitivity and "
    f"specificity are both shown to be at least {percent(MIN_RATE)} (lower bounds of intervals by "
    "idea, Holm over judges × tasks)."
)

Key = tuple[int, str]
"""A trial and a task."""


TASKS = {
    "summary": "judging how useful summaries are",
    "explanation": "judging how useful explanations are",
    "similarity": "telling if two texts mean the same",
    "code": "telling if two programs do the same",
    "rank": "choosing the better of two texts",
    "part": "comparing parts of composed programs",
}
"""Names of tasks in a sentence, by `runs.laboratory.trials.models.Task`."""


class Fit(StrEnum):
    FIT = "fit"
    UNFIT = "not fit"
    OPEN = "not shown"


@dataclass(frozen=True)
class TaskFit:
    """The conclusion on a judge and a task, and its reason: a clause without a subject."""

    task: str
    fit: Fit
    reason: str
    measures: JudgeMeasures


def fits_of(
    verdicts: Mapping[int, Sequence[ClaimVerdict]], *, incomplete: Collection[int] = ()
) -> dict[int, list[TaskFit]]:
    """Decide on every judge and every task that it was tried on, all together.

    Args:
        verdicts: By trial. A judgment that is still to come has no verdict, as a failed one.
        incomplete: Trials with judgments that are still to come.
    """
    asked: dict[Key, list[ClaimVerdict]] = defaultdict(list)
    for trial, mine in verdicts.items():
        for one in mine:
            asked[trial, one.task].append(one)
    proofs = decide({key: evidence_of(mine) for key, mine in asked.items()})
    found: dict[int, list[TaskFit]] = {trial: [] for trial in verdicts}
    for (trial, task), mine in sorted(asked.items()):
        measures = measures_of(mine)
        fit, reason = conclusion(measures, proofs[trial, task], is_complete=trial not in incomplete)
        found[trial].append(TaskFit(task, fit, reason, measures))
    return found


def evidence_of(verdicts: Sequence[ClaimVerdict]) -> Evidence:
    """Return the confusion matrices by idea: a claim of two ideas counts for the first."""
    by_idea: dict[object, list[JudgeCounts]] = defaultdict(list)
    for (first, _), counts in counts_by_ideas(verdicts).items():
        by_idea[first].append(counts)
    return Evidence.of(total_of(mine) for mine in by_idea.values())


def conclusion(
    found: JudgeMeasures, proof: HumanProof, *, is_complete: bool = True
) -> tuple[Fit, str]:
    """Return the first condition that is broken, or that the judge is fit."""
    if not is_enough(found.scored, found.asked):
        scored = scored_words(found.scored, found.asked)
        if not is_complete:
            return Fit.OPEN, f"has judged too few claims so far ({scored})"
        return Fit.UNFIT, f"answers too seldom ({scored})"
    pairs, hard = found.symmetric, found.hard_false
    if pairs and pairs.n >= MIN_OF_EACH and pairs.share < MIN_SYMMETRIC:
        return Fit.UNFIT, _by_order(found, pairs)
    if hard and hard.n >= MIN_OF_EACH and hard.share > MAX_HARD_FALSE:
        return Fit.UNFIT, f"takes related programs for the same, on {_of(hard)} hard negatives"
    if proof.proof is Proof.BELOW:
        return Fit.UNFIT, " and ".join(_errors(found, proof))
    if proof.proof is Proof.SHOWN:
        return Fit.FIT, "meets all conditions"
    return Fit.OPEN, _missing(found, proof)


def sentence(name: str, fits: Sequence[TaskFit]) -> str:
    """Say in one sentence what a judge is fit for; the table of tasks has the reasons."""
    if not fits:
        return f"{name} has no verdicts yet."
    fit = [TASKS[one.task] for one in fits if one.fit is Fit.FIT]
    others = counted(len(fits) - len(fit), "other task")
    is_unfit = all(one.fit is not Fit.OPEN for one in fits if one.fit is not Fit.FIT)
    if fit:
        rest = f", {'not' if is_unfit else 'not shown to be'} for {others}"
        return f"{name} is fit for {few(fit)}{rest if len(fit) < len(fits) else ''}."
    tasks = f"any of {len(fits)} tasks" if len(fits) > 1 else TASKS[fits[0].task]
    return f"{name} is not {'fit' if is_unfit else 'shown to be fit'} for {tasks}."


def _of(share: Share) -> str:
    return f"{percent(share.share)} of {share.n:,}"


def _found(found: JudgeMeasures) -> str:
    true, false = found.sensitivity, found.specificity
    right = [f"{_of(true)} true claims"] if true else []
    right += [f"{_of(false)} false ones"] if false else []
    return " and ".join(right)


def _by_order(found: JudgeMeasures, pairs: Share) -> str:
    first, second = found.prefers_first, found.prefers_second
    if first is None or second is None:
        turned = Share(pairs.n - pairs.part, pairs.n)
        return f"changes its verdict when the texts are swapped, on {_of(turned)} pairs"
    place, share = ("first", first) if first.part >= second.part else ("second", second)
    return f"prefers the text that is shown {place}, on {_of(share)} pairs"


def _errors(found: JudgeMeasures, proof: HumanProof) -> list[str]:
    """Name the rates that are significantly too low."""
    errors = []
    for side, right in zip(
        proof.evidence.sides, (found.sensitivity, found.specificity), strict=True
    ):
        if right and round(side.interval(proof.level).high, 9) < MIN_RATE:
            wrong = Share(right.n - right.part, right.n)
            errors.append(
                f"misses {_of(wrong)} true claims"
                if side.verdict == "pass"
                else f"takes {_of(wrong)} false claims for true"
            )
    return errors


def _missing(found: JudgeMeasures, proof: HumanProof) -> str:
    """Say what is needed to conclude."""
    sides = list(zip(proof.evidence.sides, ("true", "false"), strict=True))
    for side, name in sides:
        if not side.n:
            return f"was tried on no {name} claim"
        if not side.is_enough:
            ideas = len(side.issues)
            return f"was tried on {side.n:,} {name} claims of {ideas:,} ideas, which is too few"
    return f"finds {_found(found)}, and {_more(sides, proof)}"


def _more(sides: Sequence[tuple[Side, str]], proof: HumanProof) -> str:
    needed = [(more_needed(side, proof.level), name) for side, name in sides]
    wanted = [f"about {more:,} more {name} claims" for more, name in needed if more]
    if any(more is None for more, _ in needed):
        return "more claims will not show more at this rate"
    return f"{few(wanted)} are needed" if wanted else "more claims are needed"
