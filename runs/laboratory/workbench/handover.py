"""Products of a workbench: draft tests, a template draft, and examples for judges."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from evalhub.history import save_signed
from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.lifecycle import new_version, shown_by
from issues.models import (
    Issue,
    JudgeTemplate,
    LibraryCriterion,
    TemplateExample,
    TemplateState,
    Test,
)
from issues.models.test import Author
from issues.rubrics.criterion_content import columns_of
from issues.rubrics.editing import add_rows
from issues.rubrics.library.entries import current_criteria, entry_from_criterion
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import WHOLE_TEST
from issues.triage.actions import taking_issue
from runs.laboratory.workbench.judges import point_of, setup_of
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.requests import case_of
from runs.laboratory.workbench.rows import keys_of

REASON = "Made in the workbench"

# Tests --------------------------------------------------------------------------------------------


@transaction.atomic
def tests_of(rows: Sequence[BenchRow], issue: Issue, *, by: User) -> list[Test]:
    """Create draft tests of rows, with the workbench's criteria.

    An answer that is expected to fail becomes the flagged one. One that is expected to pass becomes
    the reference where the row has none. Rows with equal input become one test.

    Raises:
        Refused: A row has no input, or the issue is deprecated.
    """
    issue = taking_issue(issue)
    groups: dict[str, list[BenchRow]] = {}
    for row in rows:
        if not row.messages:
            raise Refused([f"Row {row.place} has no input. Enter one first."])
        groups.setdefault(str([row.messages, row.context]), []).append(row)
    return [_test_of(group, issue, by) for group in groups.values()]


def _test_of(rows: Sequence[BenchRow], issue: Issue, by: User) -> Test:
    bench, first = rows[0].workbench, rows[0]
    scale = from_json(bench.scale)
    good = [row.answer for row in rows if _should_pass(bench, row, scale)]
    bad = [row.answer for row in rows if _should_pass(bench, row, scale) is False]
    template = bench.source if not bench.criteria else None
    is_usable = template is not None and template.state == TemplateState.PUBLISHED
    test = Test(
        issue=issue,
        messages=first.messages,
        context=first.context,
        reference=first.reference or next(iter(good), ""),
        reference_by=Author.HUMAN,
        flagged_answer=next(iter(bad), ""),
        guidelines=first.guidelines or bench.guidelines,
        template=template if is_usable else None,
        sealed=any(t.sealed for t in (bench.test, *(row.test for row in rows)) if t is not None),
        note=f"From the workbench “{bench}”.",
        author=by,
    )
    test.full_clean(exclude=["author"])
    save_signed(test, by, REASON)
    criteria = [columns_of(content) | {"order": n} for n, content in enumerate(bench.criteria, 1)]
    add_rows(test, criteria, by=by, reason=REASON)
    return test


def _should_pass(bench: Workbench, row: BenchRow, scale: Scale) -> bool | None:
    """Tell whether the row's answer is expected to pass; None where nobody has said so."""
    expected = [row.expected.get(key, "") for key in keys_of(bench)]
    options = [scale.option_of(label) if label else None for label in expected]
    if bench.criteria or len(options) != 1 or options[0] is None:
        return None
    return scale.passes(options[0].value)


# Template -----------------------------------------------------------------------------------------


@transaction.atomic
def save_draft(bench: Workbench, *, by: User, title: str = "") -> JudgeTemplate:
    """Save prompt and scale as a template draft: the workbench's own, else a new one.

    It follows the template that the prompt comes from as its next version, or starts a family with
    this title.

    Raises:
        Refused: The template has another draft already.
    """
    draft = bench.draft
    if draft is not None and draft.state != TemplateState.DRAFT:
        bench.source, bench.draft, draft = draft, None, None
    if draft is None:
        source = None if title else bench.source
        draft = new_version(source, by=by) if source else _first(title or bench.name)
    draft.text, draft.scale, draft.reply_form = bench.text, bench.scale, bench.reply_form
    for name, is_shown in shown_by(bench.text).items():
        setattr(draft, name, is_shown)
    draft.full_clean()
    save_signed(draft, by, "Saved from the workbench")
    bench.draft = draft
    bench.save()
    return draft


