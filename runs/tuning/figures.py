"""What a rehearsal has shown: the version in use and each try against people, on both halves."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count

from evalhub.models import BatchState, ItemState
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import consensus
from runs.tuning.metrics import (
    FEW,
    MetricDifference,
    Metrics,
    Row,
    compared,
    is_overfitted,
    metrics_of,
)
from runs.tuning.models import Attempt, AttemptJudgment, Split, Tuning
from runs.tuning.pass_lines import Frozen, pass_line_of

Rows = dict[str, list[Row]]
"""What was judged, by half."""


@dataclass(frozen=True)
class MeasuredAttempt:
    """The version in use (`attempt` None), or a try, on both halves.

    `against` compares it with the version in use, by half; empty for that version itself. `look`
    says how often the held-out half was looked at, this time included.
    """

    name: str
    attempt: Attempt | None
    splits: Mapping[str, Metrics]
    against: Mapping[str, MetricDifference]
    look: int = 0

    @property
    def is_overfitted(self) -> bool:
        return bool(self.against) and is_overfitted(
            self.against[Split.DEVELOPMENT], self.against[Split.HELD_OUT]
        )


@dataclass(frozen=True)
class TuningFigures:
    """The figures of a rehearsal. `attempts` has those that are complete, in their order."""

    in_use: MeasuredAttempt
    attempts: list[MeasuredAttempt]
    sizes: Mapping[str, int]
    left_out: Mapping[str, int]
    taught: int

    @property
    def is_small(self) -> bool:
        return min(self.sizes.values()) < FEW

    def of(self, attempt: Attempt) -> MeasuredAttempt | None:
        return next((one for one in self.attempts if one.attempt == attempt), None)


class Known(NamedTuple):
    """What is known of a precedent, whoever judges it."""

    split: str
    issue: int
    annotators: bool
    frozen: Frozen


KNOWN = (
    "pk",
    "split",
    "passed",
    "judge_passed",
    "is_example",
    "result__issue_id",
    "criterion__key",
    "criterion__polarity",
    "result__revision__pass_threshold",
    "result__revision__pass_rule",
)


def tuning_figures(tuning: Tuning) -> TuningFigures:
    """All figures, in a fixed number of queries. They count sealed tests too, and show no text."""
    precedents = list(tuning.examples.order_by("pk").values(*KNOWN))
    known = {row["pk"]: _known(row) for row in precedents}
    before: Rows = {split: [] for split in Split.values}
    for row in precedents:
        if not row["is_example"]:
            one = known[row["pk"]]
            judged = Row(row["pk"], one.issue, one.annotators, row["judge_passed"])
            before[one.split].append(judged)
    complete = list(tuning.attempts.filter(state=BatchState.DONE).order_by("number"))
    looks = looks_of(tuning)
    said = _said(complete)
    used = from_json(tuning.template.scale)
    return TuningFigures(
        in_use=MeasuredAttempt(str(tuning.template), None, _measured(before), {}),
        attempts=[
            _judged(attempt, before, _rows(attempt, said[attempt.pk], known, used), looks)
            for attempt in complete
        ],
        sizes={split: sum(one.split == split for one in known.values()) for split in Split.values},
        left_out=tuning.left_out,
        taught=sum(row["is_example"] for row in precedents),
    )


def _known(row: Mapping[str, Any]) -> Known:
    return Known(
        row["split"],
        row["result__issue_id"],
        row["passed"],
        Frozen(
            row["criterion__key"],
            row["criterion__polarity"] == "should_not",
            row["result__revision__pass_threshold"],
            row["result__revision__pass_rule"],
        ),
    )


def _said(attempts: list[Attempt]) -> dict[int, dict[int, list[float | None]]]:
    """What the judge said in each try of each precedent: a value for each sample."""
    rows = AttemptJudgment.objects.filter(attempt__in=attempts).order_by(
        "labelled_example", "sample"
    )
    said: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for attempt, labelled_example, value in rows.values_list(
        "attempt", "labelled_example", "value"
    ):
        said[attempt][labelled_example].append(value)
    return said


def _rows(
    attempt: Attempt,
    said: Mapping[int, list[float | None]],
    known: Mapping[int, Known],
    used: Scale,
) -> Rows:
    asked = from_json(attempt.content["scale"])
    found: Rows = {split: [] for split in Split.values}
    for labelled_example, values in said.items():
        one = known[labelled_example]
        passed = pass_line_of(one.frozen, used, asked).passed(consensus(values))
        found[one.split].append(Row(labelled_example, one.issue, one.annotators, passed))
    return found


def _measured(rows: Rows) -> dict[str, Metrics]:
    return {split: metrics_of(rows[split]) for split in Split.values}


def _judged(
    attempt: Attempt, before: Rows, after: Rows, looks: Mapping[int, int]
) -> MeasuredAttempt:
    return MeasuredAttempt(
        name=f"Try {attempt.number}",
        attempt=attempt,
        splits=_measured(after),
        against={split: compared(before[split], after[split]) for split in Split.values},
        look=looks[attempt.pk],
    )


def looks_of(tuning: Tuning) -> dict[int, int]:
    """Which look at the held-out half each try is, over all rehearsals of the template's family.

    Tests keep their half in all of them, so that each figure of it was one more chance to choose
    by luck.
    """
    ended = Attempt.objects.filter(
        tuning__template__family=tuning.template.family, state=BatchState.DONE
    )
    ids = ended.order_by("finished_at", "pk").values_list("pk", flat=True)
    return {pk: number for number, pk in enumerate(ids, 1)}


def failures(attempt: Attempt) -> dict[str, int]:
    """Why verdicts could not be had, by kind, the most frequent first."""
    rows = AttemptJudgment.objects.filter(attempt=attempt, state=ItemState.ERROR).order_by()
    found = rows.values_list("error_kind").annotate(n=Count("pk"))
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0])))


# As JSON -----------------------------------------------------------------------------------------


def as_json(judged: MeasuredAttempt) -> dict[str, Any]:
    """Figures as the API shows them and a published version keeps them."""
    return {
        "name": judged.name,
        "try": judged.attempt.pk if judged.attempt else None,
        "look": judged.look or None,
        "overfitted": judged.is_overfitted if judged.against else None,
        "splits": {split: _split(judged, split) for split in Split.values},
    }


def _split(judged: MeasuredAttempt, split: str) -> dict[str, Any]:
    found = judged.splits[split]
    return {
        "n": found.n,
        "issues": found.issues,
        "failed": found.failed,
        "kappa": found.kappa,
        "kappa_interval": found.intervals.kappa,
        "accuracy": found.accuracy.accuracy,
        "accuracy_interval": found.intervals.accuracy,
        "precision": found.accuracy.precision,
        "recall": found.accuracy.recall,
        "confusion": found.counts._asdict(),
        "difference": _difference(judged.against.get(split)),
    }


def _difference(against: MetricDifference | None) -> dict[str, Any] | None:
    if against is None:
        return None
    return {
        "kappa": against.difference.value,
        "interval": against.difference.interval,
        "n": against.n,
        "verdict": against.verdict.value,
    }
