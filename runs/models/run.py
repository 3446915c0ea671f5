from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.display.outcomes import OUTCOMES
from evalhub.llm.completion import AnswerTurn, Ending
from evalhub.llm.endpoint import Endpoint
from evalhub.model_parts import RowWithPage, known, share, unfinished
from evalhub.models import BatchState, Call, ItemState, LanguageModel
from evalhub.work.models import Batch, Item, ItemQuerySet
from issues.models import Issue, Origin, Revision, Test
from runs.answering.endings import ENDINGS, Handling, handling_of
from runs.comparison.scoring_versions import Parts
from runs.models.launch import Launch
from runs.models.provenance import Provenance
from runs.models.release import NamesRelease
from runs.models.run_queries import RunQuerySet
from runs.models.suite import Suite, SuiteVersion


class TagSet(models.Model):
    """The tags that a result's test and its issue had at launch, stored once per combination.

    `names` is sorted, `key` its text, so that reports group without joining live tags.
    """

    key = models.CharField(max_length=64, unique=True)
    names = models.JSONField(default=list)

    def __str__(self) -> str:
        return ", ".join(self.names)

    @classmethod
    def with_name(cls, name: str) -> list[int]:
        """Return the ids of the combinations that have this tag."""
        return [pk for pk, names in cls.objects.values_list("pk", "names") if name in names]


