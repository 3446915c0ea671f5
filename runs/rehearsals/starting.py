"""Beginning a rehearsal: people's verdicts are copied, and their tests put into two halves."""

import secrets
from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction

from evalhub.models import User
from issues.judge_templates import new_version
from issues.models import JudgeTemplate, TemplateExample, TemplateState
from runs.rehearsals.halves import Drawn, halves
from runs.rehearsals.models import Half, Precedent, Rehearsal
from runs.rehearsals.verdicts import Chosen, Decided, Found, verdicts_of

LEAST = 8
"""With fewer verdicts of people there is nothing to learn from one half and prove on the other."""

SEED_BITS = 31


class RehearsalRefused(ValueError):
    """It cannot be done; `problems` say why, and what to do."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


def start(chosen: Chosen, *, by: User | None, seed: int | None = None) -> Rehearsal:
    """Copy what people and the judge said, and put each test in a half.

    Tests that were in a half in an earlier rehearsal of the template's family stay in it.

    Args:
        seed: What decides the halves; None: any.

    Raises:
        RehearsalRefused: Too few people's verdicts, or all of one test.
    """
    found = verdicts_of(chosen)
    if problem := too_few(chosen, found):
        raise RehearsalRefused(problem)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    taught = examples_of(chosen.template)
    drawn = halves(
        drawn_from(found.decided),
        seed=seed,
        kept=kept_halves(chosen.template.family),
        taught=taught,
    )
    with transaction.atomic():
        rehearsal = Rehearsal.objects.create(
            template=chosen.template,
            judge=chosen.judge,
            suite=chosen.suite,
            tag=chosen.tag,
            people=chosen.people,
            seed=seed,
            left_out=dict(found.left_out),
            created_by=by,
        )
        Precedent.objects.bulk_create(
            _precedent(rehearsal, one, drawn[one.test], one.test in taught) for one in found.decided
        )
    return rehearsal


def too_few(chosen: Chosen, found: Found) -> str:
    """Why a rehearsal would show nothing, in words; "" where it can begin."""
    n, tests = len(found.decided), len({one.test for one in found.decided})
    if n >= LEAST and tests >= 2:
        return ""
    there = f"{n} answer{'s' if n != 1 else ''} of {tests} test{'s' if tests != 1 else ''}"
    disputed = found.left_out["disputed"]
    more = f" {disputed} more are disputed: settle them." if disputed else ""
    return (
        f"People decided on {there} that {chosen.judge} judged with {chosen.template}: at least "
        f"{LEAST} answers of 2 tests are needed.{more} Have people judge more, or filter less."
    )


def drawn_from(decided: Iterable[Decided]) -> list[Drawn]:
    """The tests that are to be put in halves."""
    by_test: dict[int, list[Decided]] = defaultdict(list)
    for one in decided:
        by_test[one.test].append(one)
    return [
        Drawn(
            test,
            frozenset(one.asked for one in rows),
            2 * sum(not one.passed for one in rows) >= len(rows),
        )
        for test, rows in by_test.items()
    ]


def kept_halves(family: str) -> dict[int, str]:
    """In which half each test was in earlier rehearsals of this family; once seen is seen."""
    rows = Precedent.objects.filter(rehearsal__template__family=family).order_by()
    kept: dict[int, str] = {}
    for test, half in rows.values_list("result__test_id", "half").distinct():
        if half == Half.SEEN or test not in kept:
            kept[test] = half
    return kept


def examples_of(template: JudgeTemplate) -> set[int]:
    """Tests whose answers are shown to the judges of this version."""
    rows = TemplateExample.objects.filter(template=template, test__isnull=False)
    return set(rows.values_list("test_id", flat=True))


def _precedent(rehearsal: Rehearsal, one: Decided, half: str, is_taught: bool) -> Precedent:
    return Precedent(
        rehearsal=rehearsal,
        result_id=one.result,
        criterion_id=one.criterion,
        judging_id=one.judging,
        half=half,
        value=one.value,
        passed=one.passed,
        judge_value=one.judge_value,
        judge_passed=one.judge_passed,
        is_taught=is_taught,
    )


# Its draft ---------------------------------------------------------------------------------------


@transaction.atomic
def draft_of(rehearsal: Rehearsal, *, by: User | None) -> JudgeTemplate:
    """The family's draft; a copy of its last published version where there is none."""
    family = JudgeTemplate.objects.filter(family=rehearsal.template.family).order_by("-version")
    draft = family.filter(state=TemplateState.DRAFT).first()
    if draft is None:
        last = family.filter(state=TemplateState.PUBLISHED).first()
        draft = new_version(last or rehearsal.template, by=by)
    if rehearsal.draft_id != draft.pk:
        Rehearsal.objects.filter(pk=rehearsal.pk).update(draft=draft)
        rehearsal.draft = draft
    return draft


def has_draft(rehearsal: Rehearsal) -> bool:
    """Whether what is to follow the version in use is still being written."""
    return rehearsal.draft is not None and rehearsal.draft.state == TemplateState.DRAFT
