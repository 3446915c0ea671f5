"""Add runs to a queue, with a preview."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from evalhub.admin_site.pages import PageAdmin, bounded_text, require, row_number
from evalhub.display.formatting import counted, listed, percent
from runs.models import Run
from runs.review.models import Queue, QueueState, ReviewItem, ReviewScope
from runs.review.pair_items import runs_compared
from runs.review.queue_items import add_runs, plan
from runs.review.reasons import RANDOM, REASONS

LISTED = 50
MAX_RUNS = 20


class AddingPages(PageAdmin):
    """Views that add runs, for the admin of queues."""

    def runs_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Choose runs, preview the items they add, and add them."""
        queue: Queue = self.found(request, pk)
        require(self.has_change_permission(request, queue))
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
        if queue.scope == ReviewScope.PAIRS and act == "look" and runs:
            return self._look_at_pairs(request, queue, runs)
        if act == "look" and not runs:
            self.say(request, "Choose at least one run.")
        query = bounded_text(request.GET.get("q"), 100)
        plans, reasons = [], Counter[str]()
        for run in () if queue.scope == ReviewScope.PAIRS else runs:
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

    def _look_at_pairs(
        self, request: HttpRequest, queue: Queue, runs: Sequence[Run]
    ) -> HttpResponse:
        """Ask before pairs are added."""
        (added, _), compared = plan(queue, *runs), runs_compared(runs)
        names = listed([run.label for run in compared])
        sentences = [
            f"Adds {counted(added.added, 'pair')} of answers of {names}: a random "
            f"{percent(queue.random_share)} of all that answer the same input."
            if compared
            else f"{runs[0].label} has no baseline or previous run: choose a second run."
        ]
        if added.already:
            sentences.append(f"{counted(added.already, 'pair')} are in the queue already.")
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Add pairs to {queue.name}",
            sentences=sentences,
            hidden=[("act", "add"), *(("run", run.pk) for run in runs)],
            button=f"Add {counted(added.added, 'pair')}",
            back_url=self.url_of("runs", queue.pk),
        )

    def _add(self, request: HttpRequest, queue: Queue, runs: Sequence[Run]) -> HttpResponse:
        with self.refusals_shown(request):
            added = add_runs(queue, *runs)
            name = "pair" if queue.scope == ReviewScope.PAIRS else "answer"
            message = f"Added {counted(added.added, name)}, {added.random:,} of them random."
            self.say_done(request, message)
        return HttpResponseRedirect(self.url_of("overview", queue.pk))

    def choose_view(self, request: HttpRequest, run: int) -> HttpResponse:
        """Choose the queue for a run's answers."""
        require(self.has_change_permission(request))
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
