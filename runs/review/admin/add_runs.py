"""Add runs to a queue, with a preview."""

from collections import Counter
from collections.abc import Sequence

from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from evalhub.admin_site.pages import PageAdmin, bounded_text, row_number
from runs.models import Run
from runs.review.models import Queue, QueueState, ReviewItem
from runs.review.queue_items import add_run, plan
from runs.review.reasons import RANDOM, REASONS

LISTED = 50
MAX_RUNS = 20


class AddingPages(PageAdmin):
    """Views that add runs, for the admin of queues."""

    def runs_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Choose runs, preview the items they add, and add them."""
        queue: Queue = self.found(request, pk)
        if not self.has_change_permission(request, queue):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        chosen = [row_number(text) for text in sent.getlist("run")]
        answered = Run.objects.answered().order_by("-pk")
        act = request.POST.get("act")
        if len(chosen) > MAX_RUNS:
            self.say(request, f"{len(chosen)} runs are chosen: add at most {MAX_RUNS} at a time.")
            chosen, act = chosen[:MAX_RUNS], "look"
        runs = list(answered.filter(pk__in=chosen))
        if act == "add" and runs:
            return self._add(request, queue, runs)
        if act == "look" and not runs:
            self.say(request, "Choose at least one run.")
        query = bounded_text(request.GET.get("q"), 100)
        plans, reasons = [], Counter[str]()
        for run in runs:
            added, counts = plan(queue, run)
            plans.append((run, added))
            reasons.update({**counts, RANDOM: added.random})
        return self.page(
            request,
            "runs/review/add_runs.html",
            title=f"Add runs to {queue.name}",
            queue=queue,
            chosen=chosen,
            query=query,
            plans=plans,
            total=sum(added.added for _, added in plans),
            reasons=[(REASONS[key], n) for key, n in reasons.most_common() if n],
            runs=list(answered.filter(label__icontains=query)[:LISTED]),
            here_url=self.url_of("runs", pk),
            overview_url=self.url_of("overview", pk),
        )

    def _add(self, request: HttpRequest, queue: Queue, runs: Sequence[Run]) -> HttpResponse:
        try:
            added = [add_run(queue, run) for run in runs]
        except ValidationError as error:
            self.say(request, *error.messages)
            return HttpResponseRedirect(self.url_of("overview", queue.pk))
        total, random = sum(one.added for one in added), sum(one.random for one in added)
        message = f"Added {total:,} answer{'s' * (total != 1)}, {random:,} of them random."
        self.say_done(request, message)
        return HttpResponseRedirect(self.url_of("overview", queue.pk))

    def choose_view(self, request: HttpRequest, run: int) -> HttpResponse:
        """Choose the queue for a run's answers."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        row = get_object_or_404(Run, pk=run)
        has_run = ReviewItem.objects.filter(queue=OuterRef("pk"), result__run=row)
        queues = Queue.objects.filter(state=QueueState.OPEN)
        return self.page(
            request,
            "runs/review/choose_queue.html",
            title=f"Review {row.label}",
            run=row,
            queues=queues.annotate(item_total=Count("items"), has_run=Exists(has_run)),
            may_add=self.has_add_permission(request),
        )
