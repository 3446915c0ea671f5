"""Workbenches: a judge's prompt or criteria on rows of one's own. No report reads them."""

from typing import Any, NamedTuple

from django.conf import settings
from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.llm.content.content_parts import all_images, content_text
from evalhub.model_parts import RowWithPage, known
from evalhub.models import Call, User
from issues.models import Draft, Generation, JudgeTemplate, ReplyForm, TemplateExample, Test
from issues.rubrics import scales
from runs.laboratory.pairwise.models import PairChoice
from runs.models import JudgmentState, Result

EDIT_SHARED = "workbench.edit_shared"


class WorkbenchQuerySet(SealedQuerySet):
    def seen_by(self, user: User) -> "WorkbenchQuerySet":
        """Return the user's own and the shared ones, as far as the user may read their text."""
        return self.readable_by(user).filter(Q(owner=user) | Q(is_shared=True))


class Workbench(RowWithPage):
    """A judge's prompt with its scale, criteria to ask it about, and the judges to ask.

    Without `criteria` the prompt judges whole answers. `criteria` are as in a revision's content,
    each with a "target": the label of the option that counts as met, "" for the options' values.
    `judges` is read by `runs.laboratory.workbench.judges`. `source` is the template that the prompt
    comes from; `draft` is the template draft that it is saved as, and has the examples. `test` is
    the test that the criteria and guidelines come from.
    """

    sealed_path = "test__sealed"
    sealed_fields = ("name", "text", "scale", "guidelines", "criteria", "judges")

    name = models.CharField(max_length=150)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="workbenches")
    is_shared = models.BooleanField("shared with everyone", default=False)
    text = models.TextField("judge prompt")
    scale = models.JSONField(default=scales.binary_json)
    reply_form = models.CharField(max_length=8, choices=ReplyForm, default=ReplyForm.VERDICT)
    guidelines = models.TextField(blank=True)
    criteria = models.JSONField(default=list, blank=True)
    judges = models.JSONField(default=dict, blank=True)
    source = models.ForeignKey(
        JudgeTemplate, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    draft = models.ForeignKey(
        JudgeTemplate, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    test = models.ForeignKey(
        Test, models.CASCADE, null=True, blank=True, related_name="workbenches"
    )
    generations = models.ManyToManyField(
        Generation, blank=True, related_name="+", help_text="Batches whose drafts become rows."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = WorkbenchQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at",)
        verbose_name_plural = "workbenches"
        permissions = [("edit_shared", "Can edit the shared workbenches of others")]
        constraints = [known("workbench_workbench_reply_form_known", "reply_form", ReplyForm)]

    def __str__(self) -> str:
        return self.name

    def may_be_edited_by(self, user: User) -> bool:
        """Return whether the user may change it: the owner, and who may edit shared ones."""
        is_owner = self.owner_id == user.pk and user.has_perm("workbench.change_workbench")
        return is_owner or (self.is_shared and user.has_perm(EDIT_SHARED))


class BenchRow(models.Model):
    """An answer to judge. Several answers to one input are several rows.

    `turns` are the model's turns before the answer. `answered_by` names a model or version: answers
    with one name are ranked together. `expected` has the label of the expected
    option by criterion key, "" for the whole answer. `intended` is the option that a draft was
    written for: no expectation until a person gives one. `example` is the example for judges that
    the row has become: then it is not judged. `version` counts edits.
    """

    sealed_path = "test__sealed"
    sealed_fields = (
        *("messages", "turns", "answer", "context", "reference", "guidelines"),
        *("expected", "intended", "answered_by"),
    )

    workbench = models.ForeignKey(Workbench, models.CASCADE, related_name="rows", db_index=False)
    place = models.PositiveIntegerField()
    messages = models.JSONField(default=list, blank=True)
    turns = models.JSONField(default=list, blank=True)
    answer = models.TextField(blank=True)
    answered_by = models.CharField(max_length=100, blank=True)
    context = models.TextField(blank=True)
    reference = models.TextField(blank=True)
    guidelines = models.TextField(blank=True)
    expected = models.JSONField(default=dict, blank=True)
    intended = models.CharField(max_length=60, blank=True)
    test = models.ForeignKey(Test, models.CASCADE, null=True, blank=True, related_name="bench_rows")
    result = models.ForeignKey(Result, models.SET_NULL, null=True, blank=True, related_name="+")
    draft = models.ForeignKey(Draft, models.SET_NULL, null=True, blank=True, related_name="+")
    example = models.ForeignKey(
        TemplateExample, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    version = models.PositiveIntegerField(default=0)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("workbench", "place", "pk")
        verbose_name = "row"
        indexes = [models.Index(fields=("workbench", "place"), name="workbench_row_place")]

    def __str__(self) -> str:
        return f"row {self.pk}"

    @property
    def input(self) -> str | None:
        """Return the only user message; None if it is a longer conversation, or has images."""
        if not self.messages:
            return ""
        only: dict[str, Any] = self.messages[0]
        is_plain = len(self.messages) == 1 and only.get("role") == "user"
        return content_text(only.get("content")) if is_plain and not self.images else None

    @property
    def images(self) -> list[dict[str, Any]]:
        return all_images(self.messages)


class BenchJudgment(models.Model):
    """A judgment, kept by the digest of exactly what was asked. A failed one says why.

    `slot` names the judge. `order` is 1 where the options, or the answers, were reversed.
    `cost_usd` covers the repair too; null if unknown.
    """

    slot = models.CharField(max_length=40)
    order = models.PositiveSmallIntegerField(default=0)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=JudgmentState)
    justification = models.TextField(blank=True)
    message = models.TextField(blank=True)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    call = models.ForeignKey(
        Call, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now=True)

    objects: Any = SealedQuerySet.as_manager()
    place_fields: tuple[str, ...] = ()

    class Meta:
        abstract = True
        ordering = ("pk",)

    @property
    def place(self) -> tuple[Any, ...]:
        """Return what is asked about, whom and how, whatever exactly is asked."""
        return tuple(getattr(self, name) for name in self.place_fields)


class RowPlace(NamedTuple):
    """The place of a judgment: row, criterion key, judge's slot, order and sample."""

    row_id: int
    key: str
    slot: str
    order: int = 0
    sample: int = 0


class RowJudgment(BenchJudgment):
    """A judge's or check's judgment of a row; `slot` is "check" for a check.

    `value` is that of a check, in [0, 1]; a judge's is its option's, on the scale of the moment.
    """

    place_fields = RowPlace._fields
    sealed_path = "row__test__sealed"
    sealed_fields = ("option", "justification", "message")

    row = models.ForeignKey(BenchRow, models.CASCADE, related_name="judgments", db_index=False)
    key = models.CharField(max_length=40, blank=True)
    sample = models.PositiveSmallIntegerField(default=0)
    option = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True, blank=True)

    class Meta(BenchJudgment.Meta):
        constraints = [
            known("workbench_judgment_state_known", "state", JudgmentState),
            models.UniqueConstraint(
                name="workbench_judgment_once",
                fields=("row", "key", "slot", "digest", "order", "sample"),
            ),
            models.CheckConstraint(
                name="workbench_judgment_failed_has_none",
                condition=~Q(state=JudgmentState.FAILED) | Q(option="", value__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk} of {self.row}"


class RowPairJudgment(BenchJudgment):
    """A judge's choice between two answers to one input, in terms of the pair."""

    place_fields = ("first_id", "second_id", "slot", "order")
    sealed_path = "first__test__sealed"
    also_sealed_paths = ("second__test__sealed",)
    sealed_fields = ("justification", "message")

    first = models.ForeignKey(BenchRow, models.CASCADE, related_name="+", db_index=False)
    second = models.ForeignKey(BenchRow, models.CASCADE, related_name="+")
    choice = models.CharField(max_length=6, choices=PairChoice, blank=True)

    class Meta(BenchJudgment.Meta):
        constraints = [
            known("workbench_pair_state_known", "state", JudgmentState),
            models.UniqueConstraint(
                name="workbench_pair_once", fields=("first", "second", "slot", "order", "digest")
            ),
            models.CheckConstraint(
                name="workbench_pair_ok_has_choice",
                condition=Q(state=JudgmentState.OK, choice__in=PairChoice.values)
                | Q(~Q(state=JudgmentState.OK), choice=""),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk} on {self.first} and {self.second}"
