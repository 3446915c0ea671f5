from typing import Any

from rest_framework import serializers

from evalhub.access.sealing.exposures import EXPOSURE_COLUMNS, WITHHELD
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.api.fields import Name, RowSerializer
from evalhub.models import AuditEntry, Call, Exposure, LanguageModel, Notification


class WithholdingSerializer(RowSerializer):
    """Leaves out the fields `withheld` for users without the right to see them.

    In the context `shows_all` shows them to whoever acts on the row.
    """

    withheld: tuple[str, ...]
    right = READ_SEALED

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        request = self.context.get("request")
        may_see = request is not None and request.user.has_perm(self.right)
        if not may_see and not self.context.get("shows_all"):
            for name in self.withheld:
                shown.pop(name)
        return shown


class LanguageModelSerializer(WithholdingSerializer):
    """A language model, without secrets: its key stays in an environment variable."""

    withheld = ("api_base", "api_key_env", "params", "headers", "body")
    right = "evalhub.change_languagemodel"

    class Meta:
        model = LanguageModel
        fields = (
            "id",
            "name",
            "kind",
            "developer",
            "family",
            "identity",
            "litellm_model",
            "api_base",
            "api_key_env",
            *("method", "headers", "body", "answer_path", "documents_path", "tool_calls_path"),
            *("input_tokens_path", "output_tokens_path", "cost_path", "session_path"),
            "params",
            "refused_params",
            "structured_output",
            "takes_images",
            "max_concurrency",
            "requests_per_minute",
            "timeout_s",
            "judge_timeout_s",
            "input_usd_per_mtok",
            "output_usd_per_mtok",
            "cached_usd_per_mtok",
            "cache_write_usd_per_mtok",
            "is_scripted",
            "is_active",
            "note",
            "created_at",
        )
        extra_kwargs = {
            "headers": {"of": dict[str, str]},
            "body": {"of": dict[str, Any] | list[Any] | str | None},
            "params": {"of": dict[str, Any]},
            "refused_params": {"of": dict[str, Any], "read_only": True},
        }


class CallSerializer(WithholdingSerializer):
    withheld = Call.sealed_fields

    class Meta:
        model = Call
        fields = tuple(field.name for field in Call._meta.fields)
        extra_kwargs = {
            name: {"of": dict[str, Any] | None}
            for name in ("unsaved", "sent_params", "refused_params")
        }


class ExposureSerializer(WithholdingSerializer):
    """An exposure: sent to `endpoint`, revealed to `user`, or open to all if both are empty."""

    withheld = WITHHELD
    user, by, ended_by = Name(), Name(), Name()

    class Meta:
        model = Exposure
        fields = EXPOSURE_COLUMNS


class NotificationSerializer(RowSerializer):
    class Meta:
        model = Notification
        fields = ("id", "kind", "key", "title", "text", "url", "created_at", "read_at")


class AuditEntrySerializer(WithholdingSerializer):
    """An act. `kind` and `number` name the row; `name` is its name, or the one of a login."""

    withheld = ("reason",)
    actor = Name()
    name = serializers.CharField(source="about.name")
    changed = serializers.ListField(source="about.changed", child=serializers.CharField())

    class Meta:
        model = AuditEntry
        fields = (
            *("id", "at", "actor", "act", "kind", "number", "name", "changed"),
            *("recipient", "address", "reason", "version"),
        )
