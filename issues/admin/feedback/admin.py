from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils.text import Truncator
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RelatedDropdownFilter
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import current_user
from issues.admin.badges import FEEDBACK_LABELS
from issues.admin.feedback.form import FeedbackForm
from issues.admin.feedback.inbox import FeedbackInbox
from issues.admin.feedback.upload import FeedbackUpload
from issues.admin.test.form import text_area
from issues.models import Feedback, FeedbackState
from issues.states import Refused
from issues.triage.actions import follow, issue_from, set_state, test_from

ACTIONS = {"accept": FeedbackState.ACCEPTED, "dismiss": FeedbackState.DISMISSED}
MADE: dict[str, tuple[str, Callable[..., Any]]] = {
    "issue": ("issues.add_issue", issue_from),
    "test": ("issues.add_test", test_from),
}


@admin.register(Feedback)
class FeedbackAdmin(FeedbackInbox, FeedbackUpload):
    """Feedback to triage: accept, dismiss, or turn into an issue or a test.

    Feedback of an issue with a sealed test requires the right to read sealed tests.
    """

    when_empty = (
        "Applications send feedback to the API. You can also upload a file or add it by hand."
    )
    form = FeedbackForm
    list_before_template = "issues/feedback_list_before.html"
    list_display = ("said", "state_label", "rating", "asked", "model", "source", "issue", "arrived")
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("rating", ChoicesDropdownFilter),
        ("issue", RelatedDropdownFilter),
    )
    search_fields = ("prompt", "answer", "comment", "model", "source", "=id")
    list_select_related = ("issue",)
    autocomplete_fields = ("issue", "duplicate_of")
    received = ("rating", "model", "source", "received_by", "source_id", "created_at", "raw")
    readonly_fields = received
    actions = ("accept", "dismiss")
    change_form_outer_before_template = "issues/feedback_panel.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        return super().get_queryset(request).readable_by(request.user)  # type: ignore[no-any-return]

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        return self.get_object(request, object_id) is not None

    @display(description="comment")
    def said(self, feedback: Feedback) -> str:
        return Truncator(feedback.comment or f"feedback {feedback.pk}").chars(90)

    @display(description="prompt")
    def asked(self, feedback: Feedback) -> str:
        return Truncator(feedback.prompt).chars(60)

    @display(description="state", ordering="state", label=FEEDBACK_LABELS)
    def state_label(self, feedback: Feedback) -> tuple[str, str]:
        return feedback.state, feedback.get_state_display()

    @display(description="received", ordering="created_at")
    def arrived(self, feedback: Feedback) -> Any:
        return feedback.created_at

    # The page -------------------------------------------------------------------------------------

    def get_readonly_fields(self, request: HttpRequest, obj: Feedback | None = None) -> Any:
        """Keep received texts read-only; only a user who adds feedback types them."""
        return self.received if obj else ("received_by", "source_id", "created_at", "raw")

    def get_fieldsets(self, request: HttpRequest, obj: Feedback | None = None) -> Any:
        if obj is None:
            typed = ("comment", "prompt", "answer", "rating", ("model", "source"))
            known = ("Links", {"fields": ("issue", "duplicate_of")})
            return ((None, {"fields": typed}), known)
        return (
            ("Triage", {"fields": ("state", "issue", "duplicate_of", "note")}),
            ("Original", {"classes": ("collapse",), "fields": self.received}),
        )

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        rows = {"note": 3, "comment": 3, "prompt": 5, "answer": 5}
        if db_field.name in rows:
            kwargs["widget"] = text_area(rows[db_field.name])
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Feedback, form: Any, change: bool) -> None:
        if not change:
            obj.received_by = current_user(request)
        super().save_model(request, obj, form, change)
        if change:
            follow(obj, by=current_user(request))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        feedback = kwargs.get("obj")
        acts = self.acts(request, feedback) if feedback else []
        return super().render_change_form(
            request, {**context, "feedback": feedback, "acts": acts}, *args, **kwargs
        )

    def acts(self, request: HttpRequest, feedback: Feedback) -> list[Button]:
        url = self.url_of("act", feedback.pk)
        acts = []
        if self.has_change_permission(request, feedback):
            labels = {"accept": "Accept", "dismiss": "Dismiss"}
            acts = [
                Button(labels[name], url, {"act": name})
                for name, state in ACTIONS.items()
                if feedback.state != state
            ]
            if feedback.issue is None and request.user.has_perm("issues.add_issue"):
                acts.append(Button("Create issue", url, {"act": "issue"}, "primary"))
            if feedback.issue is not None and request.user.has_perm("issues.add_test"):
                acts.append(Button("Create test", url, {"act": "test"}, "primary"))
        return acts

    def get_urls(self) -> list[URLPattern]:
        return [self.view_path("<int:object_id>/act/", self.act_view, "act"), *super().get_urls()]

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Triage one feedback item; POST only."""
        feedback = self.found(request, object_id)
        act = request.POST.get("act", "")
        if request.method != "POST" or not self.has_change_permission(request, feedback):
            raise PermissionDenied
        if act in MADE:
            return self._make(request, feedback, *MADE[act])
        if act in ACTIONS:
            set_state([feedback], ACTIONS[act], by=current_user(request))
        return self.back(request, feedback)

    def _make(
        self, request: HttpRequest, feedback: Feedback, right: str, make: Callable[..., Any]
    ) -> HttpResponse:
        if not request.user.has_perm(right):
            raise PermissionDenied
        try:
            made = make(feedback, by=current_user(request))
        except Refused as error:
            self.say(request, *error.problems)
            return self.back(request, feedback)
        said = f"Draft created from feedback {feedback.pk}. Complete it here."
        self.message_user(request, said, messages.SUCCESS)
        return HttpResponseRedirect(made.get_absolute_url())

    @admin.action(permissions=["change"], description="Accept")
    def accept(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._triage(request, queryset, FeedbackState.ACCEPTED)

    @admin.action(permissions=["change"], description="Dismiss")
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._triage(request, queryset, FeedbackState.DISMISSED)

    def _triage(
        self, request: HttpRequest, queryset: QuerySet[Feedback], state: FeedbackState
    ) -> None:
        changed = set_state(queryset, state, by=current_user(request))
        self.message_user(request, f"{changed} {state.label.lower()}.", messages.SUCCESS)
