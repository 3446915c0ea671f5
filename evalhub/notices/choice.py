"""Of what a person wants to be told, and where."""

from collections.abc import Collection, Mapping

from django.conf import settings

from evalhub.access.models import User
from evalhub.notices.models import NoticeKind

HERE, MAIL = "here", "mail"
WAYS = {HERE: "on the site", MAIL: "by e-mail"}
DEFAULT: Mapping[str, frozenset[str]] = {
    NoticeKind.RUN_FINISHED: frozenset({HERE}),
    NoticeKind.REGRESSION: frozenset({HERE, MAIL}),
    NoticeKind.ASSIGNED: frozenset({HERE, MAIL}),
    NoticeKind.SENT_BACK: frozenset({HERE, MAIL}),
}
PREFERENCE = "notices"


def ways_of(person: User, kind: str) -> frozenset[str]:
    """Where a person is told of events of a kind: what they chose, else the default."""
    chosen = person.preferences.get(PREFERENCE, {}).get(kind)
    return DEFAULT[kind] if chosen is None else frozenset(chosen) & frozenset(WAYS)


def choose(person: User, chosen: Mapping[str, Collection[str]]) -> None:
    """Keep where the person wants to be told, kind by kind."""
    kept = {kind: sorted(set(chosen.get(kind, ())) & set(WAYS)) for kind in NoticeKind.values}
    person.preferences = {**person.preferences, PREFERENCE: kept}
    person.save(update_fields=["preferences"])


def is_mail_on() -> bool:
    """Whether the operator set up sending of e-mail."""
    return bool(settings.EMAIL_HOST)
