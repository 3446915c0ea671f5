"""Telling people and programs of an event, once each."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.notifications.models import Delivery, Notification, NotificationKind, Webhook
from evalhub.notifications.preferences import MAIL, SITE, channels_of, is_mail_on


@dataclass(frozen=True)
class Event:
    """Something that happened. It holds no text of a test: it leaves the house.

    `key` names it for ever, such as "run 12 judging 3 finished": it is told once. `url` is a path
    of the site; `facts` are told to programs only, and are JSON.
    """

    kind: NotificationKind
    key: str
    title: str
    text: str = ""
    url: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


@transaction.atomic
def notify(event: Event, *, to: Iterable[User]) -> int:
    """Tell these people, as each of them chose, and all webhooks that listen.

    Telling the same event again does nothing. What leaves the house is sent within a minute or two,
    by `evalhub.notifications.outbox`.

    Returns:
        How many people were told that had not been told before.
    """
    notified = sum(_notify_user(event, user) for user in dict.fromkeys(to) if user.is_active)
    for webhook in Webhook.objects.filter(is_active=True):
        if event.kind in webhook.kinds:
            Delivery.objects.get_or_create(
                webhook=webhook, key=event.key, defaults={"payload": payload_of(event)}
            )
    return notified


def _notify_user(event: Event, user: User) -> bool:
    channels = channels_of(user, event.kind)
    by_mail = MAIL in channels and bool(user.email) and is_mail_on()
    if SITE not in channels and not by_mail:
        return False
    notification, is_new = Notification.objects.get_or_create(
        recipient=user,
        key=event.key,
        defaults={
            "kind": event.kind,
            "title": event.title[:200],
            "text": event.text,
            "url": event.url,
            "read_at": None if SITE in channels else timezone.now(),
        },
    )
    if is_new and by_mail:
        Delivery.objects.create(notification=notification, key=event.key)
    return is_new


def payload_of(event: Event) -> dict[str, Any]:
    """What a webhook is sent of an event."""
    return {
        "event": event.kind.value,
        "key": event.key,
        "title": event.title,
        "text": event.text,
        "url": link_to(event.url),
        "facts": event.facts,
        "at": timezone.now().isoformat(timespec="seconds"),
    }


def link_to(path: str) -> str:
    """The whole address of a page; the path alone where the operator did not say the site's."""
    return f"{settings.EVALHUB_SITE_URL.rstrip('/')}{path}" if path else ""
