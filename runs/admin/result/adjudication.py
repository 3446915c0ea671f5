"""Whether people differ on an answer, who settled that, and whether its reader may."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.page_parts import EvaluationEntry
from runs.models import HumanEvaluation
from runs.scoring.disputes import Dispute, dispute_over, dispute_over_result


@dataclass(frozen=True)
class Adjudication:
    """What is to be known before one settles it. `settled_by` is the person's name; "": nobody."""

    dispute: Dispute | None
    reader: int
    settled_by: str

    @property
    def is_party(self) -> bool:
        """Whether the reader is one of those that differ: then somebody else has to settle it."""
        return self.dispute is not None and self.reader in self.dispute.parties

    @property
    def is_open_to_reader(self) -> bool:
        return self.dispute is not None and not self.is_party

    @property
    def is_expected(self) -> bool:
        """Whether a verdict of the reader is likely meant to settle it."""
        waits = self.dispute is not None and self.dispute.settled_by in (None, self.reader)
        return waits and not self.is_party


def adjudication_of(said: Sequence[EvaluationEntry], reader: User) -> Adjudication:
    """Of the result as it counts; `said` is everything that people said of it, oldest first."""
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for one in said:
        if one.about != WHOLE_TEST:
            about[one.evaluation.criterion_id].append(one.evaluation)
    whole = [one.evaluation for one in said if one.about == WHOLE_TEST]
    return _adjudication(dispute_over_result(whole, about), said, reader)


def adjudication_of_criterion(said: Sequence[EvaluationEntry], reader: User) -> Adjudication:
    """Of one criterion; `said` is what people said of it, oldest first."""
    return _adjudication(dispute_over([one.evaluation for one in said]), said, reader)


def _adjudication(
    dispute: Dispute | None, said: Sequence[EvaluationEntry], reader: User
) -> Adjudication:
    names = {one.evaluation.annotator_id: str(one.evaluation.annotator) for one in said}
    by = dispute.settled_by if dispute else None
    return Adjudication(dispute, reader.pk, names.get(by, "") if by else "")
