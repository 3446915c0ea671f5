"""The work page: one item after the other, without a page load between them."""

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

from evalhub.pages import PageAdmin, person
from issues.admin.words import first_words
from runs.review.admin.acting import ACTS, MEANWHILE, Came, Desk, done, opened, problems_in
from runs.review.admin.item_page import ItemPage, item_page
from runs.review.admin.keys import KEYS
from runs.review.admin.nothing import nothing_left
from runs.review.admin.told import Told, keep, kept
from runs.review.admin.typed import Typed
from runs.review.models import PlaceState, Queue
from runs.review.progress import own, progress
from runs.review.reasons import told_of

REVIEW = "review.review_results"
KEYS_OFF = "review_keys_off"
READY_REASONS = (
    "I do not know this subject well enough",
    "The question or the reference is wrong",
    "It cannot be decided",
    "It concerns me personally",
)


class WorkPages(PageAdmin):
    """The views of the work page; they are part of the admin of queues."""

    def has_review_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(REVIEW))

    def work_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The item that the address names, or the next: who opens the page holds an item."""
        desk = self._desk(request, pk, request.GET)
        return self._work_page(request, desk, opened(desk), kept(request))

    def act_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        desk, name = self._desk(request, pk, request.POST), request.POST.get("act", "")
        if name in MEANWHILE:
            return self._meanwhile(name, desk)
        if name == "keys":
            return self._switch_keys(request, desk)
        if name not in ACTS:
            return HttpResponseBadRequest(f"There is no act {name!r}.", content_type="text/plain")
        came = done(name, desk)
        if request.headers.get("Accept") == "application/json":
            return self._as_json(request, desk, came)
        return self._as_page(request, desk, came)

    def _desk(self, request: HttpRequest, pk: int, sent: QueryDict) -> Desk:
        if not self.has_review_permission(request):
            raise PermissionDenied
        return Desk(self.found(request, pk), person(request), sent)

    def _meanwhile(self, name: str, desk: Desk) -> HttpResponse:
        try:
            return JsonResponse({"held": MEANWHILE[name](desk)})
        except ValidationError as error:
            problems = [problem._asdict() for problem in problems_in(error)]
            return JsonResponse({"held": True, "problems": problems})

    # Answers -------------------------------------------------------------------------------------

    def _as_json(self, request: HttpRequest, desk: Desk, came: Came) -> HttpResponse:
        if came.problems:
            problems = [problem._asdict() for problem in came.problems]
            return JsonResponse({"problems": problems, "lost": came.is_lost})
        if came.is_left:
            return JsonResponse({"go": self.url_of("overview", desk.queue.pk)})
        context = self._context(request, desk, came, came.told)
        return JsonResponse(
            {
                "html": render_to_string("runs/review/_bench.html", context, request),
                "url": self._url(desk.queue, came),
                "announce": announced(context["item"], came.told),
            }
        )

    def _as_page(self, request: HttpRequest, desk: Desk, came: Came) -> HttpResponse:
        """For a browser without scripts."""
        if came.problems:
            told = Told(" ".join(problem.text for problem in came.problems), kind="error")
            return self._work_page(request, desk, came, told)
        if came.is_left:
            return HttpResponseRedirect(self.url_of("overview", desk.queue.pk))
        keep(request, came.told)
        return HttpResponseRedirect(self._url(desk.queue, came))

    def _url(self, queue: Queue, came: Came) -> str:
        """The address by which a reload shows the same item."""
        url = self.url_of("work", queue.pk)
        return f"{url}?place={came.place.pk}" if came.place else url

    def _work_page(
        self, request: HttpRequest, desk: Desk, came: Came, told: Told | None
    ) -> HttpResponse:
        context = self._context(request, desk, came, told)
        return self.page(
            request,
            "runs/review/work.html",
            title=f"Review: {desk.queue.name}",
            is_nav_sidebar_enabled=False,
            is_fullwidth="1",
            crumb="Review",
            keys=KEYS,
            **context,
        )

    def _context(
        self, request: HttpRequest, desk: Desk, came: Came, told: Told | None
    ) -> dict[str, Any]:
        typed = Typed.read(desk.sent) if came.problems else None
        place = desk.places.filter(pk=came.place.pk).first() if came.place else None
        item = item_page(place, desk.person, typed) if place else None
        at, mine = progress(desk.queue), own(desk.queue, desk.person)
        return {
            "queue": desk.queue,
            "item": item,
            "told": told,
            "progress": at,
            "others": at.reserved - bool(place and place.state == PlaceState.RESERVED),
            "own": mine,
            "nothing": None if item else nothing_left(desk.queue, at, mine),
            "act_url": self.url_of("act", desk.queue.pk),
            "work_url": self._url(desk.queue, came),
            "overview_url": self.url_of("overview", desk.queue.pk),
            "ready_reasons": READY_REASONS,
            "renew_ms": desk.queue.reserved_minutes * 60_000 // 3,
            "keys_off": bool(desk.person.preferences.get(KEYS_OFF)),
            "may_change": self.has_change_permission(request),
            "why": told_of(place.item) if place and item and not item.is_hidden else [],
            "words": first_words(item.page.content["messages"]) if item else "",
        }

    def _switch_keys(self, request: HttpRequest, desk: Desk) -> HttpResponse:
        """Whether this person's keys are off: kept, since keys may come from speech."""
        off = desk.sent.get("off") == "1"
        desk.person.preferences = {**desk.person.preferences, KEYS_OFF: off}
        desk.person.save(update_fields=["preferences"])
        if request.headers.get("Accept") == "application/json":
            return JsonResponse({"off": off})
        return HttpResponseRedirect(self.url_of("work", desk.queue.pk))


def announced(item: ItemPage | None, told: Told | None) -> str:
    """What a screen reader says when the next item is there."""
    said = [told.text] if told else []
    said.append(f"Next item: {item.result.issue.title}." if item else "Nothing is left for you.")
    return " ".join(said)
