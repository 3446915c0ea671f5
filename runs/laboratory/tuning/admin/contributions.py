"""Judge tuning on the page of a judge template: its start, and the figures at publication."""

from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from evalhub.display.formatting import DASH, percent, score
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD
from issues.models import JudgeTemplate, TemplateState
from runs.laboratory.tuning.conclusions import estimate
from runs.laboratory.tuning.models import Publication, Split, Tuning


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
    publication = Publication.objects.filter(template=template).first()
    if publication is None:
        return ""
    rows = [
        _row(version["name"], split, version["splits"][split.value])
        for key in ("attempted", "in_use")
        if (version := publication.figures.get(key))
        for split in Split
    ]
    context = {"publication": publication, "rows": rows}
    return render_to_string("runs/laboratory/tuning/published.html", context, request)


def _row(name: str, split: Split, figures: dict[str, Any]) -> dict[str, str]:
    """Format the figures of one version on one split."""
    against = figures["difference"]
    return {
        "name": name,
        "split": split.label,
        "kappa": estimate(figures["kappa"], _interval(figures["kappa_interval"])),
        "accuracy": percent(figures["accuracy"]),
        "recall": percent(figures["recall"]),
        "n": f"{figures['n']:,}",
        "difference": _difference(against) if against else DASH,
    }


def _difference(against: dict[str, Any]) -> str:
    if against["kappa"] is None:
        return DASH
    interval = _interval(against["interval"])
    if interval is None:
        return f"{against['kappa']:+.2f}, not tested"
    between = f"95% {score(interval.low)} to {score(interval.high)}, {KAPPA_METHOD}"
    return f"{against['kappa']:+.2f} ({between}), {against['conclusion']}"


def _interval(bounds: list[float] | None) -> Interval | None:
    return Interval(*bounds) if bounds else None


contribute(Contribution(panel=panel_of_template, section=published_section), JudgeTemplate)
