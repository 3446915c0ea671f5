from collections.abc import Collection, Mapping

from django.conf import settings

from evalhub.access.models import User
from evalhub.notifications.models import NotificationKind

SITE, MAIL = "site", "mail"
CHANNELS = {SITE: "On the site", MAIL: "By e-mail"}
DEFAULT: Mapping[str, frozenset[str]] = {
    NotificationKind.RUN_FINISHED: frozenset({SITE}),
    NotificationKind.REGRESSION: frozenset({SITE, MAIL}),
    NotificationKind.ASSIGNED: frozenset({SITE, MAIL}),
    NotificationKind.SENT_BACK: frozenset({SITE, MAIL}),
    NotificationKind.REOPENING: frozenset({SITE, MAIL}),
    NotificationKind.REPORT: frozenset({SITE, MAIL}),
    NotificationKind.SECURITY: frozenset({SITE, MAIL}),
}
PREFERENCE = "notifications"


def channels_of(user: User, kind: str) -> frozenset[str]:
    """Return the user's channels for a kind of event, or the default."""
    chosen = user.preferences.get(PREFERENCE, {}).get(kind)
    return DEFAULT[kind] if chosen is None else frozenset(chosen) & frozenset(CHANNELS)


def save_preferences(user: User, chosen: Mapping[str, Collection[str]]) -> None:
    kept = {
        kind: sorted(set(chosen.get(kind, ())) & set(CHANNELS)) for kind in NotificationKind.values
    }
    user.prefer(**{PREFERENCE: kept})


def is_mail_on() -> bool:
    return bool(settings.EMAIL_HOST)
