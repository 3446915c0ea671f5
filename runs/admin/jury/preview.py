"""Calls of a jury per answer, shown while the jury is edited."""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.judging.jury_builder import SEEN
from runs.launching.judge_load import judge_shares, jury_preview
from runs.launching.selection import backup_of_one_model, equal_samples
from runs.models import Approach, Judge


@dataclass(frozen=True)
class JudgePreview:
    """A judge, with its calls for a test without rubric and for one with a rubric."""

    name: str
    sees: str
    samples: int
    whole: int
    rubric: int


@dataclass(frozen=True)
class JuryPreview:
    """Calls of all judges, for an example rubric of `criteria` criteria."""

    lines: list[JudgePreview]
    criteria: int
    backup: Judge | None
    warnings: list[str]

    @property
    def whole(self) -> int:
        return sum(line.whole for line in self.lines)

    @property
    def rubric(self) -> int:
        return sum(line.rubric for line in self.lines)

    @property
    def samples(self) -> int:
        """Most samples of any judge."""
        return max((line.samples for line in self.lines), default=1)


def jury_preview_of(judges: Sequence[Judge], backup: Judge | None, criteria: int) -> JuryPreview:
    lines = []
    for judge, share in zip(judges, judge_shares(jury_preview(judges), criteria), strict=True):
        sees = SEEN[Approach(judge.approach)]
        if judge.approach == Approach.TEMPLATE and judge.template:
            sees = f"the fields of {judge.template}"
        if judge.approach == Approach.TEMPLATE and share.rubric:
            sees = f"{sees}; for a rubric {SEEN[Approach.PROMPT_AWARE]}"
        lines.append(JudgePreview(str(judge), sees, judge.samples, share.whole, share.rubric))
    warnings = [*equal_samples(judges), *backup_of_one_model(judges, backup)]
    return JuryPreview(lines, criteria, backup, warnings)
