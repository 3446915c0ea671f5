import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import evalhub.logs


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evalhub", "0001_initial"),
        ("evalhub", "__first__"),
        ("issues", "0001_initial"),
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tuning",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "annotators",
                    models.CharField(
                        choices=[
                            ("all", "all human verdicts"),
                            ("random", "only blind verdicts on randomly drawn answers"),
                        ],
                        default="all",
                        max_length=6,
                    ),
                ),
                (
                    "seed",
                    models.PositiveBigIntegerField(help_text="Seed that assigns tests to splits."),
                ),
                ("left_out", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tunings",
                        to="runs.judge",
                    ),
                ),
                (
                    "suite",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="runs.suite",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.tag",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tunings",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "verbose_name": "judge tuning",
                "verbose_name_plural": "judge tunings",
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("annotators__in", ["all", "random"])),
                        name="tuning_tuning_annotators_known",
                        violation_error_message="Choose one of: all, random.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
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
                ("number", models.PositiveSmallIntegerField()),
                ("content", models.JSONField()),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("frozen_judge", models.JSONField()),
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
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "tuning",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="tuning.tuning",
                    ),
                ),
            ],
            options={
                "ordering": ("tuning", "number"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="tuning_attempt_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.UniqueConstraint(
                        fields=("tuning", "number"), name="tuning_attempt_number_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Publication",
            fields=[
                (
                    "template",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="publication",
                        serialize=False,
                        to="issues.judgetemplate",
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("figures", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="publications",
                        to="tuning.attempt",
                    ),
                ),
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
                    "tuning",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="publications",
                        to="tuning.tuning",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("attempt__isnull", False),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="tuning_publication_attempt_or_reason",
                        violation_error_message="Test the draft first, or give a reason.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LabelledExample",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "split",
                    models.CharField(
                        choices=[
                            ("development", "development split"),
                            ("held_out", "held-out split"),
                        ],
                        max_length=12,
                    ),
                ),
                ("value", models.FloatField()),
                ("passed", models.BooleanField()),
                ("judge_value", models.FloatField(blank=True, null=True)),
                ("judge_passed", models.BooleanField(blank=True, null=True)),
                ("is_example", models.BooleanField(default=False)),
                (
                    "criterion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="issues.frozencriterion",
                    ),
                ),
                (
                    "judge_run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.judgerun",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.result",
                    ),
                ),
                (
                    "tuning",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examples",
                        to="tuning.tuning",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("split__in", ["development", "held_out"])),
                        name="tuning_labelled_example_split_known",
                        violation_error_message="Choose one of: development, held_out.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("value__isnull", True), ("value__range", (0, 1)), _connector="OR"
                        ),
                        name="tuning_labelled_example_value_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("judge_value__isnull", True),
                            ("judge_value__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="tuning_labelled_example_judge_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.UniqueConstraint(
                        fields=("tuning", "result", "criterion"),
                        name="tuning_labelled_example_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AttemptJudgment",
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
                ("justification", models.TextField(blank=True)),
                ("was_repaired", models.BooleanField(default=False)),
                ("sample", models.PositiveSmallIntegerField(default=0)),
                ("option", models.CharField(blank=True, max_length=60)),
                ("value", models.FloatField(blank=True, null=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="tuning.attempt",
                    ),
                ),
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
                    "labelled_example",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="tuning.labelledexample",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["attempt", "id"],
                        name="tuning_attempt_judgment_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="tuning_attempt_judgment_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("value__isnull", True), ("value__range", (0, 1)), _connector="OR"
                        ),
                        name="tuning_attempt_judgment_value_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), ("value__isnull", False)),
                            models.Q(
                                models.Q(("state", "done"), _negated=True), ("value__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="tuning_attempt_judgment_done_has_value",
                    ),
                    models.UniqueConstraint(
                        fields=("attempt", "labelled_example", "sample"),
                        name="tuning_attempt_judgment_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PromptAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_edited", models.BooleanField(default=False)),
                (
                    "question",
                    models.CharField(
                        choices=[
                            ("reading", "How does the judge read this prompt?"),
                            ("difference", "What makes the difference?"),
                        ],
                        max_length=10,
                    ),
                ),
                ("ideal", models.TextField(blank=True)),
                ("poor", models.TextField(blank=True)),
                ("answer", models.TextField()),
                ("sealed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "asked_by",
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
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompt_answers",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("question__in", ["reading", "difference"])),
                        name="tuning_prompt_answer_question_known",
                        violation_error_message="Choose one of: reading, difference.",
                    )
                ],
            },
        ),
    ]
