"""The page that confirms a decision on a release."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from unfold.widgets import UnfoldAdminTextareaWidget

from evalhub.admin_site.pages import current_user
from evalhub.refusals import Refused
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.documents.rendering import needs, page
from reports.models.release_decision import ReleaseAct
from reports.releases.decisions import DECIDE, decide, needs_reason
from reports.releases.query import releases_report
from reports.releases.release_tables import headline, line_sentence
from runs.models import Release

VERBS = {ReleaseAct.SHIPPED: "Ship", ReleaseAct.HELD: "Hold"}


class ReasonForm(forms.Form):
    reason = forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), required=False)


@needs(DECIDE)
def decide_release(request: HttpRequest, pk: int, act: str) -> HttpResponse:
    """Show what is concluded of the release; on POST, record the decision with it."""
    if act not in ReleaseAct.values:
        raise Http404
    release = get_object_or_404(Release, pk=pk)
    by, back = current_user(request), page_url("releases", release=release.name)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            decide(release, act, form.cleaned_data["reason"], by=by)
        except Refused as refused:
            form.add_error("reason", str(refused))
        else:
            messages.success(request, f"Recorded: {release} {act}.")
            return HttpResponseRedirect(back)
    report = releases_report(Reading(by), release=release.name)
    form.fields["reason"].required = needs_reason(report, act)
    sentences = [headline(report), "Nobody can change or delete this record."]
    return page(
        request,
        "evalhub/confirm.html",
        f"{VERBS[ReleaseAct(act)]} {release}?",
        sentences=filter(None, sentences),
        rows=[line_sentence(line, report) for line in report.lines if line.change],
        form=form,
        button=VERBS[ReleaseAct(act)],
        danger=needs_reason(report, act),
        back_url=back,
    )
