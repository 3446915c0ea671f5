"""Estimate of a start that calls models, with what prevents it and the consent that it needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, Self, TypeVar

from evalhub.llm.costs.token_estimates import tokens_of
from evalhub.llm.endpoint import Endpoint
from evalhub.refusals import Refused
from runs.launching.endpoint_load import (
    ONE_CALL,
    Cost,
    EndpointLoad,
    Span,
    load_of_judge,
    total,
    total_cost,
)
from runs.launching.exposure import SealedExposure, refusal
from runs.launching.judge_load import VERDICT_SCHEMA_TOKENS

T = TypeVar("T")

SAMPLED = 40
"""Prompts rendered to estimate the length of all."""


class Fact(NamedTuple):
    """A line on the page of a batch or of its start."""

    label: str
    text: str
    note: str = ""
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class BatchEstimate:
    """Estimated effort. The upper bounds assume a repair of every reply.

    `cost` None: the models `unpriced` have no prices. `problems` prevent the start, `warnings` do
    not. `facts` say on the start page how much is asked.
    """

    calls: Span
    cost: Cost | None
    unpriced: tuple[str, ...] = ()
    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()
    sealed_exposure: SealedExposure | None = None
    facts: Sequence[Fact] = ()

    @classmethod
    def of(cls, loads: Iterable[EndpointLoad], **more: Any) -> Self:
        """Return the estimate of these loads together."""
        loads = list(loads)
        return cls(
            calls=total(load.calls for load in loads),
            cost=total_cost(loads),
            unpriced=tuple(sorted({load.endpoint.name for load in loads if load.cost() is None})),
            **more,
        )

    def check(
        self,
        cost_limit_usd: Decimal | None,
        *,
        allow_sealed_exposure: bool = False,
        problems: Iterable[str] = (),
    ) -> None:
        """Refuse the start if anything prevents it.

        Args:
            problems: Further ones.

        Raises:
            Refused: Something does.
        """
        found = [*self.problems, *problems]
        found += refusal(self.sealed_exposure, is_allowed=allow_sealed_exposure)
        if cost_limit_usd is not None and self.unpriced:
            found.append(f"A cost limit needs prices: add them to {', '.join(self.unpriced)}.")
        if found:
            raise Refused(found, field="")


def evenly(rows: Sequence[T], most: int = SAMPLED) -> Sequence[T]:
    """Return at most so many of these rows, evenly spread."""
    return rows[:: max(1, len(rows) // most)][:most]


def load_by_sample(
    endpoint: Endpoint,
    n: int,
    characters: Sequence[int],
    *,
    params: Mapping[str, object] | None = None,
    calls: Span = ONE_CALL,
) -> EndpointLoad:
    """Return the load of a judge's `n` verdicts, each of which it may have to repair.

    Args:
        characters: Lengths of some of its prompts; without any, no tokens are estimated.
        calls: Of a verdict without repairs.
    """
    tokens = 0
    if characters:
        tokens = n * (tokens_of(sum(characters) // len(characters)) + VERDICT_SCHEMA_TOKENS)
    prompts = Span(tokens, tokens)
    return load_of_judge(
        endpoint, params or {}, judgments=n, repairs=n, prompt_tokens=prompts, calls=calls
    )
