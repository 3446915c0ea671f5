"""Pages of judge tunings: start, disagreements, draft, attempts, publication."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from unfold.decorators import display

from evalhub.admin_site.batch_control import controlled
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.refusals import Refused
from evalhub.work.control import progress_of
from runs.admin.batches import BatchForm, StartPages
from runs.laboratory.tuning import attempt_control
from runs.laboratory.tuning.admin.answers import ask_section
from runs.laboratory.tuning.admin.forms import (
    PromptForm,
    ReasonForm,
    StartForm,
    wanted_pair,
)
from runs.laboratory.tuning.admin.tuning_page import page_of
from runs.laboratory.tuning.disagreements import PAGE, disagreements_of
from runs.laboratory.tuning.draft import (
    completed_attempt,
    edit_prompt,
    publish_draft,
    use_as_example,
)
from runs.laboratory.tuning.labelled_answers import labelled_answers_of
from runs.laboratory.tuning.models import Attempt, LabelledExample, Tuning
from runs.laboratory.tuning.start import draft_of, has_draft, start, too_few

ADD_ATTEMPT = "tuning.add_attempt"
EDIT = "issues.change_judgetemplate"
PUBLISH = "issues.publish_judgetemplate"

PUBLISHED = (
    "A published version never changes. Tests can use it, and the figures of both splits are kept "
    "with it."
)

ATTEMPT_ACTIONS = {
    "cancel": "Attempt cancelled. Its verdicts are kept, and you can resume it.",
    "resume": "Attempt resumed with the missing verdicts.",
    "retry_errors": "Retrying the failed verdicts.",
}
"""Messages of the actions on an attempt."""


@admin.register(Tuning)
class TuningAdmin(StartPages):
    """Judge tunings: a judge's agreement with annotators, and drafts to improve it."""

    when_empty = "Evaluate answers yourself first; then improve a judge with your verdicts."
    keeps_history = False
    list_display = ("template", "judge", "answers", "attempts", "created_by", "created_at")
    list_filter = (("template", admin.RelatedOnlyFieldListFilter), "annotators")
    search_fields = ("template__title", "template__family", "judge__language_model__name")
    list_select_related = ("template", "judge__language_model", "judge__template", "created_by")
    views = {
        "disagreements": "<int:object_id>/disagreements/",
        "attempt": "<int:object_id>/attempt/",
        "progress": "<int:object_id>/progress/",
        "publish": "<int:object_id>/publish/",
    }
    post_views = {
        "example": "<int:object_id>/example/",
        "prompt": "<int:object_id>/prompt/",
        "act": "<int:object_id>/act/",
    }

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: a tuning is a record of verdicts at its start."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: the number of looks at the held-out split would be lost."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tuning]:
        rows: QuerySet[Tuning] = super().get_queryset(request)
        return rows.select_related("draft", "suite", "tag").annotate(
            answer_total=Count("examples", distinct=True),
            attempt_total=Count("attempts", distinct=True),
        )

    @display(description="answers", ordering="answer_total")
    def answers(self, tuning: Any) -> int:
        return int(tuning.answer_total)

    @display(description="attempts", ordering="attempt_total")
    def attempts(self, tuning: Any) -> int:
        return int(tuning.attempt_total)

    # Start and read -------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose a judge and count its answers; start the tuning by POST without `count`."""
        require(self.has_add_permission(request))
        sent = request.POST if request.method == "POST" else request.GET
        form = StartForm(sent if "pair" in sent else None)
        if "pair" not in sent:
            form.initial["pair"] = wanted_pair(
                form.pairs,
                judge=row_number(request.GET.get("judge")),
                template=row_number(request.GET.get("template")),
            )
        context: dict[str, Any] = {}
        if "pair" in sent and form.is_valid():
            selection = form.selection()
            if request.method == "POST" and "count" not in request.POST:
                with self.refusals_shown(request):
                    seed = form.cleaned_data["seed"]
                    tuning = start(selection, by=current_user(request), seed=seed)
                    return HttpResponseRedirect(tuning.get_absolute_url())
            found = labelled_answers_of(selection)
            context = {"found": found, "problem": too_few(selection, found)}
        return self.page(
            request,
            "runs/laboratory/tuning/start.html",
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
        self, request: HttpRequest, tuning: Tuning, form: PromptForm | None = None
    ) -> HttpResponse:
        page = page_of(tuning)
        draft = page.draft
        if form is None and draft is not None:
            form = PromptForm(initial={"text": draft.text, "seen": draft.text})
        return self.page(
            request,
            "runs/laboratory/tuning/tuning.html",
            title=str(tuning.template),
            page=page,
            prompt_form=form,
            ask=ask_section(request, draft or tuning.template, tuning.judge.language_model),
            may_attempt=request.user.has_perm(ADD_ATTEMPT),
            may_edit=request.user.has_perm(EDIT),
            may_publish=request.user.has_perm(PUBLISH),
        )

    def disagreements_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show disagreements on the development split."""
        tuning = self.found(request, object_id)
        number = row_number(request.GET.get("attempt"))
        attempt = tuning.attempts.filter(number=number).first() if number else None
        if number and attempt is None:
            raise Http404(f"This judge tuning has no attempt {number}.")
        page = max(1, row_number(request.GET.get("page")))
        found = disagreements_of(tuning, current_user(request), attempt=attempt, page=page)
        readable = found.total - found.hidden
        return self.page(
            request,
            "runs/laboratory/tuning/disagreements.html",
            title=f"Disagreements with {tuning.judge}",
            tuning=tuning,
            attempt=attempt,
            found=found,
            page_number=page,
            start=PAGE * (page - 1),
            readable=readable,
            has_next=PAGE * page < readable,
            may_edit=request.user.has_perm(EDIT),
        )

    def progress_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Render an attempt's progress; a trigger tells the page that it has ended."""
        tuning = self.found(request, object_id)
        number = row_number(request.GET.get("attempt"))
        attempt = get_object_or_404(tuning.attempts, number=number)
        context = {"one": progress_of(attempt)}
        response = render(request, "runs/laboratory/tuning/_progress.html", context)
        if not attempt.is_live:
            response["HX-Trigger"] = "tuning:ended"
        return response

    # Edit -----------------------------------------------------------------------------------------

    def example_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Add a labelled example of the development split to the draft."""
        tuning = self.posted(request, object_id, EDIT)
        mine = LabelledExample.objects.readable_by(request.user).filter(tuning=tuning)
        labelled_example = mine.filter(pk=row_number(request.POST.get("labelled_example"))).first()
        if labelled_example is None:
            raise Http404("This judge tuning has no such answer, or you have no access to it.")
        with self.refusals_shown(request):
            draft = use_as_example(tuning, labelled_example, by=current_user(request))
            self.say_done(request, f"Example added to {draft}.")
        back = f"{self.url_of('disagreements', tuning.pk)}?{request.GET.urlencode()}"
        return HttpResponseRedirect(f"{back}#answer-{labelled_example.pk}")

    def prompt_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Create a draft or save its prompt; a refused prompt is shown again."""
        tuning = self.posted(request, object_id, EDIT)
        if "text" not in request.POST:
            draft = draft_of(tuning, by=current_user(request))
            self.say_done(request, f"Draft {draft} created.")
            return HttpResponseRedirect(f"{tuning.get_absolute_url()}#draft")
        form = PromptForm(request.POST)
        if not has_draft(tuning):
            self.say(request, "The draft no longer exists. Create a new one; your prompt is below.")
            return self._show(request, tuning, form)
        if not form.is_valid():
            return self._show(request, tuning, form)
        text, seen = form.cleaned_data["text"], form.cleaned_data["seen"]
        try:
            edit_prompt(tuning.draft, text, seen=seen, by=current_user(request))
        except Refused as refused:
            form.add_error(None, str(refused))
            form.data = {**form.data.dict(), "seen": tuning.draft.text}  # type: ignore[attr-defined]
            return self._show(request, tuning, form)
        except ValidationError as error:
            form.add_error("text", error.messages)
            return self._show(request, tuning, form)
        self.say_done(request, "Prompt saved.")
        return HttpResponseRedirect(f"{tuning.get_absolute_url()}#draft")

    # Attempts -------------------------------------------------------------------------------------

    def attempt_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Estimate an attempt by GET, start it by POST."""
        tuning = self.found(request, object_id)
        require(request.user.has_perm(ADD_ATTEMPT))
        if not has_draft(tuning):
            self.say(request, "Create a draft first, then test it.")
            return HttpResponseRedirect(tuning.get_absolute_url())
        form = BatchForm(request.POST if request.method == "POST" else None)

        def start_attempt() -> tuple[str, str]:
            by = current_user(request)
            made = attempt_control.start_attempt(tuning, tuning.draft, by=by, **form.consent)
            return f"attempt {made.number}", tuning.get_absolute_url()

        return self.start_page(
            request,
            "runs/laboratory/tuning/attempt.html",
            form,
            lambda: attempt_control.estimate(tuning, tuning.draft),
            start_attempt,
            title=f"Test {tuning.draft}",
            tuning=tuning,
            back_url=tuning.get_absolute_url(),
        )

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Cancel, resume or retry an attempt."""
        tuning = self.posted(request, object_id, ADD_ATTEMPT)
        attempt = get_object_or_404(
            Attempt, tuning=tuning, pk=row_number(request.POST.get("attempt"))
        )
        return controlled(self, request, attempt, ATTEMPT_ACTIONS, tuning.get_absolute_url())

    # Publish --------------------------------------------------------------------------------------

    def publish_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Publish the draft with its figures; an untested one needs a reason."""
        tuning = self.found(request, object_id)
        require(request.user.has_perm(PUBLISH))
        draft = tuning.draft
        if draft is None or not has_draft(tuning):
            self.say(request, "This judge tuning has no draft to publish.")
            return HttpResponseRedirect(tuning.get_absolute_url())
        attempt = completed_attempt(tuning, draft)
        form = None if attempt else ReasonForm(request.POST or None)
        if request.method == "POST" and (form is None or form.is_valid()):
            reason = form.cleaned_data["reason"] if form else ""
            with self.refusals_shown(request):
                publish_draft(tuning, draft, by=current_user(request), reason=reason)
                self.say_done(request, f"{draft} published.")
                return HttpResponseRedirect(tuning.get_absolute_url())
        tested = (
            f"Attempt {attempt.number} tested exactly this prompt, these examples and this scale."
            if attempt
            else "No attempt has tested the draft in its current state, so its effect is unknown."
        )
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Publish {draft}",
            sentences=[tested, PUBLISHED],
            form=form,
            hidden=[],
            button="Publish",
            danger=attempt is None,
            back_url=tuning.get_absolute_url(),
        )
