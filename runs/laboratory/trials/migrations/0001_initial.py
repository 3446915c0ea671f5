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
            name="Benchmark",
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
                ("name", models.CharField(max_length=150, unique=True)),
                ("description", models.TextField(blank=True)),
                ("kinds", models.JSONField(blank=True, default=list)),
                (
                    "seed",
                    models.PositiveBigIntegerField(
                        default=1, help_text="Seed of everything drawn at random."
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("perturbation", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("ready", "ready for trials"),
                            ("retired", "Retired"),
                        ],
                        default="draft",
                        max_length=10,
                    ),
                ),
                (
                    "sealed",
                    models.BooleanField(
                        default=False,
                        help_text="Only those who may read sealed tests see it, and it is sent to no model outside the trusted network.",
                    ),
                ),
                ("is_scripted", models.BooleanField(default=False, editable=False)),
                ("is_imported", models.BooleanField(default=False, editable=False)),
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
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="instances",
                        to="trials.benchmark",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["draft", "ready", "retired"])),
                        name="trials_benchmark_state_known",
                        violation_error_message="Choose one of: draft, ready, retired.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GenerationPath",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                ("steps", models.JSONField()),
                ("place", models.PositiveIntegerField(default=0)),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="paths",
                        to="trials.benchmark",
                    ),
                ),
            ],
            options={
                "ordering": ("benchmark", "place", "pk"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("benchmark", "name"),
                        name="trials_path_once",
                        violation_error_message="This benchmark already has a path of that name.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GenerationRun",
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
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("topics", "Topics"),
                            ("ideas", "Ideas"),
                            ("descriptions", "Descriptions"),
                            ("artifacts", "texts of all paths"),
                        ],
                        default="artifacts",
                        max_length=12,
                    ),
                ),
                ("endpoint", models.JSONField()),
                ("tested_endpoint", models.JSONField(blank=True, null=True)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("expected", models.PositiveIntegerField(default=0)),
                ("is_scripted", models.BooleanField(default=False)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="generation_runs",
                        to="trials.benchmark",
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
                    "paths",
                    models.ManyToManyField(
                        blank=True, related_name="generation_runs", to="trials.generationpath"
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
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "tested_model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
            ],
            options={
                "verbose_name": "generation run",
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="trials_generation_run_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("stage__in", ["topics", "ideas", "descriptions", "artifacts"])
                        ),
                        name="trials_generation_run_stage_known",
                        violation_error_message="Choose one of: topics, ideas, descriptions, artifacts.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("tested_endpoint", None), ("tested_model", None)),
                            models.Q(
                                ("tested_endpoint__isnull", False), ("tested_model__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="trials_generation_run_tested_has_endpoint",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("domain", "domain of problems"),
                            ("application", "Application"),
                            ("statements", "domain of statements"),
                        ],
                        default="domain",
                        max_length=12,
                    ),
                ),
                ("is_cluster", models.BooleanField(default=False, verbose_name="cluster")),
                ("place", models.PositiveIntegerField(default=0)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("human", "written by hand"),
                            ("model", "written by a model"),
                            ("imported", "Imported"),
                            ("composed", "composed of other programs"),
                        ],
                        default="human",
                        max_length=10,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="topics",
                        to="trials.benchmark",
                    ),
                ),
            ],
            options={
                "ordering": ("benchmark", "place", "pk"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["domain", "application", "statements"])),
                        name="trials_topic_kind_known",
                        violation_error_message="Choose one of: domain, application, statements.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("source__in", ["human", "model", "imported", "composed"])
                        ),
                        name="trials_topic_source_known",
                        violation_error_message="Choose one of: human, model, imported, composed.",
                    ),
                    models.UniqueConstraint(
                        fields=("benchmark", "title"),
                        name="trials_topic_once",
                        violation_error_message="This benchmark already has that topic.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Idea",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("statement", models.TextField(blank=True)),
                ("place", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("dropped", "dropped as a near duplicate"),
                            ("excluded", "Excluded"),
                        ],
                        default="active",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("human", "written by hand"),
                            ("model", "written by a model"),
                            ("imported", "Imported"),
                            ("composed", "composed of other programs"),
                        ],
                        default="human",
                        max_length=10,
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ideas",
                        to="trials.topic",
                    ),
                ),
            ],
            options={
                "ordering": ("topic", "place", "pk"),
                "indexes": [models.Index(fields=["topic", "place"], name="trials_idea_place")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["active", "dropped", "excluded"])),
                        name="trials_idea_state_known",
                        violation_error_message="Choose one of: active, dropped, excluded.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("source__in", ["human", "model", "imported", "composed"])
                        ),
                        name="trials_idea_source_known",
                        violation_error_message="Choose one of: human, model, imported, composed.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state", "active"),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="trials_idea_left_out_has_reason",
                        violation_error_message="Give a reason.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Artifact",
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
                        help_text="Key of one of the benchmark's kinds.", max_length=40
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("human", "written by hand"),
                            ("model", "written by a model"),
                            ("imported", "Imported"),
                            ("composed", "composed of other programs"),
                        ],
                        default="model",
                        max_length=10,
                    ),
                ),
                (
                    "is_tested",
                    models.BooleanField(
                        default=False, help_text="Its own edge was the tested model's."
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("original", models.TextField(blank=True)),
                (
                    "validity",
                    models.CharField(
                        choices=[
                            ("valid", "Valid"),
                            ("corrupted", "Corrupted"),
                            ("not_checked", "not checked"),
                        ],
                        default="not_checked",
                        max_length=12,
                    ),
                ),
                ("validity_reason", models.TextField(blank=True)),
                (
                    "review",
                    models.CharField(
                        choices=[
                            ("pending", "not reviewed"),
                            ("approved", "Approved"),
                            ("edited", "Edited"),
                            ("excluded", "Excluded"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("review_reason", models.TextField(blank=True)),
                ("reviewed_at", models.DateTimeField(blank=True, null=True)),
                ("exposed_at", models.DateTimeField(blank=True, null=True)),
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
                (
                    "language_model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "members",
                    models.ManyToManyField(
                        blank=True, related_name="parts_of", to="trials.artifact"
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="trials.artifact",
                    ),
                ),
                (
                    "reviewed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="trials.benchmark",
                    ),
                ),
                (
                    "replay",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="trials.generationrun",
                    ),
                ),
                (
                    "idea",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="trials.idea",
                    ),
                ),
            ],
            options={
                "verbose_name": "text",
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("source__in", ["human", "model", "imported", "composed"])
                        ),
                        name="trials_artifact_source_known",
                        violation_error_message="Choose one of: human, model, imported, composed.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("validity__in", ["valid", "corrupted", "not_checked"])),
                        name="trials_artifact_validity_known",
                        violation_error_message="Choose one of: valid, corrupted, not_checked.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("review__in", ["pending", "approved", "edited", "excluded"])
                        ),
                        name="trials_artifact_review_known",
                        violation_error_message="Choose one of: pending, approved, edited, excluded.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("validity", "corrupted"), _negated=True),
                            models.Q(("validity_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="trials_artifact_corrupted_has_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("review", "excluded"), _negated=True),
                            models.Q(("review_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="trials_artifact_excluded_has_reason",
                        violation_error_message="Give a reason.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_tested", False), ("replay__isnull", False), _connector="OR"
                        ),
                        name="trials_artifact_tested_in_replay",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("parent", None), models.Q(("source", "imported"), _negated=True)
                        ),
                        fields=("idea", "kind"),
                        name="trials_artifact_root_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("replay", None)),
                        fields=("parent", "kind"),
                        name="trials_artifact_reference_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("replay__isnull", False)),
                        fields=("replay", "parent", "kind", "is_tested"),
                        name="trials_artifact_replayed_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Claim",
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
                            ("equal", "equal: two paths from one description"),
                            ("different", "different: two descriptions"),
                            ("loop", "loop: the path returns to its beginning"),
                            ("describes", "describes: a summary and its description"),
                            ("rank", "rank: the left text reflects the anchor better"),
                            ("part", "part: one program in two composed ones"),
                            ("context", "context: a program alone and as a part"),
                            ("labelled", "labelled by annotators"),
                        ],
                        max_length=10,
                    ),
                ),
                ("truth", models.BooleanField()),
                (
                    "hardness",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cross_topic", "of two topics"),
                            ("within_cluster", "of one cluster"),
                        ],
                        max_length=15,
                    ),
                ),
                ("languages", models.CharField(blank=True, max_length=85)),
                (
                    "split",
                    models.CharField(
                        choices=[
                            ("development", "development split"),
                            ("held_out", "held-out split"),
                        ],
                        default="held_out",
                        max_length=12,
                    ),
                ),
                ("score", models.FloatField(blank=True, null=True)),
                (
                    "anchor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims_as_anchor",
                        to="trials.artifact",
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="trials.benchmark",
                    ),
                ),
                (
                    "left",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims_as_left",
                        to="trials.artifact",
                    ),
                ),
                (
                    "right",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims_as_right",
                        to="trials.artifact",
                    ),
                ),
                (
                    "idea",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="trials.idea",
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="trials.topic",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "equal",
                                    "different",
                                    "loop",
                                    "describes",
                                    "rank",
                                    "part",
                                    "context",
                                    "labelled",
                                ],
                            )
                        ),
                        name="trials_claim_kind_known",
                        violation_error_message="Choose one of: equal, different, loop, describes, rank, part, context, labelled.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("split__in", ["development", "held_out"])),
                        name="trials_claim_split_known",
                        violation_error_message="Choose one of: development, held_out.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("hardness__in", ("cross_topic", "within_cluster", ""))),
                        name="trials_claim_hardness_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("left", models.F("right")), _negated=True),
                        name="trials_claim_of_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("score__isnull", True), ("score__range", (1, 7)), _connector="OR"
                        ),
                        name="trials_claim_score_range",
                    ),
                    models.UniqueConstraint(
                        fields=("benchmark", "kind", "left", "right", "idea"),
                        name="trials_claim_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ClaimLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("order", models.PositiveSmallIntegerField()),
                ("score", models.FloatField(blank=True, null=True)),
                ("holds", models.BooleanField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="claim_labels",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "claim",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="trials.claim",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("order__in", (0, 1))),
                        name="trials_claim_label_order_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("holds", None), ("score", None)),
                            models.Q(
                                ("holds__isnull", False),
                                ("score__isnull", False),
                                ("score__range", (1, 7)),
                            ),
                            _connector="OR",
                        ),
                        name="trials_claim_label_whole_or_withdrawn",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GenerationStep",
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
                ("kind", models.CharField(blank=True, max_length=40)),
                ("is_tested", models.BooleanField(default=False)),
                ("dropped", models.PositiveIntegerField(default=0)),
                (
                    "artifact",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="trials.artifact",
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
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="trials.artifact",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="trials.generationrun",
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
                    "idea",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="trials.idea",
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="trials.topic",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["run", "id"],
                        name="trials_generation_step_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="trials_generation_step_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("topic__isnull", False)),
                        fields=("run", "topic"),
                        name="trials_generation_step_topic_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("idea__isnull", False), ("parent", None)),
                        fields=("run", "idea", "kind"),
                        name="trials_generation_step_root_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("parent__isnull", False)),
                        fields=("run", "parent", "kind", "is_tested"),
                        name="trials_generation_step_artifact_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Trial",
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
                ("endpoint", models.JSONField(blank=True, null=True)),
                ("metric", models.CharField(blank=True, max_length=40)),
                ("threshold", models.FloatField()),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("method", models.CharField(db_index=True, max_length=64)),
                ("is_scripted", models.BooleanField(default=False)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trials",
                        to="trials.benchmark",
                    ),
                ),
                (
                    "language_model",
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
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["live", "paused", "cancelled", "failed", "done"])
                        ),
                        name="trials_trial_state_known",
                        violation_error_message="Choose one of: live, paused, cancelled, failed, done.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("endpoint__isnull", False),
                                ("language_model__isnull", False),
                                ("metric", ""),
                                ("template__isnull", False),
                            ),
                            models.Q(
                                ("endpoint", None),
                                ("language_model", None),
                                ("template", None),
                                models.Q(("metric", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="trials_trial_model_or_metric",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ClaimJudgment",
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
                ("score", models.FloatField(blank=True, null=True)),
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
                    "claim",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="trials.claim",
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
                    "trial",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="trials.trial",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["trial", "id"],
                        name="trials_claim_judgment_live",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "done", "error", "cancelled"])
                        ),
                        name="trials_claim_judgment_state_known",
                        violation_error_message="Choose one of: pending, done, error, cancelled.",
                    ),
                    models.UniqueConstraint(
                        fields=("trial", "claim", "order"), name="trials_claim_judgment_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__in", (0, 1))),
                        name="trials_claim_judgment_order_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("score__isnull", False),
                                ("score__range", (0, 7)),
                                ("state", "done"),
                            ),
                            models.Q(
                                models.Q(("state", "done"), _negated=True), ("score__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="trials_claim_judgment_done_has_score",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Validation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "task",
                    models.CharField(
                        choices=[
                            ("summary", "usefulness of summaries"),
                            ("explanation", "usefulness of explanations of code"),
                            ("similarity", "similarity of two texts"),
                            ("code", "similarity of two programs"),
                            ("rank", "better of two texts"),
                            ("part", "parts of composed programs"),
                        ],
                        max_length=12,
                    ),
                ),
                ("method", models.CharField(db_index=True, max_length=64)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
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
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="validations",
                        to="evalhub.languagemodel",
                    ),
                ),
                (
                    "template",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="validations",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "trial",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="validations",
                        to="trials.trial",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "task__in",
                                ["summary", "explanation", "similarity", "code", "rank", "part"],
                            )
                        ),
                        name="trials_validation_task_known",
                        violation_error_message="Choose one of: summary, explanation, similarity, code, rank, part.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("withdrawn_at", None)),
                        fields=("method", "task", "trial"),
                        name="trials_validation_once",
                        violation_error_message="This trial already validates the judge for that task.",
                    ),
                ],
            },
        ),
    ]
