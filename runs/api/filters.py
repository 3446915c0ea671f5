from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django_filters import rest_framework as filters

from evalhub.api.filters import Containing, Id, OneOf, Since, UpdatedSince, YesNo
from evalhub.models import BatchState, ItemState
from issues.models import Origin
from runs.answering.endings import ENDINGS
from runs.models import (
    Answer,
    ChosenBy,
    EvaluationKind,
    HumanEvaluation,
    JudgeRun,
    JudgmentState,
    Launch,
    Outcome,
    Result,
    Run,
    TagSet,
)


class SuiteFilters(filters.FilterSet):
    name = filters.CharFilter()
    tag = filters.CharFilter(field_name="tags__name")
    since = Since("created_at")
    q = Containing("name", "description")


class JuryFilters(filters.FilterSet):
    name = filters.CharFilter()
    is_active = YesNo()
    q = Containing("name")


class RunFilters(filters.FilterSet):
    state = OneOf(BatchState)
    launch = Id(field_name="launch_id")
    suite = Id(field_name="suite_id")
    language_model = Id(field_name="language_model_id")
    model_name = filters.CharFilter()
    release = filters.CharFilter()
    label = filters.CharFilter()
    variant_key = filters.CharFilter()
    suite_fingerprint = filters.CharFilter()
    source_id = filters.CharFilter()
    has_imported_answers = YesNo()
    is_scripted = YesNo()
    since = Since("created_at")
    finished_since = Since("finished_at")
    q = Containing("label", "release", "model_name")


class LaunchFilters(filters.FilterSet):
    label = filters.CharFilter()
    release = filters.CharFilter()
    is_scheduled = YesNo(method="only_scheduled")
    is_paused = YesNo()
    since = Since("created_at")
    q = Containing("label", "release")

    def only_scheduled(
        self, queryset: QuerySet[Launch], name: str, value: bool
    ) -> QuerySet[Launch]:
        return queryset.exclude(cron="") if value else queryset.filter(cron="")


BY_VERDICT = ("outcome", "min_score", "max_score")
"""Filters of results that tell verdicts."""


class ResultFilters(filters.FilterSet):
    run = Id(field_name="run_id")
    test = Id(field_name="test_id")
    issue = Id(field_name="issue_id")
    revision = Id(field_name="revision_id")
    outcome = OneOf(Outcome)
    origin = OneOf(Origin)
    state = OneOf(ItemState)
    error_kind = filters.CharFilter()
    ending = filters.MultipleChoiceFilter(choices=ENDINGS, distinct=False)
    is_overridden = YesNo()
    is_disputed = YesNo()
    language_model = Id(field_name="run__language_model_id")
    release = filters.CharFilter(field_name="run__release")
    suite = Id(field_name="run__suite_id")
    tag = filters.CharFilter(method="with_tag", label="A tag of the test or its issue at launch.")
    min_score = filters.NumberFilter(field_name="score", lookup_expr="gte")
    max_score = filters.NumberFilter(field_name="score", lookup_expr="lte")
    since = Since("answer__created_at", label="Answered at this time or later.")

    def with_tag(self, queryset: QuerySet[Result], name: str, value: str) -> QuerySet[Result]:
        return queryset.filter(tag_set__in=TagSet.with_name(value))

    updated_since = UpdatedSince(
        "run",
        method="changed_since",
        label="Results answered, judged or evaluated since, and at least all others that changed.",
    )

    def changed_since(self, queryset: QuerySet[Any], name: str, value: Any) -> QuerySet[Any]:
        return queryset.filter(changed_since(value))


class JudgeRunFilters(filters.FilterSet):
    run = Id(field_name="run_id")
    state = OneOf(BatchState)
    is_active = YesNo()
    jury_fingerprint = filters.CharFilter()


class JudgmentFilters(filters.FilterSet):
    updated_since = UpdatedSince("created_at")
    run = Id(field_name="judge_run__run_id")
    judge_run = Id(field_name="judge_run_id")
    result = Id(field_name="result_id")
    judge = Id(field_name="judge_id")
    criterion = filters.CharFilter(field_name="criterion__key")
    is_backup = YesNo()
    state = OneOf(JudgmentState)
    failure = filters.CharFilter()
    since = Since("created_at")


class HumanEvaluationFilters(filters.FilterSet):
    updated_since = UpdatedSince("created_at")
    run = Id(field_name="result__run_id")
    result = Id(field_name="result_id")
    annotator = filters.CharFilter(field_name="annotator__username")
    kind = OneOf(EvaluationKind)
    chosen_by = OneOf(ChosenBy)
    since = Since("created_at")


# Results that may have changed since a moment, for exports of what is new ------------------------


def changed_since(moment: datetime) -> Q:
    """Return the condition that a result was answered, judged, rescored or evaluated since.

    It holds for all results of a run that began, ended, or had a judge run begin, end or become
    active since: no change is missed, and some results come again.
    """
    judged = JudgeRun.objects.filter(_moved(moment) | Q(active_since__gte=moment))
    runs = Run.objects.filter(_moved(moment) | Q(pk__in=judged.order_by().values("run")))
    evaluated = HumanEvaluation.objects.filter(created_at__gte=moment)
    answered = Answer.objects.filter(created_at__gte=moment)
    few = [
        list(rows.order_by().values_list(name, flat=True)[: MANY + 1])
        for rows, name in ((runs, "pk"), (evaluated, "result"), (answered, "result"))
    ]
    if all(len(one) <= MANY for one in few):
        return Q(run__in=few[0]) | Q(pk__in={*few[1], *few[2]})
    in_runs = Q(run__in=runs.order_by().values("pk"))
    of_answers = Exists(answered.filter(result=OuterRef("pk")).order_by())
    return in_runs | Q(pk__in=evaluated.order_by().values("result")) | Q(of_answers)


MANY = 1000
"""Runs or results up to which those that changed are named: a database finds them by its indexes,
and looks through all results for the others."""


def _moved(moment: datetime) -> Q:
    """Return the condition that a batch began or ended since, or has not ended."""
    unfinished = Q(state__in=[BatchState.LIVE, BatchState.PAUSED])
    return unfinished | Q(created_at__gte=moment) | Q(finished_at__gte=moment)
