"""A result's rubric as its page shows it: one row a criterion, with what everyone said of it."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalhub.models import User
from evalhub.statistics.deviation import is_split, population_deviation
from issues.checks import CHECKS
from issues.models import FrozenCriterion
from issues.rubrics.scales import Scale
from issues.rubrics.scoring import WHOLE_TEST, consensus, inverted, jury_value
from runs.admin.result.adjudication import Adjudication, adjudication_of_criterion
from runs.admin.result.page_parts import (
    Choice,
    EvaluationEntry,
    JudgeInfo,
    Text,
    extent_choices,
    extent_label,
    text_or_none,
)
from runs.models import HumanEvaluation, Judgment, JudgmentState
from runs.scoring.active_evaluations import Evaluation, HumanScore, human_score_of
from runs.scoring.agreement import majority
from runs.scoring.human_evaluation import CHECKED

CANNOT_RUN = "cannot run here"


@dataclass(frozen=True)
class Sample:
    """One verdict of a judge."""

    judgment: Judgment
    reasons: Text | None

    @property
    def words(self) -> str:
        return extent_label(self.judgment.option, self.judgment.value)


@dataclass(frozen=True)
class JudgeVerdict:
    """What one judge said of one criterion, in all its samples; none: not judged (yet)."""

    judge_info: JudgeInfo
    samples: list[Sample]

    @property
    def values(self) -> list[float]:
        return [s.judgment.value for s in self.samples if s.judgment.value is not None]

    @property
    def value(self) -> float | None:
        """The mean of its samples; None where none gave a value."""
        return consensus(self.values)

    @property
    def failed(self) -> int:
        return len(self.samples) - len(self.values)

    @property
    def shares(self) -> list[tuple[str, int]]:
        """How many of its samples chose which option, the most frequent first."""
        given = [s.judgment for s in self.samples if s.judgment.value is not None]
        counted = Counter(extent_label(judgment.option) for judgment in given)
        return counted.most_common()

    @property
    def certainty(self) -> float | None:
        """The share of the option chosen most; None where it was not asked several times."""
        return (
            self.shares[0][1] / len(self.values) if len(self.samples) > 1 and self.values else None
        )

    @property
    def words(self) -> str:
        if self.value is None:
            return "failed" if self.samples else "not judged yet"
        return self.samples[0].words if len(self.samples) == 1 else f"{self.value:.2f}"


@dataclass(frozen=True)
class Checked:
    """What came of a check. `judgment` None: it was not run (yet)."""

    title: str
    arguments: list[tuple[str, str]]
    judgment: Judgment | None
    can_run: bool

    @property
    def name(self) -> str:
        given = ", ".join(f"{name} {value}" for name, value in self.arguments)
        return f"{self.title}: {given}" if given else self.title

    @property
    def is_failed(self) -> bool:
        return self.judgment is not None and self.judgment.state == JudgmentState.FAILED

    @property
    def words(self) -> str:
        if self.judgment is None:
            return "not checked yet" if self.can_run else CANNOT_RUN
        if not self.is_failed:
            return f"shown {self.judgment.value:.2f}"
        return "check error" if self.can_run else CANNOT_RUN


@dataclass(frozen=True)
class Row:
    """One criterion of a result.

    Attributes:
        judged: What judges, or its check, found: how far the answer shows it, in [0, 1].
        verdict: What people say of it, which counts instead; None where nobody does.
        share: How much of the score it makes up, in [0, 1]; None where it has no part in it.
        way: The way that it belongs to, in words; "" where it is required.
        mine: The reader's own verdict that stands.
        settling: Whether people differ on it, and whether the reader may settle that.
    """

    number: int
    criterion: FrozenCriterion
    judge_verdict: list[JudgeVerdict]
    check: Checked | None
    judged: float | None
    verdict: HumanScore | None
    share: float | None
    is_met: bool | None
    alternative_label: str
    said: list[EvaluationEntry]
    mine: HumanEvaluation | None
    choices: list[Choice]
    adjudication: Adjudication

    @property
    def title(self) -> str:
        """What is asked; a check without words of its own has its name."""
        return self.criterion.text or (self.check.name if self.check else "")

    @property
    def value(self) -> float | None:
        """How far the answer shows it, as it counts; None: not measured."""
        return self.verdict.score if self.verdict else self.judged

    @property
    def score(self) -> float | None:
        """How good that is: a "should not" is the better the less it is shown."""
        return inverted(self.value) if self.criterion.is_inverted else self.value

    @property
    def my_words(self) -> str:
        return extent_label(self.mine.option) if self.mine else ""

    @property
    def values(self) -> list[float]:
        return [
            judge_verdict.value
            for judge_verdict in self.judge_verdict
            if judge_verdict.value is not None
        ]

    @property
    def deviation(self) -> float | None:
        return population_deviation(self.values)

    @property
    def is_split(self) -> bool:
        return is_split(self.deviation)

    @property
    def split(self) -> str:
        return vote_split_of(self.judge_verdict)

    @property
    def failed(self) -> int:
        """Verdicts that could not be had."""
        return sum(h.failed for h in self.judge_verdict) + bool(self.check and self.check.is_failed)

    @property
    def is_judged(self) -> bool:
        """Whether a judge, a check or a person has been heard."""
        by_check = self.check is not None and self.check.judgment is not None
        return (
            by_check
            or self.verdict is not None
            or any(judge_verdict.samples for judge_verdict in self.judge_verdict)
        )

    @property
    def is_open(self) -> bool:
        """Whether it needs a look, so that it is shown whole at once."""
        is_disputed = self.verdict is not None and self.verdict.is_disputed
        return self.is_split or self.failed > 0 or is_disputed


def vote_split_of(judge_verdict: Iterable[JudgeVerdict]) -> str:
    """How many judges gave the same value, as 2 : 1; "" with fewer than two to compare."""
    values = [value for each in judge_verdict if (value := majority(each.values)) is not None]
    return " : ".join(str(n) for _, n in Counter(values).most_common()) if len(values) > 1 else ""


@dataclass(frozen=True)
class CriterionVerdicts:
    """All that was said of a result's criteria, by the criterion's id."""

    judge_verdict: Mapping[int, list[JudgeVerdict]]
    checks: Mapping[int, Judgment]
    said: Mapping[int, list[EvaluationEntry]]
    verdicts: Mapping[int, HumanScore]

    @property
    def judged(self) -> dict[int, float | None]:
        """What judges or checks found of each."""
        panels = {
            pk: jury_value({h.judge_info.judge_id: h.values for h in judge_verdict})
            for pk, judge_verdict in self.judge_verdict.items()
            if any(each.samples for each in judge_verdict)
        }
        return {**panels, **{pk: judgment.value for pk, judgment in self.checks.items()}}

    @property
    def counting(self) -> dict[int, float | None]:
        """What counts: people's verdicts instead of the judges'."""
        return {**self.judged, **{pk: verdict.score for pk, verdict in self.verdicts.items()}}


def criterion_verdicts_of(
    criteria: Sequence[FrozenCriterion],
    judgments: Sequence[Judgment],
    judges_asked: Sequence[int],
    judge_infos: Mapping[int, JudgeInfo],
    said: Sequence[EvaluationEntry],
) -> CriterionVerdicts:
    """Sort out by criterion what judges, checks and people said.

    Args:
        judgments: Of one judging.
        sitting: Ids of the judges who are asked about each of these criteria.
        parties: The judges of the judging.
        said: Of the whole result.
    """
    by_judge: dict[int, dict[int, list[Judgment]]] = defaultdict(lambda: defaultdict(list))
    checks = {row.criterion_id: row for row in judgments if row.judge_id is None}
    for row in judgments:
        if row.judge_id is not None:
            by_judge[row.criterion_id][row.judge_id].append(row)
    about: dict[int, list[EvaluationEntry]] = defaultdict(list)
    for one in said:
        about[one.evaluation.criterion_id].append(one)
    return CriterionVerdicts(
        judge_verdict={
            c.pk: [] if c.check_name else _heard(by_judge[c.pk], judges_asked, judge_infos)
            for c in criteria
        },
        checks=checks,
        said=about,
        verdicts={pk: verdict for pk, mine in about.items() if (verdict := _verdict(mine))},
    )


def _heard(
    given: Mapping[int, Sequence[Judgment]],
    judges_asked: Sequence[int],
    judge_infos: Mapping[int, JudgeInfo],
) -> list[JudgeVerdict]:
    """Those who are asked, in the order of the jury, and whoever else has answered."""
    return [
        JudgeVerdict(
            judge_info,
            [
                Sample(row, text_or_none(row.justification))
                for row in sorted(given.get(judge, ()), key=lambda row: row.sample)
            ],
        )
        for judge, judge_info in judge_infos.items()
        if judge in judges_asked or judge in given
    ]


def _verdict(said: Iterable[EvaluationEntry]) -> HumanScore | None:
    rows = [one.evaluation for one in said]
    return human_score_of([Evaluation(row.annotator_id, row.kind, row.value) for row in rows])


@dataclass(frozen=True)
class Measure:
    """By what the rows are measured: what each has a share in, and on which scale people judge."""

    shares: Mapping[str, float]
    is_met: Callable[[float], bool | None]
    scale: Scale


def rows_of(
    criteria: Sequence[FrozenCriterion],
    verdicts_by_criterion: CriterionVerdicts,
    measure: Measure,
    reader: User,
) -> list[Row]:
    """The rubric in its order, for one reader."""
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    return [
        _row(number, criterion, verdicts_by_criterion, measure, reader)
        for number, criterion in enumerate(rubric, 1)
    ]


def _row(
    number: int,
    criterion: FrozenCriterion,
    verdicts_by_criterion: CriterionVerdicts,
    measure: Measure,
    reader: User,
) -> Row:
    said = verdicts_by_criterion.said.get(criterion.pk, [])
    mine = [s.evaluation for s in said if s.is_active and s.evaluation.annotator_id == reader.pk]
    value = verdicts_by_criterion.counting.get(criterion.pk)
    score = inverted(value) if criterion.is_inverted else value
    return Row(
        number=number,
        criterion=criterion,
        judge_verdict=verdicts_by_criterion.judge_verdict[criterion.pk],
        check=_checked(criterion, verdicts_by_criterion.checks.get(criterion.pk)),
        judged=verdicts_by_criterion.judged.get(criterion.pk),
        verdict=verdicts_by_criterion.verdicts.get(criterion.pk),
        share=measure.shares.get(criterion.key),
        is_met=None if score is None else measure.is_met(score),
        alternative_label=alternative_of(criterion),
        said=said,
        mine=mine[-1] if mine else None,
        choices=extent_choices(CHECKED if criterion.check_name else measure.scale),
        adjudication=adjudication_of_criterion(said, reader),
    )


def alternative_of(criterion: FrozenCriterion) -> str:
    if criterion.alternative is None:
        return ""
    return f"way {criterion.alternative} to {'fail' if criterion.is_inverted else 'succeed'}"


def _checked(criterion: FrozenCriterion, judgment: Judgment | None) -> Checked | None:
    if not criterion.check_name:
        return None
    known = CHECKS.get(criterion.check_name)
    return Checked(
        title=known.title if known else criterion.check_name,
        arguments=[
            (name.replace("_", " "), json.dumps(value, ensure_ascii=False))
            for name, value in criterion.arguments.items()
        ],
        judgment=judgment,
        can_run=known is None or known.can_run,
    )
