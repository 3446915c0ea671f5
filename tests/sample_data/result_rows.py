"""The rows of one invented run's results, column by column, as answering and judging leave them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import compress, repeat
from typing import Any

import numpy as np

from evalhub.models import ItemState
from issues.models import Revision, Test
from issues.rubrics.scales import from_json
from runs.models import NO_ANSWER, Judge, JudgeRun, JudgmentState, Run
from tests.sample_data import vocabulary
from tests.sample_data.agreement_sums import UNREADABLE
from tests.sample_data.bulk_insert import Columns
from tests.sample_data.content import Content
from tests.sample_data.judgments import JUDGES, Judged
from tests.sample_data.plan import PlannedRun


@dataclass(frozen=True)
class Rows:
    """One run's rows. `tag_sets` are ids, one for each test of the content."""

    content: Content
    planned: PlannedRun
    judged: Judged
    run: Run
    first_result: int
    tag_sets: Sequence[int]

    @cached_property
    def ids(self) -> range:
        return range(self.first_result, self.first_result + len(self.judged.tests))

    @cached_property
    def tests(self) -> list[Test]:
        return [self.content.tests[number] for number in self.judged.tests.tolist()]

    @cached_property
    def revisions(self) -> list[Revision]:
        suite_revision = self.content.suite_revisions[self.planned.suite_revision]
        return [suite_revision[number] for number in self.judged.tests.tolist()]

    @cached_property
    def errors(self) -> list[bool]:
        return list(self.judged.errors.tolist())

    @cached_property
    def scores(self) -> list[float | None]:
        return [None if np.isnan(score) else score for score in self.judged.scores.tolist()]

    @cached_property
    def passed(self) -> list[bool | None]:
        each = zip(self.revisions, self.scores, strict=True)
        return [revision.passes(score) for revision, score in each]

    @cached_property
    def bounds(self) -> Columns:
        """The lowest and the highest outcome; missing votes are 0 or 1, the ends of both scales."""
        columns: dict[str, list[Any]] = {}
        for name, end in (("lowest", 0.0), ("highest", 1.0)):
            votes = np.where(np.isnan(self.judged.votes), end, self.judged.votes)
            scores = np.where(self.judged.answered > 0, votes.mean(axis=1), end).tolist()
            columns[f"{name}_score"] = scores
            columns[f"{name}_passed"] = [
                bool(revision.passes(score))
                for revision, score in zip(self.revisions, scores, strict=True)
            ]
        return columns

    @cached_property
    def costs_usd(self) -> list[Decimal | None]:
        """Of each answer; None where there is none, or no price is known."""
        model = vocabulary.MODELS[self.planned.line.model]
        if model.input_cents is None or model.output_cents is None:
            return [None] * len(self.ids)
        # A cent for a million tokens is a hundred-millionth of a dollar for one.
        costs = self.judged.input_tokens * model.input_cents
        costs = costs + self.judged.output_tokens * model.output_cents
        return self._where_answered([Decimal(n).scaleb(-8) for n in costs.tolist()])

    @property
    def spent_usd(self) -> Decimal:
        return sum((cost for cost in self.costs_usd if cost is not None), Decimal(0))

    def _where_answered(self, values: Sequence[Any]) -> list[Any]:
        each = zip(values, self.errors, strict=True)
        return [None if is_error else value for value, is_error in each]

    def results(self) -> Columns:
        each_repeat = len(self.ids) // self.run.repeats
        judged = self.judged
        return {
            "id": self.ids,
            "run": repeat(self.run.pk),
            "revision": [revision.pk for revision in self.revisions],
            "repeat": [place // each_repeat for place in range(len(self.ids))],
            "test": [test.pk for test in self.tests],
            "issue": [test.issue_id for test in self.tests],
            "tag_set": [self.tag_sets[number] for number in judged.tests.tolist()],
            "origin": [test.origin for test in self.tests],
            "weight": [test.weight for test in self.tests],
            "is_judged": [not is_error for is_error in self.errors],
            "ending": repeat(""),
            "has_taken_verdicts": repeat(False),
            "is_overridden": repeat(False),
            "is_disputed": repeat(False),
            **self.bounds,
            "input_tokens": self._where_answered(judged.input_tokens.tolist()),
            "output_tokens": self._where_answered(judged.output_tokens.tolist()),
            "cost_usd": [None if cost is None else str(cost) for cost in self.costs_usd],
            "latency_ms": self._where_answered(judged.latency_ms.tolist()),
            "score": self.scores,
            "passed": self.passed,
            "judges_ended": [not is_error for is_error in self.errors],
            "judges_score": self.scores,
            "judges_passed": self.passed,
            "judges_lowest_passed": self.bounds["lowest_passed"],
            "judges_highest_passed": self.bounds["highest_passed"],
            **self._ended("timed_out", "No reply within 120 s."),
        }

    def answers(self) -> Columns:
        """Of the results that have one."""
        texts = [
            vocabulary.answer(number, bool(good), draw)
            for number, good, draw in zip(
                self.judged.tests.tolist(),
                self.judged.good.tolist(),
                self.judged.output_tokens.tolist(),
                strict=True,
            )
        ]
        heard = [not is_error for is_error in self.errors]
        texts = list(compress(texts, heard))
        return {
            "result": compress(self.ids, heard),
            "text": texts,
            "turns": [json.dumps([{"content": text, "call": None}]) for text in texts],
            "tool_calls": repeat("[]"),
            "reasoning": repeat(""),
            "created_at": repeat(self.run.finished_at),
        }

    def result_scores(self, judge_run: JudgeRun) -> Columns:
        return {
            "judge_run": repeat(judge_run.pk),
            "result": self.ids,
            "score": self.scores,
            "passed": self.passed,
            "expected": [0 if is_error else JUDGES for is_error in self.errors],
            "answered": self.judged.answered.tolist(),
            "replaced": repeat(0),
            "final": repeat(0),
            "taken": repeat(0),
            **self.bounds,
            **self._ended(NO_ANSWER, ""),
        }

    def _ended(self, kind: str, message: str) -> Columns:
        """How the work on each ended; those without an answer as errors of this kind."""
        return {
            "state": [ItemState.ERROR.value if e else ItemState.DONE.value for e in self.errors],
            "attempts": repeat(1),
            "error_kind": [kind if is_error else "" for is_error in self.errors],
            "error_message": [message if is_error else "" for is_error in self.errors],
        }

    def judgments(
        self, judge_run: JudgeRun, judges: Sequence[Judge], whole_tests: Mapping[int, int]
    ) -> Columns:
        """Of each judge on each answer; `whole_tests` are the criteria asked of, by revision."""
        heard = np.flatnonzero(~self.judged.errors)
        each = np.repeat(heard, JUDGES).tolist()
        values = [None if np.isnan(v) else v for v in self.judged.votes[heard].ravel().tolist()]
        revisions = [self.revisions[place] for place in each]
        ok, failed = JudgmentState.OK.value, JudgmentState.FAILED.value
        return {
            "judge_run": repeat(judge_run.pk),
            "result": [self.ids[place] for place in each],
            "criterion": [whole_tests[revision.pk] for revision in revisions],
            "judge": [judge.pk for judge in judges] * len(heard),
            "template": [revision.template_id for revision in revisions],
            "sample": repeat(0),
            "is_backup": repeat(False),
            "state": [failed if value is None else ok for value in values],
            "option": list(map(self._option, revisions, values)),
            "value": values,
            "justification": ["" if value is None else "Invented." for value in values],
            "failure": [UNREADABLE if value is None else "" for value in values],
            "failure_message": ["Invented." if value is None else "" for value in values],
            "request_key": repeat(""),
            "created_at": repeat(self.run.finished_at),
        }

    def _option(self, revision: Revision, value: float | None) -> str:
        """The label of the scale that stands for this value."""
        return "" if value is None else self._labels[revision.template_id, value]

    @cached_property
    def _labels(self) -> dict[tuple[int | None, float], str]:
        templates = {test.template for test in self.tests}
        return {
            (template.pk, option.value): option.label
            for template in templates
            if template is not None
            for option in from_json(template.scale).options
        }
