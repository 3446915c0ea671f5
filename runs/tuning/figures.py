"""Figures of a judge tuning: the version in use and each attempt, on both splits."""

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
"""Verdicts by split."""


@dataclass(frozen=True)
class MeasuredAttempt:
    """Figures of the version in use (`attempt` None) or of an attempt, on both splits.

    `against` compares it with the version in use, by split; empty for that version itself. `look`
    is the number of looks at the held-out split so far, including this one.
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
    """Figures of a tuning. `attempts` has the complete ones, in order."""

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
    """The facts of a labelled example that do not depend on the judge."""

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
    """Compute all figures, sealed tests included, in a fixed number of queries."""
    labelled_examples = list(tuning.examples.order_by("pk").values(*KNOWN))
    known = {row["pk"]: _known(row) for row in labelled_examples}
    before: Rows = {split: [] for split in Split.values}
    for row in labelled_examples:
        if not row["is_example"]:
            one = known[row["pk"]]
            judged = Row(row["pk"], one.issue, one.annotators, row["judge_passed"])
            before[one.split].append(judged)
    complete = list(tuning.attempts.filter(state=BatchState.DONE).order_by("number"))
    looks = looks_of(tuning)
    values = _values(complete)
    used = from_json(tuning.template.scale)
    return TuningFigures(
        in_use=MeasuredAttempt(str(tuning.template), None, _measured(before), {}),
        attempts=[
            _judged(attempt, before, _rows(attempt, values[attempt.pk], known, used), looks)
            for attempt in complete
        ],
        sizes={split: sum(one.split == split for one in known.values()) for split in Split.values},
        left_out=tuning.left_out,
        taught=sum(row["is_example"] for row in labelled_examples),
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


def _values(attempts: list[Attempt]) -> dict[int, dict[int, list[float | None]]]:
    """Return the judge's values by attempt and labelled example, one per sample."""
    rows = AttemptJudgment.objects.filter(attempt__in=attempts).order_by(
        "labelled_example", "sample"
    )
    found: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for attempt, labelled_example, value in rows.values_list(
        "attempt", "labelled_example", "value"
    ):
        found[attempt][labelled_example].append(value)
    return found


def _rows(
    attempt: Attempt,
    samples: Mapping[int, list[float | None]],
    known: Mapping[int, Known],
    used: Scale,
) -> Rows:
    asked = from_json(attempt.content["scale"])
    found: Rows = {split: [] for split in Split.values}
    for labelled_example, values in samples.items():
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
        name=f"Attempt {attempt.number}",
        attempt=attempt,
        splits=_measured(after),
        against={split: compared(before[split], after[split]) for split in Split.values},
        look=looks[attempt.pk],
    )


def looks_of(tuning: Tuning) -> dict[int, int]:
    """Number the attempts that looked at the held-out split, over all tunings of the family.

    Tests keep their split in all of them, so each look is one more chance to choose by luck.
    """
    ended = Attempt.objects.filter(
        tuning__template__family=tuning.template.family, state=BatchState.DONE
    )
    ids = ended.order_by("finished_at", "pk").values_list("pk", flat=True)
    return {pk: number for number, pk in enumerate(ids, 1)}


def failures(attempt: Attempt) -> dict[str, int]:
    """Count judge errors by kind, the most frequent first."""
    rows = AttemptJudgment.objects.filter(attempt=attempt, state=ItemState.ERROR).order_by()
    found = rows.values_list("error_kind").annotate(n=Count("pk"))
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0])))


# As JSON -----------------------------------------------------------------------------------------


def as_json(judged: MeasuredAttempt) -> dict[str, Any]:
    """Serialise figures for the API and for a published version."""
    return {
        "name": judged.name,
        "attempt": judged.attempt.pk if judged.attempt else None,
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
        "conclusion": against.conclusion.value,
    }
