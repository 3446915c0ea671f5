import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import simple_history.models
from django.conf import settings
from django.db import migrations, models

import evalhub.logs


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evalhub", "0001_initial"),
        ("evalhub", "__first__"),
        ("issues", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Provenance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("parts", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="TagSet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("names", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="Judge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "approach",
                    models.CharField(
                        choices=[
                            ("template", "whole test, with its judge template"),
                            ("standard", "single criterion, answer only"),
                            ("prompt_aware", "single criterion, with the prompt"),
                            ("holistic", "single criterion, with prompt and whole rubric"),
                        ],
                        default="template",
                        max_length=15,
                    ),
                ),
                (
                    "params",
                    models.JSONField(
                        blank=True, default=dict, help_text="Temperature 0 unless set."
                    ),
                ),
                (
                    "samples",
                    models.PositiveSmallIntegerField(
                        default=1,
                        help_text="Calls per judgment; the share that agree is the judge's certainty.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(25),
                        ],
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("single", "one call"),
                            ("self_critique", "self-critique"),
                            ("debate", "debate"),
                        ],
                        default="single",
                        max_length=15,
                    ),
                ),
                (
                    "role",
                    models.TextField(
                        blank=True,
                        help_text="Who judges, such as “You are a nurse …”: the start of every prompt.",
                        max_length=2000,
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "language_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judges",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: each test's own, or for criteria the built-in one of the approach.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approach__in", ["template", "standard", "prompt_aware", "holistic"])
                        ),
                        name="runs_judge_approach_known",
                        violation_error_message="Choose one of: template, standard, prompt_aware, holistic.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("method__in", ["single", "self_critique", "debate"])),
                        name="runs_judge_method_known",
                        violation_error_message="Choose one of: single, self_critique, debate.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("samples__range", (1, 25))),
                        name="runs_judge_samples_range",
                        violation_error_message="Choose 1 to 25 samples.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalJury",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=150)),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
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
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "backup",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="Called once per criterion if a judge fails.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.judge",
                    ),
                ),
            ],
            options={
                "verbose_name": "historical jury",
                "verbose_name_plural": "historical juries",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Jury",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, unique=True)),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "backup",
                    models.ForeignKey(
                        blank=True,
                        help_text="Called once per criterion if a judge fails.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.judge",
                    ),
                ),
                ("judges", models.ManyToManyField(related_name="juries", to="runs.judge")),
            ],
            options={
                "verbose_name_plural": "juries",
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="HistoricalJury_judges",
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
                        to="runs.historicaljury",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.judge",
                    ),
                ),
                (
                    "jury",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.jury",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalJury_judges",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Launch",
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
                ("label", models.CharField(max_length=150)),
                (
                    "release",
                    models.CharField(blank=True, help_text="Version under test.", max_length=100),
                ),
                ("spec", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="launches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "launches",
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="HistoricalExample",
            fields=[
                ("note", models.TextField(blank=True, help_text="What it teaches.")),
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
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "marked_by",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical example",
                "verbose_name_plural": "historical examples",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalSuite",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=150)),
                ("description", models.TextField(blank=True)),
                (
                    "filter",
                    models.TextField(
                        blank=True,
                        help_text="A filter of tests, such as domain=3&state=approved. Each launch takes the tests that match then.",
                    ),
                ),
                (
                    "defaults",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Launch options that a launch of this suite starts with.",
                    ),
                ),
                (
                    "gate",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Rules of the gate; {} fails a significant regression.",
                    ),
                ),
                (
                    "reopens_issues",
                    models.BooleanField(
                        default=False,
                        help_text="Reopen a resolved issue without asking when runs of this suite show that it fails again. Otherwise it is proposed.",
                        verbose_name="reopens issues by itself",
                    ),
                ),
                (
                    "extras",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Fields of its source that have no place here.",
                    ),
                ),
                ("source_id", models.CharField(blank=True, editable=False, max_length=200)),
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
                "verbose_name": "historical suite",
                "verbose_name_plural": "historical suites",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Suite",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, unique=True)),
                ("description", models.TextField(blank=True)),
                (
                    "filter",
                    models.TextField(
                        blank=True,
                        help_text="A filter of tests, such as domain=3&state=approved. Each launch takes the tests that match then.",
                    ),
                ),
                (
                    "defaults",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Launch options that a launch of this suite starts with.",
                    ),
                ),
                (
                    "gate",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Rules of the gate; {} fails a significant regression.",
                    ),
                ),
                (
                    "reopens_issues",
                    models.BooleanField(
                        default=False,
                        help_text="Reopen a resolved issue without asking when runs of this suite show that it fails again. Otherwise it is proposed.",
                        verbose_name="reopens issues by itself",
                    ),
                ),
                (
                    "extras",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Fields of its source that have no place here.",
                    ),
                ),
                ("source_id", models.CharField(blank=True, editable=False, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "tags",
                    models.ManyToManyField(blank=True, related_name="suites", to="issues.tag"),
                ),
                (
                    "tests",
                    models.ManyToManyField(blank=True, related_name="suites", to="issues.test"),
                ),
            ],
            options={
                "ordering": ("name",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("source_id",),
                        name="runs_suite_source_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalSuite_tests",
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
                        to="runs.historicalsuite",
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
                (
                    "suite",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.suite",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalSuite_tests",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalSuite_tags",
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
                        to="runs.historicalsuite",
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
                    "suite",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.suite",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalSuite_tags",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="SuiteVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("tests", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "suite",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="runs.suite",
                    ),
                ),
            ],
            options={
                "ordering": ("-number",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("suite", "number"), name="runs_suiteversion_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                ("label", models.CharField(max_length=150)),
                ("release", models.CharField(blank=True, max_length=100)),
                ("model_name", models.CharField(max_length=100)),
                ("endpoint", models.JSONField(default=dict)),
                ("system_prompt", models.TextField(blank=True)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                (
                    "n_results",
                    models.PositiveIntegerField(
                        default=0, help_text="Number of results, repeats included; fixed at launch."
                    ),
                ),
                ("variant_key", models.CharField(db_index=True, max_length=64)),
                ("suite_fingerprint", models.CharField(max_length=64)),
                ("has_imported_answers", models.BooleanField(default=False)),
                ("self_evaluation_allowed", models.BooleanField(default=False)),
                (
                    "similarity_weight",
                    models.FloatField(
                        default=0,
                        help_text="Share of similarity to the reference answer in each score, from 0 to 1.",
                    ),
                ),
                (
                    "similarity_endpoint",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Embedding model; {} is the built-in one.",
                    ),
                ),
                (
                    "score_by_similarity",
                    models.BooleanField(
                        default=False,
                        help_text="Tests without rubric and judge are scored by similarity alone.",
                    ),
                ),
                (
                    "cut_off_answers",
                    models.CharField(
                        choices=[
                            ("judged", "Judge as they are"),
                            ("failed", "Count as failed"),
                            ("error", "Count as errors"),
                        ],
                        default="judged",
                        help_text="Of answers that were cut off at the token limit.",
                        max_length=6,
                    ),
                ),
                (
                    "broken_off_answers",
                    models.CharField(
                        choices=[
                            ("judged", "Judge as they are"),
                            ("failed", "Count as failed"),
                            ("error", "Count as errors"),
                        ],
                        default="error",
                        help_text="Of answers that a content filter, an error or the server broke off.",
                        max_length=6,
                    ),
                ),
                (
                    "takes_known_verdicts",
                    models.BooleanField(
                        default=False,
                        help_text="Verdicts are taken from earlier runs where a judge was asked word for word the same.",
                    ),
                ),
                ("is_scripted", models.BooleanField(default=False)),
                ("provenance_parts", models.JSONField(default=dict, editable=False)),
                ("source_id", models.CharField(blank=True, max_length=100)),
                (
                    "texts_removed_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When the texts of all its answers had been removed. Null: they are kept.",
                        null=True,
                    ),
                ),
                (
                    "language_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "launch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="runs.launch",
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
                    "suite",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="runs.suite",
                    ),
                ),
                (
                    "suite_version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="runs.suiteversion",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "permissions": [("control_run", "Can pause, cancel, resume and re-judge runs")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="runs_run_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("similarity_weight__isnull", True),
                            ("similarity_weight__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="runs_run_similarity_weight_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("repeats__gte", 1)), name="runs_run_repeats_positive"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source_id", ""), _negated=True),
                        fields=("source_id",),
                        name="runs_run_source_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Result",
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
                ("lowest_score", models.FloatField(default=0.0)),
                ("highest_score", models.FloatField(default=1.0)),
                (
                    "lowest_passed",
                    models.BooleanField(default=False, help_text="It passes at its lowest score."),
                ),
                (
                    "highest_passed",
                    models.BooleanField(default=True, help_text="It passes at its highest score."),
                ),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
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
                ("weight", models.FloatField(default=1)),
                ("is_judged", models.BooleanField(default=False)),
                ("score", models.FloatField(blank=True, null=True)),
                ("passed", models.BooleanField(blank=True, null=True)),
                ("agreement", models.FloatField(blank=True, null=True)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("length", "Cut off at the token limit"),
                            ("content_filter", "Stopped by a content filter"),
                            ("error", "Broken off by an error"),
                            ("abort", "Aborted"),
                            ("prompt_cut", "Given to a prompt that the server cut"),
                        ],
                        help_text="How its answer broke off; empty: it did not.",
                        max_length=14,
                    ),
                ),
                (
                    "similarity",
                    models.FloatField(
                        blank=True,
                        help_text="Cosine to the reference answer, from -1 to 1.",
                        null=True,
                    ),
                ),
                ("is_overridden", models.BooleanField(default=False)),
                ("is_disputed", models.BooleanField(default=False)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "cost_usd",
                    models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True),
                ),
                ("latency_ms", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "outcome",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(state="error", then=models.Value("error")),
                            models.When(passed=True, then=models.Value("passed")),
                            models.When(passed=False, then=models.Value("failed")),
                            models.When(is_judged=True, then=models.Value("unscored")),
                            default=models.Value("pending"),
                        ),
                        output_field=models.CharField(
                            choices=[
                                ("passed", "Passed"),
                                ("failed", "Failed"),
                                ("unscored", "Unscored"),
                                ("error", "Error"),
                                ("pending", "Pending"),
                            ],
                            max_length=8,
                        ),
                    ),
                ),
                (
                    "issue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="results",
                        to="issues.issue",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="results",
                        to="issues.revision",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="results",
                        to="issues.test",
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
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="runs.run",
                    ),
                ),
                (
                    "tag_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="results",
                        to="runs.tagset",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "permissions": [("export_results", "Can download results")],
                "indexes": [
                    models.Index(fields=["run", "outcome"], name="runs_result_run_outcome"),
                    models.Index(fields=["run", "tag_set", "outcome"], name="runs_result_run_tags"),
                    models.Index(fields=["issue", "run", "outcome"], name="runs_result_issue"),
                    models.Index(fields=["test", "run"], name="runs_result_test"),
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["run", "id"],
                        name="runs_result_live",
                    ),
                    models.Index(
                        condition=models.Q(("ending", ""), _negated=True),
                        fields=["run", "ending"],
                        name="runs_result_ending",
                    ),
                    models.Index(
                        condition=models.Q(("is_disputed", True)),
                        fields=["-run", "id"],
                        name="runs_result_disputed",
                    ),
                    models.Index(
                        condition=models.Q(("is_overridden", True)),
                        fields=["run", "id"],
                        name="runs_result_overridden",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="runs_result_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("origin__in", ["human", "feedback", "imported", "generated"])
                        ),
                        name="runs_result_origin_known",
                        violation_error_message="Choose one of: human, feedback, imported, generated.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("score__isnull", True), ("score__range", (0, 1)), _connector="OR"
                        ),
                        name="runs_result_score_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(
                                    ("highest_score__gte", models.F("score")),
                                    ("lowest_score__lte", models.F("score")),
                                ),
                                ("score", None),
                                _connector="OR",
                            ),
                            ("highest_score__lte", 1),
                            ("lowest_score__gte", 0),
                            ("lowest_score__lte", models.F("highest_score")),
                        ),
                        name="runs_result_bounds",
                    ),
                    models.UniqueConstraint(
                        fields=("run", "revision", "repeat"), name="runs_result_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HumanEvaluation",
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
                            ("evaluation", "Evaluation"),
                            ("withdrawal", "Withdrawal"),
                            ("adjudication", "Adjudication"),
                        ],
                        default="evaluation",
                        max_length=12,
                    ),
                ),
                (
                    "value",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                ("option", models.CharField(blank=True, max_length=60)),
                ("justification", models.TextField(blank=True)),
                ("blind", models.BooleanField(default=False)),
                (
                    "chosen_by",
                    models.CharField(
                        choices=[
                            ("queue_random", "queue, at random"),
                            ("queue_selected", "queue, selected"),
                            ("direct", "self-selected"),
                            ("bulk", "bulk override"),
                            ("import", "imported"),
                        ],
                        default="direct",
                        max_length=15,
                    ),
                ),
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
                        related_name="evaluations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evaluations",
                        to="issues.frozencriterion",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evaluations",
                        to="runs.result",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "permissions": [("adjudicate", "Can adjudicate disputed results")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["evaluation", "withdrawal", "adjudication"])
                        ),
                        name="runs_humanevaluation_kind_known",
                        violation_error_message="Choose one of: evaluation, withdrawal, adjudication.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "chosen_by__in",
                                ["queue_random", "queue_selected", "direct", "bulk", "import"],
                            )
                        ),
                        name="runs_humanevaluation_chosen_by_known",
                        violation_error_message="Choose one of: queue_random, queue_selected, direct, bulk, import.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("value__isnull", True), ("value__range", (0, 1)), _connector="OR"
                        ),
                        name="runs_humanevaluation_value_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "withdrawal"), ("value__isnull", True)),
                            models.Q(
                                models.Q(("kind", "withdrawal"), _negated=True),
                                ("value__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="runs_humanevaluation_value_unless_withdrawn",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgeRun",
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
                ("jury", models.JSONField()),
                ("jury_name", models.CharField(blank=True, max_length=150)),
                ("jury_fingerprint", models.CharField(db_index=True, max_length=64)),
                ("whole_fingerprint", models.CharField(blank=True, max_length=64)),
                ("rubric_fingerprint", models.CharField(blank=True, max_length=64)),
                ("is_active", models.BooleanField(default=False)),
                (
                    "active_since",
                    models.DateTimeField(
                        blank=True, help_text="When it was set as active after it began.", null=True
                    ),
                ),
                (
                    "becomes_active",
                    models.BooleanField(
                        default=False, help_text="Set as active as soon as it is done."
                    ),
                ),
                ("statistics", models.JSONField(default=dict)),
                ("provenance_parts", models.JSONField(default=dict, editable=False)),
                (
                    "judgments_from",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
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
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judge_runs",
                        to="runs.run",
                    ),
                ),
            ],
            options={
                "ordering": ("run", "number"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="runs_judge_run_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.UniqueConstraint(
                        fields=("run", "number"), name="runs_judge_run_number_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_active", True)),
                        fields=("run",),
                        name="runs_judge_run_one_active",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Judgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sample", models.PositiveSmallIntegerField(default=0)),
                ("is_backup", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("repaired", "Repaired"), ("failed", "Failed")],
                        max_length=8,
                    ),
                ),
                ("option", models.CharField(blank=True, max_length=60)),
                ("value", models.FloatField(blank=True, null=True)),
                ("justification", models.TextField(blank=True)),
                ("failure", models.CharField(blank=True, max_length=30)),
                ("failure_message", models.TextField(blank=True)),
                ("request_key", models.CharField(blank=True, editable=False, max_length=32)),
                ("taken_from", models.PositiveBigIntegerField(editable=False, null=True)),
                ("created_at", models.DateTimeField()),
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
                    "criterion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="issues.frozencriterion",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="runs.judge",
                    ),
                ),
                (
                    "judge_run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="runs.judgerun",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="runs.result",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Judge template of the request.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "provenance",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.provenance",
                    ),
                ),
            ],
            options={
                "ordering": ("result", "criterion", "judge", "sample"),
                "indexes": [
                    models.Index(
                        condition=models.Q(("request_key", ""), _negated=True),
                        fields=["request_key"],
                        name="runs_judgment_request",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ok", "repaired", "failed"])),
                        name="runs_judgment_state_known",
                        violation_error_message="Choose one of: ok, repaired, failed.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("value__isnull", True), ("value__range", (0, 1)), _connector="OR"
                        ),
                        name="runs_judgment_value_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "failed"), ("value__isnull", True)),
                            models.Q(
                                models.Q(("state", "failed"), _negated=True),
                                ("value__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="runs_judgment_failed_has_no_value",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("judge__isnull", False)),
                        fields=("judge_run", "result", "criterion", "judge", "sample"),
                        name="runs_judgment_judge_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("judge__isnull", True)),
                        fields=("judge_run", "result", "criterion"),
                        name="runs_judgment_check_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ResultScore",
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
                ("lowest_score", models.FloatField(default=0.0)),
                ("highest_score", models.FloatField(default=1.0)),
                (
                    "lowest_passed",
                    models.BooleanField(default=False, help_text="It passes at its lowest score."),
                ),
                (
                    "highest_passed",
                    models.BooleanField(default=True, help_text="It passes at its highest score."),
                ),
                ("score", models.FloatField(blank=True, null=True)),
                ("passed", models.BooleanField(blank=True, null=True)),
                ("agreement", models.FloatField(blank=True, null=True)),
                ("expected", models.PositiveSmallIntegerField(default=0)),
                ("answered", models.PositiveSmallIntegerField(default=0)),
                (
                    "replaced",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="Missing ones with that of a backup judge in their place.",
                    ),
                ),
                (
                    "final",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="Missing ones of checks that cannot run or cannot tell.",
                    ),
                ),
                (
                    "cost_usd",
                    models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True),
                ),
                (
                    "judge_run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="result_scores",
                        to="runs.judgerun",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="result_scores",
                        to="runs.result",
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
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["judge_run", "id"],
                        name="runs_result_score_live",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("answered__lt", models.F("expected")), ("state", "done")
                        ),
                        fields=["judge_run"],
                        name="runs_result_score_partly",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="runs_result_score_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("score__isnull", True), ("score__range", (0, 1)), _connector="OR"
                        ),
                        name="runs_result_score_score_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(
                                    ("highest_score__gte", models.F("score")),
                                    ("lowest_score__lte", models.F("score")),
                                ),
                                ("score", None),
                                _connector="OR",
                            ),
                            ("highest_score__lte", 1),
                            ("lowest_score__gte", 0),
                            ("lowest_score__lte", models.F("highest_score")),
                        ),
                        name="runs_result_score_bounds",
                    ),
                    models.UniqueConstraint(
                        fields=("judge_run", "result"), name="runs_result_score_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunTally",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="tally",
                        serialize=False,
                        to="runs.run",
                    ),
                ),
                ("version", models.UUIDField(null=True)),
                ("lacking", models.PositiveIntegerField(default=0)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Sight",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.result",
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
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("result__isnull", False)),
                        fields=("person", "result"),
                        name="runs_sight_of_result_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("result__isnull", True)),
                        fields=("person", "run"),
                        name="runs_sight_of_run_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TallyRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        max_length=10,
                    ),
                ),
                ("passed", models.PositiveIntegerField()),
                ("failed", models.PositiveIntegerField()),
                ("unscored", models.PositiveIntegerField()),
                ("error", models.PositiveIntegerField()),
                ("pending", models.PositiveIntegerField()),
                ("with_score", models.PositiveIntegerField()),
                (
                    "lowest_passed",
                    models.PositiveIntegerField(help_text="That pass at their lowest score."),
                ),
                (
                    "highest_passed",
                    models.PositiveIntegerField(help_text="At their highest; 1 without a score."),
                ),
                ("weights", models.FloatField(help_text="Σ w of those with a score.")),
                ("weighted_score", models.FloatField(help_text="Σ w·s.")),
                ("similar", models.PositiveIntegerField(help_text="With a measured similarity.")),
                ("overridden", models.PositiveIntegerField()),
                ("disputed", models.PositiveIntegerField()),
                ("sum_in", models.BigIntegerField(help_text="Input tokens.", null=True)),
                ("sum_out", models.BigIntegerField(help_text="Output tokens.", null=True)),
                ("sum_cost", models.DecimalField(decimal_places=8, max_digits=20, null=True)),
                ("with_tokens", models.PositiveIntegerField()),
                ("with_cost", models.PositiveIntegerField()),
                ("answered", models.PositiveIntegerField(help_text="Answers and errors.")),
                (
                    "answers_cost",
                    models.DecimalField(
                        decimal_places=8,
                        help_text="Without that of errors.",
                        max_digits=20,
                        null=True,
                    ),
                ),
                ("answers_with_cost", models.PositiveIntegerField()),
                (
                    "sum_latency",
                    models.BigIntegerField(help_text="Milliseconds; without errors.", null=True),
                ),
                ("with_latency", models.PositiveIntegerField()),
                (
                    "mixed_weight",
                    models.FloatField(help_text="Σ w of those that judges and similarity score."),
                ),
                ("mixed", models.FloatField(help_text="Σ w·s of the same.")),
                (
                    "similarities",
                    models.FloatField(help_text="Σ w·max(0, similarity) of the same."),
                ),
                ("overridden_weight", models.FloatField()),
                (
                    "overridden_score",
                    models.FloatField(help_text="Σ w·s of those with a human verdict."),
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
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "tag_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.tagset",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("origin__in", ["human", "feedback", "imported", "generated"])
                        ),
                        name="runs_tally_row_origin_known",
                        violation_error_message="Choose one of: human, feedback, imported, generated.",
                    ),
                    models.UniqueConstraint(
                        fields=("run", "issue", "tag_set", "origin"), name="runs_tally_row_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VerdictDraft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("criterion", models.CharField(blank=True, max_length=40)),
                ("fields", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("result"),
                        models.F("annotator"),
                        models.F("criterion"),
                        name="runs_verdictdraft_one_each",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Answer",
            fields=[
                (
                    "result",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="answer",
                        serialize=False,
                        to="runs.result",
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("turns", models.JSONField(default=list)),
                ("tool_calls", models.JSONField(blank=True, default=list)),
                ("documents", models.JSONField(blank=True, null=True)),
                ("reasoning", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
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
                    "provenance",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.provenance",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="runs_answer_time")],
            },
        ),
        migrations.CreateModel(
            name="Example",
            fields=[
                (
                    "evaluation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="example",
                        serialize=False,
                        to="runs.humanevaluation",
                    ),
                ),
                ("note", models.TextField(blank=True, help_text="What it teaches.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "marked_by",
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
                "ordering": ("-created_at",),
            },
        ),
        migrations.AddField(
            model_name="HistoricalExample",
            name="evaluation",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="runs.humanevaluation",
            ),
        ),
        migrations.AddField(
            model_name="HistoricalSuite",
            name="baseline",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                help_text="Run that later runs are compared with, on pages and in CI.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="runs.run",
            ),
        ),
        migrations.AddField(
            model_name="Suite",
            name="baseline",
            field=models.ForeignKey(
                blank=True,
                help_text="Run that later runs are compared with, on pages and in CI.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="runs.run",
            ),
        ),
    ]
