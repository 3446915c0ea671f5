"""The page of a queue: progress, reviewers, and each item for its managers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django import forms
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import PageAdmin, current_user, require, row_number
from evalhub.display.input_form import InputForm
from issues.content.test_texts import first_words
from runs.limits import REVIEW_PAGE_SIZE
from runs.review.assignment_actions import offer_again, send_back
from runs.review.models import (
    Assignment,
    AssignmentState,
    Queue,
    QueueState,
    ReviewItem,
    ReviewScope,
    Skip,
)
from runs.review.pair_items import disputed_items
from runs.review.progress import by_annotator, own_progress, progress
from runs.review.reasons import REASONS, reason_descriptions
from runs.review.reservations import NoAssignment, take_item

SEND_BACK = "review.send_back"
REVIEW = "review.review_results"


class NoteForm(InputForm):
    note = forms.CharField(
        label="Note for the reviewer",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Say what to check again. Their verdict counts until they resubmit.",
    )


@dataclass(frozen=True)
class Chosen:
    """Filters of the items; "" and 0 do not filter."""

    reason: str = ""
    state: str = ""
    annotator: int = 0
    skipped: bool = False
    disputed: bool = False

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> Self:
        reason, state = sent.get("reason", ""), sent.get("state", "")
        return cls(
            reason if reason in REASONS else "",
            state if state in AssignmentState.values else "",
            row_number(sent.get("annotator")),
            sent.get("skipped") == "1",
            sent.get("disputed") == "1",
        )

    def of(self, queue: Queue, reader: Any) -> QuerySet[ReviewItem]:
        rows = ReviewItem.objects.readable_by(reader).filter(queue=queue)
        if self.reason:
            rows = rows.for_reason(self.reason)
        about = {"state": self.state, "annotator": self.annotator}
        if about := {name: value for name, value in about.items() if value}:
            rows = rows.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), **about)))
        if self.skipped:
            rows = rows.filter(Exists(Skip.objects.filter(item=OuterRef("pk"), undone_at=None)))
        if self.disputed and queue.scope == ReviewScope.PAIRS:
            rows = rows.filter(pk__in=disputed_items(queue))
        elif self.disputed:
            rows = rows.filter(result__is_disputed=True)
        return rows.order_by("position", "pk")


class ItemRow(NamedTuple):
    """A row of the list of items."""

    item: ReviewItem
    prompt: str
    reasons: list[str]


def listed(page: Iterable[ReviewItem]) -> list[ItemRow]:
    """Read the rows of a page of items, in a fixed number of queries."""
    ids = [item.pk for item in page]
    items = ReviewItem.objects.filter(pk__in=ids).select_related(
        "result__issue", "result__run", "result__revision"
    )
    items = items.prefetch_related(
        Prefetch("assignments", Assignment.objects.select_related("annotator").order_by("number")),
        Prefetch(
            "skips", Skip.objects.filter(undone_at=None).select_related("annotator").order_by("pk")
        ),
    )
    return [
        ItemRow(
            item,
            first_words(item.result.revision.content["messages"]),
            reason_descriptions(item.reasons, is_random=item.is_random),
        )
        for item in items.order_by("position", "pk")
    ]


# Pages -------------------------------------------------------------------------------------------


class OverviewPages(PageAdmin):
    """Views of a queue's page, for the admin of queues."""

    def manages(self, request: HttpRequest) -> bool:
        """Tell whether the user sees the items, which would spoil a blind review of their own."""
        return bool(request.user.has_perm(SEND_BACK))

    def overview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        queue = self.found(request, pk)
        is_manager = self.manages(request)
        chosen = Chosen.read(request.GET)
        return self.page(
            request,
            "runs/review/overview.html",
            title=queue.name,
            queue=queue,
            progress=progress(queue),
            own_progress=own_progress(queue, current_user(request)),
            annotators=by_annotator(queue) if is_manager else [],
            acts=self._acts(request, queue),
            is_manager=is_manager,
            may_review=request.user.has_perm(REVIEW) and queue.state == QueueState.OPEN,
            work_url=self.url_of("work", pk),
            **(self._items(request, queue, chosen) if is_manager else {}),
        )

    def _items(self, request: HttpRequest, queue: Queue, chosen: Chosen) -> dict[str, Any]:
        items = chosen.of(queue, request.user)
        page: Page[Any] = Paginator(items, REVIEW_PAGE_SIZE).get_page(request.GET.get("page"))
        return {
            "chosen": chosen,
            "rows": listed(page),
            "pages": page,
            "states": AssignmentState.choices,
            "reasons": list(REASONS.items()),
            "item_url": self.url_of("item", queue.pk),
        }

    def _acts(self, request: HttpRequest, queue: Queue) -> list[Button]:
        if not self.has_change_permission(request):
            return []
        state = self.url_of("state", queue.pk)
        is_open = queue.state == QueueState.OPEN
        return [
            Button("Add runs…", self.url_of("runs", queue.pk), is_link=True),
            Button("Settings", self.url_of("change", queue.pk), is_link=True),
            Button("Close queue", state, {"act": "close"})
            if is_open
            else Button("Reopen queue", state, {"act": "open"}),
        ]

    # One item ------------------------------------------------------------------------------------

    def item_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Review an item, send back a submission with a note, or offer a skipped item again."""
        act = request.POST.get("act", "") or request.GET.get("act", "")
        if act == "review" and request.method == "POST":
            return self._review(request, pk)
        require(self.manages(request))
        if act == "send_back":
            return self._send_back(request, pk)
        if act == "offer" and request.method == "POST":
            return self._offer(request, pk)
        return HttpResponseNotAllowed(["POST"])

    def _review(self, request: HttpRequest, pk: int) -> HttpResponse:
        require(request.user.has_perm(REVIEW))
        items = ReviewItem.objects.readable_by(request.user).filter(queue=self.found(request, pk))
        item = get_object_or_404(items, pk=row_number(request.POST.get("item")))
        try:
            assignment = take_item(item, by=current_user(request))
        except NoAssignment as refused:
            self.say(request, str(refused))
            return HttpResponseRedirect(self.url_of("overview", pk))
        return HttpResponseRedirect(f"{self.url_of('work', pk)}?assignment={assignment.pk}")

    def _send_back(self, request: HttpRequest, pk: int) -> HttpResponse:
        queue = self.found(request, pk)
        assignments = Assignment.objects.readable_by(request.user).filter(queue=queue)
        sent = request.POST.get("assignment") or request.GET.get("assignment")
        assignment = get_object_or_404(assignments.select_related("annotator"), pk=row_number(sent))
        form = NoteForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                send_back(assignment, form.cleaned_data["note"], by=current_user(request))
            except ValidationError as error:
                form.add_error(None, error.messages)
            else:
                self.message_user(request, f"Sent back to {assignment.annotator}.")
                return HttpResponseRedirect(self.url_of("overview", pk))
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Send back the review by {assignment.annotator}",
            form=form,
            hidden=[("act", "send_back"), ("assignment", assignment.pk)],
            button="Send back",
            back_url=self.url_of("overview", pk),
        )

    def _offer(self, request: HttpRequest, pk: int) -> HttpResponse:
        skips = Skip.objects.readable_by(request.user).filter(item__queue=self.found(request, pk))
        rows = skips.select_related("annotator")
        skip = get_object_or_404(rows, pk=row_number(request.POST.get("skip")))
        offer_again(skip)
        self.message_user(request, f"Offered the item to {skip.annotator} again.")
        return HttpResponseRedirect(self.url_of("overview", pk))
