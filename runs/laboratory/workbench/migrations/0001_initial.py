import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import issues.rubrics.scales


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
            name="Workbench",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                (
                    "is_shared",
                    models.BooleanField(default=False, verbose_name="shared with everyone"),
                ),
                ("text", models.TextField(verbose_name="judge prompt")),
                ("scale", models.JSONField(default=issues.rubrics.scales.binary_json)),
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
                ("guidelines", models.TextField(blank=True)),
                ("criteria", models.JSONField(blank=True, default=list)),
                ("judges", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
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
                    "generations",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Batches whose drafts become rows.",
                        related_name="+",
                        to="issues.generation",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workbenches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.judgetemplate",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workbenches",
                        to="issues.test",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "workbenches",
                "ordering": ("-updated_at",),
                "permissions": [("edit_shared", "Can edit the shared workbenches of others")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reply_form__in", ["verdict", "label"])),
                        name="workbench_workbench_reply_form_known",
                        violation_error_message="Choose one of: verdict, label.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BenchRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.PositiveIntegerField()),
                ("messages", models.JSONField(blank=True, default=list)),
                ("turns", models.JSONField(blank=True, default=list)),
                ("answer", models.TextField(blank=True)),
                ("answered_by", models.CharField(blank=True, max_length=100)),
                ("context", models.TextField(blank=True)),
                ("reference", models.TextField(blank=True)),
                ("guidelines", models.TextField(blank=True)),
                ("expected", models.JSONField(blank=True, default=dict)),
                ("intended", models.CharField(blank=True, max_length=60)),
                ("version", models.PositiveIntegerField(default=0)),
                (
                    "draft",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.draft",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="issues.templateexample",
                    ),
                ),
                (
                    "result",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="runs.result",
                    ),
                ),
                (
                    "test",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bench_rows",
                        to="issues.test",
                    ),
                ),
                (
                    "workbench",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rows",
                        to="workbench.workbench",
                    ),
                ),
            ],
            options={
                "verbose_name": "row",
                "ordering": ("workbench", "place", "pk"),
                "indexes": [
                    models.Index(fields=["workbench", "place"], name="workbench_row_place")
                ],
            },
        ),
        migrations.CreateModel(
            name="RowJudgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slot", models.CharField(max_length=40)),
                ("order", models.PositiveSmallIntegerField(default=0)),
                ("digest", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("repaired", "Repaired"), ("failed", "Failed")],
                        max_length=10,
                    ),
                ),
                ("justification", models.TextField(blank=True)),
                ("message", models.TextField(blank=True)),
                (
                    "cost_usd",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True),
                ),
                ("created_at", models.DateTimeField(auto_now=True)),
                ("key", models.CharField(blank=True, max_length=40)),
                ("sample", models.PositiveSmallIntegerField(default=0)),
                ("option", models.CharField(blank=True, max_length=60)),
                ("value", models.FloatField(blank=True, null=True)),
                (
                    "call",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evalhub.call",
                    ),
                ),
                (
                    "row",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="workbench.benchrow",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ok", "repaired", "failed"])),
                        name="workbench_judgment_state_known",
                        violation_error_message="Choose one of: ok, repaired, failed.",
                    ),
                    models.UniqueConstraint(
                        fields=("row", "key", "slot", "digest", "order", "sample"),
                        name="workbench_judgment_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "failed"), _negated=True),
                            models.Q(("option", ""), ("value__isnull", True)),
                            _connector="OR",
                        ),
                        name="workbench_judgment_failed_has_none",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RowPairJudgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slot", models.CharField(max_length=40)),
                ("order", models.PositiveSmallIntegerField(default=0)),
                ("digest", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "Ok"), ("repaired", "Repaired"), ("failed", "Failed")],
                        max_length=10,
                    ),
                ),
                ("justification", models.TextField(blank=True)),
                ("message", models.TextField(blank=True)),
                (
                    "cost_usd",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True),
                ),
                ("created_at", models.DateTimeField(auto_now=True)),
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
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evalhub.call",
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workbench.benchrow",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workbench.benchrow",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ok", "repaired", "failed"])),
                        name="workbench_pair_state_known",
                        violation_error_message="Choose one of: ok, repaired, failed.",
                    ),
                    models.UniqueConstraint(
                        fields=("first", "second", "slot", "order", "digest"),
                        name="workbench_pair_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("choice__in", ["first", "second", "tie"]), ("state", "ok")),
                            models.Q(models.Q(("state", "ok"), _negated=True), ("choice", "")),
                            _connector="OR",
                        ),
                        name="workbench_pair_ok_has_choice",
                    ),
                ],
            },
        ),
    ]
