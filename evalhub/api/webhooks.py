"""The payload of webhooks, for the schema."""

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema
from rest_framework import serializers

from evalhub.api.fields import JSONObject, PlainSerializer
from evalhub.notifications.models import NotificationKind
from evalhub.notifications.outbox import TEST


class WebhookEventSerializer(PlainSerializer):
    """An event. `key` names it for good; `facts` differ by event; `url` is a page of the site.

    The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` sign it as Standard
    Webhooks defines.
    """

    delivery = serializers.IntegerField()
    event = serializers.ChoiceField([*NotificationKind.choices, (TEST, "a test")])
    key = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    url = serializers.CharField(allow_blank=True)
    facts = JSONObject()
    at = serializers.DateTimeField()


EVENT = OpenApiWebhook(
    "event",
    extend_schema(
        summary="An event that the webhook is subscribed to.",
        description="Status 200 to 299 takes it, 410 ends it, any other repeats it.",
        request=WebhookEventSerializer,
        responses={200: OpenApiResponse(description="It is taken.")},
    ),
)
