"""Start of a judge tuning: copy human verdicts and divide their tests into two splits."""

import secrets
from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction

from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.lifecycle import new_version
from issues.models import JudgeTemplate, TemplateState
from runs.laboratory.tuning.labelled_answers import (
    LabelledAnswer,
    LabelledAnswers,
    Selection,
    labelled_answers_of,
)
from runs.laboratory.tuning.models import LabelledExample, Split, Tuning
from runs.laboratory.tuning.splits import SampledTest, splits
from runs.limits import MIN_TUNING_VERDICTS
from runs.scoring.examples import taught_tests


def start(selection: Selection, *, by: User | None, seed: int | None = None) -> Tuning:
    """Copy the verdicts of annotators and judge, and assign each test to a split.

    Tests keep the split they had in earlier tunings of the template's family.

    Args:
        seed: Seed of the splits; None: random.

    Raises:
        Refused: Too few human verdicts, or all on one test.
    """
    found = labelled_answers_of(selection)
    if problem := too_few(selection, found):
        raise Refused([problem], field="")
    seed = secrets.randbits(31) if seed is None else seed
    taught = taught_tests([selection.template.pk])[selection.template.pk]
    drawn = splits(
        drawn_from(found.labelled),
        seed=seed,
        kept=kept_splits(selection.template.family),
        taught=taught,
    )
    with transaction.atomic():
        tuning = Tuning.objects.create(
            template=selection.template,
            judge=selection.judge,
            suite=selection.suite,
            tag=selection.tag,
            annotators=selection.annotators,
            seed=seed,
            left_out=dict(found.left_out),
            created_by=by,
        )
        LabelledExample.objects.bulk_create(
            _copy_of(one, tuning, split=drawn[one.test], is_example=one.test in taught)
            for one in found.labelled
        )
    return tuning


def _copy_of(
    one: LabelledAnswer, tuning: Tuning, *, split: str, is_example: bool
) -> LabelledExample:
    return LabelledExample(
        tuning=tuning,
        result_id=one.result,
        criterion_id=one.criterion,
        judge_run_id=one.judge_run,
        split=split,
        value=one.value,
        passed=one.passed,
        judge_value=one.judge_value,
        judge_passed=one.judge_passed,
        is_example=is_example,
    )


def too_few(selection: Selection, found: LabelledAnswers) -> str:
    """Return why the tuning cannot start, or ""."""
    n, tests = len(found.labelled), len({one.test for one in found.labelled})
    if n >= MIN_TUNING_VERDICTS and tests >= 2:
        return ""
    there = f"{n} answer{'s' if n != 1 else ''} of {tests} test{'s' if tests != 1 else ''}"
    disputed = found.left_out["disputed"]
    more = f" {disputed} more are disputed: resolve them." if disputed else ""
    return (
        f"{selection.judge} with {selection.template} has human verdicts on {there}; at least "
        f"{MIN_TUNING_VERDICTS} answers of 2 tests are needed.{more} Evaluate more answers, or "
        "remove filters."
    )


def drawn_from(labelled: Iterable[LabelledAnswer]) -> list[SampledTest]:
    """Return the tests to assign to splits."""
    by_test: dict[int, list[LabelledAnswer]] = defaultdict(list)
    for one in labelled:
        by_test[one.test].append(one)
    tests = []
    for test, rows in by_test.items():
        has_failed = 2 * sum(not one.passed for one in rows) >= len(rows)
        tests.append(SampledTest(test, frozenset(one.asked for one in rows), has_failed))
    return tests


def kept_splits(family: str) -> dict[int, str]:
    """Return each test's split in earlier tunings of this family; development wins."""
    rows = LabelledExample.objects.filter(tuning__template__family=family).order_by()
    kept: dict[int, str] = {}
    for test, split in rows.values_list("result__test_id", "split").distinct():
        if split == Split.DEVELOPMENT or test not in kept:
            kept[test] = split
    return kept


@transaction.atomic
def draft_of(tuning: Tuning, *, by: User | None) -> JudgeTemplate:
    """Return the family's draft; if there is none, create it from the last published version."""
    family = JudgeTemplate.objects.filter(family=tuning.template.family).order_by("-version")
    draft = family.filter(state=TemplateState.DRAFT).first()
    if draft is None:
        last = family.filter(state=TemplateState.PUBLISHED).first()
        draft = new_version(last or tuning.template, by=by)
    if tuning.draft_id != draft.pk:
        Tuning.objects.filter(pk=tuning.pk).update(draft=draft)
        tuning.draft = draft
    return draft


def has_draft(tuning: Tuning) -> bool:
    """Return whether the tuning has an unpublished draft."""
    return tuning.draft is not None and tuning.draft.state == TemplateState.DRAFT
