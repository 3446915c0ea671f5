import django.core.validators
import django.db.models.deletion
import simple_history.models
from django.conf import settings
from django.db import migrations, models

import evalhub.logs
import reports.models.schedule


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
            name="Capability",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("description", models.TextField(blank=True)),
                (
                    "order",
                    models.PositiveSmallIntegerField(default=0, help_text="Position in lists."),
                ),
            ],
            options={
                "verbose_name_plural": "capabilities",
                "ordering": ("order", "name"),
            },
        ),
        migrations.CreateModel(
            name="ExecutiveSummary",
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
                ("suite_fingerprint", models.CharField(max_length=64)),
                ("analyst_name", models.CharField(max_length=100)),
                ("endpoint", models.JSONField(default=dict)),
                (
                    "context_tokens",
                    models.PositiveIntegerField(
                        help_text="Input and output tokens at most; larger runs are reduced to fit."
                    ),
                ),
                ("seed", models.PositiveBigIntegerField(help_text="Determines the anonymous ids.")),
                ("content", models.JSONField(blank=True, default=dict)),
                ("tags", models.JSONField(blank=True, default=list)),
                ("is_scripted", models.BooleanField(default=False)),
                (
                    "analyst",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="summaries",
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
                ("runs", models.ManyToManyField(related_name="summaries", to="runs.run")),
                (
                    "suite",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="summaries",
                        to="runs.suite",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "executive summaries",
                "ordering": ("-pk",),
                "permissions": [("ask_summary", "Can request executive summaries")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="reports_summary_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("context_tokens__gte", 1)),
                        name="reports_summary_context_positive",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Exchange",
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
                ("number", models.PositiveSmallIntegerField(default=1)),
                ("sent", models.JSONField(blank=True, default=list)),
                ("key", models.JSONField(blank=True, default=dict)),
                ("figures", models.JSONField(blank=True, default=dict)),
                ("masked", models.JSONField(blank=True, default=dict)),
                ("notes", models.JSONField(blank=True, default=list)),
                ("received", models.TextField(blank=True)),
                ("repair", models.JSONField(blank=True, default=list)),
                (
                    "is_current",
                    models.BooleanField(
                        default=False,
                        help_text="The summary's content and grades are from this attempt.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                ("tests", models.ManyToManyField(blank=True, related_name="+", to="issues.test")),
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
                    "summary",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exchanges",
                        to="reports.executivesummary",
                    ),
                ),
            ],
            options={
                "ordering": ("summary", "number"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="reports_exchange_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.UniqueConstraint(
                        fields=("summary", "number"), name="reports_exchange_number_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("summary",),
                        name="reports_exchange_one_current",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "pending")),
                        fields=("summary",),
                        name="reports_exchange_one_pending",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Grade",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model_name", models.CharField(help_text="As in the runs.", max_length=100)),
                (
                    "dimension",
                    models.CharField(
                        choices=[
                            ("adherence", "adherence"),
                            ("clarity", "clarity"),
                            ("tone", "tone"),
                            ("depth", "depth"),
                            ("coherence", "coherence"),
                            ("helpfulness", "helpfulness"),
                            ("credibility", "credibility"),
                            ("empathy", "empathy"),
                            ("creativity", "creativity"),
                            ("safety", "safety"),
                            ("humility", "humility"),
                            ("argumentation", "argumentation"),
                            ("efficiency", "efficiency"),
                        ],
                        max_length=20,
                    ),
                ),
                ("grade", models.FloatField(blank=True, null=True)),
                ("reasoning", models.TextField(blank=True)),
                (
                    "language_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grades",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "summary",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grades",
                        to="reports.executivesummary",
                    ),
                ),
            ],
            options={
                "ordering": ("summary", "model_name", "dimension"),
                "indexes": [
                    models.Index(
                        fields=["dimension", "language_model"], name="reports_grade_dimension"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "dimension__in",
                                (
                                    "adherence",
                                    "clarity",
                                    "tone",
                                    "depth",
                                    "coherence",
                                    "helpfulness",
                                    "credibility",
                                    "empathy",
                                    "creativity",
                                    "safety",
                                    "humility",
                                    "argumentation",
                                    "efficiency",
                                ),
                            )
                        ),
                        name="reports_grade_dimension_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("grade__isnull", True), ("grade__range", (1, 10)), _connector="OR"
                        ),
                        name="reports_grade_range",
                    ),
                    models.UniqueConstraint(
                        fields=("summary", "language_model", "dimension"), name="reports_grade_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalCapability",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=100)),
                ("description", models.TextField(blank=True)),
                (
                    "order",
                    models.PositiveSmallIntegerField(default=0, help_text="Position in lists."),
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
            ],
            options={
                "verbose_name": "historical capability",
                "verbose_name_plural": "historical capabilities",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalCapabilityWeight",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("dimension", "Dimension"),
                            ("topic", "Topic"),
                            ("suite", "Suite"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Key of a dimension, name of a topic, or name of a suite.",
                        max_length=200,
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.05),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[("document", "methodology"), ("ours", "workspace")],
                        default="ours",
                        editable=False,
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
                    "capability",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="reports.capability",
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
                "verbose_name": "historical capability weight",
                "verbose_name_plural": "historical capability weights",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="ReportSchedule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cron",
                    models.CharField(
                        blank=True,
                        help_text="For example 0 6 * * 1 for Mondays at 06:00. Leave empty to run once.",
                        max_length=100,
                    ),
                ),
                ("is_paused", models.BooleanField(default=False)),
                ("next_at", models.DateTimeField(blank=True, null=True)),
                ("last_at", models.DateTimeField(blank=True, null=True)),
                ("last_outcome", models.TextField(blank=True)),
                ("title", models.CharField(max_length=150)),
                ("page", models.CharField(editable=False, max_length=40)),
                ("query", models.TextField(blank=True, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "addresses",
                    models.TextField(
                        blank=True,
                        help_text="Of people without an account. Separate several by commas or spaces.",
                        validators=[reports.models.schedule.validate_addresses],
                        verbose_name="e-mail addresses",
                    ),
                ),
                (
                    "people",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Notified of each snapshot on the site and by e-mail, as they chose.",
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("title", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("content", models.JSONField()),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="snapshots",
                        to="reports.reportschedule",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="CapabilityWeight",
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
                        choices=[
                            ("dimension", "Dimension"),
                            ("topic", "Topic"),
                            ("suite", "Suite"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Key of a dimension, name of a topic, or name of a suite.",
                        max_length=200,
                    ),
                ),
                (
                    "weight",
                    models.FloatField(
                        default=1,
                        validators=[
                            django.core.validators.MinValueValidator(0.05),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[("document", "methodology"), ("ours", "workspace")],
                        default="ours",
                        editable=False,
                        max_length=10,
                    ),
                ),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights",
                        to="reports.capability",
                    ),
                ),
            ],
            options={
                "ordering": ("capability", "kind", "-weight", "name"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["dimension", "topic", "suite"])),
                        name="reports_capabilityweight_kind_known",
                        violation_error_message="Choose one of: dimension, topic, suite.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("origin__in", ["document", "ours"])),
                        name="reports_capabilityweight_origin_known",
                        violation_error_message="Choose one of: document, ours.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("weight__range", (0.05, 10))),
                        name="reports_capabilityweight_range",
                        violation_error_message="Choose a weight from 0.05 to 10.",
                    ),
                    models.UniqueConstraint(
                        fields=("capability", "kind", "name"),
                        name="reports_capabilityweight_once",
                        violation_error_message="This capability has a weight of that name already.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DecidedCluster",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "act",
                    models.CharField(
                        choices=[
                            ("created", "filed as a new issue"),
                            ("attached", "attached to an issue"),
                            ("dismissed", "Dismissed"),
                        ],
                        max_length=9,
                    ),
                ),
                ("results", models.JSONField(default=list)),
                ("feedback", models.JSONField(default=list)),
                ("decided_at", models.DateTimeField(auto_now_add=True)),
                (
                    "decided_by",
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
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("act__in", ["created", "attached", "dismissed"])),
                        name="reports_decidedcluster_act_known",
                        violation_error_message="Choose one of: created, attached, dismissed.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DismissedProposal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("act", models.CharField(max_length=10)),
                ("run", models.PositiveBigIntegerField()),
                ("dismissed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "dismissed_by",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="issues.issue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("issue", "act", "run"), name="reports_dismissedproposal_once"
                    )
                ],
            },
        ),
    ]
