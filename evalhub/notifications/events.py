from base64 import b64encode
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
class Attachment:
    """A file that goes with an e-mail; `form` is its content type."""

    name: str
    form: str
    content: bytes


@dataclass(frozen=True)
class Event:
    """An event. It must hold no text of a test, as it is sent outside.

    `key` identifies it for good, such as "run 12 judge run 3 finished". `url` is a path of the
    site, `open_url` one that opens without an account, if there is any; `facts` are JSON for
    webhooks only. For e-mails only: `table`, whose first row has the headings, `picture` (SVG) and
    `attachment`.
    """

    kind: NotificationKind
    key: str
    title: str
    text: str = ""
    url: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    open_url: str = ""
    table: tuple[tuple[str, ...], ...] = ()
    picture: str = ""
    attachment: Attachment | None = None


@transaction.atomic
def notify(event: Event, *, to: Iterable[User], addresses: Iterable[str] = ()) -> int:
    """Notify these users, by the channels of their choice, and all subscribed webhooks.

    `addresses` are e-mail addresses of people without an account.

    Repeating an event does nothing. E-mails and webhooks are sent within two minutes by
    `evalhub.notifications.outbox`.

    Returns:
        The number of users newly notified.
    """
    notified = sum(_notify_user(event, user) for user in dict.fromkeys(to) if user.is_active)
    for webhook in Webhook.objects.filter(is_active=True):
        if event.kind in webhook.kinds:
            Delivery.objects.get_or_create(
                webhook=webhook, key=event.key, defaults={"payload": payload_of(event)}
            )
    for address in addresses if is_mail_on() else ():
        url = event.open_url or event.url
        written = {"title": event.title, "text": event.text, "url": url}
        Delivery.objects.get_or_create(
            address=address, key=event.key, defaults={"payload": written | _mail_parts(event)}
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
        parts = _mail_parts(event)
        Delivery.objects.create(notification=notification, key=event.key, payload=parts)
    return is_new


def _mail_parts(event: Event) -> dict[str, Any]:
    """Return what only e-mails have, as JSON; empty ones are left out."""
    file = event.attachment
    parts = {
        "table": event.table,
        "picture": event.picture,
        "attachment": file and [file.name, file.form, b64encode(file.content).decode()],
    }
    return {name: part for name, part in parts.items() if part}


def payload_of(event: Event) -> dict[str, Any]:
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
    """Return a page's full address; its path alone if EVALHUB_SITE_URL is not set."""
    return f"{settings.EVALHUB_SITE_URL.rstrip('/')}{path}" if path else ""
