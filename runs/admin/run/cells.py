"""The cells of the list of runs that say more than one thing, written without templates."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import between, clip, count, counted, percent, score, usd
from runs.figures.run_figures import RunFigures
from runs.figures.run_labels import labels_of
from runs.models import Run
from runs.templatetags.rates import scored_badge

REASON_SHOWN = 80
NO_PRICES = ' title="Unknown: the model has no prices."'


def cell(name: str, run: Any) -> SafeString:
    """Return one cell of a run with its `figures`, in an element that a poll replaces."""
    written = WRITERS[name](run, run.figures)
    start = f'<div id="run-{run.pk}-{name}" data-cell="{name}" hx-swap-oob="true">'
    return mark_safe(f"{start}{written}</div>")


def _name(run: Run, figures: RunFigures) -> str:
    labels = ", ".join(labels_of(run, figures.current))
    link = f'<a class="eh-link rn-run-name" href="{escape(run.get_absolute_url())}">'
    return f"{link}{escape(run.label)}</a>{_small(labels)}"


def _progress(run: Run, figures: RunFigures) -> str:
    live = f'<input type="hidden" name="ids" value="{run.pk}" data-live-run>'
    state = f'<span class="rn-state rn-state--{figures.state}">{figures.state_label}</span>'
    ended = _ended(figures) if figures.total else ""
    reason = _reason(figures.reason) if figures.reason else ""
    return f"{live if figures.is_live else ''}{state}{ended}{reason}"


def _ended(figures: RunFigures) -> str:
    numbers = f"{count(figures.ended)}/{count(figures.total)}"
    shown = f' <span class="eh-muted eh-num">{numbers}</span>'
    if figures.ended == figures.total:
        return shown
    percents = figures.percent_done
    return (
        f'{shown} <span class="eh-progress" role="progressbar" aria-label="Finished results"'
        f' aria-valuenow="{percents:.0f}" aria-valuemin="0" aria-valuemax="100">'
        f'<span style="width: {percents:.1f}%"></span></span>'
    )


def _reason(reason: str) -> str:
    start = f' <small class="eh-muted rn-reason" title="{escape(reason)}">'
    return f"{start}{escape(clip(reason, REASON_SHOWN))}</small>"


def _pass_rate(run: Run, figures: RunFigures) -> str:
    rate, counts = figures.rate, figures.counts
    parts = [
        f'<strong class="eh-num">{percent(rate.share)}</strong>'
        f' <span class="eh-muted eh-num">{count(rate.passed)}/{count(rate.n)}</span>',
        scored_badge(rate),
    ]
    if rate.interval:
        mark = "" if rate.accounts_for_issues else "†"
        title = f"95% interval: {rate.method}"
        parts.append(_small(f"{between(rate.interval)}{mark}", title))
    if figures.score.n:
        title = f"Mean of {count(figures.score.n)} scores, weighted by test"
        parts.append(_small(f"score {score(figures.score.mean)}", title))
    if counts.unscored:
        parts.append(_small(f"{count(counts.unscored)} unscored"))
    if counts.error:
        parts.append(_small(counted(counts.error, "error")))
    return "".join(parts)


def _cost(run: Run, figures: RunFigures) -> str:
    unknown = NO_PRICES if figures.spent_usd is None else ""
    partial = _small("partial") if figures.is_cost_partial else ""
    limit = _small(f"of {usd(run.cost_limit_usd)}") if run.cost_limit_usd else ""
    return f'<span class="eh-num"{unknown}>{escape(usd(figures.spent_usd))}</span>{partial}{limit}'


def _small(text: str, title: str = "") -> str:
    """Write something beside a cell's figure; with a title, it is one too."""
    css = f'class="eh-muted eh-num" title="{title}"' if title else 'class="eh-muted"'
    return f"<small {css}>{escape(text)}</small>" if text else ""


WRITERS: Mapping[str, Callable[[Run, RunFigures], str]] = {
    "name": _name,
    "progress": _progress,
    "pass_rate": _pass_rate,
    "cost": _cost,
}
POLLED = ("progress", "pass_rate", "cost")
"""Cells that change while a run works."""
