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
            name="ReversedJudgeRun",
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
                ("results", models.PositiveIntegerField(help_text="Results drawn at random.")),
                (
                    "seed",
                    models.PositiveIntegerField(help_text="The same seed draws the same results."),
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
                    "requested_by",
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
                "verbose_name": "reversed judge run",
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="position_bias_run_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReversedJudgment",
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
                ("option", models.CharField(blank=True, max_length=60)),
                ("value", models.FloatField(blank=True, null=True)),
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
                    "judge_run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="position_bias.reversedjudgerun",
                    ),
                ),
                (
                    "judgment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.judgment",
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
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["judge_run", "id"],
                        name="position_bias_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="position_bias_judgment_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.UniqueConstraint(
                        fields=("judge_run", "judgment"), name="position_bias_judgment_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), ("value__isnull", False)),
                            models.Q(
                                models.Q(("state", "done"), _negated=True), ("value__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="position_bias_judgment_done_has_value",
                    ),
                ],
            },
        ),
    ]
