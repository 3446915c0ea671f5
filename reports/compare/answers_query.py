"""Two answers to one test, side by side, with a word diff."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from evalhub.display.word_diff import Diff, Part, word_diff
from evalhub.llm.content.content_parts import all_images
from evalhub.models import User
from issues.models import Revision
from runs.models import Answer, Result
from runs.result_list.listing import prompt_of


@dataclass(frozen=True)
class Answered:
    """A result with its text; `parts` None: the reader may not read it."""

    result: Result
    parts: tuple[Part, ...] | None
    prompt: tuple[Part, ...] | None
    images: list[dict[str, Any]]


@dataclass(frozen=True)
class AnswerPair:
    """Two results of one test.

    Attributes:
        is_cut: A text was too long to compare to its end.
        others: The pairs of the other repeats: (number, first result, second result).
    """

    first: Answered
    second: Answered
    same_prompt: bool
    is_cut: bool
    others: tuple[tuple[int, int, int], ...]

    @property
    def is_sealed(self) -> bool:
        return self.first.parts is None


def answer_pair(first: Result, second: Result, reader: User) -> AnswerPair:
    """Return both answers as far as the reader may read them; a constant number of queries."""
    ids = [first.pk, second.pk]
    readable = Result.objects.filter(pk__in=ids).readable_by(reader).values_list("pk", flat=True)
    answered = Answer.objects.filter(pk__in=ids).readable_by(reader).values_list("pk", "text")
    answers = _diff(dict.fromkeys(readable, "") | dict(answered), ids)
    revisions = [first.revision_id, second.revision_id]
    rows: QuerySet[Revision] = Revision.objects.filter(pk__in=revisions).readable_by(reader)
    messages = {row.pk: row.content["messages"] for row in rows}
    prompts = _diff({pk: prompt_of(said) for pk, said in messages.items()}, revisions)

    def images(result: Result) -> list[dict[str, Any]]:
        return all_images(messages.get(result.revision_id, ()))

    return AnswerPair(
        first=Answered(first, answers and answers.first, prompts and prompts.first, images(first)),
        second=Answered(
            second, answers and answers.second, prompts and prompts.second, images(second)
        ),
        same_prompt=prompts is None or all(not part.sign for part in prompts.second),
        is_cut=answers is not None and answers.is_cut,
        others=_other_repeats(first, second),
    )


def _diff(texts: Mapping[int, str], pair: Sequence[int]) -> Diff | None:
    first, second = map(texts.get, pair)
    return None if first is None or second is None else word_diff(first, second)


def _other_repeats(first: Result, second: Result) -> tuple[tuple[int, int, int], ...]:
    """Return all pairs of repeats in order; () unless both runs share at least two."""
    repeats = [
        dict(
            Result.objects.filter(run=one.run_id, revision=one.revision_id)
            .order_by("repeat")
            .values_list("repeat", "pk")
        )
        for one in (first, second)
    ]
    both = [n for n in repeats[0] if n in repeats[1]]
    if len(both) < 2:
        return ()
    return tuple((n + 1, repeats[0][n], repeats[1][n]) for n in both)
