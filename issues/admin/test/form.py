"""Form of a test: a single or raw prompt in plain text areas, or a conversation."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.urls import reverse
from unfold.widgets import UnfoldAdminRadioSelectWidget

from evalhub.admin_site.json_field import BoundedJSONField
from evalhub.llm.content.raw_prompt import RAW_PROMPT, raw_prompt_of
from issues.admin.text_areas import text_area
from issues.content.conversation import Message, check_messages, raw_prompt_problems
from issues.content.test_content import BY_NAME, LINES
from issues.judge_templates.prompts import conversation_text
from issues.models import JudgeTemplate, TemplateState, Test

SINGLE, RAW, TURNS = "single", "raw", "turns"
APART = ("messages", "criteria")
"""Content that the form has fields of its own for, or that has a form of its own."""

NO_SYSTEM_PROMPT = (
    "A raw prompt is sent without a system prompt: write it into the prompt, and clear this."
)


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


class MessagesField(BoundedJSONField):
    """JSON left empty for no value, instead of showing null."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


def _templates(own: int | None) -> QuerySet[JudgeTemplate]:
    """Return those that are published, and the test's own."""
    offered = Q(state=TemplateState.PUBLISHED) | Q(pk=own)
    return JudgeTemplate.objects.filter(offered)


class TestForm(forms.ModelForm):
    """Form that fills `messages` from the chosen kind of input."""

    __test__ = False

    kind = forms.ChoiceField(
        label="Input",
        choices=[(SINGLE, "single prompt"), (TURNS, "conversation"), (RAW, "raw prompt")],
        initial=SINGLE,
        widget=UnfoldAdminRadioSelectWidget(attrs={"data-eh-kind": "true"}),
        help_text=(
            "A raw prompt is sent as it is, with the special tokens you write into it, to the "
            "model's text-completion endpoint: without chat template, system prompt, tools and "
            "documents."
        ),
    )
    system_prompt = forms.CharField(required=False, strip=False, widget=text_area(2))
    prompt = forms.CharField(required=False, strip=False, widget=text_area(6))
    messages = MessagesField(
        label="Conversation",
        required=False,
        widget=text_area(10, **{"data-eh-messages": "true"}),
        help_text=(
            'A list such as [{"role": "user", "content": "…"}]. The model generates each '
            "assistant turn whose content is null, and the answer after a last user turn. Images "
            "go to models that take them."
        ),
    )

    class Meta:
        model = Test
        fields = ("issue", *(name for name in BY_NAME if name not in APART), "sealed")
        widgets = {name: text_area(lines) for name, lines in LINES.items()}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["messages"].widget.attrs["data-eh-images"] = reverse("api-image-list")
        given = self.initial.get("messages")
        single = single_turn(given)
        raw = raw_prompt_of(given) if isinstance(given, list) else None
        if raw is not None:
            self.initial.update(kind=RAW, prompt=raw, messages=None)
        elif single is not None:
            self.initial["system_prompt"], self.initial["prompt"] = single
            self.initial["messages"] = None
        elif given:
            self.initial["kind"] = TURNS
        template = self.fields.get("template")
        if isinstance(template, forms.ModelChoiceField):
            template.queryset = _templates(self.instance.template_id)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("kind") == TURNS:
            self._check_conversation(data)
            return data
        self.errors.pop("messages", None)
        prompt = data.get("prompt", "")
        if not prompt.strip():
            self.add_error("prompt", "Enter a prompt.")
        if data.get("kind") == RAW:
            # Browsers send the line ends of a text area as CRLF.
            text = prompt.replace("\r\n", "\n")
            data["messages"] = [{"role": RAW_PROMPT, "content": text}]
            self._check_raw_prompt(data)
        else:
            data["messages"] = as_messages(data.get("system_prompt", ""), prompt)
        if "prompt" in self.errors:  # where it is reported, and not as a message without text
            del data["messages"]
        return data

    def _check_conversation(self, data: dict[str, Any]) -> None:
        if "messages" in data:
            try:
                check_messages(data["messages"])
            except ValidationError as error:
                self.add_error("messages", error)

    def _check_raw_prompt(self, data: dict[str, Any]) -> None:
        if data.get("system_prompt", "").strip():
            self.add_error("system_prompt", NO_SYSTEM_PROMPT)
        others = data.get("tools") or [], data.get("context") or ""
        for name, problem in raw_prompt_problems(data["messages"], *others).items():
            self.add_error(name, problem)


def conversation(test: Test) -> str:
    """Return the messages as text, for readers."""
    try:
        check_messages(test.messages)
    except ValidationError as error:
        return " ".join(error.messages)
    return conversation_text(test.messages)
