"""Beginning a rehearsal: people's verdicts are copied, and their tests put into two halves."""

import secrets
from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction

from evalhub.models import User
from issues.judge_templates.lifecycle import new_version
from issues.models import JudgeTemplate, TemplateExample, TemplateState
from runs.tuning.labelled_answers import Chosen, Found, LabelledAnswer, verdicts_of
from runs.tuning.models import LabelledExample, Split, Tuning
from runs.tuning.splits import SampledTest, splits

MIN_VERDICTS = 8
"""With fewer verdicts of people there is nothing to learn from one half and prove on the other."""

SEED_BITS = 31


class TuningRefused(ValueError):
    """It cannot be done; `problems` say why, and what to do."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


def start(chosen: Chosen, *, by: User | None, seed: int | None = None) -> Tuning:
    """Copy what people and the judge said, and put each test in a half.

    Tests that were in a half in an earlier rehearsal of the template's family stay in it.

    Args:
        seed: What decides the halves; None: any.

    Raises:
        RehearsalRefused: Too few people's verdicts, or all of one test.
    """
    found = verdicts_of(chosen)
    if problem := too_few(chosen, found):
        raise TuningRefused(problem)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    taught = examples_of(chosen.template)
    drawn = splits(
        drawn_from(found.labelled),
        seed=seed,
        kept=kept_splits(chosen.template.family),
        taught=taught,
    )
    with transaction.atomic():
        tuning = Tuning.objects.create(
            template=chosen.template,
            judge=chosen.judge,
            suite=chosen.suite,
            tag=chosen.tag,
            annotators=chosen.annotators,
            seed=seed,
            left_out=dict(found.left_out),
            created_by=by,
        )
        LabelledExample.objects.bulk_create(
            _labelled_example(tuning, one, drawn[one.test], one.test in taught)
            for one in found.labelled
        )
    return tuning


def too_few(chosen: Chosen, found: Found) -> str:
    """Why a rehearsal would show nothing, in words; "" where it can begin."""
    n, tests = len(found.labelled), len({one.test for one in found.labelled})
    if n >= MIN_VERDICTS and tests >= 2:
        return ""
    there = f"{n} answer{'s' if n != 1 else ''} of {tests} test{'s' if tests != 1 else ''}"
    disputed = found.left_out["disputed"]
    more = f" {disputed} more are disputed: settle them." if disputed else ""
    return (
        f"People decided on {there} that {chosen.judge} judged with {chosen.template}: at least "
        f"{MIN_VERDICTS} answers of 2 tests are needed.{more} Have people judge more, or filter "
        "less."
    )


def drawn_from(labelled: Iterable[LabelledAnswer]) -> list[SampledTest]:
    """The tests that are to be put in halves."""
    by_test: dict[int, list[LabelledAnswer]] = defaultdict(list)
    for one in labelled:
        by_test[one.test].append(one)
    return [
        SampledTest(
            test,
            frozenset(one.asked for one in rows),
            2 * sum(not one.passed for one in rows) >= len(rows),
        )
        for test, rows in by_test.items()
    ]


def kept_splits(family: str) -> dict[int, str]:
    """In which half each test was in earlier rehearsals of this family; once seen is seen."""
    rows = LabelledExample.objects.filter(tuning__template__family=family).order_by()
    kept: dict[int, str] = {}
    for test, split in rows.values_list("result__test_id", "split").distinct():
        if split == Split.DEVELOPMENT or test not in kept:
            kept[test] = split
    return kept


def examples_of(template: JudgeTemplate) -> set[int]:
    """Tests whose answers are shown to the judges of this version."""
    rows = TemplateExample.objects.filter(template=template, test__isnull=False)
    return set(rows.values_list("test_id", flat=True))


def _labelled_example(
    tuning: Tuning, one: LabelledAnswer, split: str, is_example: bool
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


# Its draft ---------------------------------------------------------------------------------------


@transaction.atomic
def draft_of(tuning: Tuning, *, by: User | None) -> JudgeTemplate:
    """The family's draft; a copy of its last published version where there is none."""
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
    """Whether what is to follow the version in use is still being written."""
    return tuning.draft is not None and tuning.draft.state == TemplateState.DRAFT
