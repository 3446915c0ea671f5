"""Pass rates of open, sealed and previously exposed tests in a run."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, Value, When

from evalhub.statistics.bootstrap_of import bootstrap_of
from evalhub.statistics.interval import Interval
from reports.documents.reading import Reading
from reports.queries.exposure import EXPOSED, NEVER, OPEN, was_exposed
from runs.figures.tallies import Group, Rate, Rates
from runs.models import Result, Run

NAMES = {OPEN: "Open", NEVER: "Sealed, never exposed", EXPOSED: "Sealed, exposed"}


@dataclass(frozen=True)
class Stratum:
    """The results of open, never exposed or exposed tests: `total` of them, scored or not."""

    key: str
    name: str
    total: int
    rate: Rate


@dataclass(frozen=True)
class Difference:
    """Pass rate of open tests minus that of sealed, never exposed ones.

    `interval`: 95 %, a bootstrap by issue; None where nothing can be said of the spread.
    """

    value: float
    interval: Interval | None

    @property
    def is_certain(self) -> bool:
        """Zero is outside the interval: the difference is significant."""
        found = self.interval
        return found is not None and (found.low > 0 or found.high < 0)


@dataclass(frozen=True)
class Sealing:
    """A run's results by the exposure of their tests; `difference` None: not measured."""

    strata: tuple[Stratum, ...]
    difference: Difference | None


def sealing_of(run: Run, reading: Reading) -> Sealing | None:
    """Return None where no test of the run is sealed; one query."""
    exposure = Case(
        When(test__sealed=False, then=Value(OPEN)),
        When(was_exposed(), then=Value(EXPOSED)),
        default=Value(NEVER),
    )
    rows = Result.objects.filter(run=run).order_by().annotate(stratum=exposure)
    counted = rows.values_list("stratum", "issue_id", "outcome").annotate(n=Count("pk"))
    groups: dict[str, Group] = defaultdict(Group)
    for stratum, issue, outcome, n in counted:
        groups[stratum].add(issue, outcome, n)
    if not groups.keys() - {OPEN}:
        return None
    rates = Rates(groups, answers=lambda key: run.repeats)
    strata = tuple(
        Stratum(key, name, groups[key].counts.total, rates[key])
        for key, name in NAMES.items()
        if key in groups
    )
    return Sealing(strata, _difference(groups, reading))


Part = tuple[bool, int, int]
"""Of one issue: True for open tests, passed, scored."""


def _difference(groups: dict[str, Group], reading: Reading) -> Difference | None:
    rows = [
        (issue, key == OPEN, passed, scored)
        for key in (OPEN, NEVER)
        if key in groups
        for issue, (passed, scored) in sorted(groups[key].issues.items())
    ]
    parts = [(is_open, passed, scored) for _, is_open, passed, scored in rows]
    value = _less(parts)
    if value is None:
        return None
    issues = [issue for issue, *_ in rows]
    interval = reading.computed(
        "open-less-sealed-1", rows, lambda: bootstrap_of(_less, parts, issues, seed=1)
    )
    return Difference(value, interval)


def _less(parts: Sequence[Part]) -> float | None:
    """Return the pass rate of open tests minus that of the others; None where one has no score."""
    sums = [[0, 0], [0, 0]]
    for is_open, passed, scored in parts:
        sums[is_open][0] += passed
        sums[is_open][1] += scored
    (passed, n), (open_passed, open_n) = sums
    return open_passed / open_n - passed / n if n and open_n else None
