import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import simple_history.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evalhub", "__first__"),
        ("pairwise", "0001_initial"),
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Dispute",
            fields=[],
            options={
                "verbose_name": "disputed result",
                "proxy": True,
                "default_permissions": (),
            },
            bases=("runs.result",),
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("promoted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="corrections",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "promoted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="runs.result",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "permissions": [("promote_correction", "Can use a correction as reference answer")],
            },
        ),
        migrations.CreateModel(
            name="HistoricalQueue",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=150)),
                (
                    "instructions",
                    models.TextField(
                        blank=True, help_text="Reviewers read these beside each item."
                    ),
                ),
                (
                    "reviewers",
                    models.PositiveSmallIntegerField(
                        default=1,
                        help_text="Number of people who review each item.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(9),
                        ],
                    ),
                ),
                (
                    "random_share",
                    models.FloatField(
                        default=0.2,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "blind",
                    models.CharField(
                        choices=[
                            ("none", "for no items"),
                            ("random", "for random items"),
                            ("all", "for all items"),
                        ],
                        default="random",
                        max_length=6,
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("whole", "the answer as a whole"),
                            ("criteria", "each criterion of the rubric"),
                            ("either", "reviewer's choice"),
                            ("pairs", "pairs of answers"),
                        ],
                        default="either",
                        max_length=8,
                    ),
                ),
                (
                    "ties",
                    models.BooleanField(
                        default=True,
                        help_text="Pairs of answers can be equally good.",
                        verbose_name="allow ties",
                    ),
                ),
                (
                    "reasoning",
                    models.CharField(
                        choices=[("overrides", "when overriding the judges"), ("always", "Always")],
                        default="overrides",
                        max_length=9,
                    ),
                ),
                (
                    "reserved_minutes",
                    models.PositiveSmallIntegerField(
                        default=30,
                        help_text="An idle item is released after this time.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1440),
                        ],
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("closed", "Closed")],
                        default="open",
                        max_length=6,
                    ),
                ),
                ("seed", models.PositiveBigIntegerField(editable=False)),
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
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "follows",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="runs.suite",
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
                "verbose_name": "historical queue",
                "verbose_name_plural": "historical queues",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Queue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, unique=True)),
                (
                    "instructions",
                    models.TextField(
                        blank=True, help_text="Reviewers read these beside each item."
                    ),
                ),
                (
                    "reviewers",
                    models.PositiveSmallIntegerField(
                        default=1,
                        help_text="Number of people who review each item.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(9),
                        ],
                    ),
                ),
                (
                    "random_share",
                    models.FloatField(
                        default=0.2,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "blind",
                    models.CharField(
                        choices=[
                            ("none", "for no items"),
                            ("random", "for random items"),
                            ("all", "for all items"),
                        ],
                        default="random",
                        max_length=6,
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("whole", "the answer as a whole"),
                            ("criteria", "each criterion of the rubric"),
                            ("either", "reviewer's choice"),
                            ("pairs", "pairs of answers"),
                        ],
                        default="either",
                        max_length=8,
                    ),
                ),
                (
                    "ties",
                    models.BooleanField(
                        default=True,
                        help_text="Pairs of answers can be equally good.",
                        verbose_name="allow ties",
                    ),
                ),
                (
                    "reasoning",
                    models.CharField(
                        choices=[("overrides", "when overriding the judges"), ("always", "Always")],
                        default="overrides",
                        max_length=9,
                    ),
                ),
                (
                    "reserved_minutes",
                    models.PositiveSmallIntegerField(
                        default=30,
                        help_text="An idle item is released after this time.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1440),
                        ],
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("closed", "Closed")],
                        default="open",
                        max_length=6,
                    ),
                ),
                ("seed", models.PositiveBigIntegerField(editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "follows",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="review_queues",
                        to="runs.suite",
                    ),
                ),
                (
                    "runs",
                    models.ManyToManyField(
                        blank=True, editable=False, related_name="review_queues", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
                "permissions": [
                    ("review_results", "Can review results of queues"),
                    ("send_back", "Can send reviews back"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "closed"])),
                        name="review_queue_state_known",
                        violation_error_message="Choose one of: open, closed.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("blind__in", ["none", "random", "all"])),
                        name="review_queue_blind_known",
                        violation_error_message="Choose one of: none, random, all.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["whole", "criteria", "either", "pairs"])),
                        name="review_queue_asks_known",
                        violation_error_message="Choose one of: whole, criteria, either, pairs.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reasoning__in", ["overrides", "always"])),
                        name="review_queue_reasoning_known",
                        violation_error_message="Choose one of: overrides, always.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("random_share__isnull", True),
                            ("random_share__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="review_queue_random_share",
                        violation_error_message="Choose a value from 0 to 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reviewers__gte", 1), ("reviewers__lte", 9)),
                        name="review_queue_reviewers_range",
                        violation_error_message="Choose from 1 to 9 reviewers.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reasons", models.JSONField(default=list)),
                ("is_random", models.BooleanField(default=False)),
                ("position", models.BigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "other",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_items_as_other",
                        to="runs.result",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="review.queue",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_items",
                        to="runs.result",
                    ),
                ),
            ],
            options={
                "ordering": ("queue", "position", "pk"),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("other__isnull", True)),
                        fields=("queue", "result"),
                        name="review_item_once",
                    ),
                    models.UniqueConstraint(
                        fields=("queue", "result", "other"), name="review_item_pair_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("position", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("reserved", "Reserved"),
                            ("submitted", "Submitted"),
                            ("sent_back", "sent back"),
                        ],
                        default="open",
                        max_length=9,
                    ),
                ),
                ("reserved_until", models.DateTimeField(blank=True, null=True)),
                ("draft", models.JSONField(blank=True, default=dict)),
                ("note", models.TextField(blank=True, help_text="Note for the next reviewer.")),
                (
                    "seconds",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="seconds taken"
                    ),
                ),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("sent_back_note", models.TextField(blank=True)),
                ("past", models.JSONField(blank=True, default=list)),
                (
                    "annotator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "evaluations",
                    models.ManyToManyField(
                        blank=True, related_name="assignments", to="runs.humanevaluation"
                    ),
                ),
                (
                    "pair_evaluation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="pairwise.pairevaluation",
                    ),
                ),
                (
                    "sent_back_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="review.queue",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="review.reviewitem",
                    ),
                ),
            ],
            options={
                "ordering": ("queue", "position", "pk"),
                "indexes": [
                    models.Index(
                        fields=["queue", "state", "position", "id"],
                        name="review_assignment_to_take",
                    ),
                    models.Index(
                        fields=["queue", "annotator", "state", "submitted_at"],
                        name="review_assignment_mine",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["open", "reserved", "submitted", "sent_back"])
                        ),
                        name="review_assignment_state_known",
                        violation_error_message="Choose one of: open, reserved, submitted, sent_back.",
                    ),
                    models.UniqueConstraint(
                        fields=("item", "number"), name="review_assignment_once"
                    ),
                    models.UniqueConstraint(
                        fields=("item", "annotator"), name="review_assignment_another_person"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("annotator__isnull", True), ("state", "open")),
                            models.Q(
                                models.Q(("state", "open"), _negated=True),
                                ("annotator__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="review_assignment_open_has_nobody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("reserved_until__isnull", False), ("state", "reserved")),
                            models.Q(
                                models.Q(("state", "reserved"), _negated=True),
                                ("reserved_until__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="review_assignment_reserved_expires",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "submitted"), _negated=True),
                            ("submitted_at__isnull", False),
                            _connector="OR",
                        ),
                        name="review_assignment_submitted_at",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Skip",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reason", models.TextField()),
                ("draft", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_skips",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="skips",
                        to="review.reviewitem",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)),
                        fields=("item", "annotator"),
                        name="review_skip_once",
                    )
                ],
            },
        ),
    ]
