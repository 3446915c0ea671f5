"""Estimate of judging a run's answers again: calls of the judges and their cost."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Avg

from evalhub.display.formatting import listed, usd
from issues.models import Test
from runs.judging.jury import frozen_jury_of
from runs.launching.batch_estimate import BatchEstimate
from runs.launching.estimate import DEFAULT_ANSWER_TOKENS
from runs.launching.judge_load import JudgeLoad
from runs.launching.load import Span
from runs.models import Run


class RejudgeEstimate(BatchEstimate):
    """Calls and cost of a new judge run."""

    def __str__(self) -> str:
        low, high = self.calls
        calls = f"{low:,} calls" if low == high else f"{low:,} to {high:,} calls"
        if self.cost is None:
            return f"Estimate: {calls}; cost unknown, without prices of {listed(self.unpriced)}."
        return f"Estimate: {calls}, {usd(self.cost.low)} to {usd(self.cost.high)}."


def rejudge_estimate(run: Run, jury: Mapping[str, Any]) -> RejudgeEstimate:
    """Estimate a judge run over the run's answers by the jury of this snapshot."""
    found = Test.objects.filter(pk__in=run.results.values("test")).order_by("pk")
    tests = list(found.select_related("template").prefetch_related("criteria"))
    mean = run.results.order_by().aggregate(mean=Avg("output_tokens"))["mean"]
    answer = Span(*DEFAULT_ANSWER_TOKENS) if mean is None else Span(round(mean), round(mean))
    load = JudgeLoad(frozen_jury_of(dict(jury)), tests)
    loads = [load.load(judge, run.repeats, answer) for judge in load.frozen_jury.frozen_judges]
    loads += load.repair(run.repeats)
    return RejudgeEstimate.of(loads)
