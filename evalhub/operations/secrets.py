"""Keys and webhook secrets that this process would need and does not have."""

import os
from collections.abc import Iterator

from django.conf import settings

from evalhub.llm.models import LanguageModel
from evalhub.llm.security.key_policy import bindings, key_problem
from evalhub.notifications.models import Webhook
from evalhub.operations.findings import Finding, error, ok, warning


def keys() -> Iterator[Finding]:
    """Yield a finding for each active model or webhook whose secret is missing, or may not go."""
    try:
        bindings(settings.EVALHUB_KEYS)
    except ValueError as wrong:
        yield error("keys", f"EVALHUB_KEYS: {wrong}.")
        return
    active = LanguageModel.objects.active()
    named = [(f"Model {one}", name, one.api_base) for one in active for name in one.key_variables]
    hooks = Webhook.objects.filter(is_active=True)
    named += [(f"Webhook {one}", one.secret_env, one.url) for one in hooks]
    good = 0
    for user, variable, url in named:
        if problem := key_problem(variable, url):
            yield error("keys", f"{user}: {problem}")
        elif not os.environ.get(variable, "").strip():
            hint = f"Set {variable} for the workers; if it is, run doctor in their environment."
            yield warning("keys", f"{user}: {variable} is not set here.", hint)
        else:
            good += 1
    if good or not named:
        yield ok("keys", f"{good} of {len(named)} named keys are set and bound to their hosts.")
