"""Delivery of e-mails and webhooks, at least once, with retries.

A process reserves a delivery before sending it, so that no other sends it at the same time. If
the process dies, the delivery is sent again.
"""

import json
import logging
import os
import time
from base64 import b64decode
from collections.abc import Callable
from email.mime.image import MIMEImage
from threading import Lock, Thread

import httpx
from django.core.mail import EmailMultiAlternatives
from django.db import close_old_connections, connection, transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from evalhub.drawing.png import png_of
from evalhub.limits import DELIVERY_PAUSES, DELIVERY_TIMEOUT_S
from evalhub.llm.providers.http_transport import sync_transport
from evalhub.llm.security.address_policy import ForbiddenAddress, check_base_url
from evalhub.llm.security.key_policy import key_problem
from evalhub.notifications.events import link_to
from evalhub.notifications.models import Delivery, DeliveryState, Webhook
from evalhub.notifications.signing import BadSecret, headers_of, keys_in

log = logging.getLogger(__name__)

AT_ONCE = 20
PICTURE_ID = "chart"
TEST = "test"
"""The event of a test delivery, which nobody subscribes to."""

GONE = 410
"""Status of a webhook that no longer wants deliveries."""

_running = Lock()


class Undelivered(Exception):
    """A failed attempt. `final`: a retry is pointless."""

    def __init__(self, problem: str, *, status: int | None = None, final: bool = False) -> None:
        super().__init__(problem)
        self.status, self.final = status, final


def deliver_in_background() -> None:
    """Send due deliveries in a thread, so that a slow webhook does not block the reaper."""
    if _due().exists() and not _running.locked():
        Thread(target=_deliver_all, name="deliveries", daemon=True).start()


def _deliver_all() -> None:
    with _running:
        try:
            while deliver_due():
                pass
        finally:
            close_old_connections()
            connection.close()


def deliver_due() -> int:
    """Send at most `AT_ONCE` due deliveries and return the number attempted."""
    taken = _take()
    for delivery in taken:
        _try(delivery)
    return len(taken)


def _due() -> QuerySet[Delivery]:
    is_time = Q(next_try_at__isnull=True) | Q(next_try_at__lte=timezone.now())
    return Delivery.objects.filter(is_time, state=DeliveryState.PENDING)


@transaction.atomic
def _take() -> list[Delivery]:
    """Reserve some due deliveries until their next attempt is due."""
    due = _due().select_for_update(
        skip_locked=connection.features.has_select_for_update_skip_locked
    )
    taken = list(due.order_by("pk")[:AT_ONCE])
    for delivery in taken:
        delivery.attempts += 1
        pause = DELIVERY_PAUSES[min(delivery.attempts, len(DELIVERY_PAUSES)) - 1]
        delivery.next_try_at = timezone.now() + pause
        delivery.save(update_fields=["attempts", "next_try_at"])
    return taken


def _try(delivery: Delivery) -> None:
    send: Callable[[Delivery], int | None] = _send_webhook if delivery.webhook_id else _send_mail
    try:
        delivery.status_code = send(delivery)
        delivery.state, delivery.problem = DeliveryState.DONE, ""
        delivery.done_at, delivery.next_try_at = timezone.now(), None
    except Undelivered as error:
        delivery.problem, delivery.status_code = str(error), error.status
        if error.final or delivery.attempts > len(DELIVERY_PAUSES):
            delivery.state, delivery.next_try_at = DeliveryState.FAILED, None
            log.warning("Given up: %s. %s", delivery, error)
    delivery.save(update_fields=["state", "problem", "status_code", "done_at", "next_try_at"])


# By e-mail ---------------------------------------------------------------------------------------


