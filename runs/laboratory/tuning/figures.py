"""Figures of a judge tuning: the version in use and each attempt, on both splits."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from evalhub.models import BatchState, ItemState
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD
from evalhub.statistics.rates.rate_interval import Method
from issues.models import Polarity
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import consensus
from runs.laboratory.tuning.metrics import (
    FEW,
    Frozen,
    MetricDifference,
    Metrics,
    Row,
    compared,
    is_overfitted,
    metrics_of,
    pass_line_of,
)
from runs.laboratory.tuning.models import Attempt, AttemptJudgment, LabelledExample, Split, Tuning

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
    """A labelled example without the verdicts of an attempt; `judge` is the one in use."""

    split: str
    issue: int
    annotators: bool
    judge: bool | None
    is_example: bool
    frozen: Frozen


def tuning_figures(tuning: Tuning) -> TuningFigures:
    """Compute all figures, sealed tests included, in a fixed number of queries."""
    known = known_examples(tuning.examples.all())
    before: Rows = {split: [] for split in Split.values}
    for pk, one in known.items():
        if not one.is_example:
            before[one.split].append(Row(pk, one.issue, one.annotators, one.judge))
    complete = list(tuning.attempts.filter(state=BatchState.DONE).order_by("number"))
    values = values_of(AttemptJudgment.objects.filter(attempt__in=complete))
    looks = looks_of(tuning)
    used = from_json(tuning.template.scale)
    attempts = []
    for attempt in complete:
        after = rows_of(attempt, values[attempt.pk], known, used)
        against = {split: compared(before[split], after[split]) for split in Split.values}
        measured = {split: metrics_of(after[split]) for split in Split.values}
        name = f"Attempt {attempt.number}"
        attempts.append(MeasuredAttempt(name, attempt, measured, against, looks[attempt.pk]))
    measured = {split: metrics_of(before[split]) for split in Split.values}
    return TuningFigures(
        in_use=MeasuredAttempt(str(tuning.template), None, measured, {}),
        attempts=attempts,
        sizes={split: sum(one.split == split for one in known.values()) for split in Split.values},
        left_out=tuning.left_out,
        taught=sum(one.is_example for one in known.values()),
    )


def known_examples(labelled_examples: QuerySet[LabelledExample]) -> dict[int, Known]:
    """Read labelled examples without texts, by id; one query."""
    rows = labelled_examples.order_by("pk").values_list(
        *("pk", "split", "result__issue_id", "passed", "judge_passed", "is_example"),
        *("criterion__key", "criterion__polarity"),
        *("result__revision__pass_threshold", "result__revision__pass_rule"),
    )
    found = {}
    for pk, split, issue, passed, judge, is_example, key, polarity, threshold, rule in rows:
        frozen = Frozen(key, polarity == Polarity.SHOULD_NOT, threshold, rule)
        found[pk] = Known(split, issue, passed, judge, is_example, frozen)
    return found


def values_of(judgments: QuerySet[AttemptJudgment]) -> dict[int, dict[int, list[float | None]]]:
    """Return the judge's values by attempt and labelled example, one per sample."""
    rows = judgments.order_by("labelled_example", "sample")
    found: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for attempt, pk, value in rows.values_list("attempt", "labelled_example", "value"):
        found[attempt][pk].append(value)
    return found


def rows_of(
    attempt: Attempt,
    samples: Mapping[int, list[float | None]],
    known: Mapping[int, Known],
    used: Scale,
) -> Rows:
    """Return the verdicts of an attempt; `used` is the scale of the version in use."""
    draft = from_json(attempt.content["scale"])
    found: Rows = {split: [] for split in Split.values}
    for pk, values in samples.items():
        one = known[pk]
        passed = pass_line_of(one.frozen, used, draft).passed(consensus(values))
        found[one.split].append(Row(pk, one.issue, one.annotators, passed))
    return found


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
    found, against = judged.splits[split], judged.against.get(split)
    return {
        "n": found.n,
        "issues": found.issues,
        "failed": found.failed,
        "kappa": found.kappa,
        "kappa_interval": found.intervals.kappa,
        "kappa_method": KAPPA_METHOD if found.intervals.kappa else Method.NONE,
        **_share("accuracy", found),
        **_share("precision", found),
        **_share("recall", found),
        "confusion": found.counts._asdict(),
        "difference": against
        and {
            "kappa": against.difference.value,
            "interval": against.difference.interval,
            "method": KAPPA_METHOD if against.difference.interval else Method.NONE,
            "n": against.n,
            "conclusion": against.conclusion.value,
        },
    }


def _share(name: str, found: Metrics) -> dict[str, Any]:
    """Serialise a share with its interval and the interval's method."""
    interval, method = getattr(found.intervals, name) or (None, Method.NONE)
    return {
        name: getattr(found.accuracy, name),
        f"{name}_interval": interval,
        f"{name}_method": method,
    }
