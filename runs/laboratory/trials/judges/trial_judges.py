"""Judges that a trial can have: a language model with a judge template, or a metric."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, QuerySet, When

from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from evalhub.values.digest import digest
from issues.judge_templates.prompts import variables_of
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import from_json
from runs.laboratory.trials.judges.metrics import METRICS, Metric
from runs.models import Judge

POINTS = 6
"""Points between the lowest and the highest score: a scale from 1 to 7."""

MADE_FOR_CLAIMS = ("similarity", "summary-usefulness", "code-explanation")
"""Families of built-in templates."""


@dataclass(frozen=True)
class TrialJudge:
    """Either a language model and a template, or a metric with its threshold.

    With `tunes_threshold` the metric's threshold is chosen on the development claims.
    """

    language_model: LanguageModel | None = None
    template: JudgeTemplate | None = None
    metric: str = ""
    metric_threshold: float | None = None
    tunes_threshold: bool = False

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
        return method_of_metric(self.metric, None if self.tunes_threshold else self.threshold)

    @property
    def problems(self) -> list[str]:
        """Return what prevents a trial of it."""
        if self.language_model is None:
            return self._problems_of_metric()
        found = []
        if not self.language_model.is_active:
            found.append(f"{self.language_model} is inactive: activate it first.")
        if self.template is None:
            found.append(f"Choose a judge template for {self.language_model}.")
        elif self.template.state != TemplateState.PUBLISHED:
            found.append(f"{self.template} is a {self.template.state}: publish it first.")
        return found

    def _problems_of_metric(self) -> list[str]:
        if self.metric not in set(Metric):
            return [f"There is no metric {self.metric!r}."]
        if not 0 <= self.threshold <= 1:
            return [f"{self} goes from 0 to 1: its threshold cannot be {self.threshold:g}."]
        return []


def fitting_templates() -> QuerySet[JudgeTemplate]:
    """Return the published templates that can judge a claim, those made for it first.

    A claim has no criterion, and nothing was retrieved for it.
    """
    rows = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED)
    unfit = [
        row.pk
        for row in rows
        if {"criterion", "criteria", "retrieved_documents"} & variables_of(row.text)
    ]
    is_made_for_it = Case(When(family__in=MADE_FOR_CLAIMS, then=0), default=1)
    return rows.exclude(pk__in=unfit).order_by(is_made_for_it, "title", "-version")


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


def method_of_metric(metric: str, threshold: float | None) -> str:
    """Return a digest of a metric and its threshold; None: it is yet to be chosen."""
    return digest(["metric", metric, threshold])


def method_of_judge(judge: Judge) -> str:
    """Return the method of a jury's judge; "" if it has no template of its own."""
    if judge.template is None:
        return ""
    return method_of(judge.language_model.judge_endpoint(), judge.template, judge.params)
