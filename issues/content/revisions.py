"""Freeze tests into revisions by content: equal content is one revision."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Max, prefetch_related_objects

from evalhub.llm.content.content_parts import without_alt
from evalhub.values.digest import digest
from issues.content.conversation import request_messages
from issues.content.test_content import SHOWN
from issues.models import FrozenCriterion, JudgeTemplate, Revision, Test
from issues.rubrics.criterion_content import columns_of
from issues.rubrics.scales import BINARY, Scale, from_json
from issues.rubrics.scoring import WHOLE_TEST


def content_of(test: Test) -> dict[str, Any]:
    """Return everything that a candidate and a judge are shown, as JSON."""
    return {
        **{name: getattr(test, name) for name in SHOWN},
        "criteria": [criterion.as_content() for criterion in test.criteria.all()],
        "pass_threshold": pass_threshold(test),
        "pass_rule": scale_of(test.template).rule.value,
    }


def scale_of(template: JudgeTemplate | None) -> Scale:
    """Return a template's scale; without a template a test passes or fails."""
    return scale_in(template.scale if template else None)


def scale_in(stored: dict[str, Any] | None) -> Scale:
    """Return the scale in a template's column; None without a template."""
    return from_json(stored) if stored else BINARY


def pass_threshold(test: Test) -> float:
    """Return the pass threshold: the test's own, else its template's."""
    own = test.pass_threshold
    return scale_of(test.template).threshold if own is None else own


def asked_digest(content: dict[str, Any]) -> str:
    """Return the digest of a candidate's input, as a run without a system prompt sends it."""
    messages = request_messages(content["messages"], content["context"])
    return digest({"messages": without_alt(messages), "tools": content["tools"]})


def full_digest(content: dict[str, Any], template: JudgeTemplate | None) -> str:
    """Return the digest of the input and of everything that affects judging."""
    judged_by = [template.family, template.version] if template else None
    return digest({**content, "template": judged_by})


@transaction.atomic
def freeze(tests: Iterable[Test]) -> dict[int, Revision]:
    """Return the current revision of each test by test id, creating missing ones.

    The tests' rows are locked, so that simultaneous launches never create one twice.
    """
    tests = list(tests)
    prefetch_related_objects(tests, "criteria")
    ids = sorted({test.pk for test in tests})
    list(Test.objects.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk").only("pk"))
    wanted = {
        test.pk: (content := content_of(test), full_digest(content, test.template))
        for test in tests
    }
    known = _known_revisions(wanted)
    numbers = _last_numbers(list(wanted))
    missing = [
        Revision(
            test=test,
            number=numbers.get(test.pk, 0) + 1,
            content=wanted[test.pk][0],
            template=test.template,
            pass_threshold=wanted[test.pk][0]["pass_threshold"],
            pass_rule=wanted[test.pk][0]["pass_rule"],
            asked_digest=asked_digest(wanted[test.pk][0]),
            digest=wanted[test.pk][1],
        )
        for test in tests
        if test.pk not in known
    ]
    Revision.objects.bulk_create(missing)
    FrozenCriterion.objects.bulk_create(
        row for revision in missing for row in _frozen_criteria(revision)
    )
    return known | {revision.test_id: revision for revision in missing}


def _frozen_criteria(revision: Revision) -> Iterator[FrozenCriterion]:
    """Return a row for the test as a whole, and one for each criterion."""
    yield FrozenCriterion(revision=revision, key=WHOLE_TEST)
    for order, content in enumerate(revision.content["criteria"], 1):
        yield FrozenCriterion(revision=revision, order=order, **columns_of(content))


def _known_revisions(wanted: dict[int, tuple[dict[str, Any], str]]) -> dict[int, Revision]:
    digests = {test_id: text for test_id, (_, text) in wanted.items()}
    candidates = Revision.objects.filter(test_id__in=digests, digest__in=set(digests.values()))
    return {r.test_id: r for r in candidates if r.digest == digests[r.test_id]}


def _last_numbers(test_ids: list[int]) -> dict[int, int]:
    rows = Revision.objects.filter(test_id__in=test_ids).values("test_id")
    return dict(rows.annotate(last=Max("number")).values_list("test_id", "last"))
