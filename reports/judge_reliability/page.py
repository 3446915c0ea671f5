"""Judge reliability: one page with four tabs, each a report of its own."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict

from evalhub.admin_site.pages import row_number
from reports.documents.document import Document
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading
from reports.judge_reliability.evaluated_runs_form import EvaluatedRunsForm
from reports.judge_reliability.humans import tab as humans
from reports.judge_reliability.humans.accuracy_tables import ANY, CELLS, SAMPLES
from reports.judge_reliability.judges import tab as judges
from reports.judge_reliability.judges.pair_tables import MEASURES, SAME
from reports.judge_reliability.trials import tab as trials
from reports.judge_reliability.trials.claim_tables import VERDICTS
from reports.judge_reliability.trust import tab as trust
from reports.judge_reliability.trust.query import DOMAINS, TAGS
from runs.laboratory.trials.models import Benchmark, ClaimKind, Topic
from runs.laboratory.tuning.models import Split
from runs.models import Run


class Tab(NamedTuple):
    """A report of the page; `fields` are those it reads besides the suite and the runs."""

    key: str
    title: str
    fields: tuple[str, ...]
    build: Callable[[Mapping[str, Any], Reading], Document]


TRIALS = "trials"
TABS = (
    Tab("humans", "Agreement with humans", ("sample", "party", "cell"), humans.build),
    Tab("trust", "When to trust which judge", ("by",), trust.build),
    Tab("judges", "Between judges", ("measure", "run"), judges.build),
    Tab(TRIALS, "Trials of judges", trials.FIELDS, trials.build),
)


class TopicField(forms.ModelChoiceField):
    """A topic of a benchmark; the titles of a sealed one are not shown here."""

    def label_from_instance(self, topic: Any) -> str:
        return f"Topic {topic.place + 1}" if topic.benchmark.sealed else str(topic)


class JudgeReliabilityForm(EvaluatedRunsForm):
    """The state of all tabs; only the fields of the chosen one are shown and read."""

    tab = forms.ChoiceField(
        choices=[(tab.key, tab.title) for tab in TABS],
        initial=TABS[0].key,
        widget=forms.HiddenInput,
        help_text="Report to show",
    )
    sample = forms.ChoiceField(
        label="Matrix of",
        choices=[
            ("", "the random sample, if available"),
            *((sample.value, title) for sample, title in SAMPLES.items()),
        ],
        help_text="On the tab Agreement with humans.",
    )
    party = forms.CharField(
        widget=forms.HiddenInput,
        max_length=40,
        help_text="On the tab Agreement with humans: the judge or jury to show",
    )
    cell = forms.ChoiceField(
        choices=[("", ANY), *CELLS.items()],
        widget=forms.HiddenInput,
        help_text="On the tab Agreement with humans: the cell of the matrix whose answers to list",
    )
    by = forms.ChoiceField(
        label="Group by", choices=[(DOMAINS, "domain"), (TAGS, "any tag")], initial=DOMAINS
    )
    measure = forms.ChoiceField(label="Compare by", choices=MEASURES, initial=SAME)
    run = forms.ModelChoiceField(
        Run.objects.all(),
        widget=forms.HiddenInput,
        help_text="On the tab Between judges: read the judge runs of this run only",
    )

    benchmark = forms.ModelChoiceField(
        Benchmark.objects.only("name").order_by("-pk"),
        empty_label="All benchmarks",
        help_text="On the tab Trials of judges, as all below.",
    )
    kind = forms.ChoiceField(label="Claims", choices=[("", "All kinds"), *ClaimKind.choices])
    split = forms.ChoiceField(
        choices=[("", "All"), *Split.choices],
        help_text="Tune judge prompts on claims of the development split only",
    )
    topic = TopicField(Topic.objects.none(), empty_label="All topics")
    cluster = forms.ChoiceField(
        label="Ideas",
        choices=[("", "All"), ("cluster", "of clusters of related ideas"), ("other", "of others")],
    )
    order = forms.ChoiceField(choices=[("", "Both orders"), ("0", "as given"), ("1", "reversed")])
    verdict = forms.ChoiceField(
        label="List claims",
        choices=[("", "All"), *VERDICTS],
        help_text="Of the table Claims only",
    )

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        self.chosen = tab_of(query.get("tab", ""))
        for name in {name for tab in TABS if tab != self.chosen for name in tab.fields}:
            del self.fields[name]
        if self.chosen.key == TRIALS:
            self._prepare_trials(query)
        if self.chosen.key == "judges":
            self.fields["last"].label, self.fields["last"].help_text = "Judge runs", ""

    def _prepare_trials(self, query: QueryDict) -> None:
        """Leave out what chooses runs, and offer the topics of the benchmark."""
        del self.fields["suite"], self.fields["last"]
        benchmark = row_number(query.get("benchmark"))
        topics: Any = self.fields["topic"]
        rows = Topic.objects.filter(benchmark=benchmark).select_related("benchmark")
        topics.queryset = rows.order_by("place", "pk")
        if not benchmark:
            for name in trials.FIELDS[1:]:
                self.fields[name].widget = forms.HiddenInput()

    @property
    def tabs(self) -> list[dict[str, Any]]:
        """The tabs with their addresses, which keep the suite and the runs."""
        shared = {name: self.data.get(name) for name in ("suite", "last")}
        return [
            {
                "title": tab.title,
                "url": page_url("judge_reliability", tab=tab.key, **shared),
                "is_current": tab == self.chosen,
            }
            for tab in TABS
        ]


def tab_of(key: str) -> Tab:
    return next((tab for tab in TABS if tab.key == key), TABS[0])


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    return tab_of(filters["tab"]).build(filters, reading)


JUDGE_RELIABILITY = Page(
    key="judge_reliability",
    title="Judge reliability",
    question="Can I trust the judges?",
    summary="How well judges agree with humans (accuracy, kappa, confusion matrix, corrected pass "
    "rates), when to trust which judge by domain or tag, and how judges compare with each other "
    "(agreement, coverage, failures, cost, biases), and which judge is fit for a task by claims of "
    "known truth. `tab` selects one of the four reports.",
    form=JudgeReliabilityForm,
    build=build,
    template="reports/judge_reliability/page.html",
)
