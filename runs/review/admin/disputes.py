"""The list of disputed results, each opened on its page to be resolved."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from unfold.decorators import display

from evalhub.admin_site.lists import ChoiceFilter, PageChangeList, RelatedFilter
from evalhub.display.html import link
from issues.content.test_texts import first_words
from runs.admin.result.admin import LIST, ResultAdmin
from runs.admin.result.filters import TagFilter
from runs.figures.verdict_labels import extent_label, verdict_label
from runs.models import EvaluationKind, HumanEvaluation, Outcome, Result
from runs.review.models import Dispute
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.dispute_rule import ADJUDICATION, dispute_over, dispute_over_result, opinions
from runs.scoring.shown_verdicts import record


class Opinion(NamedTuple):
    """An annotator's verdict; `passed` is None for a criterion, which has no pass threshold."""

    evaluation: HumanEvaluation
    passed: bool | None

    @property
    def label(self) -> str:
        """Such as "fails (0)", or the extent for a criterion."""
        option, value = self.evaluation.option, self.evaluation.value
        if self.passed is None:
            return extent_label(option, None if option else value)
        return verdict_label(option or f"{value:g}", None, self.passed)


class DisputeVerdicts(NamedTuple):
    """The differing verdicts on one result, oldest first; `settlement` None while unresolved."""

    opinions: list[Opinion]
    settlement: Opinion | None


def disputes_of(results: Sequence[Result]) -> dict[int, DisputeVerdicts]:
    """Read what differs on these results, which were read with their revisions; one query.

    The texts are the reader's to see: the caller has checked.
    """
    rows = HumanEvaluation.objects.filter(result__in=[result.pk for result in results])
    evaluations: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator", "criterion").order_by("pk"):
        evaluations[row.result_id].append(row)
    return {result.pk: _verdicts_of(result, evaluations[result.pk]) for result in results}


def _verdicts_of(result: Result, evaluations: Iterable[HumanEvaluation]) -> DisputeVerdicts:
    def opinion(row: HumanEvaluation) -> Opinion:
        return Opinion(row, None if row.criterion.key else result.revision.passes(row.value))

    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    whole: list[HumanEvaluation] = []
    for row in evaluations:
        (about[row.criterion_id] if row.criterion.key else whole).append(row)
    differing = opinions(whole) or [
        row for mine in about.values() if dispute_over(mine) for row in opinions(mine)
    ]
    settlement = None
    found = dispute_over_result(whole, about)
    if found and found.settled_by is not None:
        active = [row for mine in (whole, *about.values()) for row in active_evaluations(mine)]
        settlement = next(
            opinion(row)
            for row in active
            if row.kind == ADJUDICATION and row.annotator_id == found.settled_by
        )
    return DisputeVerdicts(
        [opinion(row) for row in sorted(differing, key=lambda row: row.pk)], settlement
    )


class DisputeChangeList(PageChangeList):
    """A page of disputes, with the verdicts on each row."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        record(request.user, {result.pk for result in self.result_list})
        found = disputes_of(self.result_list)
        suffix = ""
        if not request.GET.get(StateFilter.parameter_name):
            # The same filters for the list of all results, which gives their order.
            kept = {k: v for k, v in request.GET.items() if v and k not in ("p", "o", "e")}
            suffix = "?" + urlencode({LIST: urlencode({**kept, "is_disputed__exact": "1"})})
        for result in self.result_list:
            result.dispute = found[result.pk]
            result.url = reverse("admin:runs_result_change", args=[result.pk]) + suffix
        self.first_url = self.result_list[0].url if self.result_list and suffix else ""


ADJUDICATED = HumanEvaluation.objects.filter(kind=EvaluationKind.ADJUDICATION).order_by()


class StateFilter(ChoiceFilter):
    """Unresolved disputes by default."""

    title = parameter_name = "state"
    all_option: Any = ("", "Unresolved")
    unset = Q(is_disputed=True)
    choices_of = {
        "settled": ("Resolved", Q(is_disputed=False, pk__in=ADJUDICATED.values("result")))
    }


class SideFilter(ChoiceFilter):
    """By the sides of the pass threshold that verdicts lie on; for resolved ones, the outcome."""

    title, parameter_name = "verdicts", "outcome"
    choices_of = {
        Outcome.UNSCORED: ("on both sides of the pass threshold", Q(outcome=Outcome.UNSCORED)),
        Outcome.PASSED: ("all pass", Q(outcome=Outcome.PASSED)),
        Outcome.FAILED: ("all fail", Q(outcome=Outcome.FAILED)),
    }


@admin.register(Dispute)
class DisputeAdmin(ResultAdmin):
    """Disputed results, for adjudicators."""

    rows_name = "disputes"
    when_empty = "Annotators agree on every result."
    list_before_template = "runs/review/disputed_before.html"
    list_display: Any = ("badge", "words", "issue", "run", "verdicts")
    list_display_links: Any = None
    list_filter: Any = (
        StateFilter,
        SideFilter,
        ("run__suite", RelatedFilter),
        TagFilter,
    )
    actions: Any = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return DisputeChangeList

    def get_list_display(self, request: HttpRequest) -> Any:
        if request.GET.get(StateFilter.parameter_name) == "settled":
            return ("badge", "words", "run", "verdicts", "settled_by")
        return self.list_display

    def get_queryset(self, request: HttpRequest) -> QuerySet[Result]:
        readable: QuerySet[Result] = Dispute.objects.readable_by(request.user)
        return readable.order_by("-run_id", "pk")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.changelist_view)
        return [path("", view, name="review_dispute_changelist")]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm("runs.adjudicate"))

    @display(description="Test")
    def words(self, result: Any) -> SafeString:
        return link(result.url, first_words(result.revision.content["messages"]))

    @display(description="Verdicts")
    def verdicts(self, result: Any) -> SafeString:
        return _opinions(result.dispute.opinions)

    @display(description="Resolved by")
    def settled_by(self, result: Any) -> SafeString | None:
        settlement = result.dispute.settlement
        return _opinions([settlement]) if settlement else None


def _opinions(opinions: list[Opinion]) -> SafeString:
    return SafeString(render_to_string("runs/review/_opinions.html", {"opinions": opinions}))
