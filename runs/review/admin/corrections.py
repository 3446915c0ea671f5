"""Corrections: their list, comparison with the reference answer, and promotion."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from evalhub.admin_site.lists import ChoiceFilter
from evalhub.admin_site.pages import ReadOnlyAdmin, current_user, require, row_number
from evalhub.display.html import link
from evalhub.display.word_diff import word_diff
from issues.content.test_texts import first_words
from issues.models import Test
from runs.figures.verdict_labels import text_or_none
from runs.models import Answer
from runs.review import corrections as acting
from runs.review.models import Correction
from runs.scoring.shown_verdicts import record

MAX_TESTS = 200
"""Tests that the filter offers; a link may name any other."""


class TestFilter(DropdownFilter):
    """Corrections of the answers to one test."""

    __test__ = False
    title = "test"
    parameter_name = "test"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        readable = Correction.objects.readable_by(request.user).order_by()
        ids = readable.values_list("result__test_id", flat=True).distinct()
        shown = sorted({*ids[:MAX_TESTS], row_number(request.GET.get("test"))} - {0})
        return [(str(pk), f"test {pk}") for pk in shown]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Correction]) -> Any:
        wanted = row_number(self.value())
        return queryset.filter(result__test=wanted) if wanted else queryset


class PromotedFilter(ChoiceFilter):
    """By use as a reference answer."""

    title = "use as reference"
    parameter_name = "promoted"
    choices_of = {
        "no": ("Never used", Q(promoted_at=None)),
        "yes": ("Used", Q(promoted_at__isnull=False)),
    }


@admin.register(Correction)
class CorrectionAdmin(ReadOnlyAdmin):
    """Corrections of readable tests."""

    when_empty = "Annotators write corrected answers in a review queue or on a result page."
    list_display = (
        "excerpt",
        "prompt",
        "result_link",
        "annotator",
        "created_at",
        "reference_state",
    )
    list_filter = (PromotedFilter, TestFilter)
    list_select_related = ("annotator", "result__test", "result__revision")
    search_fields = ("text", "result__issue__title", "annotator__username")
    search_help_text = "Search texts, issue titles and annotators."
    views = {"promote": "<int:object_id>/promote/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Correction]:
        readable: QuerySet[Correction] = Correction.objects.readable_by(request.user)
        related = ("annotator", "promoted_by", "result__test", "result__revision", "result__run")
        return readable.select_related(*related).order_by("-pk")

    # The list ------------------------------------------------------------------------------------

    @display(description="correction")
    def excerpt(self, correction: Correction) -> str:
        return Truncator(" ".join(correction.text.split())).chars(90)

    @display(description="test")
    def prompt(self, correction: Correction) -> str:
        return first_words(correction.result.revision.content["messages"])

    @display(description="result")
    def result_link(self, correction: Correction) -> SafeString:
        return link(correction.result.get_absolute_url(), correction.result)

    @display(description="reference", label={"current reference": "success"})
    def reference_state(self, correction: Correction) -> str:
        if correction.text == correction.result.test.reference:
            return "current reference"
        if correction.promoted_at:
            return "former reference"
        return "withdrawn by its author" if correction.undone_at else ""

    # One correction ------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not object_id.isdecimal():
            raise Http404(f"There is no correction {object_id!r}.")
        return self._shown(request, self.found(request, int(object_id)))

    def _shown(self, request: HttpRequest, correction: Correction, act: str = "") -> HttpResponse:
        """Show the correction beside the reference; `act` asks for confirmation."""
        record(request.user, {correction.result_id})
        test = correction.result.test
        answer = Answer.objects.filter(pk=correction.result_id).first()
        is_reference = correction.text == test.reference
        former = acting.former_version(test) if is_reference else None
        old, new = test.reference, correction.text
        if is_reference:
            old, new = correction.text, former.reference if former else ""
        return self.page(
            request,
            "runs/review/correction.html",
            title=f"Correction of {correction.result}",
            correction=correction,
            test=test,
            prompt=first_words(correction.result.revision.content["messages"]),
            answer=text_or_none(answer.text) if answer else None,
            is_reference=is_reference,
            former=former,
            diff=word_diff(old, new) if former or not is_reference else None,
            act=act,
            may_promote=request.user.has_perm(acting.PROMOTE)
            and (is_reference or not correction.undone_at),
            promote_url=self.url_of("promote", correction.pk),
            original=correction,
        )

    def promote_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Preview the change (GET), or use the correction or the former as reference (POST)."""
        correction: Correction = self.found(request, object_id)
        require(request.user.has_perm(acting.PROMOTE))
        act = (request.POST if request.method == "POST" else request.GET).get("act", "promote")
        if act not in ACTIONS:
            raise Http404(f"Unknown act {act!r}: use one of {', '.join(ACTIONS)}.")
        if request.method != "POST":
            return self._shown(request, correction, act)
        perform, message = ACTIONS[act]
        with self.refusals_shown(request):
            needs_approval = perform(correction, by=current_user(request))
            again = " The test needs approval again." if needs_approval else ""
            self.say_done(request, f"{message}{again}")
        return HttpResponseRedirect(self.url_of("change", correction.pk))


ACTIONS = {
    "promote": (acting.promote, "The correction is now the reference answer."),
    "put_back": (acting.put_back, "The previous reference answer is restored."),
}


def panel_of_test(request: HttpRequest, test: Any) -> PanelPart:
    """Link from a test to the corrections of its answers."""
    n = Correction.objects.filter(result__test=test, undone_at=None).count()
    url = f"{reverse('admin:review_correction_changelist')}?test={test.pk}"
    link = Button(f"Corrections ({n:,})", url, is_link=True)
    return PanelPart([link] if n else [])


contribute(Contribution(permission="review.view_correction", panel=panel_of_test), Test)
