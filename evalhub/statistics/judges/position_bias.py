"""Position bias: verdicts that change with the order of what is shown, and their direction.

Each verdict is had twice, the second time in reversed order. Were the order of no account, the two
could as well be exchanged, so that a change towards what comes first is as likely as one away from
it: the direction is tested by sign flips of the changes (`net_change`). The share that
changed also holds what changes by chance, for a judge may differ between two equal requests.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.statistics.changes.net_change import NetChange, net_change
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import Method, rate_interval

_TOLERANCE = 1e-9


class OrderedVerdict(NamedTuple):
    """A verdict in both orders.

    `given` and `turned` are the places of the chosen options in the order as given, in [0, 1]: 0
    is listed first. `turned` was chosen with the order reversed, so that 0 was listed last then.
    """

    test: int
    issue: int
    given: float
    turned: float

    @property
    def lean(self) -> float:
        """Return how far the change goes towards what comes first, in [-1, 1]."""
        return self.turned - self.given


@dataclass(frozen=True)
class PositionBias:
    """`changed` of `n` verdicts changed with the order, `towards_first` of them to what came first.

    `interval` is the 95 % one of the share that changed. `direction` has the sign of the changes
    together, 1 towards the first; `test` says whether they have one, by the mean change of each
    test. `moved` tests changed on balance; from 5 issues on so many issues.
    """

    n: int
    changed: int
    towards_first: int
    interval: Interval
    method: Method
    direction: int
    test: NetChange
    moved: int


def position_bias(verdicts: Sequence[OrderedVerdict]) -> PositionBias | None:
    """Measure the position bias of one judge; None without verdicts.

    Below 5 issues the verdicts on one test count as one for the interval, for they tend to agree.
    """
    if not verdicts:
        return None
    issues: dict[int, list[bool]] = defaultdict(list)
    leans: dict[tuple[int, int], list[float]] = defaultdict(list)
    for one in verdicts:
        issues[one.issue].append(abs(one.lean) > _TOLERANCE)
        leans[one.test, one.issue].append(one.lean)
    found = rate_interval(
        [(sum(changed), len(changed)) for changed in issues.values()],
        answers=-(-len(verdicts) // len(leans)),
    )
    means = [sum(mine) / len(mine) for mine in leans.values()]
    issue_of = [issue for _, issue in leans]
    test = net_change(means, issue_of)
    if test is None:
        return None
    total = sum(means)
    return PositionBias(
        n=len(verdicts),
        changed=sum(map(sum, issues.values())),
        towards_first=sum(one.lean > _TOLERANCE for one in verdicts),
        interval=found.interval,
        method=found.method,
        direction=0 if abs(total) <= _TOLERANCE else 1 if total > 0 else -1,
        test=test,
        moved=_moved(means, issue_of if test.accounts_for_issues else list(leans)),
    )


def _moved(means: Sequence[float], units: Sequence[object]) -> int:
    sums: dict[object, float] = defaultdict(float)
    for unit, mean in zip(units, means, strict=True):
        sums[unit] += mean
    return sum(abs(total) > _TOLERANCE for total in sums.values())
