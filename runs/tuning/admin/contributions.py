"""Judge tuning on the page of a judge template: its start, and the figures at publication."""

from typing import Any, NamedTuple

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from evalhub.formatting import DASH, percent, score
from evalhub.statistics.interval import Interval
from issues.models import JudgeTemplate, TemplateState
from runs.tuning.conclusions import estimate
from runs.tuning.models import Publication, Split, Tuning


def panel_of_template(request: HttpRequest, template: Any) -> PanelPart:
    if template.state == TemplateState.DRAFT:
        tuning = Tuning.objects.filter(draft=template).first()
        if tuning and request.user.has_perm("tuning.view_tuning"):
            return PanelPart([Button("Judge tuning", tuning.get_absolute_url(), is_link=True)])
    elif request.user.has_perm("tuning.add_tuning"):
        url = f"{reverse('admin:tuning_tuning_add')}?template={template.pk}"
        return PanelPart([Button("Improve the judge …", url, is_link=True)])
    return PanelPart()


def published_section(request: HttpRequest, template: Any) -> str:
    """Render the figures at publication; "" for an unpublished version."""
    found = Publication.objects.filter(template=template).select_related(
        "tuning__judge__language_model", "tuning__judge__template", "attempt", "by"
    )
    publication = found.first()
    if publication is None:
        return ""
    shown = {"publication": publication, "kept": published_figures(publication)}
    return render_to_string("tuning/published.html", shown, request)


class PublishedFigures(NamedTuple):
    """Formatted figures of one split at publication."""

    name: str
    split: str
    kappa: str
    accuracy: str
    recall: str
    n: str
    difference: str


def published_figures(publication: Publication) -> list[PublishedFigures]:
    """Format the figures of this version and the one before it."""
    parties = [publication.figures.get(name) for name in ("attempted", "in_use")]
    return [
        _kept(party["name"], split, party["splits"][split.value])
        for party in parties
        if party
        for split in Split
    ]


def _kept(name: str, split: Split, figures: dict[str, Any]) -> PublishedFigures:
    against = figures["difference"]
    return PublishedFigures(
        name=name,
        split=split.label,
        kappa=estimate(figures["kappa"], _interval(figures["kappa_interval"])),
        accuracy=percent(figures["accuracy"]),
        recall=percent(figures["recall"]),
        n=f"{figures['n']:,}",
        difference=_difference(against) if against else DASH,
    )


def _difference(against: dict[str, Any]) -> str:
    if against["kappa"] is None:
        return DASH
    interval = _interval(against["interval"])
    between = f" ({score(interval.low)} to {score(interval.high)})" if interval else ""
    return f"{against['kappa']:+.2f}{between}, {against['conclusion']}"


def _interval(bounds: list[float] | None) -> Interval | None:
    return Interval(*bounds) if bounds else None


contribute(Contribution(panel=panel_of_template, section=published_section), JudgeTemplate)
