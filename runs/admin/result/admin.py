from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.shortcuts import get_object_or_404
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from evalhub.admin_site.contributions import ExtensibleListAdmin
from evalhub.admin_site.lists import PageChangeList, RelatedFilter
from evalhub.admin_site.pages import ReadOnlyAdmin, address_back, current_user, require
from evalhub.display import html
from evalhub.display.formatting import DASH, score, seconds
from issues.content.test_texts import first_words
from issues.models import Polarity
from issues.rubrics.scoring import inverted
from runs.admin.result import bulk_override
from runs.admin.result.example_marking import MARK, marked, may_mark
from runs.admin.result.filters import EndingFilter, FailedJudgmentFilter, OutcomeFilter, TagFilter
from runs.admin.result.human_evaluation import EvaluationForm, evaluated, url_at
from runs.admin.result.navigation import ResultNavigation, navigation_of
from runs.admin.result.page import page_of
from runs.admin.result.verdict_drafts import drafts_of, forget_draft, keep_draft
from runs.admin.result.verdict_form import verdict_forms
from runs.judging.sent_prompts import prompt_of
from runs.models import ChosenBy, Judgment, Result
from runs.scoring.shown_verdicts import hidden_from, record, record_filtered
from runs.scoring.verdict import judge_infos_of
from runs.scoring.verdict_rows import ORIGIN


def judge_splits_of(results: Sequence[Result]) -> dict[int, str]:
    """Return the splits of the active judge run by result; missing judgments are counted apart.

    Values of a "should not" are inverted. The results were read with their revisions. One query.
    """
    values: dict[int, list[float | None]] = defaultdict(list)
    ids = [row.pk for row in results]  # a list's rows as a subquery would be looked for again
    rows = Judgment.objects.filter(result__in=ids, judge_run__is_active=True).order_by()
    for result, polarity, value in rows.values_list("result_id", "criterion__polarity", "value"):
        values[result].append(inverted(value) if polarity == Polarity.SHOULD_NOT else value)
    splits = {}
    for row in results:
        if row.pk in values:
            sides = [row.revision.passes(value) for value in values[row.pk]]
            missing = f", {sides.count(None)} no verdict" if None in sides else ""
            splits[row.pk] = f"{sides.count(True)}:{sides.count(False)}{missing}"
    return splits


LIST = "_changelist_filters"


