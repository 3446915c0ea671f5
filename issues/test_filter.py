"""Filters of tests: the list of tests offers them, and living suites store them.

A filter is written as a query, such as "state=approved&tag=4", as in the address of the list.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.text import smart_split, unescape_string_literal

from evalhub.access.models import User
from evalhub.access.saved_filters import MAX_QUERY, saved_query
from issues.content import test_content
from issues.models import (
    Criterion,
    Issue,
    JudgeTemplate,
    LibraryCriterion,
    Origin,
    Tag,
    TagKind,
    Test,
)
from issues.models.test import TestQuerySet, TestState
from issues.tags import tagged

SEARCH = "q"
SEARCHED = ("issue__title", *test_content.SEARCHED, "criteria__text")
"""Where tests are searched for a text, besides their number."""
NO_FILTERS = ("o", "_facets")
"""Parameters of the list that leave out no test."""
ME, NOBODY = "me", "nobody"

Choices = Iterable[tuple[object, str]]


class FilterRefused(ValidationError):
    """Why a query filters no tests."""


@dataclass(frozen=True)
class Condition:
    """One condition of a filter, of tests or of issues.

    Attributes:
        choices: Its values with their labels, as they are now.
        narrow: Leaves those of the rows that have the value, one of its choices.
        is_person: Its values are users; `ME` is whoever filters.
        reads_texts: It is about what a test says or its rubric holds.
        is_linked_only: Lists offer it only where a link has set it.
    """

    name: str
    title: str
    choices: Callable[[], Choices]
    narrow: Callable[[Any, str], Any]
    _: KW_ONLY
    is_person: bool = False
    reads_texts: bool = False
    is_linked_only: bool = False


@dataclass(frozen=True)
class TestFilter:
    """Conditions that a test must meet, by name, and a text that it must contain as `SEARCH`."""

    __test__ = False

    values: Mapping[str, str]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.words)

    @property
    def query(self) -> str:
        return urlencode(self.values)

    @property
    def tests(self) -> TestQuerySet:
        """The tests that match now.

        Sealed ones, whose texts only some users may read, are never found by their texts.
        """
        tests: TestQuerySet = Test.objects.all()
        for condition in CONDITIONS:
            if condition.name in self.values:
                tests = condition.narrow(tests, self.values[condition.name])
        if SEARCH in self.values:
            tests = search(tests, self.values[SEARCH])
        reads_texts = {SEARCH, *(one.name for one in CONDITIONS if one.reads_texts)}
        return tests.filter(sealed=False) if reads_texts & self.values.keys() else tests


def read_filter(text: str, *, by: User | None = None) -> TestFilter:
    """Read a query, or the whole address of the filtered list.

    Args:
        by: The user meant by `ME` in it.

    Raises:
        FilterRefused: It filters nothing, is too long, or names an unknown condition or value.
    """
    sent = QueryDict(saved_query(text.strip().rpartition("?")[2])).dict()
    values = {name: str(value) for name, value in sent.items() if name not in NO_FILTERS}
    if not values:
        raise FilterRefused("Nothing is filtered: filter the list of tests, then copy its address.")
    words, unknown = [], [f"filter {n!r}" for n in values if n not in (*BY_NAME, SEARCH)]
    for condition in CONDITIONS:
        if condition.is_person and by is not None and values.get(condition.name) == ME:
            values[condition.name] = str(by.pk)
    for condition in CONDITIONS:
        if (value := values.get(condition.name)) is None:
            continue
        labels = {str(key): label for key, label in condition.choices()}
        if value in labels:
            words.append(f"{condition.title}: {labels[value]}")
        else:
            unknown.append(f"{condition.title} {value!r}")
    if unknown:
        raise FilterRefused(f"The list of tests has no {', '.join(unknown)}.")
    words += [f"text: “{values[SEARCH]}”"] if SEARCH in values else []
    found = TestFilter(values, tuple(words))
    if len(found.query) > MAX_QUERY:
        raise FilterRefused(f"The filter has {len(found.query)} characters, more than {MAX_QUERY}.")
    return found


def search(tests: TestQuerySet, text: str) -> TestQuerySet:
    """Leave the tests that contain each word or quoted phrase, or have it as their number."""
    condition = Q()
    for word in smart_split(text):
        if word[0] in "\"'" and word[0] == word[-1] and len(word) > 1:
            word = unescape_string_literal(word)
        contains = Q(pk=word) if word.isdecimal() else Q()
        for field in SEARCHED:
            contains |= Q(**{f"{field}__icontains": word})
        condition &= contains
    return tests.filter(pk__in=Test.objects.filter(condition).order_by().values("pk"))


# Conditions --------------------------------------------------------------------------------------


def _equal(field: str) -> Callable[[TestQuerySet, str], TestQuerySet]:
    return lambda tests, value: tests.filter(**{field: value})


def tag_conditions(carriers: Callable[[QuerySet[Tag]], QuerySet[Any]]) -> tuple[Condition, ...]:
    """Return a condition for each kind of tags: carriers have the tag or one below it."""

    def with_tag(rows: Any, value: str) -> Any:
        tags = Tag.objects.filter(Q(pk=value) | Q(parent=value))
        return rows.filter(pk__in=carriers(tags).order_by().values("pk"))

    def choices(kind: TagKind) -> Callable[[], Choices]:
        return lambda: Tag.objects.filter(kind=kind).values_list("pk", "name")

    return (
        Condition("domain", "domain", choices(TagKind.DOMAIN), with_tag),
        Condition("task_type", "task type", choices(TagKind.TASK_TYPE), with_tag),
        Condition("tag", "other tag", choices(TagKind.OTHER), with_tag),
    )


def _templates() -> Choices:
    templates = JudgeTemplate.objects.only("title", "version")
    return ((template.pk, str(template)) for template in templates)


def author_condition(model: type[Issue | Test]) -> Condition:
    def authors() -> Choices:
        rows = model.objects.filter(author__isnull=False).order_by().values("author")
        people = User.objects.filter(pk__in=rows).order_by("username")
        return people.values_list("pk", "username")

    return Condition("author", "author", authors, _equal("author"), is_person=True)


def assignee_condition(field: str, title: str) -> Condition:
    def assignees() -> Choices:
        people = User.objects.filter(issues__isnull=False).distinct().order_by("username")
        return ((NOBODY, NOBODY), *people.values_list("pk", "username"))

    def assigned_to(rows: Any, value: str) -> Any:
        return rows.filter(**{field: None if value == NOBODY else value})

    return Condition("assignee", title, assignees, assigned_to, is_person=True)


def _library() -> Choices:
    return LibraryCriterion.objects.values_list("key", "name")


def _with_copy_of(tests: TestQuerySet, value: str) -> TestQuerySet:
    """Leave tests with a copy of a library criterion."""
    copies = Criterion.objects.filter(library_key=value).order_by().values("test")
    return tests.filter(pk__in=copies)


CONDITIONS = (
    Condition("state", "state", lambda: TestState.choices, _equal("state")),
    *tag_conditions(lambda tags: Test.objects.filter(tagged(tags))),
    Condition("template", "template", _templates, _equal("template")),
    Condition("origin", "origin", lambda: Origin.choices, _equal("origin")),
    Condition("sealed", "sealed", lambda: ((1, "yes"), (0, "no")), _equal("sealed")),
    assignee_condition("issue__assignee", "issue assignee"),
    author_condition(Test),
    Condition(
        "library",
        "library criterion",
        _library,
        _with_copy_of,
        reads_texts=True,
        is_linked_only=True,
    ),
)
BY_NAME = {condition.name: condition for condition in CONDITIONS}
