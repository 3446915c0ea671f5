"""Pass rates of open, sealed and previously exposed tests in a run."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Case, Value, When

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_difference import rate_difference_interval
from reports.queries.exposure import EXPOSED, NEVER, OPEN, was_exposed
from runs.figures.rate import Rate
from runs.figures.run_tallies import sums_over
from runs.figures.tallies import BY, SUMS, Group, Rates, Tally
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

    `interval`: 95 %, by `method`.
    """

    value: float
    interval: Interval
    method: str

    @property
    def is_certain(self) -> bool:
        """Zero is outside the interval: the difference is significant."""
        return self.interval.low > 0 or self.interval.high < 0


@dataclass(frozen=True)
class Sealing:
    """A run's results by the exposure of their tests; `difference` None: not measured."""

    strata: tuple[Stratum, ...]
    difference: Difference | None


def sealing_of(run: Run) -> Sealing | None:
    """Return None where no test of the run is sealed; one query."""
    groups: dict[str, Group] = defaultdict(Group)
    exposure = Case(
        When(test__sealed=False, then=Value(OPEN)),
        When(was_exposed(), then=Value(EXPOSED)),
        default=Value(NEVER),
    )
    results = Result.objects.filter(run=run).annotate(stratum=exposure)
    for stratum, *tally in sums_over(results, ("stratum", *BY), SUMS):
        groups[stratum].add(Tally(*tally))
    if not groups.keys() - {OPEN}:
        return None
    rates = Rates(groups, answers=lambda key: run.repeats)
    strata = tuple(
        Stratum(key, name, groups[key].total, rates[key])
        for key, name in NAMES.items()
        if key in groups
    )
    return Sealing(strata, _difference(rates.get(OPEN), rates.get(NEVER)))


def _difference(known: Rate | None, unknown: Rate | None) -> Difference | None:
    if known is None or unknown is None or known.share is None or unknown.share is None:
        return None
    if known.interval is None or unknown.interval is None:
        return None
    methods = dict.fromkeys((known.method, unknown.method))
    return Difference(
        known.share - unknown.share,
        rate_difference_interval(known.share, known.interval, unknown.share, unknown.interval),
        f"Newcombe from {' and '.join(methods)}",
    )
