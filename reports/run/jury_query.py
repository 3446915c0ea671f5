"""How a judging's judges agreed and how many of their verdicts came: the panel of one run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Count

from evalhub.models import LanguageModel
from evalhub.statistics.comparisons import Comparisons
from evalhub.statistics.krippendorff import Band
from reports.run.progress_query import ScoringProgress
from runs.figures.run_labels import judges_itself
from runs.models import JudgeRun, Judgment, JudgmentState, Run
from runs.scoring.agreement import agreement_in


@dataclass(frozen=True)
class JudgeLine:
    """One judge of the panel, and what became of the verdicts that it was asked for.

    `model` and `note` are its model's name and what is to be known of that; `judges_itself`: it
    judged its own answers;
    `is_backup`: it was asked where another failed; `fails_often`: see that function.
    """

    judge_id: int
    name: str
    ok: int
    repaired: int
    failed: int
    note: str
    judges_itself: bool
    is_scripted: bool
    is_backup: bool
    fails_often: bool = False
    model: str = ""

    @property
    def answered(self) -> int:
        return self.ok + self.repaired

    @property
    def asked(self) -> int:
        return self.answered + self.failed


@dataclass(frozen=True)
class Checks:
    """What became of the criteria that checks decide. Those that failed have no value."""

    ok: int
    failed: int

    @property
    def run(self) -> int:
        return self.ok + self.failed


@dataclass(frozen=True)
class RunJury:
    """The judges of a judging.

    Attributes:
        alpha: Krippendorff's, ordinal; None where it is not defined or not computed yet.
        band: What alpha is worth, or why there is none; None until the judging is done.
        units: Criteria with two or more verdicts, on which alpha rests.
        comparisons: Pairs of judges that can be compared, of those expected; None until the
            judging is done.
        failures: Failed verdicts by kind.
        checks: None where no criterion is decided by a check.
        cost_usd: Of assessments with known cost; None where none is known.
        with_cost: How many of `assessed` assessments have a known cost.
    """

    judges: tuple[JudgeLine, ...]
    alpha: float | None
    band: Band | None
    units: int
    comparisons: Comparisons | None
    failures: tuple[tuple[str, int], ...]
    checks: Checks | None
    cost_usd: Decimal | None
    with_cost: int
    assessed: int
    result_scores: int

    @property
    def models(self) -> list[JudgeLine]:
        """One judge for each language model that judges, however many judges it makes."""
        return list({judge.model: judge for judge in reversed(self.judges)}.values())[::-1]

    @property
    def answered(self) -> int:
        return sum(judge.answered for judge in self.judges)

    @property
    def asked(self) -> int:
        return sum(judge.asked for judge in self.judges)

    @property
    def failed(self) -> int:
        return sum(judge.failed for judge in self.judges)

    @property
    def is_doubtful(self) -> bool:
        """Whether the judges agree so little that a person should know at first sight."""
        return self.band in (Band.TENTATIVE, Band.UNRELIABLE)

    @property
    def failing(self) -> tuple[JudgeLine, ...]:
        """The judges that fail far more often than their peers."""
        return tuple(judge for judge in self.judges if judge.fails_often)


FEWEST_FAILED, LEAST_SHARE, TIMES = 3, 0.1, 3
"""From when a judge fails far more often than its peers."""


def fails_often(mine: JudgeLine, peers: Iterable[JudgeLine]) -> bool:
    """Whether a judge fails far more often than its peers, so that it is to be named.

    At least 3 of its verdicts failed, they are at least a tenth of what it was asked for, and that
    share is at least three times the share of all its peers together. A backup judge is no peer:
    it is asked only where it is hard.
    """
    peers = [peer for peer in peers if peer.judge_id != mine.judge_id and not peer.is_backup]
    asked, failed = sum(peer.asked for peer in peers), sum(peer.failed for peer in peers)
    if mine.is_backup or not asked or mine.failed < FEWEST_FAILED:
        return False
    share = mine.failed / mine.asked
    return share >= LEAST_SHARE and share * asked >= TIMES * failed


def jury_of(run: Run, judge_run: JudgeRun, assessed: ScoringProgress) -> RunJury:
    """The panel of one judging of this run, whose assessments add up to `assessed`."""
    sums = judge_run.statistics or _sums_so_far(judge_run)
    agreement = agreement_in(judge_run.statistics) if judge_run.statistics else None
    return RunJury(
        judges=_lines(run, judge_run, sums["judges"]),
        alpha=agreement.alpha if agreement else None,
        band=agreement.band if agreement else None,
        units=agreement.units if agreement else 0,
        comparisons=Comparisons(*sums["comparisons"]) if sums.get("comparisons") else None,
        checks=_checks(judge_run),
        failures=tuple(sorted(sums["failures"].items(), key=lambda pair: (-pair[1], pair[0]))),
        cost_usd=assessed.cost_usd,
        with_cost=assessed.with_cost,
        assessed=assessed.done,
        result_scores=assessed.n,
    )


def _sums_so_far(judge_run: JudgeRun) -> dict[str, Any]:
    """What `JudgeRun.statistics` will say of the judges, while they are still being asked."""
    judges: dict[str, dict[str, int]] = {}
    failures: dict[str, int] = {}
    rows = Judgment.objects.filter(judge_run=judge_run, judge__isnull=False).order_by()
    counted = rows.values_list("judge_id", "state", "failure").annotate(Count("pk"))
    for judge, state, failure, n in counted:
        mine = judges.setdefault(str(judge), dict.fromkeys(JudgmentState.values, 0))
        mine[state] += n
        if failure:
            failures[failure] = failures.get(failure, 0) + n
    return {"judges": judges, "failures": failures}


def _checks(judge_run: JudgeRun) -> Checks | None:
    rows = Judgment.objects.filter(judge_run=judge_run, judge__isnull=True).order_by()
    states = dict(rows.values_list("state").annotate(Count("pk")))
    failed = states.pop(JudgmentState.FAILED, 0)
    return Checks(ok=sum(states.values()), failed=failed) if failed or states else None


def _lines(run: Run, judge_run: JudgeRun, counted: dict[str, Any]) -> tuple[JudgeLine, ...]:
    judges, backup = judge_run.jury.get("judges", []), judge_run.jury.get("backup")
    seats = [(judge, False) for judge in judges] + ([(backup, True)] if backup else [])
    ids = {judge["endpoint"].get("language_model_id") for judge, _ in seats}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    lines = [
        _line(run, judge, is_backup, counted.get(str(judge["judge"]), {}), notes)
        for judge, is_backup in seats
    ]
    return tuple(replace(line, fails_often=fails_often(line, lines)) for line in lines)


def _line(
    run: Run,
    judge: dict[str, Any],
    is_backup: bool,
    counted: dict[str, int],
    notes: dict[int, str],
) -> JudgeLine:
    endpoint = judge["endpoint"]
    return JudgeLine(
        judge_id=judge["judge"],
        name=judge.get("name") or endpoint.get("name", ""),
        model=endpoint.get("name", ""),
        note=notes.get(endpoint.get("language_model_id"), ""),
        judges_itself=judges_itself(run, endpoint),
        is_scripted=bool(endpoint.get("is_scripted")),
        is_backup=is_backup,
        ok=counted.get(JudgmentState.OK, 0),
        repaired=counted.get(JudgmentState.REPAIRED, 0),
        failed=counted.get(JudgmentState.FAILED, 0),
    )
