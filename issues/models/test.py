from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History
from evalhub.llm.content.images import check_images
from evalhub.model_parts import RowWithPage, known, once, optional_user, share
from issues.content import test_content
from issues.content.conversation import check_messages
from issues.models.image_use import ImageUse
from issues.models.issue import Issue, IssueState
from issues.models.tag import Tag
from issues.models.template import JudgeTemplate


class TestState(models.TextChoices):
    __test__ = False

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    DEPRECATED = "deprecated"


class Origin(models.TextChoices):
    HUMAN = "human", "written by hand"
    FEEDBACK = "feedback", "made from feedback"
    IMPORTED = "imported"
    GENERATED = "generated", "synthetic"


class Author(models.TextChoices):
    HUMAN = "human"
    MODEL = "model"
    UNKNOWN = "unknown"


class TestQuerySet(SealedQuerySet):
    __test__ = False

    def runnable(self) -> "TestQuerySet":
        """Return approved tests of issues that are not deprecated: only these run."""
        return self.filter(state=TestState.APPROVED).exclude(issue__state=IssueState.DEPRECATED)

    def names(self) -> list[tuple[int, str]]:
        """Return the id and the name of each, without making a test and an issue of it."""
        return [(pk, _name(pk, title)) for pk, title in self.values_list("pk", "issue__title")]


def _name(pk: int | None, issue: object) -> str:
    return f"test {pk} of {issue}"


class Test(RowWithPage):
    """An example that reproduces an issue: the input, and how to judge the answer.

    `messages` is a list of {"role", "content"}; content is a text or a list of parts
    (`evalhub.llm.content.content_parts`). An assistant turn whose content is null is generated, and
    so is the answer after a last user turn. A raw prompt is one message with the role raw_prompt.
    """

    __test__ = False
    sealed_path = "sealed"
    sealed_fields = (*test_content.SEALED, "extras")

    issue = models.ForeignKey(Issue, models.PROTECT, related_name="tests")
    messages = models.JSONField(validators=[check_messages])
    tools = models.JSONField(default=list, blank=True, help_text="Tools offered to the model.")
    context = models.TextField(blank=True, help_text="Documents, sent to the model word for word.")
    reference = models.TextField("reference answer", blank=True)
    reference_by = models.CharField(max_length=7, choices=Author, default=Author.HUMAN)
    flagged_answer = models.TextField(blank=True, help_text="The wrong answer from the feedback.")
    guidelines = models.TextField(blank=True, help_text="Instructions for judges of this test.")
    template = models.ForeignKey(
        JudgeTemplate, models.PROTECT, null=True, blank=True, related_name="tests"
    )
    pass_threshold = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Leave empty to use the template's threshold.",
    )
    weight = models.FloatField(
        default=1, validators=[MinValueValidator(0.1), MaxValueValidator(10)]
    )
    tags = models.ManyToManyField(
        Tag, blank=True, related_name="tests", help_text="Besides the tags of its issue."
    )
    state = models.CharField(max_length=10, choices=TestState, default=TestState.DRAFT)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.HUMAN)
    author = optional_user()
    sealed = models.BooleanField(
        default=False, help_text="Only users who may read sealed tests see its text."
    )
    note = models.TextField(blank=True)
    extras = models.JSONField(default=dict, blank=True, help_text="Other fields of its source.")
    source_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    history = History(m2m_fields=[tags])
    objects = TestQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        permissions = [
            ("approve_test", "Can approve and deprecate tests"),
            ("read_sealed_test", "Can read the text of sealed tests"),
            ("try_test", "Can ask models and judges about a test while writing it"),
        ]
        constraints = [
            known("issues_test_state_known", "state", TestState),
            known("issues_test_origin_known", "origin", Origin),
            known("issues_test_reference_by_known", "reference_by", Author),
            share("issues_test_threshold_share", "pass_threshold"),
            models.CheckConstraint(
                name="issues_test_weight_range",
                condition=models.Q(weight__gte=0.1) & models.Q(weight__lte=10),
                violation_error_message="Choose a weight from 0.1 to 10.",
            ),
            once("issues_test_source_once", "source_id"),
        ]

    def __str__(self) -> str:
        return _name(self.pk, self.issue)

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        ImageUse.objects.note([self])

    def clean(self) -> None:
        """Keep a sealed test at its issue, whose texts it seals: it leaves by a merge only.

        Its images must be stored.
        """
        check_images(self.messages)
        stored = Test.objects.filter(pk=self.pk, sealed=True).exclude(issue=self.issue_id)
        if self.pk and stored.exists():
            raise ValidationError(
                {
                    "issue": f"Test {self.pk} is sealed, as are its issue's texts. "
                    "Merge the issues instead."
                }
            )
