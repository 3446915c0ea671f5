from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from evalhub.api.filters import Containing, Id, OneOf, Since, UpdatedSince, YesNo
from evalhub.models import BatchState, ItemState
from issues.models import Origin
from runs.changed_results import changed_since
from runs.models import (
    ChosenBy,
    EvaluationKind,
    JudgmentState,
    Launch,
    Outcome,
    Result,
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
