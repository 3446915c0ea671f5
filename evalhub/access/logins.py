"""Limits on failed logins, by django-axes: by name and network, by name alone, by network alone."""

import time
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

from evalhub.access.client_addresses import client_network
from evalhub.access.models import User
from evalhub.access.request_limits import is_over
from evalhub.limits import LOGIN_COOL_OFF_S, LOGIN_FAILURES, MAX_LOCKOUT_NOTICES

ENTERED_AT = "password_entered_at"


def note_password(request: HttpRequest, **kwargs: Any) -> None:
    """Note that the session's user has just entered their password; a receiver of logins."""
    request.session[ENTERED_AT] = time.time()


def entered_at(request: HttpRequest) -> float:
    """Return when the session's user entered their password, in seconds since 1970; 0: never."""
    return float(request.session.get(ENTERED_AT, 0))


class LoginHandler(AxesDatabaseHandler):
    """Locks by several rules, each with a limit of its own."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Return the failures of the rule nearest to its limit, in units of AXES_FAILURE_LIMIT."""
        rules = zip(self.get_user_attempts(request, credentials), LOGIN_FAILURES, strict=True)
        sums = [
            (attempts.aggregate(n=Sum("failures_since_start"))["n"] or 0, limit)
            for attempts, limit in rules
        ]
        return max(n * settings.AXES_FAILURE_LIMIT // limit for n, limit in sums)

    def reset_user_attempts(
        self, request: HttpRequest, credentials: dict[str, Any] | None = None
    ) -> int:
        """Forget the failures of this name from this network only.

        Otherwise somebody with an account could guess other names' passwords without end.
        """
        own, *_ = self.filter_user_attempts(request, credentials)
        return int(own.filter(attempt_time__gte=get_cool_off_threshold(request)).delete()[0])


def notify_of_lock(request: HttpRequest, username: str | None, **kwargs: Any) -> None:
    """Notify the admins once per network, name and cool-off time; a receiver of axes' signal."""
    from evalhub.notifications.security import notify_admins

    user = User.objects.filter(username=username or "").first()
    # A name that is none may be a password in the wrong field.
    name, network = (f"“{user}”" if user else "an unknown username"), client_network(request)
    now = f"{network}-{user.pk if user else 0}-{int(time.time() // LOGIN_COOL_OFF_S)}"
    if is_over(f"lock-{now}", 1, LOGIN_COOL_OFF_S) or is_over(
        "lock-notices", MAX_LOCKOUT_NOTICES, LOGIN_COOL_OFF_S
    ):
        return
    notify_admins(
        f"lock-out {now}",
        f"Login locked for {name} from {network}",
        f"After too many wrong passwords, logins for {name} from {network} are refused for "
        f"{LOGIN_COOL_OFF_S // 60} minutes. `manage.py axes_reset` unlocks them earlier.",
        "",
    )
