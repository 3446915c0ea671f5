"""Disputes over an answer, and the reader's part in them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.evaluation_entries import EvaluationEntry
from runs.models import EvaluationKind, HumanEvaluation
from runs.scoring.dispute_rule import Dispute, dispute_over, dispute_over_result


@dataclass(frozen=True)
class Adjudication:
    """A dispute for one reader, and its final decision; None while unresolved."""

    dispute: Dispute | None
    reader: int
    decision: EvaluationEntry | None

    @property
    def settled_by(self) -> str:
        """The adjudicator's name; "" while unresolved."""
        return str(self.decision.evaluation.annotator) if self.decision else ""

    @property
    def replaces(self) -> int | None:
        """The id of somebody else's final decision, which a new one would replace."""
        row = self.decision.evaluation if self.decision else None
        return row.pk if row and row.annotator_id != self.reader else None

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
        return self.is_open_to_reader and self.replaces is None


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
    decisions = [
        entry
        for entry in entries
        if entry.is_active and entry.evaluation.kind == EvaluationKind.ADJUDICATION
    ]
    is_settled = dispute is not None and dispute.settled_by is not None
    return Adjudication(dispute, reader.pk, decisions[-1] if is_settled and decisions else None)
