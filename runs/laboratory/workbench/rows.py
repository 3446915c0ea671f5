"""Rows of a workbench: typed, from a file, from results and tests."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, QuerySet

from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.prompts import turn_text
from issues.models import Test
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.tasks import judged_answer_of
from runs.laboratory.workbench.models import BenchRow, RowJudgment, Workbench
from runs.laboratory.workbench.row_files import MAX_NAME, TEXTS
from runs.limits import MAX_WORKBENCH_ROWS
from runs.models import HAS_ANSWER, Result

CHANGED = (
    "Somebody else changed this row. Copy your text, reload the page, and enter it again if it is "
    "still needed."
)


def keys_of(bench: Workbench) -> list[str]:
    """Return the criteria's keys that a person gives expectations for; [""]: the whole answer."""
    return [c["key"] for c in bench.criteria if not c.get("check")] or [WHOLE_TEST]


@transaction.atomic
def add_rows(bench: Workbench, contents: Iterable[Mapping[str, Any]]) -> list[BenchRow]:
    """Append rows.

    Args:
        contents: Fields of `BenchRow` by name; others get defaults.

    Raises:
        Refused: There would be too many.
    """
    Workbench.objects.select_for_update().get(pk=bench.pk)
    found = list(contents)
    known = bench.rows.count()
    if known + len(found) > MAX_WORKBENCH_ROWS:
        raise Refused(
            [
                f"A workbench may have {MAX_WORKBENCH_ROWS} rows: this one has {known}, so "
                f"{len(found)} more do not fit. Delete rows, or use another workbench."
            ]
        )
    last = bench.rows.aggregate(last=Max("place"))["last"] or 0
    rows = [BenchRow(workbench=bench, place=n, **each) for n, each in enumerate(found, last + 1)]
    return BenchRow.objects.bulk_create(rows)


def rows_from_results(bench: Workbench, results: QuerySet[Result], user: User) -> list[BenchRow]:
    """Append the answers of results that this user may read; those without an answer are left out.

    What judges or people said of them is not taken: a row's expectation is given anew.
    """
    readable: Any = results.filter(HAS_ANSWER, test__in=Test.objects.readable_by(user))
    found = []
    related = ("answer", "revision", "run", "test")
    for result in readable.select_related(*related).order_by("pk"):
        case, content = judged_answer_of(result, result.run.system_prompt), result.revision.content
        *turns, answer = map(turn_text, case.turns)
        messages = content["messages"]
        if result.run.system_prompt:
            messages = [{"role": "system", "content": result.run.system_prompt}, *messages]
        texts = {name: content[name] for name in ("context", "reference", "guidelines")}
        found.append(
            {"messages": messages, "turns": turns, "answer": answer, **texts}
            | {"answered_by": str(result.run)[:MAX_NAME]}
            | {"test_id": result.test_id, "result": result}
        )
    return add_rows(bench, found)


def rows_of_test(test: Test, options: Mapping[bool, str]) -> list[dict[str, Any]]:
    """Return a test's reference and flagged answer as rows.

    Args:
        options: The option expected of an answer that passes, and of one that fails; {} if that
            would be a guess, as for single criteria.
    """
    common = {
        "messages": test.messages,
        "context": test.context,
        "reference": test.reference,
        "guidelines": test.guidelines,
        "test_id": test.pk,
    }
    known = ((test.reference, True), (test.flagged_answer, False))
    rows = [
        {**common, "answer": text, "expected": {WHOLE_TEST: options[good]} if options else {}}
        for text, good in known
        if text.strip()
    ]
    return rows or [common]


@transaction.atomic
def change_row(row: BenchRow, sent: Mapping[str, Any], *, seen: int) -> None:
    """Change the texts of a row that were sent; a conversation of several turns stays as it is.

    Raises:
        Refused: Somebody else changed it since version `seen`.
        ValidationError: A text cannot be stored.
    """
    locked = BenchRow.objects.select_for_update().get(pk=row.pk)
    if locked.version != seen:
        raise Refused([CHANGED])
    for name in TEXTS:
        if name in sent:
            setattr(row, name, str(sent[name]).replace("\r\n", "\n"))
    if "input" in sent and locked.input is not None:
        text = str(sent["input"]).replace("\r\n", "\n")
        row.messages = [{"role": "user", "content": text}] if text.strip() else []
    row.version = locked.version + 1
    row.full_clean(exclude=["workbench", "test", "result", "draft", "example"])
    row.save()


def expect(row: BenchRow, key: str, option: str, *, options: Iterable[str]) -> None:
    """Set the option that a person expects; "" for none.

    Raises:
        ValidationError: There is no such criterion, or the scale has no such option.
    """
    if key not in keys_of(row.workbench):
        raise ValidationError("This criterion is gone. Reload the page.")
    if option and option not in options:
        raise ValidationError(f"The scale has no option {option!r}. Reload the page.")
    expected = {name: label for name, label in row.expected.items() if name != key}
    row.expected = {**expected, key: option} if option else expected
    row.save(update_fields=["expected"])


@transaction.atomic
def duplicate_row(row: BenchRow) -> BenchRow:
    """Append a copy with its judgments: it is asked again only where it is changed."""
    (copy,) = add_rows(row.workbench, [_fields_of(row)])
    copy_judgments({row.pk: copy})
    return copy


@transaction.atomic
def duplicate_bench(bench: Workbench, user: User) -> Workbench:
    """Copy a workbench, with the rows that this user may read, as the user's own.

    The template draft stays with the original.
    """
    rows = list(BenchRow.objects.readable_by(user).filter(workbench=bench, example=None))
    copy = Workbench.objects.get(pk=bench.pk)
    copy.pk, copy.owner, copy.is_shared, copy.draft = None, user, False, None
    copy._state.adding = True
    copy.name = f"{bench.name[:140]} (copy)"
    copy.save()
    copies = add_rows(copy, [_fields_of(row) for row in rows])
    copy_judgments({row.pk: new for row, new in zip(rows, copies, strict=True)})
    return copy


def _fields_of(row: BenchRow) -> dict[str, Any]:
    copied = ("messages", "turns", *TEXTS, "expected", "intended", "test_id", "result_id")
    return {name: getattr(row, name) for name in copied}


def copy_judgments(copies: Mapping[int, BenchRow]) -> None:
    found = list(RowJudgment.objects.filter(row__in=copies))
    for judgment in found:
        judgment.row = copies[judgment.row_id]
        judgment.pk, judgment.cost_usd, judgment.call = None, None, None
        judgment._state.adding = True
    RowJudgment.objects.bulk_create(found)
