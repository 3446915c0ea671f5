"""The rows of an invented ledger that exist before its runs: issues, tests, suites, models."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray
from simple_history.utils import bulk_create_with_history

from evalhub.models import LanguageModel, User
from issues.content.revisions import freeze
from issues.models import (
    Feedback,
    FeedbackState,
    Issue,
    IssueState,
    JudgeTemplate,
    Rating,
    Revision,
    Severity,
    Tag,
    TagKind,
    TemplateState,
    Test,
    TestState,
)
from issues.rubrics.scales import FIVE_CLASSES, as_json
from runs.models import Judge, Jury, Suite
from tests.sample_data import vocabulary
from tests.sample_data.plan import SPAN_DAYS, Plan

PEOPLE = 3
GRADED_EVERY = 4
"""Every so many issues, one is judged with five grades instead of pass or fail."""

SEALED_EVERY, HEAVY_EVERY = 50, 20
BATCH_SIZE = 1000


@dataclass(frozen=True)
class Content:
    """The rows, each list in the order of the plan's numbers.

    `suite_revisions` are the revisions of all tests before and after some of them changed.
    """

    issues: list[Issue]
    tests: list[Test]
    suite_revisions: tuple[list[Revision], list[Revision]]
    suites: list[Suite]
    models: list[LanguageModel]
    juries: list[Jury]
    analyst: LanguageModel
    people: list[User]

    @cached_property
    def tag_names(self) -> list[list[str]]:
        """Of each issue, sorted."""
        return [sorted(tag.name for tag in issue.tags.all()) for issue in self.issues]


def graded_tests(plan: Plan) -> NDArray[np.bool_]:
    return np.asarray(plan.issue_of_test % GRADED_EVERY == 0)


def make_content(plan: Plan) -> Content:
    issues = _issues(plan)
    tests = _tests(plan, issues)
    return Content(
        issues=issues,
        tests=tests,
        suite_revisions=_suite_revisions(plan, tests),
        suites=_suites(plan, tests),
        models=list(_models()),
        juries=_juries(),
        analyst=LanguageModel.objects.create(**_scripted(vocabulary.ANALYST)),
        people=[_person(number) for number in range(PEOPLE)],
    )


# Issues ------------------------------------------------------------------------------------------


def begin_of(plan: Plan) -> datetime:
    """When the ledger was begun."""
    return plan.size.until - timedelta(days=SPAN_DAYS + 30)


def _issues(plan: Plan) -> list[Issue]:
    begin = begin_of(plan)
    rows = [_issue(plan, number) for number in range(plan.issues)]
    bulk_create_with_history(
        rows, Issue, batch_size=BATCH_SIZE, default_change_reason="Invented", default_date=begin
    )
    Issue.objects.update(created_at=begin, updated_at=begin)
    tags = _tags()
    Issue.tags.through.objects.bulk_create(
        Issue.tags.through(issue=issue, tag=tags[name])
        for number, issue in enumerate(rows)
        for name in _tag_names(plan, number)
    )
    _feedback(plan, rows)
    return list(Issue.objects.order_by("pk").prefetch_related("tags"))


def _issue(plan: Plan, number: int) -> Issue:
    title = vocabulary.issue_title(number)
    return Issue(
        title=title,
        description=f"Seen in answers to customers. {title}.",
        generic_statement=f"{title.partition(' in ')[0]} somewhere.",
        state=IssueState.APPROVED,
        severity=Severity.values[number % 4],
    )


def _tags() -> dict[str, Tag]:
    parents = {
        name: Tag(name=name, kind=TagKind.DOMAIN) for name in set(vocabulary.PARENTS.values())
    }
    for name in sorted(parents):
        parents[name].save()
    kinds = (
        (TagKind.DOMAIN, vocabulary.DOMAINS),
        (TagKind.TASK_TYPE, vocabulary.TASKS),
        (TagKind.OTHER, vocabulary.OTHERS),
    )
    tags = {
        name: Tag(name=name, kind=kind, parent=parents.get(vocabulary.PARENTS.get(name, "")))
        for kind, names in kinds
        for name in names
    }
    for tag in tags.values():
        tag.save()
    return tags


def _tag_names(plan: Plan, issue: int) -> Iterator[str]:
    """A domain, a task type, and for every third issue another tag."""
    yield vocabulary.DOMAINS[issue * len(vocabulary.DOMAINS) // plan.issues]
    yield vocabulary.TASKS[issue % len(vocabulary.TASKS)]
    if issue % 3 == 0:
        yield vocabulary.OTHERS[issue // 3 % len(vocabulary.OTHERS)]


def _feedback(plan: Plan, issues: list[Issue]) -> None:
    """Two pieces for every other issue, and some that wait for triage."""
    named: list[Issue | None] = [issue for issue in issues[::2] for _ in range(2)]
    rows = [
        Feedback(
            prompt=f"A customer's question, number {number + 1}",
            answer="An answer that was not what the customer needed.",
            rating=Rating.DOWN,
            comment="This is wrong.",
            model=vocabulary.MODELS[number % len(vocabulary.MODELS)].name,
            source="invented",
            state=FeedbackState.ACCEPTED if issue else FeedbackState.NEW,
            issue=issue,
        )
        for number, issue in enumerate([*named, *([None] * 5)])
    ]
    Feedback.objects.bulk_create(rows, batch_size=BATCH_SIZE)
    Feedback.objects.update(created_at=begin_of(plan))


# Tests -------------------------------------------------------------------------------------------


def _tests(plan: Plan, issues: list[Issue]) -> list[Test]:
    whole, graded = _templates()
    rows = [
        Test(
            issue=issues[issue],
            messages=_messages(test, issue, is_changed=False),
            reference="The rule is quoted and the date is checked.",
            guidelines="The answer quotes the rule that applies and promises nothing.",
            template=whole if issue % GRADED_EVERY else graded,
            weight=2.0 if test % HEAVY_EVERY == 0 else 1.0,
            state=TestState.APPROVED,
            sealed=test % SEALED_EVERY == 0,
        )
        for test, issue in enumerate(plan.issue_of_test.tolist())
    ]
    made = Test.objects.bulk_create(rows, batch_size=BATCH_SIZE)
    Test.objects.update(created_at=begin_of(plan), updated_at=begin_of(plan))
    return made


def _messages(test: int, issue: int, *, is_changed: bool) -> list[dict[str, Any]]:
    subject = vocabulary.SUBJECTS[issue % len(vocabulary.SUBJECTS)]
    return [{"role": "user", "content": vocabulary.prompt(test, subject, is_changed=is_changed)}]


def _templates() -> tuple[JudgeTemplate, JudgeTemplate]:
    """The first of the built-in ones, and one that asks the same with five grades."""
    whole = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED).order_by("pk")[0]
    graded = JudgeTemplate.objects.create(
        family="invented-five-grades",
        title="Five grades (invented)",
        text=whole.text,
        state=TemplateState.PUBLISHED,
        scale=as_json(FIVE_CLASSES),
        published_at=timezone.now(),
    )
    return whole, graded


def _suite_revisions(plan: Plan, tests: list[Test]) -> tuple[list[Revision], list[Revision]]:
    """The tests frozen as they were first, and again after the text of some has changed."""
    before = freeze(tests)
    for number in sorted(plan.changed_tests):
        issue = int(plan.issue_of_test[number])
        tests[number].messages = _messages(number, issue, is_changed=True)
    Test.objects.bulk_update(
        [tests[n] for n in sorted(plan.changed_tests)], ["messages"], batch_size=BATCH_SIZE
    )
    after = freeze(tests)
    Revision.objects.filter(number=1).update(created_at=begin_of(plan))
    changed_at = plan.released_at(plan.new_revision_from)
    Revision.objects.filter(number=2).update(created_at=changed_at)
    return [before[test.pk] for test in tests], [after[test.pk] for test in tests]


def _suites(plan: Plan, tests: list[Test]) -> list[Suite]:
    """The main one with every test, and those on topics; the last is tagged as a mere test."""
    names = ["Everything", *(f"Topic {number}" for number in range(1, plan.topics + 1))]
    suites = [Suite.objects.create(name=name, description="Invented.") for name in names]
    suites[-1].tags.add(Tag.objects.get_or_create(name="test")[0])
    for number, suite in enumerate(suites[1:]):
        suite.tags.add(Tag.objects.get(name=vocabulary.DOMAINS[number % len(vocabulary.DOMAINS)]))
    through = Suite.tests.through
    through.objects.bulk_create(
        (
            through(suite=suite, test=tests[test])
            for number, suite in enumerate(suites)
            for test in plan.tests_of(number).tolist()
        ),
        batch_size=BATCH_SIZE,
    )
    return suites


# Models, juries and people -----------------------------------------------------------------------


def _models() -> Iterator[LanguageModel]:
    for model in vocabulary.MODELS:
        yield LanguageModel.objects.create(
            developer=model.developer,
            family=model.family,
            input_usd_per_mtok=_usd(model.input_cents),
            output_usd_per_mtok=_usd(model.output_cents),
            **_scripted(model.name),
        )


def _scripted(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "litellm_model": f"invented/{name}",
        "is_scripted": True,
        "note": "Invented: it does not exist and cannot be called.",
    }


def _usd(cents: int | None) -> Decimal | None:
    return None if cents is None else Decimal(cents) / 100


def _juries() -> list[Jury]:
    """Two of three judges; the second has another one in the third place."""
    judges = [
        Judge.objects.given(LanguageModel.objects.create(**_scripted(name)))
        for name in vocabulary.JUDGES
    ]
    juries = [Jury.objects.create(name=name) for name in ("First panel", "Second panel")]
    juries[0].judges.set(judges[:3])
    juries[1].judges.set([judges[0], judges[1], judges[3]])
    return juries


def _person(number: int) -> User:
    """An annotator who cannot log in."""
    return User.objects.create_user(f"invented-annotator-{number + 1}", password=None)
