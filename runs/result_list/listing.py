"""The results of a run, filtered and in order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from evalhub.llm.content.content_parts import content_text
from evalhub.llm.content.raw_prompt import RAW_PROMPT
from evalhub.models import User
from evalhub.work.models import ItemQuerySet
from issues.models import Origin, Revision
from issues.tags import current_domains
from runs.models import DOUBTFUL, JudgeRun, Result, ResultScore, Run, TagSet
from runs.result_list.filters import ANY, Filters
from runs.result_list.sorting import in_order
from runs.scoring.shown_verdicts import hidden_from


@dataclass(frozen=True)
class Listing:
    """The results of one run in its active judge run, for one reader.

    They include those of sealed tests for every reader, but searches do not find their texts. Those
    that the reader reviews blind are left out.
    """

    run: Run
    judge_run: JudgeRun | None
    reader: User

    @cached_property
    def hidden(self) -> frozenset[int]:
        """Results that the reader reviews blind now."""
        return hidden_from(self.reader)

    def matching(self, filters: Filters) -> ItemQuerySet:
        exact = {
            "outcome__in": filters.outcomes,
            "issue": filters.issue,
            "test": filters.test,
            "is_overridden": filters.overridden,
            "is_disputed": filters.disputed,
        }
        given = {name: value for name, value in exact.items() if value}
        found = Result.objects.filter(run=self.run, **given)
        if self.hidden:
            found = found.exclude(pk__in=self.hidden)
        if filters.ending == ANY:
            found = found.exclude(ending="")
        elif filters.ending:
            found = found.filter(ending=filters.ending)
        if filters.tag:
            found = found.filter(tag_set__in=self._tag_sets(lambda tags: filters.tag in tags))
        if filters.domain:
            within = current_domains().of
            wanted = self._tag_sets(lambda tags: filters.domain in within(tags))
            found = found.filter(tag_set__in=wanted)
        if filters.origin == "synthetic":
            found = found.filter(origin=Origin.GENERATED)
        elif filters.origin:
            found = found.exclude(origin=Origin.GENERATED)
        if filters.search:
            found = found.filter(revision__in=self._revisions(filters.search))
        if filters.failed_judgments:
            found = found.filter(pk__in=self._doubtful())
        return found

    def in_order(self, filters: Filters) -> ItemQuerySet:
        """Select matching results in the order of the filters."""
        return in_order(self.matching(filters), filters.sort, doubtful=self._doubtful())

    def _tag_sets(self, fits: Callable[[list[str]], bool]) -> list[int]:
        used = Result.objects.filter(run=self.run).order_by().values("tag_set").distinct()
        names = TagSet.objects.filter(pk__in=used).values_list("pk", "names")
        return [pk for pk, tags in names if fits(tags)]

    def _revisions(self, text: str) -> list[int]:
        """Return revisions of this run with the text in a prompt that the reader may read."""
        used = Revision.objects.filter(results__run=self.run).readable_by(self.reader).distinct()
        wanted = text.casefold()
        rows = used.order_by().values_list("pk", KeyTransform("messages", "content"))
        return [pk for pk, messages in rows if wanted in "\n".join(texts_of(messages)).casefold()]

    def _doubtful(self) -> QuerySet[Any]:
        """Select results with a failed judgment in the active judge run."""
        return ResultScore.objects.filter(DOUBTFUL, judge_run=self.judge_run).values("result")


def texts_of(messages: Any) -> list[str]:
    """Return the texts of the messages, without turns to generate."""
    return [content_text(turn["content"]) for turn in messages or [] if turn.get("content")]


def prompt_of(messages: Any) -> str:
    """Return the last user turn of the messages, or the raw prompt; "" without any."""
    turns = texts_of(turn for turn in messages or [] if turn["role"] in ("user", RAW_PROMPT))
    return turns[-1] if turns else ""
