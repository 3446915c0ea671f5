"""Home and the choice of its cards."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import current_user
from reports.dashboard.cards import Home, choose, drop, reset
from reports.documents.reading import COMPUTE, Reading
from reports.documents.rendering import needs
from reports.queries.periods import record_visit


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of Home; users without access to runs get the plain list of tables."""
    if not (request.user.has_perm("runs.view_run") and request.user.has_perm("issues.view_issue")):
        return context
    user = current_user(request)
    record_visit(user)
    home = Home(Reading(user, computes=COMPUTE in request.GET), request.GET.get("card", ""))
    return {
        **context,
        "title": "Home",
        "dashboard_template": "reports/dashboard/page.html",
        "home": home,
    }


@require_POST
@needs("runs.view_run")
def choose_cards(request: HttpRequest) -> HttpResponse:
    """Save the user's cards in the posted order, without one of them, or reset them."""
    if "reset" in request.POST:
        reset(current_user(request))
        messages.success(request, "Cards reset.")
    elif "drop" in request.POST:
        drop(current_user(request), request.POST["drop"])
        messages.success(request, "Closed. “Choose cards…” brings it back.")
    else:
        choose(current_user(request), request.POST.getlist("card"))
        messages.success(request, "Cards saved.")
    return HttpResponseRedirect(reverse("admin:index"))
