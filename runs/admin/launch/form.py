"""The launch form: what a person fills in becomes what `runs.launching.launch` is asked for."""

from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict
from django.utils import timezone

from evalhub.models import LanguageModel
from evalhub.schedules import BadCron, next_times
from issues.models import Issue, Tag
from runs.admin.launch.parameters import Row, read_rows, rows_in
from runs.launching.exposure import CONSENT, SealedExposure
from runs.launching.number_lists import numbers_in, temperatures_in
from runs.launching.selection import Selection, named, problems_of, sealed_exposure_of
from runs.launching.spec import MAX_REPEATS, LaunchRefused, LaunchSpec, read_spec
from runs.models import Jury, Suite


class LaunchPlan(NamedTuple):
    """What a form asks for as far as it can be read, and what keeps it from being launched.

    `spec` is not validated while there are problems: it is good for an estimate only.
    `sealed_exposure`
    are the sealed tests that it would send outside the trusted network.
    """

    spec: LaunchSpec
    selection: Selection
    cron: str
    problems: list[str]
    sealed_exposure: SealedExposure | None = None


_UNCHECKED = {"invalid_choice": "It is unknown or inactive: choose another one."}


class LaunchForm(forms.Form):
    """The fields with one value each. System prompts and parameters are lists beside them."""

    tests = forms.CharField(required=False)
    issues = forms.ModelMultipleChoiceField(Issue.objects.all(), required=False)
    tags = forms.ModelMultipleChoiceField(Tag.objects.all(), required=False)
    suite = forms.ModelChoiceField(Suite.objects.all(), required=False)
    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.active(),
        error_messages={
            "required": "Choose at least one model to run.",
            "invalid_choice": "Model %(value)s is unknown or inactive: choose another one.",
        },
    )
    temperatures = forms.CharField(max_length=200, required=False)
    repeats = forms.IntegerField(
        min_value=1,
        max_value=MAX_REPEATS,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            f"Repeats: say how often each test is asked, from 1 to {MAX_REPEATS}.",
        ),
    )
    jury = forms.ModelChoiceField(
        Jury.objects.filter(is_active=True), required=False, error_messages=_UNCHECKED
    )
    allow_self_evaluation = forms.BooleanField(required=False)
    similarity_weight = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "Choose a share from 0 to 1, such as 0.2."
        ),
        label="The share of similarity",
    )
    similarity_model = forms.ModelChoiceField(
        LanguageModel.objects.active(), required=False, error_messages=_UNCHECKED
    )
    score_by_similarity = forms.BooleanField(required=False)
    cost_limit_usd = forms.DecimalField(
        required=False,
        min_value=Decimal("0.0001"),
        max_digits=12,
        decimal_places=4,
        label="The cost limit",
    )
    label = forms.CharField(
        max_length=150, error_messages={"required": "Give it a label, so that it is found again."}
    )
    release = forms.CharField(max_length=100, required=False)
    cron = forms.CharField(max_length=100, required=False)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        self.sent = data
        self.system_prompts = data.getlist("system_prompt") or [""]
        self.rows = rows_in(*(data.getlist(f"param_{part}") for part in Row._fields))

    def clean_tests(self) -> list[int]:
        try:
            return numbers_in(self.cleaned_data["tests"])
        except ValueError as error:
            raise forms.ValidationError(f"Tests: {error}") from error

    def clean_temperatures(self) -> list[float]:
        try:
            return temperatures_in(self.cleaned_data["temperatures"])
        except ValueError as error:
            raise forms.ValidationError(f"Temperatures: {error}") from error

    def clean_cron(self) -> str:
        cron = " ".join(self.cleaned_data["cron"].split())
        try:
            if cron:
                next_times(cron, timezone.now(), 1)
        except BadCron as error:
            raise forms.ValidationError(f"Recurrence: {error}") from error
        return cron

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        what = ("tests", "issues", "tags", "suite")
        if not any(name in self.errors or values.get(name) for name in what):
            raise forms.ValidationError("Choose what to run: tests, issues, tags or a suite.")
        return values

    def plan(self) -> LaunchPlan:
        """Read the whole form, and collect every problem at once."""
        problems = self._problems()
        params = read_rows(self.rows)
        problems += [*params.problems, *_prompt_problems(self.system_prompts)]
        values = self._values() | {"params": params.values}
        spec = LaunchSpec.model_construct(**values)
        if not problems:
            try:
                spec = read_spec(values)
            except LaunchRefused as refused:
                problems += refused.problems
        selection = named(spec)
        sealed = sealed_exposure_of(spec, selection)
        spec = spec.model_copy(update={CONSENT: self._allows(sealed)})
        if "models" not in self.errors and "__all__" not in self.errors:
            problems += problems_of(spec, selection)
        return LaunchPlan(spec, selection, self.cleaned_data.get("cron", ""), problems, sealed)

    def _allows(self, sealed: SealedExposure | None) -> bool:
        """Whether just this exposure was ticked: another test or address asks once more."""
        return sealed is not None and self.sent.get(CONSENT) == sealed.key

    def _problems(self) -> list[str]:
        return [
            str(message) if field in ("__all__", *_OWN_WORDS) else f"{self[field].label}: {message}"
            for field, messages in self.errors.items()
            for message in messages
        ]

    def _values(self) -> dict[str, Any]:
        """What could be read, as the specification has it."""
        read = self.cleaned_data
        return {
            "label": read.get("label", ""),
            "release": read.get("release", ""),
            "tests": read.get("tests", []),
            "issues": [row.pk for row in read.get("issues", ())],
            "tags": [row.pk for row in read.get("tags", ())],
            "suite": row.pk if (row := read.get("suite")) else None,
            "models": [row.pk for row in read.get("models", ())],
            "system_prompts": self.system_prompts,
            "temperatures": read.get("temperatures", []),
            "repeats": read.get("repeats", 1),
            "jury": row.pk if (row := read.get("jury")) else None,
            "cost_limit_usd": read.get("cost_limit_usd"),
            "allow_self_evaluation": read.get("allow_self_evaluation", False),
            "similarity_weight": read.get("similarity_weight") or 0,
            "similarity_model": row.pk if (row := read.get("similarity_model")) else None,
            "score_by_similarity": read.get("score_by_similarity", False),
        }


_OWN_WORDS = ("tests", "temperatures", "cron", "models", "label", "repeats")
"""Fields whose messages say by themselves what they are about."""


def _prompt_problems(prompts: list[str]) -> list[str]:
    return [
        f"System prompt {number} is the same as an earlier one: each makes runs of its own."
        for number, prompt in enumerate(prompts, 1)
        if prompt in prompts[: number - 1]
    ]
