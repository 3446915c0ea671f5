"""Judges that a trial can have: a language model with a judge template, or a metric."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalhub.digest import digest
from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import from_json
from runs.models import Judge
from runs.trials.judges.metrics import METRICS, Metric

POINTS = 6
"""Points between the lowest and the highest score: a scale from 1 to 7."""


@dataclass(frozen=True)
class TrialJudge:
    """Either a language model and a template, or a metric with its threshold."""

    language_model: LanguageModel | None = None
    template: JudgeTemplate | None = None
    metric: str = ""
    metric_threshold: float | None = None

    def __str__(self) -> str:
        if self.language_model is None:
            return METRICS[Metric(self.metric)].name
        return f"{self.language_model} ({self.template})"

    @property
    def endpoint(self) -> Endpoint | None:
        return self.language_model.judge_endpoint() if self.language_model else None

    @property
    def threshold(self) -> float:
        """Return the least score that says that a claim is true."""
        if self.template is not None:
            return least_passing(self.template)
        given = self.metric_threshold
        return METRICS[Metric(self.metric)].threshold if given is None else given

    @property
    def method(self) -> str:
        """Return a digest of all that makes the judge."""
        if self.endpoint is not None and self.template is not None:
            return method_of(self.endpoint, self.template, {})
        return digest(["metric", self.metric, self.threshold])

    @property
    def problems(self) -> list[str]:
        """Return what prevents a trial of it."""
        if self.language_model is None:
            return [] if self.metric in set(Metric) else [f"There is no metric {self.metric!r}."]
        found = []
        if not self.language_model.is_active:
            found.append(f"{self.language_model} is inactive: activate it first.")
        if self.template is None:
            found.append(f"Choose a judge template for {self.language_model}.")
        elif self.template.state != TemplateState.PUBLISHED:
            found.append(f"{self.template} is a {self.template.state}: publish it first.")
        return found


def least_passing(template: JudgeTemplate) -> float:
    """Return the least score, from 1 to 7, that passes by the template's scale."""
    scale = from_json(template.scale)
    return score_of(min(one.value for one in scale.options if scale.passes(one.value)))


def score_of(value: float) -> float:
    """Return an option's value in [0, 1] as a score from 1 to 7."""
    return round(1 + POINTS * value, 9)


def method_of(endpoint: Endpoint, template: JudgeTemplate, params: Mapping[str, Any]) -> str:
    """Return a digest of model, address, parameters and prompt: the same one is the same judge."""
    settings = {**endpoint.params, **params}
    parts = [endpoint.litellm_model, endpoint.api_base, settings]
    return digest([*parts, template.family, template.version])


def method_of_judge(judge: Judge) -> str:
    """Return the method of a jury's judge; "" if it has no template of its own."""
    if judge.template is None:
        return ""
    return method_of(judge.language_model.judge_endpoint(), judge.template, judge.params)
