from django.db import models
from django.db.models import F, Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import known, share, unfinished
from evalhub.models import BatchState, Call, ItemState
from evalhub.work.models import Batch, Item, ItemQuerySet
from issues.models import FrozenCriterion, JudgeTemplate
from runs.comparison.scoring_versions import Parts
from runs.models.jury import Judge
from runs.models.provenance import Provenance
from runs.models.run import BoundedOutcome, Result, Run, within_bounds


class JudgeRun(Batch):
    """A jury's pass over a run's results. A run may have many; the active one sets its scores.

    `jury` is made by `runs.judging.jury.snapshot`: {"name", "judges", "backup": one of these or
    null}, each judge {"judge": id, "name", "endpoint", "approach", "params", "samples", "method",
    "role", "template" and "rubric_template": ids or null}; with "repair_models", the endpoint of
    a template's repair model by the template's id. `statistics`, {} until it is done, are sums
    from which agreement and coverage of any set of runs are added up: see
    `runs.scoring.agreement.statistics_of`.

    `whole_fingerprint` and `rubric_fingerprint` (`runs.judging.jury.jury_identity`) tell whether
    two runs were judged in the same way, tests without a rubric and criteria apart; "" if no test
    of the run needs judges for it. `provenance_parts` are those of all its verdicts, {} until it is
    done or resumed. `judgments_from` is the judge run whose judgments it keeps: only its checks
    are run.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="judge_runs")
    number = models.PositiveSmallIntegerField()
    jury = models.JSONField()
    jury_name = models.CharField(max_length=150, blank=True)
    jury_fingerprint = models.CharField(max_length=64, db_index=True)
    whole_fingerprint = models.CharField(max_length=64, blank=True)
    rubric_fingerprint = models.CharField(max_length=64, blank=True)
    is_active = models.BooleanField(default=False)
    active_since = models.DateTimeField(
        null=True, blank=True, help_text="When it was set as active after it began."
    )
    becomes_active = models.BooleanField(
        default=False, help_text="Set as active as soon as it is done."
    )
    statistics = models.JSONField(default=dict)
    provenance_parts = models.JSONField(default=dict, editable=False)
    judgments_from = models.ForeignKey(
        "self", models.SET_NULL, null=True, editable=False, related_name="+"
    )

    class Meta:
        ordering = ("run", "number")
        constraints = [
            known("runs_judge_run_state_known", "state", BatchState),
            models.UniqueConstraint(name="runs_judge_run_number_once", fields=("run", "number")),
            models.UniqueConstraint(
                name="runs_judge_run_one_active", fields=("run",), condition=Q(is_active=True)
            ),
        ]

    def __str__(self) -> str:
        return f"judge run {self.number} of {self.run}"


NO_ANSWER = "no_answer"
"""Error kind of a result score whose result has no answer to judge."""

PARTLY_JUDGED = Q(state=ItemState.DONE, answered__lt=F("expected"))
"""Result scores that lack a judgment that was expected."""

_BROKEN = Q(state=ItemState.ERROR) & ~Q(error_kind=NO_ANSWER)

DOUBTFUL = PARTLY_JUDGED | _BROKEN
"""Result scores with a failed judgment or an error."""

RETRYABLE = Q(state=ItemState.DONE, answered__lt=F("expected") - F("final")) | _BROKEN
"""Those that another try may complete."""


class ResultScore(Item, BoundedOutcome):
    """The score of one result by one judge run. A worker leases its calls as a whole.

    `expected` and the four after it count judgments (`runs.scoring.coverage_rule.Coverage`).
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ("error_message",)

    judge_run = models.ForeignKey(
        JudgeRun, models.CASCADE, related_name="result_scores", db_index=False
    )
    result = models.ForeignKey(Result, models.CASCADE, related_name="result_scores")
    score = models.FloatField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)
    agreement = models.FloatField(null=True, blank=True)
    expected = models.PositiveSmallIntegerField(default=0)
    answered = models.PositiveSmallIntegerField(default=0)
    replaced = models.PositiveSmallIntegerField(
        default=0, help_text="Missing ones with that of a backup judge in their place."
    )
    final = models.PositiveSmallIntegerField(
        default=0, help_text="Missing ones of checks that cannot run or cannot tell."
    )
    taken = models.PositiveSmallIntegerField(default=0, help_text="Asked in other runs.")
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("runs_result_score_state_known", "state", ItemState),
            share("runs_result_score_score_share", "score"),
            within_bounds("runs_result_score_bounds"),
            models.UniqueConstraint(name="runs_result_score_once", fields=("judge_run", "result")),
        ]
        indexes = [
            unfinished("runs_result_score_live", "judge_run"),
            models.Index(
                fields=("judge_run",), name="runs_result_score_partly", condition=PARTLY_JUDGED
            ),
        ]

    def __str__(self) -> str:
        return f"score of result {self.result_id}"


