"""The filters of the Compare page, all of them in the URL."""

from typing import Any

from django import forms
from django.http import QueryDict

from evalhub.admin_site.pages import row_number
from evalhub.models import LanguageModel
from reports.compare.rule import FLIPS, Kind
from reports.documents.fields import SeveralField, tests_field
from reports.documents.links import page_url
from reports.documents.reading import ReportForm
from runs.laboratory.pairwise.models import PairwiseJudgeRun
from runs.models import Run, Suite

SHOW: dict[str, tuple[str, frozenset[Kind]]] = {
    "": ("worse or better", FLIPS),
    "worse": ("worse", frozenset((Kind.WORSE,))),
    "better": ("better", frozenset((Kind.BETTER,))),
    "same": ("same", frozenset((Kind.SAME,))),
    "excluded": (
        "errors, unscored, pending",
        frozenset((Kind.ERROR, Kind.UNSCORED, Kind.PENDING)),
    ),
    "incomparable": ("not comparable", frozenset((Kind.NOT_COMPARABLE,))),
    "only": ("only in one run", frozenset((Kind.ONLY_FIRST, Kind.ONLY_SECOND))),
    "text": ("text changed", frozenset((Kind.TEXT_CHANGED,))),
    "rubric": ("rubric changed", frozenset((Kind.RUBRIC_CHANGED,))),
    "all": ("all tests", frozenset(Kind)),
}
"""Lists of the tests of two runs."""

CHANGES, PAIRWISE = "", "pairwise"
TABS = ((CHANGES, "Changes"), (PAIRWISE, "Pairwise"))

SHARED = (("", "any run"), ("on", "all runs"))


class RunsField(SeveralField):
    """Runs in the given order; the others are compared with the first."""

    def clean(self, value: Any) -> Any:
        numbers = [part for one in value or () for part in str(one).split(",") if part]
        found = {run.pk: run for run in super().clean(numbers)}
        return [found[number] for number in dict.fromkeys(map(int, numbers))]


class CompareForm(ReportForm):
    runs = RunsField(
        Run.objects.select_related("suite"),
        initial=[],
        label="Runs",
        help_text="The others are compared with the first. Without any: the latest run and its "
        "suite's baseline or previous run of the same model and settings.",
        widget=forms.MultipleHiddenInput,
    )
    suite = forms.ModelChoiceField(
        Suite.objects.only("name"),
        widget=forms.HiddenInput,
        help_text="Without runs: compare the newest run of this suite.",
    )
    model = forms.ModelChoiceField(
        LanguageModel.objects.only("name"),
        widget=forms.HiddenInput,
        help_text="Without runs: compare the newest run of this model.",
    )
    show = forms.ChoiceField(
        choices=[(key, title) for key, (title, _) in SHOW.items()], label="Show", initial=""
    )
    tag = forms.CharField(
        max_length=100, label="Tag", widget=forms.TextInput(attrs={"list": "compare-tags"})
    )
    issue = forms.IntegerField(min_value=1, label="Issue", help_text="Issue id.")
    q = forms.CharField(max_length=200, label="Prompt contains")
    shared = forms.ChoiceField(
        choices=SHARED, label="Tests in", initial="", help_text="For three or more runs."
    )
    tests = tests_field()
    family = forms.BooleanField(
        label="By family", help_text="Add up the runs of each model family."
    )
    find = forms.CharField(max_length=100, label="Find runs")
    tab = forms.ChoiceField(
        choices=TABS,
        initial=CHANGES,
        widget=forms.HiddenInput,
        help_text="pairwise: which answers are better, two at a time.",
    )
    judged = forms.ModelChoiceField(
        PairwiseJudgeRun.objects.select_related("language_model"),
        label="Judged by",
        empty_label="the newest judge run",
        help_text="On the tab Pairwise: the pairwise judge run that counts.",
    )

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        self.compared = [
            row_number(n) for one in query.getlist("runs") for n in str(one).split(",")
        ]
        judged: Any = self.fields["judged"]
        judged.queryset = judged.queryset.filter(runs__in=self.compared).distinct()

    @property
    def tabs(self) -> list[dict[str, Any]]:
        """The tabs with their addresses, which keep the runs."""
        chosen = self.filters["tab"]
        runs = [run.pk for run in self.filters["runs"] or ()]
        return [
            {
                "title": title,
                "url": page_url("compare", runs=runs, tab=key),
                "is_current": key == chosen,
            }
            for key, title in TABS
        ]
