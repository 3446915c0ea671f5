"""Queues in the admin: list, form and the URLs of their other pages."""

import secrets
from collections import Counter, defaultdict
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.lists import PageChangeList
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import percent
from evalhub.history import save_signed
from runs.review.admin.add_runs import AddingPages
from runs.review.admin.overview import OverviewPages
from runs.review.admin.work_page import WorkPages
from runs.review.models import Assignment, AssignmentState, Queue, QueueState
from runs.review.queue_items import add_assignments

STATES = {"open": "success", "closed": "default"}


class QueueForm(forms.ModelForm):
    random_percent = forms.IntegerField(
        label="Random sample (%)",
        min_value=0,
        max_value=100,
        initial=20,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Share of added answers drawn at random, whatever the judges said. Judge "
        "accuracy is estimated from these only, because other items are chosen for their problems.",
    )

    class Meta:
        model = Queue
        fields = (
            "name",
            "instructions",
            "follows",
            "reviewers",
            "blind",
            "scope",
            "ties",
            "reasoning",
            "reserved_minutes",
        )
        labels = {
            "follows": "Follow a suite",
            "reviewers": "Reviewers per item",
            "blind": "Hide judgments",
            "scope": "Review scope",
            "ties": "Allow ties between pairs",
            "reasoning": "Require a reason",
            "reserved_minutes": "Reservation (minutes)",
        }
        help_texts = {
            "follows": "Completed runs of this suite are added automatically.",
            "reviewers": "Number of people who review each item. You can raise it later.",
            "blind": "Reviewers see hidden judgments after submitting their own verdict.",
            "reserved_minutes": "An idle item is released to others after this time.",
        }
        widgets = {"instructions": UnfoldAdminTextareaWidget(attrs={"rows": 4})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "random_percent" in self.fields:
            self.fields["random_percent"].initial = round(100 * self.instance.random_share)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if cleaned and "random_percent" in cleaned:
            self.instance.random_share = cleaned["random_percent"] / 100
        return cleaned


class QueueChangeList(PageChangeList):
    """A page of queues with their progress."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = Assignment.objects.filter(
            queue__in=[queue.pk for queue in self.result_list]
        ).order_by()
        counts: dict[int, Counter[str]] = defaultdict(Counter)
        for queue, state, n in rows.values_list("queue", "state").annotate(Count("pk")):
            counts[queue][state] = n
        mine = rows.filter(annotator=request.user.pk, state=AssignmentState.SUBMITTED)
        own = dict(mine.values_list("queue").annotate(Count("pk")))
        for queue in self.result_list:
            queue.counts = counts[queue.pk]
            queue.mine = own.get(queue.pk, 0)


@admin.register(Queue)
class QueueAdmin(WorkPages, OverviewPages, AddingPages, HistoryAdmin):
    """Queues of results for human review."""

    section, rows = "Review", "review queues"
    when_empty = (
        "A queue collects results for human review. Create one, then add runs to it or let it "
        "follow a suite."
    )
    list_display = ("called", "progress_bar", "own_count", "state_label", "follows", "open_work")
    list_display_links = None
    list_filter = (("state", ChoicesDropdownFilter),)
    list_select_related = ("follows",)
    search_fields = ("name",)
    autocomplete_fields = ("follows",)
    form = QueueForm
    fieldsets = (
        (None, {"fields": ("name", "instructions", "follows")}),
        ("Items", {"fields": ("random_percent", "reviewers", "blind")}),
        ("Review", {"fields": ("scope", "ties", "reasoning", "reserved_minutes")}),
    )
    instead_of_deleting = "Close a finished queue instead: its reviews are kept."
    change_form_outer_before_template = "runs/review/form_before.html"
    views = {
        "choose": "of-run/<int:run>/",
        "work": "<int:pk>/work/",
        "overview": "<int:pk>/overview/",
        "runs": "<int:pk>/runs/",
        "item": "<int:pk>/item/",
    }
    post_views = {"act": "<int:pk>/act/", "state": "<int:pk>/state/"}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return QueueChangeList

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow deletion only until reviews have begun."""
        allowed: bool = super().has_delete_permission(request, obj)
        if not allowed or obj is None:
            return False
        begun = Assignment.objects.filter(queue=obj).exclude(state=AssignmentState.OPEN)
        return not begun.exists()

    # The list ------------------------------------------------------------------------------------

    @display(description="Queue", ordering="name")
    def called(self, queue: Queue) -> SafeString:
        url = self.url_of("overview", queue.pk)
        return format_html('<a class="eh-link rn-run-name" href="{}">{}</a>', url, queue.name)

    @display(description="Reviewed")
    def progress_bar(self, queue: Any) -> SafeString:
        context = {"done": queue.counts[AssignmentState.SUBMITTED], "all": queue.counts.total()}
        return SafeString(render_to_string("runs/review/_list_bar.html", context))

    @display(description="Your reviews")
    def own_count(self, queue: Any) -> str:
        return f"{queue.mine:,}"

    @display(description="State", ordering="state", label=STATES)
    def state_label(self, queue: Queue) -> tuple[str, str]:
        return queue.state, queue.get_state_display()

    @display(description="")
    def open_work(self, queue: Queue) -> SafeString | str:
        if queue.state == QueueState.CLOSED:
            return ""
        url = self.url_of("work", queue.pk)
        return format_html(
            '<a class="eh-button" href="{}" aria-label="Review {}">Review</a>', url, queue.name
        )

    @display(description="Random sample (%)")
    def random_percent(self, queue: Queue) -> str:
        """The share for read-only users."""
        return percent(queue.random_share)

    # The form ------------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Queue, form: Any, change: bool) -> None:
        if not change:
            obj.seed, obj.created_by = secrets.randbits(53), current_user(request)
        super().save_model(request, obj, form, change)
        if change and "reviewers" in form.changed_data and (added := add_assignments(obj)):
            self.say_done(request, f"Added {added:,} assignments.")

    def response_post_save_add(self, request: HttpRequest, obj: Queue) -> HttpResponseRedirect:
        """Continue with adding runs."""
        run = row_number(request.GET.get("run"))
        url = self.url_of("runs", obj.pk)
        return HttpResponseRedirect(f"{url}?run={run}" if run else url)

    def response_post_save_change(self, request: HttpRequest, obj: Queue) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url_of("overview", obj.pk))

    def state_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Close or reopen the queue."""
        require(self.has_change_permission(request))
        queue, act = self.found(request, pk), request.POST.get("act")
        changes = {
            "close": (QueueState.CLOSED, f"Closed {queue}. All reviews are kept."),
            "open": (QueueState.OPEN, f"Reopened {queue}."),
        }
        if act in changes:
            queue.state, message = changes[act]
            save_signed(queue, current_user(request), "")
            self.say_done(request, message)
        return HttpResponseRedirect(self.url_of("overview", pk))
