"""Initial data of the launch form: blank, of an earlier launch, or with a suite's defaults."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from runs.admin.launch.fields import FORM_FIELDS, NumbersField, form_field
from runs.admin.launch.parameters import Row, rows_of
from runs.launching.launch_options import DEFAULT_FIELDS, OPTIONS
from runs.models import Launch, Suite


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
