from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.pages import ReadOnlyAdmin, current_user
from evalhub.notifications.models import (
    Delivery,
    DeliveryState,
    Notification,
    NotificationKind,
    Webhook,
)
from evalhub.notifications.outbox import retry, send_test
from evalhub.notifications.preferences import CHANNELS, channels_of, is_mail_on, save_preferences


class WebhookForm(forms.ModelForm):
    """Form of a webhook."""

    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=NotificationKind.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=NotificationKind.values,
    )

    class Meta:
        model = Webhook
        fields = ("name", "url", "secret_env", "kinds", "is_active")


CHANGE_WEBHOOK = "evalhub.change_webhook"


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    """The user's own notifications; nobody sees those of others."""

    when_empty = (
        "You are notified when your run finishes or fails its gate, when an issue is "
        "assigned to you, when your review is sent back, and when a scheduled report is made for "
        "you."
    )
    list_display = ("notified", "kind_label", "created_at", "is_read")
    list_display_links = None
    list_filter = (("kind", ChoicesDropdownFilter),)
    search_fields = ("title", "text")
    actions = ("mark_read", "mark_unread")
    list_before_template = "evalhub/notifications/actions.html"
    views = {"settings": "settings/"}
    post_views = {"read": "read/", "open": "<int:pk>/open/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Notification]:
        mine: QuerySet[Notification] = (
            super().get_queryset(request).filter(recipient=current_user(request))
        )
        return mine

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    has_module_permission = has_view_permission

    @display(description="notification")
    def notified(self, notification: Notification) -> str:
        return render_to_string(
            "evalhub/notifications/open_button.html", {"notification": notification}
        )

    @display(description="event", ordering="kind")
    def kind_label(self, notification: Notification) -> str:
        return notification.get_kind_display()

    @display(description="read", boolean=True)
    def is_read(self, notification: Notification) -> bool:
        return notification.read_at is not None

    @admin.action(description="Mark as read")
    def mark_read(self, request: HttpRequest, queryset: QuerySet[Notification]) -> None:
        read = queryset.filter(read_at=None).update(read_at=timezone.now())
        self.say_done(request, f"Marked as read: {read}.")

    @admin.action(description="Mark as unread")
    def mark_unread(self, request: HttpRequest, queryset: QuerySet[Notification]) -> None:
        unread = queryset.exclude(read_at=None).update(read_at=None)
        self.say_done(request, f"Marked as unread: {unread}.")

    # Pages of its own -----------------------------------------------------------------------------

    def open_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        notification = self.found(request, pk)
        self.get_queryset(request).filter(pk=pk, read_at=None).update(read_at=timezone.now())
        return HttpResponseRedirect(notification.url or self.url_of("changelist"))

    def read_view(self, request: HttpRequest) -> HttpResponse:
        self.mark_read(request, self.get_queryset(request))
        return HttpResponseRedirect(self.url_of("changelist"))

    def settings_view(self, request: HttpRequest) -> HttpResponse:
        user = current_user(request)
        if request.method == "POST":
            save_preferences(
                user, {kind: request.POST.getlist(kind) for kind in NotificationKind.values}
            )
            self.say_done(request, "Notification settings saved.")
            return HttpResponseRedirect(self.url_of("changelist"))
        return self.page(
            request,
            "evalhub/notifications/preferences.html",
            title="Notification settings",
            rows=[(kind, channels_of(user, kind)) for kind in NotificationKind],
            channels=CHANNELS,
            is_mail_on=is_mail_on(),
            list_url=self.url_of("changelist"),
        )


@admin.register(Webhook)
class WebhookAdmin(HistoryAdmin):
    form = WebhookForm
    when_empty = "Add an address to notify of runs, issues and reviews."
    list_display = ("name", "url", "subscribed_to", "is_active")
    list_filter = ("is_active",)
    search_fields = ("name", "url")
    fields = ("name", "url", "secret_env", "kinds", "is_active")
    post_views = {"test": "<int:pk>/test/"}

    @display(description="events")
    def subscribed_to(self, webhook: Webhook) -> str:
        labels = dict(NotificationKind.choices)
        return ", ".join(str(labels[kind]) for kind in webhook.kinds if kind in labels)

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = current_user(request)
        super().save_model(request, obj, form, change)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        webhook = kwargs.get("obj")
        acts = []
        if webhook is not None and self.has_change_permission(request, webhook):
            acts.append(Button("Send test", self.url_of("test", webhook.pk)))
        if webhook is not None:
            deliveries = reverse("admin:evalhub_delivery_changelist")
            listed = f"{deliveries}?webhook__id__exact={webhook.pk}"
            acts.append(Button("Deliveries", listed, is_link=True))
        return super().render_change_form(request, {**context, "acts": acts}, *args, **kwargs)

    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a test delivery now."""
        webhook = self.posted(request, pk)
        delivery = send_test(webhook)
        if delivery.state == DeliveryState.DONE:
            text = f"Test delivered: status {delivery.status_code}."
            self.say_done(request, text)
        else:
            self.say(request, f"Test not delivered. {delivery.problem}")
        return self.back(request, webhook)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    when_empty = "Deliveries to webhooks and by e-mail are listed here."
    list_display = (
        "key",
        "receiver",
        "state_label",
        "attempts",
        "status_code",
        "problem",
        "created_at",
    )
    list_filter = (("state", ChoicesDropdownFilter), "webhook")
    list_select_related = ("webhook", "notification__recipient")
    search_fields = ("key", "problem")
    actions = ("again",)

    @display(description="to")
    def receiver(self, delivery: Delivery) -> str:
        notification = delivery.notification
        if notification is not None:
            return f"e-mail to {notification.recipient}"
        return str(delivery.webhook or f"e-mail to {delivery.address}")

    @display(
        description="state",
        ordering="state",
        label={"delivered": "success", "given up": "danger", "pending": "info"},
    )
    def state_label(self, delivery: Delivery) -> str:
        return delivery.get_state_display()

    def has_again_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(CHANGE_WEBHOOK))

    @admin.action(permissions=["again"], description="Retry")
    def again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        given_up = queryset.filter(state=DeliveryState.FAILED)
        for delivery in given_up:
            retry(delivery)
        text = f"Retrying {len(given_up)} of {queryset.count()} within a minute."
        self.say_done(request, text)
