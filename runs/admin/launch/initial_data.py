"""What the launch form starts with: an earlier launch, a suite's defaults, or what the URL says."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict

from runs.admin.launch.parameters import Row, rows_of
from runs.launching.number_lists import as_list, as_ranges
from runs.launching.spec import DEFAULT_FIELDS
from runs.models import Suite

TEXTS = (
    *("label", "release", "suite", "repeats", "jury", "cost_limit_usd"),
    *("similarity_weight", "similarity_model"),
)
SWITCHES = ("allow_self_evaluation", "score_by_similarity")
LISTS = ("issues", "tags", "models")


def blank_data(label: str, **chosen: Iterable[int]) -> QueryDict:
    """A form as it is first shown, with these tests, issues, tags or suite chosen."""
    data = QueryDict(mutable=True)
    data.update({"label": label, "repeats": "1", "tests": as_ranges(chosen.pop("tests", ()))})
    for name, ids in chosen.items():
        data.setlist(name, [str(number) for number in ids])
    return data


def data_of(spec: Mapping[str, Any], cron: str = "") -> QueryDict:
    """A form filled with what an earlier launch asked for."""
    data = QueryDict(mutable=True)
    data["cron"] = cron
    fill_in(data, spec)
    return data


def fill_in(data: QueryDict, spec: Mapping[str, Any]) -> None:
    """Put these fields of a launch into the form; others stay as they were typed."""
    for name, value in spec.items():
        if name in TEXTS:
            data[name] = "" if value is None else _text(value)
        elif name in SWITCHES:
            data.setlist(name, ["on"] if value else [])
        elif name in LISTS:
            data.setlist(name, [str(number) for number in value])
        elif name == "tests":
            data["tests"] = as_ranges(value)
        elif name == "temperatures":
            data["temperatures"] = as_list(value)
        elif name == "system_prompts":
            data.setlist("system_prompt", value)
        elif name == "params":
            rows = rows_of(value)
            for part in Row._fields:
                data.setlist(f"param_{part}", [getattr(row, part) for row in rows])


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def with_defaults(data: QueryDict, suite: Suite) -> tuple[QueryDict, list[str]]:
    """The form with the suite's defaults in place of what was typed, and which fields they are."""
    filled = data.copy()
    found = {name: suite.defaults[name] for name in DEFAULT_FIELDS if name in suite.defaults}
    fill_in(filled, found)
    return filled, [name.replace("_", " ") for name in found]
