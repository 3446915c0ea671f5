"""The launch form: what a person fills in becomes what `runs.launch` is asked for."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict
from django.utils import timezone

from evalhub.models import LanguageModel
from issues.models import Issue, Tag
from runs.admin.parameters import Row, read_rows, rows_in, rows_of
from runs.models import Jury, Suite
from runs.numbers import as_ranges, numbers_in
from runs.recurring import BadCron, next_times
from runs.selection import Selection, named, problems_of
from runs.spec import MOST_REPEATS, LaunchRefused, LaunchSpec, read_spec


class Plan(NamedTuple):
    """What a form asks for as far as it can be read, and what keeps it from being launched.

    `spec` is not validated while there are problems: it is good for an estimate only.
    """

    spec: LaunchSpec
    selection: Selection
    cron: str
    problems: list[str]


class LaunchForm(forms.Form):
    """The fields with one value each. System prompts and parameters are lists beside them."""

    tests = forms.CharField(required=False)
    issues = forms.ModelMultipleChoiceField(Issue.objects.all(), required=False)
    tags = forms.ModelMultipleChoiceField(Tag.objects.all(), required=False)
    suite = forms.ModelChoiceField(Suite.objects.all(), required=False)
    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.active(),
        error_messages={"required": "Choose at least one model to run."},
    )
    repeats = forms.IntegerField(
        min_value=1,
        max_value=MOST_REPEATS,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            f"Repeats: say how often each test is asked, from 1 to {MOST_REPEATS}.",
        ),
    )
    jury = forms.ModelChoiceField(Jury.objects.filter(is_active=True), required=False)
    allow_self_judging = forms.BooleanField(required=False)
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

    def plan(self) -> Plan:
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
        if "models" not in self.errors and "__all__" not in self.errors:
            problems += problems_of(spec, selection)
        return Plan(spec, selection, self.cleaned_data.get("cron", ""), problems)

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
            "repeats": read.get("repeats", 1),
            "jury": row.pk if (row := read.get("jury")) else None,
            "cost_limit_usd": read.get("cost_limit_usd"),
            "allow_self_judging": read.get("allow_self_judging", False),
        }


_OWN_WORDS = ("tests", "cron", "models", "label", "repeats")
"""Fields whose messages say by themselves what they are about."""


def _prompt_problems(prompts: list[str]) -> list[str]:
    return [
        f"System prompt {number} is the same as an earlier one: each makes runs of its own."
        for number, prompt in enumerate(prompts, 1)
        if prompt in prompts[: number - 1]
    ]


def blank_data(label: str, **chosen: Iterable[int]) -> QueryDict:
    """A form as it is first shown, with these tests, issues, tags or suite chosen."""
    data = QueryDict(mutable=True)
    data.update({"label": label, "repeats": "1", "tests": as_ranges(chosen.pop("tests", ()))})
    for name, ids in chosen.items():
        data.setlist(name, [str(number) for number in ids])
    return data


def data_of(spec: dict[str, Any], cron: str = "") -> QueryDict:
    """A form filled with what an earlier launch asked for."""
    data = QueryDict(mutable=True)
    for name in ("label", "release", "suite", "repeats", "jury", "cost_limit_usd"):
        if spec.get(name) is not None:
            data[name] = str(spec[name])
    data.update({"tests": as_ranges(spec.get("tests", ())), "cron": cron})
    if spec.get("allow_self_judging"):
        data["allow_self_judging"] = "on"
    for name in ("issues", "tags", "models"):
        data.setlist(name, [str(number) for number in spec.get(name, ())])
    data.setlist("system_prompt", spec.get("system_prompts", [""]))
    for part in Row._fields:
        rows = rows_of(spec.get("params", {}))
        data.setlist(f"param_{part}", [getattr(row, part) for row in rows])
    return data
