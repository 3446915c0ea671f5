"""Drafts as plain rows, for pages of higher floors that show them beside other texts."""

from typing import NamedTuple

from evalhub.access.models import User
from evalhub.models import ItemState
from issues.drafting.decisions import prompt_of
from issues.models import Decision, Draft, Generation


class DraftRow(NamedTuple):
    """A draft as a row. `expected` is what a person said, "" until then."""

    draft: int
    input: str
    context: str
    answer: str
    second_answer: str
    meant: str
    label: str
    expected: str


def rows_of(generation: Generation, *, reader: User) -> list[DraftRow]:
    """Return the written drafts of a batch that this user may read, without dropped ones."""
    drafts = Draft.objects.readable_by(reader).filter(generation=generation, state=ItemState.DONE)
    return [
        DraftRow(
            draft.pk,
            prompt_of(draft),
            draft.context,
            draft.answer,
            draft.second_answer,
            draft.meant,
            draft.label,
            draft.expected,
        )
        for draft in drafts.exclude(decision__in=(Decision.DROPPED, Decision.REJECTED))
    ]