class ResultChangeList(PageChangeList):
    """A page of results, with the judges' split on each row."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        record(request.user, {result.pk for result in self.result_list})
        by_outcome = OutcomeFilter.parameter_name
        is_last = self.page_num >= self.paginator.num_pages and not self.paginator.has_more
        if by_outcome in request.GET and is_last:
            record_filtered(request.user, self.get_queryset(request, [by_outcome]))
        splits = judge_splits_of(self.result_list)
        for result in self.result_list:
            result.split = splits.get(result.pk, DASH)


@admin.register(Result)
class ResultAdmin(ExtensibleListAdmin, ReadOnlyAdmin):
    """Results of readable tests, as a list and one by one."""

    when_empty = "Launch a run to get results."
    list_display = (
        "badge",
        "words",
        "issue",
        "run",
        "result_score",
        "split",
        "overridden",
        "latency",
        "ended",
    )
    list_display_links = ("words",)
    list_filter = (
        ("run", AutocompleteSelectFilter),
        OutcomeFilter,
        ("issue", AutocompleteSelectFilter),
        ("run__suite", RelatedFilter),
        TagFilter,
        "is_overridden",
        "is_disputed",
        FailedJudgmentFilter,
        EndingFilter,
    )
    search_fields = ("issue__title", "answer__text", "run__label")
    found_by = ("=id",)
    search_help_text = "Search issue titles, answers and run labels."
    list_select_related = ("issue", "run", "revision")
    actions = ("override_selected",)
    page_template = "runs/result/page.html"
    views = {"judgment": "<int:pk>/judgment/<int:judgment_pk>/"}
    post_views = {"evaluate": "<int:pk>/evaluate/", "example": "<int:pk>/example/"}

    class Media:
        css = {"all": ("evalhub/result.css",)}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return ResultChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Result]:
        readable: QuerySet[Result] = Result.objects.readable_by(request.user)
        return readable.exclude(pk__in=hidden_from(request.user)).order_by("-run_id", "pk")

    def has_evaluate_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm("runs.add_humanevaluation"))

    # The list ------------------------------------------------------------------------------------

    @display(description="Outcome", ordering="outcome")
    def badge(self, result: Result) -> SafeString:
        return html.badge(result.outcome, result.outcome)

    def found_as(self, result: Result) -> tuple[str, str]:
        return self.words(result), f"result {result.pk} of {result.run.model_name}"

    @display(description="Test", ordering="test_id")
    def words(self, result: Result) -> str:
        return first_words(result.revision.content["messages"])

    @display(description="Score", ordering="score")
    def result_score(self, result: Result) -> str:
        return score(result.score)

    @display(description="Judges")
    def split(self, result: Any) -> str:
        return str(result.split)

    @display(description="Ending", ordering="ending")
    def ended(self, result: Result) -> str:
        return result.get_ending_display() or DASH

    @display(description="Human verdict", ordering="is_overridden")
    def overridden(self, result: Result) -> SafeString | str:
        if result.is_disputed:
            return html.badge("unscored", "disputed")
        return f"{result.outcome}" if result.is_overridden else DASH

    @display(description="Latency", ordering="latency_ms")
    def latency(self, result: Result) -> str:
        return seconds(result.latency_ms)

    @admin.action(permissions=["evaluate"], description="Override …")
    def override_selected(
        self, request: HttpRequest, queryset: QuerySet[Result]
    ) -> HttpResponse | None:
        return bulk_override.override(request, queryset, self)

    # The page ------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require(self.has_view_permission(request))
        if not object_id.isdecimal():
            raise Http404(f"There is no result {object_id!r}.")
        return self._page(request, self._result(request, int(object_id)))

    def _result(self, request: HttpRequest, pk: int) -> Result:
        """Return a result that the reader may read, else answer 404."""
        readable = Result.objects.readable_by(request.user)
        related = ("run", "issue", "test", "tag_set", "revision__template")
        result: Result = get_object_or_404(readable.select_related(*related), pk=pk)
        return result

    def _page(
        self, request: HttpRequest, result: Result, draft: EvaluationForm | None = None
    ) -> HttpResponse:
        """Show the result; `draft` is a form that was refused."""
        record(request.user, {result.pk})
        context = self.page_context(request, result)
        drafts = drafts_of(result, current_user(request))
        if draft:
            drafts[draft.criterion] = draft
        last = request.session.pop("last_evaluated", None)
        forms = {}
        if self.has_evaluate_permission(request):
            save = "Save and next" if context["next"] else "Save"
            suffix = context["navigation"].suffix
            forms = verdict_forms(context["page"], drafts, suffix=suffix, save=save)
        return self.page(request, self.page_template, forms=forms, last=last, **context)

    def page_context(self, request: HttpRequest, result: Result) -> dict[str, Any]:
        """Return the page's context: the result, and the reader's permissions."""
        navigation = self._navigation(request, result)
        return {
            "title": f"Result {result.pk}",
            "panel_title": "Override the verdict",
            "page": page_of(result, current_user(request)),
            "result": result,
            "run": result.run,
            "navigation": navigation,
            "position": navigation.position(result.pk),
            "next": navigation.after(result.pk),
            "previous": navigation.before(result.pk),
            "may_evaluate": self.has_evaluate_permission(request),
            "may_adjudicate": request.user.has_perm("runs.adjudicate"),
            "may_mark": may_mark(request, result),
            "may_control": request.user.has_perm("runs.control_run"),
            "is_fullwidth": "1",
        }

    def _navigation(self, request: HttpRequest, result: Result) -> ResultNavigation:
        """Return the list that the reader comes from; its filters are invalid or missing: none."""
        shown, listed = request.GET, None
        if filters := shown.get(LIST):
            try:
                request.GET = QueryDict(filters)
                listed = self.get_changelist_instance(request).get_queryset(request)
            except admin.options.IncorrectLookupParameters:
                pass
            finally:
                request.GET = shown
        return navigation_of(request, result, listed)

    def judgment_view(self, request: HttpRequest, pk: int, judgment_pk: int) -> HttpResponse:
        """Show one judgment of a criterion with its exact prompt and reply."""
        require(self.has_view_permission(request))
        result = self._result(request, pk)
        record(request.user, {pk})
        related = ("judge_run__run", "criterion", "template", "call__language_model", "judge")
        rows = Judgment.objects.select_related(*related, "result__revision__template")
        found = rows.annotate(**ORIGIN)
        judgment = get_object_or_404(found, result=result, pk=judgment_pk, judge__isnull=False)
        judges = judge_infos_of([judgment.judge_run])[judgment.judge_run_id]
        judge = judges.get(judgment.judge_id or 0)
        if judge is None:
            raise Http404(f"The judge of judgment {judgment_pk} is not in its judge run.")
        return self.page(
            request,
            "runs/result/judgment.html",
            title=f"Judgment of {judge.name}",
            result=result,
            judgment=judgment,
            judge=judge,
            prompt=prompt_of(judgment, reader=current_user(request)),
        )

    def evaluate_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Save the reader's verdict or its draft, or withdraw their last one.

        A script is answered with the address to go to; after a refusal, the page with the draft.
        A form of another page names that page as `next`.
        """
        require(self.has_evaluate_permission(request))
        result = self._result(request, pk)
        reader, is_script = current_user(request), not request.accepts("text/html")
        draft = EvaluationForm.read(request.POST, chosen_by=ChosenBy.DIRECT)
        if draft.act == "draft" or is_script:
            keep_draft(result, request.POST, by=reader)
        if draft.act == "draft":
            return JsonResponse({"is_yours": True})
        navigation = self._navigation(request, result)
        url = evaluated(request, result, draft, navigation)
        if url:
            if draft.act != "undo":
                forget_draft(result, draft.criterion, by=reader)
            if "next" in request.POST:
                url = self._back_to_other_page(request, pk, url)
        elif not is_script:
            return self._page(request, result, draft)
        url = url or url_at(pk, navigation, draft.criterion)
        return JsonResponse({"go": url}) if is_script else HttpResponseRedirect(url)

    def _back_to_other_page(self, request: HttpRequest, pk: int, url: str) -> str:
        request.session.pop("last_evaluated", None)
        outcome = Result.objects.only("outcome").get(pk=pk).outcome
        self.say_done(request, f"Saved: result {pk} is {outcome}.")
        return address_back(request, url)

    def example_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Mark a human evaluation as a labelled example, or remove the mark."""
        require(request.user.has_perm(MARK))
        result = self._result(request, pk)
        return marked(request, result, self._navigation(request, result))
