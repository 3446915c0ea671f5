from typing import Any

from evalhub.api.fields import Name, RowSerializer
from evalhub.models import Call, Exposure, LanguageModel, Notification

CHANGE_MODEL = "evalhub.change_languagemodel"
FOR_MAINTAINERS = ("api_base", "api_key_env", "params")
"""Fields with a model's address, the variable of its key, and its parameters."""


class LanguageModelSerializer(RowSerializer):
    """A language model, without secrets: its key stays in an environment variable."""

    class Meta:
        model = LanguageModel
        fields = (
            "id",
            "name",
            "developer",
            "family",
            "identity",
            "litellm_model",
            "api_base",
            "api_key_env",
            "params",
            "structured_output",
            "max_concurrency",
            "requests_per_minute",
            "timeout_s",
            "judge_timeout_s",
            "input_usd_per_mtok",
            "output_usd_per_mtok",
            "is_scripted",
            "is_active",
            "note",
            "created_at",
        )

    def to_representation(self, instance: LanguageModel) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        request = self.context.get("request")
        if request is None or not request.user.has_perm(CHANGE_MODEL):
            for name in FOR_MAINTAINERS:
                shown.pop(name)
        return shown


class CallSerializer(RowSerializer):
    class Meta:
        model = Call
        fields = (
            "id",
            "language_model",
            "role",
            "batch",
            "item_id",
            "request_digest",
            "request_id",
            "reply",
            "finish_reason",
            "error_kind",
            "error_message",
            "attempt",
            "input_tokens",
            "output_tokens",
            "cost_usd",
            "latency_ms",
            "started_at",
        )

    def to_representation(self, instance: Call) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        if not self.context.get("reads_sealed"):
            for name in Call.sealed_fields:
                shown.pop(name)
        return shown


class ExposureSerializer(RowSerializer):
    """An exposure: sent to `endpoint`, revealed to `user`, or open to all if both are empty."""

    user, by, ended_by = Name(), Name(), Name()

    class Meta:
        model = Exposure
        fields = (
            "id",
            "test",
            "kind",
            "day",
            "user",
            "endpoint",
            "language_model",
            "purpose",
            "reason",
            "by",
            "created_at",
            "ended_at",
            "ended_by",
        )

    def to_representation(self, instance: Exposure) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        if not self.context.get("reads_sealed"):
            shown.pop("reason")
        return shown


class NotificationSerializer(RowSerializer):
    class Meta:
        model = Notification
        fields = ("id", "kind", "key", "title", "text", "url", "created_at", "read_at")
