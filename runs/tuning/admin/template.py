"""What rehearsals add to the page of a judge template: the way to one, and what came of it."""

from typing import Any, NamedTuple

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.formatting import DASH, percent, score
from evalhub.statistics.interval import Interval
from issues.admin.template.admin import JudgeTemplateAdmin
from issues.models import JudgeTemplate, TemplateState
from runs.tuning.conclusions import estimate
from runs.tuning.models import Publication, Split, Tuning

admin.site.unregister(JudgeTemplate)


class PublishedFigures(NamedTuple):
    """Figures of one half as they were kept, in words."""

    name: str
    split: str
    kappa: str
    accuracy: str
    recall: str
    n: str
    difference: str


@admin.register(JudgeTemplate)
class JudgeTemplateAdminWithTunings(JudgeTemplateAdmin):
    """What was known of a version when it was published, and how to make a better one."""

    change_form_outer_after_template = "tuning/published.html"

    def acts(self, request: HttpRequest, template: JudgeTemplate) -> list[Button]:
        acts = super().acts(request, template)
        if template.state == TemplateState.DRAFT:
            tuning = Tuning.objects.filter(draft=template).first()
            if tuning and request.user.has_perm("tuning.view_tuning"):
                acts.append(Button("Its rehearsal", tuning.get_absolute_url(), is_link=True))
        elif request.user.has_perm("tuning.add_tuning"):
            begin = reverse("admin:tuning_tuning_add")
            acts.append(Button("Improve …", f"{begin}?template={template.pk}", is_link=True))
        return acts

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row = kwargs.get("obj")
        publication = row and Publication.objects.filter(template=row).select_related(
            "tuning__judge__language_model", "tuning__judge__template", "attempt", "by"
        )
        found = publication.first() if publication else None
        more = {"publication": found, "kept": published_figures(found) if found else []}
        return super().render_change_form(request, {**context, **more}, *args, **kwargs)


def published_figures(publication: Publication) -> list[PublishedFigures]:
    """What was measured of it, and of the version before, on both halves."""
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
    told = f"{against['kappa']:+.2f}"
    between = f" ({score(interval.low)} to {score(interval.high)})" if interval else ""
    return f"{told}{between}, {against['verdict']}"


def _interval(bounds: list[float] | None) -> Interval | None:
    return Interval(*bounds) if bounds else None