class JudgmentState(models.TextChoices):
    OK = "ok"
    REPAIRED = "repaired"
    FAILED = "failed"


class Judgment(models.Model):
    """A judge's or check's reply on one criterion of one result.

    A failed judgment has no value and does not count. `failure` is the kind of the call's error,
    or unreadable, unaskable, echo, check_error, cannot_run, cannot_tell or imported_error.
    `request_key` is that of the request to a judge (`runs.judging.equal_requests`), "" where no
    other run may take the verdict. `taken_from` is the judgment that was asked, where this one was
    not: no foreign key, as it may be deleted. `asked_usd` is the cost of all calls for it where it
    was asked, tries and repairs included; null: unknown.
    """

    made_with: Parts | None = None
    """The parts of its provenance, while it is only in memory."""

    sealed_path = "result__test__sealed"
    sealed_fields = ("justification", "failure_message")

    judge_run = models.ForeignKey(
        JudgeRun, models.CASCADE, related_name="judgments", db_index=False
    )
    result = models.ForeignKey(Result, models.CASCADE, related_name="judgments")
    criterion = models.ForeignKey(
        FrozenCriterion, models.PROTECT, related_name="judgments", db_index=False
    )
    judge = models.ForeignKey(
        Judge, models.PROTECT, null=True, blank=True, related_name="judgments", db_index=False
    )
    template = models.ForeignKey(
        JudgeTemplate,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="Judge template of the request.",
    )
    sample = models.PositiveSmallIntegerField(default=0)
    is_backup = models.BooleanField(default=False)
    state = models.CharField(max_length=8, choices=JudgmentState)
    option = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True, blank=True)
    justification = models.TextField(blank=True)
    failure = models.CharField(max_length=30, blank=True)
    failure_message = models.TextField(blank=True)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    provenance = models.ForeignKey(
        Provenance, models.PROTECT, null=True, editable=False, related_name="+", db_index=False
    )
    request_key = models.CharField(max_length=32, blank=True, editable=False)
    taken_from = models.PositiveBigIntegerField(null=True, editable=False)
    asked_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, editable=False)
    created_at = models.DateTimeField()

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("result", "criterion", "judge", "sample")
        indexes = [
            models.Index(
                fields=("request_key",),
                name="runs_judgment_request",
                condition=~Q(request_key=""),
            ),
        ]
        constraints = [
            known("runs_judgment_state_known", "state", JudgmentState),
            share("runs_judgment_value_share", "value"),
            models.CheckConstraint(
                name="runs_judgment_failed_has_no_value",
                condition=Q(state="failed", value__isnull=True)
                | Q(~Q(state="failed"), value__isnull=False),
            ),
            models.UniqueConstraint(
                name="runs_judgment_judge_once",
                fields=("judge_run", "result", "criterion", "judge", "sample"),
                condition=Q(judge__isnull=False),
            ),
            models.UniqueConstraint(
                name="runs_judgment_check_once",
                fields=("judge_run", "result", "criterion"),
                condition=Q(judge__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"
