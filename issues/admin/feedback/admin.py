from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.text import Truncator
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.list_download import DownloadedListAdmin
from evalhub.admin_site.pages import current_user, require
from evalhub.display.formatting import counted
from evalhub.llm.content.content_parts import all_images
from issues.admin.badges import COLOURS
from issues.admin.feedback.inbox import FeedbackInbox
from issues.admin.feedback.upload import FeedbackUpload
from issues.admin.text_areas import TextAreas
from issues.content.feedback_content import FACTS, FIELDS, LINES, TEXTS, TRIAGE, TYPED, says_nothing
from issues.judge_templates.prompts import conversation_text
from issues.models import Feedback, FeedbackState
from issues.triage.actions import follow, issue_from, set_state, test_from
from issues.triage.erasure import erase


class FeedbackForm(forms.ModelForm):
    class Meta:
        model = Feedback
        fields = [field.name for field in FIELDS if field.place or field.is_triage]
        help_texts = {
            "issue": "The issue this feedback is evidence of, if it exists already.",
            "duplicate_of": "The original, if this is a duplicate. It then follows the original.",
        }

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.instance.pk is None and not self.errors and says_nothing(data):
            raise ValidationError("Enter a prompt, answer, comment or rating.")
        original = data.get("duplicate_of")
        if original is not None:
            self._follow(data, original.duplicate_of or original)
        elif data.get("state") == FeedbackState.DUPLICATE:
            self.add_error("duplicate_of", "Choose the original of this duplicate.")
        return data

    def _follow(self, data: dict[str, Any], original: Feedback) -> None:
        if original == self.instance:
            raise ValidationError(
                {"duplicate_of": "Feedback cannot be a duplicate of itself. Choose another item."}
            )
        if data.get("state", FeedbackState.DUPLICATE) != FeedbackState.DUPLICATE:
            if "duplicate_of" not in self.changed_data:
                data["duplicate_of"] = None
                return
            data["state"] = FeedbackState.DUPLICATE
        self.instance.state = FeedbackState.DUPLICATE
        data |= {"duplicate_of": original, "issue": original.issue}


STATES = {"accept": FeedbackState.ACCEPTED, "dismiss": FeedbackState.DISMISSED}
RECORD = ("received_by", "source_id", "created_at", "messages", "raw")
ORIGINAL = (*FACTS, *RECORD)


