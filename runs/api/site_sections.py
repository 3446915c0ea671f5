"""Juries in a site's file: their models and templates are named, not numbered."""

from typing import Any

from rest_framework import serializers

from evalhub.models import LanguageModel
from evalhub.operations.site_sections import Section
from issues.models import JudgeTemplate, TemplateState
from runs.api.jury_serializers import JudgeSerializer, JurySerializer
from runs.models import Jury


class TemplateName(serializers.RelatedField):
    """A published judge template as `family` for its newest version, or `family/version`."""

    def to_internal_value(self, data: Any) -> JudgeTemplate:
        family, _, version = str(data).partition("/")
        rows: Any = self.get_queryset()
        published = rows.filter(family=family).order_by("-version")
        if version.isdecimal():
            published = published.filter(version=int(version))
        found: JudgeTemplate | None = published.first()
        if found is None:
            raise serializers.ValidationError(f"There is no published template {data!r}.")
        return found

    def to_representation(self, value: Any) -> str:
        return f"{value.family}/{value.version}"


class NamedJudgeSerializer(JudgeSerializer):
    language_model = serializers.SlugRelatedField(  # type: ignore[assignment]
        slug_field="name", queryset=LanguageModel.objects.active().not_applications()
    )
    template = TemplateName(  # type: ignore[assignment]
        queryset=JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED),
        allow_null=True,
        required=False,
    )


class NamedJurySerializer(JurySerializer):
    judges = NamedJudgeSerializer(many=True, allow_empty=False)
    backup = NamedJudgeSerializer(allow_null=True, required=False)


JURIES = Section("juries", NamedJurySerializer, Jury.objects.with_judges)
