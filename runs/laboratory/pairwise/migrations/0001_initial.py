import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import evalhub.logs


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evalhub", "0001_initial"),
        ("evalhub", "__first__"),
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Pair",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pairs_as_first",
                        to="runs.result",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pairs_as_second",
                        to="runs.result",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(fields=("first", "second"), name="pairwise_pair_once"),
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))),
                        name="pairwise_pair_in_order",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PairEvaluation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "choice",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("first", "the first answer"),
                            ("second", "the second answer"),
                            ("tie", "equal"),
                        ],
                        max_length=6,
                    ),
                ),
                ("order", models.PositiveSmallIntegerField()),
                ("justification", models.TextField(blank=True)),
                ("blind", models.BooleanField(default=False)),
                (
                    "seconds",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="seconds taken"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pair_evaluations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evaluations",
                        to="pairwise.pair",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("choice__in", ("first", "second", "tie", ""))),
                        name="pairwise_pair_evaluation_choice_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__in", (0, 1))),
                        name="pairwise_pair_evaluation_order_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PairwiseJudgeRun",
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
                (
                    "criterion",
                    models.TextField(
                        blank=True,
                        help_text="What makes an answer better. Empty: each test's guidelines.",
                    ),
                ),
                ("ties", models.BooleanField(default=True, verbose_name="ties allowed")),
                ("method", models.CharField(db_index=True, max_length=64)),
                (
                    "language_model",
                    models.ForeignKey(
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
                ("runs", models.ManyToManyField(related_name="pairwise_judge_runs", to="runs.run")),
            ],
            options={
                "verbose_name": "pairwise judge run",
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="pairwise_judge_run_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PairJudgment",
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
                ("order", models.PositiveSmallIntegerField()),
                (
                    "choice",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("first", "the first answer"),
                            ("second", "the second answer"),
                            ("tie", "equal"),
                        ],
                        max_length=6,
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
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="pairwise.pair",
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
                    "judge_run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="pairwise.pairwisejudgerun",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["judge_run", "id"],
                        name="pairwise_pair_judgment_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="pairwise_pair_judgment_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.UniqueConstraint(
                        fields=("judge_run", "pair", "order"), name="pairwise_pair_judgment_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__in", (0, 1))),
                        name="pairwise_pair_judgment_order_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("choice__in", ["first", "second", "tie"]), ("state", "done")),
                            models.Q(models.Q(("state", "done"), _negated=True), ("choice", "")),
                            _connector="OR",
                        ),
                        name="pairwise_pair_judgment_done_has_choice",
                    ),
                ],
            },
        ),
    ]
