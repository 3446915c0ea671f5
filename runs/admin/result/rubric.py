"""A result's rubric as its page shows it: one row per criterion, with every verdict on it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.checks import CHECKS
from issues.models import FrozenCriterion
from issues.rubrics.scales import Scale
from runs.admin.result.adjudication import Adjudication, adjudication_of_criterion
from runs.admin.result.evaluation_entries import Choice, EvaluationEntry, extent_choices
from runs.models import HumanEvaluation, Judgment, JudgmentState
from runs.scoring.coverage_rule import CANNOT_TELL
from runs.scoring.human_evaluation import CHECKED
from runs.scoring.verdict import CriterionVerdict, ResultVerdict

CANNOT_RUN = "cannot run here"


@dataclass(frozen=True)
class Checked:
    """A check with its outcome; `judgment` None until it has run."""

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
    def label(self) -> str:
        if self.judgment is None:
            return "not checked yet" if self.can_run else CANNOT_RUN
        if not self.is_failed:
            return f"shown {self.judgment.value:.2f}"
        reason = "cannot tell" if self.judgment.failure == CANNOT_TELL else "check error"
        return reason if self.can_run else CANNOT_RUN


@dataclass(frozen=True)
class Row:
    """A criterion of a result, for one reader.

    Attributes:
        share: Its share of the score, in [0, 1]; None where it has no part in it.
        mine: The reader's own active evaluation.
    """

    number: int
    verdict: CriterionVerdict
    check: Checked | None
    share: float | None
    is_met: bool | None
    entries: list[EvaluationEntry]
    mine: HumanEvaluation | None
    choices: list[Choice]
    adjudication: Adjudication

    @property
    def criterion(self) -> FrozenCriterion:
        return self.verdict.criterion

    @property
    def title(self) -> str:
        """The criterion's text, or the name of its check."""
        return self.criterion.text or (self.check.name if self.check else "")

    @property
    def alternative_label(self) -> str:
        """Such as "alternative 2 (any one suffices)"; "" for a required criterion."""
        if self.criterion.alternative is None:
            return ""
        effect = "any one fails the test" if self.criterion.is_inverted else "any one suffices"
        return f"alternative {self.criterion.alternative} ({effect})"

    @property
    def needs_attention(self) -> bool:
        """Judges are split, a judgment is missing, or annotators disagree."""
        human = self.verdict.human
        is_disputed = human is not None and human.is_disputed
        return self.verdict.is_split or self.verdict.failed > 0 or is_disputed


def rows_of(
    verdict: ResultVerdict, entries: Sequence[EvaluationEntry], reader: User, scale: Scale
) -> list[Row]:
    """Return the rubric's rows in order.

    Args:
        entries: Human evaluations of the whole result; none for an inactive judge run.
        scale: The scale on which annotators judge a criterion without a check.
    """
    shares = {} if verdict.whole else verdict.breakdown.shares
    rows = []
    for number, found in enumerate(verdict.criteria, 1):
        criterion = found.criterion
        about = [entry for entry in entries if entry.evaluation.criterion_id == criterion.pk]
        mine = [entry.evaluation for entry in about if entry.is_active_of(reader)]
        row = Row(
            number=number,
            verdict=found,
            check=_checked(found),
            share=shares.get(criterion.key),
            is_met=None if found.score is None else verdict.rule.is_met(found.score),
            entries=about,
            mine=mine[-1] if mine else None,
            choices=extent_choices(
                CHECKED if criterion.check_name else scale, is_inverted=criterion.is_inverted
            ),
            adjudication=adjudication_of_criterion(about, reader),
        )
        rows.append(row)
    return rows


def _checked(found: CriterionVerdict) -> Checked | None:
    criterion = found.criterion
    if not criterion.check_name:
        return None
    known = CHECKS.get(criterion.check_name)
    return Checked(
        title=known.title if known else criterion.check_name,
        arguments=[
            (name.replace("_", " "), json.dumps(value, ensure_ascii=False))
            for name, value in criterion.arguments.items()
        ],
        judgment=found.check,
        can_run=known is None or known.can_run,
    )
