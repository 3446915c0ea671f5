"""Batches that call judges, in the admin: their list, start, progress and control."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.decorators import display

from evalhub.admin_site.batch_control import controlled, limit_field
from evalhub.admin_site.contributions import ExtensibleListAdmin
from evalhub.admin_site.pages import PageAdmin, require, row_number
from evalhub.display.input_form import InputForm
from evalhub.models import ItemState, LanguageModel
from evalhub.work.control import progress_of
from runs.launching.batch_estimate import BatchEstimate

CHANGED = "The number of calls has changed: read the estimate again, then start."
SHOWN_ERRORS = 20


def model_field(**more: Any) -> forms.ModelChoiceField:
    """Return a field for an active language model that can be asked as it is."""
    models = LanguageModel.objects.active().not_applications().order_by("name")
    return forms.ModelChoiceField(models, **{"empty_label": "Choose a model", **more})


class BatchForm(InputForm):
    """Cost limit of a batch, and consent to send sealed tests."""

    cost_limit_usd = limit_field()
    allow_sealed_exposure = forms.BooleanField(
        label="Send the sealed tests to these models", required=False
    )

    @property
    def consent(self) -> dict[str, Any]:
        """Return the arguments of a start."""
        names = ("cost_limit_usd", "allow_sealed_exposure")
        return {name: self.cleaned_data[name] for name in names if name in self.fields}


class StartPages(PageAdmin):
    """Pages that start work: they show its calls and cost, which their button confirms."""

    def start_page(
        self,
        request: HttpRequest,
        template: str,
        form: forms.Form,
        estimate: Callable[[], BatchEstimate] | None,
        start: Callable[[], tuple[str, str]],
        **context: Any,
    ) -> HttpResponse:
        """Show the form with the estimate; start what was estimated.

        Args:
            estimate: None if it depends on the form, which is not filled in.
            start: Returns what was started, in words, and the address of its page.
        """
        found = estimate() if estimate else None
        confirmed = request.POST.get("start")
        if confirmed and found and not found.problems and form.is_valid():
            if confirmed == str(found.calls.low):
                with self.refusals_shown(request):
                    words, address = start()
                    self.say_done(request, f"Started: {words}.")
                    return HttpResponseRedirect(address)
            else:
                self.say(request, CHANGED)
        if not found or not found.sealed_exposure:
            form.fields.pop("allow_sealed_exposure", None)
        return self.page(request, template, form=form, estimate=found, **context)


class BatchAdmin(StartPages, ExtensibleListAdmin):
    """Admin of batches whose items are `judgments`.

    Attributes:
        page_template: Extends `runs/batch.html`, where its context does not suffice.
        failure: What a failed judgment means.
        failed_related: Related rows of a failed judgment that the page shows.
    """

    keeps_history = False
    page_template = "runs/batch.html"
    failure = ""
    failed_related: tuple[str, ...] = ()
    messages: Mapping[str, str] = {
        "cancel": "Cancelled. Judgments are kept, and you can resume.",
        "resume": "Resumed with the missing judgments.",
        "retry_errors": "Retrying the failed judgments.",
    }
    post_views = {"act": "<int:object_id>/act/"}

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is controlled by its actions."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is deleted with what it is about."""
        return False

    @display(description="cost", ordering="spent_usd")
    def cost(self, batch: Any) -> str:
        return str(batch.spent)

    def context_of(self, request: HttpRequest, batch: Any) -> dict[str, Any]:
        """Return what the page of a batch shows besides, such as its `facts`."""
        return {}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show progress, control and failures."""
        batch = self.found(request, row_number(object_id))
        errors = batch.judgments.readable_by(request.user).filter(state=ItemState.ERROR)
        context = {
            "title": str(batch),
            "batch": batch,
            "reason": batch.reason,
            "failure": self.failure,
            "progress": progress_of(batch),
            "errors": errors.select_related(*self.failed_related)[:SHOWN_ERRORS],
            "act_url": self.has_add_permission(request) and self.url_of("act", batch.pk),
            "panel": self.contributed_panel(request, batch),
            "sections": self.contributed_sections(request, batch),
        }
        return self.page(request, self.page_template, **(context | self.context_of(request, batch)))

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Cancel, resume, or retry failed judgments."""
        require(self.has_add_permission(request))
        batch = self.found(request, object_id)
        return controlled(self, request, batch, self.messages, batch.get_absolute_url())
