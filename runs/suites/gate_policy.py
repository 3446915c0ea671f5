"""The gate of a suite as data: which findings keep a run from passing. Pure.

Form, API body and flags of the command are made from `GatePolicy`. That 95 % of a run are scored
(`runs.comparison.completeness`) is no option: below, nothing is concluded from it.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalhub.display.formatting import percent, usd
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.values.option_problems import option_problems
from issues.severity import or_worse

ABSOLUTE = ("failing_severity", "min_pass_rate", "max_p90_latency_ms", "max_mean_cost_usd")
"""The rules on the run alone."""


class PolicyRefused(ValueError):
    """A policy that cannot be used; `problems` lists every reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class GatePolicy(BaseModel):
    """The rules of a gate. A run fails if any of them does not hold; null: the rule is off.

    {} is the default: a run that is worse fails, and where a large loss could go unnoticed the gate
    cannot tell.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    conclusion: bool = Field(
        True,
        title="Worse than the baseline",
        description="It is worse on the whole, or an issue was lost for sure.",
    )
    level: float = Field(
        LEVEL,
        gt=0,
        le=0.5,
        title="Level",
        description="How often an unchanged run may fail: 0.05, or 0.01 for releases in a row.",
    )
    against_reference: bool = Field(
        True,
        title="Worse than the reference",
        description="Where the suite has a baseline release: it is worse than that release, at a "
        "level of 1 %, so that a slow slide ends.",
    )
    blind_spot_points: float | None = Field(
        20,
        gt=0,
        le=100,
        title="Blind spot above (points)",
        description="The gate cannot tell where a loss of so many percentage points would not "
        "have shown.",
    )
    max_worsening_points: float | None = Field(
        None,
        ge=0,
        le=100,
        title="Allowed worsening (points)",
        description="The run passes only if it is surely not worse by more than this.",
    )
    max_net_loss_points: float | None = Field(
        None,
        ge=0,
        le=100,
        title="Net loss above (points)",
        description="Pass rate lost against the baseline on the tests that both runs scored, in "
        "percentage points, significant or not.",
    )
    failing_severity: Literal["low", "medium", "high", "critical"] | None = Field(
        None,
        title="Failing test of severity",
        description="A test fails whose issue has this severity or a worse one.",
    )
    min_pass_rate: float | None = Field(
        None,
        ge=0,
        le=1,
        title="Pass rate below",
        description="Share of the results that pass; the run passes only if it is surely reached. "
        "100 % never is: no number of tests shows that all would pass.",
    )
    max_p90_latency_ms: int | None = Field(
        None,
        ge=1,
        le=10**9,
        title="90th percentile of latency above (ms)",
        description="One answer in ten takes longer than this.",
    )
    max_mean_cost_usd: float | None = Field(
        None,
        ge=0,
        le=10**6,
        title="Mean cost per answer above (USD)",
        description="Cost of the model under test, without its judges.",
    )

    @model_validator(mode="after")
    def some_rule_is_on(self) -> "GatePolicy":
        if not self.rules:
            raise ValueError("Turn on at least one rule: every run would pass.")
        return self

    @property
    def rules(self) -> list[str]:
        """The rules that are on."""
        comparing = {
            "conclusion": self.conclusion,
            "blind_spot_points": self.conclusion and self.blind_spot_points is not None,
            "max_worsening_points": self.max_worsening_points is not None,
            "max_net_loss_points": self.max_net_loss_points is not None,
        }
        return [*(name for name, is_on in comparing.items() if is_on), *self.absolute_rules]

    @property
    def absolute_rules(self) -> list[str]:
        """The rules that are on and need no run to compare with."""
        return [name for name in ABSOLUTE if getattr(self, name) is not None]

    @property
    def is_comparing(self) -> bool:
        """Some rule needs a run to compare with."""
        return len(self.rules) > len(self.absolute_rules)

    def in_words(self) -> str:
        """Return what fails a run, as the end of a sentence."""
        net, rate, cost = self.max_net_loss_points, self.min_pass_rate, self.max_mean_cost_usd
        parts = {
            "it is worse on the whole, or surely lost an issue": self.conclusion,
            f"it may be worse by more than {self.max_worsening_points or 0:g} points": (
                self.max_worsening_points is not None
            ),
            f"it loses more than {net or 0:g} points on balance": net is not None,
            f"a test of an issue of severity {or_worse(self.failing_severity or '')} fails": (
                self.failing_severity
            ),
            f"less than {percent(rate)} of its results pass"
            + (" (no number of tests can show that all would)" if rate == 1 else ""): (
                rate is not None
            ),
            f"the 90th percentile of latency exceeds {self.max_p90_latency_ms or 0:,} ms": (
                self.max_p90_latency_ms
            ),
            f"an answer costs more than {usd(cost)} on average": cost is not None,
        }
        return "; or ".join(text for text, is_on in parts.items() if is_on)

    def changes(self) -> dict[str, Any]:
        """Return what differs from the default, as a suite keeps it."""
        return self.model_dump(mode="json", exclude_defaults=True)


def read_policy(values: Any) -> GatePolicy:
    """Return the policy that these values describe; fields that are missing have their default.

    Raises:
        PolicyRefused: Values are unknown or wrong; each problem names its field and value.
    """
    try:
        return GatePolicy.model_validate(values)
    except ValidationError as error:
        raise PolicyRefused(option_problems(error)) from error
