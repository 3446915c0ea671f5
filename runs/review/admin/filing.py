"""New issue, new test and "add to queue" on the page of a result."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from django.utils.html import format_html

from evalhub.admin_site.pages import address_back, current_user, row_number
from issues.states import Refused
from runs.admin.result.admin import ResultAdmin
from runs.filing import issue_of, test_of
from runs.models import Result
from runs.review.models import Queue, QueueState
from runs.review.queue_items import add_result

NEW_TEST, NEW_ISSUE, REVIEW = "issues.add_test", "issues.add_issue", "review.review_results"
RIGHTS = {"test": (NEW_TEST,), "issue": (NEW_ISSUE, NEW_TEST), "queue": (REVIEW,)}


class Filing(ResultAdmin):
    """Acts on an answer that lead to issues, tests and queues."""

    def get_urls(self) -> list[URLPattern]:
        return [self.view_path("<int:pk>/file/", self.file_view, "file"), *super().get_urls()]

    def page_context(self, request: HttpRequest, result: Result) -> dict[str, Any]:
        may = {act: request.user.has_perms(rights) for act, rights in RIGHTS.items()}
        queues = Queue.objects.filter(state=QueueState.OPEN).exclude(items__result=result)
        is_answered = hasattr(result, "answer")
        return {
            **super().page_context(request, result),
            "may_file": is_answered and any(may.values()),
            "may_make_test": may["test"],
            "may_make_issue": may["issue"],
            "open_queues": list(queues.order_by("name")) if may["queue"] else [],
        }

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Make an issue or a test from the answer, or add it to a queue, by `act`."""
        act = request.POST.get("act", "")
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not request.user.has_perms(RIGHTS.get(act, (NEW_ISSUE, NEW_TEST, REVIEW))):
            raise PermissionDenied
        result = self._result(request, pk)
        here = address_back(request, self.url_of("change", pk))
        try:
            return (
                self._queued(request, result, here)
                if act == "queue"
                else self._made(request, result, act)
            )
        except (Refused, ValidationError) as refused:
            problems = (
                refused.messages if isinstance(refused, ValidationError) else refused.problems
            )
            self.say(request, *problems)
            return HttpResponseRedirect(here)

    def _made(self, request: HttpRequest, result: Result, act: str) -> HttpResponse:
        by = current_user(request)
        if act == "issue":
            test = issue_of(result, request.POST.get("title", ""), by=by)
            made = format_html("New issue “{}” with this test, made from", test.issue)
        else:
            test = test_of(result, result.issue, by=by)
            made = format_html("New test of “{}”, made from", test.issue)
        source = format_html('<a href="{}">result {}</a>', result.get_absolute_url(), result.pk)
        say = "{} {}. Say what a good answer must show, then send it to review."
        self.say_done(request, format_html(say, made, source))
        return HttpResponseRedirect(test.get_absolute_url())

    def _queued(self, request: HttpRequest, result: Result, here: str) -> HttpResponse:
        number = row_number(request.POST.get("queue"))
        queue = get_object_or_404(Queue.objects.filter(state=QueueState.OPEN), pk=number)
        is_new = add_result(queue, result, by=current_user(request))
        link = format_html('<a href="{}">{}</a>', queue.get_absolute_url(), queue)
        self.say_done(
            request, format_html("Added to {}." if is_new else "{} has it already.", link)
        )
        return HttpResponseRedirect(here)
