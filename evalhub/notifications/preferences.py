"""Of what a person wants to be told, and where."""

from collections.abc import Collection, Mapping

from django.conf import settings

from evalhub.access.models import User
from evalhub.notifications.models import NotificationKind

SITE, MAIL = "here", "mail"
CHANNELS = {SITE: "on the site", MAIL: "by e-mail"}
DEFAULT: Mapping[str, frozenset[str]] = {
    NotificationKind.RUN_FINISHED: frozenset({SITE}),
    NotificationKind.REGRESSION: frozenset({SITE, MAIL}),
    NotificationKind.ASSIGNED: frozenset({SITE, MAIL}),
    NotificationKind.SENT_BACK: frozenset({SITE, MAIL}),
}
PREFERENCE = "notifications"


def channels_of(user: User, kind: str) -> frozenset[str]:
    """Where a person is told of events of a kind: what they chose, else the default."""
    chosen = user.preferences.get(PREFERENCE, {}).get(kind)
    return DEFAULT[kind] if chosen is None else frozenset(chosen) & frozenset(CHANNELS)


def save_preferences(user: User, chosen: Mapping[str, Collection[str]]) -> None:
    """Keep where the person wants to be told, kind by kind."""
    kept = {
        kind: sorted(set(chosen.get(kind, ())) & set(CHANNELS)) for kind in NotificationKind.values
    }
    user.preferences = {**user.preferences, PREFERENCE: kept}
    user.save(update_fields=["preferences"])


def is_mail_on() -> bool:
    """Whether the operator set up sending of e-mail."""
    return bool(settings.EMAIL_HOST)
