from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.views.decorators.http import require_POST
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from evalhub.access.models import SavedFilter
from evalhub.access.saved_filters import address_of, filters_of, save, saved_query
from evalhub.admin_site.pages import bounded_text, current_user


class NameForm(forms.Form):
    name = forms.CharField(max_length=80, widget=UnfoldAdminTextInputWidget)
    replace = forms.BooleanField(
        required=False,
        label="Replace the filter with this name",
        widget=UnfoldBooleanWidget,
    )


def shown_on(request: HttpRequest) -> dict[str, Any] | None:
    """Return the saved filters of the requested list; None on other pages."""
    match = request.resolver_match
    page = match.view_name if match else ""
    address = address_of(page)
    if not address or not request.user.is_authenticated or "_popup" in request.GET:
        return None
    query = saved_query(request.GET.urlencode())
    saved = [
        (row.pk, row.name, f"{address}?{row.query}", row.query == query)
        for row in filters_of(current_user(request), page)
    ]
    return {"saved": saved, "page": page, "query": query}


def save_view(site: UnfoldAdminSite, request: HttpRequest) -> HttpResponse:
    """Save the filters of a list by POST; show the form again with its errors."""
    page, query = request.POST.get("page", ""), request.POST.get("query", "")
    if not address_of(page):
        raise Http404(f"There is no list called {bounded_text(page, 100)!r}.")
    form = NameForm(request.POST)
    if form.is_valid():
        try:
            row = save(current_user(request), page, query=query, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"Filter “{row}” saved.")
            return HttpResponseRedirect(f"{address_of(page)}?{row.query}")
    shown = {
        **site.each_context(request),
        "title": "Save filters",
        "form": form,
        "hidden": [("page", page), ("query", query)],
        "button": "Save",
        "back_url": f"{address_of(page)}?{saved_query(query)}",
    }
    return TemplateResponse(request, "evalhub/confirm.html", shown)


@require_POST
def delete_view(request: HttpRequest, key: int) -> HttpResponse:
    row = get_object_or_404(SavedFilter, pk=key, user=current_user(request))
    query = saved_query(request.POST.get("query", ""))
    row.delete()
    messages.success(request, f"Filter “{row}” deleted.")
    return HttpResponseRedirect(f"{address_of(row.page) or '/'}?{query}")
