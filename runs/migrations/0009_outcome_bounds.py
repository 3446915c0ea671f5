from django.db import migrations, models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

AS_SCORED = {
    "lowest_score": F("score"),
    "highest_score": F("score"),
    "lowest_passed": Coalesce("passed", False),
    "highest_passed": Coalesce("passed", True),
}


def set_bounds(apps, schema_editor):
    """Bound complete scores by themselves; without a judgment, anything remains possible.

    Tallies are counted again by the next worker.
    """
    of = {
        name: apps.get_model("runs", name).objects
        for name in ("Judgment", "Result", "ResultScore", "RunTally")
    }
    failed = of["Judgment"].filter(state="failed")
    lacks = failed.filter(judge_run=OuterRef("judge_run"), result=OuterRef("result"))
    of["ResultScore"].filter(~Exists(lacks), score__isnull=False).update(**AS_SCORED)
    lacks = failed.filter(judge_run__is_active=True, result=OuterRef("pk"))
    of["Result"].filter(Q(is_overridden=True) | ~Exists(lacks), score__isnull=False).update(
        **AS_SCORED
    )
    of["RunTally"].update(version=None)


class Migration(migrations.Migration):
    dependencies = [
        ("evalhub", "0004_refused_parameters"),
        ("issues", "0006_erased_feedback"),
        ("runs", "0008_endings"),
    ]

    operations = [
        migrations.AddField(
            model_name="result",
            name="highest_passed",
            field=models.BooleanField(default=True, help_text="It passes at its highest score."),
        ),
        migrations.AddField(
            model_name="result",
            name="highest_score",
            field=models.FloatField(default=1.0),
        ),
        migrations.AddField(
            model_name="result",
            name="lowest_passed",
            field=models.BooleanField(default=False, help_text="It passes at its lowest score."),
        ),
        migrations.AddField(
            model_name="result",
            name="lowest_score",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="final",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="Missing ones of checks that cannot run or cannot tell."
            ),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="highest_passed",
            field=models.BooleanField(default=True, help_text="It passes at its highest score."),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="highest_score",
            field=models.FloatField(default=1.0),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="lowest_passed",
            field=models.BooleanField(default=False, help_text="It passes at its lowest score."),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="lowest_score",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="replaced",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="Missing ones with that of a backup judge in their place."
            ),
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="highest_passed",
            field=models.PositiveIntegerField(
                default=0, help_text="At their highest; 1 without a score."
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="tallyrow",
            name="lowest_passed",
            field=models.PositiveIntegerField(
                default=0, help_text="That pass at their lowest score."
            ),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="resultscore",
            index=models.Index(
                condition=models.Q(("answered__lt", models.F("expected")), ("state", "done")),
                fields=["judge_run"],
                name="runs_result_score_partly",
            ),
        ),
        migrations.AddConstraint(
            model_name="result",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="resultscore",
            constraint=models.CheckConstraint(
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
        ),
        migrations.RunPython(set_bounds, migrations.RunPython.noop),
    ]
