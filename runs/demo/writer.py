"""Write the sample history with the code that launches, judges and scores real runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalhub.models import BatchState, ItemState, LanguageModel, User
from issues.content.revisions import freeze
from issues.lifecycle import states
from issues.models import Issue, IssueState
from runs.demo import plan as planned
from runs.demo.content import (
    SOURCE,
    Content,
    invented,
    key_of,
    option_of,
    reason_of,
    told,
)
from runs.demo.plan import Answered
from runs.demo.reviews import Reviewed
from runs.launching.launch import BATCH_SIZE, fill, make_launch, make_run, variants
from runs.launching.launch_options import LaunchSpec, read_spec
from runs.launching.launch_selection import named
from runs.models import (
    NO_ANSWER,
    Answer,
    JudgeRun,
    Judgment,
    JudgmentState,
    Launch,
    Result,
    ResultScore,
    Run,
    Suite,
)
from runs.scoring.agreement import statistics_of
from runs.scoring.score import score_result_scores

MAIN_SUITE = 0
TOOK, REVIEWED_AFTER, RESOLVED_AFTER = timedelta(minutes=6), timedelta(hours=3), timedelta(days=2)


@transaction.atomic
def write_once(by: User) -> None:
    """Write the history unless it is there."""
    if not Suite.objects.filter(source_id=f"{SOURCE}:{MAIN_SUITE}").exists():
        Writer(by, timezone.now()).write()


def newest_runs() -> list[Run]:
    """Return the main suite's runs of the last release; none if the history is not there."""
    runs = Run.objects.filter(suite__source_id=f"{SOURCE}:{MAIN_SUITE}")
    newest = runs.filter(release=planned.RELEASES[-1])
    return list(newest.select_related("language_model", "suite").order_by("pk"))


def analyst() -> LanguageModel:
    """Return the invented model that the sample summary is said to come from."""
    name = told()["analyst"]
    defaults = {**invented(name), "is_active": False}
    return LanguageModel.objects.get_or_create(name=name, defaults=defaults)[0]


