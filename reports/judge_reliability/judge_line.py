"""A judge and the outcomes of its judgments, in one judge run or over several."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports.judge_reliability.concerns_rule import JudgeRecord, fails_often
from runs.figures.run_labels import judges_itself
from runs.judging.jury import judges_in
from runs.models import JudgeRun, JudgmentState


@dataclass(frozen=True)
class JudgeLine:
    """Counts of a judge's judgments; of a backup, those it was asked for after others failed.

    `own_answers` are judge runs in which it judged its own answers. `note` is what the workspace
    has noted about its model.
    """

    judge_id: int
    name: str
    model: str
    language_model_id: int | None
    is_backup: bool
    is_scripted: bool
    judges_itself: bool
    ok: int
    repaired: int
    failed: int
    judge_runs: int = 1
    own_answers: int = 0
    note: str = ""

    @property
    def answered(self) -> int:
        return self.ok + self.repaired

    @property
    def asked(self) -> int:
        return self.answered + self.failed

    @property
    def fails_often(self) -> bool:
        return fails_often(self.asked, self.failed)

    def record(self, **known: Any) -> JudgeRecord:
        """Return its record for the rule of trust; `known` is all else that was measured."""
        return JudgeRecord(
            asked=self.asked,
            failed=self.failed,
            own_answers=self.own_answers,
            is_scripted=self.is_scripted,
            **known,
        )


def judge_lines(
    judge_run: JudgeRun, counted: Mapping[str, Mapping[str, int]]
) -> Iterator[JudgeLine]:
    """Yield the judges of a judge run, its backup last.

    Args:
        counted: Judgments by judge id and state, as `JudgeRun.statistics` keeps them.
    """
    for one in judges_in(judge_run.jury):
        endpoint = one["endpoint"]
        mine = counted.get(str(one["judge"]), {})
        is_own = judges_itself(judge_run.run, endpoint)
        yield JudgeLine(
            judge_id=one["judge"],
            name=one.get("name") or endpoint.get("name", ""),
            model=endpoint.get("name", ""),
            language_model_id=endpoint.get("language_model_id"),
            is_backup=one is judge_run.jury.get("backup"),
            is_scripted=bool(endpoint.get("is_scripted")),
            judges_itself=is_own,
            ok=mine.get(JudgmentState.OK, 0),
            repaired=mine.get(JudgmentState.REPAIRED, 0),
            failed=mine.get(JudgmentState.FAILED, 0),
            own_answers=int(is_own and any(mine.values())),
        )


def total(lines: Sequence[JudgeLine], notes: Mapping[int, str]) -> JudgeLine:
    """Add up one judge's lines, the newest first, which names it."""
    newest = lines[0]
    return replace(
        newest,
        is_backup=all(line.is_backup for line in lines),
        is_scripted=any(line.is_scripted for line in lines),
        judges_itself=any(line.judges_itself for line in lines),
        ok=sum(line.ok for line in lines),
        repaired=sum(line.repaired for line in lines),
        failed=sum(line.failed for line in lines),
        judge_runs=len(lines),
        own_answers=sum(line.own_answers for line in lines),
        note=notes.get(newest.language_model_id or 0, ""),
    )
