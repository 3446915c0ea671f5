"""What can be asked of a comparison, all of it in the address."""

from typing import Any

from django import forms

from reports.compare.rule import FLIPS, Kind
from reports.documents.fields import SeveralField
from reports.documents.reading import ReportForm
from runs.models import Run

MOST = 12
"""Runs side by side."""

SHOW: dict[str, tuple[str, frozenset[Kind]]] = {
    "": ("flips, worse or better", FLIPS),
    "worse": ("worse", frozenset((Kind.WORSE,))),
    "better": ("better", frozenset((Kind.BETTER,))),
    "same": ("same", frozenset((Kind.SAME,))),
    "excluded": (
        "errors, unjudged, pending",
        frozenset((Kind.ERROR, Kind.UNSCORED, Kind.PENDING)),
    ),
    "only": ("only in one run", frozenset((Kind.ONLY_FIRST, Kind.ONLY_SECOND))),
    "text": ("text changed", frozenset((Kind.TEXT_CHANGED,))),
    "rubric": ("rubric changed", frozenset((Kind.RUBRIC_CHANGED,))),
    "all": ("all tests", frozenset(Kind)),
}
"""Which tests of two runs are listed."""

SHARED = (("", "tests of any run"), ("on", "tests that all runs have"))


class RunsField(SeveralField):
    """Runs in the order in which they are given; the first is what others are compared with."""

    def clean(self, value: Any) -> Any:
        numbers = [part for one in value or () for part in str(one).split(",") if part]
        found = {run.pk: run for run in super().clean(numbers)}
        return [found[number] for number in dict.fromkeys(map(int, numbers))]


class CompareForm(ReportForm):
    runs = RunsField(
        Run.objects.select_related("suite"),
        initial=[],
        label="Runs",
        help_text="The first is what the others are compared with; without any, the latest run "
        "and its suite's baseline, or the run before it.",
        widget=forms.MultipleHiddenInput,
    )
    show = forms.ChoiceField(
        choices=[(key, title) for key, (title, _) in SHOW.items()], label="Show", initial=""
    )
    tag = forms.CharField(
        max_length=100, label="Tag", widget=forms.TextInput(attrs={"list": "compare-tags"})
    )
    issue = forms.IntegerField(min_value=1, label="Issue", help_text="Its number.")
    q = forms.CharField(max_length=200, label="Words in the prompt")
    shared = forms.ChoiceField(
        choices=SHARED, label="Of several runs", initial="", help_text="Which tests are listed."
    )
    family = forms.BooleanField(
        label="By family", help_text="Runs of one family of models are added up."
    )
    find = forms.CharField(max_length=100, label="Find runs", help_text="Offered on the page.")
