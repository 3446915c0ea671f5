"""Which issue to work on next: severity × models × users' reports × regression. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalhub.display.formatting import counted
from evalhub.statistics.changes.lost_issues import LostIssue
from evalhub.statistics.rates.behaviour_outcome import Word
from issues.severity import WEIGHT
from reports.issue_timeline.rule import IssueEvidence

LOST = 2
"""How many times as much one counts that was lost since the release before."""


@dataclass(frozen=True)
class Standing:
    """An issue in a release, with all its models.

    Attributes:
        lost: In all models together against the release before; None: not for sure.
    """

    issue: int
    severity: str
    evidence: IssueEvidence
    lost: LostIssue | None


@dataclass(frozen=True)
class WorkItem:
    """An issue to work on; `reports` counts pieces of feedback by users."""

    standing: Standing
    reports: int

    @property
    def failing(self) -> float:
        """The shares of failed answers, added up over the models with which it does not pass."""
        lines = self.standing.evidence.lines
        return sum(line.rate for line in lines if line.word != Word.PASSES)

    @property
    def priority(self) -> float:
        lost = LOST if self.standing.lost else 1
        return WEIGHT[self.standing.severity] * self.failing * (1 + self.reports) * lost

    @property
    def why(self) -> str:
        """The evidence, as sentences."""
        said = self.standing.evidence.words
        if lost := self.standing.lost:
            tests = counted(lost.tests, "test")
            said += f" Lost since the release before: {lost.lost:.3g} of {tests}, over all models."
        if self.reports:
            said += f" {counted(self.reports, 'report')} by users."
        return said


def work_list(standings: Iterable[Standing], reports: Mapping[int, int]) -> list[WorkItem]:
    """Return the issues that fail or may fail, the most urgent first.

    Args:
        reports: Pieces of feedback by issue.
    """
    items = [WorkItem(one, reports.get(one.issue, 0)) for one in standings]
    failing = [item for item in items if item.failing]
    return sorted(failing, key=lambda item: (-round(item.priority, 9), item.standing.issue))
