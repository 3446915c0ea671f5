"""The launch form: reads what a person entered as a launch, with every problem at once."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.db.models import Model, QuerySet
from django.http import QueryDict

from evalhub.schedules import cron_in
from runs.admin.launch.fields import FORM_FIELDS, NumbersField, form_field
from runs.admin.launch.parameters import Row, read_rows, rows_in, rows_of
from runs.launching.exposure import CONSENT, SealedExposure
from runs.launching.launch_options import (
    DEFAULT_FIELDS,
    OPTIONS,
    SELECTING,
    LaunchRefused,
    LaunchSpec,
    read_spec,
)
from runs.launching.launch_selection import Selection, named, problems_of, sealed_exposure_of
from runs.models import Launch, Suite


class LaunchPlan(NamedTuple):
    """The launch that a form asks for, and the problems that prevent it.

    `spec` is validated only if there are no problems; otherwise it serves the estimate alone.
    `sealed_exposure` is the exposure of sealed tests that the launch would cause, if any.
    """

    spec: LaunchSpec
    selection: Selection
    cron: str
    problems: list[str]
    sealed_exposure: SealedExposure | None = None


class LaunchForm(forms.Form):
    """The options with one input each, and the schedule. System prompts and parameters are rows."""

    cron = forms.CharField(
        max_length=100,
        required=False,
        label="Schedule",
        help_text="Launches now and again at each time: minute, hour, day, month, weekday.",
        widget=forms.TextInput(
            {
                "class": "eh-input eh-mono",
                "placeholder": "Once, now",
                "list": "usual-crons",
                "autocomplete": "off",
            }
        ),
    )

    def __init__(self, data: QueryDict) -> None:
        data = data.copy()
        for name in ("cut_off_answers", "broken_off_answers"):
            data.setdefault(name, str(OPTIONS[name].default))  # a select shows its first otherwise
        super().__init__(data, auto_id=False)
        self.fields = {name: form_field(name) for name in FORM_FIELDS} | self.fields
        self.sent = data
        self.system_prompts = data.getlist("system_prompt") or [""]
        self.rows = rows_in(*(data.getlist(f"param_{part}") for part in Row._fields))

    def clean_cron(self) -> str:
        return cron_in(self.cleaned_data["cron"])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not any(name in self.errors or values.get(name) for name in SELECTING):
            self.add_error(None, "Choose the tests to run: tests, issues, tags or a suite.")
        if "jury" not in self.sent:  # Empty is the choice of no jury.
            self.add_error("jury", "Choose one, or “Human evaluation only”.")
        return values

    def plan(self) -> LaunchPlan:
        """Read the whole form and collect every problem."""
        params, unread = read_rows(self.rows)
        problems = [*self._problems(), *unread]
        for number, prompt in enumerate(self.system_prompts, 1):
            if prompt in self.system_prompts[: number - 1]:
                problems.append(
                    f"System prompt {number} repeats an earlier one: remove it, or change it."
                )
        values = self._values() | {"params": params}
        spec = LaunchSpec.model_construct(**values)
        if not problems:
            try:
                spec = read_spec(values)
            except LaunchRefused as refused:
                problems += refused.problems
        selection = named(spec)
        sealed = sealed_exposure_of(spec, selection)
        # The consent names these very tests and addresses.
        is_allowed = sealed is not None and self.sent.get(CONSENT) == sealed.key
        spec = spec.model_copy(update={CONSENT: is_allowed})
        if "models" not in self.errors and "__all__" not in self.errors:
            problems += problems_of(spec, selection)
        return LaunchPlan(spec, selection, self.cleaned_data.get("cron", ""), problems, sealed)

    def _problems(self) -> list[str]:
        return [
            str(message) if field == "__all__" else f"{self[field].label}: {message}"
            for field, messages in self.errors.items()
            for message in messages
        ]

    def _values(self) -> dict[str, Any]:
        """Return the options as far as they could be read."""
        read = {name: _plain(self.cleaned_data.get(name)) for name in FORM_FIELDS}
        given = {name: value for name, value in read.items() if value not in (None, "")}
        return {"label": "", "models": [], "system_prompts": self.system_prompts} | given


def _plain(value: Any) -> Any:
    """Return ids in place of rows."""
    if isinstance(value, QuerySet):
        return [row.pk for row in value]
    return value.pk if isinstance(value, Model) else value


def data_of(spec: Mapping[str, Any], cron: str = "") -> QueryDict:
    """Return the data of a form that asks for this launch."""
    data = QueryDict(mutable=True)
    data["cron"] = cron
    fill_in(data, spec)
    return data


def data_of_launch(launch: Launch) -> QueryDict:
    """Return the data of the form that made this launch; without a jury, that was chosen."""
    return data_of({"jury": None, **launch.spec}, launch.cron)


def with_defaults(data: QueryDict, suite: Suite) -> tuple[QueryDict, list[str]]:
    """Return the data with the suite's defaults in place, and the labels of their fields."""
    filled = data.copy()
    found = {name: suite.defaults[name] for name in DEFAULT_FIELDS if name in suite.defaults}
    fill_in(filled, found)
    return filled, [str(OPTIONS[name].title) for name in found]


def fill_in(data: QueryDict, spec: Mapping[str, Any]) -> None:
    """Put these options into the form's data; leave others as they are."""
    for name, value in spec.items():
        if name == "system_prompts":
            data.setlist("system_prompt", value)
        elif name == "params":
            rows = rows_of(value)
            for part in Row._fields:
                data.setlist(f"param_{part}", [getattr(row, part) for row in rows])
        elif name in FORM_FIELDS:
            data.setlist(name, _typed(name, value))


def _typed(name: str, value: Any) -> list[str]:
    """Return an option's value as the browser sends it."""
    field = form_field(name)
    if isinstance(field, NumbersField):
        return [field.write(value)]
    if isinstance(value, list | bool):
        return [str(number) for number in value] if isinstance(value, list) else ["on"] * value
    if isinstance(value, float):
        return [f"{value:g}"]
    return ["" if value is None else str(value)]
