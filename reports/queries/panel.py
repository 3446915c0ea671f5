"""How a judging's judges agreed and how many of their verdicts came: the panel of one run."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count

from evalhub.models import LanguageModel
from evalhub.statistics import krippendorff
from evalhub.statistics.krippendorff import Band
from reports.queries.progress import Assessed
from runs.labels import judges_itself
from runs.models import Judging, Judgment, JudgmentState, Run


@dataclass(frozen=True)
class JudgeLine:
    """One judge of the panel, and what became of the verdicts that it was asked for.

    `note` is what is to be known of its model; `judges_itself`: it judged its own answers.
    """

    judge_id: int
    name: str
    ok: int
    repaired: int
    failed: int
    note: str
    judges_itself: bool
    is_scripted: bool

    @property
    def answered(self) -> int:
        return self.ok + self.repaired

    @property
    def asked(self) -> int:
        return self.answered + self.failed


@dataclass(frozen=True)
class Panel:
    """The judges of a judging.

    Attributes:
        alpha: Krippendorff's, ordinal; None where it is not defined or not computed yet.
        band: What alpha is worth, or why there is none; None until the judging is done.
        units: Criteria with two or more verdicts, on which alpha rests.
        failures: Failed verdicts by kind.
        cost_usd: Of assessments with known cost; None where none is known.
        with_cost: How many of `assessed` assessments have a known cost.
    """

    judges: tuple[JudgeLine, ...]
    alpha: float | None
    band: Band | None
    units: int
    failures: tuple[tuple[str, int], ...]
    cost_usd: Decimal | None
    with_cost: int
    assessed: int
    assessments: int

    @property
    def answered(self) -> int:
        return sum(judge.answered for judge in self.judges)

    @property
    def asked(self) -> int:
        return sum(judge.asked for judge in self.judges)

    @property
    def failed(self) -> int:
        return sum(judge.failed for judge in self.judges)


def panel_of(run: Run, judging: Judging, assessed: Assessed) -> Panel:
    """The panel of one judging of this run, whose assessments add up to `assessed`."""
    sums = judging.statistics or _sums_so_far(judging)
    compared = _most_compared(sums)
    alpha, band = _agreement(compared) if judging.statistics else (None, None)
    return Panel(
        judges=_lines(run, judging, sums["judges"]),
        alpha=alpha,
        band=band,
        units=compared["units"],
        failures=tuple(sorted(sums["failures"].items(), key=lambda pair: (-pair[1], pair[0]))),
        cost_usd=assessed.cost_usd,
        with_cost=assessed.with_cost,
        assessed=assessed.done,
        assessments=assessed.n,
    )


def _most_compared(sums: dict[str, Any]) -> dict[str, Any]:
    """What was compared on the scale on which most was; verdicts on two scales cannot be."""
    nothing: dict[str, Any] = {"coincidences": [], "units": 0, "raters": []}
    scales = sums.get("scales", {}).values()
    return max(scales, key=lambda compared: compared["units"], default=nothing)


def _agreement(compared: dict[str, Any]) -> tuple[float | None, Band]:
    alpha = krippendorff.alpha_from_coincidences(krippendorff.from_json(compared["coincidences"]))
    raters, units = len(compared["raters"]), compared["units"]
    return alpha, krippendorff.band(alpha, raters=raters, units=units)


def _sums_so_far(judging: Judging) -> dict[str, Any]:
    """What `Judging.statistics` will say of the judges, while they are still being asked."""
    judges: dict[str, dict[str, int]] = {}
    failures: dict[str, int] = {}
    rows = Judgment.objects.filter(judging=judging, judge__isnull=False).order_by()
    counted = rows.values_list("judge_id", "state", "failure").annotate(Count("pk"))
    for judge, state, failure, n in counted:
        mine = judges.setdefault(str(judge), dict.fromkeys(JudgmentState.values, 0))
        mine[state] += n
        if failure:
            failures[failure] = failures.get(failure, 0) + n
    return {"judges": judges, "failures": failures}


def _lines(run: Run, judging: Judging, counted: dict[str, Any]) -> tuple[JudgeLine, ...]:
    judges = judging.jury.get("judges", [])
    ids = {judge["endpoint"].get("language_model_id") for judge in judges}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    return tuple(_line(run, judge, counted.get(str(judge["judge"]), {}), notes) for judge in judges)


def _line(
    run: Run, judge: dict[str, Any], counted: dict[str, int], notes: dict[int, str]
) -> JudgeLine:
    endpoint = judge["endpoint"]
    return JudgeLine(
        judge_id=judge["judge"],
        name=judge.get("name") or endpoint.get("name", ""),
        note=notes.get(endpoint.get("language_model_id"), ""),
        judges_itself=judges_itself(run, endpoint),
        is_scripted=bool(endpoint.get("is_scripted")),
        **{state: counted.get(state, 0) for state in JudgmentState.values},
    )
