"""The figures that a site's reports show, for comparing them before and after a migration."""

import json
import sys
from itertools import pairwise
from typing import Any

import django


def figures() -> dict[str, Any]:
    """Return the facts of every run's report, and of each run against the model's run before."""
    from django.test import Client

    from evalhub.models import User
    from runs.models import Run

    client = Client(HTTP_HOST="localhost")
    client.force_login(User.objects.get(username="reader"))

    def facts(path: str) -> Any:
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, (path, answer.content)
        return {name: fact["value"] for name, fact in answer.json()["facts"].items()}

    runs = list(Run.objects.order_by("model_name", "release", "pk"))
    pairs = [pair for pair in pairwise(runs) if len({run.variant_key for run in pair}) == 1]
    return {
        **{f"run {run.pk}": facts(f"runs/{run.pk}/report/") for run in runs},
        **{f"{a.pk}, {b.pk}": facts(f"reports/compare/?runs={a.pk},{b.pk}") for a, b in pairs},
    }


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps(figures(), indent=1, sort_keys=True))
