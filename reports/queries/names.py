"""Names of issues, and of the tags that they had when a run was launched."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from evalhub.fixed_query import fixed_query
from evalhub.values.many_numbers import Among
from issues.models import Issue
from runs.models import TagSet


def titles(issues: Collection[int]) -> dict[int, str]:
    """Return the title of each issue; one query."""
    return dict(_titles(issues))


def tag_names(sets: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return the tags of each of these sets; one query."""
    return {pk: tuple(names) for pk, names in _tags(sets)}


def all_tag_names() -> dict[int, tuple[str, ...]]:
    """Return the tags of each set that there is; one query."""
    return {pk: tuple(names) for pk, names in _all_tags()}


@fixed_query
def _titles(issues: Collection[int]) -> QuerySet[Any, Any]:
    return Issue.objects.filter(Among("pk", issues)).order_by().values_list("pk", "title")


@fixed_query
def _tags(sets: Collection[int]) -> QuerySet[Any, Any]:
    return TagSet.objects.filter(Among("pk", sets)).order_by().values_list("pk", "names")


@fixed_query
def _all_tags() -> QuerySet[Any, Any]:
    return TagSet.objects.order_by().values_list("pk", "names")
