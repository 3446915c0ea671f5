"""`python3 dev.py bench validity`: how often conclusions hold, by simulation from stated models.

Each simulation is written from its rule and not from the code that it measures, with fixed seeds.
To add one, write a module here with `checks(draws)` and name it in `SIMULATIONS`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Check:
    """A figure beside its rule's bound: it must be within `low` to `high`.

    `measure` takes the number of draws and returns a share in [0, 1]. `caveat` says what users are
    told where no rule can keep a bound: the figure is then shown, and not counted as a pass.
    """

    name: str
    low: float
    high: float
    measure: Callable[[int], float]
    caveat: str = ""

    def holds(self, figure: float) -> bool:
        return self.low <= figure <= self.high

    @property
    def bound(self) -> str:
        return self.caveat or " and ".join(
            [
                *([f"≥ {self.low:.1%}"] if self.low > 0 else []),
                *([f"≤ {self.high:.1%}"] if self.high < 1 else []),
            ]
        )


def one_in(n: int, measure: Callable[[int], float]) -> Callable[[int], float]:
    """Return the measure with one of so many draws, for simulations that are slow."""
    return lambda draws: measure(max(1, draws // n))


SIMULATIONS = (
    *(
        "intervals",
        "rate_differences",
        "alpha_bands",
        "leaderboard",
        "judge_trust",
        "judge_figures",
    ),
    *("changes", "missing", "reviews", "gate", "decay", "issue_outcome", "claims"),
    *("change_intervals", "detectable", "multiplicity", "drift"),
    *("pairwise", "position_bias", "trials", "people", "people_gate"),
    *("alpha_uneven", "leaderboard_uneven", "leaderboard_correlated"),
)
"""Modules of this folder with a function `checks`."""


def checks() -> Iterable[Check]:
    for name in SIMULATIONS:
        yield from import_module(f"{__name__}.{name}").checks()
