from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0002_request_ids"),
    ]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="removed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="texts_removed_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="When the texts of all its answers had been removed. Null: they are kept.",
                null=True,
            ),
        ),
    ]