def _send_mail(delivery: Delivery) -> None:
    notification, payload = delivery.notification, delivery.payload
    if notification is None:
        to, title, text, url = (delivery.address, *map(payload.get, ("title", "text", "url")))
    else:
        user = notification.recipient
        if not user.is_active or not user.email:
            raise Undelivered(f"{user} no longer has an e-mail address.", final=True)
        to, title, text, url = user.email, notification.title, notification.text, notification.url
    table, picture = payload.get("table", ()), payload.get("picture", "")
    parts = [text, "\n".join(f"- {'; '.join(row)}" for row in table[1:]), link_to(url)]
    message = EmailMultiAlternatives(
        subject=" ".join(title.split()), body="\n\n".join(filter(None, parts)), to=[to]
    )
    if table or picture:
        context = {"title": title, "text": text, "url": link_to(url), "table": table}
        image = PICTURE_ID if picture else ""
        html = render_to_string("evalhub/notifications/mail.html", context | {"picture": image})
        message.attach_alternative(html, "text/html")
    if picture:
        _illustrate(message, picture, is_alone="attachment" not in payload)
    if "attachment" in payload:
        name, form, content = payload["attachment"]
        message.attach(name, b64decode(content), form)
    try:
        message.send()
    except (OSError, ValueError) as error:  # smtplib's are the first, of odd addresses the second
        raise Undelivered(f"The mail server refused it: {error}") from error


def _illustrate(message: EmailMultiAlternatives, picture: str, *, is_alone: bool) -> None:
    """Attach the picture (SVG) of the HTML part as PNG.

    Mail programs list no files beside a picture that is "related", so a file makes it "mixed".
    """
    if is_alone:
        message.mixed_subtype = "related"  # type: ignore[attr-defined]
    image = MIMEImage(png_of(picture), _subtype="png")
    image.add_header("Content-ID", f"<{PICTURE_ID}>")
    image.add_header("Content-Disposition", "inline", filename="chart.png")
    message.attach(image)


# To a webhook ------------------------------------------------------------------------------------


def _send_webhook(delivery: Delivery) -> int:
    webhook = delivery.webhook
    assert webhook is not None
    if not webhook.is_active:
        raise Undelivered("The webhook is inactive.", final=True)
    if problem := key_problem(webhook.secret_env, webhook.url):
        raise Undelivered(problem)
    try:
        keys = keys_in(os.environ.get(webhook.secret_env, ""))
    except BadSecret as error:
        raise Undelivered(f"{webhook.secret_env} is no secret: {error}") from error
    if not keys:
        raise Undelivered(f"Set the environment variable {webhook.secret_env} to the secret.")
    body = json.dumps({"delivery": delivery.pk, **delivery.payload}).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "EvalHub",
        **headers_of(str(delivery.pk), int(time.time()), body, keys),
    }
    status = _status_of(webhook.url, body, headers)
    if not 200 <= status < 300:
        problem = f"The webhook returned status {status}."
        raise Undelivered(problem, status=status, final=status == GONE)
    return status


def _status_of(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Post the body and return the status. Redirects are not followed, the reply is not read."""
    try:
        check_base_url(url)
        with (
            httpx.Client(
                transport=sync_transport(), timeout=DELIVERY_TIMEOUT_S, trust_env=False
            ) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            return response.status_code
    except ForbiddenAddress as error:
        raise Undelivered(str(error)) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Undelivered(
            f"The address could not be reached: {error or type(error).__name__}"
        ) from error


def retry(delivery: Delivery) -> None:
    delivery.state, delivery.next_try_at = DeliveryState.PENDING, None
    delivery.attempts = 0
    delivery.save(update_fields=["state", "next_try_at", "attempts"])


def send_test(webhook: Webhook) -> Delivery:
    at = timezone.now()
    key = f"test {at.isoformat(timespec='microseconds')}"
    payload = {
        **{"event": TEST, "key": key, "title": "A test from EvalHub"},
        **{"text": "", "url": "", "facts": {}, "at": at.isoformat(timespec="seconds")},
    }
    delivery = Delivery.objects.create(
        webhook=webhook,
        key=key,
        payload=payload,
        attempts=1,
        next_try_at=timezone.now() + DELIVERY_PAUSES[0],
    )
    _try(delivery)
    return delivery