@dataclass(frozen=True)
class Writer:
    """Writes one history that ends a day before `now`."""

    by: User
    now: datetime

    @cached_property
    def content(self) -> Content:
        return Content(self.by, told(), begin=self.released_at(0) - timedelta(days=7))

    def released_at(self, release: int) -> datetime:
        """Return when a release was tested: one a week."""
        return self.now - timedelta(days=1 + 7 * (planned.LAST - release))

    def write(self) -> None:
        reviewed = []
        for release in range(len(planned.RELEASES)):
            suites = range(len(self.content.suites) if release == planned.LAST else 1)
            # The main suite comes last, so that reports open on it.
            for suite in reversed(suites):
                runs = [self._write_run(model, release, suite) for model in self.content.models]
                reviewed += runs if suite == MAIN_SUITE else []
        for run in reviewed:
            run.review()
        *settled, last = reviewed[-4:]
        for run in settled:
            run.dispute(is_open=False)
        last.dispute(is_open=True)
        self._resolve()
        # What cannot be called is offered nowhere.
        LanguageModel.objects.filter(litellm_model__startswith="sample/").update(is_active=False)

    def _write_run(self, model: str, release: int, suite: int) -> Reviewed:
        at = self.released_at(release) - timedelta(minutes=10 * suite)
        spec = self._spec(model, release, suite)
        selection = named(spec)
        launch = make_launch(spec, self.by)
        (variant,) = variants(spec, selection.models)
        run = make_run(spec, selection, launch, variant, self.by)
        fill(run, spec, selection, freeze(selection.tests))
        Launch.objects.filter(pk=launch.pk).update(created_at=at)
        answered = self.content.plan.answered(model, release, suite=suite)
        results = list(run.results.select_related("test", "revision__template").order_by("pk"))
        self._answer(run, results, answered, self.content.facts[model])
        self._judge(run.judge_runs.get(), results, answered, at)
        spent = sum((one.cost_usd for one in results if one.cost_usd), Decimal(0))
        Run.objects.filter(pk=run.pk).update(spent_usd=spent, **ended(at))
        right = {result.pk: answered.right[key_of(result.test)] for result in results}
        known = {pk: is_right for pk, is_right in right.items() if is_right is not None}
        return Reviewed(self.content, run, known, at + REVIEWED_AFTER)

    def _spec(self, model: str, release: int, suite: int) -> LaunchSpec:
        name, of = planned.RELEASES[release], self.content.suites[suite]
        is_prompted = model == planned.CLOVER and release >= planned.PROMPTED_FROM
        return read_spec(
            {
                "label": f"{of.name}, release {name}",
                "release": name,
                "suite": of.pk,
                "models": [self.content.models[model].pk],
                "system_prompts": [self.content.told["careful_prompt"] if is_prompted else ""],
                "jury": self.content.juries[release >= planned.NEW_JURY_FROM].pk,
            }
        )

    def _answer(
        self, run: Run, results: Sequence[Result], answered: Answered, facts: Mapping[str, Any]
    ) -> None:
        """Give each result its answer, with tokens, cost and latency, or its error."""
        random = Random(f"answers of {run}")
        per_input, per_output = (Decimal(str(usd)) for usd in facts["usd_per_mtok"])
        answers = []
        for result in results:
            is_right = answered.right[key_of(result.test)]
            if is_right is None:
                result.state, result.error_kind = ItemState.ERROR, "timed_out"
                result.error_message = "No reply within 120 s."
                continue
            text = self.content.text(result.test, is_right)
            turns = [{"content": text, "call": None}]
            answers.append(Answer(result=result, text=text, turns=turns))
            result.state = ItemState.DONE
            result.input_tokens = len(json.dumps(result.test.messages)) // 4
            result.output_tokens = len(text) // 4 + random.randrange(20, 120)
            result.latency_ms = int(facts["latency_ms"] * random.lognormvariate(0, 0.35))
            cost = result.input_tokens * per_input + result.output_tokens * per_output
            result.cost_usd = cost.scaleb(-6)
        Answer.objects.bulk_create(answers, batch_size=BATCH_SIZE)
        fields = ("state", "error_kind", "error_message", "input_tokens", "output_tokens")
        Result.objects.bulk_update(
            results, [*fields, "latency_ms", "cost_usd"], batch_size=BATCH_SIZE
        )

    def _judge(
        self, judge_run: JudgeRun, results: Sequence[Result], answered: Answered, at: datetime
    ) -> None:
        judges = [judge["judge"] for judge in judge_run.jury["judges"]]
        judgments = [
            Judgment(
                judge_run=judge_run,
                result=result,
                criterion_id=self.content.whole[result.revision_id],
                judge_id=judge,
                template=result.revision.template,
                state=JudgmentState.OK,
                option=option_of(result, passes),
                value=float(passes),
                justification=reason_of(result.test, passes),
                created_at=at,
            )
            for result in results
            for judge, passes in zip(judges, answered.votes[key_of(result.test)], strict=False)
        ]
        Judgment.objects.bulk_create(judgments, batch_size=BATCH_SIZE)
        scores = ResultScore.objects.filter(judge_run=judge_run)
        scores.update(state=ItemState.DONE)
        unanswered = [result.pk for result in results if result.state == ItemState.ERROR]
        scores.filter(result__in=unanswered).update(state=ItemState.ERROR, error_kind=NO_ANSWER)
        score_result_scores(list(scores))
        statistics = statistics_of(judge_run.pk)
        JudgeRun.objects.filter(pk=judge_run.pk).update(statistics=statistics, **ended(at))

    def _resolve(self) -> None:
        """Resolve one issue after a release in which it passed."""
        issue = Issue.objects.get(source_id=f"sample:{planned.REOPENED}")
        note = "Passes with every model since release 1.0."
        states.resolve(issue, labels=[], note=note, by=self.by)
        resolved_at = self.released_at(planned.REPAIRED_FROM) + RESOLVED_AFTER
        resolved = issue.history.filter(state=IssueState.RESOLVED)
        resolved.update(history_date=resolved_at)


def ended(at: datetime) -> dict[str, Any]:
    """Return the fields of a run, or judge run, that was done soon after this time."""
    return {
        "state": BatchState.DONE,
        "created_at": at,
        "started_at": at,
        "finished_at": at + TOOK,
    }