class Run(NamesRelease, Batch, RowWithPage):
    """A model variant answering a set of revisions; its configuration is frozen by copy.

    `endpoint` is made by `Endpoint.to_json` at launch; `params` override those of the endpoint.
    `provenance_parts` are those of all its answers, {} until it is done.
    """

    label = models.CharField(max_length=150)
    release = models.CharField(max_length=100, blank=True)
    launch = models.ForeignKey(Launch, models.SET_NULL, null=True, blank=True, related_name="runs")
    suite = models.ForeignKey(Suite, models.SET_NULL, null=True, blank=True, related_name="runs")
    suite_version = models.ForeignKey(
        SuiteVersion, models.SET_NULL, null=True, blank=True, related_name="runs"
    )
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="runs")
    model_name = models.CharField(max_length=100)
    endpoint = models.JSONField(default=dict)
    system_prompt = models.TextField(blank=True)
    params = models.JSONField(default=dict, blank=True)
    repeats = models.PositiveSmallIntegerField(default=1)
    n_results = models.PositiveIntegerField(
        default=0, help_text="Number of results, repeats included; fixed at launch."
    )
    variant_key = models.CharField(max_length=64, db_index=True)
    suite_fingerprint = models.CharField(max_length=64)
    has_imported_answers = models.BooleanField(default=False)
    self_evaluation_allowed = models.BooleanField(default=False)
    similarity_weight = models.FloatField(
        default=0,
        help_text="Share of similarity to the reference answer in each score, from 0 to 1.",
    )
    similarity_endpoint = models.JSONField(
        default=dict, blank=True, help_text="Embedding model; {} is the built-in one."
    )
    score_by_similarity = models.BooleanField(
        default=False, help_text="Tests without rubric and judge are scored by similarity alone."
    )
    cut_off_answers = models.CharField(
        max_length=6,
        choices=Handling,
        default=Handling.JUDGED,
        help_text="Of answers that were cut off at the token limit.",
    )
    broken_off_answers = models.CharField(
        max_length=6,
        choices=Handling,
        default=Handling.ERROR,
        help_text="Of answers that a content filter, an error or the server broke off.",
    )
    takes_known_verdicts = models.BooleanField(
        default=False,
        help_text="Verdicts are taken from earlier runs where a judge was asked word for word the "
        "same.",
    )
    is_scripted = models.BooleanField(default=False)
    provenance_parts = models.JSONField(default=dict, editable=False)
    source_id = models.CharField(max_length=100, blank=True)
    texts_removed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the texts of all its answers had been removed. Null: they are kept.",
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        permissions = [("control_run", "Can pause, cancel, resume and re-judge runs")]
        constraints = [
            known("runs_run_state_known", "state", BatchState),
            share("runs_run_similarity_weight_share", "similarity_weight"),
            models.CheckConstraint(name="runs_run_repeats_positive", condition=Q(repeats__gte=1)),
            models.UniqueConstraint(
                name="runs_run_source_once",
                fields=("source_id",),
                condition=~Q(source_id=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} ({self.model_name})"

    @property
    def wants_similarity(self) -> bool:
        return self.similarity_weight > 0 or self.score_by_similarity

    def embedder(self) -> Endpoint | None:
        """Return the embedding model as it was at launch; None for the built-in one."""
        return Endpoint.from_json(self.similarity_endpoint) if self.similarity_endpoint else None

    def candidate(self) -> Endpoint:
        """Return the endpoint as it was at launch."""
        return Endpoint.from_json(self.endpoint)

    @property
    def accepted_endings(self) -> list[Ending]:
        """Endings with which an answer is none the less one; the others are errors."""
        return [ending for ending in Ending if self.handling(ending) != Handling.ERROR]

    def handling(self, ending: str) -> str:
        """Return what becomes of answers of the run with this ending."""
        return handling_of(ending, self.cut_off_answers, self.broken_off_answers)


class Outcome(models.TextChoices):
    PASSED = "passed", OUTCOMES["passed"].label
    FAILED = "failed", OUTCOMES["failed"].label
    UNSCORED = "unscored", OUTCOMES["unscored"].label
    ERROR = "error", OUTCOMES["error"].label
    PENDING = "pending", OUTCOMES["pending"].label


class BoundedOutcome(models.Model):
    """The lowest and the highest outcome that missing judgments allow; without a score, any."""

    lowest_score = models.FloatField(default=0.0)
    highest_score = models.FloatField(default=1.0)
    lowest_passed = models.BooleanField(default=False, help_text="It passes at its lowest score.")
    highest_passed = models.BooleanField(default=True, help_text="It passes at its highest score.")

    class Meta:
        abstract = True


def within_bounds(name: str) -> models.CheckConstraint:
    """Require the bounds of a `BoundedOutcome` to lie in [0, 1] and around its score."""
    lies = Q(lowest_score__lte=F("score"), highest_score__gte=F("score")) | Q(score=None)
    limits = Q(lowest_score__gte=0, lowest_score__lte=F("highest_score"), highest_score__lte=1)
    return models.CheckConstraint(name=name, condition=lies & limits)


def _outcome_of(passed: str, is_ended: str) -> models.GeneratedField:
    """Return the column of an outcome, by the column that tells whether it passed."""
    return models.GeneratedField(
        expression=Case(
            When(state=ItemState.ERROR, then=Value(Outcome.ERROR.value)),
            When(**{passed: True}, then=Value(Outcome.PASSED.value)),
            When(**{passed: False}, then=Value(Outcome.FAILED.value)),
            When(**{is_ended: True}, then=Value(Outcome.UNSCORED.value)),
            default=Value(Outcome.PENDING.value),
        ),
        output_field=models.CharField(max_length=8, choices=Outcome),
        db_persist=True,
    )


class Result(Item, RowWithPage, BoundedOutcome):
    """A run's outcome on one revision and repeat. Narrow, for reports read only this table.

    `state` is the answer's; `is_judged` is set when the active judge run or an annotator is done
    with it. Only `runs.scoring.score` sets score and passed; None is not measured.

    The columns `judges_…` are the same of the active judge run alone, without overrides: two runs
    are compared by these, for annotators review one of them more than the other.
    """

    sealed_path = "test__sealed"
    sealed_fields = ("error_message",)

    run = models.ForeignKey(Run, models.CASCADE, related_name="results", db_index=False)
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="results")
    repeat = models.PositiveSmallIntegerField(default=0)
    test = models.ForeignKey(Test, models.PROTECT, related_name="results", db_index=False)
    issue = models.ForeignKey(Issue, models.PROTECT, related_name="results", db_index=False)
    tag_set = models.ForeignKey(TagSet, models.PROTECT, related_name="results", db_index=False)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.HUMAN)
    weight = models.FloatField(default=1)
    is_judged = models.BooleanField(default=False)
    score = models.FloatField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)
    agreement = models.FloatField(null=True, blank=True)
    ending = models.CharField(
        max_length=14,
        blank=True,
        choices=ENDINGS,
        help_text="How its answer broke off; empty: it did not.",
    )
    similarity = models.FloatField(
        null=True, blank=True, help_text="Cosine to the reference answer, from -1 to 1."
    )
    has_taken_verdicts = models.BooleanField(
        default=False,
        help_text="A verdict in its score was asked in another run.",
    )
    is_overridden = models.BooleanField(default=False)
    is_disputed = models.BooleanField(default=False)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    outcome = _outcome_of("passed", "is_judged")
    judges_ended = models.BooleanField(default=False)
    judges_score = models.FloatField(null=True, blank=True)
    judges_passed = models.BooleanField(null=True, blank=True)
    judges_lowest_passed = models.BooleanField(default=False)
    judges_highest_passed = models.BooleanField(default=True)
    judges_outcome = _outcome_of("judges_passed", "judges_ended")

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        permissions = [("export_results", "Can download results")]
        constraints = [
            known("runs_result_state_known", "state", ItemState),
            known("runs_result_origin_known", "origin", Origin),
            share("runs_result_score_share", "score"),
            share("runs_result_judges_score_share", "judges_score"),
            within_bounds("runs_result_bounds"),
            models.UniqueConstraint(name="runs_result_once", fields=("run", "revision", "repeat")),
        ]
        indexes = [
            models.Index(fields=("run", "outcome"), name="runs_result_run_outcome"),
            models.Index(fields=("run", "tag_set", "outcome"), name="runs_result_run_tags"),
            models.Index(fields=("issue", "run", "outcome"), name="runs_result_issue"),
            models.Index(fields=("test", "run"), name="runs_result_test"),
            unfinished("runs_result_live", "run"),
            models.Index(
                fields=("run", "ending"), name="runs_result_ending", condition=~Q(ending="")
            ),
            models.Index(
                fields=("-run", "id"), name="runs_result_disputed", condition=Q(is_disputed=True)
            ),
            models.Index(
                fields=("run", "id"), name="runs_result_overridden", condition=Q(is_overridden=True)
            ),
        ]

    def __str__(self) -> str:
        return f"result {self.pk}"

    @property
    def handling(self) -> str:
        return self.run.handling(self.ending)

    @property
    def repeat_number(self) -> int:
        """Its number among the answers to the test, from 1, for pages, files and the API."""
        return self.repeat + 1


