"""Choices of the launch form, each with notes such as its number of tests or its judges."""

from collections.abc import Collection
from typing import Any, NamedTuple

from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from evalhub.admin_site.pages import row_number
from evalhub.models import LanguageModel
from issues.models import Issue, IssueState, Tag, Test, TestState
from issues.tags import tagged
from runs.limits import MAX_CHOICES
from runs.models import Jury, Suite
from runs.suites.suite_tests import read_suite


class Choice(NamedTuple):
    """A row to choose. `tests` is None unless it is a set of tests.

    `has_defaults`: choosing it may fill in other fields.
    """

    pk: int
    label: str
    is_chosen: bool
    tests: int | None = None
    notes: tuple[str, ...] = ()
    has_defaults: bool = False


class Choices(NamedTuple):
    """Listed choices, and the number of those that are not listed."""

    shown: list[Choice]
    hidden: int


RUNNABLE = Count(
    "tests",
    filter=Q(tests__state=TestState.APPROVED) & ~Q(tests__issue__state=IssueState.DEPRECATED),
    distinct=True,
)


def issue_choices(chosen: Collection[str]) -> Choices:
    """Return issues with runnable tests, by title."""
    issues = Issue.objects.active().annotate(runnable=RUNNABLE)
    return _sets(issues.filter(runnable__gt=0).order_by("title", "pk"), chosen)


def tag_choices(chosen: Collection[str]) -> Choices:
    """Return tags of runnable tests, their own or their issues'."""
    this = Tag.objects.filter(pk=OuterRef(OuterRef("pk")))
    tests = Test.objects.runnable().filter(tagged(this)).order_by()
    total = tests.values(one=Value(1)).annotate(n=Count("pk", distinct=True)).values("n")
    tags = Tag.objects.annotate(runnable=Coalesce(Subquery(total), 0))
    return _sets(tags.filter(runnable__gt=0).order_by("name"), chosen)


def suite_choices(chosen: Collection[str]) -> Choices:
    found = _sets(Suite.objects.annotate(runnable=RUNNABLE).order_by("name"), chosen)
    living = Suite.objects.exclude(filter="").in_bulk([choice.pk for choice in found.shown])
    for place, choice in enumerate(found.shown):
        if choice.pk in living:
            tests, words, _ = read_suite(living[choice.pk])
            notes = (f"living: {words}",)
            found.shown[place] = choice._replace(tests=tests.runnable().count(), notes=notes)
    return found


def _sets(rows: QuerySet[Any], chosen: Collection[str]) -> Choices:
    shown: list[Any] = list(rows[:MAX_CHOICES])
    hidden = rows.count() - len(shown) if len(shown) == MAX_CHOICES else 0
    if hidden:
        known, ids = {row.pk for row in shown}, map(row_number, chosen)
        shown += [row for row in rows.filter(pk__in=ids) if row.pk not in known]
    found = []
    for row in shown:
        has_defaults = bool(getattr(row, "defaults", None))
        found.append(_choice(row, chosen, tests=row.runnable, has_defaults=has_defaults))
    return Choices(found, hidden)


def _choice(row: Model, chosen: Collection[str], **rest: Any) -> Choice:
    return Choice(row.pk, str(row), str(row.pk) in chosen, **rest)


def model_choices(chosen: Collection[str]) -> Choices:
    found = []
    for model in LanguageModel.objects.active().order_by("name"):
        scripted = "scripted" if model.is_scripted else ""
        prices = "" if model.has_prices else "no prices"
        called = "HTTP application" if model.is_application else model.litellm_model
        notes = filter(None, (scripted, model.developer, called, prices))
        found.append(_choice(model, chosen, notes=tuple(notes)))
    return Choices(found, 0)


def jury_choices(chosen: Collection[str]) -> Choices:
    """Return the juries that can judge, and those chosen: their problem is said after sending."""
    found = []
    for jury in Jury.objects.with_judges().filter(is_active=True):
        can_judge = all(judge.language_model.is_active for judge in jury.judges.all())
        if not can_judge and str(jury.pk) not in chosen:
            continue
        notes = [judge.label for judge in jury.judges.all()]
        if jury.backup:
            notes.append(f"backup: {jury.backup.label}")
        found.append(_choice(jury, chosen, notes=tuple(notes)))
    return Choices(found, 0)
