"""Corrections on the result page."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
)
from django.urls import reverse

from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.values.storable import UNSTORABLE
from runs.limits import MAX_FILED_RESULTS
from runs.models import Result
from runs.review.admin.disputes import disputes_of
from runs.review.admin.filing import Filing
from runs.review.corrections import PROMOTE, correct
from runs.review.models import Correction, Dispute
from runs.review.requirements import hidden_for, is_hidden

admin.site.unregister(Result)


@admin.register(Result)
class ReviewedResultAdmin(Filing):
    """The result page with its corrections and what is made from it."""

    page_template = "runs/review/result.html"
    post_views = {"correct": "<int:pk>/correct/"}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return _redirect_reviewer(request, row_number(object_id)) or super().change_view(
            request, object_id, form_url, extra_context
        )

    def judgment_view(self, request: HttpRequest, pk: int, judgment_pk: int) -> HttpResponse:
        return _redirect_reviewer(request, pk) or super().judgment_view(request, pk, judgment_pk)

    def evaluate_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return _redirect_reviewer(request, pk) or super().evaluate_view(request, pk)

    def file_view(self, request: HttpRequest) -> HttpResponse:
        sent = request.POST if request.method == "POST" else request.GET
        keys = [row_number(key) for key in sent.getlist("result")[:MAX_FILED_RESULTS]]
        blind = (_redirect_reviewer(request, key) for key in keys)
        return next(filter(None, blind), None) or super().file_view(request)

    def page_context(self, request: HttpRequest, result: Result) -> dict[str, Any]:
        found = Correction.objects.filter(result=result)
        found = found.prefetch_related("annotator", "promoted_by")  # most results have none
        context = super().page_context(request, result)
        if context["may_adjudicate"] and context["page"].adjudication.is_expected:
            title = "Decide the dispute"
            context |= {"title": title, "panel_title": title, "opts": Dispute._meta}
            context["before_template"] = "runs/review/_dispute.html"
            context["opinions"] = disputes_of([result])[result.pk].opinions
        return {
            **context,
            "after_template": "runs/review/_corrections.html",
            "corrections": list(found.order_by("-pk")),
            "may_promote": request.user.has_perm(PROMOTE),
        }

    def correct_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Save a corrected answer."""
        require(self.has_evaluate_permission(request))
        if led_away := _redirect_reviewer(request, pk):
            return led_away
        result = self._result(request, pk)
        text = UNSTORABLE.sub("", request.POST.get("correction", ""))
        try:
            correct(result, text, by=current_user(request))
        except ValidationError as error:
            for message in error.messages:
                messages.error(request, message)
            response = self._page(request, result)
            response.context_data["correction_draft"] = text  # type: ignore[attr-defined]
            return response
        messages.success(request, "Saved the corrected answer.")
        suffix = self._navigation(request, result).suffix
        url = reverse("admin:runs_result_change", args=[pk])
        return HttpResponseRedirect(f"{url}{suffix}#corrections")


def _redirect_reviewer(request: HttpRequest, result_id: int) -> HttpResponse | None:
    """Redirect a reviewer to the work page if it hides verdicts that this page shows."""
    assignment = hidden_for(current_user(request), result_id)
    if assignment is None:
        return None
    why = "blind" if is_hidden(assignment) else "without seeing the verdicts of others"
    messages.info(request, f"You are reviewing this result {why}: its page opens after you submit.")
    url = reverse("admin:review_queue_work", args=[assignment.queue_id])
    is_script = not request.accepts("text/html")
    return JsonResponse({"go": url}) if is_script else HttpResponseRedirect(url)