@admin.register(Feedback)
class FeedbackAdmin(TextAreas, DownloadedListAdmin, FeedbackInbox, FeedbackUpload):
    """Feedback to triage: accept, dismiss, or turn into an issue or a test.

    Feedback of an issue with a sealed test requires the right to read sealed tests.
    """

    when_empty = (
        "Applications send feedback to the API. You can also upload a file or add it by hand."
    )
    form = FeedbackForm
    downloaded_as = "issues.api.feedback.FeedbackViewSet"
    list_before_template = "issues/feedback_list_before.html"
    list_display = (
        "words",
        "state_label",
        "rating",
        "asked",
        "model",
        "source",
        "issue",
        "received",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("rating", ChoicesDropdownFilter),
        ("issue", AutocompleteSelectFilter),
    )
    search_fields = (*TEXTS, "model", "source", "=id")
    list_select_related = ("issue",)
    autocomplete_fields = ("issue", "duplicate_of")
    readonly_fields = ORIGINAL
    text_rows = LINES
    actions = ("accept", "dismiss", "erase")
    change_form_outer_before_template = "issues/feedback_panel.html"
    post_views = {"act": "<int:object_id>/act/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        return super().get_queryset(request).readable_by(request.user)  # type: ignore[no-any-return]

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        return self.get_object(request, object_id) is not None

    @display(description="comment")
    def words(self, feedback: Feedback) -> str:
        known = str(feedback) if feedback.erased_at else f"feedback {feedback.pk}"
        return Truncator(feedback.comment or known).chars(90)

    @display(description="prompt")
    def asked(self, feedback: Feedback) -> str:
        return Truncator(feedback.prompt).chars(60)

    @display(description="state", ordering="state", label=COLOURS)
    def state_label(self, feedback: Feedback) -> tuple[str, str]:
        return feedback.state, feedback.get_state_display()

    @display(description="received", ordering="created_at")
    def received(self, feedback: Feedback) -> Any:
        return feedback.created_at

    def get_readonly_fields(self, request: HttpRequest, obj: Feedback | None = None) -> Any:
        """Keep received texts read-only; only a user who adds feedback types them."""
        return ORIGINAL if obj else RECORD

    def get_fieldsets(self, request: HttpRequest, obj: Feedback | None = None) -> Any:
        if obj is None:
            similar = render_to_string("issues/similar.html", {"kind": "feedback"})
            links = {"fields": ("issue", "duplicate_of"), "description": similar}
            return ((None, {"fields": TYPED}), ("Links", links))
        return (
            ("Triage", {"fields": TRIAGE}),
            ("Original", {"classes": ("collapse",), "fields": ORIGINAL}),
        )

    def save_model(self, request: HttpRequest, obj: Feedback, form: Any, change: bool) -> None:
        if not change:
            obj.received_by = current_user(request)
        super().save_model(request, obj, form, change)
        if change:
            follow(obj, by=current_user(request))

    def row_context(self, request: HttpRequest, row: Feedback) -> dict[str, Any]:
        asked = ("Conversation", conversation_text(row.messages))
        asked = asked if row.messages else ("Prompt", row.prompt)
        texts = (asked, ("Answer", row.answer), ("User comment", row.comment))
        own = {"feedback": row, "texts": texts, "images": all_images(row.messages)}
        own["acts"] = self.buttons(request, row)
        return {**super().row_context(request, row), **own}

    def buttons(self, request: HttpRequest, feedback: Feedback) -> list[Button]:
        if not self.has_change_permission(request, feedback):
            return []
        url = self.url_of("act", feedback.pk)
        buttons = [
            Button(act.capitalize(), url, {"act": act})
            for act, state in STATES.items()
            if feedback.state != state
        ]
        kind = "issue" if feedback.issue is None else "test"
        if request.user.has_perm(f"issues.add_{kind}"):
            buttons.append(Button(f"Create {kind}", url, {"act": kind}, "primary"))
        return buttons

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Triage one feedback item."""
        feedback = self.posted(request, object_id)
        act, user = request.POST.get("act", ""), current_user(request)
        if act in STATES:
            set_state([feedback], STATES[act], by=user)
        elif act in ("issue", "test"):
            require(request.user.has_perm(f"issues.add_{act}"))
            make = issue_from if act == "issue" else test_from
            with self.refusals_shown(request):
                draft = make(feedback, by=user)
                text = f"Draft created from feedback {feedback.pk}. Complete it here."
                self.say_done(request, text)
                return HttpResponseRedirect(draft.get_absolute_url())
        return self.back(request, feedback)

    @admin.action(permissions=["change"], description="Accept")
    def accept(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._triage(request, queryset, FeedbackState.ACCEPTED)

    @admin.action(permissions=["change"], description="Dismiss")
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._triage(request, queryset, FeedbackState.DISMISSED)

    def has_erase_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("issues.erase_feedback"))

    @admin.action(permissions=["erase"], description="Erase texts")
    def erase(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> HttpResponse | None:
        if "erase" not in request.POST:
            return self.action_page(
                *(request, "erase", queryset),
                title=f"Erase the texts of {counted(len(queryset), 'feedback item')}",
                sentences=[
                    "Their texts, in all versions, and images that nothing else uses are deleted "
                    "for good. State, rating and source stay, so that no count changes.",
                    "Issues and tests made from them keep what was copied: edit these too.",
                ],
                hidden=[("erase", "yes")],
                button="Erase texts",
                danger=True,
            )
        erased = erase(queryset, by=current_user(request))
        self.say_done(request, f"Erased: {counted(erased, 'feedback item')}.")
        return None

    def _triage(
        self, request: HttpRequest, queryset: QuerySet[Feedback], state: FeedbackState
    ) -> None:
        changed = set_state(queryset, state, by=current_user(request))
        self.say_done(request, f"{changed} {state.label.lower()}.")
