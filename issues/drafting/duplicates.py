"""Drafts that repeat one of their batch or a test of the issue: dropped, and counted."""

from collections.abc import Iterator

from evalhub.models import ItemState
from issues.judge_templates.prompts import conversation_text
from issues.models import Decision, Draft, Generation, Test
from issues.similarity.near_duplicates import Compared, near_duplicates


def drop_duplicates(batch: Generation) -> int:
    """Drop the open drafts that repeat an earlier one or a test; return their number.

    Within a batch only drafts of one target are compared: two options may differ by a word.
    """
    drafts = list(batch.drafts.filter(state=ItemState.DONE).exclude(decision=Decision.DROPPED))
    twins = near_duplicates([_compared(draft, draft.meant) for draft in drafts], [])
    tests = [one for test in _tests_of(batch) for one in _of_test(test)]
    twins |= near_duplicates([_compared(draft, "") for draft in drafts], tests) if tests else {}
    dropped = [
        draft for draft in drafts if draft.pk in twins and draft.decision == Decision.PROPOSED
    ]
    for draft in dropped:
        twin = twins[draft.pk]
        draft.decision = Decision.DROPPED
        draft.dropped_for = str(twin) if isinstance(twin, str) else f"draft {twin}"
    Draft.objects.bulk_update(dropped, ["decision", "dropped_for"])
    return len(dropped)


def _tests_of(batch: Generation) -> Iterator[Test]:
    """Return the tests of the issue, but none that was made from this batch.

    Nor a sealed one unless the batch is sealed too: a draft that is like it would give it away.
    """
    if batch.issue_id:
        made = batch.drafts.exclude(test=None).values("test")
        tests = Test.objects.filter(issue=batch.issue_id).exclude(pk__in=made)
        is_sealed = batch.sources.filter(sealed=True).exists()
        yield from tests if is_sealed else tests.filter(sealed=False)


def _compared(draft: Draft, group: str) -> Compared:
    answer = "\n\n".join(filter(None, (draft.answer, draft.second_answer)))
    return Compared(draft.pk, group, (conversation_text(draft.messages), answer))


def _of_test(test: Test) -> Iterator[Compared]:
    asked = conversation_text(test.messages)
    for text in filter(str.strip, (test.reference, test.flagged_answer)):
        yield Compared(f"test {test.pk}", "", (asked, text))
    if not (test.reference + test.flagged_answer).strip():
        yield Compared(f"test {test.pk}", "", (asked, ""))
