"""Filters of tests: the list of tests offers them, and living suites store them.

A filter is written as a query, such as "state=approved&tag=4", as in the address of the list.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict
from django.utils.text import smart_split, unescape_string_literal

from evalhub.access.models import User
from evalhub.access.saved_filters import MAX_QUERY, saved_query
from issues import test_content
from issues.models import Criterion, JudgeTemplate, LibraryCriterion, Origin, Tag, TagKind, Test
from issues.models.test import TestQuerySet, TestState
from issues.tags import tagged

SEARCH = "q"
SEARCHED = ("issue__title", *test_content.SEARCHED, "criteria__text")
"""Where tests are searched for a text, besides their number."""
NO_FILTERS = ("o", "_facets")
"""Parameters of the list that leave out no test."""
ME, NOBODY = "me", "nobody"

Choices = Iterable[tuple[object, str]]


class FilterRefused(Exception):
    """Why a query filters no tests."""


@dataclass(frozen=True)
class Condition:
    """One condition of a filter.

    Attributes:
        choices: Its values with their labels, as they are now.
        narrow: Leaves those of the tests that have the value, one of its choices.
        is_person: Its values are users; `ME` is whoever filters.
        reads_texts: It is about what a test says or its rubric holds.
    """

    name: str
    title: str
    choices: Callable[[], Choices]
    narrow: Callable[[TestQuerySet, str], TestQuerySet]
    is_person: bool = False
    reads_texts: bool = False


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


def _tags(kind: TagKind) -> Callable[[], Choices]:
    return lambda: Tag.objects.filter(kind=kind).values_list("pk", "name")


def _with_tag(tests: TestQuerySet, value: str) -> TestQuerySet:
    """Leave tests with the tag or one below it: their own, or their issue's."""
    tags = Tag.objects.filter(Q(pk=value) | Q(parent=value))
    return tests.filter(pk__in=Test.objects.filter(tagged(tags)).order_by().values("pk"))


def _templates() -> Choices:
    templates = JudgeTemplate.objects.only("title", "version")
    return ((template.pk, str(template)) for template in templates)


def _authors() -> Choices:
    authors = Test.objects.filter(author__isnull=False).order_by().values("author")
    people = User.objects.filter(pk__in=authors).order_by("username")
    return people.values_list("pk", "username")


def _assignees() -> Choices:
    people = User.objects.filter(issues__isnull=False).distinct().order_by("username")
    return ((NOBODY, NOBODY), *people.values_list("pk", "username"))


def _assigned_to(tests: TestQuerySet, value: str) -> TestQuerySet:
    return tests.filter(issue__assignee=None if value == NOBODY else value)


def _library() -> Choices:
    return LibraryCriterion.objects.values_list("key", "name")


def _with_copy_of(tests: TestQuerySet, value: str) -> TestQuerySet:
    """Leave tests with a copy of a library criterion."""
    copies = Criterion.objects.filter(library_key=value).order_by().values("test")
    return tests.filter(pk__in=copies)


CONDITIONS = (
    Condition("state", "state", lambda: TestState.choices, _equal("state")),
    Condition("domain", "domain", _tags(TagKind.DOMAIN), _with_tag),
    Condition("task_type", "task type", _tags(TagKind.TASK_TYPE), _with_tag),
    Condition("tag", "other tag", _tags(TagKind.OTHER), _with_tag),
    Condition("template", "template", _templates, _equal("template")),
    Condition("origin", "origin", lambda: Origin.choices, _equal("origin")),
    Condition("sealed", "sealed", lambda: ((1, "yes"), (0, "no")), _equal("sealed")),
    Condition("assignee", "issue assignee", _assignees, _assigned_to, is_person=True),
    Condition("author", "author", _authors, _equal("author"), is_person=True),
    Condition("library", "library criterion", _library, _with_copy_of, reads_texts=True),
)
BY_NAME = {condition.name: condition for condition in CONDITIONS}