def _first(title: str) -> JudgeTemplate:
    """Return a new draft of a family of its own."""
    base = slugify(title)[:70] or "workbench"
    known = set(JudgeTemplate.objects.values_list("family", flat=True))
    names = [base, *(f"{base}-{n}" for n in range(2, len(known) + 3))]
    family = next(name for name in names if name not in known)
    return JudgeTemplate(family=family, title=title[:120])


# Examples -----------------------------------------------------------------------------------------


@transaction.atomic
def use_as_example(row: BenchRow, *, by: User) -> TemplateExample:
    """Show the row to judges as an example: from then on it is not judged.

    Raises:
        Refused: It lacks an expected option, or its test is sealed.
    """
    bench = row.workbench
    keys = keys_of(bench)
    key = next((key for key in keys if row.expected.get(key)), None)
    if key is None:
        raise Refused(["Set the expected option first: judges learn it from the example."])
    if len([k for k in keys if row.expected.get(k)]) > 1:
        raise Refused(["An example is about one criterion: expect an option of one only."])
    if sealed := [test for test in (row.test, bench.test) if test is not None and test.sealed]:
        words = f"Test {sealed[0].pk} is sealed: as an example, every prompt would show it."
        raise Refused([words])
    draft = save_draft(bench, by=by)
    case = case_of(setup_of(bench), row)
    text = next((c["text"] for c in bench.criteria if c["key"] == key), "")
    example = TemplateExample(
        template=draft,
        test=row.test,
        order=draft.examples.count() + 1,
        input=case.input if row.messages else "",
        output=case.output,
        reference=row.reference,
        guidelines=case.content["guidelines"],
        criterion=text if key != WHOLE_TEST else "",
        option=row.expected[key],
    )
    if problems := example.problems():
        raise Refused(list(problems.values()))
    example.save()
    row.example = example
    row.save(update_fields=["example"])
    return example


@transaction.atomic
def use_as_row(row: BenchRow) -> None:
    """Take the row's example out of the template draft, so that the row is for judging.

    Raises:
        Refused: The template was published with it.
    """
    example = row.example
    if example is None:
        return
    if example.template.state != TemplateState.DRAFT:
        raise Refused([f"{example.template} is published with this example, and keeps it."])
    example.delete()
    row.example = None
    row.save(update_fields=["example"])


# Library ------------------------------------------------------------------------------------------


@transaction.atomic
def save_to_library(bench: Workbench, *, by: User) -> list[LibraryCriterion]:
    """Save the criteria that the library lacks as entries of it, and return them.

    Rows of no sealed test with an expected option become the passing and the failing example.

    Raises:
        Refused: There is none, it comes from a sealed test, or is not valid in the library.
    """
    if bench.test is not None and bench.test.sealed:
        raise Refused([f"Test {bench.test_id} is sealed. Its criteria stay in it."])
    known = set(current_criteria().values_list("question", flat=True))
    own = [content for content in bench.criteria if content["text"] not in known]
    if not own:
        raise Refused(["Every criterion here is in the library, or there is none. Add one first."])
    return [_entry(bench, content, by) for content in own]


def _entry(bench: Workbench, content: Mapping[str, Any], by: User) -> LibraryCriterion:
    point, scale = point_of(content), from_json(bench.scale)
    # A higher value is better in the library: a fault gets its inverted levels there.
    options = None if point.is_inverted or point.check_name else scale
    examples: dict[str, dict[str, str]] = {}
    for row in bench.rows.exclude(test__sealed=True) if options else ():
        option = scale.option_of(row.expected.get(content["key"], ""))
        if option is not None and row.answer.strip():
            role = "passing" if scale.passes(option.value) else "failing"
            texts = {"input": row.input or "", "answer": row.answer, "context": row.context}
            examples.setdefault(role, {**texts, "option": option.label})
    return entry_from_criterion(point, by=by, scale=options, examples=examples)
