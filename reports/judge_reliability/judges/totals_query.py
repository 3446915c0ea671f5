"""Judges and juries of the last judge runs, from the sums that each judge run keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evalhub.models import BatchState, LanguageModel
from evalhub.statistics.agreement.pair_coverage import Comparisons
from evalhub.work.cost_total import Spent
from reports.documents.links import page_url
from reports.judge_reliability.concerns_rule import (
    Concern,
    JuryRecord,
    concerns_about_jury,
)
from reports.judge_reliability.judge_line import JudgeLine, judge_lines, total
from runs.models import JudgeRun, Run, Suite
from runs.scoring.agreement import Agreement, agreement_in

RECENT = 10
"""Judge runs that the dashboard reads."""


@dataclass(frozen=True)
class JuryLine:
    """A judge run in sums."""

    judge_run: JudgeRun
    run: Run
    judges: tuple[JudgeLine, ...]
    agreement: Agreement
    comparisons: Comparisons
    spent: Spent

    @property
    def at(self) -> datetime:
        return self.judge_run.created_at

    @property
    def jury(self) -> str:
        return self.judge_run.jury_name or ", ".join(judge.name for judge in self.judges)

    @property
    def members(self) -> list[int]:
        """The ids of its judges without the backup."""
        return [judge.judge_id for judge in self.judges if not judge.is_backup]

    @property
    def url(self) -> str:
        return page_url("judge_reliability", tab="judges", run=self.run)

    @property
    def concerns(self) -> tuple[Concern, ...]:
        """The concerns about the jury as a whole."""
        return concerns_about_jury(JuryRecord(*self.agreement, *self.comparisons))


def jury_lines(
    *, suite: Suite | None = None, run: Run | None = None, last: int = RECENT
) -> list[JuryLine]:
    """Return the last judge runs that are done, the newest first; one query.

    Those that keep the judgments of another one are left out: each judgment counts once.
    """
    rows = JudgeRun.objects.filter(state=BatchState.DONE, judgments_from=None)
    rows = rows.exclude(jury__judges=[])
    rows = rows.exclude(statistics={})
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    if run is not None:
        rows = rows.filter(run=run)
    related = rows.select_related("run").order_by("-pk").defer("run__system_prompt", "run__params")
    return [
        JuryLine(
            judge_run=judge_run,
            run=judge_run.run,
            judges=tuple(judge_lines(judge_run, judge_run.statistics.get("judges", {}))),
            agreement=agreement_in(judge_run.statistics),
            comparisons=Comparisons(*judge_run.statistics.get("comparisons", (0, 0))),
            spent=judge_run.spent,
        )
        for judge_run in related[:last]
    ]


def newest_of_each_jury(lines: Iterable[JuryLine]) -> list[JuryLine]:
    """Return the newest judge run of each configuration of a jury, newest first."""
    newest: dict[str, JuryLine] = {}
    for line in lines:
        newest.setdefault(line.judge_run.jury_fingerprint, line)
    return list(newest.values())


def judge_totals(lines: Sequence[JuryLine]) -> list[JudgeLine]:
    """Add up each judge over these judge runs, the one asked most first; one query."""
    by_judge: dict[int, list[JudgeLine]] = {}
    for line in lines:
        for judge in line.judges:
            by_judge.setdefault(judge.judge_id, []).append(judge)
    ids = {pk for mine in by_judge.values() if (pk := mine[0].language_model_id) is not None}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    totals = [total(mine, notes) for mine in by_judge.values()]
    return sorted(totals, key=lambda judge: (-judge.asked, judge.name))
