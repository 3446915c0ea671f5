"""Overrides: what annotators made of the judges' outcomes, over all runs."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from evalhub.display.formatting import counted
from evalhub.display.outcomes import OUTCOMES
from evalhub.models import User
from reports.documents.document import Document, Fact
from reports.documents.fields import models_field
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.overrides.override_tables import (
    BY_ANNOTATORS,
    annotators_table,
    listed_note,
    results_table,
    steps_table,
)
from reports.overrides.query import overrides_of, reviewers_of, reviews_of
from reports.overrides.rule import ALL, CONFIRMED, OVERTURNED, Reviews, step
from reports.queries.periods import ALL_TIME, PeriodField, period_words, since_of
from runs.models import HumanEvaluation, Result, Run, Suite

SHOWN = [
    (OVERTURNED, "Overturned"),
    (CONFIRMED, "Confirmed"),
    (ALL, "All reviewed"),
    *(
        (
            step(judges, humans),
            f"From {OUTCOMES[judges].label.lower()} to {OUTCOMES[humans].label.lower()}",
        )
        for judges in BY_ANNOTATORS
        for humans in BY_ANNOTATORS
    ),
]


class OverridesForm(ReportForm):
    """Filters of the page; runs are given by their IDs."""

    period = PeriodField(initial=ALL_TIME)
    shown = forms.ChoiceField(label="Results listed", choices=SHOWN, initial=OVERTURNED)
    annotator = forms.ModelChoiceField(
        User.objects.filter(pk__in=HumanEvaluation.objects.order_by().values("annotator"))
        .only("username")
        .order_by("username"),
        to_field_name="username",
        empty_label="All annotators",
    )
    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )
    models = models_field()
    run = forms.ModelChoiceField(
        Run.objects.only("label", "model_name"),
        label="Run number",
        widget=forms.NumberInput(attrs={"min": 1, "placeholder": "All runs"}),
    )


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Count reviewed results from what to what and by annotator, and list them."""
    since = since_of(filters["period"], reading.reader)
    results = _results(filters, since)
    reviews = reviews_of(results)
    shown = reviews.matching(filters["shown"])
    about = " of " + str(filters["run"]) if filters["run"] else ""

    state = {
        **filters,
        "annotator": filters["annotator"] and filters["annotator"].username,
        "models": list(filters["models"] or ()),
    }

    def url(**changes: Any) -> str:
        return page_url("overrides", **{**state, **changes})

    return Document(
        title=f"Reviewed and overturned results{about}",
        sentences=tuple(_sentences(reviews, filters, since)),
        facts=tuple(_facts(reviews, url)),
        tables=(
            steps_table(reviews, lambda one: url(shown=one)),
            results_table(
                dict(SHOWN)[filters["shown"]],
                shown,
                lambda some: overrides_of(some, reading.reader),
                note=listed_note(len(shown), len(reviews)),
                empty=f"None of {counted(len(reviews), 'reviewed result')}: choose other results."
                if reviews
                else "Open a result that you doubt, and enter your verdict.",
            ),
            annotators_table(reviewers_of(results, reviews), lambda who: url(annotator=who)),
        ),
    )


def _results(filters: Mapping[str, Any], since: datetime | None) -> QuerySet[Result]:
    """Return the results that fit the filters; annotator and period are those of one verdict."""
    results: QuerySet[Result] = Result.objects.order_by()
    if filters["run"]:
        results = results.filter(run=filters["run"])
    if filters["suite"]:
        results = results.filter(run__suite=filters["suite"])
    if filters["models"]:
        results = results.filter(run__language_model__in=list(filters["models"]))
    verdicts = HumanEvaluation.objects.filter(result=OuterRef("pk")).order_by()
    if filters["annotator"]:
        verdicts = verdicts.filter(annotator=filters["annotator"])
    if since is not None:
        verdicts = verdicts.filter(created_at__gte=since)
    return results.filter(Exists(verdicts)) if filters["annotator"] or since else results


def _sentences(
    reviews: Reviews, filters: Mapping[str, Any], since: datetime | None
) -> Iterator[str]:
    by = f", by {filters['annotator']}" if filters["annotator"] else ""
    when = "" if since is None else f", {period_words(since)}"
    yield f"{reviews.sentence.removesuffix('.')}{by}{when}."
    if reviews:
        yield (
            "Annotators often choose answers that they doubt, so this is not the error rate of "
            "the judges: Judge reliability measures that on answers drawn at random."
        )


def _facts(reviews: Reviews, url: Callable[..., str]) -> Iterator[Fact]:
    for name, shown, n in (
        ("reviewed", ALL, len(reviews)),
        ("overturned", OVERTURNED, reviews.overturned),
        ("confirmed", CONFIRMED, reviews.confirmed),
    ):
        note = "" if shown == ALL else f"of {len(reviews):,} reviewed"
        yield Fact(name, name.capitalize(), n, "count", note, url(shown=shown))


OVERRIDES = Page(
    key="overrides",
    title="Human overrides",
    question="What did people override, and why?",
    summary="Results that annotators reviewed and overturned: from what to what, who and why.",
    form=OverridesForm,
    build=build,
)
