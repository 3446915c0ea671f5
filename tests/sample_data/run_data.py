"""The runs of an invented ledger with all their results, as launching and judging leave them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from evalhub.models import BatchState
from evalhub.values.digest import digest
from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import jury_fingerprint, jury_identity, snapshot
from runs.launching.launch import make_run, suite_fingerprint, variants
from runs.launching.launch_options import LaunchSpec, read_spec
from runs.launching.launch_selection import Selection
from runs.models import Answer, Judge, JudgeRun, Judgment, Launch, Result, ResultScore, Run, TagSet
from tests.sample_data.agreement_sums import statistics_of
from tests.sample_data.bulk_insert import write
from tests.sample_data.content import Content
from tests.sample_data.judgments import Judged, SimulatedJury
from tests.sample_data.plan import Plan, PlannedRun
from tests.sample_data.result_rows import Rows


@dataclass(frozen=True)
class Filled:
    """One run as it was written. Its results are `first_result` and those that follow."""

    run: Run
    judge_run: JudgeRun
    judged: Judged
    first_result: int


@dataclass(frozen=True)
class RunDataWriter:
    """Writes the runs of a plan. `detailed` of them, the last ones, keep single judgments."""

    plan: Plan
    content: Content
    simulated_jury: SimulatedJury
    detailed: int

    def fill(self) -> Iterator[Filled]:
        first_result = 1
        for planned in self.plan.runs:
            yield (filled := self._fill(planned, first_result))
            first_result += len(filled.judged.tests)

    def _fill(self, planned: PlannedRun, first_result: int) -> Filled:
        judged = self.simulated_jury.judge(planned)
        run = self._run(planned)
        rows = Rows(self.content, planned, judged, run, first_result, self._tag_sets)
        made = {"spent_usd": rows.spent_usd, "n_results": len(judged.tests)}
        Run.objects.filter(pk=run.pk).update(**made)
        write(Result, rows.results())
        write(Answer, rows.answers())
        judge_run = self._judge_run(planned, run, judged)
        write(ResultScore, rows.result_scores(judge_run))
        if planned.number >= self.plan.size.runs - self.detailed:
            write(Judgment, rows.judgments(judge_run, self._judges[planned.jury], self.whole_tests))
        return Filled(run, judge_run, judged, first_result)

    def _run(self, planned: PlannedRun) -> Run:
        spec = self._spec(planned)
        record = self._launch(spec, planned.at)
        suite, model = self.content.suites[planned.suite], self.content.models[planned.line.model]
        selection = Selection(
            tests=[], models=[model], judges=[], jury=None, suite=suite, embedder=None
        )
        (variant,) = variants(spec, [model])
        run = make_run(spec, selection, record, variant, None)
        run.suite_fingerprint = self._fingerprints[planned.suite, planned.suite_revision]
        run.state = BatchState.DONE
        run.started_at = planned.at
        run.finished_at = planned.at + timedelta(minutes=30)
        run.save()
        Run.objects.filter(pk=run.pk).update(created_at=planned.at)
        return run

    def _spec(self, planned: PlannedRun) -> LaunchSpec:
        suite, release = self.content.suites[planned.suite], f"1.{planned.release}"
        return read_spec(
            {
                "label": f"{suite.name}, release {release}",
                "release": release,
                "suite": suite.pk,
                "models": [self.content.models[planned.line.model].pk],
                "system_prompts": [planned.line.system_prompt],
                "params": {"temperature": planned.line.temperature},
                "repeats": self.plan.repeats_of(planned.suite),
                "jury": self.content.juries[planned.jury].pk,
            }
        )

    def _launch(self, spec: LaunchSpec, at: datetime) -> Launch:
        record = Launch.objects.create(
            label=spec.label, release=spec.release, spec=spec.model_dump(mode="json")
        )
        Launch.objects.filter(pk=record.pk).update(created_at=at)
        return record

    def _judge_run(self, planned: PlannedRun, run: Run, judged: Judged) -> JudgeRun:
        judges = self._judges[planned.jury]
        jury = self.content.juries[planned.jury]
        copied = snapshot(judges, None, name=jury.name)
        judge_run = JudgeRun.objects.create(
            run=run,
            number=1,
            jury=copied,
            jury_name=jury.name,
            jury_fingerprint=self._jury_fingerprints[planned.suite, planned.jury],
            whole_fingerprint=jury_identity(copied, on_rubric=False),
            is_active=True,
            state=BatchState.DONE,
            started_at=planned.at,
            finished_at=run.finished_at,
            statistics=statistics_of(judged, self._templates[judged.tests], judges),
        )
        JudgeRun.objects.filter(pk=judge_run.pk).update(created_at=planned.at)
        return judge_run

    # What many runs share

    @cached_property
    def _judges(self) -> list[list[Judge]]:
        """Of each jury, in the order of its snapshot."""
        return [
            list(jury.judges.select_related("language_model").order_by("pk"))
            for jury in self.content.juries
        ]

    @cached_property
    def _templates(self) -> Any:
        """The template of each test, shape (tests,)."""
        return np.array([test.template_id for test in self.content.tests])

    @cached_property
    def _fingerprints(self) -> dict[tuple[int, int], str]:
        """Of each suite in each edition."""
        return {
            (suite, suite_revision): suite_fingerprint(
                [self.content.tests[n] for n in self.plan.tests_of(suite).tolist()],
                {
                    revision.test_id: revision
                    for revision in self.content.suite_revisions[suite_revision]
                },
            )
            for suite in range(len(self.content.suites))
            for suite_revision in range(2)
        }

    @cached_property
    def _jury_fingerprints(self) -> dict[tuple[int, int], str]:
        """Of each jury on each suite, whose templates it depends on."""
        found = {}
        for suite in range(len(self.content.suites)):
            tests = [self.content.tests[n] for n in self.plan.tests_of(suite).tolist()]
            templates = {test.template for test in tests if test.template}
            versions = sorted([template.family, template.version] for template in templates)
            for jury, judges in enumerate(self._judges):
                copied = snapshot(judges, None, name="")
                found[suite, jury] = jury_fingerprint(copied, versions=versions, has_rubrics=False)
        return found

    @cached_property
    def _tag_sets(self) -> list[int]:
        """The tag set of each test's issue, by its id."""
        names = self.content.tag_names
        distinct = sorted({tuple(each) for each in names})
        made = TagSet.objects.bulk_create(
            TagSet(key=digest(list(each)), names=list(each)) for each in distinct
        )
        ids = {tuple(tag_set.names): tag_set.pk for tag_set in made}
        return [ids[tuple(names[issue])] for issue in self.plan.issue_of_test.tolist()]

    @cached_property
    def whole_tests(self) -> dict[int, int]:
        """The criterion that stands for the whole test, by revision."""
        criteria = FrozenCriterion.objects.filter(key=WHOLE_TEST).order_by()
        return dict(criteria.values_list("revision_id", "pk"))
