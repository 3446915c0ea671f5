"""The jury of a run: agreement and failures of its judges."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from evalhub.models import LanguageModel
from evalhub.statistics.agreement.alpha_bands import Band
from evalhub.statistics.agreement.pair_coverage import Comparisons
from evalhub.statistics.interval import Interval
from reports.judge_reliability.judge_line import JudgeLine, judge_lines, total
from reports.run.progress_query import ScoringProgress
from runs.models import JudgeRun, Judgment, JudgmentState
from runs.scoring.agreement import agreement_in, counts_of


@dataclass(frozen=True)
class Checks:
    """Judgments of checks; failed ones have no value."""

    ok: int
    failed: int


@dataclass(frozen=True)
class RunJury:
    """The judges of a judge run.

    Attributes:
        alpha: Krippendorff's, ordinal; None where it is not defined or not computed yet.
        band: What alpha is worth, or why there is none; None until the judge run is done.
        interval: 95 % of alpha, a bootstrap over results; None where unknown.
        units: Criteria with two or more verdicts, on which alpha rests.
        comparisons: Pairs of judges that can be compared, of those expected; None until the
            judge run is done.
        failures: Failed verdicts by kind.
        checks: None where no criterion is decided by a check.
    """

    judges: tuple[JudgeLine, ...]
    alpha: float | None
    band: Band | None
    interval: Interval | None
    units: int
    comparisons: Comparisons | None
    failures: tuple[tuple[str, int], ...]
    checks: Checks | None
    assessed: int

    @property
    def models(self) -> list[JudgeLine]:
        """The first judge of each language model."""
        return list({judge.model: judge for judge in reversed(self.judges)}.values())[::-1]

    @property
    def failed(self) -> int:
        return sum(judge.failed for judge in self.judges)


def jury_of(judge_run: JudgeRun, assessed: ScoringProgress) -> RunJury:
    """Return the jury of one judge run."""
    sums: dict[str, Any] = judge_run.statistics or counts_of(judge_run.pk)
    agreement = agreement_in(judge_run.statistics) if judge_run.statistics else None
    lines = list(judge_lines(judge_run, sums["judges"]))
    models = LanguageModel.objects.filter(pk__in={line.language_model_id for line in lines})
    notes = dict(models.values_list("pk", "note"))
    checks = Judgment.objects.filter(judge_run=judge_run, judge__isnull=True).order_by()
    states = dict(checks.values_list("state").annotate(Count("pk")))
    failed = states.pop(JudgmentState.FAILED, 0)
    return RunJury(
        judges=tuple(total([line], notes) for line in lines),
        alpha=agreement.alpha if agreement else None,
        band=agreement.band if agreement else None,
        interval=agreement.interval if agreement else None,
        units=agreement.units if agreement else 0,
        comparisons=Comparisons(*sums["comparisons"]) if sums.get("comparisons") else None,
        checks=Checks(ok=sum(states.values()), failed=failed) if failed or states else None,
        failures=tuple(sorted(sums["failures"].items(), key=lambda pair: (-pair[1], pair[0]))),
        assessed=assessed.done,
    )
