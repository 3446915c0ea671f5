"""Pages of drafts: the form that asks for a batch, and its drafts for a person to decide on."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.forms import BoundField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.html import format_html
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, bounded_text, current_user, require, row_number
from evalhub.display.html import link
from evalhub.models import ItemState
from evalhub.work import progress
from issues.admin.drafting.button import DRAFT_TESTS
from issues.admin.drafting.form import GenerateForm, sent_number, suggestions
from issues.admin.drafting.prefill import initial_of, initial_of_batch
from issues.admin.test.bulk import MoveForm
from issues.drafting.decisions import (
    MAX_TEXT,
    Texts,
    accept,
    edit,
    expectations_of,
    prompt_of,
    reject,
    undo_last,
)
from issues.drafting.destinations import Destination, destination_kinds, destination_of
from issues.drafting.figures import figures_of
from issues.drafting.start import estimate, left_today, start
from issues.drafting.work import CONTROLS
from issues.models import Decision, Draft, Generation, Issue, Test

ADD_TEST = "issues.add_test"
CONTROLLED = {
    "cancel": "Batch cancelled. Its drafts are kept.",
    "resume": "Batch resumed.",
    "retry": "Retrying the failed drafts.",
}
"""Messages of the acts on a batch."""


@admin.register(Generation)
class GenerationAdmin(PageAdmin):
    """Batches of drafts. Only the system writes them; a person decides on each draft."""

    list_before_template = "issues/drafting/list_before.html"
    when_empty = "Choose “Generate tests …” on an issue or a test."
    keeps_history = False
    list_display = ("batch", "issue", "generator", "state_label", "counts", "requested_by")
    list_filter = (("generator", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("issue", "generator", "judge", "requested_by")
    search_fields = ("issue__title", "=id")
    linked_lookups = ("issue__id__exact",)
    views = {"progress": "<int:object_id>/progress/"}
    post_views = {"act": "<int:object_id>/act/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Generation]:
        rows: QuerySet[Generation] = super().get_queryset(request)
        done = Q(drafts__state=ItemState.DONE)
        return rows.filter(
            pk__in=Generation.objects.readable_by(request.user).values("pk")
        ).annotate(
            written=Count("drafts", done),
            accepted=Count("drafts", Q(drafts__decision=Decision.ACCEPTED)),
            waiting=Count("drafts", done & Q(drafts__decision=Decision.PROPOSED)),
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        drafts = Draft.objects.readable_by(request.user).select_related("generation__generator")
        context = {"figures": figures_of(drafts.defer("messages", "answer", "second_answer"))}
        response: HttpResponse = super().changelist_view(
            request, {**context, **(extra_context or {})}
        )
        return response

    @display(description="batch", ordering="-pk")
    def batch(self, row: Generation) -> str:
        return f"Batch {row.pk}"

    @display(description="state")
    def state_label(self, row: Generation) -> str:
        return row.get_state_display()

    @display(description="drafts")
    def counts(self, row: Any) -> str:
        return f"{row.written} written, {row.accepted} accepted, {row.waiting} to decide"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(DRAFT_TESTS))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: a batch is a record of what was asked and written."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: acceptance rates would be lost."""
        return False

    # Asking ---------------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Ask for a batch: show the form, estimate it, or start it."""
        require(self.has_add_permission(request))
        user, form = current_user(request), self._form(request)
        context: dict[str, Any] = {}
        if form.is_bound and form.is_valid():
            order = form.order()
            exposure = order.exposure()
            is_allowed = exposure is None or request.POST.get("consent") == exposure.key
            with self.refusals_shown(request):
                if "count" not in request.POST and is_allowed:
                    generation = start(order, by=user)
                    return HttpResponseRedirect(generation.get_absolute_url())
            context = {"estimate": estimate(order), "exposure": exposure}
        return self.page(
            request,
            "issues/drafting/form.html",
            title="Generate rows" if form.destination else "Generate tests",
            form=form,
            issue_choice=_issue_choice(form, self.admin_site),
            left=left_today(user),
            kept=form.kept(),
            back_url=self._back(form),
            **suggestions(user),
            **context,
        )

    def _form(self, request: HttpRequest) -> GenerateForm:
        user = current_user(request)
        follows = self._named(request, "follows", Generation.objects.readable_by(user))
        test = self._named(request, "test", Test.objects.readable_by(user))
        issue = self._named(request, "issue", Issue.objects.all())
        destination = destination_of(follows) if follows else self._destination(request)
        test, issue = (follows.test, follows.issue or issue) if follows else (test, issue)
        test = destination.test or test if destination else test
        issue = test.issue if test else issue
        about = {"user": user, "follows": follows, "test": test, "issue": issue}
        about["destination"] = destination
        if request.method == "POST":
            return GenerateForm(request.POST, request.FILES, **about)
        if follows is not None:
            return GenerateForm(initial=initial_of_batch(follows), **about)
        first = initial_of(request.GET, user, issue=issue, test=test)
        first |= destination.initial if destination else {}
        return GenerateForm(initial=first, **about)

    def _named(self, request: HttpRequest, name: str, rows: QuerySet[Any]) -> Any:
        number = row_number(sent_number(request, name))
        return get_object_or_404(rows, pk=number) if number else None

    def _destination(self, request: HttpRequest) -> Destination | None:
        for kind in destination_kinds():
            if number := row_number(sent_number(request, kind.parameter)):
                found = kind.found(number, current_user(request))
                if found is None:
                    raise Http404(f"There is no {kind.parameter} {number} that you may change.")
                return found
        return None

    def _back(self, form: GenerateForm) -> str:
        came_from = form.destination or form.test or form.issue or form.follows
        return came_from.get_absolute_url() if came_from else self.url_of("changelist")

    # Deciding -------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        generation = self.found(request, row_number(object_id))
        return self._show(request, generation, row_number(request.GET.get("draft")))

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Decide on a draft, undo that, or control the batch."""
        generation = self.posted(request, object_id, DRAFT_TESTS)
        name = request.POST.get("act", "")
        if name in CONTROLS:
            with self.refusals_shown(request):
                CONTROLS[name](generation)
                self.say_done(request, CONTROLLED[name])
            return HttpResponseRedirect(generation.get_absolute_url())
        require(request.user.has_perm(ADD_TEST))
        number = row_number(request.POST.get("draft"))
        with self.refusals_shown(request):
            number = self._decide(request, generation, name, number)
        if request.headers.get("X-Requested-With") == "fetch":
            return self._show(request, generation, number)
        return HttpResponseRedirect(f"{generation.get_absolute_url()}?draft={number}")

    def _decide(self, request: HttpRequest, generation: Generation, name: str, number: int) -> int:
        """Do an act on a draft, and return the draft to show next."""
        user = current_user(request)
        if name == "undo":
            ids = list(generation.drafts.values_list("pk", flat=True))
            undone = undo_last(ids, by=user)
            self.say_done(request, f"Draft {undone.pk} is open again.")
            return undone.pk
        draft = get_object_or_404(generation.drafts, pk=number)
        texts = Texts(*(_text(request, field) for field in ("prompt", "answer", "second_answer")))
        if name == "accept":
            made = accept(draft, expected=request.POST.get("expected", ""), by=user, texts=texts)
            name = f"test {made.pk}" if isinstance(made, Test) else str(made)
            made_link = link(made.get_absolute_url(), name)
            self.message_user(request, format_html("Accepted: {}.", made_link), messages.SUCCESS)
        elif name == "reject":
            reject(draft, by=user)
            self.say_done(request, "Rejected.")
        elif name == "save":
            edit(draft, texts)
            self.say_done(request, "Draft saved.")
            return draft.pk
        else:
            raise Http404(f"There is no act {name!r}.")
        return _next(generation, draft.pk)

    def _show(self, request: HttpRequest, generation: Generation, number: int) -> HttpResponse:
        rows = list(generation.drafts.select_related("generation__generator", "test", "decided_by"))
        shown = [row for row in rows if row.state == ItemState.DONE and row.decision != "dropped"]
        waiting = [row for row in shown if row.decision == Decision.PROPOSED]
        draft = next((row for row in shown if row.pk == number), next(iter(waiting or shown), None))
        at = shown.index(draft) if draft else 0
        is_part = request.headers.get("X-Requested-With") == "fetch"
        context = {
            "generation": generation,
            "destination": destination_of(generation),
            "rows": shown,
            "waiting": len(waiting),
            "draft": draft,
            "prompt": prompt_of(draft) if draft else "",
            "expectations": expectations_of(draft) if draft else [],
            "previous": shown[at - 1] if at else None,
            "next": shown[at + 1] if at + 1 < len(shown) else None,
            "failed": [row for row in rows if row.state == ItemState.ERROR],
            "dropped": [row for row in rows if row.decision == Decision.DROPPED],
            "repaired": [row for row in rows if row.failures and row.state == ItemState.DONE],
            "figures": figures_of(rows),
            "total": len(rows),
            "ended": sum(row.state != ItemState.PENDING for row in rows),
            "may_draft": request.user.has_perm(DRAFT_TESTS),
            "may_decide": request.user.has_perm(ADD_TEST) and request.user.has_perm(DRAFT_TESTS),
            "is_part": is_part,
        }
        if is_part:
            context["said"] = messages.get_messages(request)
            return render(request, "issues/drafting/_drafts.html", context)
        title = f"Drafts of batch {generation.pk}"
        return self.page(request, "issues/drafting/drafts.html", title=title, **context)

    def progress_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Render the progress; the page is loaded again when the batch has ended."""
        generation = self.found(request, object_id)
        counts = progress.counts(generation.drafts.all())
        total = sum(counts.values())
        context = {"generation": generation, "total": total, "ended": total - counts["pending"]}
        response = render(request, "issues/drafting/_progress.html", context)
        if not generation.is_live:
            response["HX-Refresh"] = "true"
        return response


def _issue_choice(form: GenerateForm, site: admin.AdminSite) -> BoundField | None:
    """Return the choice of an issue for drafts that would have none."""
    if form.issue or form.destination:
        return None
    field = MoveForm(site=site)["issue"]
    field.label = "Issue"
    return field


def _text(request: HttpRequest, name: str) -> str | None:
    text = request.POST.get(name)
    return None if text is None else bounded_text(text, MAX_TEXT)


def _next(generation: Generation, after: int) -> int:
    """Return the next open draft after this one, else the first; itself if none is left."""
    waiting = generation.drafts.filter(state=ItemState.DONE, decision=Decision.PROPOSED)
    found = waiting.filter(pk__gt=after).first() or waiting.first()
    return found.pk if isinstance(found, Draft) else after
