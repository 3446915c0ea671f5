"""Disputes over an answer, and the reader's part in them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.evaluation_entries import EvaluationEntry
from runs.models import HumanEvaluation
from runs.scoring.disputes import Dispute, dispute_over, dispute_over_result


@dataclass(frozen=True)
class Adjudication:
    """A dispute for one reader; `settled_by` is the adjudicator's name, "" while unresolved."""

    dispute: Dispute | None
    reader: int
    settled_by: str

    @property
    def is_party(self) -> bool:
        """The reader is one of those who disagree, so somebody else has to adjudicate."""
        return self.dispute is not None and self.reader in self.dispute.parties

    @property
    def is_open_to_reader(self) -> bool:
        return self.dispute is not None and not self.is_party

    @property
    def is_expected(self) -> bool:
        """A verdict of the reader is probably meant as an adjudication."""
        waits = self.dispute is not None and self.dispute.settled_by in (None, self.reader)
        return waits and not self.is_party


def adjudication_of(entries: Sequence[EvaluationEntry], reader: User) -> Adjudication:
    """Return the dispute over a result; `entries` are all evaluations of it, oldest first."""
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for entry in entries:
        if entry.about != WHOLE_TEST:
            about[entry.evaluation.criterion_id].append(entry.evaluation)
    whole = [entry.evaluation for entry in entries if entry.about == WHOLE_TEST]
    return _adjudication(dispute_over_result(whole, about), entries, reader)


def adjudication_of_criterion(entries: Sequence[EvaluationEntry], reader: User) -> Adjudication:
    """Return the dispute over a criterion; `entries` are all evaluations of it, oldest first."""
    return _adjudication(dispute_over([entry.evaluation for entry in entries]), entries, reader)


def _adjudication(
    dispute: Dispute | None, entries: Sequence[EvaluationEntry], reader: User
) -> Adjudication:
    names = {entry.evaluation.annotator_id: str(entry.evaluation.annotator) for entry in entries}
    by = dispute.settled_by if dispute else None
    return Adjudication(dispute, reader.pk, names.get(by, "") if by else "")
