"""What judges said of one result, judging by judging: votes on the whole, or a rubric's rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from evalhub.models import User
from issues.breakdown import Breakdown, breakdown_of
from issues.models import FrozenCriterion
from issues.rubric import WHOLE_TEST
from issues.scales import FIVE_CLASSES, Scale
from runs.admin.account import Agreement, account_of, agreement_of, pass_rule_of
from runs.admin.rubric import Measure, Row, Voices, rows_of, voices_of
from runs.admin.shown import Party, Said, Text, mended_by, parties_of, text_or_none, words_of
from runs.agreement import Vote as Ballot
from runs.agreement import scales_of
from runs.evaluating import rubric_scale
from runs.judge_prompts import JudgePrompt, prompts_of
from runs.models import Assessment, Judging, Judgment, Result
from runs.scoring import Rule
from runs.seats import seating_of

ASKED = ("call__language_model", "judge")
"""What tells who gave a verdict on the whole, and who mended it."""


@dataclass(frozen=True)
class Vote:
    """One judge's verdict on the whole. `judgment` None: it has not judged this result (yet)."""

    party: Party
    judgment: Judgment | None
    justification: Text | None
    prompt: JudgePrompt | None
    passed: bool | None

    @property
    def mended_by(self) -> str:
        return mended_by(self.judgment) if self.judgment else ""

    @property
    def words(self) -> str:
        verdict = self.judgment
        return words_of(verdict.option, verdict.value, self.passed) if verdict else ""


@dataclass(frozen=True)
class Hearing:
    """One judging's verdict: `votes` on the whole, or the `rows` of a rubric.

    `agreement` None: it is not the current judging, or nobody judges.
    """

    judging: Judging
    assessment: Assessment | None
    votes: list[Vote]
    rows: list[Row]
    agreement: Agreement | None


@dataclass(frozen=True)
class Bench:
    """A result with all that judges said of it, and people; the revision's criteria at hand."""

    result: Result
    reader: User
    said: Sequence[Said]
    judgings: Sequence[Judging]
    parties: dict[int, dict[int, Party]]
    judgments: dict[int, list[Judgment]]

    @classmethod
    def of(cls, result: Result, said: Sequence[Said], reader: User) -> Self:
        """Read the judgments. What a rubric's judges were asked is a page of its own."""
        rows = Judging.objects.filter(run=result.run_id).select_related("run").order_by("number")
        judgings = list(rows)
        found = Judgment.objects.filter(result=result).select_related("criterion", "template")
        has_rubric = any(criterion.key for criterion in result.revision.criteria.all())
        judgments: dict[int, list[Judgment]] = defaultdict(list)
        for row in (found if has_rubric else found.select_related(*ASKED)).order_by("pk"):
            judgments[row.judging_id].append(row)
        return cls(result, reader, said, judgings, parties_of(judgings), judgments)

    @cached_property
    def rule(self) -> Rule:
        return Rule.of(self.result)

    @cached_property
    def criteria(self) -> list[FrozenCriterion]:
        """Those that are judged: the rubric, or the test as a whole where it has none."""
        rubric = [criterion for criterion in self.rule.criteria if criterion.key]
        return rubric or self.rule.criteria

    @property
    def has_rubric(self) -> bool:
        return bool(self.criteria[0].key)

    @cached_property
    def current(self) -> Judging | None:
        return next((judging for judging in self.judgings if judging.is_current), None)

    @cached_property
    def sitting(self) -> dict[int, list[int]]:
        """Who is asked in each judging about a criterion, or about a test as a whole."""
        panels = {judging.pk: seating_of(judging) for judging in self.judgings}
        return {
            pk: [seat.judge_id for seat in panel.sitting(on_rubric=self.has_rubric)]
            for pk, panel in panels.items()
        }

    @cached_property
    def voices(self) -> Voices:
        """What counts: what the current judging found, and people."""
        return self._voices(self.current, self.said)

    @property
    def whole(self) -> float | None:
        """What people say of the whole answer; None where nobody does."""
        (pk,) = [criterion.pk for criterion in self.rule.criteria if criterion.key == WHOLE_TEST]
        verdict = self.voices.verdicts.get(pk)
        return verdict.score if verdict else None

    @cached_property
    def rows(self) -> list[Row]:
        """The rubric as it counts; empty where there is none."""
        if not self.has_rubric:
            return []
        return self._rows(self.voices, rubric_scale(self.current))

    def hearings(self) -> list[Hearing]:
        assessments = {row.judging_id: row for row in self.result.assessments.all()}
        return [self._hearing(judging, assessments.get(judging.pk)) for judging in self.judgings]

    def account(self) -> list[str]:
        """How the score came about."""
        return account_of(self.rule, self._breakdown(self.voices), self.rows, whole=self.whole)

    def pass_rule(self) -> str:
        return pass_rule_of(self.rule)

    def _hearing(self, judging: Judging, assessment: Assessment | None) -> Hearing:
        votes = [] if self.has_rubric else self._votes(judging)
        if judging is self.current:
            return Hearing(judging, assessment, votes, self.rows, self._agreement())
        rows = self._rows(self._voices(judging, ()), FIVE_CLASSES) if self.has_rubric else []
        return Hearing(judging, assessment, votes, rows, None)

    def _rows(self, voices: Voices, scale: Scale) -> list[Row]:
        shares = {} if self.whole is not None else self._breakdown(voices).shares
        measure = Measure(shares, self.rule.is_met, scale)
        return rows_of(self.criteria, voices, measure, self.reader)

    def _breakdown(self, voices: Voices) -> Breakdown:
        return breakdown_of(self.rule.points(voices.counting), self.rule.is_met)

    def _voices(self, judging: Judging | None, said: Sequence[Said]) -> Voices:
        if judging is None:
            return voices_of(self.criteria, (), (), {}, said)
        return voices_of(
            self.criteria,
            self.judgments[judging.pk],
            self.sitting[judging.pk],
            self.parties[judging.pk],
            said,
        )

    def _agreement(self) -> Agreement | None:
        judgments = self.judgments[self.current.pk] if self.current else []
        heard = [h for criterion in self.criteria if (h := self.voices.heard[criterion.pk])]
        if not heard or not judgments:
            return None
        ballots = [Ballot.of(judgment) for judgment in judgments]
        return agreement_of(ballots, scales_of(ballot.template for ballot in ballots), heard)

    def _votes(self, judging: Judging) -> list[Vote]:
        judgments = self.judgments[judging.pk]
        prompts = (
            prompts_of(judging, self.result, judgments, reader=self.reader) if judgments else {}
        )
        given: dict[int | None, list[Judgment]] = defaultdict(list)
        for judgment in judgments:
            given[judgment.judge_id].append(judgment)
        return [
            self._vote(party, judgment, prompts)
            for party in self.parties[judging.pk].values()
            for judgment in given[party.judge_id] or self._awaited(judging, party)
        ]

    def _awaited(self, judging: Judging, party: Party) -> list[None]:
        return [None] if party.judge_id in self.sitting[judging.pk] else []

    def _vote(
        self, party: Party, judgment: Judgment | None, prompts: dict[int, JudgePrompt]
    ) -> Vote:
        value = judgment.value if judgment else None
        return Vote(
            party=party,
            judgment=judgment,
            justification=text_or_none(judgment.justification) if judgment else None,
            prompt=prompts.get(judgment.pk) if judgment else None,
            passed=self.result.revision.passes(value),
        )
