"""The work page: item after item, without page loads."""

from dataclasses import asdict, replace
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.template.loader import render_to_string

from evalhub.admin_site.pages import PageAdmin, current_user, require
from issues.content.test_texts import first_words
from runs.review.admin.actions import (
    ACTIONS,
    BACKGROUND_ACTIONS,
    REPLACES,
    ActionMessage,
    ActionResult,
    ReviewSession,
    done,
    open_assignment,
    problems_in,
)
from runs.review.admin.item_page import assignment_page
from runs.review.models import Queue, QueueState
from runs.review.progress import Own, Progress, own_progress, progress

REVIEW = "review.review_results"
KEYS_OFF = "review_keys_off"
MESSAGE = "review_message"
READY_REASONS = (
    "I do not know this subject well enough",
    "The question or the reference is wrong",
    "It cannot be decided",
    "I have a conflict of interest",
)


class WorkPages(PageAdmin):
    """The views of the work page; they are part of the admin of queues."""

    def work_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the item in the URL, or reserve the next."""
        session = self._review_session(request, pk, request.GET)
        kept = request.session.pop(MESSAGE, None)
        message = ActionMessage(**kept) if kept else None
        return self._work_page(request, session, open_assignment(session), message)

    def act_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        session = self._review_session(request, pk, request.POST)
        name = request.POST.get("act", "")
        if name in BACKGROUND_ACTIONS:
            try:
                is_yours = BACKGROUND_ACTIONS[name](session)
                done_elsewhere = {"is_done": True} if session.has_submitted else {}
                return JsonResponse({"is_yours": is_yours, **done_elsewhere})
            except ValidationError as error:
                return JsonResponse({"is_yours": True, "problems": problems_in(error)})
        if name == "keys":
            return self._switch_keys(session)
        if name not in ACTIONS:
            known = ", ".join([*ACTIONS, *BACKGROUND_ACTIONS, "keys"])
            problem = f"Unknown act {name!r}: use one of {known}."
            return HttpResponseBadRequest(problem, content_type="text/plain")
        result = done(name, session)
        if request.headers.get("Accept") == "application/json":
            return self._as_json(request, session, result)
        return self._as_page(request, session, result)

    def _review_session(self, request: HttpRequest, pk: int, sent: QueryDict) -> ReviewSession:
        require(request.user.has_perm(REVIEW))
        return ReviewSession(self.found(request, pk), current_user(request), sent)

    # Answers -------------------------------------------------------------------------------------

    def _as_json(
        self, request: HttpRequest, session: ReviewSession, result: ActionResult
    ) -> HttpResponse:
        if result.problems:
            return JsonResponse({"problems": result.problems, "lost": result.is_lost})
        if result.is_left:
            return JsonResponse({"go": self.url_of("overview", session.queue.pk)})
        context = self._context(session, result, result.message)
        item, announce = context["item"], [result.message.text] if result.message else []
        announce.append(
            f"Next item: test {item.result.test_id} of {item.result.issue.title}."
            if item
            else "No items left for you."
        )
        return JsonResponse(
            {
                "html": render_to_string("runs/review/_workspace.html", context, request),
                "url": context["work_url"],
                "announce": " ".join(announce),
            }
        )

    def _as_page(
        self, request: HttpRequest, session: ReviewSession, result: ActionResult
    ) -> HttpResponse:
        """For a browser without scripts."""
        if result.problems:
            text = " ".join(problem["text"] for problem in result.problems)
            return self._work_page(request, session, result, ActionMessage(text, kind="error"))
        if result.replaces:
            return self._work_page(request, session, result, result.message)
        if result.is_left:
            return HttpResponseRedirect(self.url_of("overview", session.queue.pk))
        if result.message:
            request.session[MESSAGE] = asdict(result.message)
        return HttpResponseRedirect(self._work_url(session, result))

    def _work_url(self, session: ReviewSession, result: ActionResult) -> str:
        """Return the URL that shows the same item after a reload."""
        url = self.url_of("work", session.queue.pk)
        return f"{url}?assignment={result.assignment.pk}" if result.assignment else url

    def _work_page(
        self,
        request: HttpRequest,
        session: ReviewSession,
        result: ActionResult,
        message: ActionMessage | None,
    ) -> HttpResponse:
        return self.page(
            request,
            "runs/review/work_page.html",
            title=f"Review: {session.queue.name}",
            is_nav_sidebar_enabled=False,
            is_fullwidth="1",
            crumb=session.queue.name,
            **self._context(session, result, message),
        )

    def _context(
        self, session: ReviewSession, result: ActionResult, message: ActionMessage | None
    ) -> dict[str, Any]:
        queue, reviewer = session.queue, session.reviewer
        act_url = self.url_of("act", queue.pk)
        assignment = item = None
        if result.assignment:
            assignment = session.assignments.filter(pk=result.assignment.pk).first()
        if assignment:
            draft = session.draft if result.problems or result.replaces else assignment.draft
            item = assignment_page(assignment, reviewer, draft, act_url=act_url)
            if result.replaces:
                item = replace(item, form=item.form.replacing(REPLACES))
        at, mine = progress(queue), own_progress(queue, reviewer)
        return {
            "queue": queue,
            "item": item,
            "message": message,
            "progress": at,
            "others": at.reserved - mine.reserved,
            "own_progress": mine,
            "empty_queue": None if item else empty_queue(queue, at, mine),
            "act_url": act_url,
            "work_url": self._work_url(session, result),
            "overview_url": self.url_of("overview", queue.pk),
            "ready_reasons": READY_REASONS,
            "renew_ms": queue.reserved_minutes * 60_000 // 3,
            "keys_off": bool(reviewer.preferences.get(KEYS_OFF)),
            "prompt": first_words(item.result.revision.content["messages"]) if item else "",
        }

    def _switch_keys(self, session: ReviewSession) -> HttpResponse:
        """Save whether the reviewer's shortcuts are off, for example because of speech input."""
        off = session.sent.get("off") == "1"
        session.reviewer.prefer(**{KEYS_OFF: off})
        return JsonResponse({"off": off})


# Without items -----------------------------------------------------------------------------------


class EmptyQueue(NamedTuple):
    """A message; `awaits`: new items may arrive, so keep checking."""

    title: str
    lines: list[str]
    awaits: bool


def empty_queue(queue: Queue, at: Progress, mine: Own) -> EmptyQueue:
    """Return the message for a reviewer without items."""
    if queue.state == QueueState.CLOSED:
        return EmptyQueue("Queue closed", ["All reviews are kept."], awaits=False)
    if not at.items:
        source = "Ask a maintainer to add runs."
        if queue.follows_id:
            source = f"Results are added automatically when a run of “{queue.follows}” completes."
        return EmptyQueue("Queue empty", [source], awaits=True)
    yours = [f"You reviewed {mine.submitted:,}."] if mine.submitted else []
    if mine.skipped:
        yours.append(f"You skipped {mine.skipped:,}. Undo restores the last one.")
    if at.submitted >= at.assignments:
        lines = ["All items are reviewed. Thank you.", *yours]
        return EmptyQueue("Queue complete", lines, awaits=bool(queue.follows_id))
    lines = []
    if at.reserved:
        verb = "is" if at.reserved == 1 else "are"
        lines.append(
            f"{at.reserved:,} {verb} reserved by others. Items idle for {queue.reserved_minutes} "
            "minutes are offered to you."
        )
    if at.open:
        lines.append(f"{at.open:,} need other reviewers: you have reviewed or skipped them.")
    return EmptyQueue("No items left for you", [*lines, *yours], awaits=True)
