from django.db import migrations, models
from django.db.models import Exists, OuterRef, Subquery


def set_judges_outcomes(apps, schema_editor):
    """Take over the scores of the active judge runs, and let workers count the runs again."""
    results = apps.get_model("runs", "Result").objects
    scores = apps.get_model("runs", "ResultScore").objects
    active = scores.filter(result=OuterRef("pk"), judge_run__is_active=True).order_by()

    def of(name):
        return Subquery(active.values(name)[:1])

    results.update(judges_score=of("score"), judges_passed=of("passed"))
    ended = Exists(active.filter(state__in=["done", "error"]))
    results.filter(ended, state="done").update(judges_ended=True)
    results.filter(judges_score__isnull=False).exclude(state="error").update(
        judges_lowest_passed=of("lowest_passed"), judges_highest_passed=of("highest_passed")
    )
    apps.get_model("runs", "RunTally").objects.update(version=None)


class Migration(migrations.Migration):
    dependencies = [
        ("evalhub", "0001_initial"),
        ("issues", "0004_builtin_criteria"),
        ("runs", "0002_taken_verdicts"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="tallyrow",
            name="overridden_score",
        ),
        migrations.RemoveField(
            model_name="tallyrow",
            name="overridden_weight",
        ),
        migrations.AddField(
            model_name="result",
            name="judges_ended",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="result",
            name="judges_highest_passed",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="result",
            name="judges_lowest_passed",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="result",
            name="judges_passed",
            field=models.BooleanField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_passed",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="result",
            name="judges_score",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_error",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_failed",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_highest_passed",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_lowest_passed",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_pending",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_unscored",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_weighted_score",
            field=models.FloatField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_weights",
            field=models.FloatField(default=0),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="judges_with_score",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name="result",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("judges_score__isnull", True), ("judges_score__range", (0, 1)), _connector="OR"
                ),
                name="runs_result_judges_score_share",
                violation_error_message="Choose a value from 0 to 1.",
            ),
        ),
        migrations.AddField(
            model_name="result",
            name="judges_outcome",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(state="error", then=models.Value("error")),
                    models.When(judges_passed=True, then=models.Value("passed")),
                    models.When(judges_passed=False, then=models.Value("failed")),
                    models.When(judges_ended=True, then=models.Value("unscored")),
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
        migrations.RunPython(set_judges_outcomes, migrations.RunPython.noop),
    ]
