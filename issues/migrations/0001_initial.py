import django.core.validators
import django.db.models.deletion
import simple_history.models
from django.conf import settings
from django.db import migrations, models

import evalhub.logs
import issues.content.conversation
import issues.models.library
import issues.rubrics.scales


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evalhub", "0001_initial"),
        ("evalhub", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="ResolutionLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="HistoricalJudgeTemplate",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "family",
                    models.SlugField(
                        help_text="Shared by all versions of a template.", max_length=80
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("title", models.CharField(max_length=120)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("published", "Published"),
                            ("retired", "Retired"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "text",
                    models.TextField(
                        help_text="Prompt with {{ input }}, {{ output }}, {{ reference }}, …"
                    ),
                ),
                ("shows_input", models.BooleanField(default=True)),
                ("shows_reference", models.BooleanField(default=True)),
                ("shows_guidelines", models.BooleanField(default=True)),
                ("shows_whole_rubric", models.BooleanField(default=False)),
                (
                    "reply_form",
                    models.CharField(
                        choices=[
                            ("verdict", "reasons and a score (JSON or XML)"),
                            ("label", "a label of the scale, nothing else"),
                        ],
                        default="verdict",
                        max_length=8,
                    ),
                ),
                ("scale", models.JSONField(default=issues.rubrics.scales.binary_json)),
                (
                    "example_choice",
                    models.CharField(
                        choices=[
                            ("fixed", "first ones, in order"),
                            ("nearest", "most similar to the case"),
                        ],
                        default="fixed",
                        max_length=7,
                    ),
                ),
                (
                    "examples_shown",
                    models.PositiveSmallIntegerField(
                        default=4, help_text="Maximum number of examples in a prompt."
                    ),
                ),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("published_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "repair_model",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="Repairs replies that cannot be parsed. Leave empty to use the judge itself.",
                        limit_choices_to={"kind": "model"},
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical judge template",
                "verbose_name_plural": "historical judge templates",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalLibraryCriterion",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("key", models.SlugField(help_text="Never changes.", max_length=80)),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=120)),
                (
                    "shelf",
                    models.CharField(
                        choices=[
                            ("quality", "Quality"),
                            ("safety", "Safety and harms"),
                            ("style", "Style"),
                            ("grounding", "Grounding"),
                            ("reasoning", "Reasoning"),
                            ("summarisation", "Summarisation"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("direct", "Direct"), ("pairwise", "Pairwise")],
                        default="direct",
                        max_length=10,
                    ),
                ),
                (
                    "judged_text",
                    models.CharField(
                        choices=[
                            ("answer", "The answer"),
                            ("input", "The user's message"),
                            ("context", "The documents"),
                        ],
                        default="answer",
                        max_length=10,
                        verbose_name="judges",
                    ),
                ),
                (
                    "question",
                    models.TextField(
                        help_text="One question that a judge and an annotator can answer by an option.",
                        max_length=1000,
                    ),
                ),
                (
                    "description",
                    models.TextField(
                        blank=True,
                        help_text="When to use it, in a sentence or two.",
                        max_length=1000,
                    ),
                ),
                (
                    "polarity",
                    models.CharField(
                        choices=[("should", "should"), ("should_not", "should not")],
                        default="should",
                        help_text="“Should not” if the question asks about a fault.",
                        max_length=10,
                    ),
                ),
                (
                    "scale",
                    models.JSONField(
                        blank=True, default=issues.models.library.binary_scale, null=True
                    ),
                ),
                ("check_name", models.CharField(blank=True, max_length=40, verbose_name="check")),
                ("arguments", models.JSONField(blank=True, default=dict)),
                ("examples", models.JSONField(blank=True, default=dict)),
                ("tags", models.JSONField(blank=True, default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[("current", "Current"), ("retired", "Retired")],
                        default="current",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical library criterion",
                "verbose_name_plural": "historical library criteria",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="JudgeTemplate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "family",
                    models.SlugField(
                        help_text="Shared by all versions of a template.", max_length=80
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("title", models.CharField(max_length=120)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("published", "Published"),
                            ("retired", "Retired"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "text",
                    models.TextField(
                        help_text="Prompt with {{ input }}, {{ output }}, {{ reference }}, …"
                    ),
                ),
                ("shows_input", models.BooleanField(default=True)),
                ("shows_reference", models.BooleanField(default=True)),
                ("shows_guidelines", models.BooleanField(default=True)),
                ("shows_whole_rubric", models.BooleanField(default=False)),
                (
                    "reply_form",
                    models.CharField(
                        choices=[
                            ("verdict", "reasons and a score (JSON or XML)"),
                            ("label", "a label of the scale, nothing else"),
                        ],
                        default="verdict",
                        max_length=8,
                    ),
                ),
                ("scale", models.JSONField(default=issues.rubrics.scales.binary_json)),
                (
                    "example_choice",
                    models.CharField(
                        choices=[
                            ("fixed", "first ones, in order"),
                            ("nearest", "most similar to the case"),
                        ],
                        default="fixed",
                        max_length=7,
                    ),
                ),
                (
                    "examples_shown",
                    models.PositiveSmallIntegerField(
                        default=4, help_text="Maximum number of examples in a prompt."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("published_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "repair_model",
                    models.ForeignKey(
                        blank=True,
                        help_text="Repairs replies that cannot be parsed. Leave empty to use the judge itself.",
                        limit_choices_to={"kind": "model"},
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
            ],
            options={
                "ordering": ("family", "-version"),
                "permissions": [("publish_judgetemplate", "Can publish judge templates")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["draft", "published", "retired"])),
                        name="issues_judgetemplate_state_known",
                        violation_error_message="Choose one of: draft, published, retired.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reply_form__in", ["verdict", "label"])),
                        name="issues_judgetemplate_reply_form_known",
                        violation_error_message="Choose one of: verdict, label.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("example_choice__in", ["fixed", "nearest"])),
                        name="issues_judgetemplate_example_choice_known",
                        violation_error_message="Choose one of: fixed, nearest.",
                    ),
                    models.UniqueConstraint(
                        fields=("family", "version"),
                        name="issues_judgetemplate_version_once",
                        violation_error_message="This template already has that version.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LibraryCriterion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.SlugField(help_text="Never changes.", max_length=80, unique=True)),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=120)),
                (
                    "shelf",
                    models.CharField(
                        choices=[
                            ("quality", "Quality"),
                            ("safety", "Safety and harms"),
                            ("style", "Style"),
                            ("grounding", "Grounding"),
                            ("reasoning", "Reasoning"),
                            ("summarisation", "Summarisation"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("direct", "Direct"), ("pairwise", "Pairwise")],
                        default="direct",
                        max_length=10,
                    ),
                ),
                (
                    "judged_text",
                    models.CharField(
                        choices=[
                            ("answer", "The answer"),
                            ("input", "The user's message"),
                            ("context", "The documents"),
                        ],
                        default="answer",
                        max_length=10,
                        verbose_name="judges",
                    ),
                ),
                (
                    "question",
                    models.TextField(
                        help_text="One question that a judge and an annotator can answer by an option.",
                        max_length=1000,
                    ),
                ),
                (
                    "description",
                    models.TextField(
                        blank=True,
                        help_text="When to use it, in a sentence or two.",
                        max_length=1000,
                    ),
                ),
                (
                    "polarity",
                    models.CharField(
                        choices=[("should", "should"), ("should_not", "should not")],
                        default="should",
                        help_text="“Should not” if the question asks about a fault.",
                        max_length=10,
                    ),
                ),
                (
                    "scale",
                    models.JSONField(
                        blank=True, default=issues.models.library.binary_scale, null=True
                    ),
                ),
                ("check_name", models.CharField(blank=True, max_length=40, verbose_name="check")),
                ("arguments", models.JSONField(blank=True, default=dict)),
                ("examples", models.JSONField(blank=True, default=dict)),
                ("tags", models.JSONField(blank=True, default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[("current", "Current"), ("retired", "Retired")],
                        default="current",
                        max_length=10,
                    ),
                ),
                ("shipped_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("proposal", models.JSONField(editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "library criteria",
                "ordering": ("shelf", "name", "pk"),
                "permissions": [("retire_librarycriterion", "Can retire library criteria")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "shelf__in",
                                [
                                    "quality",
                                    "safety",
                                    "style",
                                    "grounding",
                                    "reasoning",
                                    "summarisation",
                                ],
                            )
                        ),
                        name="issues_librarycriterion_shelf_known",
                        violation_error_message="Choose one of: quality, safety, style, grounding, reasoning, summarisation.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["direct", "pairwise"])),
                        name="issues_librarycriterion_kind_known",
                        violation_error_message="Choose one of: direct, pairwise.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("judged_text__in", ["answer", "input", "context"])),
                        name="issues_librarycriterion_judged_known",
                        violation_error_message="Choose one of: answer, input, context.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("polarity__in", ["should", "should_not"])),
                        name="issues_librarycriterion_polarity_known",
                        violation_error_message="Choose one of: should, should_not.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["current", "retired"])),
                        name="issues_librarycriterion_state_known",
                        violation_error_message="Choose one of: current, retired.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "pairwise"), _negated=True),
                            ("scale__isnull", True),
                            _connector="OR",
                        ),
                        name="issues_librarycriterion_pair_no_scale",
                        violation_error_message="A pairwise criterion has no options.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("domain", "Domain"),
                            ("task_type", "Task Type"),
                            ("other", "Other"),
                        ],
                        default="other",
                        max_length=10,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="issues.tag",
                    ),
                ),
            ],
            options={
                "ordering": ("kind", "name"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["domain", "task_type", "other"])),
                        name="issues_tag_kind_known",
                        violation_error_message="Choose one of: domain, task_type, other.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("parent__isnull", True),
                            models.Q(("parent", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="issues_tag_not_own_parent",
                        violation_error_message="A tag cannot be its own parent.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Issue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                (
                    "description",
                    models.TextField(
                        blank=True, help_text="The wrong behaviour, and how to recognise it."
                    ),
                ),
                (
                    "generic_statement",
                    models.TextField(
                        blank=True,
                        help_text="For readers outside the team. Do not quote the test.",
                        verbose_name="public summary",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In Review"),
                            ("approved", "Approved"),
                            ("resolved", "Resolved"),
                            ("deprecated", "Deprecated"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "severity",
                    models.CharField(
                        choices=[
                            ("low", "Low"),
                            ("medium", "Medium"),
                            ("high", "High"),
                            ("critical", "Critical"),
                        ],
                        default="medium",
                        max_length=10,
                    ),
                ),
                ("resolution_note", models.TextField(blank=True)),
                (
                    "source_id",
                    models.CharField(
                        blank=True,
                        help_text="ID in the system that it was imported from.",
                        max_length=200,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="issues",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="issues.issue",
                    ),
                ),
                (
                    "resolution_labels",
                    models.ManyToManyField(
                        blank=True, related_name="issues", to="issues.resolutionlabel"
                    ),
                ),
                (
                    "tags",
                    models.ManyToManyField(blank=True, related_name="issues", to="issues.tag"),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "permissions": [("approve_issue", "Can approve, resolve and deprecate issues")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["draft", "in_review", "approved", "resolved", "deprecated"],
                            )
                        ),
                        name="issues_issue_state_known",
                        violation_error_message="Choose one of: draft, in_review, approved, resolved, deprecated.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("severity__in", ["low", "medium", "high", "critical"])),
                        name="issues_issue_severity_known",
                        violation_error_message="Choose one of: low, medium, high, critical.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("source_id",),
                        name="issues_issue_source_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Feedback",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "messages",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="The conversation before the answer, if it has more than the prompt.",
                    ),
                ),
                ("prompt", models.TextField(blank=True)),
                ("answer", models.TextField(blank=True)),
                (
                    "rating",
                    models.CharField(
                        choices=[
                            ("up", "thumbs up"),
                            ("down", "thumbs down"),
                            ("none", "not rated"),
                        ],
                        default="none",
                        max_length=4,
                    ),
                ),
                ("comment", models.TextField(blank=True)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="The model that answered.", max_length=200
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        blank=True, help_text="The application that sent it.", max_length=100
                    ),
                ),
                (
                    "raw",
                    models.JSONField(
                        blank=True, default=dict, help_text="Other fields sent with it."
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "New"),
                            ("accepted", "Accepted"),
                            ("dismissed", "Dismissed"),
                            ("duplicate", "Duplicate"),
                        ],
                        default="new",
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True, help_text="Reason or findings of triage.")),
                ("source_id", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "erased_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When its texts were erased.",
                        null=True,
                    ),
                ),
                (
                    "duplicate_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="duplicates",
                        to="issues.feedback",
                    ),
                ),
                (
                    "received_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="feedback",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "feedback",
                "ordering": ("-pk",),
                "permissions": [("erase_feedback", "Can erase the texts of feedback")],
                "indexes": [models.Index(fields=["state", "id"], name="issues_feedback_inbox")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["new", "accepted", "dismissed", "duplicate"])
                        ),
                        name="issues_feedback_state_known",
                        violation_error_message="Choose one of: new, accepted, dismissed, duplicate.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rating__in", ["up", "down", "none"])),
                        name="issues_feedback_rating_known",
                        violation_error_message="Choose one of: up, down, none.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("duplicate_of", None), ("state", "duplicate"), _connector="OR"
                        ),
                        name="issues_feedback_duplicate_stated",
                        violation_error_message="Only a duplicate has an original.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("source", "source_id"),
                        name="issues_feedback_source_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalIssue",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                (
                    "description",
                    models.TextField(
                        blank=True, help_text="The wrong behaviour, and how to recognise it."
                    ),
                ),
                (
                    "generic_statement",
                    models.TextField(
                        blank=True,
                        help_text="For readers outside the team. Do not quote the test.",
                        verbose_name="public summary",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In Review"),
                            ("approved", "Approved"),
                            ("resolved", "Resolved"),
                            ("deprecated", "Deprecated"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "severity",
                    models.CharField(
                        choices=[
                            ("low", "Low"),
                            ("medium", "Medium"),
                            ("high", "High"),
                            ("critical", "Critical"),
                        ],
                        default="medium",
                        max_length=10,
                    ),
                ),
                ("resolution_note", models.TextField(blank=True)),
                (
                    "source_id",
                    models.CharField(
                        blank=True,
                        help_text="ID in the system that it was imported from.",
                        max_length=200,
                    ),
                ),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("updated_at", models.DateTimeField(blank=True, editable=False)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "assignee",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical issue",
                "verbose_name_plural": "historical issues",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalFeedback",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "messages",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="The conversation before the answer, if it has more than the prompt.",
                    ),
                ),
                ("prompt", models.TextField(blank=True)),
                ("answer", models.TextField(blank=True)),
                (
                    "rating",
                    models.CharField(
                        choices=[
                            ("up", "thumbs up"),
                            ("down", "thumbs down"),
                            ("none", "not rated"),
                        ],
                        default="none",
                        max_length=4,
                    ),
                ),
                ("comment", models.TextField(blank=True)),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="The model that answered.", max_length=200
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        blank=True, help_text="The application that sent it.", max_length=100
                    ),
                ),
                (
                    "raw",
                    models.JSONField(
                        blank=True, default=dict, help_text="Other fields sent with it."
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "New"),
                            ("accepted", "Accepted"),
                            ("dismissed", "Dismissed"),
                            ("duplicate", "Duplicate"),
                        ],
                        default="new",
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True, help_text="Reason or findings of triage.")),
                ("source_id", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                (
                    "erased_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When its texts were erased.",
                        null=True,
                    ),
                ),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "duplicate_of",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.feedback",
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "received_by",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical feedback",
                "verbose_name_plural": "historical feedback",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "author_name",
                    models.CharField(
                        blank=True,
                        help_text="Author of an imported comment, if without an account.",
                        max_length=150,
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="HistoricalTest",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "messages",
                    models.JSONField(validators=[issues.content.conversation.check_messages]),
                ),
                (
                    "tools",
                    models.JSONField(
                        blank=True, default=list, help_text="Tools offered to the model."
                    ),
                ),
                (
                    "context",
                    models.TextField(
                        blank=True, help_text="Documents, sent to the model word for word."
                    ),
                ),
                ("reference", models.TextField(blank=True, verbose_name="reference answer")),
                (
                    "reference_by",
                    models.CharField(
                        choices=[("human", "Human"), ("model", "Model"), ("unknown", "Unknown")],
                        default="human",
                        max_length=7,
                    ),
                ),
                (
                    "flagged_answer",
                    models.TextField(blank=True, help_text="The wrong answer from the feedback."),
                ),
                (
                    "guidelines",
                    models.TextField(blank=True, help_text="Instructions for judges of this test."),
                ),
                (
                    "pass_threshold",
                    models.FloatField(
                        blank=True,
                        help_text="Leave empty to use the template's threshold.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In Review"),
                            ("approved", "Approved"),
                            ("deprecated", "Deprecated"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("human", "written by hand"),
                            ("feedback", "made from feedback"),
                            ("imported", "Imported"),
                            ("generated", "synthetic"),
                        ],
                        default="human",
                        max_length=10,
                    ),
                ),
                (
                    "sealed",
                    models.BooleanField(
                        default=False,
                        help_text="Only users who may read sealed tests see its text.",
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "extras",
                    models.JSONField(
                        blank=True, default=dict, help_text="Other fields of its source."
                    ),
                ),
                ("source_id", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("updated_at", models.DateTimeField(blank=True, editable=False)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical test",
                "verbose_name_plural": "historical tests",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Merge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("moved", models.JSONField(default=dict)),
                ("changed", models.JSONField(default=dict)),
                (
                    "state_before",
                    models.CharField(help_text="State of the merged issue.", max_length=10),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "kept",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="taken_in",
                        to="issues.issue",
                    ),
                ),
                (
                    "merged_away",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merges",
                        to="issues.issue",
                    ),
                ),
                (
                    "undone_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)),
                        fields=("merged_away",),
                        name="issues_merge_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("merged_away", models.F("kept")), _negated=True),
                        name="issues_merge_two_issues",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalIssue_resolution_labels",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="issues.historicalissue",
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
                (
                    "resolutionlabel",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.resolutionlabel",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalIssue_resolution_labels",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("general", "General"), ("url", "link"), ("github", "GitHub")],
                        default="general",
                        max_length=10,
                    ),
                ),
                ("value", models.CharField(max_length=500)),
                (
                    "issue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sources",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["general", "url", "github"])),
                        name="issues_source_kind_known",
                        violation_error_message="Choose one of: general, url, github.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalTag",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=100)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("domain", "Domain"),
                            ("task_type", "Task Type"),
                            ("other", "Other"),
                        ],
                        default="other",
                        max_length=10,
                    ),
                ),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.tag",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical tag",
                "verbose_name_plural": "historical tags",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalIssue_tags",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="issues.historicalissue",
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.tag",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalIssue_tags",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="TemplateVariant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                (
                    "language_model",
                    models.ForeignKey(
                        limit_choices_to={"kind": "model"},
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="variants",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("template", "language_model"),
                        name="issues_templatevariant_once",
                        violation_error_message="This template already has a prompt variant for that model.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Test",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "messages",
                    models.JSONField(validators=[issues.content.conversation.check_messages]),
                ),
                (
                    "tools",
                    models.JSONField(
                        blank=True, default=list, help_text="Tools offered to the model."
                    ),
                ),
                (
                    "context",
                    models.TextField(
                        blank=True, help_text="Documents, sent to the model word for word."
                    ),
                ),
                ("reference", models.TextField(blank=True, verbose_name="reference answer")),
                (
                    "reference_by",
                    models.CharField(
                        choices=[("human", "Human"), ("model", "Model"), ("unknown", "Unknown")],
                        default="human",
                        max_length=7,
                    ),
                ),
                (
                    "flagged_answer",
                    models.TextField(blank=True, help_text="The wrong answer from the feedback."),
                ),
                (
                    "guidelines",
                    models.TextField(blank=True, help_text="Instructions for judges of this test."),
                ),
                (
                    "pass_threshold",
                    models.FloatField(
                        blank=True,
                        help_text="Leave empty to use the template's threshold.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In Review"),
                            ("approved", "Approved"),
                            ("deprecated", "Deprecated"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("human", "written by hand"),
                            ("feedback", "made from feedback"),
                            ("imported", "Imported"),
                            ("generated", "synthetic"),
                        ],
                        default="human",
                        max_length=10,
                    ),
                ),
                (
                    "sealed",
                    models.BooleanField(
                        default=False,
                        help_text="Only users who may read sealed tests see its text.",
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "extras",
                    models.JSONField(
                        blank=True, default=dict, help_text="Other fields of its source."
                    ),
                ),
                ("source_id", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tests",
                        to="issues.issue",
                    ),
                ),
                (
                    "tags",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Besides the tags of its issue.",
                        related_name="tests",
                        to="issues.tag",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tests",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "permissions": [
                    ("approve_test", "Can approve and deprecate tests"),
                    ("read_sealed_test", "Can read the text of sealed tests"),
                    ("try_test", "Can ask models and judges about a test while writing it"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["draft", "in_review", "approved", "deprecated"])
                        ),
                        name="issues_test_state_known",
                        violation_error_message="Choose one of: draft, in_review, approved, deprecated.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("origin__in", ["human", "feedback", "imported", "generated"])
                        ),
                        name="issues_test_origin_known",
                        violation_error_message="Choose one of: human, feedback, imported, generated.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reference_by__in", ["human", "model", "unknown"])),
                        name="issues_test_reference_by_known",
                        violation_error_message="Choose one of: human, model, unknown.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("pass_threshold__isnull", True),
                            ("pass_threshold__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="issues_test_threshold_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("weight__gte", 0.1), ("weight__lte", 10)),
                        name="issues_test_weight_range",
                        violation_error_message="Choose a weight from 0.1 to 10.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("source_id",),
                        name="issues_test_source_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("content", models.JSONField()),
                ("pass_threshold", models.FloatField(default=0.5)),
                (
                    "pass_rule",
                    models.CharField(
                        choices=[("strict", "strict"), ("inclusive", "inclusive")],
                        default=issues.rubrics.scales.PassRule["STRICT"],
                        max_length=9,
                    ),
                ),
                (
                    "asked_digest",
                    models.CharField(db_index=True, max_length=64, verbose_name="input digest"),
                ),
                ("digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "ordering": ("test", "-number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("test", "number"), name="issues_revision_number_once"
                    ),
                    models.UniqueConstraint(
                        fields=("test", "digest"), name="issues_revision_digest_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FrozenCriterion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(blank=True, editable=False, max_length=40)),
                (
                    "text",
                    models.TextField(
                        blank=True, help_text="A property of the answer, in one sentence."
                    ),
                ),
                (
                    "polarity",
                    models.CharField(
                        choices=[("should", "should"), ("should_not", "should not")],
                        default="should",
                        max_length=10,
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "alternative",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Leave empty if required. Criteria with the same number form one alternative; any one alternative suffices.",
                        null=True,
                        verbose_name="alternative",
                    ),
                ),
                (
                    "mandatory",
                    models.BooleanField(
                        default=False, help_text="If not met, the whole score is 0."
                    ),
                ),
                ("check_name", models.CharField(blank=True, max_length=40, verbose_name="check")),
                ("arguments", models.JSONField(blank=True, default=dict)),
                ("citation", models.TextField(blank=True, help_text="Source of this requirement.")),
                ("order", models.PositiveSmallIntegerField(default=0)),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="criteria",
                        to="issues.revision",
                    ),
                ),
            ],
            options={
                "ordering": ("revision", "order"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("polarity__in", ["should", "should_not"])),
                        name="issues_frozencriterion_polarity_known",
                        violation_error_message="Choose one of: should, should_not.",
                    ),
                    models.UniqueConstraint(
                        fields=("revision", "key"), name="issues_frozencriterion_key_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TemplateExample",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("order", models.PositiveSmallIntegerField(default=0)),
                ("input", models.TextField(blank=True)),
                ("output", models.TextField()),
                ("reference", models.TextField(blank=True)),
                ("guidelines", models.TextField(blank=True)),
                (
                    "criterion",
                    models.TextField(blank=True, help_text="Leave empty for the test as a whole."),
                ),
                ("option", models.CharField(max_length=60)),
                ("justification", models.TextField(blank=True)),
                (
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examples",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="template_examples",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "ordering": ("template", "order", "pk"),
            },
        ),
        migrations.CreateModel(
            name="ImageUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "feedback",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="image_uses",
                        to="issues.feedback",
                    ),
                ),
                (
                    "image",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="evalhub.image",
                    ),
                ),
                (
                    "uploader",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="image_uses",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("test__isnull", False)),
                        fields=("image", "test"),
                        name="issues_imageuse_test_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("feedback__isnull", False)),
                        fields=("image", "feedback"),
                        name="issues_imageuse_feedback_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("uploader__isnull", False)),
                        fields=("image", "uploader"),
                        name="issues_imageuse_uploader_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("test", None), ("feedback", None), _connector="OR"),
                        name="issues_imageuse_one_holder",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalTest_tags",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="issues.historicaltest",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.tag",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalTest_tags",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalCriterion",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(blank=True, editable=False, max_length=40)),
                (
                    "text",
                    models.TextField(
                        blank=True, help_text="A property of the answer, in one sentence."
                    ),
                ),
                (
                    "polarity",
                    models.CharField(
                        choices=[("should", "should"), ("should_not", "should not")],
                        default="should",
                        max_length=10,
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "alternative",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Leave empty if required. Criteria with the same number form one alternative; any one alternative suffices.",
                        null=True,
                        verbose_name="alternative",
                    ),
                ),
                (
                    "mandatory",
                    models.BooleanField(
                        default=False, help_text="If not met, the whole score is 0."
                    ),
                ),
                ("check_name", models.CharField(blank=True, max_length=40, verbose_name="check")),
                ("arguments", models.JSONField(blank=True, default=dict)),
                ("citation", models.TextField(blank=True, help_text="Source of this requirement.")),
                ("order", models.PositiveSmallIntegerField(default=0)),
                ("library_key", models.CharField(blank=True, db_index=True, max_length=80)),
                ("library_version", models.PositiveIntegerField(blank=True, null=True)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical criterion",
                "verbose_name_plural": "historical criteria",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Generation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("live", "running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                            ("done", "Done"),
                        ],
                        default="live",
                        max_length=10,
                    ),
                ),
                (
                    "reason",
                    models.TextField(
                        blank=True, help_text="Why it was paused, cancelled or failed."
                    ),
                ),
                (
                    "cost_limit_usd",
                    models.DecimalField(
                        blank=True,
                        decimal_places=4,
                        help_text="Empty: no limit.",
                        max_digits=12,
                        null=True,
                    ),
                ),
                (
                    "spent_usd",
                    models.DecimalField(
                        decimal_places=8,
                        default=0,
                        help_text="Of the calls with known cost.",
                        max_digits=14,
                    ),
                ),
                (
                    "unpriced_calls",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Calls that may be billed, at a cost that is not known.",
                    ),
                ),
                (
                    "request_id",
                    models.CharField(
                        blank=True,
                        default=evalhub.logs.request_id,
                        editable=False,
                        help_text="Of the web request that started it; the workers log it.",
                        max_length=64,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("endpoint", models.JSONField()),
                ("judge_endpoint", models.JSONField(blank=True, null=True)),
                ("settings", models.JSONField()),
                (
                    "passages",
                    models.JSONField(
                        default=list,
                        help_text="Of the uploaded documents: document, page and text.",
                    ),
                ),
                (
                    "overruled",
                    models.TextField(
                        blank=True,
                        help_text="Why this generator was used although it is not independent.",
                    ),
                ),
                (
                    "passage",
                    models.JSONField(
                        blank=True, help_text="The one that this batch rests on.", null=True
                    ),
                ),
                ("borderline", models.JSONField(blank=True, null=True)),
                ("inputs", models.JSONField(blank=True, null=True)),
                (
                    "prepared_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When borderline option and input were there.",
                        null=True,
                    ),
                ),
                (
                    "failures",
                    models.JSONField(
                        default=list,
                        help_text="Replies about borderline option and input that were not usable.",
                    ),
                ),
                (
                    "follows",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="followers",
                        to="issues.generation",
                    ),
                ),
                (
                    "generator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generations",
                        to="issues.issue",
                    ),
                ),
                ("sources", models.ManyToManyField(blank=True, related_name="+", to="issues.test")),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        help_text="The test whose judge settings accepted drafts take.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "verbose_name": "batch of drafts",
                "verbose_name_plural": "batches of drafts",
                "ordering": ("-pk",),
                "permissions": [("draft_tests", "Can have models draft tests and edit texts")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="issues_generation_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Edit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("accepted", "Accepted"),
                            ("rejected", "Rejected"),
                            ("undone", "Undone"),
                        ],
                        default="proposed",
                        max_length=8,
                    ),
                ),
                ("field", models.CharField(db_index=True, max_length=120)),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("rephrase", "Rephrase"),
                            ("counterfactual", "Regenerate as a counterfactual"),
                            ("elaborate", "Elaborate"),
                            ("shorten", "Shorten"),
                            ("feedback", "Apply the judge’s feedback"),
                            ("own", "Follow an instruction of your own"),
                        ],
                        max_length=14,
                    ),
                ),
                ("instruction", models.TextField(blank=True)),
                ("start", models.PositiveIntegerField()),
                ("before", models.TextField(blank=True)),
                ("after", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "language_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "proposal",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="steps",
                        to="issues.edit",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="edits",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["proposed", "accepted", "rejected", "undone"])
                        ),
                        name="issues_edit_state_known",
                        violation_error_message="Choose one of: proposed, accepted, rejected, undone.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "action__in",
                                [
                                    "rephrase",
                                    "counterfactual",
                                    "elaborate",
                                    "shorten",
                                    "feedback",
                                    "own",
                                ],
                            )
                        ),
                        name="issues_edit_action_known",
                        violation_error_message="Choose one of: rephrase, counterfactual, elaborate, shorten, feedback, own.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("proposal__isnull", True), ("state", "proposed")),
                            models.Q(
                                models.Q(("state", "proposed"), _negated=True),
                                ("proposal__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="issues_edit_step_of_proposal",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("accepted", "rejected"))),
                        fields=("proposal",),
                        name="issues_edit_decided_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "undone")),
                        fields=("proposal",),
                        name="issues_edit_undone_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("done", "Done"),
                            ("error", "Error"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "claimed_at",
                    models.DateTimeField(
                        blank=True, help_text="When the worker took it.", null=True
                    ),
                ),
                ("next_try_at", models.DateTimeField(blank=True, null=True)),
                ("error_kind", models.CharField(blank=True, max_length=30)),
                ("error_message", models.TextField(blank=True)),
                ("option", models.CharField(blank=True, max_length=60)),
                ("is_borderline", models.BooleanField(default=False)),
                (
                    "winner",
                    models.CharField(
                        blank=True, help_text="Of a pair: first or second.", max_length=6
                    ),
                ),
                ("messages", models.JSONField(blank=True, default=list)),
                (
                    "context",
                    models.TextField(blank=True, help_text="The passage that it rests on."),
                ),
                ("answer", models.TextField(blank=True)),
                ("second_answer", models.TextField(blank=True)),
                (
                    "rationale",
                    models.TextField(
                        blank=True, help_text="Why it shows the option, by its generator."
                    ),
                ),
                (
                    "failures",
                    models.JSONField(
                        default=list,
                        help_text="Replies that were not usable as they were: asked, reason, reply.",
                    ),
                ),
                ("label", models.CharField(blank=True, max_length=60)),
                ("label_reason", models.TextField(blank=True)),
                ("label_error", models.TextField(blank=True)),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("accepted", "Accepted"),
                            ("rejected", "Rejected"),
                            ("dropped", "dropped as a near duplicate"),
                        ],
                        default="proposed",
                        max_length=8,
                    ),
                ),
                ("dropped_for", models.CharField(blank=True, max_length=60)),
                ("expected", models.CharField(blank=True, max_length=60)),
                ("was_edited", models.BooleanField(default=False)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "call",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.call",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evalhub.worker",
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drafts",
                        to="issues.generation",
                    ),
                ),
                (
                    "test",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="draft",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "ordering": ("generation", "pk"),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["generation", "id"],
                        name="issues_draft_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="issues_draft_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("decision__in", ["proposed", "accepted", "rejected", "dropped"])
                        ),
                        name="issues_draft_decision_known",
                        violation_error_message="Choose one of: proposed, accepted, rejected, dropped.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("winner__in", ("", "first", "second"))),
                        name="issues_draft_winner_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(("answer", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="issues_draft_done_has_answer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("decision", "proposed"), ("state", "done"), _connector="OR"
                        ),
                        name="issues_draft_accepted_was_done",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Criterion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(blank=True, editable=False, max_length=40)),
                (
                    "text",
                    models.TextField(
                        blank=True, help_text="A property of the answer, in one sentence."
                    ),
                ),
                (
                    "polarity",
                    models.CharField(
                        choices=[("should", "should"), ("should_not", "should not")],
                        default="should",
                        max_length=10,
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "alternative",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Leave empty if required. Criteria with the same number form one alternative; any one alternative suffices.",
                        null=True,
                        verbose_name="alternative",
                    ),
                ),
                (
                    "mandatory",
                    models.BooleanField(
                        default=False, help_text="If not met, the whole score is 0."
                    ),
                ),
                ("check_name", models.CharField(blank=True, max_length=40, verbose_name="check")),
                ("arguments", models.JSONField(blank=True, default=dict)),
                ("citation", models.TextField(blank=True, help_text="Source of this requirement.")),
                ("order", models.PositiveSmallIntegerField(default=0)),
                ("library_key", models.CharField(blank=True, db_index=True, max_length=80)),
                ("library_version", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "test",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="criteria",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "criteria",
                "ordering": ("test", "order", "pk"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("polarity__in", ["should", "should_not"])),
                        name="issues_criterion_polarity_known",
                        violation_error_message="Choose one of: should, should_not.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("weight__gte", 0.1), ("weight__lte", 10)),
                        name="issues_criterion_weight_range",
                        violation_error_message="Choose a weight from 0.1 to 10.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("check_name", ""), ("text", ""), _negated=True),
                        name="issues_criterion_says_something",
                        violation_error_message="Enter the criterion, or choose a check.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("key", ""), _negated=True),
                        name="issues_criterion_has_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("mandatory", False), ("alternative__isnull", True), _connector="OR"
                        ),
                        name="issues_criterion_mandatory_no_alternative",
                        violation_error_message="A criterion in an alternative cannot be mandatory.",
                    ),
                    models.UniqueConstraint(
                        fields=("test", "key"), name="issues_criterion_key_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TestComment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "author_name",
                    models.CharField(
                        blank=True,
                        help_text="Author of an imported comment, if without an account.",
                        max_length=150,
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
            },
        ),
    ]
