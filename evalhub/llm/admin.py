import json
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from evalhub.access.sealing.readers import READ_SEALED
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.lists import RelatedFilter
from evalhub.admin_site.pages import ReadOnlyAdmin, current_user, row_number
from evalhub.admin_site.password_again import AsksPassword
from evalhub.llm.capabilities import Capability, capabilities_of
from evalhub.llm.connection_check import application_check, probe
from evalhub.llm.model_identity import identity_of
from evalhub.llm.models import Call, LanguageModel
from evalhub.notifications.security import notify_of_connection

FOR_MAINTAINERS = ("Connection", "Application request", "Application reply", "Parameters")
OF_MODELS = dict.fromkeys(
    ("litellm_model", "api_key_env", "structured_output", "judge_timeout_s"), "kind == 'model'"
)
"""Fields that a language model has and an application has not; the form hides them."""


@admin.register(LanguageModel)
class LanguageModelAdmin(AsksPassword, HistoryAdmin):
    """Endpoints that can be called. They are deactivated, never deleted.

    Only people who set them up see their address, the key's variable and the parameters.
    """

    list_display = ("name", "called", "status", "key_status", "prices")
    list_filter = ("kind", "is_active", "is_scripted", "developer")
    search_fields = ("name", "litellm_model", "developer", "family")
    readonly_fields = ("key_status", "counts_as", "created_at")
    fieldsets = (
        (None, {"fields": ("name", "kind", "litellm_model", ("is_active", "is_scripted"))}),
        (
            "Connection",
            {
                "fields": (
                    *("api_base", "api_key_env", "key_status"),
                    *("structured_output", "takes_images"),
                )
            },
        ),
        (
            "Application request",
            {"classes": ("tab",), "fields": ("method", "headers", "body")},
        ),
        (
            "Application reply",
            {
                "classes": ("tab",),
                "fields": (
                    *("answer_path", "documents_path", "tool_calls_path"),
                    ("input_tokens_path", "output_tokens_path"),
                    ("cost_path", "session_path"),
                ),
            },
        ),
        ("Parameters", {"classes": ("tab",), "fields": ("params",)}),
        (
            "Limits",
            {
                "classes": ("tab",),
                "fields": (
                    "max_concurrency",
                    "requests_per_minute",
                    ("timeout_s", "judge_timeout_s"),
                ),
            },
        ),
        (
            "Prices",
            {
                "classes": ("tab",),
                "fields": (
                    ("input_usd_per_mtok", "output_usd_per_mtok"),
                    ("cached_usd_per_mtok", "cache_write_usd_per_mtok"),
                ),
            },
        ),
        (
            "Identity",
            {
                "classes": ("tab",),
                "fields": ("counts_as", ("developer", "family"), "identity", "note", "created_at"),
            },
        ),
    )
    actions = ("activate", "deactivate")
    change_form_outer_before_template = "evalhub/model_panel.html"
    conditional_fields = OF_MODELS
    when_empty = "Any endpoint that LiteLLM supports; its key stays in the environment."
    post_views = {"probe": "<int:object_id>/probe/"}

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if self._sets_up(request):
            return self.fieldsets
        return [part for part in self.fieldsets if part[0] not in FOR_MAINTAINERS]

    def get_list_display(self, request: HttpRequest) -> Any:
        if self._sets_up(request):
            return self.list_display
        return [column for column in self.list_display if column != "key_status"]

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        return self._sets_up(request)

    def _sets_up(self, request: HttpRequest) -> bool:
        return bool(self.has_change_permission(request) or self.has_add_permission(request))

    def is_sensitive(self, request: HttpRequest, object_id: str | None) -> bool:
        """Ask for the password where a key may be sent elsewhere."""
        row = LanguageModel.objects.filter(pk=row_number(object_id)).first() or LanguageModel()
        names = ("api_base", "api_key_env")
        if any(request.POST.get(name, "").strip() != getattr(row, name) for name in names):
            return True
        try:
            return bool(json.loads(request.POST.get("headers") or "{}") != row.headers)
        except ValueError:
            return True

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        before = LanguageModel.objects.filter(pk=obj.pk).first() if change else None
        super().save_model(request, obj, form, change)
        if before is not None:
            notify_of_connection(before, obj, by=current_user(request))

    # The list -------------------------------------------------------------------------------------

    @display(
        description="state",
        ordering="is_active",
        label={"active": "success", "scripted": "warning", "inactive": ""},
    )
    def status(self, model: LanguageModel) -> str:
        if not model.is_active:
            return "inactive"
        return "scripted" if model.is_scripted else "active"

    @display(description="key")
    def key_status(self, model: LanguageModel) -> str:
        """Show the key's variable, and if this web process has it; workers may differ."""
        states = [
            f"{name} is {'set' if os.environ.get(name, '').strip() else 'not set'}"
            for name in (model.key_variables if model.pk else ())
        ]
        return f"{', '.join(states)} in this web process" if states else "none named"

    @display(description="called as", ordering="litellm_model")
    def called(self, model: LanguageModel) -> str:
        return model.get_kind_display() if model.is_application else model.litellm_model

    @display(description="Counts as")
    def counts_as(self, model: LanguageModel) -> str:
        """Show the identity by which leaderboards group it; the fields below override its name."""
        if not model.pk:
            return "Derived from its name once it is saved"
        found = identity_of(model)
        developer = found.developer or "unknown developer"
        return f"{found.key} ({developer}, family {found.family})"

    @display(description="USD per million tokens")
    def prices(self, model: LanguageModel) -> str:
        if not model.has_prices:
            return "not known"
        return f"{_plain(model.input_usd_per_mtok)} in, {_plain(model.output_usd_per_mtok)} out"

    @admin.action(permissions=["change"], description="Activate")
    def activate(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        self._switch(request, queryset.filter(is_active=False), True)

    @admin.action(permissions=["change"], description="Deactivate")
    def deactivate(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        self._switch(request, queryset.filter(is_active=True), False)

    def _switch(
        self, request: HttpRequest, models: QuerySet[LanguageModel], is_active: bool
    ) -> None:
        """Save the models one by one, so that the history records each."""
        rows = list(models)
        for model in rows:
            model.is_active = is_active
            model.save()
        done = "activated" if is_active else "deactivated"
        self.say_done(request, f"{len(rows)} {done}.")

    # Testing the connection -----------------------------------------------------------------------

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row = kwargs.get("obj")
        acts = []
        if row is not None and self.has_change_permission(request, row):
            label = "Send a test request" if row.is_application else "Test connection"
            acts = [Button(label, self.url_of("probe", row.pk), kind="primary")]
        context |= {"acts": acts, "capabilities": self._capabilities(request, row)}
        return super().render_change_form(request, context, *args, **kwargs)

    def _capabilities(
        self, request: HttpRequest, model: LanguageModel | None
    ) -> Sequence[Capability]:
        if model is None or model.is_application or not self._sets_up(request):
            return ()
        return capabilities_of(model.litellm_model, model.refused_params, model.params)

    def probe_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Test the saved model's connection, and report the outcome."""
        model = self.posted(request, object_id)
        reports = probe(model)
        if model.is_application:
            shown = application_check(model, reports[0])
            title = f"Test request to {model}"
            return self.page(
                request, "evalhub/application_check.html", title=title, model=model, **shown
            )
        for report in reports:
            level = messages.SUCCESS if report.succeeded else messages.ERROR
            self.message_user(request, report.message, level)
        return self.back(request, model)


def _plain(price: Decimal | None) -> str:
    """Format a price without the zeros that its column adds."""
    return "—" if price is None else f"{price.normalize():f}"


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    """Every request to a provider. Replies with sealed text need the permission to read it."""

    when_empty = "Every request to a provider is recorded here, with its cost."
    list_display = (
        "started_at",
        "language_model",
        "role",
        "batch",
        "outcome",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "latency_ms",
    )
    list_filter = (
        ("language_model", RelatedFilter),
        ("role", ChoicesDropdownFilter),
        "error_kind",
    )
    list_select_related = ("language_model",)
    search_fields = ("batch", "request_id", "=id")
    search_help_text = "Work such as “run 12”, the provider's request id, or number."
    linked_lookups = ("batch__in", "cost_usd__isnull", "refused_params__isnull")

    @display(description="outcome", ordering="error_kind")
    def outcome(self, call: Call) -> str:
        return call.error_kind.replace("_", " ") or "ok"

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Replace fields with replies by a note for people who cannot read sealed text."""
        names = [field.name for field in Call._meta.fields if field.name != "id"]
        if request.user.has_perm(READ_SEALED):
            return names
        return [*(name for name in names if name not in Call.sealed_fields), "hidden"]

    @display(description="reply")
    def hidden(self, call: Call) -> str:
        return "(hidden: it may hold the text of sealed tests)"
