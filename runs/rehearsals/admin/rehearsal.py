"""Pages of rehearsals: begin one, read where judge and people differ, edit, try, publish."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
)
from django.urls import URLPattern, path
from unfold.decorators import display

from evalhub.pages import PageAdmin, person, row_number
from evalhub.work.progress import NotPossible
from issues.states import Refused
from runs.rehearsals import trying
from runs.rehearsals.admin.forms import (
    ChoosingForm,
    LimitForm,
    ReasonForm,
    TryForm,
    WordingForm,
    wanted_pair,
)
from runs.rehearsals.admin.rehearsal_page import page_of, progress_of
from runs.rehearsals.disagreements import PAGE, differing
from runs.rehearsals.models import Attempt, Precedent, Rehearsal
from runs.rehearsals.publishing import publish_tried, tried_as
from runs.rehearsals.starting import RehearsalRefused, draft_of, has_draft, start, too_few
from runs.rehearsals.teaching import reword, use_as_example
from runs.rehearsals.verdicts import verdicts_of

TRY = "rehearsals.add_attempt"
EDIT = "issues.change_judgetemplate"
PUBLISH = "issues.publish_judgetemplate"

Act = Callable[[Attempt, Decimal | None], object]

ATTEMPT_ACTS: dict[str, tuple[Act, str]] = {
    "cancel": (
        lambda attempt, limit: trying.cancel(attempt),
        "Cancelled: what was said is kept, and it can be resumed.",
    ),
    "resume": (
        lambda attempt, limit: trying.resume(attempt, cost_limit_usd=limit),
        "Resumed: exactly what is missing is asked.",
    ),
    "retry_errors": (
        lambda attempt, limit: trying.retry_errors(attempt),
        "Asked again where no verdict could be had.",
    ),
}
"""What can be done to a try; a limit counts only where it goes on."""


@admin.register(Rehearsal)
class RehearsalAdmin(PageAdmin):
    """A judge beside people, and drafts of its wording tried on what they decided."""

    section = "Runs"
    when_empty = "Once people have judged answers too, a judge can be improved by what they said."
    keeps_history = False
    list_display = ("template", "judge", "answers", "tries", "created_by", "created_at")
    list_filter = (("template", admin.RelatedOnlyFieldListFilter), "people")
    search_fields = ("template__title", "template__family", "judge__language_model__name")
    list_select_related = ("template", "judge__language_model", "judge__template", "created_by")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing of it is edited: it is what people and the judge said on that day."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """None: how often the held-out half was looked at would be forgotten."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Rehearsal]:
        rows: QuerySet[Rehearsal] = super().get_queryset(request)
        return rows.select_related("draft", "suite", "tag").annotate(
            answer_total=Count("precedents", distinct=True),
            try_total=Count("attempts", distinct=True),
        )

    @display(description="answers", ordering="answer_total")
    def answers(self, rehearsal: Any) -> int:
        return int(rehearsal.answer_total)

    @display(description="tries", ordering="try_total")
    def tries(self, rehearsal: Any) -> int:
        return int(rehearsal.try_total)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        views = {
            "seen": self.seen_view,
            "example": self.example_view,
            "wording": self.wording_view,
            "try": self.try_view,
            "act": self.act_view,
            "progress": self.progress_view,
            "publish": self.publish_view,
        }
        own = [
            path(f"<int:object_id>/{name}/", wrap(view), name=f"rehearsals_rehearsal_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    # Begin and look -------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose whose verdicts; how many there are is said before it begins."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        form = ChoosingForm(sent if "pair" in sent else None)
        if "pair" not in sent:
            form.initial["pair"] = wanted_pair(
                form.pairs,
                judge=row_number(request.GET.get("judge")),
                template=row_number(request.GET.get("template")),
            )
        context: dict[str, Any] = {}
        if "pair" in sent and form.is_valid():
            chosen = form.chosen()
            if request.method == "POST":
                try:
                    rehearsal = start(chosen, by=person(request), seed=form.cleaned_data["seed"])
                    return HttpResponseRedirect(rehearsal.get_absolute_url())
                except RehearsalRefused as refused:
                    self.say(request, str(refused))
            found = verdicts_of(chosen)
            context = {"found": found, "problem": too_few(chosen, found)}
        return self.page(
            request,
            "rehearsals/begin.html",
            title="Improve a judge",
            form=form,
            back_url=self.url_of("changelist"),
            **context,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return self._show(request, self.found(request, row_number(object_id)))

    def _show(
        self, request: HttpRequest, rehearsal: Rehearsal, wording: WordingForm | None = None
    ) -> HttpResponse:
        page = page_of(rehearsal)
        draft = page.draft
        if wording is None and draft is not None:
            wording = WordingForm(initial={"text": draft.text, "seen": draft.text})
        return self.page(
            request,
            "rehearsals/rehearsal.html",
            title=str(rehearsal.template),
            page=page,
            wording=wording,
            may_try=request.user.has_perm(TRY),
            may_edit=request.user.has_perm(EDIT),
            may_publish=request.user.has_perm(PUBLISH),
        )

    def seen_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Where people and the judge differ, on the seen half alone."""
        rehearsal = self.found(request, object_id)
        number = row_number(request.GET.get("try"))
        attempt = rehearsal.attempts.filter(number=number).first() if number else None
        if number and attempt is None:
            raise Http404(f"This rehearsal has no try {number}.")
        page = max(1, row_number(request.GET.get("page")))
        found = differing(rehearsal, person(request), attempt=attempt, page=page)
        readable = found.total - found.hidden
        return self.page(
            request,
            "rehearsals/seen.html",
            title=f"Where {rehearsal.judge} and people differ",
            rehearsal=rehearsal,
            attempt=attempt,
            found=found,
            page_number=page,
            start=PAGE * (page - 1),
            readable=readable,
            has_next=PAGE * page < readable,
            may_edit=request.user.has_perm(EDIT),
        )

    def progress_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return JsonResponse(progress_of(self.found(request, object_id)))

    # Edit -----------------------------------------------------------------------------------------

    def example_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Copy an answer of the seen half, with what people said of it, into the draft."""
        rehearsal = self._posted(request, object_id, EDIT)
        mine = Precedent.objects.readable_by(request.user).filter(rehearsal=rehearsal)
        precedent = mine.filter(pk=row_number(request.POST.get("precedent"))).first()
        if precedent is None:
            raise Http404("There is no such answer in this rehearsal for you.")
        try:
            draft = use_as_example(rehearsal, precedent, by=person(request))
            self.message_user(request, f"An example of {draft} now.", messages.SUCCESS)
        except RehearsalRefused as refused:
            self.say(request, str(refused))
        except Refused as refused:
            self.say(request, *refused.problems)
        back = f"{self.url_of('seen', rehearsal.pk)}?{request.GET.urlencode()}"
        return HttpResponseRedirect(f"{back}#answer-{precedent.pk}")

    def wording_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Begin a draft, or give it other words; what was typed is shown again if it cannot be."""
        rehearsal = self._posted(request, object_id, EDIT)
        if "text" not in request.POST:
            draft = draft_of(rehearsal, by=person(request))
            self.message_user(request, f"{draft} is a draft now.", messages.SUCCESS)
            return HttpResponseRedirect(f"{rehearsal.get_absolute_url()}#draft")
        form = WordingForm(request.POST)
        if not has_draft(rehearsal):
            self.say(request, "There is no draft any more: begin one. Your text is below.")
            return self._show(request, rehearsal, form)
        if not form.is_valid():
            return self._show(request, rehearsal, form)
        text, seen = form.cleaned_data["text"], form.cleaned_data["seen"]
        try:
            reword(rehearsal.draft, text, seen=seen, by=person(request))
        except RehearsalRefused as refused:
            form.add_error(None, str(refused))
            form.data = {**form.data.dict(), "seen": rehearsal.draft.text}  # type: ignore[attr-defined]
            return self._show(request, rehearsal, form)
        except ValidationError as error:
            form.add_error("text", error.messages)
            return self._show(request, rehearsal, form)
        self.message_user(request, "The draft has these words now.", messages.SUCCESS)
        return HttpResponseRedirect(f"{rehearsal.get_absolute_url()}#draft")

    # Try ------------------------------------------------------------------------------------------

    def try_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """What a try would ask for and cost; by POST it begins."""
        rehearsal = self.found(request, object_id)
        if not request.user.has_perm(TRY):
            raise PermissionDenied
        if not has_draft(rehearsal):
            self.say(request, "Begin a draft first: then it can be tried.")
            return HttpResponseRedirect(rehearsal.get_absolute_url())
        estimate = trying.estimate(rehearsal, rehearsal.draft)
        sent = request.POST if request.method == "POST" else None
        form = TryForm(sent, has_sealed=estimate.leaving is not None)
        if sent is not None and form.is_valid() and self._try(request, rehearsal, form):
            return HttpResponseRedirect(rehearsal.get_absolute_url())
        return self.page(
            request,
            "rehearsals/try.html",
            title=f"Try {rehearsal.draft}",
            rehearsal=rehearsal,
            estimate=estimate,
            form=form,
            back_url=rehearsal.get_absolute_url(),
        )

    def _try(self, request: HttpRequest, rehearsal: Rehearsal, form: TryForm) -> bool:
        assert rehearsal.draft is not None
        try:
            attempt = trying.try_draft(
                rehearsal, rehearsal.draft, by=person(request), **form.cleaned_data
            )
        except RehearsalRefused as refused:
            self.say(request, str(refused))
            return False
        self.message_user(request, f"Try {attempt.number} begins.", messages.SUCCESS)
        return True

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Cancel, resume, or retry a try."""
        rehearsal = self._posted(request, object_id, TRY)
        wanted = row_number(request.POST.get("try"))
        attempt = Attempt.objects.filter(rehearsal=rehearsal, pk=wanted).first()
        act = request.POST.get("act", "")
        if attempt is None or act not in ATTEMPT_ACTS:
            raise Http404(f"There is no act {act!r} on such a try.")
        do, said = ATTEMPT_ACTS[act]
        limit = LimitForm(request.POST)
        if not limit.is_valid():
            self.say(request, *limit.errors["cost_limit_usd"])
            return HttpResponseRedirect(rehearsal.get_absolute_url())
        try:
            do(attempt, limit.cleaned_data["cost_limit_usd"])
            self.message_user(request, said, messages.SUCCESS)
        except NotPossible as error:
            self.say(request, str(error))
        return HttpResponseRedirect(rehearsal.get_absolute_url())

    # Publish --------------------------------------------------------------------------------------

    def publish_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Publish the draft with its figures; untried only for a reason."""
        rehearsal = self.found(request, object_id)
        if not request.user.has_perm(PUBLISH):
            raise PermissionDenied
        draft = rehearsal.draft
        if draft is None or not has_draft(rehearsal):
            self.say(request, "There is no draft to publish.")
            return HttpResponseRedirect(rehearsal.get_absolute_url())
        attempt = tried_as(rehearsal, draft)
        form = None if attempt else ReasonForm(request.POST or None)
        if request.method == "POST" and (form is None or form.is_valid()):
            reason = form.cleaned_data["reason"] if form else ""
            if self._publish(request, rehearsal, reason):
                return HttpResponseRedirect(rehearsal.get_absolute_url())
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Publish {draft}",
            sentences=sentences_before(attempt),
            form=form,
            hidden=[],
            button="Publish",
            danger=attempt is None,
            back_url=rehearsal.get_absolute_url(),
        )

    def _publish(self, request: HttpRequest, rehearsal: Rehearsal, reason: str) -> bool:
        assert rehearsal.draft is not None
        try:
            publish_tried(rehearsal, rehearsal.draft, by=person(request), reason=reason)
        except RehearsalRefused as refused:
            self.say(request, str(refused))
        except Refused as refused:
            self.say(request, *refused.problems)
        except ValidationError as error:
            self.say(request, *error.messages)
        else:
            said = f"{rehearsal.draft} is published, with the figures of both halves."
            self.message_user(request, said, messages.SUCCESS)
            return True
        return False

    def _posted(self, request: HttpRequest, object_id: int, right: str) -> Any:
        rehearsal = self.found(request, object_id)
        if request.method != "POST" or not request.user.has_perm(right):
            raise PermissionDenied
        return rehearsal


def sentences_before(attempt: Attempt | None) -> list[str]:
    """What must be known before a draft is published."""
    tried = (
        f"Try {attempt.number} asked with exactly this text, these examples and this scale."
        if attempt
        else "No try asked with exactly what the draft is now: nobody knows whether it is better."
    )
    return [
        tried,
        "Published, it can be used by tests and never changes again. The figures of both halves "
        "are kept with it.",
    ]
