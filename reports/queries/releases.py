"""The newest releases that were run."""

from django.db.models import Min

from reports.limits import MAX_RELEASES
from runs.models import Run


def newest_releases() -> list[str]:
    """Return the newest releases by their first run, newest first; one query."""
    runs = Run.objects.exclude(release="").order_by().values_list("release")
    newest = runs.annotate(first=Min("created_at")).order_by("-first")[:MAX_RELEASES]
    return [release for release, _ in newest]
