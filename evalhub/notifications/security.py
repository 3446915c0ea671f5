"""Notifications of all admins about doors: who may come in, and where keys are sent."""

from django.utils import timezone

from evalhub.access.models import User
from evalhub.access.roles import users_with
from evalhub.llm.models import LanguageModel
from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind

ADMINISTER = "evalhub.change_user"


def notify_admins(subject: str, title: str, text: str, url: str) -> None:
    """Notify everybody who manages users; `subject` names the event together with the time."""
    key = f"{subject} {timezone.now().isoformat(timespec='microseconds')}"
    notify(Event(NotificationKind.SECURITY, key, title, text, url), to=users_with(ADMINISTER))


def notify_of_connection(before: LanguageModel, after: LanguageModel, *, by: User | str) -> None:
    """Notify the admins if a model's base URL, key variable or headers have changed."""
    changes = [
        f"{label} from {old or 'none'} to {new or 'none'}"
        for label, old, new in (
            ("base URL", before.api_base, after.api_base),
            ("key variable", before.api_key_env, after.api_key_env),
            ("headers", before.headers, after.headers),
        )
        if old != new
    ]
    if changes:
        title = f"{by} changed the connection of {after}"
        text = f"They changed the {' and the '.join(changes)}. Check that this was intended."
        notify_admins(f"model {after.pk} connection", title, text, after.get_absolute_url())
