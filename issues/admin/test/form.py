"""Form of a test: a single prompt in plain text areas, or a conversation."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from unfold.widgets import UnfoldAdminRadioSelectWidget

from issues.admin.text_areas import text_area
from issues.conversation import Message, check_messages
from issues.judge_templates.prompts import conversation_text
from issues.models import JudgeTemplate, TemplateState, Test

SINGLE, TURNS = "single", "turns"


def single_turn(messages: Any) -> tuple[str, str] | None:
    """Return system prompt ("" for none) and prompt; None for anything longer."""
    if not isinstance(messages, list) or not all(_is_plain(turn) for turn in messages):
        return None
    roles = [turn["role"] for turn in messages]
    if roles == ["user"]:
        return "", messages[0]["content"]
    if roles == ["system", "user"]:
        return messages[0]["content"], messages[1]["content"]
    return None


def _is_plain(turn: Any) -> bool:
    return (
        isinstance(turn, dict)
        and turn.keys() == {"role", "content"}
        and isinstance(turn["content"], str)
    )


def as_messages(system_prompt: str, prompt: str) -> list[Message]:
    system = [{"role": "system", "content": system_prompt}] if system_prompt.strip() else []
    return [*system, {"role": "user", "content": prompt}]


class MessagesField(forms.JSONField):
    """JSON left empty for no value, instead of showing null."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class TestForm(forms.ModelForm):
    """Form that fills `messages` from the chosen kind of input."""

    __test__ = False

    kind = forms.ChoiceField(
        label="Input",
        choices=[(SINGLE, "single prompt"), (TURNS, "conversation")],
        initial=SINGLE,
        widget=UnfoldAdminRadioSelectWidget(attrs={"data-eh-kind": "true"}),
    )
    system_prompt = forms.CharField(required=False, strip=False, widget=text_area(2))
    prompt = forms.CharField(
        required=False, strip=False, widget=text_area(6), help_text="The user's message."
    )
    messages = MessagesField(
        label="Conversation",
        required=False,
        widget=text_area(10, **{"data-eh-messages": "true"}),
        help_text=(
            'A list such as [{"role": "user", "content": "…"}]. The model generates each '
            "assistant turn whose content is null, and the answer after a last user turn."
        ),
    )

    class Meta:
        model = Test
        fields = (
            *("issue", "tools", "context", "reference", "reference_by", "flagged_answer"),
            *("guidelines", "template", "pass_threshold", "weight", "sealed", "note", "tags"),
        )
        widgets = {
            "guidelines": text_area(6),
            "reference": text_area(4),
            "flagged_answer": text_area(4),
            "context": text_area(4),
            "note": text_area(2),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        given = self.initial.get("messages")
        single = single_turn(given)
        if single is not None:
            self.initial["system_prompt"], self.initial["prompt"] = single
            self.initial["messages"] = None
        elif given:
            self.initial["kind"] = TURNS
        if "template" in self.fields:
            offered = Q(state=TemplateState.PUBLISHED) | Q(pk=self.instance.template_id)
            self.fields["template"].queryset = JudgeTemplate.objects.filter(offered)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("kind") == SINGLE:
            self.errors.pop("messages", None)
            data["messages"] = as_messages(data.get("system_prompt", ""), data.get("prompt", ""))
            if not data.get("prompt", "").strip():
                self.add_error("prompt", "Enter a prompt.")
        elif "messages" in data:
            try:
                check_messages(data["messages"])
            except ValidationError as error:
                self.add_error("messages", error)
        return data

    def _get_validation_exclusions(self) -> set[str]:
        """Skip model errors of messages: the form has reported them at the right field."""
        return {*super()._get_validation_exclusions(), "messages"}  # type: ignore[misc]


def conversation(test: Test) -> str:
    """Return the messages as text, for readers."""
    try:
        check_messages(test.messages)
    except ValidationError as error:
        return " ".join(error.messages)
    return conversation_text(test.messages)
