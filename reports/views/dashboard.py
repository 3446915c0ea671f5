"""The admin's first page, and which of its cards a person sees."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.pages import person
from reports.home import choice as home
from reports.home.cards import Home
from reports.pages.shell import Reading
from reports.views.pages import COMPUTE
from reports.views.shell import needs

TEMPLATE = "reports/dashboard.html"


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the admin's first page shows; who may see no runs sees the plain list of tables."""
    if not (request.user.has_perm("runs.view_run") and request.user.has_perm("issues.view_issue")):
        return context
    shown = Home(Reading(person(request), computes=COMPUTE in request.GET))
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
        home.reset(person(request))
        messages.success(request, "All cards are shown.")
    else:
        home.choose(person(request), request.POST.getlist("card"))
        messages.success(request, "Your cards are kept.")
    return HttpResponseRedirect(reverse("admin:index"))
