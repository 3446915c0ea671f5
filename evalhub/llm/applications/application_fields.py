from typing import Any

from django.db import models

from evalhub.llm.applications.application import METHODS, Application


class ModelKind(models.TextChoices):
    MODEL = "model", "language model"
    APPLICATION = "application", "HTTP application"


def _path(name: str, help_text: str) -> "models.CharField[str, str]":
    return models.CharField(name, max_length=300, blank=True, default="", help_text=help_text)


class ApplicationFields(models.Model):
    """The settings of an HTTP application, beside those that every language model has."""

    kind = models.CharField(
        max_length=11,
        choices=ModelKind,
        default=ModelKind.MODEL,
        help_text="An HTTP application is tested as a whole. It never judges.",
    )
    method = models.CharField(
        max_length=5, choices=[(name, name) for name in METHODS], default="POST"
    )
    headers = models.JSONField(
        default=dict,
        blank=True,
        help_text='Such as {"Authorization": "Bearer {{ SUPPORT_KEY }}"}, with the name of the '
        "variable that holds the secret, bound to its host by the EVALHUB_KEYS setting.",
    )
    body = models.JSONField(
        default=dict,
        blank=True,
        help_text="JSON with placeholders: {{ messages }} is the conversation so far, {{ prompt }} "
        "its last message for applications that remember the rest by {{ session_id }}. Also "
        "{{ system_prompt }}, {{ documents }}, {{ tools }} and {{ params }}.",
    )
    answer_path = _path("answer", "JSONPath in the reply, such as $.answer.")
    documents_path = _path("retrieved documents", "Such as $.sources[*]. Shown to judges that ask.")
    tool_calls_path = _path("tool calls", "Such as $.steps[*].tool.")
    input_tokens_path = _path("input tokens", "Such as $.usage.input.")
    output_tokens_path = _path("output tokens", "Such as $.usage.output.")
    cost_path = _path("cost (USD)", "Such as $.usage.cost. Empty: tokens times the prices.")
    session_path = _path("session id", "If the application chooses it itself, such as $.session.")

    class Meta:
        abstract = True

    @property
    def is_application(self) -> bool:
        return self.kind == ModelKind.APPLICATION

    def application(self) -> Application:
        names = Application.__dataclass_fields__
        return Application(**{name: getattr(self, name) for name in names})

    def frozen_application(self) -> dict[str, Any]:
        """Return the settings for an endpoint; {} for a language model."""
        return self.application().to_json() if self.is_application else {}
