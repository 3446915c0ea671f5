"""The buttons of a batch on its page: cancel, resume with a cost limit, retry failed items."""

from collections.abc import Mapping

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin
from evalhub.work import control
from evalhub.work.models import Batch


def limit_field(**kwargs: object) -> forms.DecimalField:
    """Return a form field for the cost limit of a batch; empty is no limit."""
    given = {
        "label": "Cost limit (USD)",
        "help_text": "Leave empty for no limit.",
        "required": False,
        "min_value": 0,
        "max_digits": 12,
        "decimal_places": 4,
    }
    return forms.DecimalField(**(given | kwargs))  # type: ignore[arg-type]


def controlled(
    admin: PageAdmin, request: HttpRequest, batch: Batch, messages: Mapping[str, str], back: str
) -> HttpResponse:
    """Do what the button "act" says, say what was done or why not, and return to the page `back`.

    Raises:
        Http404: There is no such button.
    """
    act = request.POST.get("act", "")
    with admin.refusals_shown(request):
        match act:
            case "cancel":
                control.cancel(batch)
            case "resume":
                limit = limit_field().clean(request.POST.get("cost_limit_usd"))
                control.resume(batch, cost_limit_usd=limit)
            case "retry_errors":
                control.retry_errors(batch)
            case _:
                raise Http404(f"There is no action {act!r}.")
        admin.say_done(request, messages[act])
    return HttpResponseRedirect(back)
