from typing import Any

from django.http import HttpRequest

from reports.queries.dashboard import dashboard_of

TEMPLATE = "reports/dashboard.html"


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the admin's first page shows; who may see no runs sees the plain list of tables."""
    if not (request.user.has_perm("runs.view_run") and request.user.has_perm("issues.view_issue")):
        return context
    return {
        **context,
        "title": "Dashboard",
        "dashboard_template": TEMPLATE,
        "dashboard": dashboard_of(),
    }
