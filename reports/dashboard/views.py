"""The admin's first page, and which of its cards a person sees."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import current_user
from reports.dashboard import card_choices as home
from reports.dashboard.cards import Home
from reports.documents.reading import Reading
from reports.documents.rendering import needs
from reports.report_views import COMPUTE

TEMPLATE = "reports/dashboard/page.html"


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the admin's first page shows; who may see no runs sees the plain list of tables."""
    if not (request.user.has_perm("runs.view_run") and request.user.has_perm("issues.view_issue")):
        return context
    shown = Home(Reading(current_user(request), computes=COMPUTE in request.GET))
    return {
        **context,
        "title": "Dashboard",
        "dashboard_template": TEMPLATE,
        "home": shown,
        "dashboard": shown.dashboard,
    }


@require_POST
@needs("runs.view_run")
def choose_cards(request: HttpRequest) -> HttpResponse:
    """Keep which cards the person sees, in the order in which they come; or show all again."""
    if "reset" in request.POST:
        home.reset(current_user(request))
        messages.success(request, "All cards are shown.")
    else:
        home.choose(current_user(request), request.POST.getlist("card"))
        messages.success(request, "Your cards are kept.")
    return HttpResponseRedirect(reverse("admin:index"))
