from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="judgment",
            name="asked_usd",
            field=models.DecimalField(decimal_places=8, editable=False, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name="resultscore",
            name="taken",
            field=models.PositiveSmallIntegerField(default=0, help_text="Asked in other runs."),
        ),
        migrations.AddField(
            model_name="result",
            name="has_taken_verdicts",
            field=models.BooleanField(
                default=False, help_text="A verdict in its score was asked in another run."
            ),
        ),
    ]
