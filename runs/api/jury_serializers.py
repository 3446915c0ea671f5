"""Suites and juries of the API."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.api.fields import JSONObject, RowSerializer
from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate, Tag, TemplateState
from issues.test_filter import read_filter
from runs.comparison.baselines import check
from runs.judging.jury_builder import backup_problem, prompt_problem
from runs.models import Approach, Judge, Jury, Release, Run, Suite, SuiteVersion
from runs.suites.gate_policy import GatePolicy, PolicyRefused, read_policy
from runs.suites.suite_tests import tests_in


@extend_schema_field(GatePolicy)  # type: ignore[arg-type]
class GateField(JSONObject):
    """Rules of a gate. What differs from the default is kept; {} is the default."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        try:
            return read_policy(super().to_internal_value(data)).changes()
        except PolicyRefused as refused:
            raise serializers.ValidationError(refused.problems) from refused


class SuiteSerializer(RowSerializer):
    """A named set of tests.

    A living suite has a `filter` in place of tests: the query of the list of tests. Then `tests`
    are those that match now; each launch fixes those that run as a version (see
    suites/<id>/versions/).

    `defaults` are options of a launch (see POST runs/) for the form and the command; launches
    through the API do not use them. `gate` holds the rules of its gate that differ from the
    default (see POST gates/). `baselines` are runs, one of each model, which later runs of it are
    compared with; `baseline_release` is the fixed reference of later releases, by name.
    """

    tags = serializers.SlugRelatedField(
        slug_field="name", queryset=Tag.objects.all(), many=True, required=False
    )

    baseline_release = serializers.SlugRelatedField(
        slug_field="name", queryset=Release.objects.all(), allow_null=True, required=False
    )
    defaults = JSONObject(required=False)
    gate = GateField(required=False)
    extras = JSONObject(read_only=True)

    class Meta:
        model = Suite
        fields = "__all__"

    def validate_filter(self, text: str) -> str:
        request = self.context.get("request")
        return read_filter(text, by=request and request.user).query if text.strip() else ""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        suite, sent = self.instance, super().validate(attrs)
        living = sent.get("filter", suite.filter if suite else "")
        has_tests = suite is not None and not suite.filter and suite.tests.exists()
        if living and sent.get("tests", has_tests):
            problem = "A suite has a filter or tests, not both: send the other one empty."
            raise serializers.ValidationError({"filter": [problem]})
        return sent

    def to_representation(self, instance: Suite) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        if instance.filter:
            shown["tests"] = list(tests_in(instance).order_by("pk").values_list("pk", flat=True))
        return shown

    def validate_baselines(self, runs: list[Run]) -> list[Run]:
        if runs and self.instance is None:
            raise serializers.ValidationError("Create the suite first: it has no runs yet.")
        check(self.instance, runs)
        return runs


class SuiteVersionSerializer(RowSerializer):
    """The tests of a suite that its launches ran, by id; a new version wherever they differ."""

    tests = serializers.ListField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = SuiteVersion
        fields = ("number", "tests", "created_at", "runs")
        read_only_fields = fields


class JudgeSerializer(RowSerializer):
    """A language model with an approach and parameters. Equal judges are one row."""

    name = serializers.CharField(source="__str__", read_only=True)
    params = JSONObject(required=False)
    language_model = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.active().not_applications()
    )
    template = serializers.PrimaryKeyRelatedField(
        queryset=JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED),
        allow_null=True,
        required=False,
    )

    class Meta:
        model = Judge
        fields = (
            "id",
            "name",
            "language_model",
            "approach",
            "params",
            "template",
            "samples",
            "method",
            "role",
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        problem = prompt_problem(attrs.get("approach", Approach.TEMPLATE), attrs.get("template"))
        if problem:
            raise serializers.ValidationError({"template": [problem]})
        if problems := parameter_problems(attrs.get("params", {})):
            raise serializers.ValidationError({"params": problems})
        return super().validate(attrs)


class JurySerializer(RowSerializer):
    """A jury. `backup` is called once per criterion if a judge fails."""

    judges = JudgeSerializer(many=True, allow_empty=False)
    backup = JudgeSerializer(allow_null=True, required=False)

    class Meta:
        model = Jury
        fields = "__all__"

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        super().validate({name: value for name, value in attrs.items() if name != "backup"})
        if problem := backup_problem(self._backup(attrs), self._judges(attrs)):
            raise serializers.ValidationError({"backup": [problem]})
        return attrs

    def _judges(self, attrs: dict[str, Any]) -> list[Judge]:
        """Return the judges that it will have, perhaps not saved."""
        if "judges" in attrs:
            return [Judge(**judge) for judge in attrs["judges"]]
        return list(self.instance.judges.all()) if self.instance else []

    def _backup(self, attrs: dict[str, Any]) -> Judge | None:
        if "backup" in attrs:
            return Judge(**attrs["backup"]) if attrs["backup"] else None
        return self.instance.backup if self.instance else None

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Jury:
        judges = validated_data.pop("judges")
        jury: Jury = super().create(_with_backup(validated_data))
        jury.judges.set([Judge.objects.given(**judge) for judge in judges])
        return jury

    @transaction.atomic
    def update(self, instance: Jury, validated_data: dict[str, Any]) -> Jury:
        judges = validated_data.pop("judges", None)
        jury: Jury = super().update(instance, _with_backup(validated_data))
        if judges is not None:
            jury.judges.set([Judge.objects.given(**judge) for judge in judges])
        return jury


def _with_backup(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the backup's row, found or created."""
    if not values.get("backup"):
        return values
    return {**values, "backup": Judge.objects.given(**values["backup"])}
