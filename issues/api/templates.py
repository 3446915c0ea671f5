"""Serializers of judge templates with labelled examples and prompt variants."""

from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from evalhub.access.models import User
from evalhub.api.fields import JSONObject, Readable, RowSerializer
from evalhub.models import LanguageModel
from issues.api.json_types import Scale
from issues.judge_templates.lifecycle import SHOWN, shown_by
from issues.limits import MAX_PROMPT_VARIANTS, MAX_TEMPLATE_EXAMPLES
from issues.models import JudgeTemplate, TemplateExample, TemplateVariant, Test


class Part(RowSerializer):
    """A part of a template, validated with the whole, whose scale and text it needs."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return attrs


class TemplateExampleSerializer(Part):
    """An answer with the verdict on it. `test` is its source; null: written for this template.

    `criterion` is empty if the answer was judged as a whole. `option` is a label of the template's
    scale.
    """

    test = Readable(queryset=Test.objects.all(), allow_null=True, required=False)

    class Meta:
        model = TemplateExample
        fields = (
            *("id", "test", "input", "output", "reference", "guidelines"),
            *("criterion", "option", "justification"),
        )


class TemplateVariantSerializer(Part):
    """A prompt variant for one language model."""

    class Meta:
        model = TemplateVariant
        fields = ("language_model", "text")


class JudgeTemplateSerializer(RowSerializer):
    """`shows_…` fields follow from the text. Only drafts change.

    `examples` and `variants` each replace the whole list. Examples keep their order; those of tests
    that you may not read are left out, and stay.
    """

    copies_rows = True
    scale = JSONObject(Scale, required=False)
    examples = TemplateExampleSerializer(many=True, required=False)
    variants = TemplateVariantSerializer(many=True, required=False)
    repair_model = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.not_applications(), allow_null=True, required=False
    )

    class Meta:
        model = JudgeTemplate
        fields = (
            *("id", "family", "version", "title", "state", "text", *SHOWN),
            *("reply_form", "scale", "examples", "example_choice", "examples_shown"),
            *("variants", "repair_model", "created_at", "published_at"),
        )
        read_only_fields = ("version", "state", "published_at", *SHOWN)

    def validate_family(self, family: str) -> str:
        others = JudgeTemplate.objects.filter(family=family)
        if self.instance is not None:
            others = others.exclude(family=self.instance.family)
        if others.exists():
            raise serializers.ValidationError(
                f"{family} exists already: POST …/new_version/ to its newest version."
            )
        return family

    def validate_examples(self, examples: list[Any]) -> list[Any]:
        return _at_most(examples, MAX_TEMPLATE_EXAMPLES, "examples")

    def validate_variants(self, variants: list[Any]) -> list[Any]:
        models = [variant["language_model"] for variant in variants]
        if len(set(models)) < len(models):
            raise serializers.ValidationError("Send one prompt variant per model.")
        return _at_most(variants, MAX_PROMPT_VARIANTS, "prompt variants")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        super().validate(attrs)
        return {**attrs, **(shown_by(attrs["text"]) if "text" in attrs else {})}

    @transaction.atomic
    def save(self, **kwargs: Any) -> JudgeTemplate:
        examples = self.validated_data.pop("examples", None)
        variants = self.validated_data.pop("variants", None)
        template: JudgeTemplate = super().save(**kwargs)
        reader = self.context["request"].user
        if examples is not None:
            for row in template.examples.readable_by(reader):
                row.delete()
            for order, fields in enumerate(examples, 1):
                example = TemplateExample(template=template, order=order, **fields)
                if problems := example.problems():
                    lines = [f"Example {order}, {name}: {text}" for name, text in problems.items()]
                    raise serializers.ValidationError({"examples": lines})
                example.save()
        if variants is not None:
            for variant in template.variants.all():
                variant.delete()
            for fields in variants:
                variant = TemplateVariant(template=template, **fields)
                if wrong := variant.problems():
                    raise serializers.ValidationError({"variants": wrong})
                variant.save()
        self.instance = with_parts(JudgeTemplate.objects.all(), reader).get(pk=template.pk)
        return self.instance


def _at_most(rows: list[Any], most: int, what: str) -> list[Any]:
    if len(rows) > most:
        raise serializers.ValidationError(f"A template has at most {most} {what}, not {len(rows)}.")
    return rows


def with_parts(templates: QuerySet[JudgeTemplate], reader: User) -> QuerySet[JudgeTemplate]:
    """Return templates with prefetched parts that this user may read."""
    readable = TemplateExample.objects.readable_by(reader).order_by("order", "pk")
    return templates.prefetch_related(Prefetch("examples", readable), "variants")
