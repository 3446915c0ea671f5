"""What a rehearsal has shown: the version in use and each try against people, on both halves."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count

from evalhub.models import BatchState, ItemState
from issues.rubric import consensus
from issues.scales import Scale, from_json
from runs.rehearsals.lines import Frozen, line_of
from runs.rehearsals.measuring import (
    FEW,
    Compared,
    Measured,
    Row,
    compared,
    is_overfitted,
    measured,
)
from runs.rehearsals.models import Attempt, Half, Rehearsal, Verdict

Rows = dict[str, list[Row]]
"""What was judged, by half."""


@dataclass(frozen=True)
class Judged:
    """The version in use (`attempt` None), or a try, on both halves.

    `against` compares it with the version in use, by half; empty for that version itself. `look`
    says how often the held-out half was looked at, this time included.
    """

    name: str
    attempt: Attempt | None
    halves: Mapping[str, Measured]
    against: Mapping[str, Compared]
    look: int = 0

    @property
    def is_overfitted(self) -> bool:
        return bool(self.against) and is_overfitted(
            self.against[Half.SEEN], self.against[Half.HELD_OUT]
        )


@dataclass(frozen=True)
class Outcome:
    """The figures of a rehearsal. `tries` has those that are complete, in their order."""

    in_use: Judged
    tries: list[Judged]
    sizes: Mapping[str, int]
    left_out: Mapping[str, int]
    taught: int

    @property
    def is_small(self) -> bool:
        return min(self.sizes.values()) < FEW

    def of(self, attempt: Attempt) -> Judged | None:
        return next((one for one in self.tries if one.attempt == attempt), None)


class Known(NamedTuple):
    """What is known of a precedent, whoever judges it."""

    half: str
    issue: int
    people: bool
    frozen: Frozen


KNOWN = (
    "pk",
    "half",
    "passed",
    "judge_passed",
    "is_taught",
    "result__issue_id",
    "criterion__key",
    "criterion__polarity",
    "result__revision__pass_threshold",
    "result__revision__pass_rule",
)


def outcome(rehearsal: Rehearsal) -> Outcome:
    """All figures, in a fixed number of queries. They count sealed tests too, and show no text."""
    precedents = list(rehearsal.precedents.order_by("pk").values(*KNOWN))
    known = {row["pk"]: _known(row) for row in precedents}
    before: Rows = {half: [] for half in Half.values}
    for row in precedents:
        if not row["is_taught"]:
            one = known[row["pk"]]
            judged = Row(row["pk"], one.issue, one.people, row["judge_passed"])
            before[one.half].append(judged)
    complete = list(rehearsal.attempts.filter(state=BatchState.DONE).order_by("number"))
    looks = looks_of(rehearsal)
    said = _said(complete)
    used = from_json(rehearsal.template.scale)
    return Outcome(
        in_use=Judged(str(rehearsal.template), None, _measured(before), {}),
        tries=[
            _judged(attempt, before, _rows(attempt, said[attempt.pk], known, used), looks)
            for attempt in complete
        ],
        sizes={half: sum(one.half == half for one in known.values()) for half in Half.values},
        left_out=rehearsal.left_out,
        taught=sum(row["is_taught"] for row in precedents),
    )


def _known(row: Mapping[str, Any]) -> Known:
    return Known(
        row["half"],
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
    rows = Verdict.objects.filter(attempt__in=attempts).order_by("precedent", "sample")
    said: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for attempt, precedent, value in rows.values_list("attempt", "precedent", "value"):
        said[attempt][precedent].append(value)
    return said


def _rows(
    attempt: Attempt,
    said: Mapping[int, list[float | None]],
    known: Mapping[int, Known],
    used: Scale,
) -> Rows:
    asked = from_json(attempt.content["scale"])
    found: Rows = {half: [] for half in Half.values}
    for precedent, values in said.items():
        one = known[precedent]
        passed = line_of(one.frozen, used, asked).passed(consensus(values))
        found[one.half].append(Row(precedent, one.issue, one.people, passed))
    return found


def _measured(rows: Rows) -> dict[str, Measured]:
    return {half: measured(rows[half]) for half in Half.values}


def _judged(attempt: Attempt, before: Rows, after: Rows, looks: Mapping[int, int]) -> Judged:
    return Judged(
        name=f"Try {attempt.number}",
        attempt=attempt,
        halves=_measured(after),
        against={half: compared(before[half], after[half]) for half in Half.values},
        look=looks[attempt.pk],
    )


def looks_of(rehearsal: Rehearsal) -> dict[int, int]:
    """Which look at the held-out half each try is, over all rehearsals of the template's family.

    Tests keep their half in all of them, so that each figure of it was one more chance to choose
    by luck.
    """
    ended = Attempt.objects.filter(
        rehearsal__template__family=rehearsal.template.family, state=BatchState.DONE
    )
    ids = ended.order_by("finished_at", "pk").values_list("pk", flat=True)
    return {pk: number for number, pk in enumerate(ids, 1)}


def failures(attempt: Attempt) -> dict[str, int]:
    """Why verdicts could not be had, by kind, the most frequent first."""
    rows = Verdict.objects.filter(attempt=attempt, state=ItemState.ERROR).order_by()
    found = rows.values_list("error_kind").annotate(n=Count("pk"))
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0])))


# As JSON -----------------------------------------------------------------------------------------


def as_json(judged: Judged) -> dict[str, Any]:
    """Figures as the API shows them and a published version keeps them."""
    return {
        "name": judged.name,
        "try": judged.attempt.pk if judged.attempt else None,
        "look": judged.look or None,
        "overfitted": judged.is_overfitted if judged.against else None,
        "halves": {half: _half(judged, half) for half in Half.values},
    }


def _half(judged: Judged, half: str) -> dict[str, Any]:
    found = judged.halves[half]
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
        "difference": _difference(judged.against.get(half)),
    }


def _difference(against: Compared | None) -> dict[str, Any] | None:
    if against is None:
        return None
    return {
        "kappa": against.difference.value,
        "interval": against.difference.interval,
        "n": against.n,
        "verdict": against.verdict.value,
    }
