"""What rehearsals add to the page of a judge template: the way to one, and what came of it."""

from typing import Any, NamedTuple

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from evalhub.acts import Act
from evalhub.statistics.interval import Interval
from evalhub.wording import DASH, percent, score
from issues.admin.template import JudgeTemplateAdmin
from issues.models import JudgeTemplate, TemplateState
from runs.rehearsals.models import Half, Publication, Rehearsal
from runs.rehearsals.telling import estimate

admin.site.unregister(JudgeTemplate)


class Kept(NamedTuple):
    """Figures of one half as they were kept, in words."""

    name: str
    half: str
    kappa: str
    accuracy: str
    recall: str
    n: str
    difference: str


@admin.register(JudgeTemplate)
class JudgeTemplateAdminWithRehearsals(JudgeTemplateAdmin):
    """What was known of a version when it was published, and how to make a better one."""

    change_form_outer_after_template = "rehearsals/published.html"

    def acts(self, request: HttpRequest, template: JudgeTemplate) -> list[Act]:
        acts = super().acts(request, template)
        if template.state == TemplateState.DRAFT:
            rehearsal = Rehearsal.objects.filter(draft=template).first()
            if rehearsal and request.user.has_perm("rehearsals.view_rehearsal"):
                acts.append(Act("Its rehearsal", rehearsal.get_absolute_url(), is_link=True))
        elif request.user.has_perm("rehearsals.add_rehearsal"):
            begin = reverse("admin:rehearsals_rehearsal_add")
            acts.append(Act("Improve …", f"{begin}?template={template.pk}", is_link=True))
        return acts

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row = kwargs.get("obj")
        publication = row and Publication.objects.filter(template=row).select_related(
            "rehearsal__judge__language_model", "rehearsal__judge__template", "attempt", "by"
        )
        found = publication.first() if publication else None
        more = {"publication": found, "kept": kept_figures(found) if found else []}
        return super().render_change_form(request, {**context, **more}, *args, **kwargs)


def kept_figures(publication: Publication) -> list[Kept]:
    """What was measured of it, and of the version before, on both halves."""
    parties = [publication.figures.get(name) for name in ("tried", "in_use")]
    return [
        _kept(party["name"], half, party["halves"][half.value])
        for party in parties
        if party
        for half in Half
    ]


def _kept(name: str, half: Half, figures: dict[str, Any]) -> Kept:
    against = figures["difference"]
    return Kept(
        name=name,
        half=half.label,
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
