"""Human evaluations of the sample history's runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from random import Random
from typing import Any

from evalhub.models import User
from runs.demo import plan as planned
from runs.demo.content import Content, option_of
from runs.launching.launch import BATCH_SIZE
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Result, Run
from runs.scoring.score import score_results

JUDGED = "Judged by the reference."
DECIDED = "As the guidelines say."
OVERTURNED = "The judges were misled: the answer is not what the reference says."


@dataclass(frozen=True)
class Reviewed:
    """A run and whether each answer is right, by result id, with the time of its reviews."""

    content: Content
    run: Run
    right: dict[int, bool]
    at: datetime

    def review(self) -> None:
        """Let annotators review results at random and blind, and those that misled both judges."""
        random = Random(f"reviews of {self.run}")
        drawn = random.sample(sorted(self.right), planned.REVIEWED)
        first, second = self.content.annotators
        blind: dict[str, Any] = {"blind": True, "chosen_by": ChosenBy.QUEUE_RANDOM}
        rows = [self._evaluation(pk, first, **blind) for pk in drawn]
        rows += [self._evaluation(pk, second, **blind) for pk in drawn[: planned.REVIEWED_TWICE]]
        rows += [self._evaluation(pk, first, **blind) for pk in drawn[: planned.REVIEWED_AGAIN]]
        wrong = Result.objects.filter(run=self.run).exclude(pk__in=drawn)
        for pk, passed in wrong.values_list("pk", "passed"):
            if passed is not None and passed != self.right[pk]:
                rows.append(self._evaluation(pk, second, justification=OVERTURNED))
        self._save(rows)

    def dispute(self, *, is_open: bool) -> None:
        """Let annotators differ over a result that nobody has reviewed, and a third decide."""
        reviewed = HumanEvaluation.objects.filter(result__run=self.run)
        known = set(reviewed.values_list("result", flat=True))
        disputed = next(pk for pk in sorted(self.right) if pk not in known)
        rows = [
            self._evaluation(
                disputed,
                annotator,
                passes=passes,
                justification=JUDGED,
                blind=True,
                chosen_by=ChosenBy.QUEUE_SELECTED,
            )
            for annotator, passes in zip(self.content.annotators, (True, False), strict=True)
        ]
        if not is_open:
            kind = EvaluationKind.ADJUDICATION
            rows.append(
                self._evaluation(disputed, self.content.by, kind=kind, justification=DECIDED)
            )
        self._save(rows)

    def _evaluation(
        self,
        result_id: int,
        annotator: User,
        *,
        passes: bool | None = None,
        **fields: Any,
    ) -> HumanEvaluation:
        result = self._results[result_id]
        passes = self.right[result_id] if passes is None else passes
        fields.setdefault("chosen_by", ChosenBy.DIRECT)
        return HumanEvaluation(
            result_id=result_id,
            criterion_id=self.content.whole[result.revision_id],
            annotator=annotator,
            value=float(passes),
            option=option_of(result, passes),
            seconds=20 + result_id % 60,
            **fields,
        )

    @cached_property
    def _results(self) -> dict[int, Result]:
        rows = Result.objects.filter(run=self.run).select_related("revision__template")
        return {row.pk: row for row in rows}

    def _save(self, rows: Sequence[HumanEvaluation]) -> None:
        before = HumanEvaluation.objects.filter(result__run=self.run).values_list("pk", flat=True)
        known = set(before)
        HumanEvaluation.objects.bulk_create(rows, batch_size=BATCH_SIZE)
        before.exclude(pk__in=known).update(created_at=self.at)
        score_results({row.result_id for row in rows})