class Answer(models.Model):
    """A model's answer. `turns` are the generated ones in order; the last is the answer.

    Each turn is an `AnswerTurn` as stored, with the id of its "call" (null if imported). `text`
    is all of the last one in one form (`turn_text`), `tool_calls` and `reasoning` are its own;
    `documents` are those of all turns, each {"text", "title"}; null: not reported.

    `removed_at`: its texts were removed then (`runs.lifecycle.retention`), and `text` says so.
    Nothing may be concluded from that text: filter by `HAS_ANSWER`.
    """

    made_with: Parts | None = None
    """The parts of its provenance, while it is only in memory."""

    sealed_path = "result__test__sealed"
    sealed_fields = ("text", "turns", "tool_calls", "documents", "reasoning")

    result = models.OneToOneField(Result, models.CASCADE, primary_key=True, related_name="answer")
    text = models.TextField(blank=True)
    turns = models.JSONField(default=list)
    tool_calls = models.JSONField(default=list, blank=True)
    documents = models.JSONField(null=True, blank=True)
    reasoning = models.TextField(blank=True)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    provenance = models.ForeignKey(
        Provenance, models.PROTECT, null=True, editable=False, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = SealedQuerySet.as_manager()

    class Meta:
        # What is new since a time is asked for again and again, by scripts.
        indexes = [models.Index(fields=("created_at",), name="runs_answer_time")]

    def __str__(self) -> str:
        return f"answer to result {self.result_id}"

    def said(self) -> list[AnswerTurn]:
        """Return its turns; an answer without turns is one."""
        *earlier, last = self.turns or [{"content": self.text}]
        own = {"tool_calls": self.tool_calls, "reasoning": self.reasoning}
        return [*map(AnswerTurn.of, earlier), AnswerTurn.of({**last, **own})]


HAS_ANSWER = Q(answer__isnull=False, answer__removed_at=None)
"""Results whose answer can be read: there is one, and its text is kept."""
