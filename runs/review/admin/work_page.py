"""The work page: item after item, without page loads."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.template.loader import render_to_string

from evalhub.admin_site.pages import PageAdmin, current_user
from issues.admin.test.short_text import first_words
from runs.review.admin.action_message import ActionMessage, keep, kept
from runs.review.admin.actions import (
    ACTS,
    MEANWHILE,
    ActionResult,
    ReviewSession,
    done,
    open_assignment,
    problems_in,
)
from runs.review.admin.empty_queue import empty_queue
from runs.review.admin.form_input import FormInput
from runs.review.admin.item_page import ItemPage, item_page
from runs.review.admin.shortcuts import SHORTCUTS
from runs.review.models import AssignmentState, Queue
from runs.review.progress import own_progress, progress
from runs.review.reasons import reason_descriptions

REVIEW = "review.review_results"
KEYS_OFF = "review_keys_off"
READY_REASONS = (
    "I do not know this subject well enough",
    "The question or the reference is wrong",
    "It cannot be decided",
    "I have a conflict of interest",
)


class WorkPages(PageAdmin):
    """The views of the work page; they are part of the admin of queues."""

    def has_review_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(REVIEW))

    def work_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the item in the URL, or reserve the next."""
        review_session = self._review_session(request, pk, request.GET)
        return self._work_page(
            request, review_session, open_assignment(review_session), kept(request)
        )

    def act_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        review_session, name = (
            self._review_session(request, pk, request.POST),
            request.POST.get("act", ""),
        )
        if name in MEANWHILE:
            return self._meanwhile(name, review_session)
        if name == "keys":
            return self._switch_keys(request, review_session)
        if name not in ACTS:
            known = ", ".join([*ACTS, *MEANWHILE, "keys"])
            problem = f"Unknown act {name!r}: use one of {known}."
            return HttpResponseBadRequest(problem, content_type="text/plain")
        action_result = done(name, review_session)
        if request.headers.get("Accept") == "application/json":
            return self._as_json(request, review_session, action_result)
        return self._as_page(request, review_session, action_result)

    def _review_session(self, request: HttpRequest, pk: int, sent: QueryDict) -> ReviewSession:
        if not self.has_review_permission(request):
            raise PermissionDenied
        return ReviewSession(self.found(request, pk), current_user(request), sent)

    def _meanwhile(self, name: str, review_session: ReviewSession) -> HttpResponse:
        try:
            return JsonResponse({"held": MEANWHILE[name](review_session)})
        except ValidationError as error:
            problems = [problem._asdict() for problem in problems_in(error)]
            return JsonResponse({"held": True, "problems": problems})

    # Answers -------------------------------------------------------------------------------------

    def _as_json(
        self, request: HttpRequest, review_session: ReviewSession, action_result: ActionResult
    ) -> HttpResponse:
        if action_result.problems:
            problems = [problem._asdict() for problem in action_result.problems]
            return JsonResponse({"problems": problems, "lost": action_result.is_lost})
        if action_result.is_left:
            return JsonResponse({"go": self.url_of("overview", review_session.queue.pk)})
        context = self._context(
            request, review_session, action_result, action_result.action_message
        )
        return JsonResponse(
            {
                "html": render_to_string("runs/review/_workspace.html", context, request),
                "url": self._url(review_session.queue, action_result),
                "announce": announced(context["item"], action_result.action_message),
            }
        )

    def _as_page(
        self, request: HttpRequest, review_session: ReviewSession, action_result: ActionResult
    ) -> HttpResponse:
        """For a browser without scripts."""
        if action_result.problems:
            action_message = ActionMessage(
                " ".join(problem.text for problem in action_result.problems), kind="error"
            )
            return self._work_page(request, review_session, action_result, action_message)
        if action_result.is_left:
            return HttpResponseRedirect(self.url_of("overview", review_session.queue.pk))
        keep(request, action_result.action_message)
        return HttpResponseRedirect(self._url(review_session.queue, action_result))

    def _url(self, queue: Queue, action_result: ActionResult) -> str:
        """Return the URL that shows the same item after a reload."""
        url = self.url_of("work", queue.pk)
        return (
            f"{url}?assignment={action_result.assignment.pk}" if action_result.assignment else url
        )

    def _work_page(
        self,
        request: HttpRequest,
        review_session: ReviewSession,
        action_result: ActionResult,
        action_message: ActionMessage | None,
    ) -> HttpResponse:
        context = self._context(request, review_session, action_result, action_message)
        return self.page(
            request,
            "runs/review/work_page.html",
            title=f"Review: {review_session.queue.name}",
            is_nav_sidebar_enabled=False,
            is_fullwidth="1",
            crumb="Review",
            shortcuts=SHORTCUTS,
            **context,
        )

    def _context(
        self,
        request: HttpRequest,
        review_session: ReviewSession,
        action_result: ActionResult,
        action_message: ActionMessage | None,
    ) -> dict[str, Any]:
        form_input = FormInput.read(review_session.sent) if action_result.problems else None
        assignment = (
            review_session.assignments.filter(pk=action_result.assignment.pk).first()
            if action_result.assignment
            else None
        )
        item = item_page(assignment, review_session.reviewer, form_input) if assignment else None
        at, mine = (
            progress(review_session.queue),
            own_progress(review_session.queue, review_session.reviewer),
        )
        return {
            "queue": review_session.queue,
            "item": item,
            "action_message": action_message,
            "progress": at,
            "others": at.reserved
            - bool(assignment and assignment.state == AssignmentState.RESERVED),
            "own_progress": mine,
            "empty_queue": None if item else empty_queue(review_session.queue, at, mine),
            "act_url": self.url_of("act", review_session.queue.pk),
            "work_url": self._url(review_session.queue, action_result),
            "overview_url": self.url_of("overview", review_session.queue.pk),
            "ready_reasons": READY_REASONS,
            "renew_ms": review_session.queue.reserved_minutes * 60_000 // 3,
            "keys_off": bool(review_session.reviewer.preferences.get(KEYS_OFF)),
            "may_change": self.has_change_permission(request),
            "reasons": reason_descriptions(assignment.item)
            if assignment and item and not item.is_hidden
            else [],
            "prompt": first_words(item.page.content["messages"]) if item else "",
        }

    def _switch_keys(self, request: HttpRequest, review_session: ReviewSession) -> HttpResponse:
        """Save whether the reviewer's shortcuts are off, for example because of speech input."""
        off = review_session.sent.get("off") == "1"
        review_session.reviewer.preferences = {
            **review_session.reviewer.preferences,
            KEYS_OFF: off,
        }
        review_session.reviewer.save(update_fields=["preferences"])
        if request.headers.get("Accept") == "application/json":
            return JsonResponse({"off": off})
        return HttpResponseRedirect(self.url_of("work", review_session.queue.pk))


def announced(item: ItemPage | None, action_message: ActionMessage | None) -> str:
    """Announce the next item to screen readers."""
    lines = [action_message.text] if action_message else []
    lines.append(f"Next item: {item.result.issue.title}." if item else "No items left for you.")
    return " ".join(lines)
